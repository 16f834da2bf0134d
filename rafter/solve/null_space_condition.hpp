// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/mesh/pieces.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/operator/unknowns.hpp>
#include <rafter/solve/null_space.hpp>

/// Solutions of singular systems are unique up to the null space: which one is meant, and which right-hand sides have
/// one.
namespace rafter::solvers {

/// What fixes the part of one field that an operator leaves open.
struct NullSpaceCondition {
  enum class Kind {
    mean,       ///< integral means of the components, on every piece of the mesh where nothing else fixes them
    point,      ///< values of the components at a point
    rigid_modes ///< L2-orthogonal to the translations and rotations that Dirichlet conditions leave free, on every
                ///< piece
  };
  std::shared_ptr<const space::FunctionSpace> space;
  Kind kind = Kind::mean;
  std::vector<double> values{};  ///< one per component; none for rigid modes
  std::vector<int> components{}; ///< that values are for, means and points; empty: all
  std::vector<double> point{};   ///< shape (axis), of kind point
};

/// The mass matrix of a condition's field as kernels; to be compiled (op::compile) before it is used.
std::shared_ptr<op::GeneratedForm> build_mass(const NullSpaceCondition& condition, op::OperatorOptions options);

/// The null vectors v_j of one condition, the loads M v_j that a source of their shape makes (M: mass matrix), and the
/// functionals f_j(x) = t_j that the solution obeys: the load itself (mean, rigid modes), or weighted entries (point).
struct NullModes {
  struct Weight {
    std::size_t entry = 0;
    double value = 0;
  };
  std::vector<std::string> names;
  std::vector<Vector> vectors, loads;
  std::vector<std::vector<Weight>> weights; ///< shape (mode); empty: the load
  std::vector<double> targets;
};

/// An operator and its unknowns, which several conditions look at.
class ConstrainedOperator {
public:
  explicit ConstrainedOperator(const op::Operator& A);

  /// The modes of a condition on this operator. `mass` is compiled. Throws InputError for values and points that do not
  /// fit the field or lie outside of the mesh, and for modes that Dirichlet conditions hold, or that the operator does
  /// not map to zero (with |A v| / (|A| |v|)), or that would be too many.
  NullModes modes(const NullSpaceCondition& condition, std::shared_ptr<const op::GeneratedForm> mass) const;

  const op::Operator& operator_a() const { return A_; }

private:
  const op::Operator& A_;
  mesh::Pieces pieces_;
  op::Unknowns unknowns_;
  std::vector<std::uint8_t> is_free_; ///< shape (entry)
  friend class ModeBuilder;
};

/// The null space of an operator with what fixes it.
class ConstrainedNullSpace {
public:
  ConstrainedNullSpace() = default; ///< of a regular operator
  /// Throws InputError unless the transpose of A has the same null space, as symmetric operators do.
  ConstrainedNullSpace(const op::Operator& A, std::vector<NullModes> modes);

  /// Never null.
  std::shared_ptr<const NullSpace> null_space() const { return null_space_; }

  /// Makes b solvable by a source of the shape of the modes: b -= sum_j y_j M v_j with <v_i, b> = 0 after. (On free
  /// bodies that is inertia relief.) Entries with Dirichlet conditions stay. Returns the size of what was taken,
  /// relative to b (2-norms): 1 for a load that is all of the shape of the modes.
  double balance(Vector& b) const { return balance(b, nullptr); }
  /// The same, taken from `load` as well: the vector of the linear form, of which b is made.
  double balance(Vector& b, Vector& load) const { return balance(b, &load); }

  /// Adds null vectors to x such that all conditions hold.
  void constrain(Vector& x) const;

private:
  double balance(Vector& b, Vector* load) const;
  NullModes modes_;                 ///< of all conditions
  std::vector<std::int32_t> fixed_; ///< entries with Dirichlet conditions
  std::shared_ptr<const NullSpace> null_space_ = std::make_shared<const NullSpace>();
  std::vector<double> inverse_loads_, inverse_functionals_; ///< of <v_i, M v_j> and f_i(v_j), shape (mode, mode)
};

/// The null space of an operator with these conditions, one per field at most; their kernels are compiled here. Throws
/// as ConstrainedOperator::modes and ConstrainedNullSpace.
ConstrainedNullSpace make_null_space(const op::Operator& A, std::span<const NullSpaceCondition> conditions,
                                     const op::OperatorOptions& options = {});

/// Parts of b up to here are rounding, or the error of a quadrature that is accurate.
inline constexpr double balanced_rounding = 1e-10;

/// "the right-hand side has a part of 3.0e-02 of its size in the null space, ..." for what balance() returns; "" up to
/// balanced_rounding.
std::string describe_removed(double part);

} // namespace rafter::solvers

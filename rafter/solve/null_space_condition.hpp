// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/mesh/connected_components.hpp>
#include <rafter/operator/generate/unknowns.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/solve/null_space.hpp>

/// Solutions of singular systems are unique up to the null space. Here, conditions say which solution is meant, and the
/// part of right-hand sides that no solution can balance is removed.
namespace rafter::solvers {

/// Fixes the part of one field that an operator leaves open.
struct NullSpaceCondition {
  enum class Kind {
    mean,  ///< integral means of the components, on every connected component of the mesh where nothing else fixes them
    point, ///< values of the components at a point
    /// The field is L2-orthogonal to the translations and rotations that Dirichlet conditions leave free, on every
    /// connected component.
    rigid_modes
  };
  std::shared_ptr<const space::FunctionSpace> space;
  Kind kind = Kind::mean;
  std::vector<double> values{};  ///< one value per component; empty for rigid modes
  std::vector<int> components{}; ///< components that the values of means and points are for; empty: all
  std::vector<double> point{};   ///< coordinates, shape (axis); for kind point
};

/// Makes the kernels of the mass matrix of a condition's field, which must be compiled (op::compile) before use.
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
  std::vector<std::vector<Weight>> weights; ///< shape (mode, weight); empty: the functional is the load
  std::vector<double> targets;
};

/// An operator and its unknowns, which several conditions use.
class ConstrainedOperator {
public:
  explicit ConstrainedOperator(const op::Operator& A);

  /// Finds the modes of a condition on this operator. `mass` must be compiled. Throws InputError for values and points
  /// that do not fit the field or lie outside of the mesh, and for modes that Dirichlet conditions hold, or that the
  /// operator does not map to zero (the message has |A v| / (|A| |v|)), or that would be too many.
  NullModes modes(const NullSpaceCondition& condition, std::shared_ptr<const op::GeneratedForm> mass) const;

  const op::Operator& operator_a() const { return A_; }

private:
  const op::Operator& A_;
  mesh::ConnectedComponents connected_components_;
  op::Unknowns unknowns_;
  std::vector<std::uint8_t> is_free_; ///< shape (entry)
  friend class ModeBuilder;
};

/// The null space of an operator, with the conditions that fix the solution.
class ConstrainedNullSpace {
public:
  ConstrainedNullSpace() = default; ///< the null space of a regular operator
  /// Throws InputError unless the transpose of A has the same null space, as it has for symmetric operators.
  ConstrainedNullSpace(const op::Operator& A, std::vector<NullModes> modes);

  /// The null space, which is never a null pointer.
  std::shared_ptr<const NullSpace> null_space() const { return null_space_; }

  /// Makes b solvable by a source of the shape of the modes: b -= sum_j y_j M v_j, after which <v_i, b> = 0. (On free
  /// bodies that is inertia relief.) Entries with Dirichlet conditions stay. Returns the size of the part that was
  /// removed, relative to b (2-norms): 1 for a load that is all of the shape of the modes.
  double balance(Vector& b) const { return balance(b, nullptr); }
  /// Does the same and removes the part from `load` as well, which is the vector of the linear form that b is made of.
  double balance(Vector& b, Vector& load) const { return balance(b, &load); }

  /// Adds null vectors to x such that all conditions hold.
  void constrain(Vector& x) const;

private:
  double balance(Vector& b, Vector* load) const;
  NullModes modes_;                 ///< modes of all conditions
  std::vector<std::int32_t> fixed_; ///< entries with Dirichlet conditions
  std::shared_ptr<const NullSpace> null_space_ = std::make_shared<const NullSpace>();
  /// Inverses of <v_i, M v_j> and f_i(v_j), shape (mode, mode).
  std::vector<double> inverse_loads_, inverse_functionals_;
};

/// Finds the null space of an operator with these conditions, one per field at most, and compiles their kernels. Throws
/// the errors of ConstrainedOperator::modes and ConstrainedNullSpace.
ConstrainedNullSpace make_null_space(const op::Operator& A, std::span<const NullSpaceCondition> conditions,
                                     const op::OperatorOptions& options = {});

/// Parts of b up to this size are rounding, or the error of an accurate quadrature rule.
inline constexpr double balanced_rounding = 1e-10;

/// Describes the result of balance(), as in "the right-hand side has a part of 3.0e-02 of its size in the null space,
/// ..."; "" up to balanced_rounding.
std::string describe_removed(double part);

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/operator/operator.hpp>
#include <rafter/solve/result.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {

class Preconditioner;
struct SolverOptions;

/// A field of a coupled problem whose residual is large beside its own forces.
struct UnsolvedField {
  std::string name; ///< name of the field, or its number
  std::size_t field = 0;
  double relative = 0; ///< norm of its residual over that of its forces, 1 at most
  double excess = 0;   ///< factor by which its residual exceeds what the tolerance allows; above 1
};

/// Judges the residual of each field of a coupled problem by itself.
///
/// Fields have units of their own, and a norm over the residuals of all says nothing about a field whose forces are
/// small numbers beside those of another: with displacements under loads of 1e10 N a concentration whose sources are 1
/// has no part in it. The forces of field f are the largest of A_fg x_g on all entries of the field, its loads and
/// reactions and what other fields do to it, where A is the operator, or the tangent of a residual, without conditions.
/// A field that its own equations do not hold (A_ff = 0), as the pressure of Stokes flow, is judged with the others
/// alone: what is left of its equations in the solution is the residual.
class FieldBalance {
public:
  /// Computes y = A x of all entries, also the constrained ones.
  using Action = std::function<void(const Vector& x, Vector& y)>;

  /// The fields of an operator's system, which must outlive the object.
  explicit FieldBalance(const op::Operator& A, std::vector<std::string> names = {});
  /// Fields with these entries of vectors on one process.
  FieldBalance(std::shared_ptr<device::Device> device, std::vector<std::vector<op::EntryRange>> entries, Action action);

  bool has_several() const { return entries_.size() > 1; }

  /// Returns the field that is farthest from rtol: the residual r at x, 0 at constrained entries, is above rtol times
  /// the forces of the field, above atol, and above what roundings of x make of it. All processes call it together.
  std::optional<UnsolvedField> find_unsolved(const Vector& x, const Vector& r, double rtol, double atol) const;

private:
  Vector part_of(const Vector& v, std::size_t field) const; ///< the entries of a field, 0 elsewhere
  double norm(const Vector& v, std::size_t field) const;    ///< 2-norm of the entries of a field
  /// Says whether the equations of a field hold it: A_ff is not zero. It is tried on a residual, since random vectors
  /// would go through the memory of the host.
  bool is_held(const Vector& r, std::size_t field) const;
  Vector image_of_field(const Vector& x, std::size_t field) const;

  std::shared_ptr<device::Device> device_;
  VectorOps ops_;
  std::vector<std::vector<op::EntryRange>> entries_; ///< entries of each field that this process owns
  Action action_;
  std::vector<std::string> names_; ///< names for messages; empty: fields have numbers
};

/// Says of a field that a solve has left unsolved; above this relative residual of a field nothing has converged.
std::string describe(const UnsolvedField& field);
double largest_relative_residual(double rtol);

/// Runs the method of the options, and goes on to smaller residuals as long as a field of the operator is not solved
/// (SolverOptions::fields; null: the method runs once). A result that converged has a warning where a field has no
/// smaller residual than roundings of the others leave, and has not converged where that is large.
Result run_for_each_field(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                          const SolverOptions& options);

} // namespace rafter::solvers

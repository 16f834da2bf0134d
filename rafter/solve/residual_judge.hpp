// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <limits>
#include <memory>
#include <optional>

#include <rafter/solve/boundary_values.hpp>
#include <rafter/solve/field_balance.hpp>
#include <rafter/solve/force_scale.hpp>

namespace rafter::solvers {

/// The values of R at a state of Newton's method, without the reactions.
struct Residual {
  Vector values;        ///< 0 at constrained entries
  double norm = 0;      ///< 2-norm of the values
  double reactions = 0; ///< norm of R at constrained entries
  bool is_finite = false;
};

/// Judges residuals R(u) by the forces of the problem (ForceScale), which it measures where they are needed, with the
/// tangent that the problem has then: that of the state before u, where a step has led to u. Residuals of several
/// fields are judged one by one, too (FieldBalance).
class ResidualJudge {
public:
  /// Problem and boundary values must outlive the object.
  ResidualJudge(NonlinearProblem& problem, const BoundaryValues& boundary, double rtol, double atol)
      : problem_(problem), boundary_(boundary), ops_(problem.device()), scale_(rtol, atol), fields_(problem.fields()),
        rtol_(rtol), atol_(atol) {}

  /// Begins a load step.
  void begin(const Residual& residual) { scale_.begin(residual.norm); }
  /// Norm relative to the reference; the norm itself where nothing exerts a force.
  double relative(const Residual& residual) const;
  /// Norm that the residual of all fields is to have, so that those are solved, too, that were found not to be so far.
  double target(const Residual& residual) const { return std::min(target_of_all(residual), target_of_fields_); }
  bool is_reached(const Residual& residual) const { return residual.norm <= target(residual); }
  /// Says whether the residual of all fields together is small enough.
  bool is_small(const Residual& residual) const { return residual.norm <= target_of_all(residual); }
  /// Says whether the residual of all fields together is small enough, and that of each by itself; else the target is
  /// lower afterwards, where a field is not solved. Measures the forces of the state by the tangent, if it is that of a
  /// state near u (`has_tangent`); otherwise makes the tangent that of u where there are several fields.
  bool is_solved(const Vector& u, const Residual& residual, bool has_tangent);
  /// The field that is not solved at a small residual; none where all are.
  std::optional<UnsolvedField> find_unsolved(const Vector& u, const Residual& residual) const;
  /// Measures the magnitude of the state, after which a residual may be small that is rounding as all forces are.
  void measure_magnitude(const Vector& u);
  bool has_magnitude() const { return scale_.has_magnitude(); }
  /// Says whether the residual is what rounding leaves: changes of the entries of u in their last digits change it as
  /// much, by what the tangent says of them or, where R is small, by what they change.
  bool is_rounding(const Vector& u, const Residual& residual);
  /// Says whether a step has made the residual larger by far than it was (`before`) and than all forces.
  bool has_diverged(const Vector& u, const Residual& residual, double before);

private:
  double target_of_all(const Residual& residual) const { return scale_.target(residual.reactions); }
  void measure_forces(const Vector& u, const Residual& residual);
  bool is_rounding_of_evaluation(const Vector& u, const Residual& residual);
  NonlinearProblem& problem_;
  const BoundaryValues& boundary_;
  VectorOps ops_;
  ForceScale scale_;
  std::shared_ptr<const FieldBalance> fields_; ///< null: there is one field
  double target_of_fields_ = std::numeric_limits<double>::infinity();
  double rtol_, atol_;
};

/// Returns a text where rows of the tangent are zero at u that are not at a state near it, else "". The tangent is that
/// of u afterwards.
std::string describe_vanished_tangent(NonlinearProblem& problem, const Vector& u);

} // namespace rafter::solvers

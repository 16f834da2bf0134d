// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/boundary_values.hpp>
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
/// tangent that the problem has then: that of the state before u, where a step has led to u.
class ResidualJudge {
public:
  /// Problem and boundary values must outlive the object.
  ResidualJudge(NonlinearProblem& problem, const BoundaryValues& boundary, double rtol, double atol)
      : problem_(problem), boundary_(boundary), ops_(problem.device()), scale_(rtol, atol), atol_(atol) {}

  /// Begins a load step.
  void begin(const Residual& residual) { scale_.begin(residual.norm); }
  /// Norm relative to the reference; the norm itself where nothing exerts a force.
  double relative(const Residual& residual) const;
  double target(const Residual& residual) const { return scale_.target(residual.reactions); }
  bool is_small(const Residual& residual) const { return residual.norm <= target(residual); }
  /// Says whether a small residual is small beside the forces of the state, too, which it measures.
  bool is_small_beside_forces(const Vector& u, const Residual& residual);
  /// Measures the magnitude of the state, after which a residual may be small that is rounding as all forces are.
  void measure_magnitude(const Vector& u);
  bool has_magnitude() const { return scale_.has_magnitude(); }
  /// Says whether the residual is what rounding leaves: changes of the entries of u in their last digits change it as
  /// much, by what the tangent says of them or, where R is small, by what they change.
  bool is_rounding(const Vector& u, const Residual& residual);
  /// Says whether a step has made the residual larger by far than it was (`before`) and than all forces.
  bool has_diverged(const Vector& u, const Residual& residual, double before);

private:
  bool is_rounding_of_evaluation(const Vector& u, const Residual& residual);
  NonlinearProblem& problem_;
  const BoundaryValues& boundary_;
  VectorOps ops_;
  ForceScale scale_;
  double atol_;
};

/// Returns a text where rows of the tangent are zero at u that are not at a state near it, else "". The tangent is that
/// of u afterwards.
std::string describe_vanished_tangent(NonlinearProblem& problem, const Vector& u);

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <limits>

namespace rafter::solvers {

/// Relative size of changes of a state that count as rounding.
inline constexpr double state_rounding = 64 * std::numeric_limits<double>::epsilon();

/// The sizes by which residuals R(u) of Newton's method are judged. All of them are forces of the problem:
///
/// - the *load* of the start, the largest |R| that a load step began with, and the present reactions, both as one
///   2-norm;
/// - the *forces* |J u| of a state, J being the tangent: of a linear problem they are its loads and reactions. If a
///   starting value is far from the solution, they are far less than the first residual;
/// - the *magnitude* |J D u|, D being random numbers up to 1: the forces that the entries of u would exert one by one.
///   Loads and reactions below its roundings are none.
class ForceScale {
public:
  explicit ForceScale(double rtol, double atol) : rtol_(rtol), atol_(atol) {}

  /// Begins a load step with a residual of this norm.
  void begin(double residual);
  /// Sets the forces of a state with a residual of this norm.
  void set_forces(double norm, double residual);
  void set_magnitude(double norm) { magnitude_ = norm; }
  bool has_magnitude() const { return magnitude_ > 0; }
  double magnitude() const { return magnitude_; }

  /// Norm that residuals are relative to; 0 where nothing exerts a force. It is that of the load and the reactions. The
  /// forces take their place where they are known and less. Forces that are no more than the residual itself, as of
  /// states that become zero, ask for no residual below the rounding of the load. If load and reactions are rounding,
  /// it is the magnitude.
  double reference(double reactions) const;
  /// Norm of residuals that are small enough: rtol times the reference, or rounding of the magnitude where there are no
  /// forces but rounding.
  double target(double reactions) const;

private:
  double load_and(double reactions) const;
  /// Says whether loads and reactions are rounding.
  bool is_free_of_forces(double reactions) const { return load_and(reactions) <= state_rounding * magnitude_; }

  double rtol_, atol_;
  double load_ = 0;
  double forces_ = std::numeric_limits<double>::infinity(); ///< infinity: they are not known
  bool is_balanced_ = false;                                ///< the residual of that state was a small part of them
  double magnitude_ = 0;                                    ///< 0: it is not known
};

} // namespace rafter::solvers

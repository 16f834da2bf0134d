// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rafter/solve/forcing_terms.hpp>
#include <rafter/solve/line_search.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/function_space.hpp>

/// Newton's method for systems of non-linear equations.
namespace rafter::solvers {

/// Equations R(u) = 0 for the free entries of a vector u, whose constrained entries have values of their own.
class NonlinearProblem {
public:
  virtual ~NonlinearProblem() = default;
  virtual std::shared_ptr<device::Device> device() const = 0;
  virtual std::int64_t size() const = 0;
  /// Constrained entries of u, ascending, with the values that they have in the end.
  virtual const space::Constraints& constraints() const = 0;
  /// Share of the loads in R from now on, between 0 and 1; problems without loads of their own ignore it.
  virtual void set_load_factor(double /*factor*/) {}
  /// r = R(u), with the reactions at constrained entries. Leaves the tangent as it is. r is not finite where R is not
  /// defined.
  virtual void residual(const Vector& u, Vector& r) = 0;
  /// There is a function E(u) whose gradient is R.
  virtual bool has_energy() const { return false; }
  virtual double energy(const Vector& /*u*/) { return 0; }
  /// The tangent is R'(u) from now on.
  virtual void linearise(const Vector& u) = 0;
  /// R'(u) on free entries, the identity on constrained ones.
  virtual const op::LinearOperator& tangent() const = 0;
  /// y = R'(u) du of all entries.
  virtual void apply_tangent_free(const Vector& du, Vector& y) const = 0;
  /// Where r is not finite, for messages.
  virtual std::string describe_non_finite(const Vector& r) const = 0;
};

/// One step of Newton's method, and the residual that it begins with.
struct NewtonStep {
  double load_factor = 1;
  double residual = 0;  ///< |R| of free entries, relative as NewtonOptions::rtol; before the step
  bool is_last = false; ///< the load step ends here: there is no step, and the members below do not count
  double length = 1;    ///< of the step that was taken, in Newton steps
  double forcing_term = 0;
  int linear_iterations = 0;
  /// cg met a direction of negative curvature: its last iterate was taken or, in its first iteration, the residual.
  bool has_negative_curvature = false;
};

/// Called with each residual; `iteration` counts Newton steps of all load steps. False stops the solve.
using NewtonMonitor = std::function<bool(int iteration, double relative_residual)>;

struct NewtonOptions {
  /// |R| of free entries, relative to the root of the sum of two squares: of the largest |R| that a load step began
  /// with, and of the reactions at present, which a state that was nearly a solution from the start is judged by.
  double rtol = 1e-8;
  double atol = 0;         ///< |R| that is small enough
  int max_iterations = 50; ///< of a load step
  bool line_search = true; ///< false: full steps, but where R is not finite there
  /// Boundary values and loads are reached in equal parts. More than one: a part that fails is halved, 6 times at most.
  int load_steps = 1;
  int max_halvings = 10; ///< of a step to a state where R is not finite
  /// Of the linear systems. Forcing terms take the place of control.rtol, which they do not fall below; the control's
  /// monitor may stop a linear solve.
  SolverOptions solver;
  ForcingParameters forcing;
  NewtonMonitor monitor;
};

struct NewtonResult {
  Status status = Status::not_converged;
  Failure failure = Failure::none;
  std::string message;          ///< why it did not converge, one sentence for people
  std::string warning;          ///< what to know of a solve that converged; empty: nothing
  int iterations = 0;           ///< Newton steps, of all load steps
  int linear_iterations = 0;    ///< of all Newton steps
  double relative_residual = 0; ///< of the vector that is returned
  double load_factor = 0;       ///< that was reached
  std::vector<NewtonStep> steps;
  double seconds = 0;
};

/// Solves R(u) = 0 by Newton's method with truncated linear solves (ForcingTerms) and line search (search_line); `u`
/// holds the state that it starts from and receives the last state. Constrained entries get their values through the
/// tangent: the first step of a load step has them as its boundary values, and the interior follows. A state where R is
/// not finite halves the step; what is then left of the boundary values comes with the next one. Throws InputError for
/// options out of range and where R(u) of the start is not finite; other failures are reported in the result, and u is
/// then the state where the last load step failed, while NewtonResult::load_factor is that of the last one that did
/// not.
NewtonResult newton(NonlinearProblem& problem, Vector& u, const NewtonOptions& options = {});

} // namespace rafter::solvers

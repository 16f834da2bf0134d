// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rafter/solve/forcing_terms.hpp>
#include <rafter/solve/kept_preconditioner.hpp>
#include <rafter/solve/line_search.hpp>
#include <rafter/solve/solver.hpp>

namespace rafter::space {
struct Constraints;
} // namespace rafter::space

/// Solves systems of non-linear equations by Newton's method.
namespace rafter::solvers {

/// Equations R(u) = 0 for the free entries of a vector u, whose constrained entries have values of their own.
class NonlinearProblem {
public:
  virtual ~NonlinearProblem() = default;
  virtual std::shared_ptr<device::Device> device() const = 0;
  virtual std::int64_t size() const = 0;
  /// Says where the fields of u begin, ascending, from 0 on: each may have a unit of its own.
  virtual std::vector<std::int64_t> field_offsets() const { return {0}; }
  /// The fields, whose residuals are judged one by one with the tangent, or null where there is one.
  virtual std::shared_ptr<const FieldBalance> fields() const { return nullptr; }
  /// Constrained entries of u, ascending, with the values that they have in the end.
  virtual const space::Constraints& constraints() const = 0;
  /// Sets the share of the loads in R from now on, between 0 and 1; problems without loads of their own ignore it.
  virtual void set_load_factor(double /*factor*/) {}
  /// Computes r = R(u), with the reactions at constrained entries, and leaves the tangent as it is. r is not finite
  /// where R is not defined.
  virtual void residual(const Vector& u, Vector& r) = 0;
  /// Says whether there is a function E(u) whose gradient is R.
  virtual bool has_energy() const { return false; }
  virtual double energy(const Vector& /*u*/) { return 0; }
  /// Makes R'(u) the tangent from now on.
  virtual void linearise(const Vector& u) = 0;
  /// R'(u) on free entries, the identity on constrained ones.
  virtual const op::LinearOperator& tangent() const = 0;
  /// Computes y = R'(u) du for all entries.
  virtual void apply_tangent_free(const Vector& du, Vector& y) const = 0;
  /// Says where r, a residual or an image of the tangent at the state u, is not finite, and what u is there, for
  /// messages.
  virtual std::string describe_non_finite(const Vector& r, const Vector& u) const = 0;
};

/// One step of Newton's method, and the residual that it begins with.
struct NewtonStep {
  double load_factor = 1;
  double residual = 0;  ///< |R| of free entries before the step, relative to the same norm as NewtonOptions::rtol
  bool is_last = false; ///< the load step ends here: there is no step, and the members below do not count
  double length = 1;    ///< length of the step that was taken, as a multiple of the Newton step
  double forcing_term = 0;
  int linear_iterations = 0;
  /// Says that cg met a direction of negative curvature: its last iterate was taken or, in its first iteration, the
  /// residual.
  bool has_negative_curvature = false;
};

/// Is called with each residual; `iteration` counts Newton steps of all load steps. False stops the solve.
using NewtonMonitor = std::function<bool(int iteration, double relative_residual)>;

/// Parameters of newton().
struct NewtonOptions {
  /// Tolerance of |R| of free entries, relative to the root of the sum of two squares: of the largest |R| that a load
  /// step began with, and of the present reactions, by which a state that was nearly a solution from the start is
  /// judged.
  double rtol = 1e-8;
  double atol = 0;         ///< |R| that is small enough
  int max_iterations = 50; ///< largest number of Newton steps of a load step
  bool line_search = true; ///< false: full steps are taken, and halved only where R is not finite
  /// Number of equal parts in which boundary values and loads are reached. If there are several, a part that fails is
  /// halved, 6 times at most.
  int load_steps = 1;
  int max_halvings = 10; ///< a step to a state where R is not finite is halved so often at most
  /// Solver of the linear systems. Forcing terms take the place of control.rtol, below which they do not fall; the
  /// control's monitor may stop a linear solve.
  SolverOptions solver;
  /// The preconditioner of the tangent, which follows it from step to step, and from solve to solve where several have
  /// the same one; null: each solve has its own.
  std::shared_ptr<KeptPreconditioner> preconditioner;
  ForcingParameters forcing;
  NewtonMonitor monitor;
};

/// Says how a solve by Newton's method ended.
struct NewtonResult {
  Status status = Status::not_converged;
  Failure failure = Failure::none;
  std::string message;          ///< why it did not converge, one sentence for people
  std::string warning;          ///< warning of the first load step that converged with reserve; empty: nothing
  int iterations = 0;           ///< number of Newton steps of all load steps
  int linear_iterations = 0;    ///< linear iterations of all Newton steps
  double relative_residual = 0; ///< residual of the vector that is returned
  double load_factor = 0;       ///< load factor that was reached
  std::vector<NewtonStep> steps;
  double seconds = 0;
};

/// Solves R(u) = 0 by Newton's method with truncated linear solves (ForcingTerms) and line search (search_line); `u`
/// holds the state that it starts from and receives the last state. Constrained entries get their values through the
/// tangent: the first step of a load step has them as its boundary values, and the interior follows. A state where R is
/// not finite halves the step; what is then left of the boundary values comes with the next one. Throws InputError for
/// options out of range and where R(u) of the start is not finite. Other failures are reported in the result: u is then
/// the state where the last load step failed, while NewtonResult::load_factor is that of the last one that did not.
NewtonResult newton(NonlinearProblem& problem, Vector& u, const NewtonOptions& options = {});

} // namespace rafter::solvers

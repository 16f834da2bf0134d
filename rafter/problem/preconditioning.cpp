// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/preconditioning.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/operator/levels/coarsening.hpp>
#include <rafter/problem/method_choice.hpp>
#include <rafter/solve/multigrid.hpp>

namespace rafter::problem {

void at_preconditioner(const Places& places, const std::function<void()>& function) {
  try {
    function();
  } catch (const op::CoarseningError& error) {
    if (places.source.empty()) throw;
    throw base::InputError(at(places.coarsening.empty() ? places.preconditioner : places.coarsening,
                              std::string("solver.multigrid.coarsening: ") + error.what()));
  } catch (const base::InputError& error) {
    if (std::string_view(error.what()).starts_with(places.source)) throw;
    throw base::InputError(at(places.preconditioner.empty() ? places.source : places.preconditioner,
                              std::string("solver.preconditioner: ") + error.what()));
  }
}

bool has_chosen_multigrid(const Request& request, const solvers::SolverOptions& options) {
  return !request.has_preconditioner && options.preconditioner == "multigrid" &&
         !solvers::find_method(options.method).is_direct;
}

solvers::SolverOptions trial_options(const Request& request, solvers::SolverOptions options) {
  constexpr int most = 60;
  if (has_chosen_multigrid(request, options))
    options.control.max_iterations = std::min(options.control.iteration_limit(), most);
  return options;
}

bool needs_jacobi(const solvers::Result& result, const solvers::SolverOptions& options) {
  return result.status != solvers::Status::converged && result.failure != solvers::Failure::stopped &&
         result.iterations < options.control.iteration_limit();
}

void take_jacobi(const Request& request, solvers::SolverOptions& options, const std::string& reason) {
  request.progress.notify("preconditioner: jacobi follows: " + reason);
  options.preconditioner = "jacobi";
  options.hierarchy = nullptr;
}

void refuse_preconditioner(const Request& request, const base::SolverError& error) {
  if (!request.has_preconditioner || request.statement.places.source.empty()) throw;
  if (dynamic_cast<const solvers::CoarseSolverError*>(&error) != nullptr)
    throw base::InputError(
        at(request.statement.places.coarse_solver, std::string("solver.multigrid.coarse: ") + error.what()));
  throw base::SolverError(
      at(request.statement.places.preconditioner, std::string("solver.preconditioner: ") + error.what()));
}

namespace {

/// Throws InputError for a method that needs a positive definite preconditioner and gets another one, unless direct
/// solves follow where it fails (choose_after).
void require_definite(const Request& request, const op::Operator& A, const solvers::Preconditioner& M,
                      const solvers::SolverOptions& options) {
  const auto count = M.num_negative_eigenvalues();
  const bool is_for_definite = options.method == "cg" || options.method == "minres";
  if (count == 0 || M.factors() != nullptr || !is_for_definite || has_chosen_multigrid(request, options)) return;
  if (request.is_whole && !request.has_method && fits_direct_solve(A.system())) return;
  throw base::InputError(
      at(request.has_method ? request.statement.places.method : request.statement.places.source,
         fmt::format("solver.method: \"{}\" needs a positive definite preconditioner, and the symmetric part of the "
                     "form is indefinite (the coarsest level of \"{}\" has {} negative eigenvalue{}): use \"gmres\" or "
                     "\"bicgstab\"",
                     options.method, options.preconditioner, count, count == 1 ? "" : "s")));
}

} // namespace

std::shared_ptr<const solvers::Preconditioner> make_preconditioner(const Request& request, const op::Operator& A,
                                                                   solvers::SolverOptions& options) {
  std::shared_ptr<const solvers::Preconditioner> result;
  const auto make = [&] {
    at_preconditioner(request.statement.places, [&] { result = solvers::make_preconditioner(A, options); });
  };
  try {
    make();
  } catch (const base::SolverError& error) {
    if (!has_chosen_multigrid(request, options)) throw;
    take_jacobi(request, options, error.what());
    make();
  }
  require_definite(request, A, *result, options);
  solvers::warn_if_indefinite(*result, options);
  return result;
}

} // namespace rafter::problem

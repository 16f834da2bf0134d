// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/problem/equations.hpp>
#include <rafter/problem/method_choice.hpp>
#include <rafter/problem/problem.hpp>
#include <rafter/problem/request.hpp>

/// Problems that name no preconditioner get the one that is forecast to be faster.
namespace rafter::problem {

struct PreconditionerForecast {
  bool takes_multigrid = false;         ///< else the preconditioner stays as it is
  std::optional<MethodChoice> method{}; ///< a direct solve that is better than multigrid, where that was considered
  double num_applications = 0;          ///< expected number of applications of the operator, unless the options give it
  /// The kernels of the operator, where they were generated for the forecast and are those of the solve, else null.
  std::shared_ptr<op::GeneratedForm> action{};
};

/// Chooses multigrid for a linear problem of one field where there are levels and cg can take it, unless Jacobi is
/// forecast to be faster, or a direct solve. Tells the user about multigrid. `solves`: the problem is to be solved.
PreconditionerForecast choose_preconditioner(const Problem& problem, const Equations& equations, const Request& request,
                                             const op::OperatorOptions& options, bool solves);

} // namespace rafter::problem

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/unknowns.hpp>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/solve/near_null_space.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {

std::pair<op::System, std::vector<std::string>> system_of_unknowns(const std::vector<form::Expr>& unknowns,
                                                                   const std::string& who) {
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  std::vector<std::string> names;
  for (const auto& unknown : unknowns) {
    auto on = unknown.kind() == form::NodeKind::field
                  ? std::dynamic_pointer_cast<const space::FunctionSpace>(unknown.node().space)
                  : nullptr;
    if (on == nullptr)
      throw base::InputError(who + ": the unknowns are fields on function spaces: field(V.ptr(), \"u\")");
    spaces.push_back(std::move(on));
    names.push_back(unknown.node().name);
  }
  return {op::make_system(std::move(spaces)), std::move(names)};
}

void set_initial(const std::optional<op::Vector>& given, op::Vector& u) {
  if (given) op::check_size(static_cast<std::int64_t>(u.size()), given->size(), "the initial state");
  const solvers::VectorOps ops(u.device());
  if (given)
    ops.copy(*given, u);
  else
    ops.fill(0, u);
}

void complete(solvers::SolverOptions& solver, const std::shared_ptr<const op::Operator>& tangent,
              const std::optional<MultigridOptions>& multigrid) {
  if (!solver.near_null_space)
    solver.near_null_space = [tangent] { return solvers::make_near_null_space(tangent->system()); };
  if (!multigrid) return;
  solver.preconditioner = "multigrid";
  solver.multigrid = multigrid->parameters;
}

namespace {

/// Says whether the options have something that only iterative methods read.
bool asks_for_iterations(const solvers::SolverOptions& solver) {
  const solvers::SolverOptions usual;
  const auto &control = solver.control, &of_usual = usual.control;
  return control.max_iterations || control.stagnation_window != of_usual.stagnation_window ||
         control.norm != of_usual.norm || control.monitor || solver.restart != usual.restart ||
         solver.side != usual.side || solver.is_fused != usual.is_fused || solver.hierarchy != nullptr ||
         !solver.blocks.empty();
}

} // namespace

Problem stated(const solvers::SolverOptions& solver, const op::System& system) {
  Problem result{.is_residual = true,
                 .solver = solver,
                 .has_method = !solver.method.empty(),
                 .has_preconditioner = !solver.preconditioner.empty(),
                 .is_iterated = asks_for_iterations(solver),
                 .is_checked = system.mesh->distribution == nullptr};
  result.solver.method = solvers::method_of(solver).name;
  result.solver.preconditioner = solvers::preconditioner_of(solver).name;
  if (result.has_preconditioner && result.solver.preconditioner != "none")
    result.warn_of_direct_solve = [name = result.solver.preconditioner](std::string_view cause) {
      base::warn(fmt::format("the preconditioner {} is not used: {}, and a direct solve takes its place", name, cause));
    };
  return result;
}

} // namespace rafter::problem

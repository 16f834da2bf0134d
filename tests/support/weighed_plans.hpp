// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <set>
#include <string>

#include <rafter/form/lowering.hpp>
#include <rafter/machine/typical.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/tune/planner.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

/// Tests see here what the planner weighs for kernels, on a machine of their own and with nothing remembered.
namespace rafter::test {

/// Returns the cell kernel of a form with a plan or, for "", with the planner's plan and all candidates.
inline op::GeneratedKernel weighed(const Problem& problem, const std::string& form, const std::string& plan = "",
                                   const op::QuadratureOptions& quadrature = {}) {
  op::KernelOptions options{.device = std::make_shared<InterpreterDevice>(), .quadrature = quadrature};
  options.planner = std::make_shared<const tune::Planner>(
      tune::PlannerOptions{.machine = machine::typical_machine(512), .weighs_all = plan.empty()});
  if (!plan.empty()) options.plan = std::make_shared<const schedule::Plan>(schedule::parse_plan(plan));
  return op::build_form(form::lower(problem.form(form)), problem.system(), op::Purpose::action, options)
      ->blocks.front()
      .kernel;
}

/// Returns the names of the storages of factors among the candidates.
inline std::set<std::string> recipe_names_of(const op::GeneratedKernel& kernel) {
  std::set<std::string> result;
  for (const auto& candidate : kernel.info.decision.candidates)
    result.insert(kernel::name(candidate.plan[schedule::key::factors]));
  return result;
}

/// The three components of this form on hexahedra offer storages of factors between recomputing and storing all.
constexpr const char* rich_form = "(inner(grad(u), grad(v)) + dot(dot(grad(u), [x[0], 1, x[2]]), v) + inner(u, v))*dx";

} // namespace rafter::test

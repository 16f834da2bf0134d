// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/solution.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/problem/measurement.hpp>
#include <rafter/problem/prepared_problem.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::problem {
namespace {

/// Returns the number of cells of each shape, in the order of first appearance.
std::vector<std::pair<std::string, std::int64_t>> cells_per_shape(const mesh::Mesh& mesh) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const auto& group : mesh.groups) {
    const std::string name(element::name(group.shape));
    const auto found =
        std::find_if(counts.begin(), counts.end(), [&](const auto& entry) { return entry.first == name; });
    if (found != counts.end())
      found->second += group.num_cells();
    else
      counts.emplace_back(name, group.num_cells());
  }
  return counts;
}

using Rules = std::vector<std::pair<std::string, std::string>>;

/// Adds the rules of kernels, each once.
void add_rules(std::span<const op::KernelInfo> kernels, const std::string& of, Rules& rules) {
  for (const auto& kernel : kernels) {
    if (kernel.quadrature.empty()) continue;
    const auto found = std::ranges::find(rules, kernel.quadrature, &std::pair<std::string, std::string>::second);
    if (found == rules.end())
      rules.emplace_back(of + kernel.name, kernel.quadrature);
    else
      found->first += ", " + of + kernel.name;
  }
}

Rules quadrature_of(const PreparedProblem& prepared) {
  Rules rules;
  add_rules(prepared.operator_a().info(), "", rules);
  if (const auto* load = prepared.linear_form()) add_rules(load->kernels().info(), "right-hand side ", rules);
  return rules;
}

report::SolveReport start_report(const PreparedProblem& prepared) {
  report::SolveReport result;
  result.title = prepared.problem().title;
  for (const auto& space : prepared.system().spaces) result.dofs += space->num_dofs();
  result.cells = cells_per_shape(*prepared.system().mesh);
  result.quadrature = quadrature_of(prepared);
  result.machine = report_machine(prepared.machine(), prepared.options().shared_device->num_threads());
  return result;
}

} // namespace

Solution make_solution(const PreparedProblem& prepared, op::Vector values, solvers::Status status) {
  Solution solution{.system = prepared.system(),
                    .values = std::move(values),
                    .report = start_report(prepared),
                    .method = {},
                    .is_converged = status == solvers::Status::converged};
  solution.report.status = solution.is_converged ? "converged" : "not converged";
  return solution;
}

std::string preconditioner_name(const std::string& method, const std::string& preconditioner) {
  return solvers::find_method(method).is_direct || preconditioner == "none" ? "" : preconditioner;
}

std::vector<io::OutputField> output_fields(const PreparedProblem& prepared, const op::Vector& values) {
  const auto& system = prepared.system();
  std::vector<io::OutputField> fields;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    fields.push_back({prepared.names()[f], system.spaces[f],
                      values.host_read().subspan(static_cast<std::size_t>(system.offset(f)),
                                                 static_cast<std::size_t>(system.spaces[f]->num_local()))});
  return fields;
}

std::vector<io::DerivedField> derived_fields(const PreparedProblem& prepared, const op::Vector& values) {
  const bool is_finite = std::isfinite(solvers::VectorOps(prepared.operator_a().device()).norm(values));
  return is_finite ? prepared.postprocess().output_fields() : std::vector<io::DerivedField>{};
}

void check_solution(const PreparedProblem& prepared, Phases& phases, Solution& solution) {
  const auto& problem = prepared.problem();
  if (!solution.is_converged || (problem.functionals.empty() && problem.check.exact.empty())) return;
  phases.start("check");
  auto& report = solution.report;
  report.functionals = prepared.postprocess().functionals(solution.values);
  std::vector<std::string> failures;
  try {
    report.errors = prepared.postprocess().errors(solution.values);
    failures = failed_checks(problem.check, report.errors);
  } catch (const base::InputError& error) { // the solution does not depend on what it is compared with
    failures.emplace_back(error.what());
  }
  if (failures.empty()) return;
  report.status = "failed check";
  report.message = base::join(failures, "; ");
}

} // namespace rafter::problem

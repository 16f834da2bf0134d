// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <rafter/machine/roofline.hpp>
#include <rafter/schedule/plan.hpp>

#include "commands.hpp"
#include "exit_code.hpp"
#include "measurement.hpp"
#include "plan_table.hpp"
#include "problem_solver.hpp"

namespace rafter::app {
namespace {

void print_kernel(const op::KernelInfo& info, const KernelOptions& options) {
  fmt::print("\n{}\n", info.name);
  fmt::print("  cells: {} in {} batches\n", info.num_cells, info.num_batches);
  fmt::print("  quadrature: {}\n", info.quadrature);
  fmt::print("  plan: {} ({})\n", schedule::to_string(info.plan), tune::name(info.decision.origin));
  fmt::print("  flops: {:.4g} per cell executed, {:.4g} effective (the algorithm as written)\n",
             info.counts.flops / static_cast<double>(info.num_cells),
             info.counts.effective_flops / static_cast<double>(info.num_cells));
  if (!info.decision.candidates.empty()) fmt::print("{}", plan_table(info));
  if (options.has_tensor_program) fmt::print("\ntensor program:\n{}\n", info.tensor_program);
  if (options.has_loop_program) fmt::print("\nloop program:\n{}\n", info.loop_program);
  if (options.has_source) fmt::print("\nsource:\n{}\n", info.source);
}

/// All kernels of one form, and what they cost together.
void print_kernels(const op::FormKernels& kernels, const report::OperatorReport& report, std::int64_t dofs,
                   const KernelOptions& options) {
  const auto counts = kernels.counts();
  const auto unknowns = static_cast<double>(dofs);
  fmt::print("{}\n", report.name);
  fmt::print("  {:.4g} flops and {:.4g} bytes per unknown\n", counts.flops / unknowns,
             (counts.global_bytes_read + counts.global_bytes_written) / unknowns);
  fmt::print(
      "  roofline bound {} (limited by {}), measured {}: {:.1f} % of the roofline, {:.4g} MDoF/s, {:.3g} GFLOP/s, "
      "{:.3g} GB/s\n",
      time_text(report.bound_seconds), report.limited_by.empty() ? "nothing" : report.limited_by,
      time_text(report.seconds), 100 * report.share, 1e-6 * report.dofs_per_second, report.gflops,
      report.gbytes_per_second);
  for (const auto& info : kernels.info()) print_kernel(info, options);
}

} // namespace

int run_kernel(const KernelOptions& options) {
  auto problem = io::read_problem(options.problem.file, options.problem.overrides);
  problem.output.file.clear(); // nothing is solved
  Phases phases;
  const PreparedProblem prepared(problem,
                                 {.device = options.problem.device,
                                  .threads = options.problem.threads,
                                  .plan = options.problem.plan,
                                  .weighs_all_plans = true,
                                  .solves = false},
                                 {}, phases);
  const auto& A = prepared.operator_a();
  print_kernels(A.kernels(), report_operator(A, prepared.machine()), A.size(), options);
  if (A.precision_error() > 0)
    fmt::print("\nprecision: the operator differs from double precision by {:.2g} of its size\n", A.precision_error());
  if (const auto* L = prepared.linear_form()) {
    fmt::print("\n");
    print_kernels(L->kernels(), report_linear_form(*L, prepared.system(), prepared.machine()), A.size(), options);
  }
  return exit_done;
}

} // namespace rafter::app

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/measurement.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

#include <rafter/base/log.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/device/finish.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::problem {
namespace {

constexpr std::int64_t enough_applications = 10;

double bytes_of(const machine::Counts& counts) { return counts.global_bytes_read + counts.global_bytes_written; }

/// Completes a report that has its name, plan and seconds. `kept_bytes` may stay in a cache from one run to the next.
report::OperatorReport report_counts(report::OperatorReport report, const machine::Counts& counts, double kept_bytes,
                                     std::int64_t dofs, const machine::Machine& machine, int cores) {
  const auto bound = machine::bound(counts, machine::resident(machine, kept_bytes, cores), cores);
  report.bound_seconds = bound.seconds;
  report.limited_by = bound.limited_by == "flops" ? "compute" : bound.limited_by;
  if (!(report.seconds > 0)) return report;
  report.dofs_per_second = static_cast<double>(dofs) / report.seconds;
  report.gflops = 1e-9 * counts.effective_flops / report.seconds;
  report.gbytes_per_second = 1e-9 * bytes_of(counts) / report.seconds;
  report.share = bound.seconds / report.seconds;
  return report;
}

std::vector<report::KernelPlan> plans_of(std::span<const op::KernelInfo> kernels) {
  std::vector<report::KernelPlan> plans;
  for (const auto& info : kernels) plans.push_back({info.name, schedule::to_string(info.plan)});
  return plans;
}

/// The call with what waits for its end on a device, where something does.
std::function<void()> finished(const std::function<void()>& call, const std::function<void()>& finish) {
  if (!finish) return call;
  return [call, finish] {
    call();
    finish();
  };
}

/// Returns the median of the seconds that one call takes. Calls are repeated until `seconds` have passed, up to 1000 of
/// them.
double median_seconds(const std::function<void()>& call, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t most = 1000;
  std::vector<double> times;
  const auto begin = Clock::now();
  const auto elapsed = [&](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  while (times.empty() || (times.size() < most && elapsed(begin) < seconds)) {
    const auto start = Clock::now();
    call();
    times.push_back(elapsed(start));
  }
  return base::median(std::move(times));
}

/// Seconds of a run: their mean where the host made at least `enough`, else those of runs that are made now.
double seconds_of(const op::Usage& usage, std::int64_t enough, const std::function<void()>& run,
                  const std::function<void()>& finish, double seconds) {
  // Runs are queued where something waits for their end: their time is none of the host's.
  if (finish || usage.runs < enough) {
    const auto timed = finished(run, finish);
    timed(); // which touches its vectors for the first time
    return median_seconds(timed, seconds);
  }
  return usage.seconds / static_cast<double>(usage.runs);
}

} // namespace

report::OperatorReport report_operator(const op::Operator& A, const machine::Machine& machine, double seconds) {
  std::optional<op::Vector> x, y;
  const auto apply = [&] {
    if (!x) {
      x.emplace(A.make_vector());
      y.emplace(A.make_vector());
    }
    A.apply(*x, *y);
  };
  const double taken = seconds_of(A.usage(), enough_applications, apply, device::finish_of(A.device()), seconds);
  const auto counts = A.counts();
  return report_counts({.name = "apply", .plans = plans_of(A.info()), .seconds = taken}, counts, bytes_of(counts),
                       A.num_unknowns(), machine, A.device()->num_threads());
}

report::OperatorReport report_linear_form(const op::LinearForm& L, const op::System& system,
                                          const machine::Machine& machine, double seconds) {
  std::optional<op::Vector> b;
  const auto assemble = [&] {
    if (!b) b.emplace(L.kernels().device(), static_cast<std::size_t>(system.size()));
    L.assemble(*b);
  };
  const double taken = seconds_of(L.usage(), 1, assemble, device::finish_of(L.kernels().device()), seconds);
  const auto counts = L.kernels().counts();
  return report_counts({.name = "right-hand side", .plans = plans_of(L.kernels().info()), .seconds = taken}, counts,
                       bytes_of(counts), system.num_unknowns(), machine, L.kernels().device()->num_threads());
}

std::optional<report::OperatorReport> report_iteration(const op::Operator& A, const solvers::Preconditioner& M,
                                                       const solvers::SolverOptions& options,
                                                       const solvers::Result& result, const machine::Machine& machine) {
  if (options.method != "cg" || !M.diagonal() || result.iterations < enough_applications) return std::nullopt;
  const auto product = A.counts();
  const auto counts = solvers::cg_iteration_counts(product, A.num_unknowns(), M, options.is_fused);
  const double kept = bytes_of(product) + 8.0 * solvers::cg_kept_vectors * static_cast<double>(A.num_unknowns());
  return report_counts(
      {.name = "cg iteration", .plans = plans_of(A.info()), .seconds = result.seconds / result.iterations}, counts,
      kept, A.num_unknowns(), machine, A.device()->num_threads());
}

void warn_if_busy(const machine::Machine& machine) {
  if (const auto warning = machine::busy_warning(machine); !warning.empty()) base::warn_once(warning);
}

report::MachineReport report_machine(const machine::Machine& machine, int threads) {
  return {.name = machine.model,
          .threads = threads,
          .gflops = 1e-9 * machine.peak_flops(threads),
          .gbytes_per_second = 1e-9 * machine.rate(machine.memory().triad, threads),
          .warning = machine::busy_warning(machine)};
}

} // namespace rafter::problem

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/operator/tuning.hpp>
#include <rafter/problem/measurement.hpp>
#include <rafter/problem/planners.hpp>
#include <rafter/report/plot.hpp>

#include "arguments.hpp"
#include "bindings.hpp"

namespace rafter::python {
namespace {

/// The ceilings of the machine that the operator runs on, which are measured where none are kept.
machine::Machine machine_of(const op::Operator& A) { return problem::find_planner(A.device(), {}, true, {}).machine; }

/// The speed of an operator beside the roofline, timed for about so many seconds.
nb::dict speed(const op::Operator& A, double seconds) {
  report::OperatorReport report;
  machine::Machine machine;
  {
    const nb::gil_scoped_release unlock;
    machine = machine_of(A);
    report = problem::report_operator(A, machine, seconds);
  }
  const auto counts = A.counts();
  nb::dict result;
  result["seconds"] = report.seconds;
  result["dofs_per_second"] = report.dofs_per_second;
  result["gflops"] = report.gflops;
  result["gbytes_per_second"] = report.gbytes_per_second;
  result["bound_seconds"] = report.bound_seconds;
  result["share"] = report.share;
  result["limited_by"] = report.limited_by;
  result["executed_gflops"] = 1e-9 * counts.flops / report.seconds;
  result["flops_per_byte"] = counts.flops / (counts.global_bytes_read + counts.global_bytes_written);
  result["machine"] = machine.model;
  return result;
}

using Curves = std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>>;

std::vector<report::PlotSeries> series_of(const Curves& curves) {
  std::vector<report::PlotSeries> result;
  for (const auto& [name, points] : curves) result.push_back({name, points});
  return result;
}

/// SVG of points (flop per byte, GFLOP/s) below the ceilings of the machine of the operator.
std::string roofline(const op::Operator& A, const std::string& title, const Curves& curves) {
  const std::vector<report::Plot> plots{
      report::roofline(title, machine_of(A), A.device()->num_threads(), series_of(curves))};
  return report::to_svg(plots);
}

/// SVG of residuals over numbers of iterations.
std::string convergence(const std::string& title, const Curves& curves) {
  const std::vector<report::Plot> plots{
      {title, {"iteration", false, true}, {"relative residual", true}, series_of(curves)}};
  return report::to_svg(plots);
}

/// Times plans of the kernels of an operator, or of those that compute its matrices of cells, remembers the best, and
/// returns names, plans and numbers of plans that were timed: operators on the same form and mesh that are made later
/// have these plans.
std::vector<std::tuple<std::string, std::string, std::size_t>> tune(const op::Operator& A, bool is_fresh,
                                                                    bool has_cell_matrices) {
  std::vector<std::tuple<std::string, std::string, std::size_t>> result;
  const nb::gil_scoped_release unlock;
  op::TuningOptions tuning{.is_fresh = is_fresh};
  tuning.event = [](const std::string&) {
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
  for (const auto& kernel : op::tune_kernels(A.form(), A.system(), A.options(), tuning,
                                             has_cell_matrices ? op::Purpose::matrix : op::Purpose::action))
    result.emplace_back(kernel.info.name, schedule::to_string(kernel.info.plan), kernel.num_timed);
  return result;
}

} // namespace

void bind_measure(nb::module_& module) {
  module.def("speed", &speed);
  module.def("roofline", &roofline);
  module.def("convergence", &convergence);
  module.def("tune", &tune);
}

} // namespace rafter::python

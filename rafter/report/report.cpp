// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/report/report.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include <rafter/base/text.hpp>
#include <rafter/report/plan_list.hpp>

namespace rafter::report {

namespace {

std::string cells_text(const SolveReport& report) {
  std::string text;
  for (const auto& [shape, count] : report.cells)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, shape);
  return text.empty() ? "no cells" : text;
}

/// " in the 2-norm (1.0e-09 in the preconditioned norm), ...": the norm that the solve was stopped on comes first.
std::string norms_text(const ResidualReport& r) {
  std::string text;
  if (r.norm == "preconditioned")
    text = fmt::format(" in the preconditioned norm ({:.2e} in the 2-norm)", r.residual);
  else if (r.preconditioned)
    text = fmt::format(" in the 2-norm ({:.2e} in the preconditioned norm)", *r.preconditioned);
  else
    text = " in the 2-norm";
  if (r.has_lift)
    text += fmt::format("\nrelative to loads and reactions; to the first residual, with lifted boundary values, the "
                        "2-norm is {:.2e}",
                        r.of_first_residual);
  return text;
}

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.2f}", 1e-6 * static_cast<double>(bytes)); }

device::Copies total_of(const SolveReport& report) {
  device::Copies total;
  for (const auto& phase : report.copies) {
    total.bytes_to_device += phase.second.bytes_to_device;
    total.bytes_to_host += phase.second.bytes_to_host;
    total.num_to_device += phase.second.num_to_device;
    total.num_to_host += phase.second.num_to_host;
  }
  return total;
}

/// What each phase copied between host and device, beside its time; `rows` end with the total.
void add_copies(const SolveReport& report, std::vector<Column>& columns, std::vector<std::vector<std::string>>& rows) {
  columns.push_back({"MB to device", "10^6 bytes copied from the host to the device", Align::right});
  columns.push_back({"MB to host", "10^6 bytes copied from the device to the host", Align::right});
  columns.push_back({"copies", "in both directions", Align::right});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto copies = i < report.copies.size() ? report.copies[i].second : total_of(report);
    rows[i].insert(rows[i].end(), {megabytes(copies.bytes_to_device), megabytes(copies.bytes_to_host),
                                   std::to_string(copies.num_to_device + copies.num_to_host)});
  }
}

std::string phases_text(const SolveReport& report) {
  std::vector<Column> columns{{"phase", "part of the run"},
                              {"seconds", "wall-clock time", Align::right},
                              {"share", "of the total", Align::right}};
  std::vector<std::vector<std::string>> rows;
  double total = 0;
  for (const auto& [phase, seconds] : report.seconds) total += seconds;
  for (const auto& [phase, seconds] : report.seconds)
    rows.push_back(
        {phase, fmt::format("{:.4f}", seconds), fmt::format("{:.1f} %", total > 0 ? 100 * seconds / total : 0)});
  rows.push_back({"total", fmt::format("{:.4f}", total), ""});
  if (!report.copies.empty()) add_copies(report, columns, rows);
  return format_table(columns, rows);
}

std::string operators_text(const SolveReport& report) {
  static const std::vector<Column> columns{
      {"operator", "what is timed; `cg iteration`: with its vectors"},
      {"MDoF/s", "10^6 unknowns per second", Align::right},
      {"GFLOP/s", "10^9 operations per second, those of the algorithm as written", Align::right},
      {"GB/s", "10^9 bytes per second, each number that must cross the memory counted once", Align::right},
      {"time", "of one application", Align::right},
      {"bound", "least time that this machine's ceilings (`rafter machine`) allow: the roofline", Align::right},
      {"of roofline", "bound over time; 100 %: no execution on this machine is faster", Align::right},
      {"limited by",
       "what the bound is of: compute (operations), memory (bytes), local memory (bytes to and from the nearest "
       "cache)"},
      {"plan", "letter in the list of plans; several: a kernel per shape of cell, kind of map and facets"}};
  std::vector<std::vector<std::string>> rows;
  PlanList plans;
  for (const auto& entry : report.operators) {
    std::vector<std::string> labels;
    for (const auto& [kernel, plan] : entry.plans)
      if (const auto label = plans.label(plan, kernel); std::ranges::find(labels, label) == labels.end())
        labels.push_back(label);
    rows.push_back({entry.name, fmt::format("{:.3g}", 1e-6 * entry.dofs_per_second),
                    fmt::format("{:.2f}", entry.gflops), fmt::format("{:.2f}", entry.gbytes_per_second),
                    time_text(entry.seconds), time_text(entry.bound_seconds),
                    fmt::format("{:.1f} %", 100 * entry.share), entry.limited_by, base::join(labels, " ")});
  }
  return format_table(columns, rows) + "\n" + plans.text();
}

std::string factors_text(const FactorReport& factors) {
  const std::string pivots =
      factors.negative_pivots > 0 ? fmt::format(", {} negative pivots", factors.negative_pivots) : "";
  return fmt::format("{}, {} entries ({:.1f} times those of the matrix), {:.1f} MB{}", factors.kind, factors.entries,
                     factors.fill, 1e-6 * static_cast<double>(factors.bytes), pivots);
}

/// The order p of |R_(k+1)| = C |R_k|^p, from the residual at `k` and the two before it in the same load step.
std::string order_text(const std::vector<NewtonStepReport>& steps, std::size_t k) {
  if (k < 2 || steps[k - 1].is_last || steps[k - 2].is_last) return "";
  const double last = std::log(steps[k].residual / steps[k - 1].residual);
  const double before = std::log(steps[k - 1].residual / steps[k - 2].residual);
  return last < 0 && before < 0 && std::isfinite(last) ? fmt::format("{:.2f}", last / before) : "";
}

std::string newton_text(const SolveReport& report) {
  static const std::vector<Column> columns{
      {"load factor", "share of boundary values and loads", Align::right},
      {"relative residual", "before the Newton step of the row; in the last row of a load step: of its solution",
       Align::right},
      {"order", "p of |R_(k+1)| = C |R_k|^p", Align::right},
      {"length", "of the step that was taken, in Newton steps", Align::right},
      {"tolerance", "relative, of the linear system", Align::right},
      {"iterations", "of the linear solver", Align::right}};
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < report.newton.size(); ++k) {
    const auto& step = report.newton[k];
    std::vector<std::string> row{fmt::format("{:.4g}", step.load_factor), fmt::format("{:.3e}", step.residual),
                                 order_text(report.newton, k)};
    if (step.is_last)
      row.insert(row.end(), {"", "", ""});
    else
      row.insert(row.end(), {fmt::format("{:.4g}", step.length), fmt::format("{:.1e}", step.tolerance),
                             std::to_string(step.linear_iterations)});
    rows.push_back(std::move(row));
  }
  return format_table(columns, rows);
}

/// "3 to 5", or "4" where all are equal.
template <class Count> std::string range_text(const std::vector<TimeStepReport>& steps, Count count) {
  const auto [least, most] = std::ranges::minmax_element(steps, {}, count);
  const int first = std::invoke(count, *least), last = std::invoke(count, *most);
  return first == last ? std::to_string(first) : fmt::format("{} to {}", first, last);
}

std::string time_text(const TimeReport& time) {
  std::string text = fmt::format("{} time steps from t = {:.6g} to {:.6g}, theta = {:.4g}", time.steps.size(),
                                 time.start, time.steps.empty() ? time.start : time.steps.back().time, time.theta);
  if (time.steps.empty()) return text;
  text += fmt::format("; in each {} iterations", range_text(time.steps, &TimeStepReport::iterations));
  if (time.steps.front().newton_steps > 0)
    text += fmt::format(", {} Newton steps", range_text(time.steps, &TimeStepReport::newton_steps));
  return text;
}

std::string errors_text(const SolveReport& report) {
  static const std::vector<Column> columns{
      {"field", "with an exact solution in [check]"},
      {"relative L2 error", "of its values, over the norm of the exact ones", Align::right},
      {"relative H1 error", "of its gradient, likewise", Align::right}};
  std::vector<std::vector<std::string>> rows;
  for (const auto& [field, errors] : report.errors)
    rows.push_back({field, fmt::format("{:.6e}", errors.l2), fmt::format("{:.6e}", errors.h1)});
  return format_table(columns, rows);
}

std::string functionals_text(const SolveReport& report) {
  static const std::vector<Column> columns{{"functional", "name in [functionals]"},
                                           {"value", "of the integral over the solved fields", Align::right}};
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : report.functionals) rows.push_back({name, fmt::format("{:.12g}", value)});
  return format_table(columns, rows);
}

} // namespace

std::string to_text(const SolveReport& report) {
  std::string text = report.title.empty() ? "" : report.title + "\n";
  text += fmt::format("{} unknowns, {}\n", report.dofs, cells_text(report));
  text += fmt::format("{} after {} {}, relative residual {:.2e}{}\n", report.status, report.iterations,
                      report.newton.empty() ? "iterations" : "Newton steps", report.residual,
                      report.residuals ? norms_text(*report.residuals) : "");
  if (!report.method.empty())
    text += wrapped("method: ", report.reason.empty() ? report.method : report.method + ", " + report.reason);
  if (report.time) text += wrapped("time: ", time_text(*report.time));
  if (!report.preconditioner.empty()) text += wrapped("preconditioner: ", report.preconditioner);
  if (report.factors) text += wrapped("factors: ", factors_text(*report.factors));
  if (!report.warning.empty()) text += wrapped("warning: ", report.warning);
  if (!report.message.empty()) text += wrapped("", report.message);
  if (!report.newton.empty()) text += "\n" + newton_text(report);
  if (!report.errors.empty()) text += "\n" + errors_text(report);
  if (!report.functionals.empty()) text += "\n" + functionals_text(report);
  if (!report.seconds.empty()) text += "\n" + phases_text(report);
  if (report.peak_memory_bytes > 0)
    text += fmt::format("\npeak memory {:.3f} GB\n", 1e-9 * static_cast<double>(report.peak_memory_bytes));
  if (!report.operators.empty()) text += "\n" + operators_text(report);
  return text;
}

} // namespace rafter::report

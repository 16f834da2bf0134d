// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/report/report.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include <rafter/base/text.hpp>
#include <rafter/report/figures.hpp>
#include <rafter/report/plan_list.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::report {

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// A table; its legend is a detail.
std::string table_text(std::span<const Column> columns, const Rows& rows, Detail detail) {
  return detail == Detail::all ? format_table(columns, rows) : format_rows(columns, rows);
}

/// "1 iteration", "2 iterations".
std::string count_text(std::int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "64 hexahedra", "1 prism".
std::string shape_text(const std::string& shape, std::int64_t count) {
  constexpr std::string_view greek = "hedron";
  if (count == 1 || !shape.ends_with(greek)) return count_text(count, shape);
  return fmt::format("{} {}hedra", count, shape.substr(0, shape.size() - greek.size()));
}

std::string size_text(const SolveReport& report) {
  std::vector<std::string> cells;
  for (const auto& [shape, count] : report.cells) cells.push_back(shape_text(shape, count));
  return fmt::format("{}, {}\n", count_text(report.dofs, "unknown"),
                     cells.empty() ? "no cells" : base::join(cells, ", "));
}

/// The norm that the solve was stopped on, where it is not the 2-norm; all norms are details.
std::string norms_text(const ResidualReport& r, Detail detail) {
  const bool is_preconditioned = r.norm == "preconditioned";
  if (detail == Detail::results) return is_preconditioned ? " in the preconditioned norm" : "";
  std::string text = " in the 2-norm";
  if (is_preconditioned)
    text = fmt::format(" in the preconditioned norm ({:.2e} in the 2-norm)", r.residual);
  else if (r.preconditioned)
    text += fmt::format(" ({:.2e} in the preconditioned norm)", *r.preconditioned);
  if (r.has_lift)
    text += fmt::format("\nrelative to {}; to the first residual, with lifted boundary values, the 2-norm is {:.2e}",
                        r.has_forces ? "loads and reactions" : "|A| |x|, since there are no loads and reactions",
                        r.of_first_residual);
  return text;
}

/// "converged after 17 iterations (cg, jacobi), relative residual 3.50e-09".
std::string status_text(const SolveReport& report, Detail detail) {
  std::vector<std::string> means;
  for (const auto& name : {report.method, report.preconditioner_name})
    if (!name.empty()) means.push_back(name);
  return fmt::format("{} after {}{}, relative residual {:.2e}{}\n", report.status,
                     count_text(report.iterations, report.newton.empty() ? "iteration" : "Newton step"),
                     means.empty() ? "" : " (" + base::join(means, ", ") + ")", report.residual,
                     report.residuals ? norms_text(*report.residuals, detail) : "");
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

double total_seconds(const SolveReport& report) {
  double total = 0;
  for (const auto& phase : report.seconds) total += phase.second;
  return total;
}

/// Adds what each phase copied between host and device, beside its time; `rows` end with the total.
void add_copies(const SolveReport& report, std::vector<Column>& columns, Rows& rows) {
  columns.push_back({"MB to device", "10^6 bytes copied from the host to the device", Align::right});
  columns.push_back({"MB to host", "10^6 bytes copied from the device to the host", Align::right});
  columns.push_back({"copies", "in both directions", Align::right});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto copies = i < report.copies.size() ? report.copies[i].second : total_of(report);
    rows[i].insert(rows[i].end(), {megabytes(copies.bytes_to_device), megabytes(copies.bytes_to_host),
                                   std::to_string(copies.num_to_device + copies.num_to_host)});
  }
}

/// A row for each phase.
std::string phases_table(const SolveReport& report) {
  std::vector<Column> columns{{"phase", "part of the run"},
                              {"seconds", "wall-clock time", Align::right},
                              {"share", "of the total", Align::right}};
  Rows rows;
  const double total = total_seconds(report);
  for (const auto& [phase, seconds] : report.seconds)
    rows.push_back(
        {phase, fmt::format("{:.4f}", seconds), fmt::format("{:.1f} %", total > 0 ? 100 * seconds / total : 0)});
  rows.push_back({"total", fmt::format("{:.4f}", total), ""});
  if (!report.copies.empty()) add_copies(report, columns, rows);
  return format_table(columns, rows);
}

/// A column for each phase.
std::string phases_row(const SolveReport& report) {
  std::vector<Column> columns{{"phase", "what the row has"}};
  std::vector<std::string> row{"seconds"};
  const auto add = [&](const std::string& phase, double seconds) {
    columns.push_back({phase, "wall-clock time of this part of the run", Align::right});
    row.push_back(fmt::format("{:.4f}", seconds));
  };
  for (const auto& [phase, seconds] : report.seconds) add(phase, seconds);
  add("total", total_seconds(report));
  auto text = format_rows(columns, Rows{row});
  if (report.copies.empty()) return text;
  const auto copies = total_of(report);
  return text + fmt::format("copied: {} MB to the device, {} MB to the host, in {} copies\n",
                            megabytes(copies.bytes_to_device), megabytes(copies.bytes_to_host),
                            copies.num_to_device + copies.num_to_host);
}

std::string costs_text(const SolveReport& report, Detail detail) {
  std::string text;
  if (!report.seconds.empty()) text += detail == Detail::all ? phases_table(report) : phases_row(report);
  if (report.peak_memory_bytes > 0)
    text += fmt::format("peak memory {:.3f} GB\n", 1e-9 * static_cast<double>(report.peak_memory_bytes));
  return text;
}

/// The letters of the plans of an operator.
std::string plan_letters(const OperatorReport& report, PlanList& plans) {
  std::vector<std::string> labels;
  for (const auto& [kernel, plan] : report.plans)
    if (const auto label = plans.label(schedule::parse_plan(plan), kernel);
        std::ranges::find(labels, label) == labels.end())
      labels.push_back(label);
  return base::join(labels, " ");
}

std::string operators_text(const SolveReport& report, Detail detail) {
  const bool has_details = detail == Detail::all;
  const auto figures = operator_figures();
  auto columns = columns_of(figures, has_details);
  if (has_details)
    columns.push_back(
        {"plan", "letter in the list of plans; several: a kernel per shape of cell, kind of map and facets"});
  Rows rows;
  PlanList plans;
  for (const auto& entry : report.operators) {
    rows.push_back(cells_of(figures, entry, has_details));
    if (has_details) rows.back().push_back(plan_letters(entry, plans));
  }
  return table_text(columns, rows, detail) + (has_details ? "\n" + plans.text() : "");
}

std::string factors_text(const FactorReport& factors) {
  const std::string pivots =
      factors.negative_pivots > 0 ? fmt::format(", {} negative pivots", factors.negative_pivots) : "";
  return fmt::format("{}, {} entries ({:.1f} times those of the matrix), {:.1f} MB{}", factors.kind, factors.entries,
                     factors.fill, 1e-6 * static_cast<double>(factors.bytes), pivots);
}

std::string newton_table_text(const SolveReport& report) {
  Rows rows;
  for (const auto& row : newton_rows(report.newton)) rows.push_back(cells_of(newton_figures(), row, true));
  return format_table(columns_of(newton_figures(), true), rows);
}

/// "3 to 5", or "4" where all are equal.
template <class Entry, class Count> std::string range_text(const std::vector<Entry>& entries, Count count) {
  const auto [least, most] = std::ranges::minmax_element(entries, {}, count);
  const int first = std::invoke(count, *least), last = std::invoke(count, *most);
  return first == last ? std::to_string(first) : fmt::format("{} to {}", first, last);
}

/// The residuals of the last load step, and how many steps those before it took.
std::string newton_line(const std::vector<NewtonStepReport>& steps) {
  std::vector<int> lengths; // Newton steps of each load step
  int linear_iterations = 0;
  std::size_t begin = 0; // where the last load step begins
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (k == 0 || steps[k - 1].is_last) {
      lengths.push_back(0);
      begin = k;
    }
    if (steps[k].is_last) continue;
    ++lengths.back();
    linear_iterations += steps[k].linear_iterations;
  }
  std::vector<std::string> residuals;
  for (std::size_t k = begin; k < steps.size(); ++k) residuals.push_back(fmt::format("{:.1e}", steps[k].residual));
  const bool has_several = lengths.size() > 1;
  return fmt::format("{}{}; residuals{}: {}",
                     has_several ? fmt::format("{} load steps of {} Newton steps, ", lengths.size(),
                                               range_text(lengths, std::identity()))
                                 : "",
                     count_text(linear_iterations, "linear iteration"),
                     has_several ? fmt::format(" at load factor {:.4g}", steps.back().load_factor) : "",
                     base::join(residuals, " "));
}

std::string time_line(const TimeReport& time) {
  std::string text = fmt::format("{} from t = {:.6g} to {:.6g}, theta = {:.4g}",
                                 count_text(static_cast<std::int64_t>(time.steps.size()), "time step"), time.start,
                                 time.steps.empty() ? time.start : time.steps.back().time, time.theta);
  if (time.steps.empty()) return text;
  text += fmt::format("; in each {} iterations", range_text(time.steps, &TimeStepReport::iterations));
  if (time.steps.front().newton_steps > 0)
    text += fmt::format(", {} Newton steps", range_text(time.steps, &TimeStepReport::newton_steps));
  return text;
}

/// Says how the solve went, from its steps to what it was made of.
std::string solve_text(const SolveReport& report, Detail detail) {
  std::string text;
  if (!report.message.empty()) text += wrapped("", report.message);
  if (!report.warning.empty()) text += wrapped("warning: ", report.warning);
  if (report.time) text += wrapped("time: ", time_line(*report.time));
  if (!report.newton.empty() && detail == Detail::results) text += wrapped("newton: ", newton_line(report.newton));
  if (!report.reason.empty() && detail == Detail::all)
    text += wrapped("method: ", report.method + ", " + report.reason);
  if (!report.preconditioner.empty() && detail == Detail::all)
    text += wrapped("preconditioner: ", report.preconditioner);
  if (detail == Detail::all)
    for (const auto& [kernels, rule] : report.quadrature) text += wrapped("quadrature: ", rule + " (" + kernels + ")");
  if (report.factors) text += wrapped("factors: ", factors_text(*report.factors));
  return text;
}

std::string errors_text(const SolveReport& report, Detail detail) {
  static const std::vector<Column> columns{
      {"field", "with an exact solution in [check]"},
      {"relative L2 error", "of its values, over the norm of the exact ones", Align::right},
      {"relative H1 error", "of its gradient, likewise", Align::right}};
  Rows rows;
  for (const auto& [field, errors] : report.errors)
    rows.push_back({field, fmt::format("{:.6e}", errors.l2), fmt::format("{:.6e}", errors.h1)});
  return table_text(columns, rows, detail);
}

std::string functionals_text(const SolveReport& report, Detail detail) {
  static const std::vector<Column> columns{{"functional", "name in [functionals]"},
                                           {"value", "of the integral over the solved fields", Align::right}};
  Rows rows;
  for (const auto& [name, value] : report.functionals) rows.push_back({name, fmt::format("{:.12g}", value)});
  return table_text(columns, rows, detail);
}

} // namespace

std::string to_text(const SolveReport& report, Detail detail) {
  std::string text = report.title.empty() ? "" : report.title + "\n";
  text += status_text(report, detail) + size_text(report) + solve_text(report, detail);
  if (!report.functionals.empty()) text += "\n" + functionals_text(report, detail);
  if (!report.errors.empty()) text += "\n" + errors_text(report, detail);
  if (!report.newton.empty() && detail == Detail::all) text += "\n" + newton_table_text(report);
  if (const auto costs = costs_text(report, detail); !costs.empty()) text += "\n" + costs;
  if (!report.operators.empty()) text += "\n" + operators_text(report, detail);
  return text;
}

} // namespace rafter::report

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/report/figures.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/text.hpp>

namespace rafter::report {
namespace {

std::string text_itself(const FigureValue& value) { return std::get<std::string>(value); }

/// The plans that differ, one after the other.
std::string differing_plans(const std::vector<KernelPlan>& plans) {
  std::vector<std::string> texts;
  for (const auto& [kernel, plan] : plans)
    if (std::ranges::find(texts, plan) == texts.end()) texts.push_back(plan);
  return base::join(texts, "; ");
}

const std::vector<Figure<OperatorReport>>& operator_table() {
  using Row = OperatorReport;
  using Value = FigureValue;
  static const std::vector<Figure<Row>> table{
      {"name", "operator", "what is timed; `cg iteration`: with its vectors", "", Shown::always, Align::left,
       [](const Row& row) -> Value { return row.name; }, text_itself},
      {"plan", "plans", "full texts of the plans of its kernels that differ", "", Shown::never, Align::left,
       [](const Row& row) -> Value { return differing_plans(row.plans); }, text_itself},
      {"dofs_per_second", "MDoF/s", "unknowns per second", "10^6 ", Shown::always, Align::right,
       [](const Row& row) -> Value { return row.dofs_per_second; },
       [](const Value& value) { return fmt::format("{:.3g}", 1e-6 * std::get<double>(value)); }},
      {"gflops", "GFLOP/s", "10^9 operations per second, those of the algorithm as written", "", Shown::always,
       Align::right, [](const Row& row) -> Value { return row.gflops; },
       [](const Value& value) { return fmt::format("{:.2f}", std::get<double>(value)); }},
      {"gbytes_per_second", "GB/s", "10^9 bytes per second, each number that must cross the memory counted once", "",
       Shown::always, Align::right, [](const Row& row) -> Value { return row.gbytes_per_second; },
       [](const Value& value) { return fmt::format("{:.2f}", std::get<double>(value)); }},
      {"seconds", "time", "of one application", "", Shown::always, Align::right,
       [](const Row& row) -> Value { return row.seconds; },
       [](const Value& value) { return time_text(std::get<double>(value)); }},
      {"bound_seconds", "bound", "least time that this machine's ceilings (`rafter machine`) allow: the roofline", "",
       Shown::in_detail, Align::right, [](const Row& row) -> Value { return row.bound_seconds; },
       [](const Value& value) { return time_text(std::get<double>(value)); }},
      {"share", "of roofline", "least time over time; 1 (100 %): no execution on this machine is faster", "",
       Shown::always, Align::right, [](const Row& row) -> Value { return row.share; },
       [](const Value& value) { return fmt::format("{:.1f} %", 100 * std::get<double>(value)); }},
      {"limited_by", "limited by",
       "what the least time is of: compute (operations), memory (bytes), local memory (bytes to and from the nearest "
       "cache)",
       "", Shown::always, Align::left, [](const Row& row) -> Value { return row.limited_by; }, text_itself}};
  return table;
}

/// A figure of the step that follows a residual, which the last residual of a load step has none of.
template <class Member> FigureValue of_step(const NewtonRow& row, Member member) {
  if (row.step.is_last) return {};
  return FigureValue(row.step.*member);
}

const std::vector<Figure<NewtonRow>>& newton_table() {
  using Row = NewtonRow;
  using Value = FigureValue;
  using Step = NewtonStepReport;
  static const std::vector<Figure<Row>> table{
      {"load_factor", "load factor", "share of boundary values and loads", "", Shown::always, Align::right,
       [](const Row& row) -> Value { return row.step.load_factor; },
       [](const Value& value) { return fmt::format("{:.4g}", std::get<double>(value)); }},
      {"residual", "relative residual",
       "before the Newton step of the row; in the last row of a load step: of its solution", "", Shown::always,
       Align::right, [](const Row& row) -> Value { return row.step.residual; },
       [](const Value& value) { return fmt::format("{:.3e}", std::get<double>(value)); }},
      {"", "order", "p of |R_(k+1)| = C |R_k|^p", "", Shown::always, Align::right,
       [](const Row& row) -> Value { return row.order; },
       [](const Value& value) { return fmt::format("{:.2f}", std::get<double>(value)); }},
      {"length", "length", "of the step that was taken, in Newton steps", "", Shown::always, Align::right,
       [](const Row& row) { return of_step(row, &Step::length); },
       [](const Value& value) { return fmt::format("{:.4g}", std::get<double>(value)); }},
      {"tolerance", "tolerance", "relative, of the linear system", "", Shown::always, Align::right,
       [](const Row& row) { return of_step(row, &Step::tolerance); },
       [](const Value& value) { return fmt::format("{:.1e}", std::get<double>(value)); }},
      {"linear_iterations", "iterations", "of the linear solver", "", Shown::always, Align::right,
       [](const Row& row) -> Value {
         return row.step.is_last ? Value() : Value(std::int64_t{row.step.linear_iterations});
       },
       [](const Value& value) { return std::to_string(std::get<std::int64_t>(value)); }}};
  return table;
}

/// Returns the order that the residual at `k` and the two before it in the same load step show, where they fall.
FigureValue order_at(const std::vector<NewtonStepReport>& steps, std::size_t k) {
  if (k < 2 || steps[k - 1].is_last || steps[k - 2].is_last) return {};
  const double last = std::log(steps[k].residual / steps[k - 1].residual);
  const double before = std::log(steps[k - 1].residual / steps[k - 2].residual);
  if (!(last < 0 && before < 0 && std::isfinite(last))) return {};
  return last / before;
}

} // namespace

std::span<const Figure<OperatorReport>> operator_figures() { return operator_table(); }
std::span<const Figure<NewtonRow>> newton_figures() { return newton_table(); }

std::vector<NewtonRow> newton_rows(const std::vector<NewtonStepReport>& steps) {
  std::vector<NewtonRow> rows;
  for (std::size_t k = 0; k < steps.size(); ++k) rows.push_back({steps[k], order_at(steps, k)});
  return rows;
}

} // namespace rafter::report

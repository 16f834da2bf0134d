// SPDX-License-Identifier: BSD-3-Clause
#include "plan_table.hpp"

#include <fmt/format.h>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/report/table.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::app {

namespace {

const std::vector<report::Column>& columns() {
  using enum report::Align;
  static const std::vector<report::Column> table{
      {"plan", "what differs from the default plan; `--plan \"NAME\"` replays it; *: chosen"},
      {"predicted", "time of one run over all cells by the cost model", right},
      {"measured", "the same by the clock, of `rafter tune`; -: not timed", right},
      {"bound", "least time that this machine's ceilings (`rafter machine`) allow: the roofline", right},
      {"flop/cell", "floating-point operations that are executed", right},
      {"B/cell", "bytes that must cross the memory, each number counted once", right}};
  return table;
}

} // namespace

std::string forecast_text(const op::MatrixForecast& forecast) {
  return fmt::format("assembled matrix: {}: product {} (kernels {}), set-up {} for {:.0f} products, {:.2g} GB, {}",
                     forecast.pays() ? "taken" : "not taken", report::time_text(forecast.seconds),
                     report::time_text(forecast.kernel_seconds), report::time_text(forecast.setup_seconds),
                     forecast.num_applications, 1e-9 * forecast.bytes, forecast.is_measured ? "measured" : "predicted");
}

std::string plan_line(const op::KernelInfo& info, report::PlanList& plans) {
  return fmt::format("  plan {}: {} ({})\n", plans.label(info.plan, info.name), schedule::short_name(info.plan),
                     tune::name(info.decision.origin));
}

std::string plan_table(const op::KernelInfo& info) {
  constexpr int most_untried = 12;
  std::vector<const tune::Candidate*> shown;
  int num_untried = 0;
  for (const auto& candidate : info.decision.candidates)
    if (candidate.measured_seconds || candidate.plan == info.decision.plan || ++num_untried <= most_untried)
      shown.push_back(&candidate);
  std::vector<schedule::Plan> plans;
  for (const auto* candidate : shown) plans.push_back(candidate->plan);
  const auto names = schedule::short_names(plans);
  const double batches_per_cell = static_cast<double>(info.num_batches) / static_cast<double>(info.num_cells);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto& [plan, features, predicted, bound, measured] = *shown[i];
    rows.push_back({names[i] + (plan == info.decision.plan ? " *" : ""), report::time_text(predicted),
                    measured ? report::time_text(*measured) : "-", report::time_text(bound),
                    fmt::format("{:.4g}", features.flops * batches_per_cell),
                    fmt::format("{:.4g}", (features.data_bytes + features.vector_bytes) * batches_per_cell)});
  }
  if (const auto hidden = info.decision.candidates.size() - rows.size(); hidden > 0)
    rows.push_back({fmt::format("and {} that are predicted to be slower", hidden), "", "", "", "", ""});
  return report::format_rows(columns(), rows);
}

std::string plan_table_legend() { return report::format_legend(columns()); }

} // namespace rafter::app

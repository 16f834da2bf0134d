// SPDX-License-Identifier: BSD-3-Clause
#include "plan_table.hpp"

#include <fmt/format.h>
#include <rafter/report/plan_list.hpp>
#include <rafter/report/table.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::app {

std::string forecast_text(const op::MatrixForecast& forecast) {
  return fmt::format("assembled matrix: {}: a product {} {}, the kernels {}; set-up {}, {:.0f} applications expected, "
                     "{:.3g} GiB",
                     forecast.pays() ? "taken" : "not taken", forecast.is_measured ? "took" : "is predicted to take",
                     report::time_text(forecast.seconds), report::time_text(forecast.kernel_seconds),
                     report::time_text(forecast.setup_seconds), forecast.num_applications, forecast.bytes / 0x1p30);
}

std::string plan_lines(const op::KernelInfo& info) {
  return fmt::format("  plan: {} ({})\n", schedule::short_name(info.plan), tune::name(info.decision.origin)) +
         report::replay_text(info.plan, 4);
}

std::string plan_table(const op::KernelInfo& info) {
  constexpr int most_untried = 12;
  using enum report::Align;
  static const std::vector<report::Column> columns{
      {"plan", "what differs from the default plan; --plan \"NAME\" replays it; *: chosen"},
      {"predicted", "time of one run over all cells by the cost model", right},
      {"measured", "the same by the clock of `rafter tune`; -: not timed", right},
      {"bound", "least time that the machine's ceilings allow: the roofline", right},
      {"flop/cell", "operations executed", right},
      {"B/cell", "bytes that must cross the memory", right}};
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
  return report::format_table(columns, rows);
}

} // namespace rafter::app

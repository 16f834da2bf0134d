// SPDX-License-Identifier: BSD-3-Clause
#include "plan_table.hpp"

#include <fmt/format.h>
#include <rafter/report/report.hpp>

namespace rafter::app {

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} us", 1e6 * seconds);
}

std::string forecast_text(const op::MatrixForecast& forecast) {
  return fmt::format("assembled matrix: {}: a product {} {}, the kernels {}; set-up {}, {:.0f} applications expected, "
                     "{:.3g} GiB",
                     forecast.pays() ? "taken" : "not taken", forecast.is_measured ? "took" : "is predicted to take",
                     time_text(forecast.seconds), time_text(forecast.kernel_seconds), time_text(forecast.setup_seconds),
                     forecast.num_applications, forecast.bytes / 0x1p30);
}

std::string plan_table(const op::KernelInfo& info) {
  constexpr int most_untried = 12;
  std::vector<std::vector<std::string>> rows;
  int num_untried = 0;
  const double batches = static_cast<double>(info.num_batches);
  for (const auto& candidate : info.decision.candidates) {
    const auto text = schedule::to_string(candidate.plan);
    const bool is_chosen = candidate.plan == info.decision.plan;
    if (!candidate.measured_seconds && ++num_untried > most_untried && !is_chosen) continue;
    rows.push_back({text + (is_chosen ? " *" : ""), time_text(candidate.predicted_seconds),
                    candidate.measured_seconds ? time_text(*candidate.measured_seconds) : "-",
                    time_text(candidate.bound_seconds),
                    fmt::format("{:.4g}", candidate.features.flops * batches / static_cast<double>(info.num_cells)),
                    fmt::format("{:.4g}", (candidate.features.data_bytes + candidate.features.vector_bytes) * batches /
                                              static_cast<double>(info.num_cells))});
  }
  auto table = report::format_table(
      std::vector<std::string>{"plan (* chosen)", "predicted", "measured", "bound", "flops/cell", "bytes/cell"}, rows,
      std::vector<std::size_t>{1, 2, 3, 4, 5});
  if (const auto hidden = info.decision.candidates.size() - rows.size(); hidden > 0)
    table += fmt::format("and {} plans that are predicted to be slower\n", hidden);
  return table;
}

} // namespace rafter::app

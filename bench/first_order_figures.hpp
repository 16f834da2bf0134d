// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <vector>

#include <bench/integration_rates.hpp>
#include <bench/report.hpp>

/// Figures 3 to 5 of the paper of published_first_order.hpp show times, rates and shares of benchmarks. Here they are
/// those of the fastest order of loops, on this machine and on those of the paper.
namespace rafter::bench {

/// Adds the figures of the fastest row of a case, which takes row["ns"] for a cell: best_ns, best_gbytes_per_second,
/// best_stream_share, best_gflops, best_product_share (left out where the product was not measured), and those of a
/// core in use, best_core_ns, best_core_gbytes_per_second, best_core_gflops. `problem`, its position in
/// published_integration, adds the same of the fastest order on each platform of the paper, as paper_xeon_best_ns and
/// so on, and which order that is: paper_xeon_best_order.
void add_best_figures(Json& row, const IntegrationCounts& counts, const IntegrationRates& rates,
                      std::optional<std::size_t> problem);

/// Tables and plots of these figures. Points of plots stand at the numbers of the cases.
std::vector<Table> best_figure_tables();
std::vector<report::Plot> best_figure_plots(const std::vector<Json>& rows);

} // namespace rafter::bench

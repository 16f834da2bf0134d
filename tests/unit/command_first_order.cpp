// SPDX-License-Identifier: BSD-3-Clause
// The figures that the suite first-order prints beside its own are those of the paper, and its estimates, rates and
// shares are defined as they are there.
#include <gtest/gtest.h>

#include <cmath>

#include <bench/first_order_figures.hpp>
#include <bench/published_first_order.hpp>
#include <fmt/format.h>

namespace rafter::bench {
namespace {

constexpr IntegrationCounts made_up_counts{.operations = 300, .input_words = 10, .output_words = 15};

TEST(PublishedFirstOrder, WordsAreThoseOfTables3And4) {
  constexpr std::array accesses{36, 66, 52, 80}, at_a_point{1, 1, 20, 20}, functions{4, 6, 4, 6};
  for (std::size_t problem = 0; problem < published_integration.size(); ++problem) {
    const auto& of = published_integration[problem];
    EXPECT_EQ(of.input_words() + of.output_words(), accesses[problem]) << of.problem;
    const int num = functions[problem];
    EXPECT_EQ(of.output_words(), num * num + num) << of.problem;
    EXPECT_EQ(of.point_words, at_a_point[problem] + 4 * num + of.output_words()) << of.problem;
    const int all_functions = num == 4 ? 4 * num + 3 * num : 4 * num * num; // derivatives are constant on tetrahedra
    EXPECT_EQ(of.all_points_words, of.coefficient_words + all_functions + of.output_words()) << of.problem;
    EXPECT_EQ(of.entry_words, of.coefficient_words + 8 + 2) << of.problem;
    EXPECT_EQ(of.counts(0).bytes(), 8.0 * accesses[problem]);
  }
}

TEST(PublishedFirstOrder, EstimatesAreThoseOfTable6) {
  int contradictions = 0;
  for (const auto& platform : published_platforms)
    for (std::size_t problem = 0; problem < published_integration.size(); ++problem)
      for (std::size_t order = 0; order < published_orders.size(); ++order) {
        const double printed = platform.estimates[problem][order];
        const auto& of = published_integration[problem];
        const double defined = estimated_ns(of.counts(order), platform.rates).value();
        if (std::abs(printed - defined) < 0.00501) continue;
        ++contradictions; // the numbers of sqs on the two Xeons
        EXPECT_EQ(platform.key, std::string_view("phi")) << of.problem;
        EXPECT_EQ(published_orders[order], "ssq") << of.problem;
        EXPECT_EQ(printed, published_platforms[0].estimates[problem][1]) << of.problem;
      }
  EXPECT_EQ(contradictions, 2);
}

TEST(PublishedFirstOrder, SharesAreThoseOfTable7) {
  constexpr std::array<std::array<std::array<int, 3>, 4>, 3> percent{
      {{{{22, 23, 24}, {30, 45, 79}, {23, 25, 35}, {42, 52, 76}}},
       {{{19, 15, 15}, {13, 30, 65}, {14, 15, 15}, {17, 25, 59}}},
       {{{99, 99, 99}, {29, 25, 53}, {65, 48, 47}, {29, 18, 30}}}}};
  for (std::size_t p = 0; p < published_platforms.size(); ++p)
    for (std::size_t problem = 0; problem < published_integration.size(); ++problem)
      for (std::size_t order = 0; order < published_orders.size(); ++order)
        EXPECT_EQ(std::lround(100 * published_platforms[p].share(problem, order)), percent[p][problem][order])
            << published_platforms[p].name << " " << published_integration[problem].problem << " "
            << published_orders[order];
}

TEST(PublishedFirstOrder, ProblemsAreOfDegree1) {
  EXPECT_EQ(published_problem("prism-convection", 1), 3U);
  EXPECT_FALSE(published_problem("prism-convection", 2));
  EXPECT_FALSE(published_problem("pyramid-poisson", 1));
  EXPECT_EQ(published_order("sqs"), 1U);
  EXPECT_FALSE(published_order("tables"));
}

TEST(FirstOrderEstimates, AreTheLongerTime) {
  const IntegrationRates slow_memory{.stream_bytes = 20e9, .product_flops = 100e9},
      slow_products{.stream_bytes = 100e9, .product_flops = 50e9}, not_measured{.stream_bytes = 100e9};
  EXPECT_DOUBLE_EQ(estimated_ns(made_up_counts, slow_memory).value(), 10);  // 200 bytes
  EXPECT_DOUBLE_EQ(estimated_ns(made_up_counts, slow_products).value(), 6); // 300 operations
  EXPECT_FALSE(estimated_ns(made_up_counts, not_measured));
}

TEST(FirstOrderEstimates, CopiesTakeEightBytesForAWord) { EXPECT_DOUBLE_EQ(copy_ns(16, 4e9), 32); }

TEST(FirstOrderEstimates, TakeRatesOfTheRecord) {
  machine::DeviceRecord record;
  record.machine.cores = 4;
  record.machine.peaks = {{.bits = 256, .fma = {10e9, 40e9}}};
  record.machine.matrix_product = {8e9, 20e9};
  record.machine.levels = {{.name = "memory", .triad = {1e9, 3e9}}};
  record.capabilities.num_compute_units = 12;
  record.bytes_to_device_per_second = 5e9;
  record.bytes_to_host_per_second = 4e9;
  const auto host = rates_of(record.machine, 4), device = rates_of(record);
  EXPECT_EQ(host.stream_bytes, 3e9);
  EXPECT_EQ(host.product_flops, 20e9);
  EXPECT_EQ(host.peak_flops, 40e9);
  EXPECT_EQ(host.cores, 4);
  EXPECT_EQ(host.bytes_to_device, 0) << "the host copies nothing";
  EXPECT_EQ(device.product_flops, 8e9);
  EXPECT_EQ(device.cores, 12);
  EXPECT_EQ(device.bytes_to_device, 5e9);
  EXPECT_EQ(device.bytes_to_host, 4e9);
  record.capabilities.has_unified_memory = true;
  EXPECT_EQ(rates_of(record).bytes_to_device, 0) << "its memory is that of the host";
}

Json fastest_row(const char* name) { return {{"case", name}, {"degree", 1}, {"best", "*"}, {"ns", 2.0}}; }

constexpr IntegrationRates made_up_rates{.stream_bytes = 400e9, .product_flops = 600e9, .cores = 4};

TEST(FirstOrderFigures, AreRatesAndSharesOfBenchmarks) {
  auto row = fastest_row("tetrahedron-poisson");
  add_best_figures(row, made_up_counts, made_up_rates, 0);
  const std::vector<std::pair<const char*, double>> figures{{"best_ns", 2},
                                                            {"best_gbytes_per_second", 100},
                                                            {"best_gflops", 150},
                                                            {"best_stream_share", 0.25},
                                                            {"best_product_share", 0.25},
                                                            {"best_core_ns", 8},
                                                            {"best_core_gbytes_per_second", 25},
                                                            {"best_core_gflops", 37.5},
                                                            {"paper_xeon_best_ns", 17.76},
                                                            {"paper_xeon_best_gbytes_per_second", 288 / 17.76},
                                                            {"paper_xeon_best_stream_share", 288 / 17.76 / 67},
                                                            {"paper_xeon_best_core_gbytes_per_second", 24 / 17.76},
                                                            {"paper_phi_best_gflops", 290 / 8.77},
                                                            {"paper_phi_best_product_share", 290 / 8.77 / 840},
                                                            {"paper_phi_best_core_ns", 59 * 8.77},
                                                            {"paper_kepler_best_stream_share", 288 / 2.02 / 144}};
  for (const auto& [key, value] : figures) EXPECT_NEAR(row.at(key).get<double>(), value, 1e-12 * value) << key;
  EXPECT_EQ(row.at("paper_xeon_best_order"), "ssq");
  EXPECT_EQ(row.at("paper_phi_best_order"), "qss");
}

TEST(FirstOrderFigures, LeaveOutWhatIsNotKnown) {
  auto row = fastest_row("pyramid-poisson");
  add_best_figures(row, made_up_counts, {.stream_bytes = 400e9}, std::nullopt);
  EXPECT_TRUE(row.contains("best_stream_share"));
  EXPECT_FALSE(row.contains("best_product_share"));
  EXPECT_FALSE(row.contains("paper_xeon_best_ns"));
}

TEST(FirstOrderFigures, StandAtTheNumbersOfTheirCases) {
  std::vector<Json> rows{fastest_row("pyramid-poisson"), fastest_row("prism-poisson")};
  add_best_figures(rows[0], made_up_counts, made_up_rates, std::nullopt);
  add_best_figures(rows[1], made_up_counts, made_up_rates, 1);
  rows.push_back({{"case", "prism-poisson"}, {"degree", 1}, {"best", ""}, {"ns", 9.0}}); // it is slower
  const auto plots = best_figure_plots(rows);
  ASSERT_EQ(plots.size(), 5U);
  using Points = std::vector<std::pair<double, double>>;
  const auto points = [](const report::Plot& plot, const std::string& name) {
    const auto found = std::ranges::find(plot.series, name, &report::PlotSeries::name);
    return found == plot.series.end() ? Points{} : found->points;
  };
  EXPECT_EQ(points(plots[0], "this machine"), (Points{{5, 2}, {2, 2}})) << "nanoseconds";
  EXPECT_EQ(points(plots[0], "Tesla K20m"), (Points{{2, 12.80}}));
  EXPECT_EQ(points(plots[0], "a core of Tesla K20m"), (Points{{2, 13 * 12.80}}));
  EXPECT_EQ(points(plots[1], "this machine"), (Points{{5, 100}, {2, 100}})) << "GB/s";
  EXPECT_EQ(points(plots[2], "a core of this machine"), (Points{{5, 37.5}, {2, 37.5}})) << "GFLOP/s";
  EXPECT_EQ(points(plots[3], "this machine"), (Points{{5, 0.25}, {2, 0.25}})) << "share of STREAM";
  EXPECT_EQ(points(plots[4], "2 x Xeon E5-2620").size(), 1U) << "share of DGEMM";
  EXPECT_EQ(points(plots[4], "a core of this machine").size(), 0U);
}

TEST(FirstOrderFigures, HaveColumnsForAllPlatforms) {
  auto row = fastest_row("prism-poisson");
  add_best_figures(row, made_up_counts, made_up_rates, 1);
  for (const auto& table : best_figure_tables()) {
    EXPECT_EQ(table.columns.size(), 2 * (1 + published_platforms.size()));
    for (const auto& column : table.columns) EXPECT_TRUE(row.contains(column.key)) << column.key;
  }
}

} // namespace
} // namespace rafter::bench

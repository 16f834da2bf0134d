// SPDX-License-Identifier: BSD-3-Clause
#include <bench/first_order_figures.hpp>

#include <algorithm>
#include <array>

#include <bench/published_first_order.hpp>
#include <fmt/format.h>
#include <rafter/base/text.hpp>

namespace rafter::bench {
namespace {

/// A figure has the end of its keys, and is printed so.
struct Figure {
  const char *key, *header, *meaning, *format;
  double scale;
};
constexpr Figure bandwidth_figure{"gbytes_per_second", "GB/s", "10^9 bytes that are read and written per second",
                                  "{:7.2f}", 1};
constexpr Figure flops_figure{"gflops", "GFLOP/s", "10^9 operations per second", "{:7.2f}", 1};
constexpr Figure stream_figure{"stream_share", "STREAM", "bytes per second over the rate of STREAM, in %", "{:6.1f}",
                               100};
constexpr Figure product_figure{"product_share", "DGEMM", "operations per second over those of DGEMM, in %", "{:6.1f}",
                                100};

constexpr const char *own_prefix = "best_", *core_prefix = "core_";

std::string prefix_of(const PublishedPlatform& platform) { return fmt::format("paper_{}_best_", platform.key); }

void add_figures(Json& row, const std::string& prefix, const IntegrationCounts& counts, const IntegrationRates& rates,
                 double ns) {
  const double gbytes_per_second = counts.bytes() / ns, gflops = counts.operations / ns;
  row[prefix + "ns"] = ns;
  row[prefix + bandwidth_figure.key] = gbytes_per_second;
  row[prefix + flops_figure.key] = gflops;
  row[prefix + stream_figure.key] = 1e9 * gbytes_per_second / rates.stream_bytes;
  if (rates.product_flops > 0) row[prefix + product_figure.key] = 1e9 * gflops / rates.product_flops;
  row[prefix + core_prefix + "ns"] = ns * rates.cores;
  row[prefix + core_prefix + bandwidth_figure.key] = gbytes_per_second / rates.cores;
  row[prefix + core_prefix + flops_figure.key] = gflops / rates.cores;
}

/// Columns of a figure: that of this machine and those of the paper's platforms.
void add_columns(std::vector<Column>& columns, const Figure& figure, const std::string& part) {
  columns.push_back({own_prefix + part + figure.key, {figure.header, figure.meaning}, figure.format, figure.scale});
  for (const auto& platform : published_platforms)
    columns.push_back({prefix_of(platform) + part + figure.key,
                       {platform.label, fmt::format("the same on {}", platform.name)},
                       figure.format,
                       figure.scale});
}

Table figure_table(const char* title, const Figure& first, const Figure& second, const char* part = "") {
  Table result{.title = title, .columns = {}};
  add_columns(result.columns, first, part);
  add_columns(result.columns, second, part);
  return result;
}

/// Numbers of cases: those of the paper in its order, then others.
class CaseNumbers {
public:
  explicit CaseNumbers(const std::vector<Json>& rows) {
    for (const auto& published : published_integration) names_.emplace_back(published.problem);
    for (const auto& row : rows)
      if (std::ranges::find(names_, row.at("case").get<std::string>()) == names_.end())
        names_.push_back(row.at("case").get<std::string>());
  }
  double number(const Json& row) const {
    return static_cast<double>(std::ranges::find(names_, row.at("case").get<std::string>()) - names_.begin() + 1);
  }
  std::string text() const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < names_.size(); ++i) parts.push_back(fmt::format("{} {}", i + 1, names_[i]));
    return base::join(parts, ", ");
  }

private:
  std::vector<std::string> names_;
};

/// Series of a key for this machine, a series for each degree, and for the platforms of the paper.
void add_series(std::vector<report::PlotSeries>& result, const std::vector<Json>& rows, const CaseNumbers& cases,
                const std::string& key, const std::string& of) {
  const auto add_points = [&](const std::string& name, const std::string& of_row, std::optional<int> degree) {
    report::PlotSeries series{.name = of + name, .points = {}};
    for (const auto& row : rows)
      if (row.contains(of_row) && (!degree || row.at("degree") == *degree))
        series.points.emplace_back(cases.number(row), row.at(of_row).get<double>());
    if (!series.points.empty()) result.push_back(std::move(series));
  };
  std::vector<int> degrees;
  for (const auto& row : rows)
    if (const auto degree = row.at("degree").get<int>(); std::ranges::find(degrees, degree) == degrees.end())
      degrees.push_back(degree);
  for (const int degree : degrees)
    add_points(degree == 1 ? "this machine" : fmt::format("this machine, degree {}", degree), own_prefix + key, degree);
  for (const auto& platform : published_platforms) add_points(platform.name, prefix_of(platform) + key, std::nullopt);
}

} // namespace

void add_best_figures(Json& row, const IntegrationCounts& counts, const IntegrationRates& rates,
                      std::optional<std::size_t> problem) {
  add_figures(row, own_prefix, counts, rates, row.at("ns").get<double>());
  if (!problem) return;
  for (const auto& platform : published_platforms) {
    const auto order = platform.best_order(*problem);
    row[prefix_of(platform) + "order"] = published_orders[order];
    add_figures(row, prefix_of(platform), published_integration[*problem].counts(order), platform.rates,
                platform.times[*problem][order]);
  }
}

std::vector<Table> best_figure_tables() {
  return {figure_table("fastest order of each case, here and in the paper's figure 4", bandwidth_figure, flops_figure),
          figure_table("shares of benchmarks, here and in the paper's figure 5", stream_figure, product_figure),
          figure_table("the same of a core in use", bandwidth_figure, flops_figure, core_prefix)};
}

std::vector<report::Plot> best_figure_plots(const std::vector<Json>& rows) {
  struct Of {
    const char *title, *key, *axis;
    bool has_cores, is_logarithmic;
  };
  constexpr std::array figures{
      Of{"figure 3: time of the fastest order", "ns", "nanoseconds for a cell", true, true},
      Of{"figure 4: bytes of the fastest order", bandwidth_figure.key, "GB/s", true, true},
      Of{"figure 4: operations of the fastest order", flops_figure.key, "GFLOP/s", true, true},
      Of{"figure 5: share of the rate of STREAM", stream_figure.key, "bytes per second / STREAM", false, false},
      Of{"figure 5: share of the rate of DGEMM", product_figure.key, "operations per second / DGEMM", false, false}};
  const CaseNumbers cases(rows);
  std::vector<report::Plot> result;
  for (const auto& figure : figures) {
    report::Plot plot{.title = figure.title,
                      .x = {.label = cases.text(), .is_integral = true},
                      .y = {.label = figure.axis, .is_logarithmic = figure.is_logarithmic},
                      .series = {}};
    add_series(plot.series, rows, cases, figure.key, "");
    if (figure.has_cores) add_series(plot.series, rows, cases, std::string(core_prefix) + figure.key, "a core of ");
    result.push_back(std::move(plot));
  }
  return result;
}

} // namespace rafter::bench

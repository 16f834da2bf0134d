// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rafter/machine/machine.hpp>

/// Plots as SVG text.
namespace rafter::report {

struct PlotAxis {
  std::string label;
  bool is_logarithmic = false; ///< points that are not positive are left out
  bool is_integral = false;    ///< ticks at integers alone
};

struct PlotSeries {
  std::string name; ///< in the legend; "": not named there
  std::vector<std::pair<double, double>> points;
  bool is_ceiling = false; ///< a grey line without marks
};

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
};

/// Plots under each other, each with axes, grid and legend. Points that are not finite are left out.
std::string to_svg(std::span<const Plot> plots);

/// GFLOP/s over flops per byte, both logarithmic, under the ceilings of so many cores: the peak and the rate from
/// memory.
Plot roofline(const std::string& title, const machine::Machine& machine, int cores, std::vector<PlotSeries> series);

} // namespace rafter::report

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rafter/machine/machine.hpp>

/// Draws plots as SVG text.
namespace rafter::report {

struct PlotAxis {
  std::string label;
  bool is_logarithmic = false; ///< points that are not positive are left out on such an axis
  bool is_integral = false;    ///< ticks stand at integers only
};

struct PlotSeries {
  std::string name; ///< name in the legend; "": left out of the legend
  std::vector<std::pair<double, double>> points;
  bool is_ceiling = false; ///< drawn as a grey line without marks
};

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
};

/// SVG text of plots below each other, each with axes, grid and legend. Points that are not finite are left out.
std::string to_svg(std::span<const Plot> plots);

/// A roofline plot: GFLOP/s over flops per byte, both logarithmic, below the ceilings of `cores` cores, which are the
/// peak and the rate from memory.
Plot roofline(const std::string& title, const machine::Machine& machine, int cores, std::vector<PlotSeries> series);

} // namespace rafter::report

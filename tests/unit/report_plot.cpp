// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include <rafter/report/plot.hpp>

namespace rafter::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t number = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++number;
  return number;
}

/// Returns an attribute of every element of a kind, in order.
std::vector<double> attributes(const std::string& svg, const std::string& element, const std::string& name) {
  std::vector<double> result;
  const std::regex pattern("<" + element + "[^>]* " + name + "=\"([-0-9.]+)\"");
  for (std::sregex_iterator i(svg.begin(), svg.end(), pattern), end; i != end; ++i)
    result.push_back(std::stod((*i)[1]));
  return result;
}

const Plot lines{"speed", {"degree"}, {"MDoF/s"}, {{"bp<1>", {{1, 10}, {2, 30}, {3, 20}}}, {"bp3", {{1, 5}, {2, 15}}}}};

TEST(Plot, HasAMarkPerPointAndANamePerSeries) {
  const auto svg = to_svg(std::vector{lines});
  EXPECT_EQ(count(svg, "<circle"), 5U);
  EXPECT_EQ(count(svg, "<polyline"), 2U);
  EXPECT_EQ(count(svg, "bp&lt;1&gt;"), 1U);
  EXPECT_EQ(count(svg, ">degree<"), 1U);
  EXPECT_EQ(count(to_svg(std::vector{lines, lines}), "<circle"), 10U);
}

TEST(Plot, PointsStandWhereTheirValuesAre) {
  const auto svg = to_svg(std::vector{lines});
  const auto x = attributes(svg, "circle", "cx"), y = attributes(svg, "circle", "cy");
  EXPECT_NEAR(x[2] - x[1], x[1] - x[0], 0.2);       // the degrees are 1, 2, 3
  EXPECT_NEAR(y[0] - y[1], 2 * (y[2] - y[1]), 0.3); // the values are 10, 30, 20, and pixels count downwards
  EXPECT_EQ(x[0], x[3]);
}

TEST(Plot, LogarithmicAxesTurnFactorsIntoDistances) {
  const auto svg = to_svg(std::vector{Plot{"", {"n", true}, {"s", true}, {{"", {{1, 1}, {10, 100}, {100, 10000}}}}}});
  const auto x = attributes(svg, "circle", "cx"), y = attributes(svg, "circle", "cy");
  EXPECT_NEAR(x[2] - x[1], x[1] - x[0], 0.2);
  EXPECT_NEAR(y[2] - y[1], y[1] - y[0], 0.2);
}

TEST(Plot, IntegralAxesHaveNoTicksBetweenIntegers) {
  Plot degrees = lines;
  EXPECT_EQ(count(to_svg(std::vector{degrees}), ">1.5<"), 1U);
  degrees.x.is_integral = true;
  EXPECT_EQ(count(to_svg(std::vector{degrees}), ">1.5<"), 0U);
}

TEST(Plot, LeavesOutWhatCannotBeDrawn) {
  const double nan = std::nan(""), infinity = INFINITY;
  const auto svg = to_svg(
      std::vector{Plot{"", {"x", true}, {"y"}, {{"a", {{0, 1}, {-1, 1}, {nan, 1}, {1, infinity}, {2, 3}}}, {"b", {}}}},
                  Plot{"nothing", {"x"}, {"y"}, {}}});
  EXPECT_EQ(count(svg, "<circle"), 1U);
  EXPECT_EQ(count(svg, "nan"), 0U);
  EXPECT_EQ(count(svg, "inf"), 0U);
}

TEST(Plot, CeilingsOfTheRooflineMeetAtTheRidge) {
  machine::Machine machine;
  machine.peaks = {{.bits = 512, .fma = {80e9, 160e9}, .add = {}, .mul = {}}};
  machine.levels = {
      {.name = "memory", .bytes = 1, .read = {}, .triad = {10e9, 20e9}, .copy = {}, .streaming_copy = {}}};
  const auto plot = roofline("r", machine, 1, {{"p", {{0.01, 0.1}}}});
  ASSERT_EQ(plot.series.size(), 3U);
  const auto& memory = plot.series[1].points;
  const auto& peak = plot.series[2].points;
  EXPECT_EQ(memory.back(), peak.front());
  EXPECT_EQ(memory.back(), (std::pair{8.0, 80.0}));
  EXPECT_EQ(memory.front(), (std::pair{0.01, 0.1})); // the line begins at the leftmost point
  EXPECT_TRUE(plot.series[1].is_ceiling && plot.series[2].is_ceiling);
}

} // namespace
} // namespace rafter::report

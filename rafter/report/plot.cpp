// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/report/plot.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <rafter/base/text.hpp>

namespace rafter::report {
namespace {

constexpr double width = 760, height = 380;                     ///< size of one plot in pixels
constexpr double left = 70, right = 220, top = 40, bottom = 50; ///< margins in pixels; the legend stands on the right
constexpr std::array colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c564b"};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  return result;
}

/// Maps the values of an axis to pixels, and places its ticks.
class Scale {
public:
  Scale(const PlotAxis& axis, double from, double to)
      : is_logarithmic_(axis.is_logarithmic), is_integral_(axis.is_integral), from_(from), to_(to) {}

  void include(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  /// Rounds the range outwards to ticks; with `from_zero`, linear axes begin at 0 unless values are negative.
  void finish(bool from_zero) {
    if (!(least_ <= most_)) { // there are no values
      least_ = is_logarithmic_ ? 1 : 0;
      most_ = 1;
    }
    if (is_logarithmic_) {
      least_ = std::pow(10, std::floor(std::log10(least_) + 1e-9));
      most_ = std::pow(10, std::ceil(std::log10(most_) - 1e-9));
      if (least_ == most_) most_ *= 10;
      return;
    }
    if (from_zero) least_ = std::min(least_, 0.0);
    if (least_ == most_) most_ = least_ + 1;
    const double step = tick_step();
    least_ = std::floor(least_ / step + 1e-9) * step;
    most_ = std::ceil(most_ / step - 1e-9) * step;
  }
  bool accepts(double value) const { return std::isfinite(value) && (!is_logarithmic_ || value > 0); }
  double pixel(double value) const {
    const double t =
        is_logarithmic_ ? std::log(value / least_) / std::log(most_ / least_) : (value - least_) / (most_ - least_);
    return from_ + t * (to_ - from_);
  }
  std::vector<double> ticks() const {
    std::vector<double> result;
    if (is_logarithmic_)
      for (double tick = least_; tick <= most_ * 1.001; tick *= 10) result.push_back(tick);
    else
      for (int i = 0; least_ + i * tick_step() <= most_ + 0.001 * tick_step(); ++i)
        result.push_back(least_ + i * tick_step());
    return result;
  }

private:
  /// Distance of ticks: 1, 2 or 5 times a power of ten, so that there are five to ten.
  double tick_step() const {
    const double rough = std::max((most_ - least_) / 8, is_integral_ ? 1.0 : 0.0);
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
      if (factor * power >= rough) return factor * power;
    return 10 * power;
  }
  bool is_logarithmic_, is_integral_;
  double from_, to_;
  double least_ = std::numeric_limits<double>::infinity(), most_ = -std::numeric_limits<double>::infinity();
};

class Drawing {
public:
  Drawing(const Plot& plot, double offset)
      : plot_(plot), x_(plot.x, left, width - right), y_(plot.y, offset + height - bottom, offset + top),
        offset_(offset) {
    for (const auto& series : plot.series)
      for (const auto& [x, y] : points_of(series)) {
        x_.include(x);
        y_.include(y);
      }
    x_.finish(false);
    y_.finish(true);
  }

  std::string run() {
    label(width / 2 - right / 2 + left / 2, offset_ + 22, "middle", plot_.title, 15);
    axes();
    std::size_t number = 0;
    double legend = offset_ + top + 8;
    for (const auto& series : plot_.series) {
      const std::string colour = series.is_ceiling ? "#888888" : colours[number++ % colours.size()];
      draw(series, colour);
      if (series.name.empty()) continue;
      line(width - right + 12, legend - 4, width - right + 36, legend - 4, colour, 2);
      label(width - right + 42, legend, "start", series.name, 12);
      legend += 17;
    }
    return std::move(text_);
  }

private:
  std::vector<std::pair<double, double>> points_of(const PlotSeries& series) const {
    std::vector<std::pair<double, double>> result;
    for (const auto& [x, y] : series.points)
      if (x_.accepts(x) && y_.accepts(y)) result.emplace_back(x, y);
    return result;
  }
  void line(double x1, double y1, double x2, double y2, const std::string& colour, double thickness) {
    text_ += fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"/>)", x1,
                         y1, x2, y2, colour, thickness) +
             "\n";
  }
  void label(double x, double y, const char* anchor, const std::string& text, int size, const std::string& turn = "") {
    text_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}"{}>{}</text>)", x, y, anchor,
                         size, turn, escaped(text)) +
             "\n";
  }
  void axes() {
    const double x_end = width - right, y_end = offset_ + height - bottom;
    for (const double tick : x_.ticks()) {
      line(x_.pixel(tick), offset_ + top, x_.pixel(tick), y_end, "#dddddd", 1);
      label(x_.pixel(tick), y_end + 18, "middle", base::number_text(tick), 12);
    }
    for (const double tick : y_.ticks()) {
      line(left, y_.pixel(tick), x_end, y_.pixel(tick), "#dddddd", 1);
      label(left - 6, y_.pixel(tick) + 4, "end", base::number_text(tick), 12);
    }
    line(left, y_end, x_end, y_end, "#000000", 1);
    line(left, offset_ + top, left, y_end, "#000000", 1);
    label((left + x_end) / 2, y_end + 38, "middle", plot_.x.label, 13);
    const double y_middle = (offset_ + top + y_end) / 2;
    label(18, y_middle, "middle", plot_.y.label, 13, fmt::format(" transform=\"rotate(-90 18 {:.1f})\"", y_middle));
  }
  void draw(const PlotSeries& series, const std::string& colour) {
    std::string path;
    for (const auto& [x, y] : points_of(series)) path += fmt::format("{:.1f},{:.1f} ", x_.pixel(x), y_.pixel(y));
    text_ += fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="{}"/>)", base::trimmed(path),
                         colour, series.is_ceiling ? 1.5 : 2) +
             "\n";
    if (series.is_ceiling) return;
    for (const auto& [x, y] : points_of(series))
      text_ += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="{}"/>)", x_.pixel(x), y_.pixel(y), colour) +
               "\n";
  }

  const Plot& plot_;
  Scale x_, y_;
  double offset_;
  std::string text_;
};

} // namespace

std::string to_svg(std::span<const Plot> plots) {
  const double total = height * static_cast<double>(plots.size());
  std::string text = fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" )"
                                 R"(viewBox="0 0 {0} {1}" font-family="sans-serif">)",
                                 width, total) +
                     "\n" + R"(<rect width="100%" height="100%" fill="white"/>)" + "\n";
  for (std::size_t i = 0; i < plots.size(); ++i) text += Drawing(plots[i], height * static_cast<double>(i)).run();
  return text + "</svg>\n";
}

Plot roofline(const std::string& title, const machine::Machine& machine, int cores, std::vector<PlotSeries> series) {
  const double peak = 1e-9 * machine.peak_flops(cores), rate = 1e-9 * machine.rate(machine.memory().triad, cores);
  const double ridge = peak / rate;
  double least = ridge / 10, most = ridge * 10;
  for (const auto& s : series)
    for (const auto& [x, y] : s.points)
      if (std::isfinite(x) && x > 0) {
        least = std::min(least, x);
        most = std::max(most, x);
      }
  series.push_back({fmt::format("memory, {:.3g} GB/s", rate), {{least, rate * least}, {ridge, peak}}, true});
  series.push_back({fmt::format("peak, {:.3g} GFLOP/s", peak), {{ridge, peak}, {most, peak}}, true});
  return {title, {"flop / byte", true}, {"GFLOP/s", true}, std::move(series)};
}

} // namespace rafter::report

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace rafter::mesh {

using Point = std::array<double, 3>; ///< coordinates; in fewer dimensions the last are 0

/// A k-d tree of points: the middle of every range of points splits it along the axis of its level.
class PointTree {
public:
  explicit PointTree(std::vector<Point> points) : points_(std::move(points)), order_(points_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    build(0, order_.size(), 0);
  }

  /// Calls visit(index) for all points in the box from `low` to `high`.
  template <class Visit> void for_each_in(const Point& low, const Point& high, const Visit& visit) const {
    search(0, order_.size(), 0, low, high, visit);
  }

private:
  void build(std::size_t begin, std::size_t end, std::size_t axis) {
    if (end - begin < 2) return;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [this](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end),
                     [&](std::size_t a, std::size_t b) { return points_[a][axis] < points_[b][axis]; });
    build(begin, middle, (axis + 1) % 3);
    build(middle + 1, end, (axis + 1) % 3);
  }

  template <class Visit>
  void search(std::size_t begin, std::size_t end, std::size_t axis, const Point& low, const Point& high,
              const Visit& visit) const {
    if (begin == end) return;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto& p = points_[order_[middle]];
    if (low[axis] <= p[axis]) search(begin, middle, (axis + 1) % 3, low, high, visit);
    if (std::ranges::all_of(std::array{0, 1, 2}, [&](auto d) { return low[d] <= p[d] && p[d] <= high[d]; }))
      visit(order_[middle]);
    if (p[axis] <= high[axis]) search(middle + 1, end, (axis + 1) % 3, low, high, visit);
  }

  std::vector<Point> points_;
  std::vector<std::size_t> order_;
};

} // namespace rafter::mesh

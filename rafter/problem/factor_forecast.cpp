// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/factor_forecast.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <rafter/mesh/describe.hpp>
#include <rafter/operator/generate/unknowns.hpp>

namespace rafter::problem {
namespace {

using Entries = std::vector<std::int32_t>;

/// The cells of a system with their unknowns.
struct Cells {
  std::vector<std::array<double, 3>> centres; ///< shape (cell)
  std::vector<Entries> unknowns;              ///< unknowns of each cell, those of all fields, shape (cell, unknown)

  explicit Cells(const op::System& system) {
    const auto& mesh = *system.mesh;
    const auto dim = static_cast<std::size_t>(mesh.gdim);
    std::vector<std::size_t> first{0}; // number of the first cell of each group
    for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
      for (std::int32_t cell = 0; cell < mesh.groups[g].num_cells(); ++cell) {
        const auto points = mesh::cell_vertex_coordinates(mesh, static_cast<std::int32_t>(g), cell);
        auto& centre = centres.emplace_back();
        for (std::size_t i = 0; i < points.size(); ++i)
          centre[i % dim] += points[i] * static_cast<double>(dim) / static_cast<double>(points.size());
      }
      first.push_back(centres.size());
    }
    unknowns.resize(centres.size());
    const auto all = mesh::make_cell_mask(mesh, true);
    for (std::size_t field = 0; field < system.spaces.size(); ++field)
      op::for_cells(system, field, all, [&](std::size_t g, std::size_t cell, std::span<const std::int32_t> entries) {
        auto& own = unknowns[first[g] + cell];
        own.insert(own.end(), entries.begin(), entries.end());
      });
  }
};

class Dissection {
public:
  Dissection(const Cells& cells, std::int64_t num_entries)
      : cells_(cells), order_(cells.centres.size()), num_cells_left_(static_cast<std::size_t>(num_entries), 0) {
    std::iota(order_.begin(), order_.end(), 0);
    for (const auto& of_cell : cells.unknowns)
      for (const auto i : of_cell) ++num_cells_left_[static_cast<std::size_t>(i)];
    eliminate(0, order_.size());
  }
  double num_entries() const { return entries_; }
  double num_operations() const { return operations_; }

private:
  /// Eliminates what these cells have for themselves, and returns the unknowns that they share with others, ascending.
  Entries eliminate(std::size_t begin, std::size_t end) {
    Entries front;
    if (end - begin == 1) {
      front = cells_.unknowns[order_[begin]];
      std::ranges::sort(front);
      for (const auto i : front) --num_cells_left_[static_cast<std::size_t>(i)];
    } else if (end > begin) {
      const std::size_t middle = begin + (end - begin) / 2;
      halve(begin, middle, end);
      const auto one = eliminate(begin, middle), other = eliminate(middle, end);
      front.reserve(one.size() + other.size());
      std::ranges::set_union(one, other, std::back_inserter(front));
    }
    const auto size = static_cast<double>(front.size());
    std::erase_if(front, [&](std::int32_t i) { return num_cells_left_[static_cast<std::size_t>(i)] == 0; });
    const auto rest = static_cast<double>(front.size());
    entries_ += (size * size - rest * rest) / 2;
    operations_ += (size * size * size - rest * rest * rest) / 3;
    return front;
  }

  /// Sorts cells into halves along the longest extent of their centres.
  void halve(std::size_t begin, std::size_t middle, std::size_t end) {
    std::array<double, 3> low, high;
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], cells_.centres[order_[k]][axis]);
        high[axis] = std::max(high[axis], cells_.centres[order_[k]][axis]);
      }
    std::size_t longest = 0;
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
    const auto at = [&](std::size_t k) { return order_.begin() + static_cast<std::ptrdiff_t>(k); };
    std::nth_element(at(begin), at(middle), at(end), [&](std::size_t a, std::size_t b) {
      return cells_.centres[a][longest] < cells_.centres[b][longest];
    });
  }

  const Cells& cells_;
  std::vector<std::size_t> order_;           ///< numbers of cells, parts one after the other
  std::vector<std::int32_t> num_cells_left_; ///< cells of an unknown that no part has had yet, shape (entry)
  double entries_ = 0, operations_ = 0;      ///< entries of the factors L D L^T, and operations to find them
};

} // namespace

double FactorForecast::bytes() const {
  constexpr double bytes_per_entry = 8, with_work_arrays = 1.7;
  return bytes_per_entry * with_work_arrays * entries;
}

double FactorForecast::seconds() const {
  constexpr double flops_per_second = 1.2e9, seconds_per_entry = 5e-8;
  return flops / flops_per_second + entries * seconds_per_entry;
}

FactorForecast forecast_factors(const op::System& system, bool is_symmetric) {
  const Cells cells(system);
  const Dissection dissection(cells, system.size());
  const double halves = is_symmetric ? 1 : 2;
  return {.entries = halves * dissection.num_entries(), .flops = halves * dissection.num_operations()};
}

} // namespace rafter::problem

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/visiting_order.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include <rafter/base/aligned.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/base/sorted_order.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/hilbert.hpp>

namespace rafter::mesh {

namespace {

using Point = std::array<double, 3>;

struct Bounds {
  Point lower, upper;

  Bounds() {
    lower.fill(std::numeric_limits<double>::max());
    upper.fill(std::numeric_limits<double>::lowest());
  }
  void add(const double* x, std::size_t dim) {
    for (std::size_t d = 0; d < dim; ++d) {
      lower[d] = std::min(lower[d], x[d]);
      upper[d] = std::max(upper[d], x[d]);
    }
  }
};

/// Returns the box around all geometry nodes.
Bounds bounds_of(const Mesh& mesh) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const base::Parts parts(static_cast<std::int64_t>(mesh.points.size() / dim), 1 << 16);
  std::vector<Bounds> of_parts(static_cast<std::size_t>(parts.count()));
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    Bounds bounds;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      bounds.add(mesh.points.data() + i * dim, dim);
    of_parts[static_cast<std::size_t>(part)] = bounds;
  });
  Bounds result;
  for (const auto& bounds : of_parts) {
    result.add(bounds.lower.data(), dim);
    result.add(bounds.upper.data(), dim);
  }
  return result;
}

/// Number of consecutive cells with a common parent: 2^dim if that is so throughout the group, else 1.
std::size_t siblings_per_set(const CellGroup& group, int dim) {
  const std::int32_t n = 1 << dim;
  const bool is_refined = !group.parents.empty() && group.parents.num_children() == group.num_cells();
  return is_refined && std::ranges::all_of(group.parents.ranges(),
                                           [n](const Parents::Range& range) {
                                             return range.begin % n == 0 && range.children_per_parent % n == 0;
                                           })
             ? static_cast<std::size_t>(n)
             : 1;
}

} // namespace

/// Knows where the vertices of the cells of a group lie.
class VisitingOrder::Corners {
public:
  Corners(const Mesh& mesh, const CellGroup& group)
      : dim_(static_cast<std::size_t>(mesh.gdim)), points_(mesh.points.data()), nodes_(group.nodes().data()),
        num_nodes_(static_cast<std::size_t>(geometry_element(group)->num_dofs())),
        corners_(vertex_nodes(*geometry_element(group))) {}

  /// Returns the mean of the vertices.
  Point centroid(std::size_t cell) const {
    Point sum{};
    for_all(cell, [&](const double* x) {
      for (std::size_t d = 0; d < dim_; ++d) sum[d] += x[d];
    });
    for (auto& x : sum) x /= static_cast<double>(corners_.size());
    return sum;
  }
  Bounds bounds(std::size_t cell) const {
    Bounds result;
    for_all(cell, [&](const double* x) { result.add(x, dim_); });
    return result;
  }
  /// Returns the median extents along the axes, of a sample of the cells where there are very many.
  Point typical_extents(std::size_t num_cells) const {
    constexpr std::size_t enough = 1 << 15;
    const std::size_t step = std::max<std::size_t>(1, num_cells / enough);
    std::array<std::vector<double>, 3> extents;
    for (std::size_t cell = 0; cell < num_cells; cell += step) {
      const auto of_cell = bounds(cell);
      for (std::size_t axis = 0; axis < dim_; ++axis)
        extents[axis].push_back(of_cell.upper[axis] - of_cell.lower[axis]);
    }
    Point result{};
    for (std::size_t axis = 0; axis < dim_; ++axis) result[axis] = base::median(std::move(extents[axis]));
    return result;
  }

private:
  template <class Visit> void for_all(std::size_t cell, const Visit& visit) const {
    const auto* nodes = nodes_ + cell * num_nodes_;
    for (const int corner : corners_) visit(points_ + static_cast<std::size_t>(nodes[corner]) * dim_);
  }
  std::size_t dim_;
  const double* points_;
  const std::int32_t* nodes_;
  std::size_t num_nodes_;
  std::vector<int> corners_; ///< geometry nodes at the vertices of a cell
};

/// Maps points to positions along the Hilbert curve.
class VisitingOrder::Curve {
public:
  Curve(const Mesh& mesh, const Corners& corners, std::size_t num_cells)
      : dim_(mesh.tdim), bits_(std::min(63 / mesh.tdim, 31)) {
    const auto bounds = bounds_of(mesh);
    const auto extents = corners.typical_extents(num_cells);
    lower_ = bounds.lower;
    double longest = 1;
    for (int d = 0; d < dim_; ++d) {
      const double length = bounds.upper[d] - lower_[d], cell = extents[d];
      // A whole number of typical cells fits across the box, so that lattice planes fall between the cells of a
      // structured mesh.
      const double across = length > 0 && cell > 0 ? std::clamp(std::round(length / cell), 1.0, 1e9) : 1.0;
      scale_[d] = length > 0 ? across / length : 0;
      longest = std::max(longest, across);
    }
    const int coarse_bits = static_cast<int>(std::ceil(std::log2(longest)));
    for (int d = 0; d < dim_; ++d) scale_[d] = std::ldexp(scale_[d], bits_ - coarse_bits);
  }

  std::uint64_t place(const Point& x) const {
    const double last = std::ldexp(1.0, bits_) - 1;
    std::array<std::uint32_t, 3> q{};
    for (int d = 0; d < dim_; ++d)
      q[d] = static_cast<std::uint32_t>(std::clamp((x[d] - lower_[d]) * scale_[d], 0.0, last));
    return hilbert_index(std::span(q).first(dim_), bits_);
  }

private:
  int dim_, bits_;
  Point lower_{}, scale_{};
};

VisitingOrder::VisitingOrder(const Mesh& mesh, int group)
    : mesh_(mesh), group_(mesh.groups[static_cast<std::size_t>(group)]),
      corners_(std::make_unique<const Corners>(mesh, group_)),
      curve_(std::make_unique<const Curve>(mesh, *corners_, group_.tags.size())) {}
VisitingOrder::~VisitingOrder() = default;

base::RawVector<std::uint64_t> VisitingOrder::places(std::span<const std::int32_t> cells, std::size_t size) const {
  base::RawVector<std::uint64_t> result(cells.size() / size);
  base::Parts(std::ssize(result)).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      Point centre{};
      for (const auto cell : cells.subspan(i * size, size)) {
        const auto x = corners_->centroid(static_cast<std::size_t>(cell));
        for (std::size_t d = 0; d < 3; ++d) centre[d] += x[d] / static_cast<double>(size);
      }
      result[i] = curve_->place(centre);
    }
  });
  return result;
}

std::vector<std::int32_t> VisitingOrder::of_cells(std::vector<std::int32_t> cells) const {
  if (!std::ranges::is_sorted(cells)) std::ranges::sort(cells);
  const std::size_t set_size = siblings_per_set(group_, mesh_.tdim);
  std::vector<std::int32_t> result;
  result.reserve(cells.size());
  if (set_size == 1) {
    for (const auto i : base::sorted_order(places(cells, 1))) result.push_back(cells[static_cast<std::size_t>(i)]);
    return result;
  }
  const auto set_of = [set_size](std::int32_t cell) {
    return static_cast<std::int32_t>(static_cast<std::size_t>(cell) / set_size);
  };
  std::vector<std::int32_t> sets, siblings; // shape (set), (set, cell)
  for (const auto cell : cells) {
    if (!sets.empty() && sets.back() == set_of(cell)) continue;
    sets.push_back(set_of(cell));
    for (std::size_t i = 0; i < set_size; ++i)
      siblings.push_back(static_cast<std::int32_t>(static_cast<std::size_t>(sets.back()) * set_size + i));
  }
  std::vector<std::pair<std::uint64_t, std::int32_t>> of_set;
  for (const auto i : base::sorted_order(places(siblings, set_size))) {
    const auto set = sets[static_cast<std::size_t>(i)];
    of_set.clear();
    for (auto cell = std::ranges::lower_bound(cells, set, {}, set_of); cell != cells.end() && set_of(*cell) == set;
         ++cell)
      of_set.emplace_back(curve_->place(corners_->centroid(static_cast<std::size_t>(*cell))), *cell);
    std::ranges::sort(of_set);
    for (const auto& [place, cell] : of_set) result.push_back(cell);
  }
  return result;
}

std::vector<std::int32_t> visiting_order(const Mesh& mesh, int group) {
  std::vector<std::int32_t> cells(mesh.groups[static_cast<std::size_t>(group)].tags.size());
  if (cells.empty()) return cells;
  std::iota(cells.begin(), cells.end(), 0);
  return VisitingOrder(mesh, group).of_cells(std::move(cells));
}

} // namespace rafter::mesh

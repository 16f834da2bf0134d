// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/visiting_order.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include <rafter/base/timing.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/hilbert.hpp>

namespace rafter::mesh {

namespace {

using Point = std::array<double, 3>;

/// Centroid (mean of the vertices) and extents along the axes of every cell.
struct CellBoxes {
  std::vector<Point> centroids;
  std::array<std::vector<double>, 3> extents;
  Point lower, upper; ///< bounding box of all cells

  CellBoxes(const Mesh& mesh, const CellGroup& group) {
    const auto e = geometry_element(group);
    const auto corners = vertex_nodes(*e);
    const std::size_t num_cells = group.tags.size();
    lower.fill(std::numeric_limits<double>::max());
    upper.fill(std::numeric_limits<double>::lowest());
    centroids.assign(num_cells, {});
    for (int d = 0; d < mesh.gdim; ++d) {
      extents[d].resize(num_cells);
      for (std::size_t c = 0; c < num_cells; ++c) {
        double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest(), sum = 0;
        for (const int corner : corners) {
          const auto node = static_cast<std::size_t>(group.nodes[c * e->num_dofs() + corner]);
          const double x = mesh.points[node * mesh.gdim + d];
          low = std::min(low, x);
          high = std::max(high, x);
          sum += x;
        }
        centroids[c][d] = sum / static_cast<double>(corners.size());
        extents[d][c] = high - low;
        lower[d] = std::min(lower[d], low);
        upper[d] = std::max(upper[d], high);
      }
    }
  }
};

/// Maps points to positions along the Hilbert curve.
class Curve {
public:
  Curve(CellBoxes& boxes, int dim) : dim_(dim), bits_(63 / dim), lower_(boxes.lower) {
    bits_ = std::min(bits_, 31);
    double longest = 1;
    for (int d = 0; d < dim; ++d) {
      const double length = boxes.upper[d] - boxes.lower[d], cell = base::median(boxes.extents[d]);
      // A whole number of typical cells fits across the box, so that lattice planes fall between the cells of a
      // structured mesh.
      const double across = length > 0 && cell > 0 ? std::clamp(std::round(length / cell), 1.0, 1e9) : 1.0;
      scale_[d] = length > 0 ? across / length : 0;
      longest = std::max(longest, across);
    }
    const int coarse_bits = static_cast<int>(std::ceil(std::log2(longest)));
    for (int d = 0; d < dim; ++d) scale_[d] = std::ldexp(scale_[d], bits_ - coarse_bits);
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
  Point lower_, scale_{};
};

/// Number of consecutive cells with a common parent: 2^dim if that is so throughout the group, else 1.
std::size_t siblings_per_set(const CellGroup& group, int dim) {
  const std::size_t n = std::size_t{1} << dim;
  if (group.parents.size() != group.tags.size() || group.parents.size() % n != 0) return 1;
  for (std::size_t c = 0; c < group.parents.size(); ++c)
    if (group.parents[c] != group.parents[c / n * n] || group.parent_groups[c] != group.parent_groups[c / n * n])
      return 1;
  return n;
}

struct Key {
  std::uint64_t set_place = 0, place = 0;
  std::int32_t set = 0, cell = 0;
  auto tied() const { return std::tie(set_place, set, place, cell); }
};

} // namespace

std::vector<std::int32_t> visiting_order(const Mesh& mesh, int group) {
  const auto& cells = mesh.groups[group];
  CellBoxes boxes(mesh, cells);
  const std::size_t num_cells = cells.tags.size();
  if (num_cells == 0) return {};
  const Curve curve(boxes, mesh.tdim);
  const std::size_t set_size = siblings_per_set(cells, mesh.tdim);
  std::vector<Key> keys(num_cells);
  for (std::size_t begin = 0; begin < num_cells; begin += set_size) {
    Point centre{};
    for (std::size_t c = begin; c < begin + set_size; ++c)
      for (int d = 0; d < 3; ++d) centre[d] += boxes.centroids[c][d] / static_cast<double>(set_size);
    const std::uint64_t set_place = curve.place(centre);
    for (std::size_t c = begin; c < begin + set_size; ++c)
      keys[c] = {set_place, set_size == 1 ? set_place : curve.place(boxes.centroids[c]),
                 static_cast<std::int32_t>(begin / set_size), static_cast<std::int32_t>(c)};
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return a.tied() < b.tied(); });
  std::vector<std::int32_t> order(num_cells);
  for (std::size_t i = 0; i < num_cells; ++i) order[i] = keys[i].cell;
  return order;
}

} // namespace rafter::mesh

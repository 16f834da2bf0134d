// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/touching.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <rafter/mesh/connected_components.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/facet_nodes.hpp>

namespace rafter::mesh {

namespace {

/// Far above what rounding and files with few digits do to coordinates, far below any feature that cells resolve.
constexpr double relative_tolerance = 1e-6;

/// A facet of the boundary.
struct PlacedFacet {
  FacetRef ref;
  std::array<Point, 4> corners{};
  std::size_t num_corners = 0;
  double size = 0; ///< its diameter; that of the cell where the facet is a point
  std::span<const Point> points() const { return std::span(corners).first(num_corners); }
  Point centre() const {
    Point result{};
    for (const auto& corner : points())
      for (std::size_t d = 0; d < 3; ++d) result[d] += corner[d] / static_cast<double>(num_corners);
    return result;
  }
};

double diameter(std::span<const Point> points) {
  double result = 0;
  for (const auto& a : points)
    for (const auto& b : points) result = std::max(result, distance(a, b));
  return result;
}

PlacedFacet placed(const Mesh& mesh, const FacetRef& ref) {
  const auto x = cell_vertex_coordinates(mesh, ref.group, ref.cell);
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  std::vector<Point> of_cell(x.size() / dim, Point{});
  for (std::size_t i = 0; i < x.size(); ++i) of_cell[i / dim][i % dim] = x[i];
  PlacedFacet result{.ref = ref};
  const auto shape = mesh.groups[static_cast<std::size_t>(ref.group)].shape;
  for (const int v : element::entity_vertices(shape, mesh.tdim - 1, ref.facet))
    result.corners[result.num_corners++] = of_cell[static_cast<std::size_t>(v)];
  result.size = diameter(result.num_corners == 1 ? std::span<const Point>(of_cell) : result.points());
  return result;
}

/// Largest distance from one of the points to the nearest of the others.
double distance_to(std::span<const Point> points, std::span<const Point> others) {
  double result = 0;
  for (const auto& p : points) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const auto& q : others) nearest = std::min(nearest, distance(p, q));
    result = std::max(result, nearest);
  }
  return result;
}
double apart(std::span<const Point> points, std::span<const Point> others) {
  return std::max(distance_to(points, others), distance_to(others, points));
}

/// Distance between two facets that lie at the same place, seen from the sizes of both; none for others.
std::optional<double> gap_between(const PlacedFacet& a, const PlacedFacet& b, FacetNodes& nodes) {
  if (a.num_corners != b.num_corners) return std::nullopt;
  if (a.ref.group == b.ref.group && a.ref.cell == b.ref.cell) return std::nullopt;
  const double tolerance = relative_tolerance * std::min(a.size, b.size);
  double gap = apart(a.points(), b.points());
  if (const int degree = nodes.common_degree(a.ref, b.ref); degree > 1 && gap <= tolerance)
    gap = std::max(gap, apart(nodes(a.ref, degree), nodes(b.ref, degree)));
  return gap <= tolerance ? std::optional(gap) : std::nullopt;
}

/// A power of ten that is well above the gap and rounding, and far below the size of facets.
double length_above(double gap, double size) {
  constexpr double relative_rounding = 1e-9;
  return std::pow(10, std::ceil(std::log10(std::max(2 * gap, 0.99 * relative_rounding * size))));
}

/// The connected components that have one of these cells.
std::int32_t count_connected_components(const Mesh& mesh, const std::vector<std::pair<FacetRef, FacetRef>>& pairs) {
  const auto components = connected_components(mesh, make_cell_mask(mesh, true));
  std::set<std::int32_t> found;
  for (const auto& [a, b] : pairs)
    for (const auto& facet : {a, b})
      found.insert(components.of_cell[static_cast<std::size_t>(facet.group)][static_cast<std::size_t>(facet.cell)]);
  return static_cast<std::int32_t>(found.size());
}

} // namespace

std::optional<TouchingFacets> find_touching(const Mesh& mesh) {
  std::vector<PlacedFacet> facets;
  std::vector<Point> centres;
  for (const auto& ref : mesh.surface().exterior_facets) {
    facets.push_back(placed(mesh, ref));
    centres.push_back(facets.back().centre());
  }
  const PointTree tree(centres);
  FacetNodes nodes(mesh);
  std::vector<std::pair<FacetRef, FacetRef>> pairs;
  double widest = 0, smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < facets.size(); ++i) {
    const double reach = relative_tolerance * facets[i].size;
    auto low = centres[i], high = low;
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] -= reach;
      high[d] += reach;
    }
    tree.for_each_in(low, high, [&](std::size_t j) {
      if (j <= i) return;
      const auto gap = gap_between(facets[i], facets[j], nodes);
      if (!gap) return;
      pairs.emplace_back(facets[i].ref, facets[j].ref);
      widest = std::max(widest, *gap);
      smallest = std::min(smallest, facets[i].size);
    });
  }
  if (pairs.empty()) return std::nullopt;
  const auto first = *std::ranges::min_element(pairs);
  return TouchingFacets{.num_pairs = static_cast<std::int64_t>(pairs.size()),
                        .num_connected_components = count_connected_components(mesh, pairs),
                        .first = first.first,
                        .second = first.second,
                        .length = length_above(widest, smallest)};
}

std::string describe(const Mesh& mesh, const TouchingFacets& touching) {
  const auto centre = placed(mesh, touching.first).centre();
  const auto cell = [&mesh](const FacetRef& facet) { return describe_cell(mesh, facet.group, facet.cell); };
  const bool is_one = touching.num_pairs == 1;
  return fmt::format("{} of facets of the boundary {} at one place without being one: {}; {} at {}, between {} and {}",
                     is_one ? "a pair" : fmt::format("{} pairs", touching.num_pairs), is_one ? "lies" : "lie",
                     touching.num_connected_components == 1
                         ? "the mesh is open there, as along a slit"
                         : fmt::format("{} connected components of the mesh touch and share no nodes",
                                       touching.num_connected_components),
                     is_one ? "it is" : "the first is",
                     describe_point(std::span(centre).first(static_cast<std::size_t>(mesh.gdim))), cell(touching.first),
                     cell(touching.second));
}

} // namespace rafter::mesh

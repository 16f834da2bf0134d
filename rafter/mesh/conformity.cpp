// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/conformity.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/point_tree.hpp>

namespace rafter::mesh {

namespace {

Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double norm(const Point& a) { return std::sqrt(dot(a, a)); }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// A facet of the surface, with its corners in cyclic order.
struct SurfaceFacet {
  FacetRef ref;
  std::vector<std::int32_t> vertices;
  std::vector<Point> corners;
};

std::vector<SurfaceFacet> surface_facets(const Mesh& mesh) {
  std::vector<SurfaceFacet> facets;
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  for (const auto& ref : mesh.surface().exterior_facets) {
    const auto& group = mesh.groups[static_cast<std::size_t>(ref.group)];
    const auto x = cell_vertex_coordinates(mesh, ref.group, ref.cell);
    const auto first =
        static_cast<std::size_t>(ref.cell) * static_cast<std::size_t>(element::num_vertices(group.shape));
    SurfaceFacet facet{ref, {}, {}};
    for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, ref.facet)) {
      const auto local = static_cast<std::size_t>(v);
      facet.vertices.push_back(group.vertices[first + local]);
      Point p{};
      for (std::size_t d = 0; d < gdim; ++d) p[d] = x[local * gdim + d];
      facet.corners.push_back(p);
    }
    if (facet.corners.size() == 4) { // puts corners from lexicographic into cyclic order
      std::swap(facet.vertices[2], facet.vertices[3]);
      std::swap(facet.corners[2], facet.corners[3]);
    }
    facets.push_back(std::move(facet));
  }
  return facets;
}

std::string describe(const Mesh& mesh, const FacetRef& ref) { return describe_cell(mesh, ref.group, ref.cell); }

/// Finds triangles of the surface whose three vertices belong to one quadrilateral of the surface: the two face each
/// other.
void find_split_quadrilaterals(const Mesh& mesh, const std::vector<SurfaceFacet>& facets, std::size_t limit,
                               std::vector<std::string>& lines) {
  std::map<std::array<std::int32_t, 3>, const SurfaceFacet*> triples; // triples of vertices of quadrilaterals
  for (const auto& facet : facets)
    for (std::size_t left_out = 0; left_out < 4 && facet.vertices.size() == 4; ++left_out) {
      std::array<std::int32_t, 3> key{};
      for (std::size_t i = 0, k = 0; i < 4; ++i)
        if (i != left_out) key[k++] = facet.vertices[i];
      std::sort(key.begin(), key.end());
      triples.emplace(key, &facet);
    }
  for (const auto& facet : facets) {
    if (facet.vertices.size() != 3 || triples.empty() || lines.size() >= limit) continue;
    std::array<std::int32_t, 3> key{facet.vertices[0], facet.vertices[1], facet.vertices[2]};
    std::sort(key.begin(), key.end());
    if (const auto found = triples.find(key); found != triples.end())
      lines.push_back(fmt::format("a triangular facet of {} faces a quadrilateral facet of {}: they do not conform",
                                  describe(mesh, facet.ref), describe(mesh, found->second->ref)));
  }
}

/// A quadrilateral of two triangles of the surface that share an edge, its diagonal.
struct Halves {
  std::array<std::int32_t, 4> vertices{}; ///< ascending
  std::array<std::int32_t, 2> diagonal{}; ///< ascending
  const SurfaceFacet* half = nullptr;
  auto key() const { return std::tie(vertices, diagonal); }
};

/// Says whether the ends of an edge of two triangles and their other corners, c and d, are the corners of a
/// quadrilateral with this diagonal that is nearly flat.
bool are_halves(const Point& a, const Point& b, const Point& c, const Point& d) {
  constexpr double flatness = 0.02; // bound on the distance of d from the plane of the others, over the diagonal
  const auto normal = cross(b - a, c - a), other = cross(d - a, b - a);
  return dot(normal, other) > 0 && std::abs(dot(d - a, normal)) <= flatness * norm(normal) * norm(b - a);
}

/// The quadrilaterals that triangles of the surface make in pairs, sorted.
std::vector<Halves> find_halves(const std::vector<SurfaceFacet>& facets) {
  struct Side {
    std::array<std::int32_t, 2> edge{}; ///< ascending
    const SurfaceFacet* facet = nullptr;
    std::size_t opposite = 0; ///< corner of the facet
  };
  std::vector<Side> sides;
  for (const auto& facet : facets)
    for (std::size_t i = 0; i < 3 && facet.vertices.size() == 3; ++i) {
      const auto [a, b] = std::minmax(facet.vertices[(i + 1) % 3], facet.vertices[(i + 2) % 3]);
      sides.push_back({{a, b}, &facet, i});
    }
  std::ranges::sort(sides, {}, [](const Side& side) { return std::tuple(side.edge, side.facet, side.opposite); });
  std::vector<Halves> result;
  for (std::size_t i = 0; i < sides.size(); ++i)
    for (std::size_t j = i + 1; j < sides.size() && sides[j].edge == sides[i].edge; ++j) {
      const auto &first = sides[i], &second = sides[j];
      const auto c = first.facet->vertices[first.opposite], d = second.facet->vertices[second.opposite];
      const auto& x = first.facet->corners;
      if (c == d || !are_halves(x[(first.opposite + 1) % 3], x[(first.opposite + 2) % 3], x[first.opposite],
                                second.facet->corners[second.opposite]))
        continue;
      Halves halves{{first.edge[0], first.edge[1], c, d}, first.edge, first.facet};
      std::ranges::sort(halves.vertices);
      result.push_back(halves);
    }
  std::ranges::sort(result, {}, &Halves::key);
  return result;
}

/// Finds quadrilaterals that are halved along one diagonal by some triangles of the surface and along the other one by
/// others: these face each other.
void find_crossed_diagonals(const Mesh& mesh, const std::vector<SurfaceFacet>& facets, std::size_t limit,
                            std::vector<std::string>& lines) {
  const auto halves = find_halves(facets);
  for (std::size_t i = 1; i < halves.size() && lines.size() < limit; ++i)
    if (halves[i].vertices == halves[i - 1].vertices && halves[i].diagonal != halves[i - 1].diagonal)
      lines.push_back(fmt::format("triangular facets of {} and of {} halve one quadrilateral along different "
                                  "diagonals: they do not conform",
                                  describe(mesh, halves[i - 1].half->ref), describe(mesh, halves[i].half->ref)));
}

constexpr double relative_tolerance =
    1e-9; // relative to the facet's diameter: far above rounding, far below any resolved feature

/// Says whether a point lies strictly inside the facet or inside one of its edges, up to rounding.
bool is_inside(const SurfaceFacet& facet, const Point& p, double diameter) {
  const auto& x = facet.corners;
  const double tolerance = relative_tolerance * diameter;
  for (const auto& corner : x)
    if (norm(p - corner) <= tolerance) return false;
  if (x.size() == 2) {
    const auto edge = x[1] - x[0], to_p = p - x[0];
    const double t = dot(to_p, edge) / dot(edge, edge);
    return t > 0 && t < 1 && norm(cross(to_p, edge)) <= tolerance * norm(edge);
  }
  const auto normal = x.size() == 3 ? cross(x[1] - x[0], x[2] - x[0]) : cross(x[2] - x[0], x[3] - x[1]);
  const double area = norm(normal); // twice the facet's area
  if (!(area > 0)) return false;
  for (const auto& corner : x)
    // A warped facet is never said to contain a point.
    if (std::abs(dot(corner - x[0], normal)) > tolerance * area) return false;
  if (std::abs(dot(p - x[0], normal)) > tolerance * area) return false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto edge = x[(i + 1) % x.size()] - x[i];
    if (dot(cross(edge, p - x[i]), normal) < -tolerance * norm(edge) * area) return false;
  }
  return true;
}

/// Says whether a facet of a curved cell is straight: its nodes lie inside what its corners span.
bool is_straight(const Mesh& mesh, const SurfaceFacet& facet, double diameter) {
  const auto& group = mesh.groups[static_cast<std::size_t>(facet.ref.group)];
  if (group.degree == 1) return true;
  const auto element = geometry_element(group);
  const auto gdim = static_cast<std::size_t>(mesh.gdim), n = static_cast<std::size_t>(element->num_dofs());
  for (const int dof : element->closure_dofs(mesh.tdim - 1, facet.ref.facet)) {
    const auto node = static_cast<std::size_t>(
        group.nodes()[static_cast<std::size_t>(facet.ref.cell) * n + static_cast<std::size_t>(dof)]);
    Point p{};
    for (std::size_t d = 0; d < gdim; ++d) p[d] = mesh.points[node * gdim + d];
    const bool is_corner = std::ranges::any_of(
        facet.corners, [&](const Point& c) { return norm(p - c) <= relative_tolerance * diameter; });
    if (!is_corner && !is_inside(facet, p, diameter)) return false;
  }
  return true;
}

/// The vertices of the surface, each of them once.
struct SurfaceVertices {
  std::vector<std::int32_t> numbers;
  std::vector<FacetRef> owners; ///< one facet that has the vertex
  std::vector<Point> points;
};

SurfaceVertices surface_vertices(const std::vector<SurfaceFacet>& facets) {
  SurfaceVertices result;
  std::unordered_set<std::int32_t> seen;
  for (const auto& facet : facets)
    for (std::size_t i = 0; i < facet.vertices.size(); ++i) {
      if (!seen.insert(facet.vertices[i]).second) continue;
      result.numbers.push_back(facet.vertices[i]);
      result.owners.push_back(facet.ref);
      result.points.push_back(facet.corners[i]);
    }
  return result;
}

void find_hanging_vertices(const Mesh& mesh, const std::vector<SurfaceFacet>& facets, std::size_t limit,
                           std::vector<std::string>& lines) {
  const auto vertices = surface_vertices(facets);
  const PointTree tree(vertices.points);
  for (const auto& facet : facets) {
    Point low = facet.corners[0], high = low;
    for (const auto& corner : facet.corners)
      for (std::size_t d = 0; d < 3; ++d) {
        low[d] = std::min(low[d], corner[d]);
        high[d] = std::max(high[d], corner[d]);
      }
    const double diameter = norm(high - low);
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] -= relative_tolerance * diameter;
      high[d] += relative_tolerance * diameter;
    }
    tree.for_each_in(low, high, [&](std::size_t v) {
      const auto& p = vertices.points[v];
      if (lines.size() >= limit || std::ranges::find(facet.vertices, vertices.numbers[v]) != facet.vertices.end())
        return;
      if (!is_inside(facet, p, diameter) || !is_straight(mesh, facet, diameter)) return;
      lines.push_back(fmt::format(
          "a vertex of {} at {} lies inside a facet of {}: they do not conform", describe(mesh, vertices.owners[v]),
          describe_point(std::span(p).first(static_cast<std::size_t>(mesh.gdim))), describe(mesh, facet.ref)));
    });
  }
}

} // namespace

std::vector<std::string> find_nonconformities(const Mesh& mesh, std::size_t limit) {
  std::vector<std::string> lines;
  if (mesh.tdim < 2) return lines;
  const auto facets = surface_facets(mesh);
  find_split_quadrilaterals(mesh, facets, limit, lines);
  find_crossed_diagonals(mesh, facets, limit, lines);
  find_hanging_vertices(mesh, facets, limit, lines);
  return lines;
}

} // namespace rafter::mesh

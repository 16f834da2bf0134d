// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/subdivision.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <utility>

#include <rafter/base/error.hpp>
#include <rafter/mesh/geometry_nodes.hpp>

namespace rafter::mesh {

namespace {

using element::Shape;

/// Reference coordinates of the centre of an entity.
std::array<double, 3> centre_point(Shape shape, const EntityCentre& centre) {
  const auto corners = element::reference_vertices(shape);
  const auto vertices = element::entity_vertices(shape, centre.dim, centre.entity);
  const int dim = element::dimension(shape);
  std::array<double, 3> x{};
  for (const int v : vertices)
    for (int d = 0; d < dim; ++d) x[d] += corners[v * dim + d] / static_cast<double>(vertices.size());
  return x;
}

double determinant(const std::array<std::array<double, 3>, 4>& x) {
  std::array<std::array<double, 3>, 3> e{};
  for (int i = 0; i < 3; ++i)
    for (int d = 0; d < 3; ++d) e[i][d] = x[i + 1][d] - x[0][d];
  return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/// Builds the division of one shape; vertices are given by the parent's vertices of which they are the centre.
class SubdivisionBuilder {
public:
  explicit SubdivisionBuilder(Shape shape) : shape_(shape) {
    for (int v = 0; v < element::num_vertices(shape); ++v) result_.vertices.push_back({0, v});
  }

  /// The refined vertex in the centre of the smallest entity with these vertices of the parent.
  int centre(std::initializer_list<int> corners) {
    for (int dim = 0; dim <= element::dimension(shape_); ++dim)
      for (int entity = 0; entity < element::num_entities(shape_, dim); ++entity) {
        const auto of_entity = element::entity_vertices(shape_, dim, entity);
        const bool contains = std::all_of(corners.begin(), corners.end(), [&](int corner) {
          return std::find(of_entity.begin(), of_entity.end(), corner) != of_entity.end();
        });
        if (contains) return index_of({dim, entity});
      }
    throw base::InternalError("subdivision: no entity contains the corners");
  }

  void add(Shape shape, std::vector<int> vertices) { result_.children.push_back({shape, std::move(vertices)}); }

  /// Adds a tetrahedron given in either orientation; it is stored with positive determinant.
  void add_tetrahedron(std::array<int, 4> vertices) {
    std::array<std::array<double, 3>, 4> x{};
    for (int i = 0; i < 4; ++i) x[i] = centre_point(shape_, result_.vertices[vertices[i]]);
    if (determinant(x) < 0) std::swap(vertices[2], vertices[3]);
    add(Shape::tetrahedron, {vertices.begin(), vertices.end()});
  }

  /// Adds the half-scaled copies of the cell at its vertices.
  void add_corner_children() {
    for (int corner = 0; corner < element::num_vertices(shape_); ++corner) {
      std::vector<int> vertices;
      for (int v = 0; v < element::num_vertices(shape_); ++v) vertices.push_back(centre({corner, v}));
      add(shape_, std::move(vertices));
    }
  }

  Subdivision result() && { return std::move(result_); }

private:
  int index_of(EntityCentre centre) {
    const auto found = std::find(result_.vertices.begin(), result_.vertices.end(), centre);
    if (found != result_.vertices.end()) return static_cast<int>(found - result_.vertices.begin());
    result_.vertices.push_back(centre);
    return static_cast<int>(result_.vertices.size()) - 1;
  }

  Shape shape_;
  Subdivision result_;
};

/// Adds the four tetrahedra in the octahedron between the corner tetrahedra, around the diagonal from edge ab to edge
/// cd.
void add_octahedron(SubdivisionBuilder& build, int diagonal) {
  constexpr std::array<std::array<int, 4>, 3> opposite_edges{{{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}}};
  const auto [a, b, c, d] = opposite_edges[diagonal];
  const std::array ring{build.centre({a, c}), build.centre({b, c}), build.centre({b, d}), build.centre({a, d})};
  for (int i = 0; i < 4; ++i)
    build.add_tetrahedron({build.centre({a, b}), build.centre({c, d}), ring[i], ring[(i + 1) % 4]});
}

/// Adds the children between the corner pyramids: the upside-down pyramid under the top one, and a tetrahedron at every
/// edge of the base.
void add_pyramid_inside(SubdivisionBuilder& build) {
  const int base = build.centre({0, 1, 2, 3});
  build.add(Shape::pyramid,
            {build.centre({0, 4}), build.centre({2, 4}), build.centre({1, 4}), build.centre({3, 4}), base});
  constexpr std::array<std::array<int, 2>, 4> base_edges{{{0, 1}, {0, 2}, {1, 3}, {2, 3}}};
  for (const auto& [a, b] : base_edges)
    build.add_tetrahedron({base, build.centre({a, b}), build.centre({a, 4}), build.centre({b, 4})});
}

Subdivision build_subdivision(Shape shape, int diagonal) {
  SubdivisionBuilder build(shape);
  build.add_corner_children();
  if (shape == Shape::triangle) build.add(shape, {build.centre({1, 2}), build.centre({0, 2}), build.centre({0, 1})});
  if (shape == Shape::prism)
    for (const int z : {0, 3}) {
      std::vector<int> vertices;
      for (const int top : {0, 3})
        for (const auto& [i, j] : {std::pair{1, 2}, {0, 2}, {0, 1}})
          vertices.push_back(build.centre({i + z, j + z, i + top, j + top}));
      build.add(shape, std::move(vertices));
    }
  if (shape == Shape::tetrahedron) add_octahedron(build, diagonal);
  if (shape == Shape::pyramid) add_pyramid_inside(build);
  return std::move(build).result();
}

/// Children of a facet, with vertices as indices into the table of the cell.
std::vector<Child> build_facet_children(Shape cell, int facet) {
  const int dim = element::dimension(cell) - 1;
  const auto corners = element::entity_vertices(cell, dim, facet);
  const auto facet_shape = element::facet_shape(cell, facet);
  const auto& in_cell = subdivision(cell).vertices;
  // The facet's own subdivision gives the children; the centres of its entities are found in the cell by their
  // vertices.
  std::vector<int> numbers;
  const auto& in_facet = subdivision(facet_shape);
  for (const auto& centre : in_facet.vertices) {
    std::vector<int> wanted;
    for (const int v : element::entity_vertices(facet_shape, centre.dim, centre.entity)) wanted.push_back(corners[v]);
    std::sort(wanted.begin(), wanted.end());
    const auto found = std::find_if(in_cell.begin(), in_cell.end(), [&](const EntityCentre& candidate) {
      return std::ranges::equal(element::entity_vertices(cell, candidate.dim, candidate.entity), wanted);
    });
    if (found == in_cell.end()) throw base::InternalError("subdivision: a facet's centre is missing in its cell");
    numbers.push_back(static_cast<int>(found - in_cell.begin()));
  }
  std::vector<Child> children = in_facet.children;
  for (auto& child : children)
    for (auto& v : child.vertices) v = numbers[v];
  return children;
}

} // namespace

const Subdivision& subdivision(Shape shape, int diagonal) {
  static const auto tables = [] {
    std::array<std::array<Subdivision, 3>, 8> all;
    for (const auto s : element::all_cell_shapes)
      for (int d = 0; d < (s == Shape::tetrahedron ? 3 : 1); ++d) all[static_cast<int>(s)][d] = build_subdivision(s, d);
    all[static_cast<int>(Shape::point)][0] = {{{0, 0}}, {{Shape::point, {0}}}};
    return all;
  }();
  return tables[static_cast<int>(shape)][shape == Shape::tetrahedron ? diagonal : 0];
}

const std::vector<Child>& facet_children(Shape cell, int facet) {
  static const auto tables = [] {
    std::map<std::pair<Shape, int>, std::vector<Child>> all;
    for (const auto shape : element::all_cell_shapes)
      for (int f = 0; f < element::num_facets(shape); ++f) all[{shape, f}] = build_facet_children(shape, f);
    return all;
  }();
  return tables.at({cell, facet});
}

std::vector<double> map_to_parent(Shape parent, const Subdivision& subdivision, const Child& child,
                                  std::span<const double> points) {
  const int dim = element::dimension(parent);
  const auto functions = vertex_functions(child.shape, points);
  const std::size_t num_vertices = child.vertices.size();
  std::vector<double> mapped(points.size(), 0.0);
  for (std::size_t p = 0; p * dim < points.size(); ++p)
    for (std::size_t v = 0; v < num_vertices; ++v) {
      const auto corner = centre_point(parent, subdivision.vertices[child.vertices[v]]);
      for (int d = 0; d < dim; ++d) mapped[p * dim + d] += functions[p * num_vertices + v] * corner[d];
    }
  return mapped;
}

} // namespace rafter::mesh

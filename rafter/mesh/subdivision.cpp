// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/subdivision.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <tuple>
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
  SubdivisionBuilder(Shape shape, Axes axes) : shape_(shape), axes_(axes) {
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

  /// Adds the copies of the cell at its vertices: of vertices that lie apart along the other axes alone, at the first.
  void add_corner_children() {
    for (int corner = 0; corner < element::num_vertices(shape_); ++corner) {
      if (moved(corner, 0) != corner) continue;
      std::vector<int> vertices;
      for (int v = 0; v < element::num_vertices(shape_); ++v) vertices.push_back(centre({moved(corner, v), v}));
      add(shape_, std::move(vertices));
    }
  }

  Subdivision result() && { return std::move(result_); }

private:
  /// The vertex where a corner comes when it moves to the place of a vertex along the axes that are not halved.
  int moved(int corner, int vertex) const {
    const auto dim = static_cast<std::size_t>(element::dimension(shape_));
    const auto corners = element::reference_vertices(shape_);
    const auto of = [&](int v) { return corners.subspan(static_cast<std::size_t>(v) * dim, dim); };
    for (int v = 0; v < element::num_vertices(shape_); ++v) {
      bool is_there = true;
      for (std::size_t d = 0; d < dim; ++d)
        is_there = is_there && of(v)[d] == of(axes_.has(static_cast<int>(d)) ? corner : vertex)[d];
      if (is_there) return v;
    }
    throw base::InternalError("subdivision: a corner moves to no vertex");
  }
  int index_of(EntityCentre centre) {
    const auto found = std::find(result_.vertices.begin(), result_.vertices.end(), centre);
    if (found != result_.vertices.end()) return static_cast<int>(found - result_.vertices.begin());
    result_.vertices.push_back(centre);
    return static_cast<int>(result_.vertices.size()) - 1;
  }

  Shape shape_;
  Axes axes_;
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

/// Adds the children between the copies at the corners of the triangles: one in each layer.
void add_middle_prisms(SubdivisionBuilder& build, Axes axes) {
  const auto add_layer = [&build](int bottom_from, int bottom_to, int top_from, int top_to) {
    std::vector<int> vertices;
    for (const auto& [from, to] : {std::pair{bottom_from, bottom_to}, {top_from, top_to}})
      for (const auto& [i, j] : {std::pair{1, 2}, {0, 2}, {0, 1}})
        vertices.push_back(build.centre({i + from, j + from, i + to, j + to}));
    build.add(Shape::prism, std::move(vertices));
  };
  constexpr int bottom = 0, top = 3; // first vertices of the triangles
  if (!axes.has(2)) return add_layer(bottom, bottom, top, top);
  add_layer(bottom, bottom, bottom, top);
  add_layer(top, bottom, top, top);
}

Subdivision build_subdivision(Shape shape, const Halving& halving) {
  SubdivisionBuilder build(shape, halving.axes);
  build.add_corner_children();
  if (shape == Shape::triangle) build.add(shape, {build.centre({1, 2}), build.centre({0, 2}), build.centre({0, 1})});
  if (shape == Shape::prism && halving.axes.has(0)) add_middle_prisms(build, halving.axes);
  if (shape == Shape::tetrahedron) add_octahedron(build, halving.diagonal);
  if (shape == Shape::pyramid) add_pyramid_inside(build);
  return std::move(build).result();
}

/// The axes along which a facet is halved: those along which it extends where the cell is halved.
Axes axes_of_facet(Shape cell, int facet, Axes axes) {
  const int dim = element::dimension(cell);
  const auto corners = element::entity_vertices(cell, dim - 1, facet);
  const auto shape = element::facet_shape(cell, facet);
  const auto x = element::reference_vertices(cell);
  Axes result{0};
  for (int axis = 0; axis < dim - 1; ++axis) {
    const int from = corners[0], to = corners[element::axis_vertex(shape, axis)];
    bool is_halved = true;
    for (int d = 0; d < dim; ++d) is_halved = is_halved && (axes.has(d) || x[from * dim + d] == x[to * dim + d]);
    if (is_halved) result.bits |= static_cast<std::uint8_t>(1 << axis);
  }
  return result;
}

/// Children of a facet, with vertices as indices into the table of the cell.
std::vector<Child> build_facet_children(Shape cell, int facet, Axes axes) {
  const int dim = element::dimension(cell) - 1;
  const auto corners = element::entity_vertices(cell, dim, facet);
  const auto facet_shape = element::facet_shape(cell, facet);
  const auto& in_cell = subdivision(cell, {axes}).vertices;
  // The facet's own subdivision gives the children; the centres of its entities are found in the cell by their
  // vertices.
  std::vector<int> numbers;
  const auto of_facet = axes_of_facet(cell, facet, axes);
  const auto& in_facet = subdivision(facet_shape, {of_facet});
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

constexpr std::uint8_t num_axis_sets = 8;

/// Axes of which those beyond the dimension of a shape are none.
Axes within(Shape shape, Axes axes) {
  return {static_cast<std::uint8_t>(axes.bits & ((1 << element::dimension(shape)) - 1))};
}

/// The division that leaves a cell, an edge or a face as it is.
Subdivision undivided(Shape shape) {
  Subdivision result;
  Child child{.shape = shape, .vertices = {}};
  for (int v = 0; v < element::num_vertices(shape); ++v) {
    result.vertices.push_back({0, v});
    child.vertices.push_back(v);
  }
  result.children.push_back(std::move(child));
  return result;
}

} // namespace

bool can_be_halved(Shape shape, Axes axes) {
  const int dim = element::dimension(shape);
  const auto bits = within(shape, axes).bits;
  constexpr std::uint8_t triangle = 3, height = 4;
  if (axes.has_all(dim)) return true;
  return bits != 0 && (element::is_tensor(shape) || (shape == Shape::prism && (bits == triangle || bits == height)));
}

const Subdivision& subdivision(Shape shape, Halving halving) {
  static const auto tables = [] {
    std::array<std::array<std::array<Subdivision, 3>, num_axis_sets>, 8> all; // shape (cell shape)(axes)(diagonal)
    for (const auto s : element::all_cell_shapes) {
      auto& of_shape = all[static_cast<int>(s)];
      of_shape[0][0] = undivided(s); // the division of facets that their cell is halved across
      for (std::uint8_t bits = 1; bits < 1 << element::dimension(s); ++bits)
        for (int d = 0; d < (s == Shape::tetrahedron ? 3 : 1) && can_be_halved(s, {bits}); ++d)
          of_shape[bits][d] = build_subdivision(s, {{bits}, d});
    }
    all[static_cast<int>(Shape::point)][0][0] = undivided(Shape::point);
    return all;
  }();
  const auto& result = tables[static_cast<int>(shape)][within(shape, halving.axes).bits]
                             [shape == Shape::tetrahedron ? halving.diagonal : 0];
  if (result.children.empty()) throw base::InternalError("subdivision: a cell is not halved along these axes");
  return result;
}

const std::vector<Child>& facet_children(Shape cell, int facet, Axes axes) {
  static const auto tables = [] {
    std::map<std::tuple<Shape, int, Axes>, std::vector<Child>> all;
    for (const auto shape : element::all_cell_shapes)
      for (int f = 0; f < element::num_facets(shape); ++f)
        for (std::uint8_t bits = 1; bits < 1 << element::dimension(shape); ++bits)
          if (can_be_halved(shape, {bits})) all[{shape, f, {bits}}] = build_facet_children(shape, f, {bits});
    return all;
  }();
  return tables.at({cell, facet, within(cell, axes)});
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

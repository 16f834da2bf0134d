// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/point_placement.hpp>
#include <rafter/mesh/refinement.hpp>

namespace rafter::mesh {

namespace {

using element::Shape;

/// Coordinates of the vertices, taken from the cells.
struct VertexPoints {
  std::vector<double> points; ///< shape (vertex, gdim)
  bool is_continuous = true;  ///< all cells at a vertex give it the same coordinates; false on periodic meshes
};

VertexPoints vertex_points(const Mesh& mesh) {
  VertexPoints result{std::vector<double>(static_cast<std::size_t>(mesh.num_vertices) * mesh.gdim, 0.0), true};
  std::vector<char> seen(mesh.num_vertices, 0);
  for (const auto& group : mesh.groups) {
    const auto e = geometry_element(group);
    const auto corners = vertex_nodes(*e);
    for (std::size_t c = 0; c < group.tags.size(); ++c) {
      const auto* nodes = group.nodes().data() + c * e->num_dofs();
      const auto* first = mesh.points.data() + static_cast<std::size_t>(nodes[corners[0]]) * mesh.gdim;
      const auto* second = mesh.points.data() + static_cast<std::size_t>(nodes[corners[1]]) * mesh.gdim;
      double size = 0;
      for (int d = 0; d < mesh.gdim; ++d) size = std::max(size, std::abs(first[d] - second[d]));
      for (std::size_t v = 0; v < corners.size(); ++v) {
        const auto vertex = group.vertices[c * corners.size() + v];
        const auto* x = mesh.points.data() + static_cast<std::size_t>(nodes[corners[v]]) * mesh.gdim;
        auto* known = result.points.data() + static_cast<std::size_t>(vertex) * mesh.gdim;
        if (!seen[vertex]) std::copy_n(x, mesh.gdim, known);
        seen[vertex] = 1;
        for (int d = 0; d < mesh.gdim; ++d)
          result.is_continuous = result.is_continuous && std::abs(x[d] - known[d]) <= 1e-8 * size;
      }
    }
  }
  return result;
}

/// Vertex coordinates of the refined mesh if all cells have degree 1: a new vertex lies at the mean of the 2, 4 or 8
/// vertices of its entity.
std::vector<double> refined_vertex_points(const Mesh& mesh, const RefinedVertices& vertices,
                                          const std::vector<double>& coarse_points) {
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  std::vector<double> points(static_cast<std::size_t>(vertices.total()) * gdim);
  for (std::int32_t v = 0; v < mesh.num_vertices; ++v)
    std::copy_n(coarse_points.data() + static_cast<std::size_t>(v) * gdim, gdim,
                points.data() + static_cast<std::size_t>(vertices.of_vertex(v)) * gdim);
  std::vector<char> placed(vertices.total(), 0);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto& centres = subdivision(group.shape, {vertices.axes()}).vertices;
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      const auto numbers = vertices.of_cell(static_cast<int>(g), c);
      for (std::size_t i = num_vertices; i < centres.size(); ++i) {
        if (placed[numbers[i]]) continue;
        placed[numbers[i]] = 1;
        const auto local = element::entity_vertices(group.shape, centres[i].dim, centres[i].entity);
        for (int d = 0; d < mesh.gdim; ++d) {
          const auto x = [&](int v) {
            return coarse_points[static_cast<std::size_t>(group.vertices[c * num_vertices + v]) * mesh.gdim + d];
          };
          double sum = 0; // Pairs of opposite vertices are added first: the sum has the same bits in whatever order a
                          // cell lists them.
          for (std::size_t k = 0; k < local.size() / 2; ++k) sum += x(local[k]) + x(local[local.size() - 1 - k]);
          points[static_cast<std::size_t>(numbers[i]) * mesh.gdim + d] = sum / static_cast<double>(local.size());
        }
      }
    }
  }
  return points;
}

/// Nodes of all children of a shape, one child after the other, in the reference coordinates of the parent.
std::vector<double> child_nodes(Shape parent, int degree, const Halving& halving) {
  std::vector<double> points;
  const auto& split = subdivision(parent, halving);
  for (const auto& child : split.children) {
    const auto nodes = element::make_element(element::Family::lagrange, child.shape, degree)->nodes();
    const auto mapped = map_to_parent(parent, split, child, nodes);
    points.insert(points.end(), mapped.begin(), mapped.end());
  }
  return points;
}

/// The nodes of a cell, then those of its children for each set of axes along which it can be halved, up to one of
/// them. Neighbours see the points on a common face in any orientation, and those of one set alone lack symmetries.
std::vector<double> nodes_of_halvings(Shape shape, int degree, std::uint8_t last) {
  const auto own = element::make_element(element::Family::lagrange, shape, degree)->nodes();
  std::vector<double> points(own.begin(), own.end());
  for (std::uint8_t bits = 1; bits <= last; ++bits)
    if (can_be_halved(shape, {bits})) {
      const auto of_children = child_nodes(shape, degree, {{bits}});
      points.insert(points.end(), of_children.begin(), of_children.end());
    }
  return points;
}
std::vector<double> nodes_of_halvings(Shape shape, int degree) {
  return nodes_of_halvings(shape, degree, static_cast<std::uint8_t>((1 << element::dimension(shape)) - 1));
}

/// Places the nodes of the children of all cells in one group.
class ChildNodes {
public:
  ChildNodes(const Mesh& coarse, const Refinement& refinement, std::size_t group, Mesh& fine)
      : coarse_(coarse), refinement_(refinement), group_(group), fine_(fine) {
    const auto& cells = coarse.groups[group];
    if (refinement.is_partial()) {
      const auto before = static_cast<std::uint8_t>((refinement.axes.bits & ((1 << coarse.tdim) - 1)) - 1);
      first_ = static_cast<int>(nodes_of_halvings(cells.shape, cells.degree, before).size()) / coarse.tdim;
      placements_.emplace_back(cells.shape, cells.degree,
                               [&](Shape shape) { return nodes_of_halvings(shape, cells.degree); });
      return;
    }
    for (int diagonal = 0; diagonal < (cells.shape == Shape::tetrahedron ? 3 : 1); ++diagonal)
      placements_.emplace_back(cells.shape, cells.degree, [&](Shape shape) {
        return child_nodes(shape, cells.degree, {refinement.axes, diagonal});
      });
  }

  void place(std::vector<char>& placed) {
    const auto& cells = coarse_.groups[group_];
    for (std::int32_t parent = 0; parent < cells.num_cells(); ++parent) {
      const auto geometry = cell_geometry(coarse_, group_, static_cast<std::size_t>(parent));
      const int variant = refinement_.diagonal(static_cast<int>(group_), parent);
      int first = first_; // first node of the child among those of all children
      for (const ChildPlace& child : refinement_.places[group_]) {
        const CellGroup& children = fine_.groups[child.group];
        const std::size_t num_nodes = children.nodes().size() / children.tags.size();
        const auto nodes = children.nodes().subspan(child.cell(parent) * num_nodes, num_nodes);
        place_child(placements_[variant], geometry, first, nodes, placed);
        first += static_cast<int>(num_nodes);
      }
    }
  }

private:
  void place_child(const PointPlacement& placement, const CellGeometry& geometry, int first,
                   std::span<const std::int32_t> nodes, std::vector<char>& placed) {
    new_nodes_.clear();
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (!std::exchange(placed[nodes[n]], 1)) new_nodes_.push_back(first + static_cast<int>(n));
    const auto dim = static_cast<std::size_t>(fine_.gdim);
    points_.resize(new_nodes_.size() * dim);
    placement.place(geometry, new_nodes_, points_);
    for (std::size_t i = 0; i < new_nodes_.size(); ++i)
      std::copy_n(points_.data() + i * dim, dim,
                  fine_.points.data() + static_cast<std::size_t>(nodes[new_nodes_[i] - first]) * dim);
  }

  const Mesh& coarse_;
  const Refinement& refinement_;
  std::size_t group_;
  Mesh& fine_;
  int first_ = 0;                          ///< first node of the children among the points of a placement
  std::vector<PointPlacement> placements_; ///< placements of the nodes of all children, shape (diagonal)
  std::vector<int> new_nodes_; ///< nodes of a child that are not yet placed, numbered among those of all children
  std::vector<double> points_; ///< coordinates, shape (new node, gdim)
};

} // namespace

void refine_geometry(const Mesh& coarse, const RefinedVertices& vertices, const Refinement& refinement, Mesh& fine) {
  auto corners = vertex_points(coarse);
  const bool is_linear = std::ranges::all_of(coarse.groups, [](const CellGroup& g) { return g.degree == 1; });
  if (is_linear && corners.is_continuous) {
    fine.points = refined_vertex_points(coarse, vertices, std::move(corners.points));
    return;
  }
  const auto num_nodes = corners.is_continuous ? number_shared_nodes(fine) : number_separate_nodes(fine);
  fine.points.assign(static_cast<std::size_t>(num_nodes) * fine.gdim, 0.0);
  std::vector<char> placed(num_nodes, 0);
  for (std::size_t g = 0; g < coarse.groups.size(); ++g) ChildNodes(coarse, refinement, g, fine).place(placed);
}

} // namespace rafter::mesh

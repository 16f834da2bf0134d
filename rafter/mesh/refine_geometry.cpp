// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/refinement.hpp>

namespace rafter::mesh {

namespace {

/// Coordinates of vertices as the cells see them.
struct VertexPoints {
  std::vector<double> points; ///< shape (vertex, gdim)
  bool is_continuous = true;  ///< all cells at a vertex agree on its place; false on periodic meshes
};

VertexPoints vertex_points(const Mesh& mesh) {
  VertexPoints result{std::vector<double>(static_cast<std::size_t>(mesh.num_vertices) * mesh.gdim, 0.0), true};
  std::vector<char> seen(mesh.num_vertices, 0);
  for (const auto& group : mesh.groups) {
    const auto e = geometry_element(group);
    const auto corners = vertex_nodes(*e);
    for (std::size_t c = 0; c < group.tags.size(); ++c) {
      const auto* nodes = group.nodes.data() + c * e->num_dofs();
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

/// Degree 1 throughout: a new vertex lies at the mean of the vertices of its entity.
std::vector<double> refined_vertex_points(const Mesh& mesh, const RefinedVertices& vertices,
                                          std::vector<double> points) {
  points.resize(static_cast<std::size_t>(vertices.total()) * mesh.gdim);
  std::vector<char> placed(vertices.total(), 0);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto& centres = subdivision(group.shape).vertices;
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      const auto numbers = vertices.of_cell(static_cast<int>(g), c);
      for (std::size_t i = num_vertices; i < centres.size(); ++i) {
        if (placed[numbers[i]]) continue;
        placed[numbers[i]] = 1;
        const auto local = element::entity_vertices(group.shape, centres[i].dim, centres[i].entity);
        for (int d = 0; d < mesh.gdim; ++d) {
          double sum = 0;
          for (const int v : local)
            sum += points[static_cast<std::size_t>(group.vertices[c * num_vertices + v]) * mesh.gdim + d];
          points[static_cast<std::size_t>(numbers[i]) * mesh.gdim + d] = sum / static_cast<double>(local.size());
        }
      }
    }
  }
  return points;
}

/// Values of the parent's geometry functions at the nodes of one child, shape (child node, parent node).
std::vector<double> child_table(const CellGroup& group, const Subdivision& split, const Child& child) {
  const auto nodes = element::make_element(element::Family::lagrange, child.shape, group.degree)->nodes();
  const auto parent = geometry_element(group);
  const auto table = parent->tabulate(map_to_parent(group.shape, split, child, nodes));
  std::vector<double> values;
  for (int p = 0; p < table.num_points; ++p)
    for (int n = 0; n < table.num_dofs; ++n) {
      const double value = table(0, p, n);
      // Nodes that a child shares with its parent stay where they are to the last bit.
      values.push_back(std::abs(value - std::round(value)) < 1e-12 ? std::round(value) : value);
    }
  return values;
}

/// Places the nodes of the children of one group's cells.
class ChildNodes {
public:
  ChildNodes(const Mesh& coarse, const RefinementPlan& plan, std::size_t group, Mesh& fine)
      : coarse_(coarse), plan_(plan), group_(group), fine_(fine) {
    const auto& cells = coarse.groups[group];
    for (int diagonal = 0; diagonal < (cells.shape == element::Shape::tetrahedron ? 3 : 1); ++diagonal) {
      const auto& split = subdivision(cells.shape, diagonal);
      auto& tables = tables_.emplace_back();
      for (const auto& child : split.children) tables.push_back(child_table(cells, split, child));
    }
    num_parent_nodes_ = static_cast<std::size_t>(geometry_element(cells)->num_dofs());
  }

  void place(std::vector<char>& placed) {
    const auto& cells = coarse_.groups[group_];
    for (std::int32_t parent = 0; parent < cells.num_cells(); ++parent) {
      load(parent);
      const int variant = plan_.diagonals[group_].empty() ? 0 : plan_.diagonals[group_][parent];
      for (std::size_t k = 0; k < tables_[variant].size(); ++k)
        place_child(plan_.places[group_][k], parent, tables_[variant][k], placed);
    }
  }

private:
  void load(std::int32_t parent) {
    const auto& cells = coarse_.groups[group_];
    corners_.resize(num_parent_nodes_ * 3);
    for (std::size_t n = 0; n < num_parent_nodes_; ++n)
      for (int d = 0; d < coarse_.gdim; ++d)
        corners_[n * 3 + d] =
            coarse_.points[static_cast<std::size_t>(cells.nodes[parent * num_parent_nodes_ + n]) * coarse_.gdim + d];
  }

  void place_child(const ChildPlace& target, std::int32_t parent, const std::vector<double>& table,
                   std::vector<char>& placed) {
    const std::size_t num_nodes = table.size() / num_parent_nodes_;
    const auto* nodes = fine_.groups[target.group].nodes.data() + target.cell(parent) * num_nodes;
    for (std::size_t n = 0; n < num_nodes; ++n) {
      if (placed[nodes[n]]) continue;
      placed[nodes[n]] = 1;
      std::array<double, 3> x{};
      for (std::size_t k = 0; k < num_parent_nodes_; ++k)
        for (int d = 0; d < 3; ++d) x[d] += table[n * num_parent_nodes_ + k] * corners_[k * 3 + d];
      std::copy_n(x.data(), fine_.gdim, fine_.points.data() + static_cast<std::size_t>(nodes[n]) * fine_.gdim);
    }
  }

  const Mesh& coarse_;
  const RefinementPlan& plan_;
  std::size_t group_;
  Mesh& fine_;
  std::vector<std::vector<std::vector<double>>> tables_; ///< shape (diagonal)(child)(child node, parent node)
  std::size_t num_parent_nodes_ = 0;
  std::vector<double> corners_; ///< nodes of the parent at hand, shape (node, 3)
};

} // namespace

void refine_geometry(const Mesh& coarse, const RefinedVertices& vertices, const RefinementPlan& plan, Mesh& fine) {
  auto corners = vertex_points(coarse);
  const bool is_linear = std::ranges::all_of(coarse.groups, [](const CellGroup& g) { return g.degree == 1; });
  if (is_linear && corners.is_continuous) {
    fine.points = refined_vertex_points(coarse, vertices, std::move(corners.points));
    for (auto& group : fine.groups) group.nodes = group.vertices;
    return;
  }
  const auto num_nodes = corners.is_continuous ? number_shared_nodes(fine) : number_separate_nodes(fine);
  fine.points.assign(static_cast<std::size_t>(num_nodes) * fine.gdim, 0.0);
  std::vector<char> placed(num_nodes, 0);
  for (std::size_t g = 0; g < coarse.groups.size(); ++g) ChildNodes(coarse, plan, g, fine).place(placed);
}

} // namespace rafter::mesh

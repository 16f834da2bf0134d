// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/geometry_nodes.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/element/orientation.hpp>
#include <rafter/mesh/point_placement.hpp>

namespace rafter::mesh {

namespace {

std::int32_t checked_node_count(std::int64_t count, const Mesh& mesh) {
  if (count > std::numeric_limits<std::int32_t>::max())
    throw base::InputError(
        fmt::format("{}: the mesh needs {} geometry nodes; local numbers have 32 bits", mesh.source, count));
  return static_cast<std::int32_t>(count);
}

/// First interior node of each entity of one dimension, for groups of one degree; -1 where no cell of the degree has
/// the entity.
struct EntityStarts {
  std::vector<std::int64_t> starts;
  std::int64_t next = 0;

  void reserve_nodes(std::int32_t entity, std::size_t count) {
    if (starts[entity] >= 0) return;
    starts[entity] = next;
    next += static_cast<std::int64_t>(count);
  }
};

/// Entities of dimension 1 or 2 in the cells of a group, of lower dimension than the cells.
struct SubEntities {
  const std::vector<std::int32_t>& numbers;
  const std::vector<std::uint8_t>& orientations;
  std::int32_t total;
};

SubEntities sub_entities(const Topology& topology, std::size_t group, int dim) {
  const auto& g = topology.groups[group];
  if (dim == 1) return {g.edges, g.edge_orientations, topology.num_edges};
  return {g.faces, g.face_orientations, topology.num_faces};
}

/// Canonical positions of interior dofs: permutations[entity][orientation code][k] for the k-th dof that a cell sees.
std::vector<std::vector<std::vector<int>>> interior_permutations(const element::Element& e, int dim) {
  std::vector<std::vector<std::vector<int>>> result;
  for (int entity = 0; entity < element::num_entities(e.shape(), dim); ++entity) {
    const auto shape = element::entity_shape(e.shape(), dim, entity);
    auto& codes = result.emplace_back();
    for (int code = 0; code < element::num_orientations(shape); ++code)
      codes.push_back(e.entity_permutation(shape, code));
  }
  return result;
}

void number_entity_nodes(CellGroup& group, const element::Element& e, int dim, const SubEntities& entities,
                         EntityStarts& starts) {
  const auto permutations = interior_permutations(e, dim);
  const auto num_entities = static_cast<std::size_t>(element::num_entities(e.shape(), dim));
  const auto num_dofs = static_cast<std::size_t>(e.num_dofs());
  for (std::size_t i = 0; i < entities.numbers.size(); ++i) {
    const auto local = static_cast<int>(i % num_entities);
    const auto dofs = e.entity_dofs(dim, local);
    starts.reserve_nodes(entities.numbers[i], dofs.size());
    const auto start = starts.starts[entities.numbers[i]];
    const auto& permutation = permutations[local][entities.orientations[i]];
    auto* nodes = group.own_nodes.data() + i / num_entities * num_dofs;
    for (std::size_t k = 0; k < dofs.size(); ++k) nodes[dofs[k]] = static_cast<std::int32_t>(start + permutation[k]);
  }
}

void number_cell_nodes(CellGroup& group, const element::Element& e, std::int64_t& next) {
  const int dim = element::dimension(group.shape);
  const auto num_dofs = static_cast<std::size_t>(e.num_dofs());
  const auto corners = vertex_nodes(e);
  const auto interior = e.entity_dofs(dim, 0);
  for (std::size_t c = 0; c < group.tags.size(); ++c) {
    auto* nodes = group.own_nodes.data() + c * num_dofs;
    for (std::size_t v = 0; v < corners.size(); ++v) nodes[corners[v]] = group.vertices[c * corners.size() + v];
    for (const int dof : interior) nodes[dof] = static_cast<std::int32_t>(next++);
  }
}

} // namespace

std::vector<int> vertex_nodes(const element::Element& geometry) {
  std::vector<int> nodes;
  for (int v = 0; v < element::num_vertices(geometry.shape()); ++v) nodes.push_back(geometry.entity_dofs(0, v)[0]);
  return nodes;
}

std::vector<double> vertex_functions(element::Shape shape, std::span<const double> points) {
  const auto linear = element::make_element(element::Family::lagrange, shape, 1);
  const auto corners = vertex_nodes(*linear);
  const auto table = linear->tabulate(points);
  std::vector<double> values;
  for (int p = 0; p < table.num_points; ++p)
    for (const int corner : corners) values.push_back(table(0, p, corner));
  return values;
}

std::int32_t number_shared_nodes(Mesh& mesh) {
  std::set<int> degrees;
  for (auto& group : mesh.groups) {
    if (group.degree == 1) {
      group.own_nodes.clear();
      continue;
    }
    degrees.insert(group.degree);
    group.own_nodes.assign(group.tags.size() * static_cast<std::size_t>(geometry_element(group)->num_dofs()), -1);
  }
  std::int64_t next = mesh.num_vertices;
  for (const int degree : degrees) {
    for (int dim = 1; dim < mesh.tdim; ++dim) {
      EntityStarts starts{{}, next};
      for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
        if (mesh.groups[g].degree != degree) continue;
        const auto entities = sub_entities(mesh.topology(), g, dim);
        if (starts.starts.empty()) starts.starts.assign(entities.total, -1);
        number_entity_nodes(mesh.groups[g], *geometry_element(mesh.groups[g]), dim, entities, starts);
      }
      next = starts.next;
    }
    for (auto& group : mesh.groups)
      if (group.degree == degree) number_cell_nodes(group, *geometry_element(group), next);
  }
  return checked_node_count(next, mesh);
}

std::int32_t number_separate_nodes(Mesh& mesh) {
  std::int64_t next = 0;
  for (auto& group : mesh.groups) {
    group.own_nodes.resize(group.tags.size() * static_cast<std::size_t>(geometry_element(group)->num_dofs()));
    for (auto& node : group.own_nodes) node = static_cast<std::int32_t>(next++);
  }
  return checked_node_count(next, mesh);
}

void raise_geometry_degree(Mesh& mesh, int degree) {
  const Mesh straight = mesh;
  for (auto& group : mesh.groups) group.degree = degree;
  const auto num_nodes = static_cast<std::size_t>(number_shared_nodes(mesh));
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  mesh.points.assign(num_nodes * dim, 0.0);
  std::vector<double> x;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const PointPlacement placement(group.shape, 1, lagrange_points(degree));
    const auto num_points = static_cast<std::size_t>(placement.num_points());
    x.resize(num_points * dim);
    for (std::size_t c = 0; c < group.tags.size(); ++c) {
      placement.place(cell_geometry(straight, g, c, placement.is_oriented()), x);
      for (std::size_t n = 0; n < num_points; ++n)
        std::copy_n(x.data() + n * dim, dim,
                    mesh.points.data() + static_cast<std::size_t>(group.own_nodes[c * num_points + n]) * dim);
    }
  }
}

} // namespace rafter::mesh

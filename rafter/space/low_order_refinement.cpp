// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/low_order_refinement.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/lattice_cells.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::space {
namespace {

using Group = LowOrderRefinement::Group;

std::size_t num_corners(const Group& group) {
  return static_cast<std::size_t>(element::num_vertices(group.element->shape()));
}

/// Dof of the element at each vertex of each child, shape (child, vertex).
std::vector<int> corner_dofs(const element::Element& element) {
  const auto lattice = mesh::gmsh_lattice(element.shape(), element.degree());
  const auto index = mesh::lattice_index(element.degree(), lattice);
  const auto dofs = mesh::matching_dofs(element, lattice);
  std::vector<int> result;
  for (const auto& point : mesh::lattice_cells(element.shape(), element.degree())) {
    const auto place = index[mesh::lattice_key(element.degree(), point)];
    result.push_back(static_cast<int>(dofs[static_cast<std::size_t>(place)]));
  }
  return result;
}

/// A facet of a child.
struct ChildFacet {
  int child = 0, facet = 0;
};

/// The facets of children that make up each facet of their parent, shape (facet of the parent)(part).
std::vector<std::vector<ChildFacet>> facet_parts(const Group& group) {
  const auto shape = group.element->shape();
  const int dim = element::dimension(shape);
  std::vector<std::vector<ChildFacet>> result(static_cast<std::size_t>(element::num_facets(shape)));
  for (int facet = 0; facet < element::num_facets(shape); ++facet) {
    const auto on_facet = group.element->closure_dofs(dim - 1, facet);
    const auto is_on_facet = [&](int child, int vertex) {
      const auto corner = static_cast<std::size_t>(child) * num_corners(group) + static_cast<std::size_t>(vertex);
      return std::ranges::binary_search(on_facet, group.corners[corner]);
    };
    for (int child = 0; child < std::ssize(group.places); ++child)
      for (int part = 0; part < element::num_facets(shape); ++part)
        if (std::ranges::all_of(element::entity_vertices(shape, dim - 1, part),
                                [&](int vertex) { return is_on_facet(child, vertex); }))
          result[static_cast<std::size_t>(facet)].push_back({child, part});
  }
  return result;
}

class Builder {
public:
  explicit Builder(const FunctionSpace& space) : space_(space), mesh_(space.mesh()) {}

  LowOrderRefinement run() {
    require_divisible();
    refined_.tdim = mesh_.tdim;
    refined_.gdim = mesh_.gdim;
    refined_.source = mesh_.source;
    refined_.physical_groups = mesh_.physical_groups;
    for (const auto& group : mesh_.groups) add_group(group);
    require_fit();
    vertices_.assign(static_cast<std::size_t>(space_.num_local()), -1);
    for (std::size_t g = 0; g < groups_.size(); ++g) add_cells(g);
    refined_.num_vertices = static_cast<std::int32_t>(refined_.points.size() / static_cast<std::size_t>(mesh_.gdim));
    add_facets();
    return {.mesh = std::make_shared<const mesh::Mesh>(std::move(refined_)), .groups = std::move(groups_)};
  }

private:
  bool is_periodic() const { return !mesh_.global_vertices.empty(); }

  void require_divisible() const {
    const auto refuse = [&](const std::string& why) {
      throw base::InputError(fmt::format("the mesh between the nodes of '{}': {}", space_.name, why));
    };
    if (mesh_.distribution != nullptr) refuse("that of the space is a part of a larger one");
    if (space_.is_broken()) refuse("the space is broken; accepted are continuous ones");
    for (const auto& group : mesh_.groups)
      if (group.shape == element::Shape::pyramid)
        refuse(
            "that of the space has pyramids, which are not divided into pyramids alone; accepted are all other shapes");
  }

  /// Cells of a shape are one group of the refined mesh, whatever the degrees of their geometry.
  void add_group(const mesh::CellGroup& group) {
    auto found = std::ranges::find(refined_.groups, group.shape, &mesh::CellGroup::shape);
    if (found == refined_.groups.end())
      found = refined_.groups.insert(
          found, {.shape = group.shape, .degree = 1, .vertices = {}, .own_nodes = {}, .tags = {}, .parents = {}});
    auto element = space_.element(group.shape);
    auto corners = corner_dofs(*element);
    const auto num_children = static_cast<int>(corners.size()) / element::num_vertices(group.shape);
    groups_.push_back({.element = std::move(element), .places = {}, .corners = std::move(corners)});
    for (int child = 0; child < num_children; ++child)
      groups_.back().places.push_back({.group = static_cast<int>(found - refined_.groups.begin()),
                                       .stride = num_children,
                                       .start = found->num_cells() + child});
    for (const auto tag : group.tags) found->tags.append(static_cast<std::size_t>(num_children), tag);
  }

  void require_fit() const {
    std::vector<mesh::PlannedCells> planned;
    for (const auto& group : refined_.groups)
      planned.push_back({group.shape, 1, static_cast<double>(group.num_cells())});
    mesh::require_mesh_fits(fmt::format("the low-order-refined mesh of '{}'", mesh_.source),
                            static_cast<double>(space_.num_dofs()), planned);
  }

  /// The vertex at an entry of the first component. Entries that periodic facets identify have one vertex for each of
  /// their places.
  std::int32_t vertex(std::int32_t entry, std::span<const double> point) {
    std::int32_t* number = &vertices_[static_cast<std::size_t>(entry)];
    if (is_periodic()) {
      std::array<double, 3> place{};
      std::ranges::copy(point, place.begin());
      number = &images_.try_emplace({entry, place}, -1).first->second;
    }
    if (*number >= 0) return *number;
    *number = static_cast<std::int32_t>(refined_.points.size() / point.size());
    refined_.points.insert(refined_.points.end(), point.begin(), point.end());
    if (is_periodic()) refined_.global_vertices.push_back(entry);
    return *number;
  }

  void add_cells(std::size_t g) {
    const auto& group = groups_[g];
    const auto gdim = static_cast<std::size_t>(mesh_.gdim), corners = num_corners(group);
    const auto num_dofs = static_cast<std::size_t>(group.element->num_dofs());
    std::vector<std::int32_t> entries(num_dofs * static_cast<std::size_t>(space_.num_components())), numbers(num_dofs);
    auto& refined = refined_.groups[static_cast<std::size_t>(group.places.front().group)];
    refined.vertices.resize(refined.tags.size() * corners);
    for (std::int32_t cell = 0; cell < mesh_.groups[g].num_cells(); ++cell) {
      const auto position = space_.position(static_cast<std::int32_t>(g), cell);
      space_.cell_dofs(position.block, position.batch, position.cell, entries);
      const auto points = space_.cell_node_points(static_cast<std::int32_t>(g), cell);
      for (std::size_t dof = 0; dof < num_dofs; ++dof)
        numbers[dof] = vertex(entries[dof], std::span(points).subspan(dof * gdim, gdim));
      for (std::size_t child = 0; child < group.places.size(); ++child)
        for (std::size_t v = 0; v < corners; ++v)
          refined.vertices[static_cast<std::size_t>(group.places[child].cell(cell)) * corners + v] =
              numbers[static_cast<std::size_t>(group.corners[child * corners + v])];
    }
  }

  void add_facets() {
    std::vector<std::vector<std::vector<ChildFacet>>> parts; // shape (group)(facet of the parent)(part)
    for (const auto& group : groups_) parts.push_back(facet_parts(group));
    const auto& surface = mesh_.surface();
    const auto add = [&](const mesh::FacetRef& facet, std::int32_t tag) {
      const auto g = static_cast<std::size_t>(facet.group);
      for (const auto& part : parts[g][static_cast<std::size_t>(facet.facet)])
        refined_.tagged_facets.push_back(tagged(groups_[g], facet.cell, part, tag));
    };
    for (std::size_t i = 0; i < surface.exterior_facets.size(); ++i)
      if (surface.exterior_tags[i] != 0) add(surface.exterior_facets[i], surface.exterior_tags[i]);
    for (const auto& facet : surface.inner_facets) add(facet.first, facet.tag);
  }

  mesh::TaggedFacet tagged(const Group& group, std::int32_t parent, const ChildFacet& part, std::int32_t tag) const {
    mesh::TaggedFacet result{.tag = tag};
    const auto& place = group.places[static_cast<std::size_t>(part.child)];
    const auto& refined = refined_.groups[static_cast<std::size_t>(place.group)];
    const auto first = static_cast<std::size_t>(place.cell(parent)) * num_corners(group);
    const auto vertices = element::entity_vertices(refined.shape, mesh_.tdim - 1, part.facet);
    for (std::size_t v = 0; v < vertices.size(); ++v)
      result.vertices[v] = refined.vertices[first + static_cast<std::size_t>(vertices[v])];
    return result;
  }

  const FunctionSpace& space_;
  const mesh::Mesh& mesh_;
  mesh::Mesh refined_;
  std::vector<Group> groups_;
  std::vector<std::int32_t> vertices_; ///< vertex of each entry, shape (entry of the space); -1: none yet
  std::map<std::pair<std::int32_t, std::array<double, 3>>, std::int32_t> images_; ///< the same on periodic meshes
};

} // namespace

void LowOrderRefinement::child_entries(const FunctionSpace& space, std::int32_t group, std::int32_t cell,
                                       std::vector<std::int32_t>& entries) const {
  const auto& of_group = groups[static_cast<std::size_t>(group)];
  const auto shape = of_group.element->shape();
  const auto num_dofs = static_cast<std::size_t>(space.element(shape)->num_dofs()),
             num_children = of_group.places.size(), num_components = static_cast<std::size_t>(space.num_components());
  std::vector<std::int32_t> of_child(num_components * num_dofs);
  entries.resize(num_children * of_child.size());
  for (std::size_t child = 0; child < num_children; ++child) {
    const auto& place = of_group.places[child];
    const auto position = space.position(place.group, place.cell(cell));
    space.cell_dofs(position.block, position.batch, position.cell, of_child);
    for (std::size_t c = 0; c < num_components; ++c)
      std::copy_n(of_child.begin() + static_cast<std::ptrdiff_t>(c * num_dofs), num_dofs,
                  entries.begin() + static_cast<std::ptrdiff_t>((c * num_children + child) * num_dofs));
  }
}

std::shared_ptr<const LowOrderRefinement> low_order_refinement(const FunctionSpace& space) {
  return std::make_shared<const LowOrderRefinement>(Builder(space).run());
}

} // namespace rafter::space

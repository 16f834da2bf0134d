// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/unknowns.hpp>

#include <algorithm>

#include <rafter/form/lowered.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

bool has_tag(std::span<const std::int32_t> tags, std::int32_t tag) {
  return tags.empty() || std::binary_search(tags.begin(), tags.end(), tag);
}

void add_cells(const mesh::Mesh& mesh, std::span<const std::int32_t> tags, mesh::CellMask& mask) {
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    for (std::size_t cell = 0; cell < mask[g].size(); ++cell)
      if (has_tag(tags, mesh.groups[g].tags[cell])) mask[g][cell] = 1;
}

void add_cells_of_facets(const mesh::Mesh& mesh, std::span<const std::int32_t> tags, mesh::CellMask& mask) {
  const auto& surface = mesh.surface();
  for (std::size_t i = 0; i < surface.exterior_facets.size(); ++i) {
    const auto& facet = surface.exterior_facets[i];
    if (has_tag(tags, surface.exterior_tags[i]))
      mask[static_cast<std::size_t>(facet.group)][static_cast<std::size_t>(facet.cell)] = 1;
  }
}

} // namespace

std::size_t Unknowns::field_of(std::size_t entry) const {
  const auto after = std::upper_bound(field_offsets.begin(), field_offsets.end(), static_cast<std::int32_t>(entry));
  return static_cast<std::size_t>(after - field_offsets.begin()) - 1;
}

std::span<const double> Unknowns::point(std::size_t entry) const {
  const auto dim = static_cast<std::size_t>(gdim);
  return std::span(points).subspan(entry * dim, dim);
}

Unknowns make_unknowns(const System& system, const mesh::ConnectedComponents& connected_components) {
  const auto size = static_cast<std::size_t>(system.size());
  const auto dim = static_cast<std::size_t>(system.mesh->gdim);
  Unknowns result{.gdim = system.mesh->gdim,
                  .component = std::vector<std::int8_t>(size),
                  .connected_component = std::vector<std::int32_t>(size, -1),
                  .points = std::vector<double>(size * dim),
                  .field_offsets = {},
                  .translations = connected_components.translations};
  const auto cells = mesh::make_cell_mask(*system.mesh, true);
  std::vector<bool> is_placed(size, false);
  std::vector<int> dofs;      // those of a cell that no cell before has placed
  std::vector<double> points; // their nodes
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    result.field_offsets.push_back(static_cast<std::int32_t>(system.offset(f)));
    const auto& space = *system.spaces[f];
    const auto num_components = static_cast<std::size_t>(space.num_components());
    for_cells(system, f, cells, [&](std::size_t g, std::size_t cell, std::span<const std::int32_t> entries) {
      const std::size_t num_dofs = entries.size() / num_components;
      if (const auto connected_component = connected_components.of_cell[g][cell]; connected_component >= 0)
        for (const auto entry : entries)
          result.connected_component[static_cast<std::size_t>(entry)] = connected_component;
      dofs.clear();
      for (std::size_t dof = 0; dof < num_dofs; ++dof)
        if (!is_placed[static_cast<std::size_t>(entries[dof])]) dofs.push_back(static_cast<int>(dof));
      if (dofs.empty()) return;
      points.resize(dofs.size() * dim);
      space.node_points(static_cast<std::int32_t>(g), static_cast<std::int32_t>(cell), dofs, points);
      for (std::size_t i = 0; i < dofs.size(); ++i)
        for (std::size_t c = 0; c < num_components; ++c) {
          const auto entry = static_cast<std::size_t>(entries[c * num_dofs + static_cast<std::size_t>(dofs[i])]);
          is_placed[entry] = true;
          result.component[entry] = static_cast<std::int8_t>(c);
          std::copy_n(points.begin() + static_cast<std::ptrdiff_t>(i * dim), dim,
                      result.points.begin() + static_cast<std::ptrdiff_t>(entry * dim));
        }
    });
  }
  result.field_offsets.push_back(static_cast<std::int32_t>(size));
  return result;
}

Unknowns fixed_on_facets(const System& system, const mesh::ConnectedComponents& connected_components,
                         std::span<const std::uint8_t> is_free, std::size_t stride) {
  Unknowns result{
      .gdim = system.mesh->gdim, .component = {}, .connected_component = {}, .points = {}, .field_offsets = {0}};
  const auto dim = static_cast<std::size_t>(result.gdim);
  auto cells = mesh::make_cell_mask(*system.mesh, false);
  const auto mark = [&cells](const mesh::FacetRef& facet) {
    cells[static_cast<std::size_t>(facet.group)][static_cast<std::size_t>(facet.cell)] = 1;
  };
  const auto& surface = system.mesh->surface();
  for (std::size_t i = 0; i < surface.exterior_facets.size(); i += stride) mark(surface.exterior_facets[i]);
  for (std::size_t i = 0; i < surface.inner_facets.size(); i += stride) {
    mark(surface.inner_facets[i].first);
    if (surface.inner_facets[i].has_second()) mark(surface.inner_facets[i].second);
  }
  std::vector<int> fixed; // local numbers of the constrained entries
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    const auto& space = *system.spaces[f];
    for_cells(system, f, cells, [&](std::size_t g, std::size_t cell, std::span<const std::int32_t> entries) {
      fixed.clear();
      for (std::size_t i = 0; i < entries.size(); ++i)
        if (is_free[static_cast<std::size_t>(entries[i])] == 0) fixed.push_back(static_cast<int>(i));
      const int num_dofs = static_cast<int>(entries.size()) / space.num_components();
      for (const int i : fixed) {
        result.component.push_back(static_cast<std::int8_t>(i / num_dofs));
        result.connected_component.push_back(connected_components.of_cell[g][cell]);
      }
      for (int& i : fixed) i %= num_dofs;
      const auto first = result.points.size();
      result.points.resize(first + fixed.size() * dim);
      space.node_points(static_cast<std::int32_t>(g), static_cast<std::int32_t>(cell), fixed,
                        std::span(result.points).subspan(first));
    });
    result.field_offsets.push_back(static_cast<std::int32_t>(result.size()));
  }
  return result;
}

Reach reach_of(const form::LoweredForm& form, const System& system) {
  const auto& mesh = *system.mesh;
  Reach result{.by_cells = std::vector<mesh::CellMask>(system.spaces.size(), mesh::make_cell_mask(mesh, false)),
               .any = mesh::make_cell_mask(mesh, false)};
  for (const auto& integral : form.integrals) {
    const auto tags = measure_tags(mesh, integral.measure);
    if (integral.measure.kind == form::MeasureKind::exterior_facet) {
      add_cells_of_facets(mesh, tags, result.any);
      continue;
    }
    add_cells(mesh, tags, result.any);
    for (const auto& term : integral.test_terms)
      add_cells(mesh, tags, result.by_cells[system.index_of(*form.test_spaces[static_cast<std::size_t>(term.field)])]);
  }
  return result;
}

void for_cells(const System& system, std::size_t field, const mesh::CellMask& cells, const CellVisit& visit) {
  const auto& space = *system.spaces[field];
  const auto offset = static_cast<std::int32_t>(system.offset(field));
  const auto& groups = system.mesh->groups;
  std::vector<std::int32_t> entries;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    entries.resize(static_cast<std::size_t>(space.element(groups[g].shape)->num_dofs() * space.num_components()));
    for (std::int32_t cell = 0; cell < groups[g].num_cells(); ++cell) {
      if (cells[g][static_cast<std::size_t>(cell)] == 0) continue;
      const auto position = space.position(static_cast<std::int32_t>(g), cell);
      space.cell_dofs(position.block, position.batch, position.cell, entries);
      for (auto& entry : entries) entry += offset;
      visit(g, static_cast<std::size_t>(cell), entries);
    }
  }
}

} // namespace rafter::op

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/near_null_space.hpp>

#include <numeric>
#include <optional>

#include <rafter/mesh/connected_components.hpp>
#include <rafter/operator/generate/unknowns.hpp>
#include <rafter/solve/rigid_modes.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::solvers {
namespace {

/// Numbers the nodes of a field: the entries of its components at one node are together, and components count from
/// `first_component`.
void number_nodes(const op::System& system, std::size_t field, const mesh::CellMask& cells,
                  std::int32_t first_component, NearNullSpace& result) {
  const auto num_components = static_cast<std::size_t>(system.spaces[field]->num_components());
  if (num_components == 1) { // every entry is a node of its own
    const auto [begin, end] = system.entries(field);
    for (auto entry = static_cast<std::size_t>(begin); entry < static_cast<std::size_t>(end); ++entry) {
      result.node[entry] = result.num_nodes++;
      result.component[entry] = first_component;
    }
    return;
  }
  op::for_cells(system, field, cells, [&](std::size_t, std::size_t, std::span<const std::int32_t> entries) {
    const std::size_t num_dofs = entries.size() / num_components;
    for (std::size_t dof = 0; dof < num_dofs; ++dof) {
      if (result.node[static_cast<std::size_t>(entries[dof])] >= 0) continue;
      for (std::size_t c = 0; c < num_components; ++c) {
        const auto entry = static_cast<std::size_t>(entries[c * num_dofs + dof]);
        result.node[entry] = result.num_nodes;
        result.component[entry] = first_component + static_cast<std::int32_t>(c);
      }
      ++result.num_nodes;
    }
  });
}

void add_constants(std::int32_t first_component, int num_components, NearNullSpace& result) {
  for (std::int32_t c = first_component; c < first_component + num_components; ++c) {
    auto& values = result.modes.emplace_back(result.component.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = result.component[i] == c ? 1 : 0;
    result.mode_component.push_back(c);
  }
}

} // namespace

NearNullSpace make_near_null_space(const op::System& system) {
  const auto size = static_cast<std::size_t>(system.size());
  const auto cells = mesh::make_cell_mask(*system.mesh, true);
  NearNullSpace result{.num_nodes = 0,
                       .node = std::vector<std::int32_t>(size, -1),
                       .component = std::vector<std::int32_t>(size, -1),
                       .modes = {},
                       .mode_component = {}};
  // Rotations alone need to know where nodes are, which takes long.
  std::optional<mesh::ConnectedComponents> connected_components;
  std::optional<op::Unknowns> unknowns;
  std::int32_t first_component = 0;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    number_nodes(system, f, cells, first_component, result);
    add_constants(first_component, system.spaces[f]->num_components(), result);
    for (const auto& mode : rotation_modes(system, f)) {
      if (!connected_components) connected_components = mesh::connected_components(*system.mesh, cells);
      if (!unknowns) unknowns = op::make_unknowns(system, *connected_components);
      const auto centres = centres_for(*unknowns, connected_components->count, mode);
      auto& values = result.modes.emplace_back(size, 0.0);
      for (std::size_t i = 0; i < size; ++i) values[i] = mode_value(*unknowns, mode, centres, i);
      result.mode_component.push_back(-1);
    }
    first_component += system.spaces[f]->num_components();
  }
  return result;
}

NearNullSpace constant_near_null_space(std::int64_t num_unknowns) {
  const auto size = static_cast<std::size_t>(num_unknowns);
  NearNullSpace result{.num_nodes = static_cast<std::int32_t>(num_unknowns),
                       .node = std::vector<std::int32_t>(size),
                       .component = std::vector<std::int32_t>(size, 0),
                       .modes = {std::vector<double>(size, 1.0)},
                       .mode_component = {0}};
  std::iota(result.node.begin(), result.node.end(), 0);
  return result;
}

} // namespace rafter::solvers

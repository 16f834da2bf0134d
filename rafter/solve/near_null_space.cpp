// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/near_null_space.hpp>

#include <numeric>

#include <rafter/mesh/pieces.hpp>
#include <rafter/operator/unknowns.hpp>
#include <rafter/solve/rigid_modes.hpp>

namespace rafter::solvers {
namespace {

/// Numbers the nodes of all fields: the entries of the components of a field at one of its nodes are together.
void number_nodes(const op::System& system, NearNullSpace& result) {
  const auto cells = mesh::make_cell_mask(*system.mesh, true);
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    const auto num_components = static_cast<std::size_t>(system.spaces[f]->num_components());
    op::for_cells(system, f, cells, [&](std::size_t, std::size_t, std::span<const std::int32_t> entries) {
      const std::size_t num_dofs = entries.size() / num_components;
      for (std::size_t dof = 0; dof < num_dofs; ++dof) {
        if (result.node[static_cast<std::size_t>(entries[dof])] >= 0) continue;
        for (std::size_t c = 0; c < num_components; ++c)
          result.node[static_cast<std::size_t>(entries[c * num_dofs + dof])] = result.num_nodes;
        ++result.num_nodes;
      }
    });
  }
}

} // namespace

NearNullSpace make_near_null_space(const op::System& system) {
  const auto size = static_cast<std::size_t>(system.size());
  const auto pieces = mesh::connected_pieces(*system.mesh, mesh::make_cell_mask(*system.mesh, true));
  const auto unknowns = op::make_unknowns(system, pieces);
  NearNullSpace result{.num_nodes = 0,
                       .node = std::vector<std::int32_t>(size, -1),
                       .component = std::vector<std::int32_t>(size, -1),
                       .modes = {},
                       .mode_component = {}};
  number_nodes(system, result);
  std::int32_t first_component = 0;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    for (auto i = static_cast<std::size_t>(unknowns.field_offsets[f]);
         i < static_cast<std::size_t>(unknowns.field_offsets[f + 1]); ++i)
      if (result.node[i] >= 0) result.component[i] = first_component + unknowns.component[i];
    auto modes = constant_modes(system, f);
    const auto rotations = rotation_modes(system, f);
    modes.insert(modes.end(), rotations.begin(), rotations.end());
    for (const auto& mode : modes) {
      const auto centres = centres_for(unknowns, pieces.count, mode);
      auto& values = result.modes.emplace_back(size, 0.0);
      for (std::size_t i = 0; i < size; ++i) values[i] = mode_value(unknowns, mode, centres, i);
      result.mode_component.push_back(mode.other < 0 ? first_component + mode.component : -1);
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

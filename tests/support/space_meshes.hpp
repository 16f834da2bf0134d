// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/box_meshes.hpp>

/// Spaces on small meshes.
namespace rafter::test {

inline std::shared_ptr<const space::FunctionSpace> make_space(const mesh::Mesh& mesh, int degree, int components,
                                                              const mesh::BatchOptions& options) {
  auto shared = std::make_shared<const mesh::Mesh>(mesh);
  return space::FunctionSpace::make(
      std::make_shared<const space::Discretisation>(shared, mesh::make_cell_batches(*shared, options)),
      {.degree = degree, .components = components});
}

inline std::shared_ptr<const space::FunctionSpace> make_space(const mesh::Mesh& mesh, int degree, int components = 0,
                                                              int cells_per_batch = 8) {
  return make_space(mesh, degree, components, {.cells_per_batch = cells_per_batch});
}

/// Calls visit(group, cell, entries (component, local dof), points (local dof, gdim)) for every cell.
template <class Visit> void for_each_cell(const space::FunctionSpace& space, Visit&& visit) {
  const auto& groups = space.mesh().groups;
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(groups.size()); ++g) {
    const auto& group = groups[static_cast<std::size_t>(g)];
    std::vector<std::int32_t> entries(
        static_cast<std::size_t>(space.element(group.shape)->num_dofs() * space.num_components()));
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto position = space.position(g, cell);
      space.cell_dofs(position.block, position.batch, position.cell, entries);
      visit(g, cell, entries, space.cell_node_points(g, cell));
    }
  }
}

} // namespace rafter::test

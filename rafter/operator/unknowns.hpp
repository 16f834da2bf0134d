// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/form/lowered.hpp>
#include <rafter/mesh/pieces.hpp>
#include <rafter/operator/form_kernels.hpp>

/// What each entry of a system's vectors stands for, and where.
namespace rafter::op {

struct Unknowns {
  int gdim = 3;
  std::vector<std::int8_t> component;      ///< of the entry's field, shape (entry)
  std::vector<std::int32_t> piece;         ///< of the mesh, shape (entry); -1: in no cell that the pieces hold
  std::vector<double> points;              ///< where its node is (one of its images), shape (entry, gdim)
  std::vector<std::int32_t> field_offsets; ///< first entry of each field, and the number of all; shape (field + 1)
  std::vector<std::vector<std::array<double, 3>>> translations{}; ///< periods of each piece, as mesh::Pieces

  std::size_t size() const { return component.size(); }
  std::size_t field_of(std::size_t entry) const;
  std::span<const double> point(std::size_t entry) const;
};
Unknowns make_unknowns(const System& system, const mesh::Pieces& pieces);
/// Of constrained entries alone, `is_free` = 0, as the cells behind every `stride`-th facet of the boundary see them:
/// field by field, numbered anew, an entry once for each of its cells.
Unknowns fixed_on_boundary(const System& system, const mesh::Pieces& pieces, std::span<const std::uint8_t> is_free,
                           std::size_t stride);

/// Cells that integrals of a form reach with the test functions of each field of a system.
struct Reach {
  std::vector<mesh::CellMask> by_cells; ///< of cell integrals, shape (field)
  mesh::CellMask any;                   ///< of any field, cells behind facet integrals included
};
Reach reach_of(const form::LoweredForm& form, const System& system);

/// Calls visit(group, cell, entries) for every cell of the mask; entries: of the field in the system's vectors.
template <class Visit>
void for_cells(const System& system, std::size_t field, const mesh::CellMask& cells, const Visit& visit) {
  const auto& space = *system.spaces[field];
  const auto offset = static_cast<std::int32_t>(system.offset(field));
  const auto& groups = system.mesh->groups;
  std::vector<std::int32_t> entries;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    entries.resize(static_cast<std::size_t>(space.element(groups[g].shape)->num_dofs() * space.num_components()));
    for (std::int32_t cell = 0; cell < groups[g].num_cells(); ++cell) {
      if (cells[g][static_cast<std::size_t>(cell)] == 0) continue;
      const auto position = space.position(static_cast<std::int32_t>(g), cell);
      space.cell_dofs(position.block, position.batch, position.lane, entries);
      for (auto& entry : entries) entry += offset;
      visit(g, static_cast<std::size_t>(cell), std::span<const std::int32_t>(entries));
    }
  }
}

} // namespace rafter::op

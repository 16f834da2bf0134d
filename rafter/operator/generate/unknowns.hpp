// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <rafter/mesh/connected_components.hpp>
#include <rafter/operator/generate/system.hpp>

namespace rafter::form {
struct LoweredForm;
} // namespace rafter::form

/// Says what each entry of a system's vectors stands for, and where it is.
namespace rafter::op {

/// The unknowns of a system, by entry of its vectors. Padding has connected component -1.
struct Unknowns {
  int gdim = 3;
  std::vector<std::int8_t> component; ///< component within the entry's field, shape (entry)
  /// Connected component of the mesh, shape (entry); -1: the entry is in no cell that the connected components hold.
  std::vector<std::int32_t> connected_component;
  std::vector<double> points;              ///< place of its node (one of its images), shape (entry, gdim)
  std::vector<std::int32_t> field_offsets; ///< first entry of each field, and the number of all; shape (field + 1)
  /// Translations by which periodic facets identify vertices of each connected component, see
  /// mesh::ConnectedComponents.
  std::vector<std::vector<std::array<double, 3>>> translations{};

  std::size_t size() const { return component.size(); }
  std::size_t field_of(std::size_t entry) const;
  std::span<const double> point(std::size_t entry) const;
};
Unknowns make_unknowns(const System& system, const mesh::ConnectedComponents& connected_components);
/// Lists the constrained entries alone, which have `is_free` = 0, as the cells at every `stride`-th facet of the
/// boundary and of the tagged facets inside see them: field by field, numbered anew, an entry once for each of its
/// cells.
Unknowns fixed_on_facets(const System& system, const mesh::ConnectedComponents& connected_components,
                         std::span<const std::uint8_t> is_free, std::size_t stride);

/// The cells that integrals of a form reach with the test functions of the fields of a system.
struct Reach {
  std::vector<mesh::CellMask> by_cells; ///< cells that cell integrals reach, shape (field)
  mesh::CellMask any;                   ///< cells that integrals reach with any field, those behind facets included
};
Reach reach_of(const form::LoweredForm& form, const System& system);

/// Is called with a group, a cell of it and the cell's entries in the system's vectors.
using CellVisit = std::function<void(std::size_t group, std::size_t cell, std::span<const std::int32_t> entries)>;
/// Calls `visit` for every cell of the mask, with the entries of one field.
void for_cells(const System& system, std::size_t field, const mesh::CellMask& cells, const CellVisit& visit);

} // namespace rafter::op

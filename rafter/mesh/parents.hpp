// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <compare>
#include <cstdint>
#include <vector>

namespace rafter::mesh {

/// The cells that those of a group lie in before a mesh is refined. Children of one parent are numbered one after the
/// other, and so are those of its successor, which is why a few ranges say it for all cells.
class Parents {
public:
  /// The children of consecutive cells of a group.
  struct Range {
    std::int32_t group = 0, first_parent = 0, num_parents = 0, children_per_parent = 1;
    std::int32_t begin = 0; ///< the first child
    std::int32_t num_children() const { return num_parents * children_per_parent; }
  };
  struct Cell {
    std::int32_t group = 0, cell = 0;
    auto operator<=>(const Cell&) const = default;
  };
  bool empty() const { return ranges_.empty(); }
  std::int32_t num_children() const;
  const std::vector<Range>& ranges() const { return ranges_; }
  Cell of(std::int32_t child) const; ///< throws InternalError for a child that there is not
  /// Adds the next child, or those of a range whose `begin` follows from what there is.
  void append(Cell parent) { append({.group = parent.group, .first_parent = parent.cell, .num_parents = 1}); }
  void append(Range range);

private:
  std::vector<Range> ranges_;
};

} // namespace rafter::mesh

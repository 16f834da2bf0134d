// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <rafter/mesh/cursor.hpp>
#include <rafter/mesh/gmsh_types.hpp>
#include <rafter/mesh/physical_groups.hpp>

namespace rafter::mesh {

/// Maps the node tags of a file, which may have gaps and any order, to row numbers.
class NodeRows {
public:
  void add(std::int64_t tag) { tags_.push_back(tag); }
  void reserve(std::size_t count) { tags_.reserve(count); }
  /// Must be called when all tags are added. Returns a tag that was given twice, or -1.
  std::int64_t finish();
  /// Row of a tag; -1 for a tag that the file does not have.
  std::int32_t row(std::int64_t tag) const {
    if (dense_.empty()) return row_of_sorted(tag);
    const auto place = static_cast<std::uint64_t>(tag) - static_cast<std::uint64_t>(least_);
    return place < dense_.size() ? dense_[place] : -1;
  }
  std::size_t size() const { return tags_.size(); }

private:
  std::int32_t row_of_sorted(std::int64_t tag) const;
  std::vector<std::int64_t> tags_; ///< tags in file order
  std::int64_t least_ = 0;         ///< tag
  /// Rows by tags from the least one on, -1 where the file has none; empty where tags lie far apart.
  std::vector<std::int32_t> dense_;
  std::vector<std::pair<std::int64_t, std::int32_t>> sorted_; ///< sorted by tag, where they lie far apart
};

/// All elements of one type in a file.
struct GmshElements {
  GmshType type;
  std::vector<std::int32_t> nodes;    ///< rows of nodes, shape (element, node)
  std::vector<std::int32_t> tags;     ///< tags of GmshData::physical_groups, shape (element)
  std::vector<std::int32_t> entities; ///< geometric entity of each element
};

/// Contents of the sections of a .msh file.
struct GmshData {
  bool is_binary = false;
  int major = 0; ///< 2 or 4
  bool has_nodes = false, has_elements = false;
  NodeRows rows;
  std::vector<double> coordinates; ///< shape (row, 3)
  PhysicalGroups physical_groups;
  std::map<std::pair<int, std::int64_t>, std::int32_t> entity_tags; ///< (dimension, entity) -> tag of its elements
  std::map<int, GmshElements> elements;                             ///< elements by the number of their type
};

/// Reads all sections of a file, and skips unknown ones ($Periodic, $NodeData, ...).
GmshData read_gmsh_sections(Cursor& in);

} // namespace rafter::mesh

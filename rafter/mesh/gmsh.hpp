// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <rafter/mesh/cursor.hpp>
#include <rafter/mesh/gmsh_types.hpp>

namespace rafter::mesh {

/// Node tags of a file, which may have gaps and any order, to row numbers.
class NodeRows {
public:
  void add(std::int64_t tag) { tags_.push_back(tag); }
  /// To be called when all are added; the tag that was given twice, or -1.
  std::int64_t finish();
  /// -1 for a tag that the file does not have.
  std::int32_t row(std::int64_t tag) const;
  std::size_t size() const { return tags_.size(); }

private:
  std::vector<std::int64_t> tags_;                          ///< in file order
  std::vector<std::pair<std::int64_t, std::int32_t>> rows_; ///< sorted; empty while tags are contiguous and ascending
};

/// Elements of one type.
struct GmshElements {
  GmshType type;
  std::vector<std::int32_t> nodes;    ///< rows, shape (element, node)
  std::vector<std::int32_t> tags;     ///< first physical group, 0 for none
  std::vector<std::int32_t> entities; ///< geometric entity
};

/// What the sections of a .msh file hold.
struct GmshData {
  bool is_binary = false;
  int major = 0; ///< 2 or 4
  bool has_nodes = false, has_elements = false;
  NodeRows rows;
  std::vector<double> coordinates; ///< shape (row, 3)
  std::map<std::pair<int, std::int64_t>, std::int32_t>
      entity_physicals;                                      ///< (dimension, entity) -> first physical group
  std::map<std::string, std::pair<int, std::int32_t>> names; ///< physical group -> (dimension, tag)
  std::map<int, GmshElements> elements;                      ///< by type number
};

/// Reads all sections. Unknown ones ($Periodic, $NodeData, ...) are skipped.
GmshData read_gmsh_sections(Cursor& in);

} // namespace rafter::mesh

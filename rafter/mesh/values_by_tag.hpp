// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// The values that a table for physical groups of cells gives each cell. The mesh must outlive it.
class ValuesByTag {
public:
  explicit ValuesByTag(const Mesh& mesh) : mesh_(&mesh) {}

  /// Gives the cells of a group these values. Throws InputError for groups that the mesh lacks (tags_for), and
  /// where cells have other values already, from another group that they are in. Equal values are no contradiction.
  void add(const std::string& group, std::span<const double> values);
  /// Values of the cells with a tag; null: no group gives them any.
  const std::vector<double>* find(std::int32_t tag) const;
  /// Tags of cells of all processes without values, ascending.
  std::vector<std::int32_t> missing() const;

private:
  struct Entry {
    std::vector<double> values;
    std::string group; ///< group that was named
  };
  const Mesh* mesh_;
  std::map<std::int32_t, Entry> entries_; ///< entries by tag
};

} // namespace rafter::mesh

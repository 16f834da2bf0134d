// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace rafter::mesh {

/// A name of a physical group. Groups of different dimensions may share a name, and groups of one dimension, too.
struct GroupName {
  int dim = 0;
  std::string name;
  std::int32_t number = 0;
  auto operator<=>(const GroupName&) const = default;
};

/// The physical groups of a mesh: their names, and the sets of groups that cells and facets belong to. A cell or facet
/// carries one number, its tag: 0 outside of all groups, the number of the group in one, and in several the number of
/// a class, which stands for the set of them. Groups are numbered from 1, classes from -1 down, in each dimension for
/// itself, so that no number of a group is that of a class.
class PhysicalGroups {
public:
  /// Sets of two groups or more, ascending, by their numbers.
  using Classes = std::map<std::int32_t, std::vector<std::int32_t>>;

  std::set<GroupName> names;

  /// Tag of what belongs to these groups of dimension `dim` and to no other; a class that is missing is added. Groups
  /// may come in any order, more than once; 0 among them stands for no group.
  std::int32_t tag_of(int dim, std::span<const std::int32_t> groups);
  /// The groups that a tag stands for, ascending; none for 0.
  std::vector<std::int32_t> groups_of(int dim, std::int32_t tag) const;
  /// Says whether what has the tag belongs to the group; 0 stands for what belongs to none.
  bool is_in(int dim, std::int32_t tag, std::int32_t group) const;
  const Classes& classes(int dim) const { return classes_.at(static_cast<std::size_t>(dim)); }

  /// Drops the classes of dimension `dim` that are not among `used`, and numbers the others by their groups, so that
  /// numbers do not depend on the order in which classes were made. Returns the new number of each class that is left.
  std::map<std::int32_t, std::int32_t> renumber(int dim, const std::set<std::int32_t>& used);

  /// Numbers of the groups with this name; none: no group of the dimension has it.
  std::set<std::int32_t> numbers_of(int dim, const std::string& name) const;
  /// Names of a group.
  std::vector<std::string> names_of(int dim, std::int32_t group) const;
  /// A tag in words: "2", "2 (steel)", or "1 (all) + 2 (steel)" for a class.
  std::string text(int dim, std::int32_t tag) const;

  bool operator==(const PhysicalGroups&) const = default;

private:
  std::array<Classes, 4> classes_; ///< shape (dim)
  std::array<std::map<std::vector<std::int32_t>, std::int32_t>, 4>
      numbers_; ///< numbers of the classes by their groups, shape (dim)
};

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/mesh/gmsh.hpp>

namespace rafter::mesh {

namespace {

constexpr std::size_t least_bytes(bool is_binary, std::size_t binary) { return is_binary ? binary : 2; }

std::int32_t group_tag(Cursor& in, std::int64_t physical) {
  // A negative physical group means that it uses the entity with reversed orientation.
  if (physical > INT32_MAX || physical < -INT32_MAX)
    in.fail(fmt::format("the physical group {} is out of range", physical));
  return static_cast<std::int32_t>(std::abs(physical));
}

/// Reads $MeshFormat: "2.2 0 8", and in binary files the integer 1, which shows the byte order.
void read_format(Cursor& in, GmshData& data) {
  const double version = in.number("the version of the format");
  if (version >= 2 && version < 2.3) {
    data.major = 2;
  } else if (std::abs(version - 4.1) < 1e-9) {
    data.major = 4;
  } else {
    in.fail(fmt::format(
        "the format has version {}; 2.2 and 4.1 are supported (gmsh -0 -format msh41 file.msh converts)", version));
  }
  const auto type = in.text_integer("the file type (0 text, 1 binary)");
  if (type != 0 && type != 1) in.fail(fmt::format("the file type is {}; 0 (text) and 1 (binary) exist", type));
  data.is_binary = type == 1;
  const auto data_size = in.text_integer("the data size");
  if (data_size != 8) in.fail(fmt::format("the data size is {}; 8 is supported", data_size));
  if (!data.is_binary) return;
  in.line();
  in.set_binary(true);
  const auto one = in.integer("the byte order mark");
  if (one == 0x01000000)
    in.set_swapped(true);
  else if (one != 1)
    in.fail(fmt::format("the byte order mark is {}; it must be 1 in either byte order", one));
  in.set_binary(false);
}

void read_names(Cursor& in, GmshData& data) {
  const auto count = in.text_count("the number of physical names", 4);
  for (std::size_t i = 0; i < count; ++i) {
    const auto dim = in.text_integer("the dimension of a physical group");
    if (dim < 0 || dim > 3) in.fail(fmt::format("a physical group has dimension {}; 0 to 3 exist", dim));
    const auto tag = group_tag(in, in.text_integer("the number of a physical group"));
    const auto line = in.line();
    const auto begin = line.find('"'), end = line.rfind('"');
    if (begin == std::string_view::npos || begin == end)
      in.fail("expected the name of a physical group in double quotes");
    data.physical_groups.names.insert(
        {static_cast<int>(dim), std::string(line.substr(begin + 1, end - begin - 1)), tag});
  }
}

/// Reads $Entities and $PartitionedEntities of version 4.1, of which only the physical groups matter.
void read_entities(Cursor& in, GmshData& data, bool is_partitioned) {
  if (is_partitioned) {
    in.size("the number of partitions");
    const auto num_ghosts = in.count("the number of ghost entities", least_bytes(data.is_binary, 8));
    for (std::size_t i = 0; i < 2 * num_ghosts; ++i) in.integer("a ghost entity");
  }
  std::array<std::size_t, 4> counts{};
  for (auto& count : counts) count = in.count("the number of entities", least_bytes(data.is_binary, 20));
  for (int dim = 0; dim < 4; ++dim)
    for (std::size_t i = 0; i < counts[static_cast<std::size_t>(dim)]; ++i) {
      const auto entity = in.integer("the tag of an entity");
      if (is_partitioned) {
        in.integer("the dimension of the parent of an entity");
        in.integer("the parent of an entity");
        const auto num_partitions = in.count("the number of partitions of an entity", least_bytes(data.is_binary, 4));
        for (std::size_t k = 0; k < num_partitions; ++k) in.integer("a partition");
      }
      for (int k = 0; k < (dim == 0 ? 3 : 6); ++k) in.number("a coordinate of the box of an entity");
      const auto num_groups = in.count("the number of physical groups of an entity", least_bytes(data.is_binary, 4));
      std::vector<std::int32_t> groups;
      for (std::size_t k = 0; k < num_groups; ++k) groups.push_back(group_tag(in, in.integer("a physical group")));
      if (!groups.empty()) data.entity_tags[{dim, entity}] = data.physical_groups.tag_of(dim, groups);
      if (dim == 0) continue;
      const auto num_bounding = in.count("the number of bounding entities", least_bytes(data.is_binary, 4));
      for (std::size_t k = 0; k < num_bounding; ++k) in.integer("a bounding entity");
    }
}

void read_coordinates(Cursor& in, GmshData& data) {
  for (int d = 0; d < 3; ++d) {
    const double x = in.number("a coordinate of a node");
    if (!std::isfinite(x)) in.fail("a coordinate of a node is not a finite number");
    data.coordinates.push_back(x);
  }
}

void finish_nodes(Cursor& in, GmshData& data) {
  const auto twice = data.rows.finish();
  if (twice != -1) in.fail(fmt::format("node {} is given twice", twice));
  data.has_nodes = true;
}

/// Reads $Nodes of version 2, or $ParametricNodes, which have the dimension, the entity and its parameters behind the
/// coordinates.
void read_nodes_2(Cursor& in, GmshData& data, bool is_parametric) {
  const auto count = in.text_count("the number of nodes", data.is_binary ? 28 : 8);
  if (data.is_binary) in.line();
  in.set_binary(data.is_binary);
  data.rows.reserve(count);
  data.coordinates.reserve(3 * count);
  for (std::size_t i = 0; i < count; ++i) {
    data.rows.add(in.integer("the number of a node"));
    read_coordinates(in, data);
    if (!is_parametric) continue;
    const auto dim = in.integer("the dimension of the entity of a node");
    in.integer("the entity of a node");
    const int num_parameters = dim == 1 || dim == 2 ? static_cast<int>(dim) : 0;
    for (int k = 0; k < num_parameters; ++k) in.number("a parameter of a node");
  }
  finish_nodes(in, data);
}

void read_nodes_4(Cursor& in, GmshData& data) {
  const auto num_blocks = in.count("the number of node blocks", least_bytes(data.is_binary, 20));
  const auto total = in.count("the number of nodes", least_bytes(data.is_binary, 32));
  in.size("the smallest node number");
  in.size("the largest node number");
  data.rows.reserve(total);
  data.coordinates.reserve(3 * total);
  for (std::size_t b = 0; b < num_blocks; ++b) {
    const auto dim = in.integer("the dimension of a node block");
    if (dim < 0 || dim > 3) in.fail(fmt::format("a node block has dimension {}; 0 to 3 exist", dim));
    in.integer("the entity of a node block");
    const bool is_parametric = in.integer("whether nodes have parameters") != 0;
    const auto count = in.count("the number of nodes in a block", least_bytes(data.is_binary, 32));
    for (std::size_t i = 0; i < count; ++i) data.rows.add(in.size("the number of a node"));
    for (std::size_t i = 0; i < count; ++i) {
      read_coordinates(in, data);
      for (std::int64_t k = 0; is_parametric && k < dim; ++k) in.number("a parameter of a node");
    }
  }
  if (data.rows.size() != total) in.fail(fmt::format("{} nodes are announced, {} are given", total, data.rows.size()));
  finish_nodes(in, data);
}

/// Makes room for `count` more values without as many reallocations as there are blocks.
template <class T> void reserve_more(std::vector<T>& values, std::size_t count) {
  const std::size_t needed = values.size() + count;
  if (needed > values.capacity()) values.reserve(std::max(needed, 2 * values.capacity()));
}

GmshElements& elements_of(Cursor& in, GmshData& data, std::int64_t number) {
  if (!data.has_nodes) in.fail("$Elements comes before $Nodes");
  const auto type = gmsh_type(number);
  if (!type) {
    const auto description = describe_unsupported_gmsh_type(number);
    in.fail(fmt::format("element type {} ({}) is not supported; complete Lagrange points, lines, triangles, "
                        "quadrilaterals, tetrahedra, "
                        "hexahedra, prisms and pyramids of order 1 to {} are{}",
                        number, description.empty() ? "unknown" : description, max_gmsh_degree,
                        description.find("serendipity") == std::string_view::npos
                            ? ""
                            : " (Gmsh option Mesh.SecondOrderIncomplete = 0)"));
  }
  auto& elements = data.elements[type->number];
  elements.type = *type;
  return elements;
}

void read_element_nodes(Cursor& in, const GmshData& data, GmshElements& elements, std::int64_t element) {
  for (int k = 0; k < elements.type.num_nodes; ++k) {
    const auto tag = data.major == 2 ? in.integer("a node of an element") : in.size("a node of an element");
    const auto row = data.rows.row(tag);
    if (row == -1) in.fail(fmt::format("element {} has node {}, which is not in $Nodes", element, tag));
    elements.nodes.push_back(row);
  }
}

/// Reads the tags of an element in version 2: the physical group, the entity, partitions.
void read_element_tags(Cursor& in, GmshElements& elements, std::size_t count) {
  std::int64_t physical = 0, entity = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto tag = in.integer("a tag of an element");
    if (k == 0) physical = tag;
    if (k == 1) entity = tag;
  }
  elements.tags.push_back(group_tag(in, physical));
  elements.entities.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(entity, INT32_MIN, INT32_MAX)));
}

void read_elements_2(Cursor& in, GmshData& data) {
  const auto total = in.text_count("the number of elements", data.is_binary ? 8 : 6);
  if (data.is_binary) in.line();
  in.set_binary(data.is_binary);
  GmshElements* last = nullptr; // successive elements mostly have one type
  for (std::size_t done = 0; done < total;) {
    if (!data.is_binary) {
      const auto number = in.integer("the number of an element");
      const auto type = in.integer("the type of an element");
      if (last == nullptr || last->type.number != type) last = &elements_of(in, data, type);
      auto& elements = *last;
      read_element_tags(in, elements, in.checked_count(in.integer("the number of tags"), "the number of tags", 2));
      read_element_nodes(in, data, elements, number);
      ++done;
      continue;
    }
    auto& elements = elements_of(in, data, in.integer("the type of a block of elements"));
    const auto count = in.checked_count(in.integer("the size of a block"), "the size of a block of elements", 8);
    const auto num_tags = in.checked_count(in.integer("the number of tags"), "the number of tags", 4);
    if (count == 0 || count > total - done)
      in.fail(fmt::format("a block has {} elements, where 1 to {} are left", count, total - done));
    for (std::size_t i = 0; i < count; ++i, ++done) {
      const auto number = in.integer("the number of an element");
      read_element_tags(in, elements, num_tags);
      read_element_nodes(in, data, elements, number);
    }
  }
  data.has_elements = true;
}

void read_elements_4(Cursor& in, GmshData& data) {
  const auto num_blocks = in.count("the number of element blocks", least_bytes(data.is_binary, 20));
  const auto total = in.count("the number of elements", least_bytes(data.is_binary, 16));
  in.size("the smallest element number");
  in.size("the largest element number");
  std::size_t done = 0;
  for (std::size_t b = 0; b < num_blocks; ++b) {
    const auto dim = in.integer("the dimension of an element block");
    const auto entity = in.integer("the entity of an element block");
    auto& elements = elements_of(in, data, in.integer("the type of an element block"));
    if (dim != element::dimension(elements.type.shape))
      in.fail(fmt::format("a block of dimension {} has elements of type {}, a {}", dim, elements.type.number,
                          element::name(elements.type.shape)));
    const auto found = data.entity_tags.find({static_cast<int>(dim), entity});
    const auto tag = found == data.entity_tags.end() ? 0 : found->second;
    const auto count = in.count("the number of elements in a block", least_bytes(data.is_binary, 16));
    const auto num_nodes = static_cast<std::size_t>(elements.type.num_nodes);
    // No more than the file can hold, whatever number it gives.
    const std::size_t most = in.remaining() / ((num_nodes + 1) * least_bytes(data.is_binary, 8)) + 1;
    reserve_more(elements.nodes, std::min(count, most) * num_nodes);
    for (std::size_t i = 0; i < count; ++i) read_element_nodes(in, data, elements, in.size("the number of an element"));
    elements.tags.insert(elements.tags.end(), count, tag);
    elements.entities.insert(elements.entities.end(), count, static_cast<std::int32_t>(entity));
    done += count;
  }
  if (done != total) in.fail(fmt::format("{} elements are announced, {} are given", total, done));
  data.has_elements = true;
}

/// Reads a section with this name; returns false if it is of an unknown kind.
bool read_section(Cursor& in, GmshData& data, std::string_view name) {
  const bool is_4 = data.major == 4;
  if (name == "$PhysicalNames") {
    read_names(in, data);
  } else if (is_4 && (name == "$Entities" || name == "$PartitionedEntities")) {
    if (data.is_binary) in.line();
    in.set_binary(data.is_binary);
    read_entities(in, data, name == "$PartitionedEntities");
  } else if (name == "$Nodes" && !data.has_nodes) {
    if (is_4 && data.is_binary) in.line();
    in.set_binary(is_4 && data.is_binary);
    is_4 ? read_nodes_4(in, data) : read_nodes_2(in, data, false);
  } else if (!is_4 && name == "$ParametricNodes" && !data.has_nodes) {
    read_nodes_2(in, data, true);
  } else if (name == "$Elements" && !data.has_elements) {
    if (is_4 && data.is_binary) in.line();
    in.set_binary(is_4 && data.is_binary);
    is_4 ? read_elements_4(in, data) : read_elements_2(in, data);
  } else if (name == "$Nodes" || name == "$Elements" || name == "$MeshFormat") {
    in.fail(fmt::format("a second section {}", name));
  } else {
    return false;
  }
  in.set_binary(false);
  return true;
}

} // namespace

std::int64_t NodeRows::finish() {
  if (tags_.empty()) return -1;
  constexpr std::uint64_t most_per_tag = 8; // entries of the dense table
  const auto [least, largest] = std::ranges::minmax(tags_);
  least_ = least;
  const auto range = static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(least);
  if (range < most_per_tag * tags_.size()) {
    dense_.assign(static_cast<std::size_t>(range) + 1, -1);
    for (std::size_t i = 0; i < tags_.size(); ++i) {
      auto& row = dense_[static_cast<std::size_t>(tags_[i] - least)];
      if (row >= 0) return tags_[i];
      row = static_cast<std::int32_t>(i);
    }
    return -1;
  }
  sorted_.reserve(tags_.size());
  for (std::size_t i = 0; i < tags_.size(); ++i) sorted_.emplace_back(tags_[i], static_cast<std::int32_t>(i));
  std::sort(sorted_.begin(), sorted_.end());
  const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  return twice == sorted_.end() ? -1 : twice->first;
}

std::int32_t NodeRows::row_of_sorted(std::int64_t tag) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<std::int64_t, std::int32_t>(tag, -1));
  return found != sorted_.end() && found->first == tag ? found->second : -1;
}

GmshData read_gmsh_sections(Cursor& in) {
  GmshData data;
  while (!in.at_end()) {
    const auto name = in.word("a section");
    if (!name.starts_with('$') || name.starts_with("$End"))
      in.fail(fmt::format("expected a section such as $Nodes, found '{}'", printable(name)));
    const std::string end = "$End" + std::string(name.substr(1));
    if (data.major == 0 && name != "$MeshFormat" && name != "$Comments") {
      if (name == "$NOD")
        in.fail("the format is Gmsh 1; 2.2 and 4.1 are supported (gmsh -0 -format msh41 file.msh converts)");
      in.fail(fmt::format("expected $MeshFormat, found '{}'", printable(name)));
    }
    if (data.major == 0 && name == "$MeshFormat") {
      read_format(in, data);
    } else if (!read_section(in, data, name)) {
      if (!in.skip_past(end))
        in.fail(fmt::format("the section {} has no {}: the file is truncated", printable(name), printable(end)));
      continue;
    }
    in.expect(end);
  }
  return data;
}

} // namespace rafter::mesh

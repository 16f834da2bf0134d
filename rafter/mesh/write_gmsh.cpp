// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <span>

#include <fmt/format.h>
#include <rafter/mesh/gmsh_contents.hpp>
#include <rafter/mesh/writers.hpp>

namespace rafter::mesh {

namespace {

/// The counterpart of Cursor. Numbers are written as text, separated by blanks and lines, or as bytes (4-byte integers,
/// 8-byte sizes and doubles in the byte order of this machine), so that the same code writes a section in both kinds of
/// files.
class GmshFile {
public:
  explicit GmshFile(bool is_binary) : is_binary_(is_binary) {}
  bool is_binary() const { return is_binary_; }

  GmshFile& integer(std::int64_t value) { return put(static_cast<std::int32_t>(value)); }
  GmshFile& size(std::size_t value) { return put(static_cast<std::uint64_t>(value)); }
  GmshFile& number(double value) { return put(value); }
  /// Ends a line of numbers; binary files have no lines.
  void end_line() {
    if (!is_binary_) line("");
  }
  /// Writes a line of text, in either kind of file.
  void line(std::string_view text) {
    bytes_.append(text).push_back('\n');
    is_line_begun_ = false;
  }
  /// Writes the line that closes a section of numbers.
  void end_section(std::string_view name) {
    if (is_binary_) line("");
    line(name);
  }
  std::string take() { return std::move(bytes_); }

private:
  template <class T> GmshFile& put(T value) {
    if (is_binary_) {
      const auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
      bytes_.append(raw.data(), raw.size());
    } else {
      // the shortest text from which the same number is read back
      fmt::format_to(std::back_inserter(bytes_), "{}{}", is_line_begun_ ? " " : "", value);
      is_line_begun_ = true;
    }
    return *this;
  }

  std::string bytes_;
  bool is_binary_ = false, is_line_begun_ = false;
};

void write_format(std::string_view version, GmshFile& file) {
  file.line("$MeshFormat");
  file.line(fmt::format("{} {} 8", version, file.is_binary() ? 1 : 0));
  if (file.is_binary()) file.integer(1).line(""); // readers recognise the byte order by this 1
  file.line("$EndMeshFormat");
}

void write_names(const Mesh& mesh, GmshFile& file) {
  const auto& names = mesh.physical_groups.names;
  if (names.empty()) return;
  file.line(fmt::format("$PhysicalNames\n{}", names.size()));
  for (const auto& name : names) file.line(fmt::format("{} {} \"{}\"", name.dim, name.number, name.name));
  file.line("$EndPhysicalNames");
}

/// Low and high corner of the whole mesh, which serve as bounding box of all entities.
std::array<double, 6> bounding_box(const GmshContents& contents) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::array<double, 6> box{infinity, infinity, infinity, -infinity, -infinity, -infinity};
  for (std::size_t i = 0; i < contents.coordinates.size(); ++i) {
    box[i % 3] = std::min(box[i % 3], contents.coordinates[i]);
    box[3 + i % 3] = std::max(box[3 + i % 3], contents.coordinates[i]);
  }
  return box;
}

void write_entities_4(const GmshContents& contents, GmshFile& file) {
  // Physical groups by (dimension, entity), which is the order of the section.
  std::map<std::pair<int, int>, std::span<const std::int32_t>> entities;
  std::array<std::size_t, 4> counts{};
  for (const auto& block : contents.blocks)
    if (entities.emplace(std::pair(block.dim(), block.entity), block.groups).second)
      ++counts[static_cast<std::size_t>(block.dim())];
  file.line("$Entities");
  for (const auto count : counts) file.size(count);
  file.end_line();
  const auto box = bounding_box(contents);
  for (const auto& [place, groups] : entities) {
    const bool is_point = place.first == 0;
    file.integer(place.second);
    for (std::size_t i = 0; i < (is_point ? 3 : 6); ++i) file.number(box[i]);
    file.size(groups.size());
    for (const auto group : groups) file.integer(group);
    if (!is_point) file.size(0); // number of bounding entities
    file.end_line();
  }
  file.end_section("$EndEntities");
}

void write_point(const GmshContents& contents, std::size_t node, GmshFile& file) {
  for (std::size_t d = 0; d < 3; ++d) file.number(contents.coordinates[3 * node + d]);
  file.end_line();
}

void write_nodes_4(const Mesh& mesh, const GmshContents& contents, GmshFile& file) {
  const auto count = contents.num_nodes();
  file.line("$Nodes");
  file.size(1).size(count).size(1).size(count).end_line();
  file.integer(mesh.tdim).integer(1).integer(0).size(count).end_line(); // all nodes belong to the first entity of the
                                                                        // cells
  for (std::size_t i = 1; i <= count; ++i) file.size(i).end_line();
  for (std::size_t i = 0; i < count; ++i) write_point(contents, i, file);
  file.end_section("$EndNodes");
}

void write_elements_4(const GmshContents& contents, GmshFile& file) {
  const auto total = contents.num_elements();
  file.line("$Elements");
  file.size(contents.blocks.size()).size(total).size(1).size(total).end_line();
  std::size_t number = 0;
  for (const auto& block : contents.blocks) {
    const auto n = static_cast<std::size_t>(block.type.num_nodes);
    file.integer(block.dim()).integer(block.entity).integer(block.type.number).size(block.num_elements()).end_line();
    for (std::size_t i = 0; i < block.nodes.size(); ++i) {
      if (i % n == 0) file.size(++number);
      file.size(static_cast<std::size_t>(block.nodes[i]) + 1);
      if (i % n == n - 1) file.end_line();
    }
  }
  file.end_section("$EndElements");
}

void write_nodes_2(const GmshContents& contents, GmshFile& file) {
  file.line(fmt::format("$Nodes\n{}", contents.num_nodes()));
  for (std::size_t i = 0; i < contents.num_nodes(); ++i) {
    file.integer(static_cast<std::int64_t>(i) + 1);
    write_point(contents, i, file);
  }
  file.end_section("$EndNodes");
}

/// Writes $Elements of version 2: for each element its type, the number of tags, and the tags, which are the physical
/// group (0: none) and the entity. Elements of several groups come once for each. Binary files give type and number of
/// tags once per block, text files for each element.
void write_elements_2(const GmshContents& contents, GmshFile& file) {
  constexpr int num_tags = 2;
  std::size_t total = 0;
  for (const auto& block : contents.blocks)
    total += block.num_elements() * std::max<std::size_t>(block.groups.size(), 1);
  file.line(fmt::format("$Elements\n{}", total));
  std::int64_t number = 0;
  const auto write_block = [&](const GmshBlock& block, std::int32_t group) {
    const auto n = static_cast<std::size_t>(block.type.num_nodes);
    if (file.is_binary())
      file.integer(block.type.number).integer(static_cast<std::int64_t>(block.num_elements())).integer(num_tags);
    for (std::size_t i = 0; i < block.nodes.size(); ++i) {
      if (i % n == 0) {
        file.integer(++number);
        if (!file.is_binary()) file.integer(block.type.number).integer(num_tags);
        file.integer(group).integer(block.entity);
      }
      file.integer(std::int64_t{block.nodes[i]} + 1);
      if (i % n == n - 1) file.end_line();
    }
  };
  for (const auto& block : contents.blocks) {
    if (block.groups.empty()) write_block(block, 0);
    for (const auto group : block.groups) write_block(block, group);
  }
  file.end_section("$EndElements");
}

} // namespace

std::string gmsh_text(const Mesh& mesh, GmshVersion version, bool is_binary) {
  const auto contents = gmsh_contents(mesh);
  GmshFile file(is_binary);
  write_format(version == GmshVersion::v2_2 ? "2.2" : "4.1", file);
  write_names(mesh, file);
  if (version == GmshVersion::v2_2) {
    write_nodes_2(contents, file);
    write_elements_2(contents, file);
  } else {
    write_entities_4(contents, file);
    write_nodes_4(mesh, contents, file);
    write_elements_4(contents, file);
  }
  return file.take();
}

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string_view>

#include <rafter/element/cell.hpp>

namespace rafter::mesh {

/// A complete Lagrange element type of Gmsh.
struct GmshType {
  int number = 0;
  element::Shape shape = element::Shape::point;
  int degree = 1;
  int num_nodes = 1;
};

/// Orders that are read and written.
inline constexpr int max_gmsh_degree = 4;

/// The type with that number in the file; nothing when it is not a supported one.
std::optional<GmshType> gmsh_type(std::int64_t number);
std::optional<GmshType> gmsh_type(element::Shape shape, int degree);

/// What an unsupported type is ("20-node hexahedron, an incomplete (serendipity) element"), for messages; "" when
/// unknown.
std::string_view describe_unsupported_gmsh_type(std::int64_t number);

} // namespace rafter::mesh

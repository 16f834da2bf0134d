// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string_view>

#include <rafter/element/cell.hpp>

namespace rafter::mesh {

/// An element type of Gmsh with complete Lagrange polynomials.
struct GmshType {
  int number = 0;
  element::Shape shape = element::Shape::point;
  int degree = 1;
  int num_nodes = 1;
};

/// Highest degree of elements that are read and written.
inline constexpr int max_gmsh_degree = 4;

/// The type that has this number in files; nothing when it is not supported.
std::optional<GmshType> gmsh_type(std::int64_t number);
std::optional<GmshType> gmsh_type(element::Shape shape, int degree);

/// Words for an unsupported type in messages, such as "20-node hexahedron, an incomplete (serendipity) element"; ""
/// when the number is unknown.
std::string_view describe_unsupported_gmsh_type(std::int64_t number);

} // namespace rafter::mesh

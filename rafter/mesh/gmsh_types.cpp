// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/gmsh_types.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace rafter::mesh {

using element::Shape;

namespace {

/// Supported types, from the Gmsh reference manual, "MSH file format", element types.
constexpr std::array<GmshType, 29> types{{
    {15, Shape::point, 1, 1},          {1, Shape::interval, 1, 2},       {8, Shape::interval, 2, 3},
    {26, Shape::interval, 3, 4},       {27, Shape::interval, 4, 5},      {2, Shape::triangle, 1, 3},
    {9, Shape::triangle, 2, 6},        {21, Shape::triangle, 3, 10},     {23, Shape::triangle, 4, 15},
    {3, Shape::quadrilateral, 1, 4},   {10, Shape::quadrilateral, 2, 9}, {36, Shape::quadrilateral, 3, 16},
    {37, Shape::quadrilateral, 4, 25}, {4, Shape::tetrahedron, 1, 4},    {11, Shape::tetrahedron, 2, 10},
    {29, Shape::tetrahedron, 3, 20},   {30, Shape::tetrahedron, 4, 35},  {5, Shape::hexahedron, 1, 8},
    {12, Shape::hexahedron, 2, 27},    {92, Shape::hexahedron, 3, 64},   {93, Shape::hexahedron, 4, 125},
    {6, Shape::prism, 1, 6},           {13, Shape::prism, 2, 18},        {90, Shape::prism, 3, 40},
    {91, Shape::prism, 4, 75},         {7, Shape::pyramid, 1, 5},        {14, Shape::pyramid, 2, 14},
    {118, Shape::pyramid, 3, 30},      {119, Shape::pyramid, 4, 55},
}};

constexpr std::array<std::pair<int, std::string_view>, 24> unsupported{{
    {16, "8-node quadrilateral, an incomplete (serendipity) element"},
    {17, "20-node hexahedron, an incomplete (serendipity) element"},
    {18, "15-node prism, an incomplete (serendipity) element"},
    {19, "13-node pyramid, an incomplete (serendipity) element"},
    {20, "9-node triangle, an incomplete (serendipity) element"},
    {22, "12-node triangle, an incomplete (serendipity) element"},
    {24, "15-node triangle of order 5, an incomplete (serendipity) element"},
    {32, "22-node tetrahedron, an incomplete (serendipity) element"},
    {39, "12-node quadrilateral, an incomplete (serendipity) element"},
    {40, "16-node quadrilateral of order 4, an incomplete (serendipity) element"},
    {99, "32-node hexahedron, an incomplete (serendipity) element"},
    {100, "44-node hexahedron, an incomplete (serendipity) element"},
    {111, "24-node prism, an incomplete (serendipity) element"},
    {112, "33-node prism, an incomplete (serendipity) element"},
    {125, "21-node pyramid, an incomplete (serendipity) element"},
    {126, "29-node pyramid, an incomplete (serendipity) element"},
    {137, "16-node tetrahedron, an incomplete (serendipity) element"},
    {25, "triangle of order 5"},
    {28, "line of order 5"},
    {38, "quadrilateral of order 5"},
    {31, "tetrahedron of order 5"},
    {94, "hexahedron of order 5"},
    {106, "prism of order 5"},
    {120, "pyramid of order 5"},
}};

} // namespace

std::optional<GmshType> gmsh_type(std::int64_t number) {
  const auto found =
      std::ranges::find(types, number, [](const GmshType& t) { return static_cast<std::int64_t>(t.number); });
  return found == types.end() ? std::nullopt : std::optional(*found);
}

std::optional<GmshType> gmsh_type(Shape shape, int degree) {
  const auto found =
      std::ranges::find_if(types, [=](const GmshType& t) { return t.shape == shape && t.degree == degree; });
  return found == types.end() ? std::nullopt : std::optional(*found);
}

std::string_view describe_unsupported_gmsh_type(std::int64_t number) {
  const auto found =
      std::ranges::find(unsupported, number, [](const auto& t) { return static_cast<std::int64_t>(t.first); });
  return found == unsupported.end() ? "" : found->second;
}

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <rafter/mesh/describe.hpp>

#include <tests/support/space_meshes.hpp>

/// Makes boxes with identified sides.
namespace rafter::test {

/// Returns the edge lengths that box() uses.
inline std::vector<double> box_size(int dim) {
  const std::array<double, 3> size{1.0, 0.75, 1.25};
  return {size.begin(), size.begin() + dim};
}

/// Returns the axes along which the sides of a box of `box_shapes` match, in the order in which tests identify them.
/// Those of a mixed box do not match along x, where its layers have different shapes.
inline std::vector<int> periodic_axes(const std::string& shape) {
  if (shape == "mixed") return {1, 2};
  std::vector<int> axes{0, 1, 2};
  axes.resize(static_cast<std::size_t>(box_dimension(shape)));
  return axes;
}

/// Returns the mesh of a box with the sides across these axes identified.
inline mesh::Mesh identified(const mesh::Mesh& mesh, std::span<const int> axes) {
  const std::string names = "xyz";
  std::vector<mesh::PeriodicPair> pairs;
  for (const int axis : axes) {
    const std::string name(1, names[static_cast<std::size_t>(axis)]);
    pairs.push_back({.from = {name + "min"}, .to = {name + "max"}});
  }
  return mesh.periodic(pairs);
}

/// Returns a box of `box_shapes` with n cells a side (mixed: four along x), with vertices and cells shuffled if there
/// is a seed.
inline mesh::Mesh periodic_box(const std::string& shape, int n, std::span<const int> axes, int geometry_degree = 1,
                               unsigned seed = 0) {
  const auto mesh = box(shape, n, geometry_degree);
  return identified(seed == 0 ? mesh : scrambled(mesh, seed), axes);
}

/// Returns a box whose geometry nodes are moved by a smooth function with the periods of the box; nodes on the two
/// sides that are not identified move, too.
inline mesh::Mesh wavy_box(const std::string& shape, int n, int geometry_degree, std::span<const int> axes) {
  auto mesh = box(shape, n, geometry_degree);
  mesh.source += " (wavy)";
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const auto size = box_size(mesh.gdim);
  for (std::size_t i = 0; i < mesh.points.size(); i += dim) {
    double wave = 0;
    for (const int axis : axes) {
      const auto d = static_cast<std::size_t>(axis);
      wave += std::sin(2 * std::numbers::pi * mesh.points[i + d] / size[d] + 0.3 * static_cast<double>(d + 1));
    }
    for (std::size_t d = 0; d < dim; ++d) mesh.points[i + d] += 0.02 * size[d] * wave;
  }
  return mesh;
}

/// Coordinates modulo the periods of the box along the given axes, rounded so that they can be compared.
using Place = std::vector<std::int64_t>;
inline Place place_modulo_periods(std::span<const double> x, std::span<const int> axes) {
  constexpr double per_unit = 1e7;
  const auto size = box_size(static_cast<int>(x.size()));
  Place place;
  for (const double coordinate : x) place.push_back(std::llround(per_unit * (coordinate + 1)));
  for (const int axis : axes) {
    const auto d = static_cast<std::size_t>(axis);
    // The shift by 1 makes points on the seam round to the same side.
    place[d] = (place[d] + 1) % std::llround(per_unit * size[d]);
  }
  return place;
}

} // namespace rafter::test

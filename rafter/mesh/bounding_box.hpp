// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// The smallest box along the axes that holds points, which have zeros where the mesh has no axis.
struct BoundingBox {
  std::array<double, 3> low, high;
  BoundingBox() {
    low.fill(std::numeric_limits<double>::max());
    high.fill(std::numeric_limits<double>::lowest());
  }
  void add(const std::array<double, 3>& x) {
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], x[d]);
      high[d] = std::max(high[d], x[d]);
    }
  }
  double length(std::size_t axis) const { return high[axis] - low[axis]; }
};

/// The box around all geometry nodes.
inline BoundingBox bounding_box(const Mesh& mesh) {
  BoundingBox result;
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t i = 0; i < mesh.points.size(); i += dim) {
    std::array<double, 3> x{};
    std::copy_n(mesh.points.begin() + static_cast<std::ptrdiff_t>(i), dim, x.begin());
    result.add(x);
  }
  return result;
}

} // namespace rafter::mesh

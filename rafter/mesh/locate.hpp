// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// A point of a cell.
struct CellPoint {
  std::int32_t group = 0, cell = 0;
  std::vector<double> reference; ///< coordinates in the reference cell, shape (tdim)
};

/// The first cell that holds the point x, shape (gdim), inside or on its boundary to rounding; nothing outside of the
/// mesh. Looks at all cells, and inverts the maps of those near by with Newton's method: for few points.
std::optional<CellPoint> locate(const Mesh& mesh, std::span<const double> x);

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
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
/// mesh. Looks at all cells, and inverts the maps of those near by with Newton's method: for few points. Throws
/// InputError for a part of a mesh, as the locator below does.
std::optional<CellPoint> locate(const Mesh& mesh, std::span<const double> x);

/// Finds the cells of many points. The boxes around the cells are in a tree, so that a search looks at few of them.
class PointLocator {
public:
  /// The mesh must outlive the locator.
  explicit PointLocator(const Mesh& mesh);
  ~PointLocator();
  PointLocator(const PointLocator&) = delete;
  PointLocator& operator=(const PointLocator&) = delete;

  std::optional<CellPoint> find(std::span<const double> x) const; ///< see locate()

private:
  class Cells;
  std::unique_ptr<const Cells> cells_;
};

} // namespace rafter::mesh

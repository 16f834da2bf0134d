// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rafter/base/aligned.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// The order of a Hilbert curve through the centroids of the cells of a group. The lattice of the curve is scaled by
/// the cells' median extents, so that in structured parts successive 2^dim cells are 2 x 2 x 2 clusters (2 x 2 in 2D).
/// It keeps a reference to the mesh.
class VisitingOrder {
public:
  VisitingOrder(const Mesh& mesh, int group);
  ~VisitingOrder();

  /// Returns some different cells of the group in order. The children of one refined cell always stay together.
  std::vector<std::int32_t> of_cells(std::vector<std::int32_t> cells) const;
  /// Returns the places along the curve of the centres of clusters of `size` cells each, shape (cluster).
  base::RawVector<std::uint64_t> places(std::span<const std::int32_t> cells, std::size_t size) const;

private:
  class Corners;
  class Curve;
  const Mesh& mesh_;
  const CellGroup& group_;
  std::unique_ptr<const Corners> corners_;
  std::unique_ptr<const Curve> curve_;
};

/// Returns all cells of a group in that order.
std::vector<std::int32_t> visiting_order(const Mesh& mesh, int group);

} // namespace rafter::mesh

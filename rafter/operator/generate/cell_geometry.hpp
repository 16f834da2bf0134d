// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/generate/domain.hpp>

namespace rafter::op {

/// Cell geometry is what kernels read of the geometry of cells, batch by batch. The mesh and the cells of which it is
/// made must outlive it.
class CellGeometry {
public:
  enum class Kind : std::uint8_t {
    maps, ///< coefficients of maps that are not isoparametric, shape (mode, axis, cell); modes as kernel::map_modes
    nodes ///< geometry nodes, shape (node, axis, cell)
  };
  CellGeometry(const mesh::Mesh& mesh, const BatchedCells& cells, Kind kind);
  /// Takes the kind that kernels on these cells read.
  CellGeometry(const mesh::Mesh& mesh, const BatchedCells& cells)
      : CellGeometry(mesh, cells, cells.map == mesh::MapKind::isoparametric ? Kind::nodes : Kind::maps) {}

  Kind kind() const { return kind_; }
  std::size_t numbers_per_batch() const;
  /// Writes the numbers of a batch. `points` is a work array of the caller: several threads may write at a time.
  void write(std::int32_t batch, std::vector<double>& points, double* to) const;

private:
  /// A vertex has this weight in a mode.
  struct Term {
    std::size_t vertex = 0;
    double weight = 0;
  };
  template <std::size_t dim> void gather(std::int32_t batch, double* points) const;

  Kind kind_;
  const double* points_;
  const mesh::CellGroup& group_;
  std::span<const std::int32_t> cells_;
  std::size_t dim_, cells_per_batch_, num_nodes_;
  std::vector<std::size_t> nodes_;       ///< local nodes that are read: all of them, or those at the vertices
  std::vector<std::vector<Term>> modes_; ///< shape (mode)
};

} // namespace rafter::op

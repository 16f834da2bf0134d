// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/parallel_neighbours.hpp>

#include <array>
#include <utility>

#include <rafter/base/parallel.hpp>

namespace rafter::mesh {

ParallelNeighbours::ParallelNeighbours(const Mesh& mesh, int group, Sides sides)
    : vertices_(mesh.groups[static_cast<std::size_t>(group)].vertices),
      dim_(element::dimension(mesh.groups[static_cast<std::size_t>(group)].shape)),
      num_vertices_(std::size_t{1} << dim_) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim_); ++axis)
    for (std::size_t v = 0, n = 0; n < 4; v = (v + 1) % num_vertices_)
      if ((v & (std::size_t{1} << axis)) != 0) facets_[axis][n++] = v;
  const std::array tables{&upper_, &lower_};
  base::run_parallel(sides == Sides::both ? 2 : 1, [&](std::int64_t i) {
    *tables[static_cast<std::size_t>(i)] = cells_at(mesh, i == 0 ? 0 : num_vertices_ - 1);
  });
}

ParallelNeighbours::CellsOfVertices ParallelNeighbours::cells_at(const Mesh& mesh, std::size_t corner) const {
  CellsOfVertices result{.first = std::vector<std::int32_t>(static_cast<std::size_t>(mesh.num_vertices), -1),
                         .next = std::vector<std::int32_t>(static_cast<std::size_t>(num_cells()))};
  for (std::size_t cell = result.next.size(); cell-- > 0;) {
    auto& first = result.first[static_cast<std::size_t>(vertices_[cell * num_vertices_ + corner])];
    result.next[cell] = std::exchange(first, static_cast<std::int32_t>(cell));
  }
  return result;
}

} // namespace rafter::mesh

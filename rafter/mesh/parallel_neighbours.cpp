// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/parallel_neighbours.hpp>

#include <utility>

#include <rafter/base/parallel.hpp>

namespace rafter::mesh {

ParallelNeighbours::ParallelNeighbours(const Mesh& mesh, int group)
    : vertices_(mesh.groups[static_cast<std::size_t>(group)].vertices),
      dim_(element::dimension(mesh.groups[static_cast<std::size_t>(group)].shape)),
      num_vertices_(std::size_t{1} << dim_), first_(static_cast<std::size_t>(mesh.num_vertices), -1),
      next_(mesh.groups[static_cast<std::size_t>(group)].tags.size()),
      across_(next_.size() * 2 * static_cast<std::size_t>(dim_), -1) {
  for (std::size_t cell = next_.size(); cell-- > 0;) {
    auto& first = first_[static_cast<std::size_t>(vertices_[cell * num_vertices_])];
    next_[cell] = std::exchange(first, static_cast<std::int32_t>(cell));
  }
  base::Parts(num_cells()).run([this](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto cell = static_cast<std::int32_t>(begin); cell < end; ++cell)
      for (int axis = 0; axis < dim_; ++axis) across_[place(cell, axis, 1)] = find_above(cell, axis);
  });
  for (std::int32_t cell = 0; cell < num_cells(); ++cell)
    for (int axis = 0; axis < dim_; ++axis)
      if (const auto above = beside(cell, axis, 1); above >= 0) across_[place(above, axis, 0)] = cell;
}

std::int32_t ParallelNeighbours::find_above(std::int32_t cell, int axis) const {
  const auto end = vertices_of(cell)[std::size_t{1} << axis];
  auto other = first_[static_cast<std::size_t>(end)];
  for (int candidate = 0; other >= 0 && candidate < most_candidates; ++candidate) {
    if (continues(cell, other, axis)) return other;
    other = next_[static_cast<std::size_t>(other)];
  }
  return -1;
}

bool ParallelNeighbours::continues(std::int32_t below, std::int32_t above, int axis) const {
  const std::size_t bit = std::size_t{1} << axis;
  const auto here = vertices_of(below), there = vertices_of(above);
  for (std::size_t v = 0; v < num_vertices_; ++v)
    if ((v & bit) != 0 && here[v] != there[v ^ bit]) return false;
  return true;
}

} // namespace rafter::mesh

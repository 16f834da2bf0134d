// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/visiting_order.hpp>

#include <tests/support/periodic_meshes.hpp>

/// The cells of these meshes belong to several virtual processes.
namespace rafter::test {

using Process = std::shared_ptr<const comm::Communicator>;

/// A process gets a cluster of cells, so that some of them have no neighbours on other processes, or cells at random.
enum class Parts : std::uint8_t { clusters, shuffled };
inline constexpr std::array all_parts{Parts::clusters, Parts::shuffled};

/// Gives each process nearly the same number of cells.
inline mesh::CellRanks cell_ranks(const mesh::Mesh& mesh, int num_ranks, Parts parts, unsigned seed = 1) {
  (void)mesh.topology(); // threads that share the mesh must not be the first to ask for its topology
  std::vector<std::pair<std::size_t, std::size_t>> cells; // pairs of group and cell
  mesh::CellRanks ranks;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    ranks.emplace_back(mesh.groups[g].tags.size());
    for (const auto cell : mesh::visiting_order(mesh, static_cast<std::int32_t>(g)))
      cells.emplace_back(g, static_cast<std::size_t>(cell));
  }
  std::mt19937 random(seed);
  if (parts == Parts::shuffled) std::ranges::shuffle(cells, random);
  // The ranks are shuffled, since neighbours are not always the next rank.
  std::vector<int> numbers(static_cast<std::size_t>(num_ranks));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::shuffle(numbers, random);
  for (std::size_t i = 0; i < cells.size(); ++i)
    ranks[cells[i].first][cells[i].second] = numbers[i * static_cast<std::size_t>(num_ranks) / cells.size()];
  return ranks;
}

/// Returns a box of `box_shapes` with enough cells for 8 processes.
inline mesh::Mesh rank_box(const std::string& shape) {
  return scrambled(box(shape, box_dimension(shape) == 1 ? 12 : box_dimension(shape) == 2 ? 5 : 0), 3);
}
/// Returns a shuffled box with so many axes identified, the last ones first.
inline mesh::Mesh periodic_rank_box(const std::string& shape, std::size_t num_axes = 1) {
  const auto axes = periodic_axes(shape);
  const int dim = box_dimension(shape);
  return periodic_box(shape,
                      dim == 1   ? 12
                      : dim == 2 ? 3
                                 : 2,
                      std::span(axes).last(std::min(num_axes, axes.size())), 1, 3);
}
inline mesh::Mesh curved_rank_box(const std::string& shape) {
  return curved_box(shape, 2, box_dimension(shape) == 1 ? 12 : box_dimension(shape) == 2 ? 5 : 0);
}

} // namespace rafter::test

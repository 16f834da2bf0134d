// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/pieces.hpp>

#include <numeric>
#include <span>

namespace rafter::mesh {
namespace {

/// Disjoint sets of vertices, by union to the smaller number with path halving.
class DisjointSets {
public:
  explicit DisjointSets(std::int32_t size) : parent_(static_cast<std::size_t>(size)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  std::int32_t find(std::int32_t i) {
    while (at(i) != i) i = at(i) = at(at(i));
    return i;
  }
  void unite(std::int32_t i, std::int32_t j) {
    i = find(i);
    j = find(j);
    if (i < j)
      at(j) = i;
    else
      at(i) = j;
  }

private:
  std::int32_t& at(std::int32_t i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<std::int32_t> parent_;
};

std::span<const std::int32_t> cell_vertices(const CellGroup& group, std::size_t cell) {
  const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
  return std::span(group.vertices).subspan(cell * n, n);
}

} // namespace

CellMask make_cell_mask(const Mesh& mesh, bool value) {
  CellMask mask;
  for (const auto& group : mesh.groups) mask.emplace_back(group.tags.size(), value ? 1 : 0);
  return mask;
}

Pieces connected_pieces(const Mesh& mesh, const CellMask& cells) {
  DisjointSets vertices(mesh.num_vertices);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    for (std::size_t cell = 0; cell < cells[g].size(); ++cell) {
      if (cells[g][cell] == 0) continue;
      const auto of_cell = cell_vertices(mesh.groups[g], cell);
      for (const auto vertex : of_cell.subspan(1)) vertices.unite(of_cell[0], vertex);
    }

  Pieces pieces;
  std::vector<std::int32_t> number(static_cast<std::size_t>(mesh.num_vertices), -1); // of the piece with this root
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    auto& of_cell = pieces.of_cell.emplace_back(cells[g].size(), -1);
    for (std::size_t cell = 0; cell < of_cell.size(); ++cell) {
      if (cells[g][cell] == 0) continue;
      auto& piece = number[static_cast<std::size_t>(vertices.find(cell_vertices(mesh.groups[g], cell)[0]))];
      if (piece < 0) piece = pieces.count++;
      of_cell[cell] = piece;
    }
  }
  return pieces;
}

} // namespace rafter::mesh

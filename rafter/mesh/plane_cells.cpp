// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/plane_cells.hpp>

#include <algorithm>
#include <set>

namespace rafter::mesh {

namespace {

/// Twice the signed area of the polygon through the corners; for lines the signed length.
double signed_size(const RawCells& cells, std::size_t num_nodes, std::size_t cell,
                   const std::vector<double>& coordinates) {
  const auto corner = [&](std::size_t k) {
    return coordinates.data() + 3 * static_cast<std::size_t>(cells.nodes[cell * num_nodes + k]);
  };
  const auto num_corners = static_cast<std::size_t>(element::num_vertices(cells.shape));
  if (num_corners == 2) return corner(1)[0] - corner(0)[0];
  double area = 0;
  for (std::size_t k = 0; k < num_corners; ++k) {
    const double *a = corner(k), *b = corner((k + 1) % num_corners);
    area += a[0] * b[1] - a[1] * b[0];
  }
  return area;
}

/// Mirrors the nodes of a cell: positions[k] is the position of the mirror image (axes swapped; for lines, ends
/// swapped) of the k-th lattice point.
std::vector<std::size_t> mirror(element::Shape shape, int degree) {
  const auto lattice = gmsh_lattice(shape, degree);
  const auto index = lattice_index(degree, lattice);
  std::vector<std::size_t> positions;
  for (const auto& p : lattice) {
    const LatticePoint image =
        shape == element::Shape::interval ? LatticePoint{degree - p[0], 0, 0} : LatticePoint{p[1], p[0], 0};
    positions.push_back(static_cast<std::size_t>(index[lattice_key(degree, image)]));
  }
  return positions;
}

} // namespace

void orient_plane_cells(RawMesh& raw) {
  if (raw.tdim == 3) return;
  std::set<std::int32_t> has_positive;
  for (const auto& cells : raw.cells)
    for (std::size_t c = 0; c < cells.entities.size(); ++c)
      if (signed_size(cells, cells.nodes.size() / cells.entities.size(), c, raw.coordinates) >= 0)
        has_positive.insert(cells.entities[c]);
  for (auto& cells : raw.cells) {
    const auto positions = mirror(cells.shape, cells.degree);
    std::vector<std::int32_t> nodes(positions.size());
    for (std::size_t c = 0; c < cells.entities.size(); ++c) {
      if (has_positive.contains(cells.entities[c])) continue;
      const auto first = cells.nodes.begin() + static_cast<std::ptrdiff_t>(c * positions.size());
      std::copy_n(first, positions.size(), nodes.begin());
      for (std::size_t k = 0; k < positions.size(); ++k) first[static_cast<std::ptrdiff_t>(positions[k])] = nodes[k];
    }
  }
}

} // namespace rafter::mesh

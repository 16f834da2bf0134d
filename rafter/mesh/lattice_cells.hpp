// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/mesh/lattice.hpp>

namespace rafter::mesh {

/// The cells between the lattice points of a cell (lattice.hpp), all of its shape, each as the lattice points at its
/// vertices in the order of the reference cell; shape (cell, vertex). On intervals and their products there are
/// degree^d of them. A triangle is divided into triangles of both orientations, a prism into layers of these, a
/// tetrahedron into those at the lattice points of one degree less, upside-down ones, and octahedra of four around the
/// diagonal from edge 01 to the opposite one. Cells that share a face of the large ones divide it in the same way.
/// Throws InputError for pyramids, whose lattices leave tetrahedra between pyramids.
std::vector<LatticePoint> lattice_cells(element::Shape shape, int degree);

} // namespace rafter::mesh

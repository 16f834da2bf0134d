// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/io/vtk_cells.hpp>
#include <rafter/mesh/mesh.hpp>

/// The points of an output file.
namespace rafter::io {

/// Lattice points of the cells of a mesh, where neighbours have one point for each lattice point that they share.
/// Points are numbered in the order in which the cells, group after group, list them first.
struct OutputPoints {
  std::vector<std::vector<std::int32_t>> cells; ///< by group: point of each lattice point, shape (cell, lattice point)
  std::vector<double> coordinates;              ///< shape (point, 3), padded with zeros
  std::int64_t size() const { return static_cast<std::int64_t>(coordinates.size() / 3); }
};

/// `lattices`: the points of one cell of each group, all of the same order. Cells whose geometry disagrees about a
/// place (periodic meshes) have points of their own there; so have cells of different tags where `separates_tags`, for
/// data that jump from tag to tag. Throws InputError when 32 bits do not suffice to number the points.
OutputPoints make_output_points(const mesh::Mesh& mesh, std::span<const std::vector<LatticePoint>> lattices, int order,
                                bool separates_tags);

} // namespace rafter::io

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/io/vtk_cells.hpp>
#include <rafter/mesh/mesh.hpp>

/// The points of an output file are numbered here.
namespace rafter::io {

/// Holds the lattice points of the cells of a mesh; neighbours refer to one point for each lattice point that they
/// share. Points are numbered in the order in which the cells, group after group, list them first.
struct OutputPoints {
  std::vector<std::vector<std::int32_t>> cells; ///< point of each lattice point, shape (group, cell, lattice point)
  std::vector<double> coordinates;              ///< shape (point, 3), padded with zeros
  std::int64_t size() const { return static_cast<std::int64_t>(coordinates.size() / 3); }
};

/// Numbers the points. `lattices` has those of one cell of each group, all of the same order. If cells disagree about
/// the coordinates of a shared entity (periodic meshes), each has points of its own there. So have cells of different
/// tags if `separates_tags` is set, for data that jump from tag to tag. Throws InputError when 32 bits do not suffice
/// to number the points.
OutputPoints make_output_points(const mesh::Mesh& mesh, std::span<const std::vector<LatticePoint>> lattices, int order,
                                bool separates_tags);

} // namespace rafter::io

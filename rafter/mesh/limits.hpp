// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/element/cell.hpp>

/// Sizes of meshes that are about to be made, checked before anything is allocated.
namespace rafter::mesh {

/// Memory that this process may use: the machine's, or less where a control group or `ulimit -v` sets a
/// limit. Bytes.
double available_memory_bytes();

/// Cells of one shape and geometry degree that a mesh will have. Doubles: products of user input may exceed 64 bits.
struct PlannedCells {
  element::Shape shape = element::Shape::hexahedron;
  int degree = 1;
  double count = 0;
};

/// Bytes of the mesh and its topology, while the topology is made.
double estimate_mesh_bytes(double num_vertices, std::span<const PlannedCells> cells);

/// Throws InputError (starting with `what`) when local 32-bit numbers do not suffice for the mesh and its topology,
/// EnvironmentError when the memory of this machine does not. The message gives the numbers.
void require_mesh_fits(const std::string& what, double num_vertices, std::span<const PlannedCells> cells);

} // namespace rafter::mesh

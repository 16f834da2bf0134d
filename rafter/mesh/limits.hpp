// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/element/cell.hpp>

/// Checks the size of a mesh that is about to be made, before anything is allocated.
namespace rafter::mesh {

/// Memory in bytes that this process may use: that of the machine, or less where a control group or `ulimit -v` sets a
/// limit.
double available_memory_bytes();

/// Number of cells of one shape and geometry degree that a mesh will have. It is a double, since products of user input
/// may exceed 64 bits.
struct PlannedCells {
  element::Shape shape = element::Shape::hexahedron;
  int degree = 1;
  double count = 0;
};

/// Memory in bytes for a mesh with its topology, including what is needed only while the topology is made.
double estimate_mesh_bytes(double num_vertices, std::span<const PlannedCells> cells);

/// Throws InputError (whose text starts with `what`) when local 32-bit numbers do not suffice for the mesh and its
/// topology, and EnvironmentError when the memory of this machine does not. The messages give the numbers.
void require_mesh_fits(const std::string& what, double num_vertices, std::span<const PlannedCells> cells);

} // namespace rafter::mesh

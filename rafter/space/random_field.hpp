// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>

#include <rafter/space/function_space.hpp>

namespace rafter::space {

/// Fills a local vector of num_local entries with numbers between -1 and 1, evenly distributed. The number of a dof
/// depends on the seed, the component, the global vertices of the dof's entity (Mesh::global_vertices) and the dof's
/// place in the canonical frame of the entity alone: however vertices, cells and unknowns are numbered locally, it is
/// the same field. Dofs inside a cell are counted as the cell orders its vertices, which is part of the mesh. Entities
/// with the same global vertices, as there are where two cells lie between identified facets, get the same numbers.
/// Throws InputError when the vector has another size.
void fill_random(const FunctionSpace& space, std::uint64_t seed, std::span<double> vector);

} // namespace rafter::space

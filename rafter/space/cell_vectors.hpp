// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

#include <rafter/space/function_space.hpp>

/// Gathers between the vectors of a space (L-vectors) and those of its broken twin (E-vectors), and scatters back, as
/// kernels on global vectors do themselves.
namespace rafter::space {

/// Makes the space of the same element on the same batches in which cells share nothing (SpaceOptions::is_broken).
std::shared_ptr<const FunctionSpace> make_broken(const FunctionSpace& space);

/// Computes cells = G vector, the dofs of every cell. `vector` has space.num_local() entries, `cells` has
/// broken.num_local(). Throws InputError when sizes differ or the spaces do not belong together.
void gather_cells(const FunctionSpace& space, const FunctionSpace& broken, std::span<const double> vector,
                  std::span<double> cells);

/// Computes vector += G^T cells, which sums the numbers that cells have at a shared dof. Sizes and errors are those of
/// gather_cells.
void add_cells(const FunctionSpace& space, const FunctionSpace& broken, std::span<const double> cells,
               std::span<double> vector);

} // namespace rafter::space

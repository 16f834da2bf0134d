// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

#include <rafter/space/function_space.hpp>

/// Between the vectors of a space (L-vectors) and those of its broken twin (E-vectors): the gather and the scatter that
/// kernels on global vectors do themselves.
namespace rafter::space {

/// The space of the same element on the same batches with nothing shared between cells (SpaceOptions::is_broken).
std::shared_ptr<const FunctionSpace> make_broken(const FunctionSpace& space);

/// cells = G vector: every cell's dofs. `vector` has space.num_local entries, `cells` broken.num_local. InputError when
/// sizes differ or the spaces do not belong together.
void gather_cells(const FunctionSpace& space, const FunctionSpace& broken, std::span<const double> vector,
                  std::span<double> cells);

/// vector += G^T cells: what cells have at a shared dof is summed. Sizes and errors as gather_cells.
void add_cells(const FunctionSpace& space, const FunctionSpace& broken, std::span<const double> cells,
               std::span<double> vector);

} // namespace rafter::space

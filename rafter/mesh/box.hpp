// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// What the options of a box say.
namespace rafter::mesh {

/// Edge lengths of a box; the default of BoxOptions means the unit box of every dimension.
std::vector<double> box_size(const BoxOptions& options);

/// Throws InputError for cells, lengths and degrees of which there is no box. Its shape is looked at when it is made.
void require_valid(const BoxOptions& options);

} // namespace rafter::mesh

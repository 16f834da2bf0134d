// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Reads the options of a box.
namespace rafter::mesh {

/// Edge lengths of a box, which are 1 where the options have none.
std::vector<double> box_size(const BoxOptions& options);

/// Says what is wrong with the lengths of the cells of a box where these are so small or large that computing with them
/// under- or overflows; "" where nothing is.
std::string range_fault(const BoxOptions& options);

/// Throws InputError for cells, lengths and degrees of which there is no box. Its shape is looked at when it is made.
void require_valid(const BoxOptions& options);

} // namespace rafter::mesh

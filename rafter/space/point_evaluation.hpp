// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <rafter/space/function_space.hpp>
#include <rafter/space/interpolate.hpp>

namespace rafter::space {

/// Calls a function of x. Throws InputError that names `what`, the component and the point where a value is not finite.
void evaluate_checked(const SpatialFunction& function, std::span<const double> x, std::span<double> values,
                      std::string_view what);

/// Number of a cell among all of the whole mesh, in the order of groups and their cells. Functions that are not
/// periodic have the values of the lowest cell at the images of a node.
std::int64_t global_cell(const mesh::Mesh& mesh, std::int32_t group, std::int32_t cell);

} // namespace rafter::space

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string_view>

#include <rafter/space/function_space.hpp>

namespace rafter::space {

/// Calls a function of x. Throws InputError that names `what`, the component and the point where a value is not finite.
void evaluate_checked(const SpatialFunction& function, std::span<const double> x, std::span<double> values,
                      std::string_view what);

} // namespace rafter::space

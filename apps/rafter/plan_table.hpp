// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/operator/form_builder.hpp>

namespace rafter::app {

/// "12.3 ms"
std::string time_text(double seconds);

/// What an assembled matrix would cost, beside the kernels, and whether it is taken; one line.
std::string forecast_text(const op::MatrixForecast& forecast);

/// The plans that were weighed for a kernel, one line each: predicted and measured time, roofline bound, counts. All
/// that were timed, and the most promising of the rest.
std::string plan_table(const op::KernelInfo& info);

} // namespace rafter::app

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/operator/form_builder.hpp>

namespace rafter::app {

/// What an assembled matrix would cost, beside the kernels, and whether it is taken; one line.
std::string forecast_text(const op::MatrixForecast& forecast);

/// The plan of a kernel by its short name, where it comes from, and the text that replays it.
std::string plan_lines(const op::KernelInfo& info);

/// The plans that were weighed for a kernel, one line each by short name: predicted and measured time, roofline bound,
/// counts. All that were timed, and the most promising of the rest.
std::string plan_table(const op::KernelInfo& info);

} // namespace rafter::app

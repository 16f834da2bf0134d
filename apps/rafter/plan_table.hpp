// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/operator/form_builder.hpp>
#include <rafter/report/plan_list.hpp>

namespace rafter::app {

/// What an assembled matrix would cost, or cost, beside the kernels, and whether it is taken; one line.
std::string forecast_text(const op::MatrixForecast& forecast);

/// The plan of a kernel: its letter in the list, its short name, where it comes from; one line.
std::string plan_line(const op::KernelInfo& info, report::PlanList& plans);

/// The plans that were weighed for a kernel, one line each by short name: predicted and measured time, roofline bound,
/// counts. All that were timed, and the most promising of the rest.
std::string plan_table(const op::KernelInfo& info);
/// What its columns are; one legend serves all tables of a command.
std::string plan_table_legend();

} // namespace rafter::app

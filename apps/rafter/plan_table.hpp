// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/report/plan_list.hpp>

namespace rafter::op {
struct KernelInfo;
struct MatrixForecast;
} // namespace rafter::op

namespace rafter::app {

/// Returns one line with the costs of an assembled matrix beside those of the kernels, and whether it is taken.
std::string forecast_text(const op::MatrixForecast& forecast);

/// Returns one line with the plan of a kernel: its letter in the list, its short name, and where it comes from.
std::string plan_line(const op::KernelInfo& info, report::PlanList& plans);

/// Returns the plans that were weighed for a kernel, one line each by short name: predicted and measured time, roofline
/// bound and counts. Those that were timed are all there, of the others the most promising ones.
std::string plan_table(const op::KernelInfo& info);
/// Returns the legend of the columns, which serves all tables of a command.
std::string plan_table_legend();

} // namespace rafter::app

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/operator_options.hpp>

namespace rafter::problem {

/// Warns of each key of a plan that the user gave (OperatorOptions::plan) and that changes nothing in the kernels of a
/// form: none of them has the value that was asked for, or they are the same without the key. `built` was made with the
/// options.
void warn_of_unused_plan_keys(const std::string& name, const op::GeneratedForm& built,
                              const op::OperatorOptions& options);

} // namespace rafter::problem

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/form/expr.hpp>

namespace rafter::form {

/// Shape of a node from its operands and indices; throws InputError when they do not fit. The language's typing rules.
std::vector<int> result_shape(const ExprNode& draft);

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/form/expr.hpp>

namespace rafter::form {

/// Shape of a node, from its operands and indices. Throws InputError when they do not fit; these are the typing rules
/// of the form language.
std::vector<int> result_shape(const ExprNode& draft);

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/node_kinds.hpp>

#include <array>

namespace rafter::form {

namespace {

using enum Linearity;
constexpr std::array kind_table{
    NodeKindInfo{"literal", 0, terminal},
    NodeKindInfo{"coefficient", 0, terminal},
    NodeKindInfo{"field", 0, terminal},
    NodeKindInfo{"argument", 0, terminal},
    NodeKindInfo{"x", 0, terminal},
    NodeKindInfo{"n", 0, terminal},
    NodeKindInfo{"Identity", 0, terminal},
    NodeKindInfo{"as_tensor", -1, sum},
    NodeKindInfo{"component", 1, linear},
    NodeKindInfo{"+", 2, sum},
    NodeKindInfo{"-", 2, sum},
    NodeKindInfo{"-", 1, linear},
    NodeKindInfo{"*", 2, product},
    NodeKindInfo{"/", 2, quotient},
    NodeKindInfo{"**", 2, nonlinear, ScalarOp::pow},
    NodeKindInfo{"inner", 2, product},
    NodeKindInfo{"dot", 2, product},
    NodeKindInfo{"outer", 2, product},
    NodeKindInfo{"cross", 2, product},
    NodeKindInfo{"transpose", 1, linear},
    NodeKindInfo{"tr", 1, linear},
    NodeKindInfo{"det", 1, nonlinear},
    NodeKindInfo{"inv", 1, nonlinear},
    NodeKindInfo{"cofac", 1, nonlinear},
    NodeKindInfo{"dev", 1, linear},
    NodeKindInfo{"sym", 1, linear},
    NodeKindInfo{"skew", 1, linear},
    NodeKindInfo{"grad", 1, linear},
    NodeKindInfo{"div", 1, linear},
    NodeKindInfo{"curl", 1, linear},
    NodeKindInfo{"derivative", 3, product},
    NodeKindInfo{"abs", 1, nonlinear, ScalarOp::abs},
    NodeKindInfo{"sign", 1, nonlinear, ScalarOp::sign},
    NodeKindInfo{"sqrt", 1, nonlinear, ScalarOp::sqrt},
    NodeKindInfo{"exp", 1, nonlinear, ScalarOp::exp},
    NodeKindInfo{"ln", 1, nonlinear, ScalarOp::log},
    NodeKindInfo{"sin", 1, nonlinear, ScalarOp::sin},
    NodeKindInfo{"cos", 1, nonlinear, ScalarOp::cos},
    NodeKindInfo{"tan", 1, nonlinear, ScalarOp::tan},
    NodeKindInfo{"asin", 1, nonlinear, ScalarOp::asin},
    NodeKindInfo{"acos", 1, nonlinear, ScalarOp::acos},
    NodeKindInfo{"atan", 1, nonlinear, ScalarOp::atan},
    NodeKindInfo{"atan2", 2, nonlinear, ScalarOp::atan2},
    NodeKindInfo{"sinh", 1, nonlinear, ScalarOp::sinh},
    NodeKindInfo{"cosh", 1, nonlinear, ScalarOp::cosh},
    NodeKindInfo{"tanh", 1, nonlinear, ScalarOp::tanh},
    NodeKindInfo{"min_value", 2, nonlinear, ScalarOp::min},
    NodeKindInfo{"max_value", 2, nonlinear, ScalarOp::max},
    NodeKindInfo{"lt", 2, nonlinear, ScalarOp::lt},
    NodeKindInfo{"le", 2, nonlinear, ScalarOp::le},
    NodeKindInfo{"eq", 2, nonlinear, ScalarOp::eq},
    NodeKindInfo{"ne", 2, nonlinear, ScalarOp::ne},
    NodeKindInfo{"And", 2, nonlinear, ScalarOp::logical_and},
    NodeKindInfo{"Or", 2, nonlinear, ScalarOp::logical_or},
    NodeKindInfo{"Not", 1, nonlinear, ScalarOp::logical_not},
    NodeKindInfo{"conditional", 3, branch, ScalarOp::select},
};
static_assert(kind_table.size() == static_cast<std::size_t>(num_node_kinds));

} // namespace

const NodeKindInfo& info(NodeKind kind) { return kind_table[static_cast<std::size_t>(kind)]; }

} // namespace rafter::form

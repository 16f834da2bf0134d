// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <rafter/form/scalar_graph.hpp>

/// The table of all kinds of expression nodes: what the form language can say, before tensors are split into
/// components.
namespace rafter::form {

enum class NodeKind : std::uint8_t {
  // terminals
  literal,
  coefficient,
  field,
  argument,
  coordinate,
  normal,
  identity,
  // structure
  list,
  component,
  // arithmetic; mul is scalar * tensor, div is tensor / scalar
  add,
  sub,
  neg,
  mul,
  div,
  pow,
  // tensor algebra
  inner,
  dot,
  outer,
  cross,
  transpose,
  tr,
  det,
  inv,
  cofac,
  dev,
  sym,
  skew,
  // spatial derivatives, and derivative(e, f, w), the Gateaux derivative of e by the field f in direction w
  grad,
  divergence,
  curl,
  derivative,
  // functions of scalars
  abs,
  sign,
  sqrt,
  exp,
  ln,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  sinh,
  cosh,
  tanh,
  min_value,
  max_value,
  // conditions
  lt,
  le,
  eq,
  ne,
  logical_and,
  logical_or,
  logical_not,
  conditional
};
inline constexpr int num_node_kinds = static_cast<int>(NodeKind::conditional) + 1;

/// The dependence of a node on the test and trial functions in its operands.
enum class Linearity : std::uint8_t {
  terminal, ///< no operands; an argument is linear in itself
  linear,   ///< linear in its only operand
  sum,      ///< all operands contain the same arguments
  product,  ///< operands contain different arguments
  quotient, ///< the second operand contains none
  branch,   ///< the first operand contains none, the others contain the same
  nonlinear ///< no operand may contain any
};

struct NodeKindInfo {
  const char* name; ///< name as written in text
  int num_operands; ///< -1: any number
  Linearity linearity = Linearity::nonlinear;
  /// Operation of functions of scalars and of conditions; `atom` for all other kinds.
  ScalarOp scalar_op = ScalarOp::atom;
};
const NodeKindInfo& info(NodeKind kind);

/// Says whether a node is one operation on scalars with a scalar result: a function of numbers or a condition.
inline bool is_pointwise(NodeKind kind) {
  return info(kind).scalar_op != ScalarOp::atom && kind != NodeKind::conditional;
}
/// Says whether the value of a node is true or false instead of a number.
inline bool is_condition(NodeKind kind) { return kind >= NodeKind::lt && kind <= NodeKind::logical_not; }

} // namespace rafter::form

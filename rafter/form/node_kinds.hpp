// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <rafter/form/scalar_graph.hpp>

/// The one table of expression node kinds: what the language can say before tensors are taken apart.
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
  // derivatives in space, and derivative(e, f, w): the Gateaux derivative of e by the field f in direction w
  grad,
  divergence,
  curl,
  derivative,
  // functions of numbers
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

/// How test and trial functions pass through a node.
enum class Linearity : std::uint8_t {
  terminal,
  linear,   ///< in its only operand
  sum,      ///< all operands carry the same arguments
  product,  ///< operands carry different arguments
  quotient, ///< the second operand carries none
  branch,   ///< the first operand carries none, the others the same
  nonlinear ///< no operand carries any
};

struct NodeKindInfo {
  const char* name; ///< as written in text
  int num_operands; ///< -1: any number
  Linearity linearity = Linearity::nonlinear;
  ScalarOp scalar_op = ScalarOp::atom; ///< of functions of numbers and conditions; `atom` otherwise
};
const NodeKindInfo& info(NodeKind kind);

/// A function of numbers or a condition: scalar operands, scalar result, one scalar operation.
inline bool is_pointwise(NodeKind kind) {
  return info(kind).scalar_op != ScalarOp::atom && kind != NodeKind::conditional;
}
/// True or false instead of a number.
inline bool is_condition(NodeKind kind) { return kind >= NodeKind::lt && kind <= NodeKind::logical_not; }

} // namespace rafter::form

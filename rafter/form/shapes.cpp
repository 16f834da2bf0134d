// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/shapes.hpp>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/printer.hpp>

namespace rafter::form {

namespace {

using Shape = std::vector<int>;

std::string described(const Expr& e) { return fmt::format("'{}' has {}", summary(e), shape_text(e.shape())); }

std::string described_operands(const ExprNode& node) {
  std::string text = described(node.operands[0]);
  for (std::size_t i = 1; i < node.operands.size(); ++i)
    text += (i + 1 == node.operands.size() ? " and " : ", ") + described(node.operands[i]);
  return text;
}

[[noreturn]] void fail(const ExprNode& node, const std::string& rule) {
  throw base::InputError(fmt::format("in '{}': {}, but {}", summary(node), rule, described_operands(node)));
}

const Shape& shape(const ExprNode& node, std::size_t i) { return node.operands[i].shape(); }

Shape scalars(const ExprNode& node) {
  for (const auto& operand : node.operands)
    if (operand.rank() != 0)
      fail(node, fmt::format("{} takes {}", info(node.kind).name, node.operands.size() == 1 ? "a scalar" : "scalars"));
  return {};
}

Shape equal_shapes(const ExprNode& node) {
  if (shape(node, 0) != shape(node, 1))
    fail(node, fmt::format("the sides of '{}' must have equal shapes", info(node.kind).name));
  return shape(node, 0);
}

Shape square_matrix(const ExprNode& node, bool is_result_scalar, int max_size) {
  const Shape& s = shape(node, 0);
  if (s.size() != 2 || s[0] != s[1] || s[0] > max_size)
    fail(node, fmt::format("{} takes a square matrix{}", info(node.kind).name,
                           max_size < max_components ? fmt::format(" up to {} x {}", max_size, max_size) : ""));
  return is_result_scalar ? Shape{} : s;
}

Shape list_shape(const ExprNode& node) {
  if (node.operands.empty()) throw base::InputError("an empty list is not a tensor: give at least one component");
  for (const auto& operand : node.operands)
    if (operand.shape() != shape(node, 0)) fail(node, "the entries of a list must have equal shapes");
  Shape result{static_cast<int>(node.operands.size())};
  result.insert(result.end(), shape(node, 0).begin(), shape(node, 0).end());
  return result;
}

Shape component_shape(const ExprNode& node) {
  const Shape& s = shape(node, 0);
  if (s.empty()) fail(node, "only vectors and matrices have components");
  if (node.indices.size() > s.size()) fail(node, fmt::format("there are {} indices", node.indices.size()));
  Shape result;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const int index = node.indices[i];
    if (index == -1)
      result.push_back(s[i]);
    else if (index < 0 || index >= s[i])
      fail(node, fmt::format("index {} is out of range (components count from 0)", index));
  }
  return result;
}

Shape dot_shape(const ExprNode& node) {
  const Shape& a = shape(node, 0);
  const Shape& b = shape(node, 1);
  if (a.empty() || b.empty()) fail(node, "dot takes vectors and matrices");
  if (a.back() != b.front()) fail(node, "the last axis of the left side must match the first axis of the right side");
  Shape result(a.begin(), a.end() - 1);
  result.insert(result.end(), b.begin() + 1, b.end());
  return result;
}

Shape outer_shape(const ExprNode& node) {
  Shape result = shape(node, 0);
  result.insert(result.end(), shape(node, 1).begin(), shape(node, 1).end());
  return result;
}

Shape cross_shape(const ExprNode& node) {
  const Shape vector{3};
  if (shape(node, 0) != vector || shape(node, 1) != vector) fail(node, "cross takes vectors with 3 components");
  return vector;
}

Shape transpose_shape(const ExprNode& node) {
  const Shape& s = shape(node, 0);
  if (s.size() != 2) fail(node, "only a matrix can be transposed");
  return {s[1], s[0]};
}

Shape mul_shape(const ExprNode& node) {
  if (!shape(node, 0).empty()) fail(node, "'*' multiplies scalars with tensors and matrices with vectors and matrices");
  return shape(node, 1);
}

Shape div_shape(const ExprNode& node) {
  if (!shape(node, 1).empty()) fail(node, "the divisor must be a scalar");
  return shape(node, 0);
}

Shape grad_shape(const ExprNode& node) {
  Shape result = shape(node, 0);
  result.push_back(node.indices[0]);
  return result;
}

Shape divergence_shape(const ExprNode& node) {
  const Shape& s = shape(node, 0);
  if (s.empty() || s.back() != node.indices[0])
    fail(node, fmt::format("div takes a vector or matrix with {} columns (the dimension of space)", node.indices[0]));
  return {s.begin(), s.end() - 1};
}

Shape curl_shape(const ExprNode& node) {
  const Shape& s = shape(node, 0);
  const int gdim = node.indices[0];
  if (gdim == 3 && s == Shape{3}) return {3};
  if (gdim == 2 && s == Shape{2}) return {};
  if (gdim == 2 && s.empty()) return {2};
  fail(node,
       fmt::format(
           "curl takes a vector with 3 components in 3D, a vector with 2 components or a scalar in 2D (here: {}D)",
           gdim));
}

Shape derivative_shape(const ExprNode& node) {
  if (node.operands[1].kind() != NodeKind::field)
    throw base::InputError(fmt::format("in '{}': the derivative is taken by a coefficient field, which '{}' is not",
                                       summary(node), summary(node.operands[1])));
  if (shape(node, 1) != shape(node, 2)) fail(node, "the direction must have the shape of the field");
  return shape(node, 0);
}

Shape conditional_shape(const ExprNode& node) {
  if (shape(node, 1) != shape(node, 2)) fail(node, "both values of a conditional must have equal shapes");
  return shape(node, 1);
}

Shape terminal_shape(const ExprNode& node) {
  switch (node.kind) {
  case NodeKind::coefficient:
    return node.coefficient->shape;
  case NodeKind::field:
  case NodeKind::argument:
    return node.space->components == 0 ? Shape{} : Shape{node.space->components};
  case NodeKind::coordinate:
  case NodeKind::normal:
    return {node.indices[0]};
  case NodeKind::identity:
    return {node.indices[0], node.indices[0]};
  default:
    return {};
  }
}

void check_conditions(const ExprNode& node) {
  const bool takes_conditions =
      node.kind == NodeKind::logical_and || node.kind == NodeKind::logical_or || node.kind == NodeKind::logical_not;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const bool expected = takes_conditions || (node.kind == NodeKind::conditional && i == 0);
    if (is_condition(node.operands[i].kind()) != expected)
      throw base::InputError(fmt::format("in '{}': '{}' is {}", summary(node), summary(node.operands[i]),
                                         expected ? "not a condition (such as lt(a, b) or a < b)"
                                                  : "a condition, not a number (use conditional(c, a, b))"));
  }
}

} // namespace

std::vector<int> result_shape(const ExprNode& draft) {
  check_conditions(draft);
  if (is_pointwise(draft.kind)) return scalars(draft);
  switch (draft.kind) {
  case NodeKind::list:
    return list_shape(draft);
  case NodeKind::component:
    return component_shape(draft);
  case NodeKind::add:
  case NodeKind::sub:
    return equal_shapes(draft);
  case NodeKind::neg:
    return shape(draft, 0);
  case NodeKind::mul:
    return mul_shape(draft);
  case NodeKind::div:
    return div_shape(draft);
  case NodeKind::inner:
    equal_shapes(draft);
    return {};
  case NodeKind::dot:
    return dot_shape(draft);
  case NodeKind::outer:
    return outer_shape(draft);
  case NodeKind::cross:
    return cross_shape(draft);
  case NodeKind::transpose:
    return transpose_shape(draft);
  case NodeKind::tr:
    return square_matrix(draft, true, max_components);
  case NodeKind::det:
    return square_matrix(draft, true, 3);
  case NodeKind::cofac:
  case NodeKind::inv:
    return square_matrix(draft, false, 3);
  case NodeKind::dev:
  case NodeKind::sym:
  case NodeKind::skew:
    return square_matrix(draft, false, max_components);
  case NodeKind::grad:
    return grad_shape(draft);
  case NodeKind::divergence:
    return divergence_shape(draft);
  case NodeKind::curl:
    return curl_shape(draft);
  case NodeKind::derivative:
    return derivative_shape(draft);
  case NodeKind::conditional:
    return conditional_shape(draft);
  default:
    return terminal_shape(draft);
  }
}

} // namespace rafter::form

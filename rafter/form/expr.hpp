// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include <rafter/form/lowered.hpp>
#include <rafter/form/node_kinds.hpp>

/// Tensor expressions: immutable nodes, each existing once in the process, so that equality is identity.
namespace rafter::form {

struct ExprNode;

/// Cheap handle of an expression. Shapes are row-major extents: {} scalar, {n} vector, {n, m} matrix; up to rank 4.
/// Every operation checks shapes and throws base::InputError that prints the sub-expression and the shapes.
class Expr {
public:
  Expr(double value); ///< implicit: numbers are expressions; must be finite

  const ExprNode& node() const { return *node_; }
  NodeKind kind() const;
  const std::vector<int>& shape() const;
  int rank() const { return static_cast<int>(shape().size()); }
  const std::vector<Expr>& operands() const;
  const Expr& operand(std::size_t i) const { return operands()[i]; }

  /// Component: v(i), A(i, j); fewer indices than axes give a row.
  template <std::integral... I> Expr operator()(I... indices) const { return at({static_cast<int>(indices)...}); }
  Expr operator[](int index) const { return at({index}); }
  /// As operator(); an index of -1 keeps its axis.
  Expr at(std::vector<int> indices) const;

  /// The same expression (not: equal values).
  bool operator==(const Expr&) const = default;

private:
  friend Expr make_expr(ExprNode draft);
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  std::shared_ptr<const ExprNode> node_;
};

struct ExprNode {
  NodeKind kind = NodeKind::literal;
  std::vector<Expr> operands;
  // what a terminal or an index holds
  double value = 0;         ///< literal
  std::vector<int> indices; ///< component: index per axis or -1; argument: its number; grad and terminals: dimension
  std::shared_ptr<const CoefficientData> coefficient; ///< coefficient
  std::shared_ptr<const FieldSpace> space;            ///< field, argument
  std::string name;                                   ///< coefficient, field, argument: as printed
  // computed by make_expr
  std::vector<int> shape;
  std::uint64_t hash = 0;
  int depth = 0;
  int gdim = 0;              ///< dimension of physical space; 0: not known
  int derivative_order = -1; ///< highest spatial derivative of an argument or field; -1: there is none
  bool has_normal = false;
};

inline constexpr int max_expression_depth = 1000; ///< guards every recursion over expressions
inline constexpr int max_rank = 4;
inline constexpr int max_components = 1024;

/// The one way in: checks operands, computes shape and attributes, returns the unique node. Throws InputError.
Expr make_expr(ExprNode draft);
Expr make_expr(NodeKind kind, std::vector<Expr> operands);

int num_components(const std::vector<int>& shape);
/// "no axes (a scalar)", "shape (3)", "shape (3, 3)"
std::string shape_text(const std::vector<int>& shape);

inline NodeKind Expr::kind() const { return node_->kind; }
inline const std::vector<int>& Expr::shape() const { return node_->shape; }
inline const std::vector<Expr>& Expr::operands() const { return node_->operands; }
inline bool is_literal(const Expr& e, double value) { return e.kind() == NodeKind::literal && e.node().value == value; }

} // namespace rafter::form

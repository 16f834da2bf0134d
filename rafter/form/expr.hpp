// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include <rafter/form/lowered.hpp>
#include <rafter/form/node_kinds.hpp>

/// Tensor expressions. Nodes are immutable, and equal ones are one object, so that comparing expressions compares
/// addresses.
namespace rafter::form {

struct ExprNode;

/// Handle of an expression; copying it is cheap. The shape is the list of extents, {} for a scalar, {n} for a vector,
/// {n, m} for a matrix, up to rank 4. Every operation checks shapes and throws base::InputError that prints the
/// sub-expression and the shapes.
class Expr {
public:
  Expr(double value); ///< implicit, because numbers are expressions; the number must be finite

  const ExprNode& node() const { return *node_; }
  NodeKind kind() const;
  const std::vector<int>& shape() const;
  int rank() const { return static_cast<int>(shape().size()); }
  const std::vector<Expr>& operands() const;
  const Expr& operand(std::size_t i) const { return operands()[i]; }

  /// A component v(i) or A(i, j); fewer indices than axes give a row.
  template <std::integral... I> Expr operator()(I... indices) const { return at({static_cast<int>(indices)...}); }
  Expr operator[](int index) const { return at({index}); }
  /// A component or a slice: an index of -1 keeps its axis.
  Expr at(std::vector<int> indices) const;

  /// True for the same expression, which is more than equal values.
  bool operator==(const Expr&) const = default;

private:
  friend Expr make_expr(ExprNode draft);
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  std::shared_ptr<const ExprNode> node_;
};

/// Node of an expression; which members are used depends on its kind.
struct ExprNode {
  NodeKind kind = NodeKind::literal;
  std::vector<Expr> operands;
  // These members describe a terminal or an index.
  double value = 0; ///< number of a literal
  /// Component: index per axis, or -1 to keep it; argument: its number; grad and terminals: dimension.
  std::vector<int> indices;
  std::shared_ptr<const CoefficientData> coefficient; ///< data of a coefficient
  std::shared_ptr<const FieldSpace> space;            ///< space of a field or argument
  std::string name;                                   ///< name of a coefficient, field or argument, as printed
  // These members are computed by make_expr.
  std::vector<int> shape;
  std::uint64_t hash = 0;
  int depth = 0;
  int gdim = 0;              ///< dimension of physical space; 0: not known
  int derivative_order = -1; ///< highest spatial derivative of an argument or field; -1: there is none
  bool has_normal = false;
};

inline constexpr int max_expression_depth = 1000; ///< expressions are no deeper, so that recursion over them is safe
inline constexpr int max_rank = 4;
inline constexpr int max_components = 1024;

/// The only way to make a node: checks operands, computes shape and attributes, returns the unique equal node. Throws
/// InputError.
Expr make_expr(ExprNode draft);
Expr make_expr(NodeKind kind, std::vector<Expr> operands);

int num_components(const std::vector<int>& shape);
/// Text for messages: "no axes (a scalar)", "shape (3)" or "shape (3, 3)".
std::string shape_text(const std::vector<int>& shape);

inline NodeKind Expr::kind() const { return node_->kind; }
inline const std::vector<int>& Expr::shape() const { return node_->shape; }
inline const std::vector<Expr>& Expr::operands() const { return node_->operands; }
inline bool is_literal(const Expr& e, double value) { return e.kind() == NodeKind::literal && e.node().value == value; }

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <rafter/form/differentiate.hpp>
#include <rafter/form/expr.hpp>

namespace rafter::form {

/// The data that atoms refer to by number: coefficients, fields and arguments, numbered in the order of their first
/// use.
struct AtomTables {
  std::vector<CoefficientComponent> parameters, cell_coefficients;
  std::vector<std::shared_ptr<const FieldSpace>> fields, test_spaces, trial_spaces;
  std::vector<std::string> field_names;

  Atom coefficient_atom(const std::shared_ptr<const CoefficientData>& data, int component);
  Atom field_atom(const std::shared_ptr<const FieldSpace>& space, const std::string& name, int component);
  Atom argument_atom(const std::shared_ptr<const FieldSpace>& space, int number, int component);
};

/// Turns components of tensor expressions into nodes of a scalar graph, by index substitution: asking for a component
/// of an expression asks for those components of its operands that it needs, each once. No tensor is ever written out.
class ComponentEvaluator {
public:
  ComponentEvaluator(ScalarGraph& graph, AtomTables& tables) : graph_(&graph), tables_(&tables) {}

  /// Node of the component of e at `flat`, the row-major index into the shape of e.
  NodeId operator()(const Expr& e, int flat);

private:
  NodeId evaluated(const Expr& e, int flat);
  NodeId terminal(const Expr& e, int flat);
  NodeId component(const Expr& e, int flat);
  NodeId contracted(const Expr& e, int flat);
  NodeId cross_product(const Expr& e, int flat);
  NodeId matrix_function(const Expr& e, int flat);
  NodeId determinant(const Expr& a);
  NodeId cofactor(const Expr& a, int row, int column);
  NodeId curl(const Expr& e, int flat);
  NodeId pointwise(const Expr& e);
  NodeId spatial_derivative(const Expr& e, int flat, int axis);
  NodeId gateaux_derivative(const Expr& e, int flat);

  ScalarGraph* graph_;
  AtomTables* tables_;
  /// Components found so far, -1 where none was asked for.
  std::unordered_map<const ExprNode*, std::vector<NodeId>> memo_;
  std::array<std::unique_ptr<Differentiator>, 3> along_axis_;
  std::map<std::pair<const ExprNode*, const ExprNode*>, std::unique_ptr<Differentiator>>
      along_field_; ///< derivatives by (field, direction)
};

} // namespace rafter::form

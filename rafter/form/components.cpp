// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/components.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/printer.hpp>

namespace rafter::form {

namespace {

constexpr NodeId max_graph_nodes = 1'000'000;

template <class T, class Predicate> int index_of(std::vector<T>& table, const Predicate& is_same, const T& entry) {
  const auto found = std::find_if(table.begin(), table.end(), is_same);
  const int index = static_cast<int>(found - table.begin());
  if (found == table.end()) table.push_back(entry);
  return index;
}

int add_space(std::vector<std::shared_ptr<const FieldSpace>>& spaces, const std::shared_ptr<const FieldSpace>& space) {
  return index_of(
      spaces, [&space](const auto& s) { return s == space; }, space);
}

} // namespace

Atom AtomTables::coefficient_atom(const std::shared_ptr<const CoefficientData>& data, int component) {
  auto& table = data->is_by_tag ? cell_coefficients : parameters;
  const auto is_same = [&](const CoefficientComponent& c) { return c.coefficient == data && c.component == component; };
  return {data->is_by_tag ? AtomKind::cell_coefficient : AtomKind::parameter,
          index_of(table, is_same, {data, component})};
}

Atom AtomTables::field_atom(const std::shared_ptr<const FieldSpace>& space, const std::string& name, int component) {
  std::size_t index = 0;
  while (index < fields.size() && (fields[index] != space || field_names[index] != name)) ++index;
  if (index == fields.size()) {
    fields.push_back(space);
    field_names.push_back(name);
  }
  return {AtomKind::field, static_cast<int>(index), component, -1};
}

Atom AtomTables::argument_atom(const std::shared_ptr<const FieldSpace>& space, int number, int component) {
  return {number == 0 ? AtomKind::test : AtomKind::trial, add_space(number == 0 ? test_spaces : trial_spaces, space),
          component, -1};
}

NodeId ComponentEvaluator::operator()(const Expr& e, int flat) {
  // References into the map stay valid while it grows, and the vectors have their final size.
  auto& components = memo_[&e.node()];
  if (components.empty()) components.assign(static_cast<std::size_t>(num_components(e.shape())), -1);
  auto& result = components[static_cast<std::size_t>(flat)];
  if (result < 0) {
    if (graph_->size() > max_graph_nodes)
      throw base::InputError(
          fmt::format("the form needs more than {} scalar operations (in '{}')", max_graph_nodes, summary(e)));
    result = evaluated(e, flat);
  }
  return result;
}

NodeId ComponentEvaluator::evaluated(const Expr& e, int flat) {
  auto& self = *this;
  auto& g = *graph_;
  const auto& operands = e.operands();
  if (operands.empty()) return terminal(e, flat);
  if (is_pointwise(e.kind())) return pointwise(e);
  // Operands are evaluated one after the other, here and below: sums are ordered by the numbers of their nodes, which
  // must not depend on the order in which a compiler evaluates arguments.
  const auto binary = [&](ScalarOp op, int left_component, int right_component) {
    const NodeId right = self(operands[1], right_component);
    return g.make(op, self(operands[0], left_component), right);
  };
  const int gdim = e.node().indices.empty() ? 0 : e.node().indices[0];
  switch (e.kind()) {
  case NodeKind::list: {
    const int size = num_components(operands[0].shape());
    return self(operands[static_cast<std::size_t>(flat / size)], flat % size);
  }
  case NodeKind::component:
    return component(e, flat);
  case NodeKind::add:
    return binary(ScalarOp::add, flat, flat);
  case NodeKind::sub:
    return binary(ScalarOp::sub, flat, flat);
  case NodeKind::neg:
    return g.neg(self(operands[0], flat));
  case NodeKind::mul:
    return binary(ScalarOp::mul, 0, flat);
  case NodeKind::div:
    return binary(ScalarOp::div, flat, 0);
  case NodeKind::inner:
  case NodeKind::dot:
    return contracted(e, flat);
  case NodeKind::outer: {
    const int size = num_components(operands[1].shape());
    return binary(ScalarOp::mul, flat / size, flat % size);
  }
  case NodeKind::cross:
    return cross_product(e, flat);
  case NodeKind::grad:
    return spatial_derivative(operands[0], flat / gdim, flat % gdim);
  case NodeKind::divergence: {
    NodeId sum = g.constant(0);
    for (int j = 0; j < gdim; ++j) sum = g.add(sum, spatial_derivative(operands[0], flat * gdim + j, j));
    return sum;
  }
  case NodeKind::curl:
    return curl(e, flat);
  case NodeKind::derivative:
    return gateaux_derivative(e, flat);
  case NodeKind::conditional: {
    const NodeId otherwise = self(operands[2], flat), then = self(operands[1], flat);
    return g.make(ScalarOp::select, self(operands[0], 0), then, otherwise);
  }
  default:
    return matrix_function(e, flat);
  }
}

NodeId ComponentEvaluator::terminal(const Expr& e, int flat) {
  const ExprNode& node = e.node();
  switch (node.kind) {
  case NodeKind::literal:
    return graph_->constant(node.value);
  case NodeKind::coefficient:
    return graph_->atom(tables_->coefficient_atom(node.coefficient, flat));
  case NodeKind::field:
    return graph_->atom(tables_->field_atom(node.space, node.name, flat));
  case NodeKind::argument:
    return graph_->atom(tables_->argument_atom(node.space, node.indices[0], flat));
  case NodeKind::coordinate:
    return graph_->atom({AtomKind::coordinate, flat});
  case NodeKind::normal:
    return graph_->atom({AtomKind::normal, flat});
  case NodeKind::identity:
    return graph_->constant(flat / e.shape()[0] == flat % e.shape()[0] ? 1 : 0);
  default:
    throw base::InternalError("lowering: a terminal without components");
  }
}

/// Row-major position in the operand: fixed axes take their index from the node, kept axes from `flat`, last axis
/// fastest.
NodeId ComponentEvaluator::component(const Expr& e, int flat) {
  const auto& shape = e.operand(0).shape();
  const auto& indices = e.node().indices;
  int position = 0;
  int stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    int index = indices[axis];
    if (index < 0) {
      index = flat % shape[axis];
      flat /= shape[axis];
    }
    position += index * stride;
    stride *= shape[axis];
  }
  return (*this)(e.operand(0), position);
}

/// Components of inner and dot: inner is one sum over all components; dot multiplies rows of the left side by columns
/// of the right side.
NodeId ComponentEvaluator::contracted(const Expr& e, int flat) {
  const Expr& a = e.operand(0);
  const Expr& b = e.operand(1);
  const int length = e.kind() == NodeKind::inner ? num_components(a.shape()) : a.shape().back();
  const int columns = num_components(b.shape()) / length;
  NodeId sum = graph_->constant(0);
  for (int k = 0; k < length; ++k) {
    const NodeId left = (*this)(a, flat / columns * length + k);
    // Zero entries, as of an identity matrix: the other factor is not needed.
    if (graph_->is_constant(left, 0)) continue;
    sum = graph_->add(sum, graph_->mul(left, (*this)(b, k * columns + flat % columns)));
  }
  return sum;
}

NodeId ComponentEvaluator::cross_product(const Expr& e, int flat) {
  const int i = (flat + 1) % 3;
  const int j = (flat + 2) % 3;
  const auto product = [&](int left, int right) {
    const NodeId second = (*this)(e.operand(1), right);
    return graph_->mul((*this)(e.operand(0), left), second);
  };
  const NodeId forward = product(i, j);
  return graph_->sub(forward, product(j, i));
}

NodeId ComponentEvaluator::matrix_function(const Expr& e, int flat) {
  auto& g = *graph_;
  const Expr& a = e.operand(0);
  const int n = a.shape().back();
  const auto trace = [&] {
    NodeId sum = g.constant(0);
    for (int i = 0; i < n; ++i) sum = g.add(sum, (*this)(a, i * n + i));
    return sum;
  };
  if (e.kind() == NodeKind::tr) return trace();
  if (e.kind() == NodeKind::det) return determinant(a);
  const int columns = e.shape().back();
  const int row = flat / columns;
  const int column = flat % columns;
  const NodeId here = (*this)(a, e.kind() == NodeKind::transpose ? column * n + row : flat);
  switch (e.kind()) {
  case NodeKind::transpose:
    return here;
  case NodeKind::sym:
  case NodeKind::skew: {
    const NodeId there = (*this)(a, column * n + row);
    const NodeId twice = e.kind() == NodeKind::sym ? g.add(here, there) : g.sub(here, there);
    return g.mul(g.constant(0.5), twice);
  }
  case NodeKind::dev: {
    if (row != column) return here;
    const NodeId number = g.constant(n);
    return g.sub(here, g.div(trace(), number));
  }
  case NodeKind::cofac:
    return cofactor(a, row, column);
  case NodeKind::inv: {
    const NodeId det = determinant(a);
    const NodeId inverse = g.div(g.constant(1), det);
    return g.mul(cofactor(a, column, row), inverse);
  }
  default:
    throw base::InternalError(fmt::format("lowering: no rule for '{}'", info(e.kind()).name));
  }
}

/// Signed minor of a matrix of at most 3 x 3 entries.
NodeId ComponentEvaluator::cofactor(const Expr& a, int row, int column) {
  auto& g = *graph_;
  const int n = a.shape()[0];
  if (n == 1) return g.constant(1);
  if (n == 2) {
    const NodeId opposite = (*this)(a, (1 - row) * 2 + (1 - column));
    return row == column ? opposite : g.neg(opposite);
  }
  // the cyclic order of the indices gives the sign
  const auto at = [&](int i, int j) { return (*this)(a, (row + i) % 3 * 3 + (column + j) % 3); };
  const auto product = [&](int i, int j, int k, int l) {
    const NodeId right = at(k, l);
    return g.mul(at(i, j), right);
  };
  const NodeId subtracted = product(1, 2, 2, 1);
  return g.sub(product(1, 1, 2, 2), subtracted);
}

NodeId ComponentEvaluator::determinant(const Expr& a) {
  NodeId sum = graph_->constant(0);
  for (int j = 0; j < a.shape()[0]; ++j) {
    const NodeId factor = cofactor(a, 0, j);
    sum = graph_->add(sum, graph_->mul((*this)(a, j), factor));
  }
  return sum;
}

NodeId ComponentEvaluator::curl(const Expr& e, int flat) {
  auto& g = *graph_;
  const Expr& a = e.operand(0);
  if (a.rank() == 0) return flat == 0 ? spatial_derivative(a, 0, 1) : g.neg(spatial_derivative(a, 0, 0));
  const int i = a.shape()[0] == 2 ? 0 : (flat + 1) % 3;
  const int j = a.shape()[0] == 2 ? 1 : (flat + 2) % 3;
  const NodeId subtracted = spatial_derivative(a, i, j);
  return g.sub(spatial_derivative(a, j, i), subtracted);
}

NodeId ComponentEvaluator::pointwise(const Expr& e) {
  std::array<NodeId, 2> operands{-1, -1};
  for (std::size_t i = 0; i < e.operands().size(); ++i) operands[i] = (*this)(e.operand(i), 0);
  return graph_->make(info(e.kind()).scalar_op, operands[0], operands[1]);
}

NodeId ComponentEvaluator::spatial_derivative(const Expr& e, int flat, int axis) {
  auto& differentiator = along_axis_[static_cast<std::size_t>(axis)];
  if (!differentiator) {
    differentiator = std::make_unique<Differentiator>(*graph_, [g = graph_, axis](const Atom& atom) {
      switch (atom.kind) {
      case AtomKind::parameter:
      case AtomKind::cell_coefficient:
        return g->constant(0); // these are constant in each cell
      case AtomKind::coordinate:
        return g->constant(atom.a == axis ? 1 : 0);
      case AtomKind::field:
      case AtomKind::test:
      case AtomKind::trial:
        if (atom.c < 0) return g->atom({atom.kind, atom.a, atom.b, axis});
        break;
      default:
        break;
      }
      throw base::InputError(fmt::format("derivatives of {} are not supported", to_string(atom)));
    });
  }
  return (*differentiator)((*this)(e, flat));
}

NodeId ComponentEvaluator::gateaux_derivative(const Expr& e, int flat) {
  const Expr& field = e.operand(1);
  const Expr& direction = e.operand(2);
  auto& differentiator = along_field_[{&field.node(), &direction.node()}];
  if (!differentiator) {
    const int index = tables_->field_atom(field.node().space, field.node().name, 0).a;
    differentiator = std::make_unique<Differentiator>(*graph_, [this, index, direction](const Atom& atom) {
      if (atom.kind != AtomKind::field || atom.a != index) return graph_->constant(0);
      return atom.c < 0 ? (*this)(direction, atom.b) : spatial_derivative(direction, atom.b, atom.c);
    });
  }
  const NodeId value = (*this)(e.operand(0), flat);
  return (*differentiator)(value);
}

} // namespace rafter::form

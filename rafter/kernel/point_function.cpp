// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/point_function.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/element/reflections.hpp>
#include <rafter/kernel/sum_of_products.hpp>

namespace rafter::kernel {

namespace {

using form::ScalarGraph;
using form::ScalarOp;

NodeId sum(ScalarGraph& graph, std::span<const NodeId> terms) {
  NodeId result = graph.constant(0);
  for (const NodeId term : terms) result = graph.add(result, term);
  return result;
}

/// Geometry of the cell map as expressions.
class Geometry {
public:
  Geometry(PointFunction& function) : graph_(function.graph), dim_(function.tdim()) {
    const auto frame = differentiation_frame(function.shape, function.is_facet);
    for (int a = 0; a < dim_; ++a)
      for (int b = 0; b < dim_; ++b) jacobian_[a][b] = along(function.map, a, frame.data() + b * dim_, b);
    for (int a = 0; a < dim_; ++a) coordinate_[a] = coordinate_entry(function.map, a);
    make_adjugate();
    inverse_det_ = graph_.div(graph_.constant(1), det_);
    scale_ = det_;
    if (function.is_facet) make_facet();
  }

  NodeId coordinate(int a) const { return coordinate_[a]; }
  NodeId normal(int a) const { return normal_[a]; }
  NodeId scale() const { return scale_; }
  /// K_ba = dX_b / dx_a
  NodeId inverse(int b, int a) { return graph_.mul(adjugate_[b][a], inverse_det_); }
  /// K_ba times the measure: in cells the determinant cancels.
  NodeId scaled_inverse(int b, int a) { return scale_ == det_ ? adjugate_[b][a] : graph_.mul(inverse(b, a), scale_); }

private:
  NodeId mode(int mask, int a) { return graph_.atom({AtomKind::map_coefficient, mask, a, 0}); }
  NodeId reference(int axis) { return graph_.atom({AtomKind::reference_coordinate, axis, 0, 0}); }

  NodeId multilinear(int a, int must) { return hoistable(a, must, 0, 0); }
  /// Sum over masks containing `must` of coefficient times the other coordinates, axis 0 outermost (Horner): what
  /// multiplies X_0 depends on axes 1 and 2 only and can leave the inner loops.
  NodeId hoistable(int a, int must, int mask, int axis) {
    if (axis == dim_) return mode(mask, a);
    if ((must >> axis & 1) != 0) return hoistable(a, must, mask | 1 << axis, axis + 1);
    const NodeId without = hoistable(a, must, mask, axis + 1);
    const NodeId with = hoistable(a, must, mask | 1 << axis, axis + 1);
    return graph_.add(without, graph_.mul(reference(axis), with));
  }

  /// Derivative of x_a along direction b of the frame; its determinant is 1, so that det J is that of the unit vectors.
  /// What is tabulated is tabulated along the frame.
  NodeId along(mesh::MapKind map, int a, const double* direction, int b) {
    if (map == mesh::MapKind::isoparametric) return jacobian_entry(map, a, b);
    NodeId sum = graph_.constant(0);
    for (int c = 0; c < dim_; ++c)
      if (direction[c] != 0)
        sum = graph_.add(sum, graph_.mul(graph_.constant(direction[c]), jacobian_entry(map, a, c)));
    return sum;
  }
  NodeId jacobian_entry(mesh::MapKind map, int a, int b) {
    switch (map) {
    case mesh::MapKind::affine:
      return mode(1 << b, a);
    case mesh::MapKind::multilinear:
      return multilinear(a, 1 << b);
    case mesh::MapKind::isoparametric:
      return graph_.atom({AtomKind::jacobian, a, b, 0});
    }
    throw base::InternalError("unknown map kind");
  }
  NodeId coordinate_entry(mesh::MapKind map, int a) {
    if (map == mesh::MapKind::isoparametric) return graph_.atom({AtomKind::coordinate, a, 0, 0});
    if (map == mesh::MapKind::multilinear) return multilinear(a, 0);
    NodeId x = mode(0, a);
    for (int b = 0; b < dim_; ++b) x = graph_.add(x, graph_.mul(reference(b), mode(1 << b, a)));
    return x;
  }

  NodeId minor(int i, int j, int k, int l) { // J_ij J_kl - J_il J_kj
    return graph_.sub(graph_.mul(jacobian_[i][j], jacobian_[k][l]), graph_.mul(jacobian_[i][l], jacobian_[k][j]));
  }
  void make_adjugate() {
    if (dim_ == 1) {
      adjugate_[0][0] = graph_.constant(1);
      det_ = jacobian_[0][0];
      return;
    }
    if (dim_ == 2) {
      adjugate_[0][0] = jacobian_[1][1];
      adjugate_[1][1] = jacobian_[0][0];
      adjugate_[0][1] = graph_.neg(jacobian_[0][1]);
      adjugate_[1][0] = graph_.neg(jacobian_[1][0]);
      det_ = minor(0, 0, 1, 1);
      return;
    }
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) adjugate_[b][a] = minor((a + 1) % 3, (b + 1) % 3, (a + 2) % 3, (b + 2) % 3);
    const std::array terms{graph_.mul(jacobian_[0][0], adjugate_[0][0]), graph_.mul(jacobian_[1][0], adjugate_[0][1]),
                           graph_.mul(jacobian_[2][0], adjugate_[0][2])};
    det_ = sum(graph_, terms);
  }
  void make_facet() { // Nanson: n dS = adj(J)^T N dS_reference
    std::array<NodeId, 3> area{};
    NodeId squared = graph_.constant(0);
    for (int a = 0; a < dim_; ++a) {
      NodeId component = graph_.constant(0);
      for (int b = 0; b < dim_; ++b)
        component =
            graph_.add(component, graph_.mul(adjugate_[b][a], graph_.atom({AtomKind::reference_normal, b, 0, 0})));
      area[static_cast<std::size_t>(a)] = component;
      squared = graph_.add(squared, graph_.mul(component, component));
    }
    scale_ = graph_.make(ScalarOp::sqrt, squared);
    for (int a = 0; a < dim_; ++a) normal_[a] = graph_.div(area[static_cast<std::size_t>(a)], scale_);
  }

  ScalarGraph& graph_;
  int dim_;
  NodeId jacobian_[3][3]{}, adjugate_[3][3]{}, coordinate_[3]{}, normal_[3]{};
  NodeId det_ = -1, inverse_det_ = -1, scale_ = -1;
};

/// Physical atoms in terms of reference ones.
class Puller {
public:
  Puller(PointFunction& function, Geometry& geometry)
      : graph_(function.graph), geometry_(geometry), dim_(function.tdim()) {}

  NodeId operator()(const Atom& atom) {
    switch (atom.kind) {
    case AtomKind::coordinate:
      return geometry_.coordinate(atom.a);
    case AtomKind::normal:
      return geometry_.normal(atom.a);
    case AtomKind::field:
      return slot(AtomKind::reference_field, atom);
    case AtomKind::trial:
      return slot(AtomKind::reference_trial, atom);
    case AtomKind::parameter:
    case AtomKind::cell_coefficient:
      return graph_.atom(atom);
    default:
      throw base::InternalError("pull_back: unexpected atom " + form::to_string(atom));
    }
  }

private:
  NodeId slot(AtomKind kind, const Atom& atom) {
    if (atom.c < 0) return graph_.atom({kind, atom.a, atom.b, -1});
    NodeId derivative = graph_.constant(0);
    for (int b = 0; b < dim_; ++b)
      derivative =
          graph_.add(derivative, graph_.mul(geometry_.inverse(b, atom.c), graph_.atom({kind, atom.a, atom.b, b})));
    return derivative;
  }
  ScalarGraph& graph_;
  Geometry& geometry_;
  int dim_;
};

/// Sums outputs that go to the same place, in a fixed order.
class OutputTable {
public:
  explicit OutputTable(ScalarGraph& graph) : graph_(graph) {}
  void add(const Output& output) {
    const auto key = std::tuple(output.kind, output.field, output.component, output.derivative, output.derivative2);
    const auto [entry, is_new] = outputs_.try_emplace(key, output);
    if (!is_new) entry->second.node = graph_.add(entry->second.node, output.node);
  }
  std::vector<Output> take() const {
    std::vector<Output> result;
    for (const auto& [key, output] : outputs_)
      if (!graph_.is_constant(output.node, 0)) result.push_back(output);
    return result;
  }

private:
  ScalarGraph& graph_;
  std::map<std::tuple<OutputKind, int, int, int, int>, Output> outputs_;
};

bool is_trial(const Atom& atom) { return atom.kind == AtomKind::reference_trial; }

std::map<Atom, NodeId> trial_coefficients(ScalarGraph& graph, NodeId node) {
  std::map<Atom, NodeId> coefficients;
  if (!graph.linear_coefficients(node, is_trial, coefficients))
    throw base::InternalError("point function is not linear in the trial function: " + graph.to_string(node));
  return coefficients;
}

} // namespace

std::vector<double> differentiation_frame(element::Shape shape, bool is_facet) {
  return is_facet ? element::identity(element::dimension(shape)) : element::reflection_frame(shape);
}

std::vector<NodeId> PointFunction::roots() const {
  std::vector<NodeId> nodes;
  for (const auto& output : outputs) nodes.push_back(output.node);
  return nodes;
}

std::vector<int> map_modes(mesh::MapKind map, int tdim) {
  std::vector<int> modes;
  for (int mask = 0; mask < 1 << tdim; ++mask)
    if (map == mesh::MapKind::multilinear || (map == mesh::MapKind::affine && (mask & (mask - 1)) == 0))
      modes.push_back(mask);
  return modes;
}

PointFunction pull_back(std::span<const IntegralPart> parts, element::Shape shape, mesh::MapKind map, bool is_facet) {
  PointFunction result;
  result.shape = shape;
  result.map = map;
  result.is_facet = is_facet;
  auto& graph = result.graph;
  Geometry geometry(result);
  Puller pull(result, geometry);
  OutputTable outputs(graph);
  for (const auto& [integral, indicator] : parts) {
    std::unordered_map<NodeId, NodeId> memo;
    const auto pulled = [&, part = integral, flag = indicator](NodeId node) {
      const NodeId value = graph.import(*part->graph, node, memo, [&pull](const Atom& atom) { return pull(atom); });
      if (flag < 0) return value;
      return graph.make(ScalarOp::select, graph.atom({AtomKind::cell_coefficient, flag, 0, 0}), value,
                        graph.constant(0));
    };
    if (integral->rank == 0) {
      outputs.add({OutputKind::integral, 0, 0, -1, -1, graph.mul(geometry.scale(), pulled(integral->integrand))});
      continue;
    }
    for (const auto& term : integral->test_terms) {
      const NodeId coefficient = pulled(term.coefficient);
      if (term.derivative < 0)
        outputs.add({OutputKind::test, term.field, term.component, -1, -1, graph.mul(geometry.scale(), coefficient)});
      else
        for (int b = 0; b < result.tdim(); ++b)
          outputs.add({OutputKind::test, term.field, term.component, b, -1,
                       graph.mul(geometry.scaled_inverse(b, term.derivative), coefficient)});
    }
  }
  result.outputs = outputs.take();
  return result;
}

PointFunction merged(const PointFunction& function) {
  PointFunction result = function;
  auto& graph = result.graph;
  for (auto& output : result.outputs) {
    NodeId value = graph.constant(0);
    for (const auto& [atom, coefficient] : trial_coefficients(graph, output.node))
      value = graph.add(value, graph.mul(sum_of_products(graph, coefficient, function.graph.size()), graph.atom(atom)));
    output.node = value;
  }
  return result;
}

PointFunction diagonal(const PointFunction& function, std::span<const int> trial_of_test) {
  const auto trial_of = [trial_of_test](int field) {
    return trial_of_test.empty() ? field : trial_of_test[static_cast<std::size_t>(field)];
  };
  PointFunction result = function;
  auto& graph = result.graph;
  OutputTable outputs(graph);
  for (const auto& output : function.outputs)
    for (const auto& [atom, coefficient] : trial_coefficients(graph, output.node))
      if (atom.a == trial_of(output.field) && atom.b == output.component)
        outputs.add({OutputKind::test_pair, output.field, output.component, std::min(output.derivative, atom.c),
                     std::max(output.derivative, atom.c), coefficient});
  result.outputs = outputs.take();
  return result;
}

std::vector<unsigned> dependencies(const PointFunction& function) {
  const auto& graph = function.graph;
  std::vector<unsigned> result(static_cast<std::size_t>(graph.size()), 0);
  const auto of_atom = [](const Atom& atom) -> unsigned {
    switch (atom.kind) {
    case AtomKind::parameter:
    case AtomKind::reference_normal:
      return 0;
    case AtomKind::cell_coefficient:
    case AtomKind::map_coefficient:
    case AtomKind::stored_cell:
      return on_cell;
    case AtomKind::reference_coordinate:
      return on_axis_0 << atom.a;
    case AtomKind::jacobian:
    case AtomKind::coordinate:
    case AtomKind::stored_point:
      return on_cell | on_point;
    default:
      return on_cell | on_point | on_field;
    }
  };
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph[id];
    auto& set = result[static_cast<std::size_t>(id)];
    if (node.op == ScalarOp::atom) set = of_atom(node.atom);
    for (const NodeId operand : node.operands)
      if (operand >= 0) set |= result[static_cast<std::size_t>(operand)];
  }
  return result;
}

std::string to_string(const PointFunction& function) {
  std::string text = fmt::format("{} {}{}\n", element::name(function.shape), mesh::name(function.map),
                                 function.is_facet ? " facet" : "");
  std::map<NodeId, std::size_t> numbers;
  for (const NodeId id : function.graph.reachable(function.roots())) {
    const auto& node = function.graph[id];
    text += fmt::format("{} =", numbers.size());
    if (node.op == ScalarOp::constant)
      text += fmt::format(" {}", node.value);
    else if (node.op == ScalarOp::atom)
      text += ' ' + form::to_string(node.atom);
    else {
      text += std::string(" ") + form::info(node.op).name;
      for (const NodeId operand : node.operands)
        if (operand >= 0) text += fmt::format(" {}", numbers.at(operand));
    }
    numbers.emplace(id, numbers.size());
    text += '\n';
  }
  for (const auto& output : function.outputs)
    text += fmt::format("output {} field {} component {} derivative {} {}: {}\n", static_cast<int>(output.kind),
                        output.field, output.component, output.derivative, output.derivative2, numbers.at(output.node));
  return text;
}

} // namespace rafter::kernel

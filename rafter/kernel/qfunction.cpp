// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/qfunction.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/element/reflections.hpp>
#include <rafter/kernel/coefficients.hpp>
#include <rafter/kernel/reciprocals.hpp>
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

/// Geometry of the cell map (J, its determinant and adjugate, coordinates, normals) as expressions.
class Geometry {
public:
  Geometry(QFunction& function) : graph_(function.graph), dim_(function.tdim()) {
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
  /// K_ba det J, where K_ba = dX_b / dx_a
  NodeId adjugate(int b, int a) const { return adjugate_[b][a]; }
  NodeId inverse_det() const { return inverse_det_; }
  NodeId inverse(int b, int a) { return graph_.mul(adjugate_[b][a], inverse_det_); }
  /// K_ba times the measure; in cells the determinant cancels.
  NodeId scaled_inverse(int b, int a) {
    return scale_ == det_ ? adjugate_[b][a] : graph_.mul(adjugate_[b][a], graph_.mul(inverse_det_, scale_));
  }

  /// sum_a adj(J)_ba adj(J)_ca = adj(J^T J)_bc in three dimensions (Cauchy and Binet): the right side has fewer
  /// operations, and lower degree in the coordinates.
  void add_metric(std::unordered_map<NodeId, NodeId>& equal_nodes) {
    NodeId metric[3][3];
    const auto inner = [this](const NodeId(&v)[3], const NodeId(&w)[3]) {
      return sum(graph_, std::array{graph_.mul(v[0], w[0]), graph_.mul(v[1], w[1]), graph_.mul(v[2], w[2])});
    };
    const auto column = [this](int b, NodeId(&to)[3]) {
      for (int a = 0; a < 3; ++a) to[a] = jacobian_[a][b];
    };
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 3; ++c) {
        NodeId v[3], w[3];
        column(b, v), column(c, w);
        metric[b][c] = inner(v, w);
      }
    for (int b = 0; b < 3; ++b)
      for (int c = b; c < 3; ++c) {
        const NodeId first_new = graph_.size(); // is taken before the sum that is to be written out
        const NodeId entry = inner(adjugate_[b], adjugate_[c]);
        const auto written = factored_sum(graph_, entry, first_new);
        if (!written.factors.empty() || written.number != 1) continue; // the factored sum is only part of this entry
        const int i = (b + 1) % 3, j = (b + 2) % 3, k = (c + 1) % 3, l = (c + 2) % 3;
        equal_nodes[written.sum] = difference_of_products(metric[i][k], metric[j][l], metric[i][l], metric[j][k]);
      }
  }

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

  /// Derivative of x_a along direction b of the frame. The frame's determinant is 1, so that det J is the one with
  /// respect to the unit vectors. Isoparametric maps are tabulated along the frame already.
  NodeId along(mesh::MapKind map, int a, const double* direction, int b) {
    if (map == mesh::MapKind::isoparametric) return jacobian_entry(map, a, b);
    NodeId sum = graph_.constant(0);
    for (int c = 0; c < dim_; ++c)
      if (direction[c] != 0) {
        const NodeId entry = jacobian_entry(map, a, c);
        sum = graph_.add(sum, graph_.mul(graph_.constant(direction[c]), entry));
      }
    return sum;
  }
  NodeId jacobian_entry(mesh::MapKind map, int a, int b) {
    switch (map) {
    case mesh::MapKind::cartesian:
      return a == b ? mode(1 << b, a) : graph_.constant(0);
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
    for (int b = 0; b < dim_; ++b) {
      const NodeId slope = jacobian_entry(map, a, b);
      x = graph_.add(x, graph_.mul(reference(b), slope));
    }
    return x;
  }

  NodeId minor(int i, int j, int k, int l) { // J_ij J_kl - J_il J_kj
    return difference_of_products(jacobian_[i][j], jacobian_[k][l], jacobian_[i][l], jacobian_[k][j]);
  }
  /// a b - c d. The second product is made first, explicitly: sums are ordered by the numbers of their nodes, which
  /// must not depend on the order in which a compiler evaluates arguments.
  NodeId difference_of_products(NodeId a, NodeId b, NodeId c, NodeId d) {
    const NodeId subtracted = graph_.mul(c, d);
    return graph_.sub(graph_.mul(a, b), subtracted);
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

/// Replaces physical atoms (fields, normals, coordinates) by expressions in reference atoms.
class Puller {
public:
  Puller(QFunction& function, Geometry& geometry, bool divides_first, bool keeps_derivatives)
      : graph_(function.graph), geometry_(geometry), dim_(function.tdim()), divides_first_(divides_first),
        keeps_derivatives_(keeps_derivatives) {}

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
    const bool is_kept = keeps_derivatives_ && kind == AtomKind::reference_trial;
    if (atom.c < 0 || is_kept) return graph_.atom({kind, atom.a, atom.b, std::max(atom.c, -1)});
    NodeId derivative = graph_.constant(0); // det J times the derivative, unless divides_first_
    for (int b = 0; b < dim_; ++b) {
      const NodeId factor = divides_first_ ? geometry_.inverse(b, atom.c) : geometry_.adjugate(b, atom.c);
      derivative = graph_.add(derivative, graph_.mul(factor, graph_.atom({kind, atom.a, atom.b, b})));
    }
    return divides_first_ ? derivative : graph_.mul(geometry_.inverse_det(), derivative);
  }
  ScalarGraph& graph_;
  Geometry& geometry_;
  int dim_;
  bool divides_first_, keeps_derivatives_;
};

/// Adds up outputs that go to the same place, in a fixed order.
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

} // namespace

std::map<Atom, NodeId> trial_coefficients(ScalarGraph& graph, NodeId node) {
  std::map<Atom, NodeId> coefficients;
  if (!graph.linear_coefficients(node, is_trial, coefficients))
    throw base::InternalError("QFunction is not linear in the trial function: " + graph.to_string(node));
  return coefficients;
}

std::vector<double> differentiation_frame(element::Shape shape, bool is_facet) {
  return is_facet ? element::identity(element::dimension(shape)) : element::reflection_frame(shape);
}

std::vector<NodeId> QFunction::roots() const {
  std::vector<NodeId> nodes;
  for (const auto& output : outputs) nodes.push_back(output.node);
  return nodes;
}

std::vector<int> map_modes(mesh::MapKind map, int tdim) {
  std::vector<int> modes;
  for (int mask = 0; mask < 1 << tdim; ++mask)
    if (map == mesh::MapKind::multilinear || (mesh::is_constant(map) && (mask & (mask - 1)) == 0))
      modes.push_back(mask);
  return modes;
}

namespace {

/// One of several ways to write the same function, of which pull_back takes that with the fewest operations.
struct Writing {
  bool divides_first = false; ///< K = adj(J) / det J is formed before it multiplies derivatives of fields, not after
  Gathering gathering = Gathering::none;
  bool keeps_derivatives = false; ///< those of test and trial functions stay along physical axes
};
/// Dividing first takes fewer operations where K is constant on the cell, dividing last where it is not.
constexpr std::array writings{Writing{true, Gathering::none}, Writing{true, Gathering::linear},
                              Writing{false, Gathering::linear}, Writing{false, Gathering::products}};

QFunction pulled_back(std::span<const IntegralPart> parts, element::Shape shape, mesh::MapKind map, bool is_facet,
                      const Writing& writing) {
  QFunction result;
  result.shape = shape;
  result.map = map;
  result.is_facet = is_facet;
  auto& graph = result.graph;
  Geometry geometry(result);
  Puller pull(result, geometry, writing.divides_first, writing.keeps_derivatives);
  CoefficientGatherer gather(graph, writing.gathering);
  OutputTable outputs(graph);
  for (const auto& [integral, indicator] : parts) {
    std::unordered_map<NodeId, NodeId> memo;
    const auto pulled = [&, part = integral, flag = indicator](NodeId node) {
      const NodeId value =
          gather(graph.import(*part->graph, node, memo, [&pull](const Atom& atom) { return pull(atom); }));
      if (flag < 0) return value;
      const NodeId zero = graph.constant(0);
      return graph.make(ScalarOp::select, graph.atom({AtomKind::cell_coefficient, flag, 0, 0}), value, zero);
    };
    if (integral->rank == 0) {
      const NodeId integrand = pulled(integral->integrand);
      outputs.add({OutputKind::integral, 0, integral->value, -1, -1, graph.mul(geometry.scale(), integrand)});
      continue;
    }
    for (const auto& term : integral->test_terms) {
      const NodeId coefficient = pulled(term.coefficient);
      if (term.derivative < 0 || writing.keeps_derivatives)
        outputs.add({OutputKind::test, term.field, term.component, std::max(term.derivative, -1), -1,
                     graph.mul(geometry.scale(), coefficient)});
      else
        for (int b = 0; b < result.tdim(); ++b)
          outputs.add({OutputKind::test, term.field, term.component, b, -1,
                       graph.mul(geometry.scaled_inverse(b, term.derivative), coefficient)});
    }
  }
  if (writing.keeps_derivatives)
    for (int a = 0; a < result.tdim(); ++a)
      for (int b = 0; b < result.tdim(); ++b)
        outputs.add({OutputKind::inverse_map, 0, a, b, -1, geometry.inverse(b, a)});
  else if (result.tdim() == 3 && !is_facet)
    geometry.add_metric(result.equal_nodes);
  result.outputs = outputs.take();
  return result;
}

/// The loops over the points of rules of a middling degree.
PointLoops usual_loops(const QFunction& function) {
  constexpr std::array per_axis{125, 11, 5}; // by dimension
  PointLoops loops{.num_points = 125, .extents = {}};
  const auto dim = static_cast<std::size_t>(function.tdim());
  if (element::is_tensor(function.shape) && !function.is_facet) loops.extents.assign(dim, per_axis.at(dim - 1));
  return loops;
}

} // namespace

QFunction pull_back(std::span<const IntegralPart> parts, element::Shape shape, mesh::MapKind map, bool is_facet) {
  constexpr std::size_t large = 10000; // number of nodes beyond which other ways of writing are not worth the time
  QFunction best = pulled_back(parts, shape, map, is_facet, writings.front());
  const auto loops = usual_loops(best);
  for (const auto& writing : std::span(writings).subspan(1)) {
    if (best.graph.reachable(best.roots()).size() > large) break;
    auto other = pulled_back(parts, shape, map, is_facet, writing);
    if (count_flops(other, loops) < count_flops(best, loops)) best = std::move(other);
  }
  return with_reciprocals(std::move(best));
}

QFunction keep_derivatives(std::span<const IntegralPart> parts, element::Shape shape, mesh::MapKind map) {
  return with_reciprocals(pulled_back(parts, shape, map, false, {.keeps_derivatives = true}));
}

namespace {

/// The coefficients of one output, and the factors that all of them share.
class OutputCoefficients {
public:
  OutputCoefficients(ScalarGraph& graph, const QFunction& function, NodeId output) : graph_(graph) {
    for (const auto& [atom, coefficient] : trial_coefficients(graph, output)) {
      auto sum = factored_sum(graph, coefficient, function.graph.size());
      const auto equal = function.equal_nodes.find(sum.sum);
      if (equal != function.equal_nodes.end()) sum.sum = equal->second;
      coefficients_.emplace_back(graph.atom(atom), std::move(sum));
    }
  }

  void take_common_factors() {
    if (coefficients_.empty()) return;
    common_ = coefficients_.front().second.factors;
    for (const auto& [atom, sum] : coefficients_) common_ = std::get<0>(split(common_, sum.factors));
    for (auto& [atom, sum] : coefficients_) sum.factors = std::get<1>(split(sum.factors, common_));
  }

  NodeId value() {
    NodeId sum = graph_.constant(0);
    for (const auto& [atom, coefficient] : coefficients_)
      sum = graph_.add(sum, graph_.mul(assembled(graph_, coefficient), atom));
    return graph_.mul(assembled(graph_, {1, common_, graph_.constant(1)}), sum);
  }

private:
  using Factors = std::vector<NodeId>;
  /// The factors in both products, and those in the first alone.
  static std::pair<Factors, Factors> split(const Factors& a, const Factors& b) {
    std::pair<Factors, Factors> result;
    std::ranges::set_intersection(a, b, std::back_inserter(result.first));
    std::ranges::set_difference(a, b, std::back_inserter(result.second));
    return result;
  }
  ScalarGraph& graph_;
  std::vector<std::pair<NodeId, FactoredSum>> coefficients_;
  Factors common_;
};

} // namespace

QFunction merged(const QFunction& function, bool has_factors_outside) {
  QFunction result = function;
  for (auto& output : result.outputs) {
    if (output.kind == OutputKind::inverse_map) continue;
    OutputCoefficients coefficients(result.graph, function, output.node);
    if (has_factors_outside) coefficients.take_common_factors();
    output.node = coefficients.value();
  }
  return result;
}

QFunction diagonal(const QFunction& function, std::span<const int> trial_of_test) {
  const auto trial_of = [trial_of_test](int field) {
    return trial_of_test.empty() ? field : trial_of_test[static_cast<std::size_t>(field)];
  };
  QFunction result = function;
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

bool has_output(const QFunction& function, OutputKind kind) {
  return std::ranges::find(function.outputs, kind, &Output::kind) != function.outputs.end();
}
bool has_tests_alone(const QFunction& function) {
  return std::ranges::all_of(function.outputs, [](const Output& output) { return output.kind == OutputKind::test; });
}

std::vector<unsigned> dependencies(const QFunction& function) {
  const auto& graph = function.graph;
  std::vector<unsigned> result(static_cast<std::size_t>(graph.size()), 0);
  const auto of_atom = [](const Atom& atom) -> unsigned {
    switch (atom.kind) {
    case AtomKind::reference_normal:
      return 0;
    case AtomKind::parameter:
      return on_parameter;
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
    case AtomKind::reference_field:
      return on_cell | on_point | on_data;
    default:
      return on_cell | on_point | on_trial;
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

double PointLoops::evaluations(unsigned dependencies) const {
  if (is_per_cell(dependencies)) return 1;
  if ((dependencies & (on_point | on_field)) != 0 || extents.empty()) return num_points;
  double result = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    const unsigned faster = (on_axis_0 << (axis + 1)) - on_axis_0; // this axis and those inside
    if ((dependencies & faster) == 0) break;
    result *= extents[axis];
  }
  return result;
}

PointLoops point_loops(const QFunction& function, const element::Quadrature& rule) {
  PointLoops loops{.num_points = rule.num_points(), .extents = {}};
  if (!function.is_facet)
    for (const auto& line : rule.lines) loops.extents.push_back(static_cast<int>(line.points.size()));
  return loops;
}

double count_flops(const QFunction& function, const PointLoops& loops) {
  const auto deps = dependencies(function);
  double flops = 0;
  for (const NodeId id : function.graph.reachable(function.roots()))
    flops += loops.evaluations(deps[static_cast<std::size_t>(id)]) * form::info(function.graph[id].op).flops;
  return flops;
}

std::string to_string(const QFunction& function) {
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

std::optional<std::vector<PairCoefficient>> constant_coefficients(QFunction& function) {
  std::vector<PairCoefficient> result;
  for (std::size_t o = 0; o < function.outputs.size(); ++o) {
    std::map<Atom, NodeId> of_trial;
    const auto& output = function.outputs[o];
    if (output.kind != OutputKind::test || !function.graph.linear_coefficients(output.node, is_trial, of_trial))
      return std::nullopt;
    for (const auto& [atom, node] : of_trial) result.push_back({static_cast<int>(o), atom, node});
  }
  const auto sets = dependencies(function);
  const bool is_constant = std::ranges::all_of(result, [&](const PairCoefficient& coefficient) {
    return is_per_cell(sets[static_cast<std::size_t>(coefficient.node)]);
  });
  if (result.empty() || !is_constant) return std::nullopt;
  return result;
}

} // namespace rafter::kernel

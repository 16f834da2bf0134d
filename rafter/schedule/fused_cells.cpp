// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::schedule {

namespace {

using kernel::CollocatedEvaluation;
using kernel::CollocatedIntegration;
using kernel::ReferenceMatrix;

/// A field on its way to or from the points.
struct FieldStages {
  int components = 1;
  int nodes = 0; ///< dofs per direction
  bool interpolates = false;
  std::string dofs;             ///< (component, dof): gathered or to be scattered
  std::string partial;          ///< (component, last-axis dof, points of the other axes)
  std::string values;           ///< (component, point)
  std::string last;             ///< derivative along the last axis, (component, point)
  std::string middle;           ///< 3D: derivative along axis 1 on one layer, (component, point of the layer)
  std::string line, line_value; ///< derivative along axis 0 (and flux with the value) on one line, (component, point)
};

class Fusion {
public:
  explicit Fusion(Context& context)
      : context_(context), program_(context.program), dim_(program_.tdim), q_(program_.point_extents[0]),
        layer_(dim_ == 3 ? q_ * q_ : q_), last_axis_(dim_ - 1) {
    // arrays whose planes lie 4 KiB apart fight for the same cache sets
    if (context.is_simd && layer_ * context.plan.lanes * size_bytes(context.type()) % 4096 == 0) layer_ += 1;
    volume_ = layer_ * q_;
  }

  void run(Statements& to) {
    name_arrays();
    begin_integral(context_, to);
    for (std::size_t e = 0; e < inputs_.size(); ++e) load_field(static_cast<int>(e), to);
    for (std::size_t e = 0; e < inputs_.size(); ++e) interpolate(static_cast<int>(e), to);
    points(to);
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      last_transposed(static_cast<int>(o), to);
      restrict_layers(static_cast<int>(o), to);
      const auto& stages = outputs_[o];
      scatter(context_, static_cast<int>(o), stages.interpolates ? stages.dofs : stages.values, placement(stages), to);
    }
    end_integral(context_, to);
  }

private:
  const CollocatedEvaluation& evaluation(int e) const { return program_.evaluations[static_cast<std::size_t>(e)]; }
  const CollocatedIntegration& integration(int o) const { return program_.integrations[static_cast<std::size_t>(o)]; }
  const ReferenceMatrix& matrix(int i) const { return program_.matrices[static_cast<std::size_t>(i)]; }
  bool has_middle(const std::array<int, 3>& derivatives) const { return dim_ == 3 && derivatives[1] >= 0; }
  bool has_last(const std::array<int, 3>& derivatives) const {
    return derivatives[static_cast<std::size_t>(last_axis_)] >= 0;
  }

  // --- arrays -------------------------------------------------------------------------------------------------------
  int nodes_of(int dofs_array) const { return program_.arrays[static_cast<std::size_t>(dofs_array)].extents.back(); }
  int power(int n, int exponent) const { return exponent == 0 ? 1 : n * power(n, exponent - 1); }

  FieldStages declare(const std::string& name, int components, int nodes, bool interpolates,
                      const std::array<int, 3>& derivatives, bool is_output, bool has_value) {
    FieldStages s;
    s.components = components;
    s.nodes = nodes;
    s.interpolates = interpolates;
    s.values = context_.work(name + "_values", std::int64_t{components} * volume_);
    if (interpolates) {
      s.dofs = context_.work(name + "_dofs", std::int64_t{components} * power(nodes, dim_));
      s.partial = context_.work(name + "_partial", std::int64_t{components} * nodes * layer_);
    }
    if (has_last(derivatives)) s.last = context_.work(name + "_last", std::int64_t{components} * volume_);
    if (has_middle(derivatives)) s.middle = context_.work(name + "_middle", std::int64_t{components} * layer_);
    if (derivatives[0] >= 0) {
      s.line = context_.work(name + (is_output ? "_out" : "") + "_line", std::int64_t{components} * q_);
      if (is_output && has_value) s.line_value = context_.work(name + "_value", std::int64_t{components} * q_);
    }
    return s;
  }
  void name_arrays() {
    for (std::size_t e = 0; e < program_.evaluations.size(); ++e) {
      const auto& v = program_.evaluations[e];
      const int components = program_.arrays[static_cast<std::size_t>(v.dofs)].extents[0];
      inputs_.push_back(declare(fmt::format("u{}", e), components, nodes_of(v.dofs), v.interpolation[0] >= 0,
                                v.derivatives, false, true));
    }
    for (std::size_t o = 0; o < program_.integrations.size(); ++o) {
      const auto& w = program_.integrations[o];
      const auto& use = program_.outputs[o];
      // The results of an output take the arrays of the input with the same number: each point (and line) is read
      // before it is written.
      const bool may_overwrite = o < program_.inputs.size() && inputs_[o].components == use.components &&
                                 program_.inputs[o].element == use.element;
      const std::string name = fmt::format("{}{}", may_overwrite ? "u" : "r", o);
      outputs_.push_back(declare(name, use.components, use.element->degree() + 1, w.interpolation[0] >= 0,
                                 w.derivatives, true, w.values >= 0));
    }
  }
  Placement placement(const FieldStages& s) const {
    Placement result = Placement::dense(power(s.nodes, dim_));
    if (s.interpolates) return result;
    result.component_stride = volume_;
    const int rows = power(q_, dim_ - 1);
    for (int j = 0; j < q_; ++j)
      for (int i = 0; i < rows; ++i) result.dof_entries[static_cast<std::size_t>(j * rows + i)] = j * layer_ + i;
    return result;
  }

  // --- loops over lines
  // -----------------------------------------------------------------------------------------------
  NodePtr entry(const NodePtr& base, int offset) const { return context_.work_entry(iadd(base, integer(offset))); }
  std::vector<NodePtr> load_line(const std::string& array, const NodePtr& base, int count, int stride, Statements& to) {
    std::vector<NodePtr> line;
    for (int k = 0; k < count; ++k)
      line.push_back(context_.define(to, "u", context_.load(array, entry(base, k * stride))));
    return line;
  }
  void store_line(const std::string& array, const NodePtr& base, int stride, const std::vector<NodePtr>& values,
                  Statements& to, bool adds = false) {
    for (std::size_t r = 0; r < values.size(); ++r) {
      const NodePtr place = entry(base, static_cast<int>(r) * stride);
      to.push_back(adds ? add(array, place, values[r]) : store(array, place, values[r]));
    }
  }
  void map_line(const ReferenceMatrix& m, const std::string& source, const NodePtr& source_base, int source_stride,
                const std::string& target, const NodePtr& target_base, int target_stride, Statements& to,
                bool adds = false) {
    const auto line = load_line(source, source_base, m.cols, source_stride, to);
    store_line(target, target_base, target_stride, apply_to_line(context_, m, line, to), to, adds);
  }
  NodePtr for_each(const std::string& name, int count, Statements body) const {
    return loop(name, integer(count), block(std::move(body)));
  }

  // --- from dofs to points
  // ----------------------------------------------------------------------------------------------
  void load_field(int e, Statements& to) {
    const auto& s = inputs_[static_cast<std::size_t>(e)];
    const std::string& target = s.interpolates ? s.dofs : s.values;
    if (e < static_cast<int>(program_.inputs.size()))
      gather(context_, e, target, placement(s), to);
    else
      load_nodes(context_, target, placement(s), to);
  }

  /// Axes before the last, one layer of the last axis at a time; then the last axis column by column, with its
  /// derivative.
  void interpolate(int e, Statements& to) {
    const auto& s = inputs_[static_cast<std::size_t>(e)];
    const auto& v = evaluation(e);
    const std::string c = context_.fresh("c");
    Statements per_component;
    if (s.interpolates) {
      const std::string k = context_.fresh("k");
      Statements per_layer;
      interpolate_layer(s, v, iadd(imul(variable(c), integer(s.nodes)), variable(k)), per_layer);
      per_component.push_back(for_each(k, s.nodes, per_layer));
    }
    if (s.interpolates || !s.last.empty()) {
      const std::string i = context_.fresh("i");
      Statements column;
      last_axis(s, v, variable(c), variable(i), column);
      per_component.push_back(for_each(i, power(q_, dim_ - 1), column));
    }
    if (!per_component.empty()) to.push_back(for_each(c, s.components, per_component));
  }
  /// Values on one column of the last axis, and their derivative along it.
  void last_axis(const FieldStages& s, const CollocatedEvaluation& v, const NodePtr& component, const NodePtr& i,
                 Statements& to) {
    const NodePtr base = iadd(imul(component, integer(volume_)), i);
    std::vector<NodePtr> values;
    if (!s.interpolates)
      values = load_line(s.values, base, q_, layer_, to);
    else {
      const auto& interpolation = matrix(v.interpolation[static_cast<std::size_t>(last_axis_)]);
      const NodePtr from = iadd(imul(component, integer(s.nodes * layer_)), i);
      const auto line = load_line(s.partial, from, s.nodes, layer_, to);
      if (!s.last.empty() && goes_by_halves(context_, interpolation) &&
          goes_by_halves(context_, matrix(v.differentiation))) {
        Halves halves = apply(context_, interpolation, halves_of(context_, line, to), 1, to);
        if (halves.middle != nullptr) halves.middle = context_.define(to, "v", halves.middle);
        store_line(s.values, base, layer_, line_of(halves), to);
        store_line(s.last, base, layer_, line_of(apply(context_, matrix(v.differentiation), halves, 1, to)), to);
        return;
      }
      for (const auto& value : apply_to_line(context_, interpolation, line, to))
        values.push_back(context_.define(to, "v", value));
      store_line(s.values, base, layer_, values, to);
    }
    if (!s.last.empty())
      store_line(s.last, base, layer_, apply_to_line(context_, matrix(v.differentiation), values, to), to);
  }
  /// One layer (component, last-axis dof) from dofs to `partial`: axis 0, and in 3D axis 1.
  void interpolate_layer(const FieldStages& s, const CollocatedEvaluation& v, const NodePtr& layer, Statements& to) {
    const auto& first = matrix(v.interpolation[0]);
    const int rows = power(s.nodes, dim_ - 2);
    const NodePtr from = imul(layer, integer(power(s.nodes, dim_ - 1)));
    const NodePtr target = imul(layer, integer(layer_));
    if (dim_ == 2) {
      map_line(first, s.dofs, from, 1, s.partial, target, 1, to);
      return;
    }
    const std::string plane = context_.work("plane", std::int64_t{std::max(max_nodes(), q_)} * q_);
    const std::string j = context_.fresh("j"), i = context_.fresh("i");
    Statements along_0, along_1;
    map_line(first, s.dofs, iadd(from, imul(variable(j), integer(s.nodes))), 1, plane, imul(variable(j), integer(q_)),
             1, along_0);
    to.push_back(for_each(j, rows, along_0));
    map_line(matrix(v.interpolation[1]), plane, variable(i), q_, s.partial, iadd(target, variable(i)), q_, along_1);
    to.push_back(for_each(i, q_, along_1));
  }
  int max_nodes() const {
    int result = 0;
    for (const auto& s : inputs_) result = std::max(result, s.nodes);
    for (const auto& s : outputs_) result = std::max(result, s.nodes);
    return result;
  }

  // --- at the points
  // ----------------------------------------------------------------------------------------------------
  NodePtr layer_base(const NodePtr& component) const {
    return iadd(imul(component, integer(volume_)), dim_ == 3 ? imul(variable("q2"), integer(layer_)) : integer(0));
  }
  NodePtr line_base(const NodePtr& component) const {
    return dim_ == 3 ? iadd(layer_base(component), imul(variable("q1"), integer(q_)))
                     : iadd(layer_base(component), imul(variable("q1"), integer(layer_)));
  }

  void points(Statements& to) {
    PointStage stage(
        context_, {[this](const kernel::InputSlot& slot) { return read_slot(slot); },
                   [this](std::size_t i, NodePtr value, Statements& body) { write_slot(i, std::move(value), body); }});
    stage.at_cell(to);
    Statements layers, lines, in_line;
    if (dim_ == 3) {
      stage.at_axis(2, layers);
      for (std::size_t e = 0; e < inputs_.size(); ++e) middle_derivative(static_cast<int>(e), layers);
    }
    stage.at_axis(1, lines);
    stage.at_axis(0, in_line);
    stage.at_point(in_line);
    is_unrolled_ = unrolls_points(in_line);
    for (std::size_t e = 0; e < inputs_.size(); ++e) line_derivative(static_cast<int>(e), lines);
    lines.push_back(loop("q0", integer(q_), block(in_line), is_unrolled_ ? LoopStyle::unrolled : LoopStyle::rolled));
    for (std::size_t o = 0; o < outputs_.size(); ++o) line_transposed(static_cast<int>(o), lines);
    layers.push_back(for_each("q1", q_, lines));
    for (std::size_t o = 0; o < outputs_.size(); ++o) middle_transposed(static_cast<int>(o), layers);
    if (dim_ == 3)
      to.push_back(for_each("q2", q_, layers));
    else
      to.insert(to.end(), layers.begin(), layers.end());
  }
  /// Short point functions are written out for every point of a line, so that the line stays in registers.
  bool unrolls_points(const Statements& body) const { return static_cast<int>(body.size()) * q_ <= 320; }

  void middle_derivative(int e, Statements& to) {
    const auto& s = inputs_[static_cast<std::size_t>(e)];
    if (s.middle.empty()) return;
    const std::string c = context_.fresh("c"), i = context_.fresh("i");
    Statements body;
    map_line(matrix(evaluation(e).differentiation), s.values, iadd(layer_base(variable(c)), variable(i)), q_, s.middle,
             iadd(imul(variable(c), integer(layer_)), variable(i)), q_, body);
    to.push_back(for_each(c, s.components, {for_each(i, q_, body)}));
  }
  /// For every component: written out beside an unrolled point function (with literal places the line's buffer becomes
  /// registers), a loop beside a rolled one.
  template <class Body> void per_component(int components, Statements& to, const Body& body) {
    if (is_unrolled_ || components == 1) {
      for (int c = 0; c < components; ++c) body(integer(c), to);
      return;
    }
    const std::string c = context_.fresh("c");
    Statements statements;
    body(variable(c), statements);
    to.push_back(for_each(c, components, statements));
  }
  void line_derivative(int e, Statements& to) {
    const auto& s = inputs_[static_cast<std::size_t>(e)];
    if (s.line.empty()) return;
    per_component(s.components, to, [&](const NodePtr& c, Statements& body) {
      map_line(matrix(evaluation(e).differentiation), s.values, line_base(c), 1, s.line, imul(c, integer(q_)), 1, body);
    });
  }
  void line_transposed(int o, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    if (s.line.empty()) return;
    per_component(s.components, to, [&](const NodePtr& c, Statements& body) {
      const NodePtr base = imul(c, integer(q_));
      const auto line = load_line(s.line, base, q_, 1, body);
      auto result = apply_to_line(context_, matrix(integration(o).differentiation), line, body);
      if (!s.line_value.empty())
        for (int r = 0; r < q_; ++r) {
          auto& value = result[static_cast<std::size_t>(r)];
          value = operation(form::ScalarOp::add, {value, context_.load(s.line_value, entry(base, r))});
        }
      store_line(s.values, line_base(c), 1, result, body);
    });
  }
  /// Adds the transposed derivative along axis 1 of a layer; it stores where nothing was stored before.
  void middle_transposed(int o, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    if (s.middle.empty()) return;
    const std::string c = context_.fresh("c"), i = context_.fresh("i");
    Statements body;
    map_line(matrix(integration(o).differentiation), s.middle, iadd(imul(variable(c), integer(layer_)), variable(i)),
             q_, s.values, iadd(layer_base(variable(c)), variable(i)), q_, body, has_line_result(o));
    to.push_back(for_each(c, s.components, {for_each(i, q_, body)}));
  }
  bool has_line_result(int o) const {
    return !outputs_[static_cast<std::size_t>(o)].line.empty() || integration(o).values >= 0;
  }

  NodePtr read_slot(const kernel::InputSlot& input) const {
    for (std::size_t e = 0; e < inputs_.size(); ++e) {
      const auto& v = program_.evaluations[e];
      const auto& s = inputs_[e];
      const int c = input.slot.component;
      const int array = input.slot.array;
      if (array == v.derivatives[0])
        return context_.load(s.line, context_.work_entry(iadd(integer(c * q_), variable("q0"))));
      const NodePtr at_point = context_.work_entry(iadd(line_base(integer(c)), variable("q0")));
      if (array == v.values) return context_.load(s.values, at_point);
      if (array == v.derivatives[static_cast<std::size_t>(last_axis_)]) return context_.load(s.last, at_point);
      if (dim_ == 3 && array == v.derivatives[1]) return context_.load(s.middle, middle_entry(c));
    }
    throw base::InternalError("fused cells: unknown input slot");
  }
  NodePtr middle_entry(int c) const {
    return context_.work_entry(iadd(iadd(integer(c * layer_), imul(variable("q1"), integer(q_))), variable("q0")));
  }
  void write_slot(std::size_t i, NodePtr value, Statements& to) {
    const auto& slot = program_.output_slots[i];
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const auto& w = program_.integrations[o];
      const auto& s = outputs_[o];
      const NodePtr in_line = context_.work_entry(iadd(integer(slot.component * q_), variable("q0")));
      const NodePtr at_point = context_.work_entry(iadd(line_base(integer(slot.component)), variable("q0")));
      if (slot.array == w.values)
        to.push_back(store(s.line.empty() ? s.values : s.line_value, s.line.empty() ? at_point : in_line, value));
      else if (slot.array == w.derivatives[0])
        to.push_back(store(s.line, in_line, value));
      else if (slot.array == w.derivatives[static_cast<std::size_t>(last_axis_)])
        to.push_back(store(s.last, at_point, value));
      else if (dim_ == 3 && slot.array == w.derivatives[1])
        to.push_back(store(s.middle, middle_entry(slot.component), value));
      else
        continue;
      return;
    }
    throw base::InternalError("fused cells: unknown output slot");
  }

  // --- from points to dofs
  // ------------------------------------------------------------------------------------------------
  /// Last axis, column by column: transposed derivative, then transposed interpolation or weights.
  void last_transposed(int o, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    const std::string c = context_.fresh("c"), i = context_.fresh("i");
    Statements column;
    const NodePtr base = iadd(imul(variable(c), integer(volume_)), variable(i));
    if (s.interpolates)
      store_line(s.partial, iadd(imul(variable(c), integer(s.nodes * layer_)), variable(i)), layer_,
                 restricted_column(o, base, column), column);
    else {
      auto total = column_total(o, base, column);
      const std::string weights = context_.global(Role::weights);
      for (int r = 0; r < q_; ++r) {
        auto& value = total[static_cast<std::size_t>(r)];
        const NodePtr weight = context_.fetch(weights, iadd(integer(r * power(q_, dim_ - 1)), variable(i)));
        value = operation(form::ScalarOp::mul, {weight, value});
      }
      store_line(s.values, base, layer_, total, column);
    }
    to.push_back(for_each(c, s.components, {for_each(i, power(q_, dim_ - 1), column)}));
  }
  bool has_values(int o) const { return has_line_result(o) || !outputs_[static_cast<std::size_t>(o)].middle.empty(); }
  /// What the points of a column of the last axis amount to: their values and the transposed derivative.
  std::vector<NodePtr> column_total(int o, const NodePtr& base, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    std::vector<NodePtr> total;
    if (!s.last.empty())
      total =
          apply_to_line(context_, matrix(integration(o).differentiation), load_line(s.last, base, q_, layer_, to), to);
    if (has_values(o)) total = sums(load_line(s.values, base, q_, layer_, to), total);
    for (auto& value : total) value = context_.define(to, "r", value);
    return total;
  }
  static std::vector<NodePtr> sums(std::vector<NodePtr> a, const std::vector<NodePtr>& b) {
    for (std::size_t i = 0; i < b.size(); ++i) a[i] = operation(form::ScalarOp::add, {a[i], b[i]});
    return a;
  }
  /// The transposed interpolation along the last axis of such a column.
  std::vector<NodePtr> restricted_column(int o, const NodePtr& base, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    const auto& w = integration(o);
    const auto& restriction = matrix(w.interpolation[static_cast<std::size_t>(last_axis_)]);
    if (s.last.empty() || !goes_by_halves(context_, restriction) ||
        !goes_by_halves(context_, matrix(w.differentiation)))
      return apply_to_line(context_, restriction, column_total(o, base, to), to);
    Halves total = halves_of(context_, load_line(s.last, base, q_, layer_, to), to);
    total = apply(context_, matrix(w.differentiation), total, 0.5, to);
    if (has_values(o)) {
      const Halves values = halves_of(context_, load_line(s.values, base, q_, layer_, to), to);
      total.even = sums(values.even, total.even);
      total.odd = sums(values.odd, total.odd);
      if (total.middle != nullptr) total.middle = operation(form::ScalarOp::add, {values.middle, total.middle});
    }
    for (auto* half : {&total.even, &total.odd})
      for (auto& value : *half) value = context_.define(to, "r", value);
    if (total.middle != nullptr) total.middle = context_.define(to, "r", total.middle);
    return line_of(apply(context_, restriction, total, 1, to));
  }
  void restrict_layers(int o, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    const auto& w = integration(o);
    if (!s.interpolates) return;
    const std::string k = context_.fresh("k");
    Statements per_layer;
    const NodePtr from = imul(variable(k), integer(layer_));
    const NodePtr target = imul(variable(k), integer(power(s.nodes, dim_ - 1)));
    if (dim_ == 2)
      map_line(matrix(w.interpolation[0]), s.partial, from, 1, s.dofs, target, 1, per_layer);
    else {
      const std::string plane = context_.work("plane", std::int64_t{std::max(max_nodes(), q_)} * q_);
      const std::string j = context_.fresh("j"), i = context_.fresh("i");
      Statements along_1, along_0;
      map_line(matrix(w.interpolation[1]), s.partial, iadd(from, variable(i)), q_, plane, variable(i), q_, along_1);
      per_layer.push_back(for_each(i, q_, along_1));
      map_line(matrix(w.interpolation[0]), plane, imul(variable(j), integer(q_)), 1, s.dofs,
               iadd(target, imul(variable(j), integer(s.nodes))), 1, along_0);
      per_layer.push_back(for_each(j, s.nodes, along_0));
    }
    to.push_back(for_each(k, s.components * s.nodes, per_layer));
  }

  Context& context_;
  const kernel::TensorProgram& program_;
  int dim_, q_, layer_, last_axis_, volume_ = 0;
  bool is_unrolled_ = false;
  std::vector<FieldStages> inputs_, outputs_;
};

} // namespace

bool can_fuse(const kernel::TensorProgram& program) {
  if (!program.is_tensor || program.tdim < 2) return false;
  if (program.evaluations.empty() && program.integrations.empty()) return false;
  const std::size_t num_evaluated = program.inputs.size() + (program.geometry != nullptr ? 1 : 0);
  return program.evaluations.size() == num_evaluated && program.integrations.size() == program.outputs.size();
}

void lower_fused(Context& context, Statements& to) { Fusion(context).run(to); }

} // namespace rafter::schedule

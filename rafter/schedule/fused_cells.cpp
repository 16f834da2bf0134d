// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/schedule/cell_dofs.hpp>

namespace rafter::schedule {

namespace {

using kernel::CollocatedEvaluation;
using kernel::CollocatedIntegration;
using kernel::ReferenceMatrix;

/// A field on its way to or from the points. Each stage takes the place of one that nothing needs any more: a line, a
/// column or a layer is read before it is written.
struct FieldStages {
  int components = 1;
  int nodes = 0; ///< dofs per direction
  bool interpolates = false;
  std::string dofs; ///< gathered or to be scattered, cells in lanes: `values`, or an array of their own
  std::optional<CellDofs> cell_dofs; ///< where points stand in lanes
  std::string partial; ///< (component, last-axis dof, points of the other axes): `last`, or `values` without it
  std::string values;  ///< (component, point)
  std::string last;    ///< derivative along the last axis, (component, point)
  std::string middle;  ///< 3D: derivative along axis 1 on one layer, (component, point of the layer)
  std::string line, line_value; ///< derivative along axis 0 (and flux with the value) on a slab, (component, point)
};

class Fusion {
public:
  Fusion(Context& context, bool has_point_lanes)
      : context_(context), program_(context.program), dim_(program_.tdim), q_(program_.point_extents[0]),
        lanes_(context.plan.lanes), has_point_lanes_(has_point_lanes),
        line_(has_point_lanes ? (q_ + lanes_ - 1) / lanes_ : q_), layer_(dim_ == 3 ? q_ * line_ : line_),
        columns_(layer_), last_axis_(dim_ - 1) {
    slab_ = has_point_lanes && dim_ == 3 ? layer_ : line_;
    layer_ = layer_distance(context, layer_);
    volume_ = layer_ * q_;
    name_arrays();
  }

  void load_fields(Statements& to) {
    for (std::size_t e = 0; e < inputs_.size(); ++e) load_field(static_cast<int>(e), to);
  }
  void evaluate(Statements& to) {
    for (std::size_t e = 0; e < inputs_.size(); ++e) interpolate(static_cast<int>(e), to);
    points(to);
  }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  void integrate(int o, Statements& to) {
    last_transposed(o, to);
    restrict_layers(o, to);
  }
  void store_field(int o, Statements& to) {
    const auto& stages = outputs_[static_cast<std::size_t>(o)];
    if (has_point_lanes_) stages.cell_dofs->turn(to);
    scatter(context_, o, stages.dofs, placement(stages), to);
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
    if (has_point_lanes_) s.cell_dofs.emplace(context_, CellDofs::Field{name, components, nodes, dim_, is_output});
    s.dofs = has_point_lanes_ ? s.cell_dofs->gathered() : s.values;
    if (has_last(derivatives)) s.last = context_.work(name + "_last", std::int64_t{components} * volume_);
    s.partial = s.last.empty() ? s.values : s.last;
    if (has_middle(derivatives)) s.middle = context_.work(name + "_middle", std::int64_t{components} * layer_);
    if (derivatives[0] >= 0) {
      s.line = context_.work(name + (is_output ? "_out" : "") + "_line", std::int64_t{components} * slab_);
      if (is_output && has_value) s.line_value = context_.work(name + "_value", std::int64_t{components} * slab_);
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
  /// Dofs stand densely in an array of their own; else those of a layer at its begin, those that are values in the
  /// points at their place.
  Placement placement(const FieldStages& s) const {
    if (has_point_lanes_) return Placement::dense(power(s.nodes, dim_));
    return Placement::layers(s.nodes, power(s.nodes, dim_ - 1), layer_, volume_);
  }
  NodePtr layer_of(const NodePtr& component, const NodePtr& k) const {
    return iadd(imul(component, integer(volume_)), imul(k, integer(layer_)));
  }
  /// Of dofs along axis 0, over all components.
  NodePtr line_number(const FieldStages& s, const NodePtr& component, const NodePtr& k, const NodePtr& row) const {
    return iadd(imul(iadd(imul(component, integer(s.nodes)), k), integer(power(s.nodes, dim_ - 2))), row);
  }

  // --- loops over lines
  // -----------------------------------------------------------------------------------------------
  NodePtr entry(const NodePtr& base, int offset) const { return context_.work_entry(iadd(base, integer(offset))); }
  void map_line(const ReferenceMatrix& m, const std::string& source, const NodePtr& source_base, int source_stride,
                const std::string& target, const NodePtr& target_base, int target_stride, Statements& to,
                bool adds = false) {
    const auto line = load_line(context_, source, source_base, m.cols, source_stride, to);
    store_line(context_, target, target_base, target_stride, apply_to_line(context_, m, line, to), to, adds);
  }
  // Along axis 0 the points of a line stand in its entries, or in the lanes of them; dofs always in entries.
  std::vector<NodePtr> load_first(const std::string& array, const NodePtr& base, int count, Statements& to) {
    if (!has_point_lanes_) return load_line(context_, array, base, count, 1, to);
    std::vector<NodePtr> line;
    for (int k = 0; k < count; ++k)
      line.push_back(context_.define(to, "u", context_.load(array, iadd(imul(base, integer(lanes_)), integer(k)))));
    return line;
  }
  std::vector<NodePtr> apply_first(const ReferenceMatrix& m, const std::vector<NodePtr>& line, Statements& to) {
    return has_point_lanes_ ? apply_into_lanes(context_, m, line) : apply_to_line(context_, m, line, to);
  }
  /// Lines of dofs along axis 0, numbered over all components, and the values that they are.
  void each_dof_line(const FieldStages& s, Statements& to,
                     const std::function<void(const NodePtr& number, const NodePtr& values, Statements& body)>& move) {
    const std::string c = context_.fresh("c"), k = context_.fresh("k"), j = context_.fresh("j");
    const int rows = dim_ == 3 ? q_ : 1;
    Statements body;
    move(line_number(s, variable(c), variable(k), variable(j)),
         iadd(layer_of(variable(c), variable(k)), imul(variable(j), integer(line_))), body);
    to.push_back(for_each(c, s.components, {for_each(k, q_, {for_each(j, rows, body)})}));
  }
  void dofs_to_values(const FieldStages& s, Statements& to) {
    each_dof_line(s, to, [&](const NodePtr& number, const NodePtr& values, Statements& body) {
      store_line(context_, s.values, values, 1, s.cell_dofs->load_vectors(number), body);
    });
  }
  void values_to_dofs(const FieldStages& s, Statements& to) {
    each_dof_line(s, to, [&](const NodePtr& number, const NodePtr& values, Statements& body) {
      s.cell_dofs->store_vectors(number, load_line(context_, s.values, values, line_, 1, body), body);
    });
  }
  NodePtr for_each(const std::string& name, int count, Statements body) const {
    return loop(name, integer(count), block(std::move(body)));
  }

  // --- from dofs to points
  // ----------------------------------------------------------------------------------------------
  void load_field(int e, Statements& to) {
    const auto& s = inputs_[static_cast<std::size_t>(e)];
    if (e < static_cast<int>(program_.inputs.size()))
      gather(context_, e, s.dofs, placement(s), to);
    else
      load_nodes(context_, s.dofs, placement(s), to);
  }

  /// Axes before the last, one layer of the last axis at a time; then the last axis column by column, with its
  /// derivative.
  void interpolate(int e, Statements& to) {
    const auto& s = inputs_[static_cast<std::size_t>(e)];
    const auto& v = evaluation(e);
    if (!s.interpolates && has_point_lanes_) dofs_to_values(s, to);
    const std::string c = context_.fresh("c");
    Statements per_component;
    if (s.interpolates) {
      const std::string k = context_.fresh("k");
      Statements per_layer;
      interpolate_layer(s, v, variable(c), variable(k), per_layer);
      per_component.push_back(for_each(k, s.nodes, per_layer));
    }
    if (s.interpolates || !s.last.empty()) {
      const std::string i = context_.fresh("i");
      Statements column;
      last_axis(s, v, variable(c), variable(i), column);
      per_component.push_back(for_each(i, columns_, column));
    }
    if (!per_component.empty()) to.push_back(for_each(c, s.components, per_component));
  }
  /// Values on one column of the last axis, and their derivative along it.
  void last_axis(const FieldStages& s, const CollocatedEvaluation& v, const NodePtr& component, const NodePtr& i,
                 Statements& to) {
    const NodePtr base = iadd(imul(component, integer(volume_)), i);
    std::vector<NodePtr> values;
    if (!s.interpolates)
      values = load_line(context_, s.values, base, q_, layer_, to);
    else {
      const auto& interpolation = matrix(v.interpolation[static_cast<std::size_t>(last_axis_)]);
      const auto line = load_line(context_, s.partial, base, s.nodes, layer_, to);
      if (!s.last.empty() && goes_by_halves(context_, interpolation) &&
          goes_by_halves(context_, matrix(v.differentiation))) {
        Halves halves = apply(context_, interpolation, halves_of(context_, line, to), 1, to);
        if (halves.middle != nullptr) halves.middle = context_.define(to, "v", halves.middle);
        store_line(context_, s.values, base, layer_, line_of(halves), to);
        store_line(context_, s.last, base, layer_, line_of(apply(context_, matrix(v.differentiation), halves, 1, to)),
                   to);
        return;
      }
      for (const auto& value : apply_to_line(context_, interpolation, line, to))
        values.push_back(context_.define(to, "v", value));
      store_line(context_, s.values, base, layer_, values, to);
    }
    if (!s.last.empty())
      store_line(context_, s.last, base, layer_, apply_to_line(context_, matrix(v.differentiation), values, to), to);
  }
  /// One layer (component, last-axis dof) from dofs to `partial`: axis 0, and in 3D axis 1.
  void interpolate_layer(const FieldStages& s, const CollocatedEvaluation& v, const NodePtr& component,
                         const NodePtr& k, Statements& to) {
    const NodePtr target = layer_of(component, k);
    const int rows = power(s.nodes, dim_ - 2);
    const auto along_first = [&](const NodePtr& row, const std::string& array, const NodePtr& base, Statements& body) {
      const auto line = has_point_lanes_
                            ? s.cell_dofs->load_line(line_number(s, component, k, row), body)
                            : load_line(context_, s.dofs, iadd(target, imul(row, integer(s.nodes))), s.nodes, 1, body);
      store_line(context_, array, base, 1, apply_first(matrix(v.interpolation[0]), line, body), body);
    };
    if (dim_ == 2) {
      along_first(integer(0), s.partial, target, to);
      return;
    }
    const std::string plane = work_plane();
    const std::string j = context_.fresh("j"), i = context_.fresh("i");
    Statements along_0, along_1;
    along_first(variable(j), plane, imul(variable(j), integer(line_)), along_0);
    to.push_back(for_each(j, rows, along_0));
    map_line(matrix(v.interpolation[1]), plane, variable(i), line_, s.partial, iadd(target, variable(i)), line_,
             along_1);
    to.push_back(for_each(i, line_, along_1));
  }
  std::string work_plane() { return context_.work("plane", std::int64_t{std::max(max_nodes(), q_)} * line_); }
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
  NodePtr slab_base(const NodePtr& component) const {
    const NodePtr base = imul(component, integer(slab_));
    return slab_ == line_ ? base : iadd(base, imul(variable("q1"), integer(line_)));
  }
  NodePtr line_base(const NodePtr& component) const {
    return dim_ == 3 ? iadd(layer_base(component), imul(variable("q1"), integer(line_)))
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
    // columns stay in registers for a layer of lines
    Statements derivatives, transposed;
    for (std::size_t e = 0; e < inputs_.size(); ++e) line_derivative(static_cast<int>(e), derivatives);
    for (std::size_t o = 0; o < outputs_.size(); ++o) line_transposed(static_cast<int>(o), transposed);
    const bool is_line = slab_ == line_;
    if (is_line) lines.insert(lines.end(), derivatives.begin(), derivatives.end());
    lines.push_back(loop("q0", integer(line_), block(in_line), is_unrolled_ ? LoopStyle::unrolled : LoopStyle::rolled));
    if (is_line) lines.insert(lines.end(), transposed.begin(), transposed.end());
    if (!is_line && !derivatives.empty()) layers.push_back(for_each("q1", q_, derivatives));
    layers.push_back(for_each("q1", q_, lines));
    if (!is_line && !transposed.empty()) layers.push_back(for_each("q1", q_, transposed));
    for (std::size_t o = 0; o < outputs_.size(); ++o) middle_transposed(static_cast<int>(o), layers);
    if (dim_ == 3)
      to.push_back(for_each("q2", q_, layers));
    else
      to.insert(to.end(), layers.begin(), layers.end());
  }
  /// Short point functions are written out for every point of a line, so that the line stays in registers.
  bool unrolls_points(const Statements& body) const { return static_cast<int>(body.size()) * line_ <= 320; }

  void middle_derivative(int e, Statements& to) {
    const auto& s = inputs_[static_cast<std::size_t>(e)];
    if (s.middle.empty()) return;
    const std::string c = context_.fresh("c"), i = context_.fresh("i");
    Statements body;
    map_line(matrix(evaluation(e).differentiation), s.values, iadd(layer_base(variable(c)), variable(i)), line_,
             s.middle, iadd(imul(variable(c), integer(layer_)), variable(i)), line_, body);
    to.push_back(for_each(c, s.components, {for_each(i, line_, body)}));
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
      const auto line = load_first(s.values, line_base(c), q_, body);
      store_line(context_, s.line, slab_base(c), 1, apply_first(matrix(evaluation(e).differentiation), line, body),
                 body);
    });
  }
  void line_transposed(int o, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    if (s.line.empty()) return;
    per_component(s.components, to, [&](const NodePtr& c, Statements& body) {
      const NodePtr base = slab_base(c);
      const auto line = load_first(s.line, base, q_, body);
      auto result = apply_first(matrix(integration(o).differentiation), line, body);
      if (!s.line_value.empty())
        for (int r = 0; r < line_; ++r) {
          auto& value = result[static_cast<std::size_t>(r)];
          value = operation(form::ScalarOp::add, {value, context_.load(s.line_value, entry(base, r))});
        }
      store_line(context_, s.values, line_base(c), 1, result, body);
    });
  }
  /// Adds the transposed derivative along axis 1 of a layer; it stores where nothing was stored before.
  void middle_transposed(int o, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    if (s.middle.empty()) return;
    const std::string c = context_.fresh("c"), i = context_.fresh("i");
    Statements body;
    map_line(matrix(integration(o).differentiation), s.middle, iadd(imul(variable(c), integer(layer_)), variable(i)),
             line_, s.values, iadd(layer_base(variable(c)), variable(i)), line_, body, has_line_result(o));
    to.push_back(for_each(c, s.components, {for_each(i, line_, body)}));
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
        return context_.load(s.line, context_.work_entry(iadd(slab_base(integer(c)), variable("q0"))));
      const NodePtr at_point = context_.work_entry(iadd(line_base(integer(c)), variable("q0")));
      if (array == v.values) return context_.load(s.values, at_point);
      if (array == v.derivatives[static_cast<std::size_t>(last_axis_)]) return context_.load(s.last, at_point);
      if (dim_ == 3 && array == v.derivatives[1]) return context_.load(s.middle, middle_entry(c));
    }
    throw base::InternalError("fused cells: unknown input slot");
  }
  NodePtr middle_entry(int c) const {
    return context_.work_entry(iadd(iadd(integer(c * layer_), imul(variable("q1"), integer(line_))), variable("q0")));
  }
  void write_slot(std::size_t i, NodePtr value, Statements& to) {
    const auto& slot = program_.output_slots[i];
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const auto& w = program_.integrations[o];
      const auto& s = outputs_[o];
      const NodePtr in_line = context_.work_entry(iadd(slab_base(integer(slot.component)), variable("q0")));
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
      store_line(context_, s.partial, base, layer_, restricted_column(o, base, column), column);
    else {
      auto total = column_total(o, base, column);
      const std::string weights = context_.global(Role::weights);
      for (int r = 0; r < q_; ++r) {
        auto& value = total[static_cast<std::size_t>(r)];
        const NodePtr weight = context_.fetch(weights, iadd_point(integer(r * power(q_, dim_ - 1)), variable(i)));
        value = operation(form::ScalarOp::mul, {weight, value});
      }
      store_line(context_, s.values, base, layer_, total, column);
    }
    to.push_back(for_each(c, s.components, {for_each(i, columns_, column)}));
    if (!s.interpolates && has_point_lanes_) values_to_dofs(s, to);
  }
  /// start + number of the point, or of those in the lanes, that is entry `i` of a layer.
  NodePtr iadd_point(NodePtr start, const NodePtr& i) const {
    if (!has_point_lanes_) return iadd(std::move(start), i);
    const NodePtr row = line_ == 1 ? i : idiv(i, line_);
    const NodePtr in_row = line_ == 1 ? integer(0) : imul(isub(i, imul(row, integer(line_))), integer(lanes_));
    return context_.at_point(iadd(std::move(start), iadd(imul(row, integer(q_)), in_row)));
  }
  bool has_values(int o) const { return has_line_result(o) || !outputs_[static_cast<std::size_t>(o)].middle.empty(); }
  /// What the points of a column of the last axis amount to: their values and the transposed derivative.
  std::vector<NodePtr> column_total(int o, const NodePtr& base, Statements& to) {
    const auto& s = outputs_[static_cast<std::size_t>(o)];
    std::vector<NodePtr> total;
    if (!s.last.empty())
      total = apply_to_line(context_, matrix(integration(o).differentiation),
                            load_line(context_, s.last, base, q_, layer_, to), to);
    if (has_values(o)) total = sums(load_line(context_, s.values, base, q_, layer_, to), total);
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
    Halves total = halves_of(context_, load_line(context_, s.last, base, q_, layer_, to), to);
    total = apply(context_, matrix(w.differentiation), total, 0.5, to);
    if (has_values(o)) {
      const Halves values = halves_of(context_, load_line(context_, s.values, base, q_, layer_, to), to);
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
    const std::string c = context_.fresh("c"), k = context_.fresh("k");
    Statements per_layer;
    const NodePtr from = layer_of(variable(c), variable(k));
    const auto along_first = [&](const std::string& array, const NodePtr& base, const NodePtr& row, Statements& body) {
      const auto line = load_first(array, base, q_, body);
      const auto values = apply_first(matrix(w.interpolation[0]), line, body);
      if (has_point_lanes_)
        s.cell_dofs->store_vectors(line_number(s, variable(c), variable(k), row), values, body);
      else
        store_line(context_, s.dofs, iadd(from, imul(row, integer(s.nodes))), 1, values, body);
    };
    if (dim_ == 2)
      along_first(s.partial, from, integer(0), per_layer);
    else {
      const std::string plane = work_plane();
      const std::string j = context_.fresh("j"), i = context_.fresh("i");
      Statements along_1, along_0;
      map_line(matrix(w.interpolation[1]), s.partial, iadd(from, variable(i)), line_, plane, variable(i), line_,
               along_1);
      per_layer.push_back(for_each(i, line_, along_1));
      along_first(plane, imul(variable(j), integer(line_)), variable(j), along_0);
      per_layer.push_back(for_each(j, s.nodes, along_0));
    }
    to.push_back(for_each(c, s.components, {for_each(k, s.nodes, per_layer)}));
  }

  Context& context_;
  const kernel::TensorProgram& program_;
  int dim_, q_, lanes_;
  bool has_point_lanes_;
  int line_;    ///< entries of a line of points along axis 0: points, or vectors of them
  int layer_;   ///< entries from one layer of the last axis to the next
  int columns_; ///< entries of a layer
  int slab_;    ///< entries that derivatives along axis 0 are taken of at a time
  int last_axis_, volume_ = 0;
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

void lower_fused(Context& context, Statements& to) {
  Fusion fusion(context, false);
  begin_integral(context, to);
  fusion.load_fields(to);
  fusion.evaluate(to);
  for (int o = 0; o < fusion.num_outputs(); ++o) {
    fusion.integrate(o, to);
    fusion.store_field(o, to);
  }
  end_integral(context, to);
}

void lower_fused_points(Context& context, Statements& to) {
  Fusion fusion(context, true);
  fusion.load_fields(to);
  context.lane_axis = LaneAxis::point;
  Statements cell;
  fusion.evaluate(cell);
  for (int o = 0; o < fusion.num_outputs(); ++o) fusion.integrate(o, cell);
  to.push_back(loop("cell", integer(context.plan.lanes), block(std::move(cell))));
  context.lane_axis = LaneAxis::cell;
  for (int o = 0; o < fusion.num_outputs(); ++o) fusion.store_field(o, to);
}

} // namespace rafter::schedule

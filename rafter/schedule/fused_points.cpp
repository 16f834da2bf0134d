// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/error.hpp>
#include <rafter/schedule/fused_stages.hpp>

namespace rafter::schedule {

namespace {

class Points {
public:
  explicit Points(FusedArrays& arrays) : arrays_(arrays), context_(arrays.context), program_(arrays.program) {}

  void lower(Statements& to) {
    PointStage stage(
        context_, {[this](const kernel::InputSlot& slot) { return read_slot(slot); },
                   [this](std::size_t i, NodePtr value, Statements& body) { write_slot(i, std::move(value), body); }});
    stage.at_cell(to);
    Statements layers, lines, in_line;
    if (arrays_.dim == 3) {
      stage.at_axis(2, layers);
      for (std::size_t e = 0; e < arrays_.inputs.size(); ++e) middle_derivative(e, layers);
    }
    stage.at_axis(1, lines);
    stage.at_axis(0, in_line);
    stage.at_point(in_line);
    is_unrolled_ = unrolls_points(in_line);
    slabs(lines, in_line, layers);
    for (std::size_t o = 0; o < arrays_.outputs.size(); ++o) middle_transposed(o, layers);
    if (arrays_.dim == 3)
      to.push_back(for_each("q2", arrays_.q, layers));
    else
      to.insert(to.end(), layers.begin(), layers.end());
  }

private:
  const kernel::CollocatedEvaluation& evaluation(std::size_t e) const { return program_.evaluations[e]; }
  const kernel::CollocatedIntegration& integration(std::size_t o) const { return program_.integrations[o]; }
  /// Entry base + offset of a work array.
  NodePtr entry(const NodePtr& base, const NodePtr& offset) const { return context_.work_entry(iadd(base, offset)); }

  /// Says whether the loop over the points of a line is unrolled: for short QFunctions, so that the line stays in
  /// registers.
  bool unrolls_points(const Statements& body) const { return static_cast<int>(body.size()) * arrays_.line <= 320; }

  /// Loops over the lines of a layer. Derivatives along axis 0 come before each line and their transposes after it, or,
  /// where points stand in lanes, before and after the whole layer (so that columns of the matrices stay in registers).
  /// `lines` begins with statements for one line; `in_line` are those for one point.
  void slabs(Statements lines, const Statements& in_line, Statements& layers) {
    Statements derivatives, transposed;
    for (std::size_t e = 0; e < arrays_.inputs.size(); ++e) line_derivative(e, derivatives);
    for (std::size_t o = 0; o < arrays_.outputs.size(); ++o) line_transposed(o, transposed);
    const bool is_line = arrays_.slab == arrays_.line;
    if (is_line) lines.insert(lines.end(), derivatives.begin(), derivatives.end());
    lines.push_back(
        loop("q0", integer(arrays_.line), block(in_line), is_unrolled_ ? LoopStyle::unrolled : LoopStyle::rolled));
    if (is_line) lines.insert(lines.end(), transposed.begin(), transposed.end());
    if (!is_line && !derivatives.empty()) layers.push_back(for_each("q1", arrays_.q, derivatives));
    layers.push_back(for_each("q1", arrays_.q, lines));
    if (!is_line && !transposed.empty()) layers.push_back(for_each("q1", arrays_.q, transposed));
  }

  // --- derivatives along axis 1, layer by layer ---------------------------------------------------------------------
  NodePtr middle_base(const NodePtr& component, const NodePtr& i) const {
    return iadd(imul(component, integer(arrays_.layer)), i);
  }
  void middle_derivative(std::size_t e, Statements& to) {
    const auto& s = arrays_.inputs[e];
    if (s.middle.empty()) return;
    const std::string c = context_.fresh("c"), i = context_.fresh("i");
    Statements body;
    arrays_.map_line(arrays_.matrix(evaluation(e).differentiation[1]), s.values,
                     iadd(arrays_.layer_base(variable(c)), variable(i)), s.middle,
                     middle_base(variable(c), variable(i)), body);
    to.push_back(for_each(c, s.components, {for_each(i, arrays_.line, body)}));
  }
  /// Applies the transposed derivative along axis 1; adds to the values, or stores where nothing was stored before.
  void middle_transposed(std::size_t o, Statements& to) {
    const auto& s = arrays_.outputs[o];
    if (s.middle.empty()) return;
    const std::string c = context_.fresh("c"), i = context_.fresh("i");
    const bool adds = !s.line.empty() || integration(o).values >= 0;
    Statements body;
    arrays_.map_line(arrays_.matrix(integration(o).differentiation[1]), s.middle, middle_base(variable(c), variable(i)),
                     s.values, iadd(arrays_.layer_base(variable(c)), variable(i)), body, adds);
    to.push_back(for_each(c, s.components, {for_each(i, arrays_.line, body)}));
  }

  // --- derivatives along axis 0, line by line -----------------------------------------------------------------------
  /// Emits `body` for every component: written out beside an unrolled QFunction (numbers as indices let the line's
  /// array become registers), as a loop beside a rolled one.
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
  void line_derivative(std::size_t e, Statements& to) {
    const auto& s = arrays_.inputs[e];
    if (s.line.empty()) return;
    const auto& differentiation = arrays_.matrix(evaluation(e).differentiation[0]);
    per_component(s.components, to, [&](const NodePtr& c, Statements& body) {
      const auto line = arrays_.load_first(s.values, arrays_.line_base(c), arrays_.q, body);
      store_line(context_, s.line, arrays_.slab_base(c), 1, arrays_.apply_first(differentiation, line, body), body);
    });
  }
  void line_transposed(std::size_t o, Statements& to) {
    const auto& s = arrays_.outputs[o];
    if (s.line.empty()) return;
    const auto& differentiation = arrays_.matrix(integration(o).differentiation[0]);
    per_component(s.components, to, [&](const NodePtr& c, Statements& body) {
      const NodePtr base = arrays_.slab_base(c);
      const auto line = arrays_.load_first(s.line, base, arrays_.q, body);
      auto result = arrays_.apply_first(differentiation, line, body);
      if (!s.line_value.empty())
        for (int r = 0; r < arrays_.line; ++r) {
          auto& value = result[static_cast<std::size_t>(r)];
          value = operation(form::ScalarOp::add, {value, context_.load(s.line_value, entry(base, integer(r)))});
        }
      store_line(context_, s.values, arrays_.line_base(c), 1, result, body);
    });
  }

  // --- the QFunction -------------------------------------------------------------------------------------------
  // Entry of the current point in arrays of all points, of a layer and of a slab (a line or layer along axis 0).
  NodePtr at_point(int component) const { return entry(arrays_.line_base(integer(component)), variable("q0")); }
  NodePtr in_layer(int component) const {
    return entry(iadd(integer(component * arrays_.layer), imul(variable("q1"), integer(arrays_.line))), variable("q0"));
  }
  NodePtr in_slab(int component) const { return entry(arrays_.slab_base(integer(component)), variable("q0")); }

  NodePtr read_slot(const kernel::InputSlot& input) const {
    const int c = input.slot.component, array = input.slot.array;
    for (std::size_t e = 0; e < arrays_.inputs.size(); ++e) {
      const auto& v = evaluation(e);
      const auto& s = arrays_.inputs[e];
      if (array == v.derivatives[0]) return context_.load(s.line, in_slab(c));
      if (array == v.values) return context_.load(s.values, at_point(c));
      if (array == v.derivatives[static_cast<std::size_t>(arrays_.last_axis)])
        return context_.load(s.last, at_point(c));
      if (arrays_.dim == 3 && array == v.derivatives[1]) return context_.load(s.middle, in_layer(c));
    }
    throw base::InternalError("fused cells: unknown input slot");
  }
  void write_slot(std::size_t i, NodePtr value, Statements& to) {
    const auto& slot = program_.output_slots[i];
    const int c = slot.component;
    for (std::size_t o = 0; o < arrays_.outputs.size(); ++o) {
      const auto& w = integration(o);
      const auto& s = arrays_.outputs[o];
      if (slot.array == w.values)
        to.push_back(s.line.empty() ? store(s.values, at_point(c), value) : store(s.line_value, in_slab(c), value));
      else if (slot.array == w.derivatives[0])
        to.push_back(store(s.line, in_slab(c), value));
      else if (slot.array == w.derivatives[static_cast<std::size_t>(arrays_.last_axis)])
        to.push_back(store(s.last, at_point(c), value));
      else if (arrays_.dim == 3 && slot.array == w.derivatives[1])
        to.push_back(store(s.middle, in_layer(c), value));
      else
        continue;
      return;
    }
    throw base::InternalError("fused cells: unknown output slot");
  }

  FusedArrays& arrays_;
  Context& context_;
  const kernel::TensorProgram& program_;
  bool is_unrolled_ = false;
};

} // namespace

void evaluate_points(FusedArrays& arrays, Statements& to) { Points(arrays).lower(to); }

} // namespace rafter::schedule

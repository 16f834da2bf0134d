// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_arrays.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace rafter::schedule {

using kernel::ReferenceMatrix;

namespace {

int power(int n, int exponent) { return exponent == 0 ? 1 : n * power(n, exponent - 1); }

} // namespace

NodePtr for_each(const std::string& name, int count, Statements body) {
  return loop(name, integer(count), block(std::move(body)));
}

// --- arrays ---------------------------------------------------------------------------------------------------------

FusedArrays::FusedArrays(Context& program_context, bool points_in_lanes)
    : context(program_context), program(context.program), dim(program.tdim), q(program.points_along(0)),
      vector_width(context.plan[key::vector_width]), last_axis(dim - 1), has_point_lanes(points_in_lanes),
      line(has_point_lanes ? (q + vector_width - 1) / vector_width : q), columns(dim == 3 ? q * line : line),
      slab(has_point_lanes && dim == 3 ? columns : line), layer(layer_distance(context, columns)), volume(layer * q) {
  declare_inputs();
  declare_outputs();
}

FieldStages FusedArrays::declare(const std::string& name, int components, int nodes, bool interpolates,
                                 const std::array<int, 3>& derivatives, bool is_output, bool has_value) const {
  const auto is_derived = [&](int axis) { return derivatives[static_cast<std::size_t>(axis)] >= 0; };
  FieldStages s;
  s.components = components;
  s.nodes = nodes;
  s.interpolates = interpolates;
  s.values = context.work(name + "_values", std::int64_t{components} * volume);
  if (has_point_lanes) s.cell_dofs.emplace(context, CellDofs::Field{name, components, nodes, dim, is_output});
  s.dofs = has_point_lanes ? s.cell_dofs->gathered() : s.values;
  if (is_derived(last_axis)) s.last = context.work(name + "_last", std::int64_t{components} * volume);
  s.partial = s.last.empty() ? s.values : s.last;
  if (dim == 3 && is_derived(1)) s.middle = context.work(name + "_middle", std::int64_t{components} * layer);
  if (is_derived(0)) {
    s.line = context.work(name + (is_output ? "_out" : "") + "_line", std::int64_t{components} * slab);
    if (is_output && has_value) s.line_value = context.work(name + "_value", std::int64_t{components} * slab);
  }
  return s;
}

void FusedArrays::declare_inputs() {
  for (std::size_t e = 0; e < program.evaluations.size(); ++e) {
    const auto& v = program.evaluations[e];
    const int nodes = program.extent(program.array(v.dofs).axes.back());
    inputs.push_back(declare(fmt::format("u{}", e), program.num_components(v.dofs), nodes, v.interpolation[0] >= 0,
                             v.derivatives, false, true));
  }
}

void FusedArrays::declare_outputs() {
  for (std::size_t o = 0; o < program.integrations.size(); ++o) {
    const auto& w = program.integrations[o];
    const auto& use = program.outputs[o];
    // The results of an output use the arrays of the input with the same number: each point (and line) is read before
    // it is overwritten.
    const bool may_overwrite =
        o < program.inputs.size() && inputs[o].components == use.components && program.inputs[o].element == use.element;
    const std::string name = fmt::format("{}{}", may_overwrite ? "u" : "r", o);
    outputs.push_back(declare(name, use.components, use.element->extents()[0], w.interpolation[0] >= 0, w.derivatives,
                              true, w.values >= 0));
  }
}

std::string FusedArrays::work_plane() const {
  int rows = q;
  for (const auto* fields : {&inputs, &outputs})
    for (const auto& s : *fields) rows = std::max(rows, s.nodes);
  return context.work("plane", std::int64_t{rows} * line);
}

// --- places ---------------------------------------------------------------------------------------------------------

Placement FusedArrays::placement(const FieldStages& s) const {
  if (has_point_lanes) return Placement::dense(power(s.nodes, dim));
  return Placement::layers(s.nodes, power(s.nodes, dim - 1), layer, volume);
}
NodePtr FusedArrays::line_number(const FieldStages& s, const NodePtr& component, const NodePtr& k,
                                 const NodePtr& row) const {
  return iadd(imul(iadd(imul(component, integer(s.nodes)), k), integer(rows_of(s))), row);
}
NodePtr FusedArrays::layer_of(const NodePtr& component, const NodePtr& k) const {
  return iadd(imul(component, integer(volume)), imul(k, integer(layer)));
}
NodePtr FusedArrays::layer_base(const NodePtr& component) const {
  return iadd(imul(component, integer(volume)), dim == 3 ? imul(variable("q2"), integer(layer)) : integer(0));
}
NodePtr FusedArrays::line_base(const NodePtr& component) const {
  return iadd(layer_base(component), imul(variable("q1"), integer(dim == 3 ? line : layer)));
}
NodePtr FusedArrays::slab_base(const NodePtr& component) const {
  const NodePtr base = imul(component, integer(slab));
  return slab == line ? base : iadd(base, imul(variable("q1"), integer(line)));
}

// --- lines ----------------------------------------------------------------------------------------------------------

void FusedArrays::map_line(const ReferenceMatrix& m, const std::string& source, const NodePtr& source_base,
                           const std::string& target, const NodePtr& target_base, Statements& to, bool adds) const {
  const auto numbers = load_line(context, source, source_base, m.cols, line, to);
  store_line(context, target, target_base, line, apply_to_line(context, m, numbers, to), to, adds);
}
std::vector<NodePtr> FusedArrays::load_first(const std::string& array, const NodePtr& base, int count,
                                             Statements& to) const {
  if (!has_point_lanes) return load_line(context, array, base, count, 1, to);
  std::vector<NodePtr> numbers;
  for (int k = 0; k < count; ++k)
    numbers.push_back(
        context.define(to, "u", context.load(array, iadd(imul(base, integer(vector_width)), integer(k)))));
  return numbers;
}
std::vector<NodePtr> FusedArrays::apply_first(const ReferenceMatrix& m, const std::vector<NodePtr>& numbers,
                                              Statements& to) const {
  return has_point_lanes ? apply_into_vectors(context, m, numbers) : apply_to_line(context, m, numbers, to);
}

/// Calls `move` in a loop over all lines of dofs along axis 0, with the number of the line and the first entry of its
/// values.
void FusedArrays::each_dof_line(
    const FieldStages& s, Statements& to,
    const std::function<void(const NodePtr& number, const NodePtr& values, Statements& body)>& move) const {
  const std::string c = context.fresh("c"), k = context.fresh("k"), j = context.fresh("j");
  Statements body;
  move(line_number(s, variable(c), variable(k), variable(j)),
       iadd(layer_of(variable(c), variable(k)), imul(variable(j), integer(line))), body);
  to.push_back(for_each(c, s.components, {for_each(k, q, {for_each(j, dim == 3 ? q : 1, body)})}));
}
void FusedArrays::dofs_to_values(const FieldStages& s, Statements& to) const {
  each_dof_line(s, to, [&](const NodePtr& number, const NodePtr& values, Statements& body) {
    store_line(context, s.values, values, 1, s.cell_dofs->load_vectors(number), body);
  });
}
void FusedArrays::values_to_dofs(const FieldStages& s, Statements& to) const {
  each_dof_line(s, to, [&](const NodePtr& number, const NodePtr& values, Statements& body) {
    s.cell_dofs->store_vectors(number, load_line(context, s.values, values, line, 1, body), body);
  });
}

} // namespace rafter::schedule

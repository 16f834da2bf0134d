// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_stages.hpp>

namespace rafter::schedule {

namespace {

class Interpolation {
public:
  Interpolation(FusedArrays& arrays, int e)
      : arrays_(arrays), context_(arrays.context), field_(arrays.inputs[static_cast<std::size_t>(e)]),
        evaluation_(arrays.program.evaluations[static_cast<std::size_t>(e)]) {}

  /// Contracts the axes before the last, one layer of the last axis at a time, then the last axis column by column.
  void lower(Statements& to) {
    if (!field_.interpolates && arrays_.has_point_lanes) arrays_.dofs_to_values(field_, to);
    const std::string c = context_.fresh("c");
    Statements per_component;
    if (field_.interpolates) {
      const std::string k = context_.fresh("k");
      Statements per_layer;
      layer(variable(c), variable(k), per_layer);
      per_component.push_back(for_each(k, field_.nodes, per_layer));
    }
    if (field_.interpolates || !field_.last.empty()) {
      const std::string i = context_.fresh("i");
      Statements per_column;
      column(variable(c), variable(i), per_column);
      per_component.push_back(for_each(i, arrays_.columns, per_column));
    }
    if (!per_component.empty()) to.push_back(for_each(c, field_.components, per_component));
  }

private:
  const kernel::ReferenceMatrix& interpolation(int axis) const {
    return arrays_.matrix(evaluation_.interpolation[static_cast<std::size_t>(axis)]);
  }
  /// Returns the matrix that acts along the last axis.
  const kernel::ReferenceMatrix& differentiation() const {
    return arrays_.matrix(evaluation_.differentiation[static_cast<std::size_t>(arrays_.last_axis)]);
  }

  /// Computes the values on one column of the last axis, and their derivative along it.
  void column(const NodePtr& component, const NodePtr& i, Statements& to) {
    const NodePtr base = iadd(imul(component, integer(arrays_.volume)), i);
    if (!field_.interpolates) {
      derivative(base, load_line(context_, field_.values, base, arrays_.q, arrays_.layer, to), to);
      return;
    }
    const auto& matrix = interpolation(arrays_.last_axis);
    const auto line = load_line(context_, field_.partial, base, field_.nodes, arrays_.layer, to);
    if (!field_.last.empty() && goes_by_halves(context_, matrix) && goes_by_halves(context_, differentiation())) {
      column_by_halves(base, line, to);
      return;
    }
    std::vector<NodePtr> values;
    for (const auto& value : apply_to_line(context_, matrix, line, to))
      values.push_back(context_.define(to, "v", value));
    store_line(context_, field_.values, base, arrays_.layer, values, to);
    derivative(base, values, to);
  }
  void derivative(const NodePtr& base, const std::vector<NodePtr>& values, Statements& to) {
    if (field_.last.empty()) return;
    store_line(context_, field_.last, base, arrays_.layer, apply_to_line(context_, differentiation(), values, to), to);
  }
  void column_by_halves(const NodePtr& base, const std::vector<NodePtr>& line, Statements& to) {
    Halves halves = apply(context_, interpolation(arrays_.last_axis), halves_of(context_, line, to), 1, to);
    if (halves.middle != nullptr) halves.middle = context_.define(to, "v", halves.middle);
    store_line(context_, field_.values, base, arrays_.layer, line_of(halves), to);
    store_line(context_, field_.last, base, arrays_.layer, line_of(apply(context_, differentiation(), halves, 1, to)),
               to);
  }

  /// Interpolates one layer (component, last-axis dof) from dofs to `partial`: along axis 0, and in 3D along axis 1.
  void layer(const NodePtr& component, const NodePtr& k, Statements& to) {
    const NodePtr target = arrays_.layer_of(component, k);
    if (arrays_.dim == 2) {
      along_first(component, k, integer(0), field_.partial, target, to);
      return;
    }
    const std::string plane = arrays_.work_plane();
    const std::string j = context_.fresh("j"), i = context_.fresh("i");
    Statements along_0, along_1;
    along_first(component, k, variable(j), plane, imul(variable(j), integer(arrays_.line)), along_0);
    to.push_back(for_each(j, arrays_.rows_of(field_), along_0));
    arrays_.map_line(interpolation(1), plane, variable(i), field_.partial, iadd(target, variable(i)), along_1);
    to.push_back(for_each(i, arrays_.line, along_1));
  }
  /// Interpolates one line of dofs along axis 0; its values go to `base` of an array.
  void along_first(const NodePtr& component, const NodePtr& k, const NodePtr& row, const std::string& array,
                   const NodePtr& base, Statements& to) {
    const NodePtr dofs = iadd(arrays_.layer_of(component, k), imul(row, integer(field_.nodes)));
    const auto line = arrays_.has_point_lanes
                          ? field_.cell_dofs->load_line(arrays_.line_number(field_, component, k, row), to)
                          : load_line(context_, field_.dofs, dofs, field_.nodes, 1, to);
    store_line(context_, array, base, 1, arrays_.apply_first(interpolation(0), line, to), to);
  }

  FusedArrays& arrays_;
  Context& context_;
  const FieldStages& field_;
  const kernel::CollocatedEvaluation& evaluation_;
};

} // namespace

void interpolate(FusedArrays& arrays, int e, Statements& to) { Interpolation(arrays, e).lower(to); }

} // namespace rafter::schedule

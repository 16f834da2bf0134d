// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_stages.hpp>

namespace rafter::schedule {

namespace {

std::vector<NodePtr> sums(std::vector<NodePtr> a, const std::vector<NodePtr>& b) {
  for (std::size_t i = 0; i < b.size(); ++i) a[i] = operation(form::ScalarOp::add, {a[i], b[i]});
  return a;
}

class Integration {
public:
  Integration(FusedArrays& arrays, int o)
      : arrays_(arrays), context_(arrays.context), field_(arrays.outputs[static_cast<std::size_t>(o)]),
        integration_(arrays.program.integrations[static_cast<std::size_t>(o)]) {}

  /// The last axis column by column, then the axes before it, one layer of the last axis at a time.
  void lower(Statements& to) {
    columns(to);
    if (field_.interpolates) layers(to);
  }

private:
  const kernel::ReferenceMatrix& restriction(int axis) const {
    return arrays_.matrix(integration_.interpolation[static_cast<std::size_t>(axis)]);
  }
  /// Returns the matrix that acts along the last axis.
  const kernel::ReferenceMatrix& differentiation() const {
    return arrays_.matrix(integration_.differentiation[static_cast<std::size_t>(arrays_.last_axis)]);
  }
  /// Says whether something else than the derivative along the last axis is tested.
  bool has_values() const { return !field_.line.empty() || integration_.values >= 0 || !field_.middle.empty(); }
  std::vector<NodePtr> load_column(const std::string& array, const NodePtr& base, Statements& to) {
    return load_line(context_, array, base, arrays_.q, arrays_.layer, to);
  }

  // --- the last axis ------------------------------------------------------------------------------------------------
  void columns(Statements& to) {
    const std::string c = context_.fresh("c"), i = context_.fresh("i");
    Statements column;
    const NodePtr base = iadd(imul(variable(c), integer(arrays_.volume)), variable(i));
    if (field_.interpolates)
      store_line(context_, field_.partial, base, arrays_.layer, restricted_column(base, column), column);
    else
      store_line(context_, field_.values, base, arrays_.layer, weighed_column(base, variable(i), column), column);
    to.push_back(for_each(c, field_.components, {for_each(i, arrays_.columns, column)}));
    if (!field_.interpolates && arrays_.has_point_lanes) arrays_.values_to_dofs(field_, to);
  }
  std::vector<NodePtr> weighed_column(const NodePtr& base, const NodePtr& i, Statements& to) {
    auto total = column_total(base, to);
    const std::string weights = context_.global(role::weights);
    const int num_points = arrays_.dim == 3 ? arrays_.q * arrays_.q : arrays_.q; // points of a layer
    for (int r = 0; r < arrays_.q; ++r) {
      auto& value = total[static_cast<std::size_t>(r)];
      const NodePtr weight = context_.fetch(weights, point_number(integer(r * num_points), i));
      value = operation(form::ScalarOp::mul, {weight, value});
    }
    return total;
  }
  /// start + number of the point, or of those in the lanes, that is entry `i` of a layer.
  NodePtr point_number(NodePtr start, const NodePtr& i) const {
    if (!arrays_.has_point_lanes) return iadd(std::move(start), i);
    const int line = arrays_.line;
    const NodePtr row = line == 1 ? i : idiv(i, line);
    const NodePtr in_row =
        line == 1 ? integer(0) : imul(isub(i, imul(row, integer(line))), integer(arrays_.vector_width));
    return context_.at_point(iadd(std::move(start), iadd(imul(row, integer(arrays_.q)), in_row)));
  }
  /// Returns the total of the points of a column of the last axis: their values and the transposed derivative.
  std::vector<NodePtr> column_total(const NodePtr& base, Statements& to) {
    std::vector<NodePtr> total;
    if (!field_.last.empty())
      total = apply_to_line(context_, differentiation(), load_column(field_.last, base, to), to);
    if (has_values()) total = sums(load_column(field_.values, base, to), total);
    for (auto& value : total) value = context_.define(to, "r", value);
    return total;
  }
  /// The transposed interpolation along the last axis of such a column.
  std::vector<NodePtr> restricted_column(const NodePtr& base, Statements& to) {
    const auto& matrix = restriction(arrays_.last_axis);
    if (field_.last.empty() || !goes_by_halves(context_, matrix) || !goes_by_halves(context_, differentiation()))
      return apply_to_line(context_, matrix, column_total(base, to), to);
    return line_of(apply(context_, matrix, column_total_by_halves(base, to), 1, to));
  }
  Halves column_total_by_halves(const NodePtr& base, Statements& to) {
    Halves total = halves_of(context_, load_column(field_.last, base, to), to);
    total = apply(context_, differentiation(), total, 0.5, to);
    if (has_values()) {
      const Halves values = halves_of(context_, load_column(field_.values, base, to), to);
      total.even = sums(values.even, total.even);
      total.odd = sums(values.odd, total.odd);
      if (total.middle != nullptr) total.middle = operation(form::ScalarOp::add, {values.middle, total.middle});
    }
    for (auto* half : {&total.even, &total.odd})
      for (auto& value : *half) value = context_.define(to, "r", value);
    if (total.middle != nullptr) total.middle = context_.define(to, "r", total.middle);
    return total;
  }

  // --- the axes before it -------------------------------------------------------------------------------------------
  void layers(Statements& to) {
    const std::string c = context_.fresh("c"), k = context_.fresh("k");
    const NodePtr from = arrays_.layer_of(variable(c), variable(k));
    Statements per_layer;
    if (arrays_.dim == 2)
      along_first(field_.partial, from, variable(c), variable(k), integer(0), per_layer);
    else {
      const std::string plane = arrays_.work_plane();
      const std::string j = context_.fresh("j"), i = context_.fresh("i");
      Statements along_1, along_0;
      arrays_.map_line(restriction(1), field_.partial, iadd(from, variable(i)), plane, variable(i), along_1);
      per_layer.push_back(for_each(i, arrays_.line, along_1));
      along_first(plane, imul(variable(j), integer(arrays_.line)), variable(c), variable(k), variable(j), along_0);
      per_layer.push_back(for_each(j, field_.nodes, along_0));
    }
    to.push_back(for_each(c, field_.components, {for_each(k, field_.nodes, per_layer)}));
  }
  /// One line along axis 0 at `base` of an array to its dofs.
  void along_first(const std::string& array, const NodePtr& base, const NodePtr& component, const NodePtr& k,
                   const NodePtr& row, Statements& to) {
    const auto line = arrays_.load_first(array, base, arrays_.q, to);
    const auto dofs = arrays_.apply_first(restriction(0), line, to);
    if (arrays_.has_point_lanes)
      field_.cell_dofs->store_vectors(arrays_.line_number(field_, component, k, row), dofs, to);
    else
      store_line(context_, field_.dofs, iadd(arrays_.layer_of(component, k), imul(row, integer(field_.nodes))), 1, dofs,
                 to);
  }

  FusedArrays& arrays_;
  Context& context_;
  const FieldStages& field_;
  const kernel::CollocatedIntegration& integration_;
};

} // namespace

void integrate(FusedArrays& arrays, int o, Statements& to) { Integration(arrays, o).lower(to); }

} // namespace rafter::schedule

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>

#include <rafter/schedule/fused_stages.hpp>

namespace rafter::schedule {

namespace {

void load_fields(const FusedArrays& arrays, Statements& to) {
  const std::size_t num_fields = arrays.program.inputs.size();
  for (std::size_t e = 0; e < arrays.inputs.size(); ++e) {
    const auto& field = arrays.inputs[e];
    if (e < num_fields)
      gather(arrays.context, static_cast<int>(e), field.dofs, arrays.placement(field), to);
    else
      load_nodes(arrays.context, field.dofs, arrays.placement(field), to);
  }
}

void evaluate_fields(FusedArrays& arrays, Statements& to) {
  for (std::size_t e = 0; e < arrays.inputs.size(); ++e) interpolate(arrays, static_cast<int>(e), to);
  evaluate_points(arrays, to);
}

void store_field(const FusedArrays& arrays, int o, Statements& to) {
  const auto& field = arrays.outputs[static_cast<std::size_t>(o)];
  if (arrays.has_point_lanes) field.cell_dofs->transpose(to);
  scatter(arrays.context, o, field.dofs, arrays.placement(field), to);
}

} // namespace

bool has_equal_extents(const kernel::TensorProgram& program) {
  if (!program.is_grid() || program.tdim < 2) return false;
  const auto differs_from = [&](const kernel::Axis& axis, int other) {
    const auto& of_array = program.axes[static_cast<std::size_t>(other)];
    return of_array.kind == axis.kind && axis.direction >= 0 && of_array.direction >= 0 &&
           of_array.extent != axis.extent;
  };
  return std::ranges::none_of(program.arrays, [&](const kernel::TensorArray& array) {
    return std::ranges::any_of(array.axes, [&](int axis) {
      return std::ranges::any_of(
          array.axes, [&](int other) { return differs_from(program.axes[static_cast<std::size_t>(axis)], other); });
    });
  });
}

bool can_fuse(const kernel::TensorProgram& program) {
  if (!has_equal_extents(program)) return false;
  if (program.evaluations.empty() && program.integrations.empty()) return false;
  const std::size_t num_evaluated = program.inputs.size() + (program.geometry != nullptr ? 1 : 0);
  return program.evaluations.size() == num_evaluated && program.integrations.size() == program.outputs.size();
}

void lower_fused(Context& context, Statements& to) {
  FusedArrays arrays(context, false);
  const int num_outputs = static_cast<int>(arrays.outputs.size());
  begin_integral(context, to);
  load_fields(arrays, to);
  evaluate_fields(arrays, to);
  for (int o = 0; o < num_outputs; ++o) {
    integrate(arrays, o, to);
    store_field(arrays, o, to);
  }
  end_integral(context, to);
}

void lower_fused_points(Context& context, Statements& to) {
  FusedArrays arrays(context, true);
  const int num_outputs = static_cast<int>(arrays.outputs.size());
  load_fields(arrays, to);
  context.parallel_axis = ParallelAxis::point;
  Statements cell;
  evaluate_fields(arrays, cell);
  for (int o = 0; o < num_outputs; ++o) integrate(arrays, o, cell);
  to.push_back(loop("cell", integer(context.plan[key::vector_width]), block(std::move(cell))));
  context.parallel_axis = ParallelAxis::cell;
  for (int o = 0; o < num_outputs; ++o) store_field(arrays, o, to);
}

} // namespace rafter::schedule

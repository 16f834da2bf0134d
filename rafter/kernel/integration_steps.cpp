// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <rafter/kernel/program_steps.hpp>

namespace rafter::kernel {

namespace {

using element::Element;

BasisSlot slot_of(const Output& output) {
  return {output.derivative, output.kind == OutputKind::test_pair ? output.derivative2 : -2};
}
bool is_tested(const Output& output) { return output.kind == OutputKind::test || output.kind == OutputKind::test_pair; }

class Integration {
public:
  Integration(TensorProgram& program, BasisTables& tables) : program_(program), tables_(tables), steps_(program) {
    for (std::size_t f = 0; f < program_.outputs.size(); ++f) slots_.push_back(make_arrays(f));
    for (const auto& output : program_.function.outputs) {
      Slot place;
      if (is_tested(output)) {
        place = slots_[position_of(program_.outputs, output.field)].at(slot_of(output));
        place.component = output.component;
      }
      program_.output_slots.push_back(place);
    }
  }

  /// Adds the steps from the outputs of the QFunction to the dofs of output field `f`.
  void output(std::size_t f) {
    const auto& slots = slots_[f];
    if (slots.empty()) return;
    const auto& element = *program_.outputs[f].element;
    const std::string name = fmt::format("r{}", f);
    // Test functions enter by their values at the nodes, and these are the points: nothing is contracted.
    const auto is_weighed = [&] {
      return slots.size() == 1 && slots.begin()->first == BasisSlot{} && tables_.is_nodal(element);
    };
    const bool is_by_points = program_.is_grid() && (tables_.is_collocated(element) || is_weighed());
    const int result = !program_.is_grid()                                 ? dense(slots, element, name)
                       : is_by_points && slots.begin()->first.second == -2 ? collocated(slots, element, f)
                       : program_.contraction == Contraction::slice_wise   ? slice_wise(slots, element, f)
                                                                           : chains(slots, element, f);
    const auto folding = tables_.dof_folding(element);
    steps_.write(steps_.add_access({.kind = AccessKind::output,
                                    .field = static_cast<int>(f),
                                    .places = folding ? folding->places : std::vector<int>{}}),
                 result);
  }

private:
  using Slots = std::map<BasisSlot, Slot>; ///< place where the QFunction leaves its output for each test slot

  Slots make_arrays(std::size_t f) {
    const auto& use = program_.outputs[f];
    std::set<BasisSlot> tested;
    for (const auto& output : program_.function.outputs)
      if (is_tested(output) && output.field == use.index) tested.insert(slot_of(output));
    Slots result;
    if (tested.empty()) return result;
    if (!program_.is_grid()) {
      const auto num_slots = static_cast<int>(tested.size());
      const int array = steps_.add_array(fmt::format("f{}", f), use.components,
                                         {steps_.add_axis(AxisKind::slot, num_slots), program_.point_axes.front()});
      int number = 0;
      for (const auto& slot : tested) result[slot] = {array, 0, number++};
      return result;
    }
    for (const auto& slot : tested) {
      const std::string second = slot.second == -2 ? "" : "_" + std::to_string(slot.second + 1);
      const std::string name = fmt::format("f{}_{}{}", f, slot.first + 1, second);
      result[slot] = {steps_.add_array(name, use.components, program_.point_axes), 0, 0};
    }
    return result;
  }

  int dense(const Slots& places, const Element& element, const std::string& name) {
    std::vector<BasisSlot> slots;
    for (const auto& [slot, place] : places) slots.push_back(slot);
    const int array = places.begin()->second.array;
    if (tables_.are_dofs(element, slots)) {
      steps_.weigh(array);
      return array;
    }
    const auto folding = tables_.dof_folding(element);
    if (folding && tables_.point_folding()) steps_.butterfly(array, *tables_.point_folding());
    const auto& axes = program_.array(array).axes;
    const int result =
        steps_.contract(array,
                        steps_.family_by_facet(dof_axes(program_, tables_, element), {axes.begin() + 1, axes.end()},
                                               tables_.stacked_transposed(element, slots)),
                        name);
    if (folding) steps_.butterfly(result, *folding);
    return result;
  }
  int chains(const Slots& places, const Element& element, std::size_t f) {
    const int result =
        steps_.add_array(fmt::format("r{}", f), program_.outputs[f].components, dof_axes(program_, tables_, element));
    bool accumulate = false;
    for (const auto& [slot, place] : places) {
      steps_.chain(place.array, tables_.factors(element, slot, true), dof_axes(program_, tables_, element),
                   fmt::format("t{}_{}", f, slot.first + 1), AxisOrder::first_to_last, result, accumulate);
      accumulate = true;
    }
    return result;
  }
  /// Contracts from the first axis on. What has the same matrices along all axes that follow is added up.
  int slice_wise(const Slots& places, const Element& element, std::size_t f) {
    struct Part {
      int array;
      std::vector<int> matrices; ///< by which it is still to be contracted
      int derivative = -1;       ///< the reference axis along which it is, for its name
    };
    std::vector<Part> parts;
    for (const auto& [slot, place] : places) {
      parts.push_back({place.array, {}, slot.first});
      for (const auto& factor : tables_.factors(element, slot, true))
        parts.back().matrices.push_back(steps_.add_matrix(factor));
    }
    auto rows = dof_axes(program_, tables_, element);
    std::ranges::reverse(rows); // the first axis comes first
    for (int axis = 0; axis < program_.tdim; ++axis) {
      std::vector<Part> sums;
      for (const auto& [array, matrices, derivative] : parts) {
        const std::vector<int> others(matrices.begin() + 1, matrices.end());
        const auto sum = std::ranges::find(sums, others, &Part::matrices);
        const bool is_new = sum == sums.end();
        const std::string suffix = derivative > axis ? fmt::format("d{}", derivative) : "";
        const int target = steps_.contract(array,
                                           {.rows = {rows[static_cast<std::size_t>(axis)]},
                                            .cols = {steps_.axis_along(array, axis)},
                                            .members = {matrices.front()}},
                                           fmt::format("r{}_{}{}", f, axis, suffix), is_new ? -1 : sum->array, !is_new);
        if (is_new) sums.push_back({target, others, derivative});
      }
      parts = std::move(sums);
    }
    return parts.front().array;
  }
  /// Adds the steps for B^T W (f_value + sum_a W^-1 D_a^T W f_a), f_a being what multiplies derivative a of the test
  /// function.
  int collocated(const Slots& places, const Element& element, std::size_t f) {
    const auto value = places.find(BasisSlot{});
    int total = value == places.end() ? -1 : value->second.array;
    for (const auto& [slot, place] : places) {
      if (slot.first < 0) continue;
      const int matrix = steps_.add_matrix(tables_.transposed_differentiation(slot.first));
      const int axis = steps_.axis_along(place.array, slot.first);
      total = steps_.contract(place.array, {.rows = {axis}, .cols = {axis}, .members = {matrix}}, fmt::format("s{}", f),
                              total, total >= 0);
    }
    if (!tables_.is_nodal(element)) // The last axis comes first: the derivative along it is the last one that is added.
      return steps_.chain(total, tables_.factors(element, BasisSlot{}, true), dof_axes(program_, tables_, element),
                          fmt::format("r{}", f), AxisOrder::last_to_first);
    steps_.weigh(total);
    return total;
  }

  TensorProgram& program_;
  BasisTables& tables_;
  ProgramSteps steps_;
  std::vector<Slots> slots_; ///< slots of each output field
};

} // namespace

void complete_outputs(QFunction& function, const std::vector<FieldUse>& outputs) {
  std::map<std::tuple<OutputKind, int, BasisSlot>, std::set<int>> components;
  for (const auto& output : function.outputs)
    if (is_tested(output)) components[{output.kind, output.field, slot_of(output)}].insert(output.component);
  const NodeId zero = function.graph.constant(0);
  for (const auto& [key, present] : components) {
    const auto& [kind, field, slot] = key;
    for (int c = 0; c < outputs[position_of(outputs, field)].components; ++c)
      if (!present.contains(c))
        function.outputs.push_back({kind, field, c, slot.first, std::max(slot.second, -1), zero});
  }
}

void add_integration(TensorProgram& program, BasisTables& tables) {
  Integration integration(program, tables);
  ProgramSteps(program).evaluate();
  for (std::size_t f = 0; f < program.outputs.size(); ++f) integration.output(f);
}

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/steps_in_turn.hpp>

#include <algorithm>

#include <rafter/base/error.hpp>

#include <rafter/schedule/component_access.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/place_arrays.hpp>
#include <rafter/schedule/point_loops.hpp>
#include <rafter/schedule/workspace.hpp>

namespace rafter::schedule {

namespace {

using kernel::FamilyKind;
using kernel::Step;
using kernel::StepKind;

class StepsInTurn {
public:
  StepsInTurn(const kernel::TensorProgram& program, const Plan& plan, CellPlace cell_place, int subbatches)
      : plan_(plan), program_(program) {
    schedule_.cell_place = cell_place;
    schedule_.subbatches = subbatches;
  }

  Schedule run() {
    const bool has_integrals = kernel::has_output(program_.function, kernel::OutputKind::integral);
    if (has_integrals) add({.action = Do::Action::begin_integrals});
    for (std::size_t i = 0; i < program_.steps.size();) {
      if (reads_matrix(program_.steps[i])) {
        of_subbatch_.emplace_back(product_with_stored(static_cast<int>(i)));
        i += 2;
        continue;
      }
      if (is_of_point_loops(program_.steps[i])) {
        ++i;
        continue;
      }
      const std::size_t together = num_together(i);
      if (together > 0 || is_product_in_text(program_.steps[i]))
        add_together(i, std::max<std::size_t>(together, 1), together > 0);
      else if (const auto& step = program_.steps[i]; is_product_in_memory(step))
        add_product_in_memory(static_cast<int>(i));
      else
        of_subbatch_.emplace_back(nest_of(static_cast<int>(i)));
      i += std::max<std::size_t>(together, 1);
    }
    if (has_point_loops())
      for (auto& entry : point_loops(program_, plan_)) of_subbatch_.push_back(std::move(entry));
    if (has_integrals) add({.action = Do::Action::end_integrals});
    end_subbatches();
    const bool has_items = schedule_.cell_place == CellPlace::items;
    place_arrays(program_, plan_, schedule_,
                 {.has_turns = false,
                  .in_parts = has_items ? workspace_arrays(program_, plan_[key::workspace]) : std::vector<int>{},
                  .behind_parts = plan_[key::padding] ? 1 : 0});
    return std::move(schedule_);
  }

private:
  /// Programs with products have loops over points and functions, behind all that reads and interpolates fields.
  bool has_point_loops() const { return program_.contraction == kernel::Contraction::pointwise; }
  bool reads_matrix(const Step& step) const {
    return step.kind == StepKind::read && program_.moves(step, kernel::AccessKind::stored);
  }
  /// A stored matrix is read as it is multiplied by, row by row where it is large.
  Nest product_with_stored(int number) const {
    constexpr int most_in_text = 256;
    const int matrix = program_.step(number).target;
    if (program_.step(number + 1).kind != StepKind::multiply || program_.step(number + 1).source != matrix)
      throw base::InternalError("schedule: a stored matrix is read by something else than the product behind it");
    Nest nest;
    if (program_.size(matrix) > most_in_text) nest.loops.push_back({{axes_of(matrix)[1]}});
    nest.body.emplace_back(Do{.step = number, .is_in_registers = true});
    nest.body.emplace_back(Do{.step = number + 1});
    return nest;
  }
  bool is_of_point_loops(const Step& step) const {
    return has_point_loops() && step.kind != StepKind::read && step.kind != StepKind::contract;
  }
  int array_of(const Step& step) const { return step.target >= 0 ? step.target : step.source; }
  int components_of(const Step& step) const { return program_.num_components(array_of(step)); }
  std::vector<int> axes_of(int array) const { return program_.array(array).axes; }

  // --- what is done together ----------------------------------------------------------------------------------------
  bool is_product(const Step& step) const { return program_.contracts(step) && program_.matrix_of(step).is_data; }
  bool is_product_in_text(const Step& step) const {
    return is_product(step) && stands_in_text(program_, program_.family(step.family), plan_);
  }
  bool is_product_in_memory(const Step& step) const { return is_product(step) && !is_product_in_text(step); }
  /// Says whether components are moved one by one, between vectors and registers.
  bool moves_components(const kernel::Access& access, int array) const {
    if (access.kind == kernel::AccessKind::nodes || access.kind == kernel::AccessKind::stored ||
        !program_.fills(access, array))
      return false;
    const auto& use = program_.field_of(access);
    return use.trial_element == nullptr && has_interior_alone(program_, use);
  }
  bool can_be_together(const Step& step) const {
    if (step.access >= 0) return moves_components(program_.access(step.access), array_of(step));
    return program_.contracts(step, FamilyKind::butterflies) || is_product_in_text(step);
  }
  /// Number of steps from one on that stay together; 0: it is by itself.
  std::size_t num_together(std::size_t first) const {
    if (schedule_.cell_place != CellPlace::lanes || has_items(plan_)) return 0;
    const auto& steps = program_.steps;
    std::size_t last = first;
    while (last < steps.size() && can_be_together(steps[last]) &&
           components_of(steps[last]) == components_of(steps[first]))
      ++last;
    const auto together = std::span(steps).subspan(first, last - first);
    const bool has_product = std::ranges::any_of(together, [&](const Step& s) { return is_product_in_text(s); });
    return has_product ? together.size() : 0;
  }

  // --- nests --------------------------------------------------------------------------------------------------------
  void add(Do what) { of_subbatch_.emplace_back(what); }
  void end_subbatches() {
    if (of_subbatch_.empty()) return;
    Nest nest{.loops = {}, .body = std::move(of_subbatch_)};
    if (schedule_.subbatches > 1) nest.loops.push_back({{}, LoopPlace::subbatches});
    schedule_.nest.body.emplace_back(std::move(nest));
    of_subbatch_.clear();
  }
  void add_together(std::size_t first, std::size_t count, bool in_registers) {
    Nest nest{.loops = {{{axes_of(array_of(program_.steps[first])).front()}}}, .body = {}};
    for (std::size_t i = first; i < first + count; ++i) {
      const int target = program_.steps[i].target;
      nest.body.emplace_back(
          Do{.step = static_cast<int>(i),
             .is_in_registers = in_registers && target >= 0 && !is_used_from(first + count, target)});
    }
    of_subbatch_.emplace_back(std::move(nest));
  }
  /// Says whether steps from this one on use an array.
  bool is_used_from(std::size_t step, int array) const {
    return std::ranges::any_of(std::span(program_.steps).subspan(step), [&](const Step& s) {
      if (s.kind != StepKind::evaluate) return s.source == array || s.target == array;
      return std::ranges::any_of(program_.input_slots, [&](const auto& input) { return input.slot.array == array; });
    });
  }
  void add_product_in_memory(int number) {
    const auto& step = program_.step(number);
    end_subbatches();
    Nest nest{.loops = {{{axes_of(step.source).front()}}}, .body = {}};
    nest.body.emplace_back(Do{.step = number, .rows = rows_at_a_time(plan_)});
    if (schedule_.subbatches > 1)
      schedule_.nest.body.emplace_back(std::move(nest));
    else
      of_subbatch_.emplace_back(std::move(nest));
  }
  Nest nest_of(int number) {
    const auto& step = program_.step(number);
    Nest nest;
    if (step.kind == StepKind::evaluate)
      for (const int axis : program_.point_axes) nest.loops.push_back({{axis}});
    if (program_.contracts(step, FamilyKind::weights)) {
      const auto axes = axes_of(step.target);
      nest.loops = {{{axes.front()}}, {{axes.begin() + 1, axes.end()}}};
    }
    if (program_.contracts(step)) { // lines; what stands before and behind them is counted as one
      const auto& family = program_.family(step.family);
      const auto axes = axes_of(step.source);
      const auto first = axes.begin() + family.position_in(program_.array(step.source));
      const auto behind = first + static_cast<std::ptrdiff_t>(family.cols.size());
      nest.loops.push_back({{axes.begin(), first}});
      if (behind != axes.end()) nest.loops.push_back({{behind, axes.end()}});
    }
    nest.body.emplace_back(Do{.step = number});
    return nest;
  }

  const Plan& plan_;
  const kernel::TensorProgram& program_;
  Schedule schedule_;
  std::vector<std::variant<Do, Nest>> of_subbatch_; ///< what is done for one sub-batch after the other, so far
};

} // namespace

Schedule steps_in_turn(const kernel::TensorProgram& program, const Plan& plan, CellPlace cell_place, int subbatches) {
  return StepsInTurn(program, plan, cell_place, subbatches).run();
}

} // namespace rafter::schedule

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/nest_steps.hpp>

namespace rafter::schedule {

using form::ScalarOp;
using kernel::StepKind;

NestSteps::NestSteps(Context& context, const Schedule& schedule)
    : context_(context), program_(context.program), schedule_(schedule), memories_(context, schedule),
      values_(context, schedule, memories_),
      stage_(context, {[this](const kernel::InputSlot& input) { return read(input.slot); },
                       [this](std::size_t i, NodePtr value, Statements& to) {
                         const auto& slot = program_.output_slots[i];
                         if (program_.has_points(slot.array)) write(slot, std::move(value), to);
                       }}) {}

void NestSteps::perform(const Do& what, Statements& to) {
  switch (what.action) {
  case Do::Action::clear:
    return each_entry(context_, what.array, values_.indices, [&](const EntryIndices& at) {
      memories_.store(what.to, what.array, at, context_.number(0), to);
    });
  case Do::Action::copy:
    return copy(what, to);
  case Do::Action::begin_integrals:
    return begin_integral(context_, to);
  case Do::Action::end_integrals:
    return end_integral(context_, to);
  case Do::Action::step:
    break;
  }
  const auto& step = program_.step(what.step);
  const int into = what.is_in_registers || step.target < 0 ? -1 : values_.memory_of(step.target, what.to);
  switch (step.kind) {
  case StepKind::read:
    if (program_.moves(step, kernel::AccessKind::stored)) return read_stored(step, into, to);
    return program_.moves(step, kernel::AccessKind::nodes) ? read_nodes(step, into, to) : read_field(step, into, to);
  case StepKind::contract:
    return apply_family(step, what, into, to);
  case StepKind::multiply:
    return multiply(step, what, to);
  case StepKind::evaluate_cell:
    return evaluate_cell(what, to);
  case StepKind::evaluate:
    return evaluate(what, to);
  case StepKind::write:
    if (program_.moves(step, kernel::AccessKind::stored))
      return write_stored(step, values_.memory_of(step.source, what.from), to);
    return write_field(step, values_.memory_of(step.source, what.from), to);
  }
}

void NestSteps::apply_family(const kernel::Step& step, const Do& what, int into, Statements& to) {
  switch (program_.family(step.family).kind) {
  case kernel::FamilyKind::matrices:
    return contract(step, what, to);
  case kernel::FamilyKind::butterflies:
    return butterflies(step, values_.memory_of(step.target, what.from), into, to);
  case kernel::FamilyKind::weights:
    return weigh(step, what, to);
  case kernel::FamilyKind::masks:
    return mask_dofs(step, into, to);
  }
}

void NestSteps::copy(const Do& what, Statements& to) {
  const int from = values_.memory_of(what.array, what.from);
  const bool has_lanes_of_points = !what.is_in_registers && memories_.has_points_in_lanes(what.to);
  if (!what.is_in_registers && !has_lanes_of_points && memories_.has_points_in_lanes(from))
    return memories_.transpose(from, what.to, what.array, to);
  auto given = values_.indices;
  if (what.component >= 0) given[component_axis(program_, what.array)] = integer(what.component);
  each_entry(context_, what.array, given, [&](const EntryIndices& at) {
    if (what.is_in_registers)
      (void)values_.read(what.array, from, at, to);
    else
      memories_.store(what.to, what.array, at,
                      has_lanes_of_points && !memories_.has_points_in_lanes(from)
                          ? memories_.load_vector(from, what.array, at)
                          : values_.value(what.array, from, at),
                      to);
  });
}

// --- products and copies ---------------------------------------------------------------------------------------------

void NestSteps::butterflies(const kernel::Step& step, int from, int into, Statements& to) {
  const int array = step.target;
  if (is_of_whole_cell(array)) return butterfly(context_, step, memories_.name(into), memories_.begin(into), to);
  const auto& folding = program_.folding_of(step);
  const std::span axes = std::span(program_.array(array).axes).subspan(1);
  const int of_group = static_cast<int>(folding.places.size());
  for (int first = 0; first < program_.num_entries(array); first += of_group)
    each_orbit(folding, [&](std::span<const int> places) {
      std::vector<NodePtr> exchanged;
      const auto at = [&](int place) { return numbered(program_, values_.indices, axes, first + place); };
      for (const int place : places) exchanged.push_back(values_.read(array, from, at(place), to));
      const auto results = butterfly_of(context_, exchanged, to);
      for (std::size_t k = 0; k < places.size(); ++k) values_.write(array, into, at(places[k]), results[k], to);
    });
  values_.store_rest(array, into, to);
}

void NestSteps::weigh(const kernel::Step& step, const Do& what, Statements& to) {
  const int from = values_.memory_of(step.target, what.from), into = target_memory(step, what);
  const std::string weights = context_.global(role::weights);
  each_entry(context_, step.target, values_.indices, [&](const EntryIndices& at) {
    const NodePtr point = number_in_cell(context_, step.target, at);
    const NodePtr weight = context_.fetch(weights, context_.facet_entry(point, program_.num_points()));
    const NodePtr weighed = operation(ScalarOp::mul, {weight, values_.value(step.target, from, at)});
    if (into >= 0 && memories_.is_cleared(into, step.target))
      memories_.store(into, step.target, at, weighed, to); // and does not add
    else
      values_.write(step.target, into, at, weighed, to);
  });
}

// --- the QFunction --------------------------------------------------------------------------------------------------

/// At the point that the loops around give, or at all of a line that they leave open.
void NestSteps::evaluate(const Do& what, Statements& to) {
  evaluation_ = &what;
  const auto given = values_.indices;
  const std::function<void(std::size_t)> open = [&](std::size_t i) {
    if (i == program_.point_axes.size()) {
      PointStage at_point = stage_;
      return at_point.at_point(to);
    }
    const int axis = program_.point_axes[i];
    if (given.contains(axis)) return open(i + 1);
    for (int k = 0; k < context_.num_indices(axis); ++k) {
      values_.indices[axis] = integer(k);
      open(i + 1);
    }
  };
  open(0);
  values_.indices = given;
}

void NestSteps::evaluate_cell(const Do& what, Statements& to) {
  evaluation_ = &what;
  stage_.at_cell(to);
  for (std::size_t i = 0; i < program_.output_slots.size(); ++i)
    if (const auto& slot = program_.output_slots[i]; slot.array >= 0 && !program_.has_points(slot.array))
      write(slot, stage_.value(program_.function.outputs[i].node), to);
}

EntryIndices NestSteps::indices_of(const kernel::Slot& slot) const {
  EntryIndices at = values_.indices;
  const auto& axes = program_.array(slot.array).axes;
  at[axes.front()] = integer(slot.component);
  for (const int axis : axes)
    if (program_.axis(axis).kind == kernel::AxisKind::slot) at[axis] = integer(slot.slot);
  return at;
}
NodePtr NestSteps::read(const kernel::Slot& slot) const {
  return values_.value(slot.array, values_.memory_of(slot.array, -1), indices_of(slot));
}
void NestSteps::write(const kernel::Slot& slot, NodePtr value, Statements& to) {
  const int into = values_.memory_of(slot.array, memory_of_output(schedule_, *evaluation_, slot.array));
  if (into >= 0 && memories_.is_cleared(into, slot.array))
    values_.add(slot.array, into, indices_of(slot), std::move(value), to);
  else
    values_.write(slot.array, into, indices_of(slot), std::move(value), to);
}

} // namespace rafter::schedule

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/written_steps.hpp>

#include <algorithm>
#include <map>

#include <rafter/schedule/component_access.hpp>

namespace rafter::schedule {

namespace {

using kernel::Step;
using kernel::StepKind;

int components_of(const Context& context, const Step& step) {
  return context.program.num_components(step.target >= 0 ? step.target : step.source);
}

bool is_product(const Context& context, const Step& step) {
  if (step.kind != StepKind::contract) return false;
  const auto& matrix = context.program.matrix_of(step);
  return matrix.is_data && stands_in_text(matrix, context.plan);
}
bool can_be_written(const Context& context, const Step& step) {
  const auto moves = [&](const kernel::FieldUse& use, int space) {
    return use.trial_element == nullptr && use.places.empty() && has_interior_alone(context, space);
  };
  const auto field = static_cast<std::size_t>(step.field);
  switch (step.kind) {
  case StepKind::gather:
    return moves(context.program.inputs[field], context.input.access.input_spaces[field]);
  case StepKind::scatter:
    return moves(context.program.outputs[field], context.input.access.output_spaces[field]);
  case StepKind::butterfly:
    return true;
  default:
    return is_product(context, step);
  }
}

/// The steps of one component.
class Component {
public:
  Component(Context& context, std::span<const Step> steps, std::span<const Step> later, NodePtr component)
      : context_(context), steps_(steps), later_(later), component_(std::move(component)) {}

  void lower(Statements& to) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      switch (step.kind) {
      case StepKind::gather: {
        const auto values =
            gather_component(context_, step.field, placement_of(context_.program, step.target), component_, to);
        for (std::size_t k = 0; k < values.size(); ++k) set(i, static_cast<int>(k), values[k], to);
        break;
      }
      case StepKind::scatter: {
        std::vector<NodePtr> values;
        for (int k = 0; k < size(step.source); ++k) values.push_back(value(step.source, k, to));
        scatter_component(context_, step.field, placement_of(context_.program, step.source), component_, values, to);
        break;
      }
      case StepKind::butterfly:
        butterflies(i, to);
        break;
      default:
        product_in_text(
            context_, context_.program.matrix_of(step), [&](int col) { return value(step.source, col, to); },
            [&](int row, NodePtr sum) { set(i, row, std::move(sum), to); });
      }
    }
  }

private:
  int size(int array) const { return context_.program.num_entries(array); }
  NodePtr entry(int array, int k) const {
    return context_.work_entry(iadd(imul(component_, integer(size(array))), integer(k)));
  }
  /// Entry k of an array, which earlier steps have left in memory where none of these has made it.
  NodePtr value(int array, int k, Statements& to) {
    NodePtr& known = values_[{array, k}];
    if (known == nullptr) known = context_.define(to, "u", context_.load(array_name(context_, array), entry(array, k)));
    return known;
  }
  void set(std::size_t step, int k, NodePtr value, Statements& to) {
    const int array = steps_[step].target;
    const NodePtr known = context_.define(to, "v", std::move(value));
    values_[{array, k}] = known;
    if (is_left(step, array))
      to.push_back(store(array_name(context_, array), entry(array, k), known));
    else
      kept_.insert({array, k});
  }
  /// Says whether the step is the last of these to write an array that later ones read.
  bool is_left(std::size_t step, int array) const {
    const auto writes = [&](const Step& s) { return s.target == array; };
    const auto uses = [&](const Step& s) { return s.source == array || s.target == array; };
    return std::ranges::none_of(steps_.subspan(step + 1), writes) &&
           (std::ranges::any_of(later_, uses) || is_read_at_points(array));
  }
  bool is_read_at_points(int array) const {
    return std::ranges::any_of(later_, [](const Step& s) { return s.kind == StepKind::evaluate; }) &&
           std::ranges::any_of(context_.program.input_slots,
                               [&](const kernel::InputSlot& input) { return input.slot.array == array; });
  }
  void butterflies(std::size_t step, Statements& to) {
    const auto& folding = context_.program.foldings[static_cast<std::size_t>(steps_[step].field)];
    const int array = steps_[step].target, of_group = static_cast<int>(folding.places.size());
    for (int first = 0; first < size(array); first += of_group)
      each_orbit(folding, [&](std::span<const int> places) {
        std::vector<NodePtr> values;
        for (const int place : places) values.push_back(value(array, first + place, to));
        const auto results = butterfly_of(context_, values, to);
        for (std::size_t k = 0; k < places.size(); ++k) {
          kept_.erase({array, first + places[k]});
          set(step, first + places[k], results[k], to);
        }
      });
    if (!is_left(step, array)) return;
    for (int k = 0; k < size(array); ++k) // entries that no reflection exchanges
      if (kept_.erase({array, k}) > 0)
        to.push_back(store(array_name(context_, array), entry(array, k), value(array, k, to)));
  }

  Context& context_;
  std::span<const Step> steps_, later_;
  NodePtr component_;
  std::map<std::pair<int, int>, NodePtr> values_; ///< values by array and entry
  std::set<std::pair<int, int>> kept_;            ///< those of them that were made here and are not in memory
};

} // namespace

std::size_t num_written_steps(const Context& context, std::size_t first) {
  if (!context.has_cell_lanes() || context.in_groups()) return 0;
  const auto& steps = context.program.steps;
  std::size_t last = first;
  while (last < steps.size() && can_be_written(context, steps[last]) &&
         components_of(context, steps[last]) == components_of(context, steps[first]))
    ++last;
  const auto written = std::span(steps).subspan(first, last - first);
  const bool has_product = std::ranges::any_of(written, [&](const Step& step) { return is_product(context, step); });
  return has_product ? written.size() : 0;
}

std::set<int> arrays_in_registers(const Context& context) {
  const auto& program = context.program;
  std::vector<std::size_t> user(program.arrays.size(), 0); // number of the steps taken together that use it
  std::set<int> elsewhere, result;
  std::size_t number = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++number) {
    const std::size_t written = num_written_steps(context, i), end = i + std::max<std::size_t>(written, 1);
    for (; i < end; ++i)
      for (const int array : {program.steps[i].source, program.steps[i].target}) {
        if (array < 0) continue;
        auto& by = user[static_cast<std::size_t>(array)];
        if (written == 0 || (by != 0 && by != number + 1)) elsewhere.insert(array);
        by = number + 1;
      }
  }
  for (const auto& input : program.input_slots) elsewhere.insert(input.slot.array);
  for (const auto& output : program.output_slots) elsewhere.insert(output.array);
  for (int a = 0; a < static_cast<int>(program.arrays.size()); ++a)
    if (user[static_cast<std::size_t>(a)] != 0 && !elsewhere.contains(a)) result.insert(a);
  return result;
}

void lower_written(Context& context, std::size_t first, std::size_t count, Statements& to) {
  const std::span steps(context.program.steps);
  const auto written = steps.subspan(first, count), later = steps.subspan(first + count);
  for (const auto& step : written) {
    const auto field = static_cast<std::size_t>(step.field);
    if (step.kind == StepKind::gather)
      announce(context, context.input.access.input_spaces[field], context.program.inputs[field].components,
               context.global(role::input_vector, context.input.input_vectors[field]));
    if (step.kind == StepKind::scatter && context.plan[key::stores] != Stores::streaming)
      announce(context, context.input.access.output_spaces[field], context.program.outputs[field].components,
               context.global(role::output_vector, context.input.output_vectors[field], Type::real, true));
  }
  const int components = components_of(context, written.front());
  const std::string c = context.fresh("c");
  Statements body;
  Component(context, written, later, components == 1 ? integer(0) : variable(c)).lower(body);
  if (components > 1)
    to.push_back(loop(c, integer(components), block(std::move(body))));
  else
    to.insert(to.end(), body.begin(), body.end());
}

} // namespace rafter::schedule

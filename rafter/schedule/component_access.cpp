// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/component_access.hpp>

#include <functional>

#include <rafter/space/index_tables.hpp>

namespace rafter::schedule {

namespace {

/// The places of the numbers of one component in a vector of interiors.
class InteriorNumbers {
public:
  InteriorNumbers(Context& context, const kernel::FieldUse& use, NodePtr component, const Placement& placement)
      : context_(context), starts_(context.global(space::role::interior_starts, use.pattern, Type::integer)),
        components_(use.components), component_(std::move(component)) {
    for (const int dof : context.program.batches.pattern_of(use).interior_dofs)
      entries_.push_back(placement.dof_entries[static_cast<std::size_t>(dof)]);
  }

  /// Places of the dofs in the array.
  const std::vector<int>& entries() const { return entries_; }

  /// Batches without padded lanes go by `full`, others by `partial`.
  static NodePtr in_full_batches(Context& context, Statements full, Statements partial) {
    return branch(ieq(context.num_active(), integer(context.cells_per_batch())), block(std::move(full)),
                  block(std::move(partial)));
  }
  /// Calls move(index in the vector, number of the dof) for each dof of a full batch.
  void each_in_full_batch(Statements& to, const std::function<void(const NodePtr&, std::size_t)>& move) const {
    const NodePtr start = context_.define_integer(to, "s", iload(starts_, context_.batch()));
    for (std::size_t i = 0; i < entries_.size(); ++i)
      move(context_.at_cell(iadd(start, imul(number(integer(static_cast<int>(i))), integer(cells())))), i);
  }
  /// A loop over the dofs of a batch with padded lanes. These read what the last active one reads.
  void loop_in_partial_batch(
      Statements& to,
      const std::function<NodePtr(const NodePtr& index, const NodePtr& dof, const NodePtr& active)>& move) const {
    const NodePtr start = context_.define_integer(to, "s", iload(starts_, context_.batch()));
    const NodePtr active = context_.define_integer(to, "n", context_.num_active());
    const NodePtr cell = context_.define_integer(to, "l", imin(context_.at_cell(integer(0)), isub(active, integer(1))));
    const std::string i = context_.fresh("i");
    const NodePtr index = iadd(iadd(start, imul(number(variable(i)), active)), cell);
    to.push_back(
        loop(i, integer(static_cast<int>(entries_.size())), move(index, variable(i), context_.active_lanes())));
  }

private:
  NodePtr number(NodePtr dof) const { return iadd(imul(std::move(dof), integer(components_)), component_); }
  int cells() const { return context_.cells_per_batch(); }

  Context& context_;
  std::string starts_;
  int components_;
  NodePtr component_;
  std::vector<int> entries_;
};

} // namespace

bool has_interior_alone(const kernel::TensorProgram& program, const kernel::FieldUse& use) {
  const auto& layout = program.batches.pattern_of(use);
  return !program.batches.has_lists && layout.num_runs == 0 && !layout.interior_dofs.empty();
}

std::vector<NodePtr> gather_component(Context& context, const kernel::Access& access, const Placement& placement,
                                      const NodePtr& component, Statements& to) {
  const InteriorNumbers numbers(context, context.program.field_of(access), component, placement);
  const std::string vector = context.vector_of(access);
  const auto size = static_cast<std::int64_t>(placement.dof_entries.size());
  const std::string taken = context.work(context.fresh("own"), size),
                    padded = context.work(context.fresh("padded"), size);
  const auto place = [&](std::size_t i) { return context.work_entry(integer(numbers.entries()[i])); };
  Statements full, partial;
  numbers.each_in_full_batch(full, [&](const NodePtr& index, std::size_t i) {
    full.push_back(store(taken, place(i), context.fetch(vector, index)));
  });
  numbers.loop_in_partial_batch(partial, [&](const NodePtr& index, const NodePtr& dof, const NodePtr&) {
    return store(padded, context.work_entry(dof), context.fetch(vector, index));
  });
  for (std::size_t i = 0; i < numbers.entries().size(); ++i)
    partial.push_back(store(taken, place(i), context.load(padded, context.work_entry(integer(static_cast<int>(i))))));
  to.push_back(InteriorNumbers::in_full_batches(context, std::move(full), std::move(partial)));
  std::vector<NodePtr> values;
  for (std::int64_t k = 0; k < size; ++k)
    values.push_back(context.define(to, "u", context.load(taken, context.work_entry(integer(k)))));
  return values;
}

void scatter_component(Context& context, const kernel::Access& access, const Placement& placement,
                       const NodePtr& component, const std::vector<NodePtr>& values, Statements& to) {
  const InteriorNumbers numbers(context, context.program.field_of(access), component, placement);
  const std::string vector = context.vector_of(access);
  const std::string padded = context.work(context.fresh("padded"), static_cast<std::int64_t>(values.size()));
  const auto moved = [&](bool overwrites) {
    Statements full, partial;
    numbers.each_in_full_batch(full, [&](const NodePtr& index, std::size_t i) {
      NodePtr value = context.fitting(vector, values[static_cast<std::size_t>(numbers.entries()[i])]);
      full.push_back(!overwrites                                      ? add(vector, index, std::move(value))
                     : context.plan[key::stores] == Stores::streaming ? stream(vector, index, std::move(value))
                                                                      : store(vector, index, std::move(value)));
    });
    for (std::size_t i = 0; i < numbers.entries().size(); ++i)
      partial.push_back(store(padded, context.work_entry(integer(static_cast<int>(i))),
                              values[static_cast<std::size_t>(numbers.entries()[i])]));
    numbers.loop_in_partial_batch(partial, [&](const NodePtr& index, const NodePtr& dof, const NodePtr& active) {
      const NodePtr value = context.fitting(vector, context.load(padded, context.work_entry(dof)));
      return overwrites ? store(vector, index, value, active) : add(vector, index, value, active);
    });
    return InteriorNumbers::in_full_batches(context, std::move(full), std::move(partial));
  };
  const NodePtr is_overwriting = ieq(iload(context.global(role::mode, 0, Type::integer), integer(0)), integer(0));
  NodePtr storing = moved(true), adding = moved(false); // one after the other, since they name variables
  to.push_back(branch(is_overwriting, block({std::move(storing)}), block({std::move(adding)})));
}

} // namespace rafter::schedule

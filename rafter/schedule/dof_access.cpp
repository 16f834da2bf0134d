// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/dof_access.hpp>

#include <rafter/space/index_tables.hpp>

namespace rafter::schedule {

DofAccess::DofAccess(Context& context, const kernel::FieldUse& use)
    : context_(context), layout_(context.program.batches.pattern_of(use)), space_(use.pattern),
      components_(use.components), places_(layout_.run_dofs.size() + layout_.interior_dofs.size()) {
  int place = 0;
  for (const auto* dofs : {&layout_.run_dofs, &layout_.interior_dofs})
    for (const int dof : *dofs) places_[static_cast<std::size_t>(dof)] = place++;
}

void DofAccess::each_component(const NodePtr& dof, Statements& to, const Move& move) const {
  const auto num_shared = static_cast<std::int64_t>(layout_.run_dofs.size());
  const NodePtr place = context_.define_integer(to, "p", iload(context_.integers("dof_places", places_), dof));
  if (layout_.interior_dofs.empty()) return shared(place, to, move);
  if (num_shared == 0) return interior(place, to, move);
  Statements of_shared, of_interior;
  shared(place, of_shared, move);
  interior(isub(place, integer(num_shared)), of_interior, move);
  to.push_back(branch(ilt(place, integer(num_shared)), block(std::move(of_shared)), block(std::move(of_interior))));
}

void DofAccess::shared(const NodePtr& place, Statements& to, const Move& move) const {
  const auto num_shared = static_cast<std::int64_t>(layout_.run_dofs.size());
  const std::string entries = context_.global(space::role::dof_entries, space_, Type::integer);
  const NodePtr entry = context_.cell_entry(iadd(imul(context_.batch(), integer(num_shared)), place));
  const NodePtr first = context_.define_integer(to, "s", iload(entries, entry));
  for (int c = 0; c < components_; ++c) move(to, iadd(first, integer(c)), c, false);
}

/// Cells that a batch has not read what its last one reads.
void DofAccess::interior(const NodePtr& number, Statements& to, const Move& move) const {
  const std::string starts = context_.global(space::role::interior_starts, space_, Type::integer);
  const NodePtr active = context_.define_integer(to, "n", context_.num_active());
  const NodePtr cell = imin(context_.at_cell(integer(0)), isub(active, integer(1)));
  const NodePtr first = context_.define_integer(to, "s", iadd(iload(starts, context_.batch()), cell));
  for (int c = 0; c < components_; ++c)
    move(to, iadd(first, imul(iadd(imul(number, integer(components_)), integer(c)), active)), c, true);
}

} // namespace rafter::schedule

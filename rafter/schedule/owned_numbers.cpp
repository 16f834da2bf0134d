// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/owned_numbers.hpp>

#include <algorithm>
#include <functional>

#include <rafter/base/error.hpp>

namespace rafter::schedule {
namespace {

/// Says of masks whether they are those by owners of the fields on one side, inputs or outputs.
auto of_owners(const kernel::TensorProgram& program, kernel::AccessKind side) {
  return [&program, side](const kernel::EntityMask& mask) {
    return mask.is_of_owners && program.access_of(mask).kind == side;
  };
}

bool is_first(const kernel::TensorProgram& program, const kernel::Access& access) {
  const auto is_of_side = of_owners(program, access.kind);
  return std::ranges::none_of(program.masks, [&](const kernel::EntityMask& mask) {
    return is_of_side(mask) && program.access_of(mask).field < access.field;
  });
}

/// Components that an entry of the lists moves: all of the field, or one where components differ.
int components_of_entry(const kernel::TensorProgram& program, kernel::AccessKind side) {
  const auto is_of_side = of_owners(program, side);
  int moved = 1;
  for (const auto& mask : program.masks)
    if (is_of_side(mask)) {
      if (mask.components > 1) return 1;
      moved = program.field_of(program.access_of(mask)).components;
    }
  return moved;
}

/// `move`(to, index in the vector, index in the work array): moves one number.
void each_owned(Context& context, int num_components, int component_stride,
                const std::function<void(Statements&, NodePtr, NodePtr)>& move, Statements& to) {
  const auto table = [&](const char* role, NodePtr index) {
    return iload(context.global(role, 0, Type::integer), std::move(index));
  };
  const int lanes = context.plan[key::vector_width], all_lanes = context.subbatches * lanes;
  const NodePtr list = iadd(imul(context.batch(), integer(context.num_subbatches())), context.subbatch());
  const NodePtr begin = context.define_integer(to, "b", table(role::owned_begins, list));
  const NodePtr count = isub(table(role::owned_begins, iadd(list, integer(1))), begin);
  const std::string k = context.fresh("k");
  Statements body;
  const NodePtr number = iadd(begin, variable(k));
  NodePtr place = context.define_integer(body, "p", table(role::owned_places, number));
  if (context.subbatches > 1) {
    const NodePtr entry = context.define_integer(body, "e", idiv(place, lanes));
    const NodePtr lane_of_place = isub(place, imul(entry, integer(lanes)));
    place = iadd(iadd(imul(entry, integer(all_lanes)), imul(context.subbatch_of_pass, integer(lanes))), lane_of_place);
  }
  const NodePtr index = context.define_integer(body, "i", table(role::owned_entries, number));
  for (int c = 0; c < num_components; ++c)
    move(body, iadd(index, integer(c)), iadd(place, integer(c * component_stride * all_lanes)));
  to.push_back(loop(k, count, block(std::move(body))));
}

} // namespace

bool moves_owned(const Context& context, const kernel::Access& access) {
  const auto& program = context.program;
  const auto& fields = access.kind == kernel::AccessKind::output ? program.outputs : program.inputs;
  const auto has_shared_dofs = [&](const auto& use) { return program.batches.pattern_of(use).num_runs > 0; };
  const auto is_of_side = of_owners(program, access.kind);
  const auto num_owned = std::ranges::count_if(program.masks, is_of_side);
  if (!context.has_cell_lanes() || num_owned == 0 || std::ranges::none_of(fields, has_shared_dofs)) return false;
  if (num_owned != std::ssize(fields) ||
      std::ranges::count(fields, fields.front().vector, &kernel::FieldUse::vector) != std::ssize(fields))
    throw base::InternalError("what cells own is listed for all fields of one vector, or for none");
  return std::ranges::any_of(program.masks, [&](const kernel::EntityMask& mask) {
    return is_of_side(mask) && program.access_of(mask).field == access.field;
  });
}

void gather_owned(Context& context, const kernel::Access& access, const std::string& target, const Placement& placement,
                  Statements& to) {
  if (!is_first(context.program, access)) return;
  const auto vector = context.vector_of(access);
  const std::string i = context.fresh("i");
  const int components = context.program.field_of(access).components;
  to.push_back(loop(i, integer(std::int64_t{components} * placement.component_stride),
                    store(target, context.work_entry(variable(i)), context.number(0))));
  each_owned(
      context, components_of_entry(context.program, access.kind), placement.component_stride,
      [&](Statements& body, NodePtr index, NodePtr place) {
        body.push_back(store(target, std::move(place), context.fetch(vector, std::move(index))));
      },
      to);
}

void scatter_owned(Context& context, const kernel::Access& access, const std::string& source,
                   const Placement& placement, Statements& to) {
  if (!is_first(context.program, access)) return;
  const auto vector = context.vector_of(access);
  each_owned(
      context, components_of_entry(context.program, access.kind), placement.component_stride,
      [&](Statements& body, NodePtr index, NodePtr place) {
        body.push_back(add(vector, std::move(index), context.fitting(vector, context.load(source, std::move(place)))));
      },
      to);
}

} // namespace rafter::schedule

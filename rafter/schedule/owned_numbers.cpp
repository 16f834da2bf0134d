// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/owned_numbers.hpp>

#include <algorithm>
#include <functional>

#include <rafter/base/error.hpp>

namespace rafter::schedule {
namespace {

/// Says of factors whether they are those by owners of the inputs, or outputs.
auto of_owners(const kernel::TensorProgram& program, bool is_of_output) {
  return [&program, is_of_output](const kernel::EntityFactors& factors) {
    const bool is_there = program.access_of(factors).kind == kernel::AccessKind::output;
    return factors.is_of_owners && is_there == is_of_output;
  };
}

bool is_first(const Context& context, bool is_of_output, int field) {
  const auto& program = context.program;
  const auto is_of_side = of_owners(program, is_of_output);
  return std::ranges::none_of(program.factors, [&](const kernel::EntityFactors& factors) {
    return is_of_side(factors) && program.access_of(factors).field < field;
  });
}

/// Components that an entry of the lists moves: all of the field, or one where components differ.
int components_of_entry(const Context& context, bool is_of_output) {
  const auto& program = context.program;
  const auto is_of_side = of_owners(program, is_of_output);
  int moved = 1;
  for (const auto& factors : program.factors)
    if (is_of_side(factors)) {
      if (factors.components > 1) return 1;
      moved = program.field_of(program.access_of(factors)).components;
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

bool moves_owned(const Context& context, bool is_of_output, int field) {
  const auto& access = context.input.access;
  const auto& spaces = is_of_output ? access.output_spaces : access.input_spaces;
  const auto& vectors = is_of_output ? context.input.output_vectors : context.input.input_vectors;
  const auto has_shared_dofs = [&](int space) { return access.spaces[static_cast<std::size_t>(space)]->num_runs > 0; };
  const auto& program = context.program;
  const auto is_of_side = of_owners(program, is_of_output);
  const auto num_masked = std::ranges::count_if(program.factors, is_of_side);
  if (!context.has_cell_lanes() || num_masked == 0 || std::ranges::none_of(spaces, has_shared_dofs)) return false;
  if (num_masked != std::ssize(vectors) || std::ranges::count(vectors, vectors.front()) != std::ssize(vectors))
    throw base::InternalError("what cells own is listed for all fields of one vector, or for none");
  return std::ranges::any_of(program.factors, [&](const kernel::EntityFactors& factors) {
    return is_of_side(factors) && program.access_of(factors).field == field;
  });
}

void gather_owned(Context& context, int field, const std::string& target, const Placement& placement, Statements& to) {
  if (!is_first(context, false, field)) return;
  const auto vector = context.global(role::input_vector, context.input.input_vectors[static_cast<std::size_t>(field)]);
  const std::string i = context.fresh("i");
  const int components = context.program.inputs[static_cast<std::size_t>(field)].components;
  to.push_back(loop(i, integer(std::int64_t{components} * placement.component_stride),
                    store(target, context.work_entry(variable(i)), context.number(0))));
  each_owned(
      context, components_of_entry(context, false), placement.component_stride,
      [&](Statements& body, NodePtr index, NodePtr place) {
        body.push_back(store(target, std::move(place), context.fetch(vector, std::move(index))));
      },
      to);
}

void scatter_owned(Context& context, int field, const std::string& source, const Placement& placement, Statements& to) {
  if (!is_first(context, true, field)) return;
  const auto vector = context.global(role::output_vector, context.input.output_vectors[static_cast<std::size_t>(field)],
                                     Type::real, true);
  each_owned(
      context, components_of_entry(context, true), placement.component_stride,
      [&](Statements& body, NodePtr index, NodePtr place) {
        body.push_back(add(vector, std::move(index), context.fitting(vector, context.load(source, std::move(place)))));
      },
      to);
}

} // namespace rafter::schedule

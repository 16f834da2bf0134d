// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/component_access.hpp>
#include <rafter/schedule/dof_access.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/nest_loops.hpp>
#include <rafter/schedule/nest_steps.hpp>

/// Steps between arrays and memory outside, by what the loops around them give: nothing, where all dofs of a cell are
/// moved, the component, or the dof.
namespace rafter::schedule {

bool NestSteps::gives(int array, std::span<const int> axes) const {
  const auto& of_array = program_.array(array).axes;
  return std::ranges::any_of(axes, [&](int axis) {
    return values_.indices.contains(axis) && std::ranges::find(of_array, axis) != of_array.end();
  });
}
bool NestSteps::is_of_whole_cell(int array) const { return !gives(array, program_.array(array).axes); }
bool NestSteps::is_of_component(int array) const {
  return !gives(array, std::span(program_.array(array).axes).subspan(1)) && !is_of_whole_cell(array);
}

void NestSteps::read_field(const kernel::Step& step, int into, Statements& to) {
  if (is_of_component(step.target)) return read_component(step, into, to);
  if (!is_of_whole_cell(step.target)) return read_dofs(step, into, to);
  const auto& access = program_.access(step.access);
  gather(context_, access, memories_.name(into), memories_.placement(into, step.target, access), to);
}

void NestSteps::read_component(const kernel::Step& step, int into, Statements& to) {
  const auto& access = program_.access(step.access);
  const std::span axes = std::span(program_.array(step.target).axes).subspan(1);
  announce(context_, access);
  const auto numbers = gather_component(context_, access, places_of_dofs(program_, access, step.target),
                                        values_.indices.at(component_axis(program_, step.target)), to);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    values_.write(step.target, into, numbered(program_, values_.indices, axes, static_cast<int>(k)), numbers[k], to);
}

void NestSteps::read_dofs(const kernel::Step& step, int into, Statements& to) {
  const DofAccess access(context_, program_.field_of(program_.access(step.access)));
  const std::string vector = context_.vector_of(program_.access(step.access));
  each_dof(step.target, [&](const EntryIndices& first) {
    access.each_component(number_in_cell(context_, step.target, first), to,
                          [&](Statements& body, const NodePtr& index, int c, bool) {
                            auto at = first;
                            at[component_axis(program_, step.target)] = integer(c);
                            memories_.store(into, step.target, at, context_.fetch(vector, index), body);
                          });
  });
}

/// Calls f(indices) for the first component alone.
void NestSteps::each_dof(int array, const std::function<void(const EntryIndices&)>& f) const {
  auto given = values_.indices;
  given[component_axis(program_, array)] = integer(0);
  each_entry(context_, array, given, f);
}

void NestSteps::read_nodes(const kernel::Step& step, int into, Statements& to) {
  if (is_of_whole_cell(step.target))
    return load_nodes(context_, memories_.name(into),
                      memories_.placement(into, step.target, program_.access(step.access)), to);
  const int nodes = program_.geometry->num_dofs(), dim = program_.tdim;
  each_entry(context_, step.target, values_.indices, [&](const EntryIndices& at) {
    const NodePtr number =
        context_.fetch_of_cell(role::nodes, nodes * dim, integer(std::int64_t{nodes} * dim), [&](const NodePtr& cell) {
          const NodePtr node = iadd(imul(cell, integer(nodes)), number_in_cell(context_, step.target, at));
          return iadd(imul(node, integer(dim)), at.at(component_axis(program_, step.target)));
        });
    memories_.store(into, step.target, at, number, to);
  });
}

void NestSteps::mask_dofs(const kernel::Step& step, int in, Statements& to) {
  const int number = program_.family(step.family).members.front();
  const auto& access = program_.access_of(program_.masks[static_cast<std::size_t>(number)]);
  mask(context_, number, memories_.name(in), memories_.placement(in, step.target, access), to);
}

void NestSteps::write_field(const kernel::Step& step, int from, Statements& to) {
  if (goes_by_entries(program_, step)) return write_matrix(step, from, to);
  if (is_of_component(step.source)) return write_component(step, from, to);
  if (!is_of_whole_cell(step.source)) return write_dofs(step, from, to);
  const auto& access = program_.access(step.access);
  scatter(context_, access, memories_.name(from), memories_.placement(from, step.source, access), to);
}

/// Says whether nothing reads an entry, as far as the indices that are numbers say: what is stored of an array has one
/// place for equal entries, and none for those that nobody wants.
bool NestSteps::is_unread(int array, const EntryIndices& at) {
  const auto [known, is_new] = unread_.try_emplace(array);
  auto& unread = known->second;
  if (is_new) {
    const kernel::Step* stores = nullptr;
    int num_reads = 0;
    for (const auto& step : program_.steps) {
      const bool is_factor = step.kind == kernel::StepKind::multiply && program_.product_of(step).factor == array;
      num_reads += step.source == array || is_factor ? 1 : 0;
      if (step.kind == kernel::StepKind::write && step.source == array &&
          program_.moves(step, kernel::AccessKind::stored))
        stores = &step;
    }
    if (stores != nullptr && num_reads == 1) {
      std::vector<bool> is_taken(static_cast<std::size_t>(program_.num_stored), false);
      for (const int place : program_.access(stores->access).places) {
        unread.push_back(place < 0 || is_taken[static_cast<std::size_t>(place)]);
        if (place >= 0) is_taken[static_cast<std::size_t>(place)] = true;
      }
    }
  }
  if (unread.empty()) return false;
  std::size_t first = 0, count = unread.size(); // entries that the indices may mean, as far as they are numbers
  for (const int axis : program_.array(array).axes) {
    const NodePtr& index = at.at(axis);
    if (index->kind != Kind::integer) break;
    count /= static_cast<std::size_t>(program_.extent(axis));
    first += static_cast<std::size_t>(index->integer) * count;
  }
  const auto begin = unread.begin() + static_cast<std::ptrdiff_t>(first);
  return std::find(begin, begin + static_cast<std::ptrdiff_t>(count), false) ==
         begin + static_cast<std::ptrdiff_t>(count);
}

/// Place of an entry of an array among what set-up stores.
NodePtr NestSteps::stored_entry(const kernel::Step& step, int array, const EntryIndices& at) {
  const NodePtr component = imul(at.at(component_axis(program_, array)), integer(program_.num_entries(array)));
  const NodePtr number = iadd(component, number_in_cell(context_, array, at));
  const auto& places = program_.access(step.access).places;
  if (number->kind != Kind::integer) return stored_number(iload(context_.integers("stored_places", places), number));
  return stored_number(integer(places[static_cast<std::size_t>(number->integer)]));
}
NodePtr NestSteps::stored_number(const NodePtr& place) {
  const NodePtr count = integer(program_.num_stored);
  if (writes_cell_by_cell(context_.plan))
    return iadd(imul(context_.at_cell(imul(context_.data_row(), integer(context_.cells_per_batch()))), count), place);
  const NodePtr first = context_.first_stored(1, integer(0), program_.num_stored, place);
  return context_.has_cell_lanes() ? iadd(first, lane()) : first;
}

void NestSteps::read_stored(const kernel::Step& step, int into, Statements& to) {
  const std::string stored = context_.global(role::stored_cell);
  context_.announce_row(role::stored_cell, program_.num_stored);
  each_entry(context_, step.target, values_.indices, [&](const EntryIndices& at) {
    values_.write(step.target, into, at, context_.fetch(stored, stored_entry(step, step.target, at)), to);
  });
}

/// Past the caches where the plan says so: what set-up stores is read when all of it is there.
NodePtr NestSteps::put_stored(const std::string& stored, NodePtr entry, NodePtr value) const {
  return context_.plan[key::stores] == Stores::streaming && context_.has_cell_lanes()
             ? stream(stored, std::move(entry), std::move(value))
             : store(stored, std::move(entry), std::move(value));
}

void NestSteps::write_stored(const kernel::Step& step, int from, Statements& to) {
  constexpr int most_in_text = 128;
  const std::string stored = context_.global(role::stored_cell, 0, Type::real, true);
  if (from >= 0 && is_of_whole_cell(step.source) && program_.size(step.source) > most_in_text) {
    std::vector<int> entries, places;
    for (int i = 0; i < program_.size(step.source); ++i)
      if (const int place = program_.access(step.access).places[static_cast<std::size_t>(i)];
          place >= 0 && std::ranges::find(places, place) == places.end()) {
        entries.push_back(i);
        places.push_back(place);
      }
    const std::string i = context_.fresh("i");
    const NodePtr entry = iload(context_.integers("stored_entries", entries), variable(i)),
                  place = iload(context_.integers("stored_places", places), variable(i));
    const NodePtr value = context_.fitting(
        stored, context_.load(memories_.name(from), context_.work_entry(iadd(memories_.begin(from), entry))));
    to.push_back(loop(i, integer(std::ssize(entries)), put_stored(stored, stored_number(place), value)));
    return;
  }
  each_entry(context_, step.source, values_.indices, [&](const EntryIndices& at) {
    if (is_unread(step.source, at)) return;
    const NodePtr entry = stored_entry(step, step.source, at);
    to.push_back(put_stored(stored, entry, context_.fitting(stored, values_.value(step.source, from, at))));
  });
}

/// The entries of cell matrices whose indices the loops around leave open.
void NestSteps::write_matrix(const kernel::Step& step, int from, Statements& to) {
  const std::string matrices = context_.global(role::output_vector, 0, Type::real, true);
  const NodePtr begin = begin_of_matrices(context_, program_.access(step.access).field, to);
  each_entry(context_, step.source, values_.indices, [&](const EntryIndices& at) {
    const NodePtr component =
        imul(at.at(component_axis(program_, step.source)), integer(program_.num_entries(step.source)));
    const NodePtr number = iadd(component, number_in_cell(context_, step.source, at));
    to.push_back(store(matrices, place_of_matrix_entry(context_, iadd(begin, number)),
                       context_.fitting(matrices, values_.value(step.source, from, at))));
  });
}

void NestSteps::write_component(const kernel::Step& step, int from, Statements& to) {
  const auto& access = program_.access(step.access);
  const std::span axes = std::span(program_.array(step.source).axes).subspan(1);
  if (context_.plan[key::stores] != Stores::streaming) announce(context_, access);
  std::vector<NodePtr> numbers;
  for (int k = 0; k < program_.num_entries(step.source); ++k)
    numbers.push_back(values_.read(step.source, from, numbered(program_, values_.indices, axes, k), to));
  scatter_component(context_, access, places_of_dofs(program_, access, step.source),
                    values_.indices.at(component_axis(program_, step.source)), numbers, to);
}

void NestSteps::write_dofs(const kernel::Step& step, int from, Statements& to) {
  if (context_.way == Way::cell_vector) return write_cell_vector(step, from, to);
  const DofAccess access(context_, program_.field_of(program_.access(step.access)));
  const std::string vector = context_.vector_of(program_.access(step.access));
  Statements adding;
  each_dof(step.source, [&](const EntryIndices& first) {
    access.each_component(number_in_cell(context_, step.source, first), adding,
                          [&](Statements& body, const NodePtr& index, int c, bool is_interior) {
                            auto at = first;
                            at[component_axis(program_, step.source)] = integer(c);
                            const NodePtr value = context_.fitting(vector, memories_.load(from, step.source, at));
                            body.push_back(is_interior ? add(vector, index, value) : atomic_add(vector, index, value));
                          });
  });
  to.push_back(branch(ilt(context_.at_cell(integer(0)), context_.num_active()), block(std::move(adding)), block({})));
}

void NestSteps::write_cell_vector(const kernel::Step& step, int from, Statements& to) {
  const auto& use = program_.field_of(program_.access(step.access));
  const int components = use.components, num_dofs = program_.num_entries(step.source);
  const std::string vector = context_.global(role::cell_vector, use.vector, Type::real, true);
  each_entry(context_, step.source, values_.indices, [&](const EntryIndices& at) {
    const NodePtr line =
        iadd(imul(context_.batch(), integer(components)), at.at(component_axis(program_, step.source)));
    const NodePtr place =
        context_.cell_entry(iadd(imul(line, integer(num_dofs)), number_in_cell(context_, step.source, at)));
    to.push_back(store(vector, place, context_.fitting(vector, memories_.load(from, step.source, at))));
  });
}

} // namespace rafter::schedule

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/context.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/schedule/group_batches.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/schedule.hpp>

namespace rafter::schedule {

namespace {

ParallelAxis axis_of(CellPlace place) {
  return place == CellPlace::lanes   ? ParallelAxis::cell
         : place == CellPlace::items ? ParallelAxis::item
                                     : ParallelAxis::none;
}

} // namespace

Context::Context(const LoweringInput& lowering, const Plan& chosen, const Schedule& schedule)
    : input(lowering), program(*lowering.program), plan(chosen), parallel_axis(axis_of(schedule.cell_place)),
      way(schedule.way), subbatches(schedule.subbatches) {
  result.vector_width = has_lanes() ? chosen[key::vector_width] : 1;
}

std::string Context::global(const std::string& role, int index, Type type, bool is_written) {
  const std::string name = fmt::format("{}_{}", role, index);
  if (type == Type::real) type = type_of(role, index);
  if (result.find(name) == nullptr) {
    LoopBuffer buffer;
    buffer.name = name;
    buffer.type = type;
    buffer.is_written = is_written;
    buffer.role = role;
    buffer.index = index;
    result.buffers.push_back(buffer);
  }
  return name;
}

/// Data fields, nodes and maps stay doubles: their differences lose digits that products do not.
Type Context::type_of(const std::string& role, int index) const {
  const auto of = [](Precision precision) {
    return precision == Precision::double_precision ? Type::real : Type::real32;
  };
  if (role == role::stored_point || role == role::stored_cell) return of(plan[key::storage]);
  if (role == role::matrix || role == role::points || role == role::weights) return of(plan[key::compute]);
  const bool is_trial = role == role::input_vector && std::ranges::any_of(program.inputs, [&](const auto& use) {
                          return use.vector == index && use.kind == kernel::AtomKind::reference_trial;
                        });
  return is_trial || role == role::output_vector || role == role::cell_vector ? of(plan[key::accumulate]) : Type::real;
}

NodePtr Context::fetch(const std::string& buffer, NodePtr index) const {
  const auto load = plan[key::gathers] == Gathers::scalar ? load_by_lane : schedule::load;
  return converted(load(buffer, std::move(index), result.find(buffer)->type), type());
}

NodePtr Context::place_of_cell(const std::function<NodePtr(const NodePtr& cell)>& place) {
  if (!reads_cell_by_cell(plan)) return cell_entry(place(data_row()));
  return place(at_cell(imul(data_row(), integer(cells_per_batch()))));
}

NodePtr Context::fetch_of_cell(const std::string& role, int count, const NodePtr& stride,
                               const std::function<NodePtr(const NodePtr& cell)>& place) {
  const std::string buffer = global(role);
  const bool is_staged = plan[key::read] == Reading::staged && takes_batches_side_by_side(*this),
             is_workspace = has_items() && plan[key::workspace] == Workspace::geometry && role == role::map &&
                            program.contraction == kernel::Contraction::pointwise;
  if (!is_staged && !is_workspace) return fetch(buffer, place_of_cell(place));
  const int size = count + (plan[key::padding] ? 1 : 0);
  const NodePtr part = imul(variable(own_item), integer(size));
  const std::string name = role + "_numbers";
  const bool is_new = result.find(name) == nullptr;
  work(name, size);
  if (is_new) {
    result.buffers.back().space = Space::shared;
    if (is_staged)
      staged.push_back({role, name, count, stride});
    else {
      const NodePtr number = variable(fresh("i"));
      const NodePtr copied =
          fetch(buffer, place_of_cell([&](const NodePtr& cell) { return iadd(imul(cell, stride), number); }));
      before_subbatches.push_back(loop(number->name, integer(count), store(name, iadd(part, number), copied)));
    }
  }
  return load(name, iadd(part, place(integer(0))));
}

NodePtr Context::fitting(const std::string& buffer, NodePtr value) const {
  return converted(std::move(value), result.find(buffer)->type);
}

std::string Context::constant(const std::string& prefix, Type type, const std::vector<double>& values, bool is_lane) {
  int num_tables = 0;
  for (const auto& buffer : result.buffers) {
    if (!buffer.values.empty() && buffer.type == type && buffer.is_lane == is_lane && buffer.values == values)
      return buffer.name;
    num_tables += buffer.role == role::table ? 1 : 0;
  }
  LoopBuffer buffer;
  buffer.name = fresh(prefix);
  buffer.type = type;
  buffer.size = static_cast<std::int64_t>(values.size());
  buffer.values = values;
  buffer.is_lane = is_lane;
  constexpr std::size_t most_in_text = 64; // the text does not grow with the degree
  if (type == Type::integer && values.size() > most_in_text) {
    buffer.role = role::table;
    buffer.index = num_tables;
  } else
    buffer.space = Space::constant;
  result.buffers.push_back(buffer);
  return buffer.name;
}

std::string Context::integers(const std::string& prefix, const std::vector<int>& values) {
  return constant(prefix, Type::integer, {values.begin(), values.end()});
}

std::string Context::reals(const std::string& prefix, const std::vector<double>& values) {
  return constant(prefix, type(), values);
}

std::string Context::vectors(const std::string& prefix, const std::vector<double>& values) {
  return constant(prefix, type(), values, true);
}

std::string Context::work(const std::string& name, std::int64_t entries) {
  if (result.find(name) == nullptr) {
    LoopBuffer buffer;
    buffer.name = name;
    buffer.space = Space::work;
    buffer.type = type();
    buffer.size = entries * subbatches * result.vector_width;
    buffer.is_lane = has_lanes();
    result.buffers.push_back(buffer);
  }
  return name;
}

NodePtr Context::define(Statements& to, const std::string& prefix, NodePtr value) {
  if (value->kind == Kind::reg || value->kind == Kind::number) return value;
  const std::string name = fresh(prefix);
  const Type type = value->type;
  to.push_back(let(name, std::move(value)));
  return reg(name, type);
}

NodePtr Context::define_integer(Statements& to, const std::string& prefix, NodePtr value) {
  if (value->kind == Kind::variable || value->kind == Kind::integer) return value;
  const std::string name = fresh(prefix);
  const bool has_lane = value->has_lane;
  to.push_back(ilet(name, std::move(value)));
  return variable(name, has_lane);
}

void Context::announce_row(const std::string& role, int numbers) {
  if (!plan[key::prefetch] || !has_cell_lanes()) return;
  const std::string buffer = global(role);
  if (std::ranges::find(streams, buffer, &Stream::vector) != streams.end()) return;
  const std::int64_t num_entries = std::int64_t{numbers} * cells_per_batch();
  const NodePtr size = integer(num_entries);
  const NodePtr row = iload(global(role::data_rows, 0, Type::integer), next_batch());
  streams.push_back({buffer, imul(row, size), imul(iadd(row, integer(1)), size), num_entries});
}

NodePtr Context::first_stored(int count, NodePtr group, int size, NodePtr number) {
  const int side_by_side = input.stored.cells > 0 ? input.stored.cells : cells_per_batch();
  const int num_interleaved = cells_per_batch() / side_by_side,
            at_a_time = has_cell_lanes() ? plan[key::vector_width] : 1;
  NodePtr part = has_cell_lanes() ? subbatch() : at_cell(integer(0)), part_of_row = integer(0);
  if (num_interleaved > 1) { // place of these cells, in units of as many as are computed at a time
    part_of_row = idiv(part, side_by_side / at_a_time);
    part = side_by_side == at_a_time ? integer(0) : isub(part, imul(part_of_row, integer(side_by_side / at_a_time)));
  }
  const NodePtr row = iadd(imul(data_row(), integer(num_interleaved)), part_of_row);
  const NodePtr entry = iadd(imul(iadd(imul(row, integer(count)), std::move(group)), integer(size)), std::move(number));
  return iadd(imul(entry, integer(side_by_side)), imul(part, integer(at_a_time)));
}

Statements Context::with_numbers_of_batch(Statements body) {
  const auto name = [&](const char* variable, const char* role) {
    body.insert(body.begin(), ilet(variable, iload(global(role, 0, Type::integer), batch())));
  };
  if (reads_data_) name("row", role::data_rows);
  if (reads_facet_) name("facet", role::facet);
  return body;
}

std::string array_name(const kernel::TensorProgram& program, int array) {
  return fmt::format("a{}_{}", array, program.array(array).name);
}

} // namespace rafter::schedule

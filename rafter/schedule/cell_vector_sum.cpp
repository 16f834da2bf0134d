// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/cell_vector_sum.hpp>

#include <utility>

#include <fmt/format.h>
#include <rafter/schedule/mapping.hpp>

namespace rafter::schedule {
namespace {

constexpr int items_of_group = 64;

std::string argument(LoopProgram& program, const char* role, Type type) {
  LoopBuffer buffer;
  buffer.name = fmt::format("{}_0", role);
  buffer.type = type;
  buffer.role = role;
  program.buffers.push_back(buffer);
  return program.buffers.back().name;
}

} // namespace

LoopProgram cell_vector_sum(Type vectors) {
  LoopProgram program;
  program.name = "cell_vector_sum";
  program.launch = {.items = {items_of_group, 1, 1}, .batches = items_of_group};
  const auto mode = argument(program, role::mode, Type::integer),
             starts = argument(program, role::sum_starts, Type::integer),
             places = argument(program, role::sum_places, Type::integer),
             terms = argument(program, role::cell_vector, vectors), y = argument(program, role::output_vector, vectors);
  program.buffers.back().is_written = true;
  program.buffers.push_back({.name = "sum", .space = Space::work, .type = vectors, .size = 1, .values = {}});

  const NodePtr entry = variable("entry"), first = variable("first"), sum = load("sum", integer(0), vectors);
  const NodePtr count = isub(iload(starts, iadd(entry, integer(1))), first);
  const NodePtr term = load(terms, iload(places, iadd(first, variable("k"))), vectors);
  NodePtr of_entry =
      block({ilet("first", iload(starts, entry)), store("sum", integer(0), number(0, vectors)),
             loop("k", count, block({add("sum", integer(0), term)})),
             branch(iload(mode, integer(0)), block({add(y, entry, sum)}), block({store(y, entry, sum)}))});
  const NodePtr is_there = ilt(entry, iadd(variable("last_batch"), integer(1)));
  program.body =
      block({ilet("entry", iadd(variable("batch"), item(0))), branch(is_there, std::move(of_entry), block({}))});
  verify(program);
  return program;
}

} // namespace rafter::schedule

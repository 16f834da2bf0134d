// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/run_moves.hpp>

#include <fmt/format.h>

namespace rafter::emit {

using schedule::Kind;
using schedule::NodePtr;
using schedule::Type;

namespace {

/// The expression x when the index is x + the loop variable, else null.
NodePtr behind(const NodePtr& index, const std::string& variable) {
  const auto is_variable = [&](const NodePtr& n) { return n->kind == Kind::variable && n->name == variable; };
  if (is_variable(index)) return schedule::integer(0);
  return index->kind == Kind::iadd && is_variable(index->operands[1]) ? index->operands[0] : nullptr;
}

/// An entry of a work array in the form `entry` * `stride` + `offset` (null: 0), as where several sub-batches stand
/// side by side.
struct Strided {
  NodePtr entry;
  int stride = 1;
  NodePtr offset;
};
Strided strided(const NodePtr& entry) {
  const bool has_offset = entry->kind == Kind::iadd && entry->operands[0]->kind == Kind::imul;
  const NodePtr& scaled = has_offset ? entry->operands[0] : entry;
  if (scaled->kind != Kind::imul || scaled->operands[1]->kind != Kind::integer) return {entry, 1, nullptr};
  return {scaled->operands[0], static_cast<int>(scaled->operands[1]->integer),
          has_offset ? entry->operands[1] : nullptr};
}

} // namespace

std::string name(const RunMove& move) {
  const char* types = move.vector != move.work ? "_df" : move.work == Type::real32 ? "_f" : "";
  const std::string stride = move.stride > 1 ? fmt::format("_by{}", move.stride) : "";
  return fmt::format("{}_run{}{}{}", move.adds ? "add" : "load", move.width, types, stride);
}

std::optional<std::string> run_move(const schedule::LoopProgram& program, const schedule::Node& loop,
                                    const Spelling& spelling, const IntegerWriter& integers, const RealWriter& reals,
                                    Helpers& helpers) {
  const auto& body = *loop.operands[1]->operands[0];
  const bool adds = body.kind == Kind::add;
  const auto& moved = *body.operands[1];
  const auto& value = moved.kind == Kind::load ? moved : *moved.operands[0]; // the value may be converted
  const auto& outside = adds ? body : value;
  const auto& inside = adds ? value : body;
  const auto position = behind(outside.operands[0], loop.name);
  const auto whole_entry = integers.whole_entry(inside.operands[0]);
  if (position == nullptr || whole_entry == nullptr || body.is_atomic || spelling.run_mover == nullptr)
    return std::nullopt;
  const auto [entry, stride, offset] = strided(whole_entry);
  if (entry->kind != Kind::iload) return std::nullopt;
  const auto first = behind(entry->operands[0], loop.name);
  if (first == nullptr || !program.find(inside.name)->is_lane) return std::nullopt;
  const auto starts = integers.positions(position);
  if (!starts) return std::nullopt;
  const RunMove move{.vector_width = program.vector_width,
                     .width = static_cast<int>(loop.operands[0]->integer),
                     .stride = stride,
                     .adds = adds,
                     .vector = program.find(outside.name)->type,
                     .work = program.find(inside.name)->type};
  helpers["move"] = spelling.run_prelude(program.vector_width, move.work);
  helpers["move_" + name(move)] = spelling.run_mover(move);
  return fmt::format("{}({}{}, {} + {}, {}, {}, {});\n", name(move), inside.name,
                     offset == nullptr ? "" : " + " + integers.scalar(offset, 1), entry->name,
                     integers.scalar(first, 1), reals.numbers_of(*program.find(outside.name)), starts->table,
                     starts->shift);
}

} // namespace rafter::emit

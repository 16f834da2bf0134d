// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/part_pointers.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace rafter::emit {

using schedule::Kind;
using schedule::Node;
using schedule::NodePtr;

/// An index `variable*size + rest`.
struct PartPointers::Split {
  std::string variable;
  std::int64_t size = 0;
  NodePtr rest;
};

std::optional<PartPointers::Split> PartPointers::split(const NodePtr& index) {
  if (index->kind == Kind::imul && index->operands[0]->kind == Kind::variable &&
      index->operands[1]->kind == Kind::integer)
    return Split{index->operands[0]->name, index->operands[1]->integer, schedule::integer(0)};
  if (index->kind != Kind::iadd) return std::nullopt;
  auto result = split(index->operands[0]);
  if (result) result->rest = schedule::iadd(result->rest, index->operands[1]);
  return result;
}

std::string PartPointers::pointer_of(const std::string& buffer, const Split& split) {
  return fmt::format("{}_of_{}_{}", buffer, split.variable, split.size);
}

PartPointers::PartPointers(const schedule::LoopProgram& program) : program_(program) { find(*program.body); }

void PartPointers::find(const Node& node) {
  if (node.kind == Kind::ilet && node.operands[0]->kind == Kind::iload &&
      program_.find(node.operands[0]->name)->role == schedule::role::facet)
    parts_[node.name];
  // Whole vectors of a table are aligned, those of its parts need not be.
  if (node.kind == Kind::load && !node.operands[0]->has_lane)
    if (const auto place = split(node.operands[0]); place && is_in_parts(node.name, *place)) {
      auto& parts = parts_[place->variable];
      const auto pointer = pointer_of(node.name, *place);
      if (std::ranges::find(parts, pointer, &Part::pointer) == parts.end())
        parts.push_back({node.name, pointer, place->size});
    }
  for (const auto& operand : node.operands) find(*operand);
}

/// Pointers are those of arguments that nobody writes: tables of constants have their numbers in the text, and what is
/// written may be reached by one pointer alone.
bool PartPointers::is_in_parts(const std::string& buffer, const Split& place) const {
  const auto& table = *program_.find(buffer);
  return parts_.contains(place.variable) && table.space == schedule::Space::global && !table.is_written;
}

std::string PartPointers::definitions(const std::string& variable, const std::string& indent,
                                      const Spelling& spelling) const {
  std::string text;
  if (const auto parts = parts_.find(variable); parts != parts_.end())
    for (const auto& part : parts->second)
      text += fmt::format("{}{} {} = {} + {}*{};\n", indent, spelling.pointer(*program_.find(part.buffer)),
                          part.pointer, part.buffer, variable, part.size);
  return text;
}

PartPointers::Place PartPointers::place(const std::string& buffer, const NodePtr& index) const {
  if (!index->has_lane)
    if (const auto place = split(index); place && is_in_parts(buffer, *place))
      return {pointer_of(buffer, *place), place->rest};
  return {buffer, index};
}

} // namespace rafter::emit

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/integer_writer.hpp>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::emit {

using schedule::Kind;
using schedule::NodePtr;

namespace {

int strength(Kind kind) { return kind == Kind::imul ? 2 : kind == Kind::ieq || kind == Kind::ilt ? 0 : 1; }

const char* infix(Kind kind) {
  switch (kind) {
  case Kind::iadd:
    return "+";
  case Kind::isub:
    return "-";
  case Kind::imul:
    return "*";
  case Kind::idiv:
    return "/";
  case Kind::ieq:
    return "==";
  case Kind::ilt:
    return "<";
  default:
    throw base::InternalError("emitter: not an integer operation");
  }
}

} // namespace

std::string enclosed(const std::string& text, int strength, int needed) {
  return strength < needed ? "(" + text + ")" : text;
}

std::string IntegerWriter::scalar(const NodePtr& node, int needed) const {
  switch (node->kind) {
  case Kind::integer:
    return std::to_string(node->integer);
  case Kind::variable:
    return node->name;
  case Kind::group:
    return spelling_.groups.group;
  case Kind::item:
    return spelling_.groups.item(static_cast<int>(node->integer));
  case Kind::iload:
    return fmt::format("(long){}[{}]", node->name, scalar(node->operands[0]));
  case Kind::imin: {
    const std::string a = scalar(node->operands[0], 1), b = scalar(node->operands[1], 1);
    return fmt::format("({0} < {1} ? {0} : {1})", a, b);
  }
  case Kind::idiv: // quotients of integers do not associate with products
    return fmt::format("({}/{})", scalar(node->operands[0], 2), scalar(node->operands[1]));
  default:
    const int own = strength(node->kind);
    // Sums and products of integers associate.
    const int right = node->kind == Kind::iadd || node->kind == Kind::imul ? own : own + 1;
    return enclosed(scalar(node->operands[0], own) + infix(node->kind) + scalar(node->operands[1], right), own, needed);
  }
}

std::string IntegerWriter::operand_of_vectors(const NodePtr& node) const {
  if (node->has_lane) return vector(node);
  if (node->kind == Kind::integer) return scalar(node);
  return node->kind == Kind::variable ? "(int)" + node->name : fmt::format("(int)({})", scalar(node));
}

std::string IntegerWriter::vector(const NodePtr& node) const {
  if (!node->has_lane) return fmt::format("isplat({})", scalar(node));
  switch (node->kind) {
  case Kind::lane:
    return "lane_numbers";
  case Kind::variable:
    return node->name;
  case Kind::iload:
    if (const auto y = whole(node->operands[0]))
      return spelling_.vectors.load_whole(node->name, *y, schedule::Type::integer);
    return fmt::format("gather_i({}, {})", node->name, vector(node->operands[0]));
  case Kind::imin:
    return fmt::format("vmin_i({}, {})", vector(node->operands[0]), vector(node->operands[1]));
  default: {
    const std::string a = operand_of_vectors(node->operands[0]), b = operand_of_vectors(node->operands[1]);
    if (node->kind == Kind::ilt) throw base::InternalError("emitter: vectors are not ordered");
    if (node->kind == Kind::ieq) return fmt::format("-({} == {})", a, b); // comparing gives -1 where both are equal
    return fmt::format("({} {} {})", a, infix(node->kind), b);
  }
  }
}

std::string IntegerWriter::of_lane(const NodePtr& node) const {
  if (!node->has_lane) return scalar(node, 3);
  switch (node->kind) {
  case Kind::lane:
    return "l_";
  case Kind::variable:
    return of_lane(definitions_.at(node->name));
  case Kind::iload:
    return fmt::format("(long){}[{}]", node->name, of_lane(node->operands[0]));
  case Kind::imin: {
    const std::string a = of_lane(node->operands[0]), b = of_lane(node->operands[1]);
    return fmt::format("({0} < {1} ? {0} : {1})", a, b);
  }
  default:
    return fmt::format("({} {} {})", of_lane(node->operands[0]), infix(node->kind), of_lane(node->operands[1]));
  }
}

NodePtr IntegerWriter::whole_entry(const NodePtr& index) const {
  if (index->kind != Kind::iadd || index->operands[1]->kind != Kind::lane) return nullptr;
  const auto& base = index->operands[0];
  if (base->kind != Kind::imul || base->has_lane || base->operands[1]->kind != Kind::integer ||
      base->operands[1]->integer != vector_width_)
    return nullptr;
  return base->operands[0];
}

std::optional<std::string> IntegerWriter::whole(const NodePtr& index) const {
  if (index->kind == Kind::lane) return "0";
  if (const auto entry = whole_entry(index)) return scalar(entry);
  if (index->kind != Kind::iadd || index->operands[1]->kind != Kind::lane) return std::nullopt;
  const auto& base = index->operands[0];
  if (base->kind == Kind::integer && base->integer % vector_width_ == 0)
    return std::to_string(base->integer / vector_width_);
  return std::nullopt;
}

std::optional<std::string> IntegerWriter::contiguous(const NodePtr& index) const {
  if (index->kind == Kind::iadd && index->operands[1]->kind == Kind::lane && !index->operands[0]->has_lane)
    return scalar(index->operands[0], 1);
  return std::nullopt;
}

std::optional<std::string> IntegerWriter::table_of_lanes(const NodePtr& node) const {
  if (node->kind == Kind::variable && node->has_lane) return table_of_lanes(definitions_.at(node->name));
  if (node->kind != Kind::iload) return std::nullopt;
  const auto& index = node->operands[0];
  if (index->kind == Kind::lane) return node->name;
  const auto first = contiguous(index);
  return first ? std::optional(node->name + " + " + *first) : std::nullopt;
}

std::optional<IntegerWriter::Positions> IntegerWriter::positions(const NodePtr& node) const {
  const bool is_shifted = node->kind == Kind::iadd && !node->operands[1]->has_lane;
  auto table = table_of_lanes(is_shifted ? node->operands[0] : node);
  if (!table) return std::nullopt;
  return Positions{std::move(*table), is_shifted ? scalar(node->operands[1], 1) : "0"};
}

} // namespace rafter::emit

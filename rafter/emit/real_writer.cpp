// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/real_writer.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::emit {

using form::ScalarOp;
using schedule::Kind;
using schedule::LoopBuffer;
using schedule::NodePtr;

namespace {

/// Infix notation of an operation; "" for operations that are function calls.
const char* infix(ScalarOp op) {
  switch (op) {
  case ScalarOp::add:
    return " + ";
  case ScalarOp::sub:
    return " - ";
  case ScalarOp::mul:
    return "*";
  case ScalarOp::div:
    return "/";
  default:
    return "";
  }
}

int strength(ScalarOp op) { return op == ScalarOp::add || op == ScalarOp::sub ? 1 : 2; }

} // namespace

RealWriter::RealWriter(const schedule::LoopProgram& program, const Spelling& spelling, const IntegerWriter& integers,
                       Helpers& helpers)
    : program_(program), spelling_(spelling), integers_(integers), helpers_(helpers), operations_(spelling, helpers),
      literals_(spelling), part_pointers_(program) {
  find_vectors(program.body);
}

void RealWriter::find_vectors(const NodePtr& node) {
  for (const auto& operand : node->operands) find_vectors(operand);
  if (node->kind == Kind::let && is_vector(node->operands[0])) vectors_.insert(node->name);
}

bool RealWriter::is_vector(const NodePtr& node) const {
  if (node->kind == Kind::reg) return vectors_.contains(node->name);
  if (node->kind == Kind::load) return node->operands[0]->has_lane;
  return std::ranges::any_of(node->operands, [this](const NodePtr& operand) { return is_vector(operand); });
}

std::string RealWriter::type_name(const NodePtr& node) const {
  const auto& names = spelling_.names(node->type);
  return is_vector(node) ? names.vector : names.scalar;
}

std::string RealWriter::text(const NodePtr& node, int needed) {
  switch (node->kind) {
  case Kind::number:
    return literals_.text(node->value, node->type);
  case Kind::reg:
    return node->name;
  case Kind::load:
    return load(*node);
  case Kind::widen:
  case Kind::narrow:
    return is_vector(node) ? spelling_.vectors.converted(text(node->operands[0]), node->type)
                           : fmt::format("({}){}", spelling_.names(node->type).scalar, text(node->operands[0], 3));
  case Kind::operation:
    return operation(*node, needed);
  default:
    throw base::InternalError("emitter: not a real expression");
  }
}

std::string RealWriter::vector(const NodePtr& node) {
  return is_vector(node) ? text(node) : fmt::format("{}splat({})", spelling_.names(node->type).initial, text(node));
}

std::string RealWriter::numbers_of(const LoopBuffer& buffer) const {
  if (!buffer.is_lane) return buffer.name;
  return spelling_.vectors.as_numbers(buffer.name, buffer.type, buffer.space != schedule::Space::constant);
}

std::string RealWriter::load(const schedule::Node& node) const {
  const auto& buffer = *program_.find(node.name);
  const auto& vectors = spelling_.vectors;
  const auto [array, index] = part_pointers_.place(node.name, node.operands[0]);
  if (!index->has_lane)
    return fmt::format("{}[{}]", buffer.is_lane ? vectors.as_numbers(array, buffer.type, false) : array,
                       integers_.scalar(index));
  if (const auto y = integers_.whole(index))
    return buffer.is_lane ? fmt::format("{}[{}]", node.name, *y) : vectors.load_whole(node.name, *y, buffer.type);
  if (const auto x = integers_.contiguous(index))
    return vectors.load(fmt::format("{} + {}", numbers_of(buffer), *x), buffer.type);
  if (node.is_by_lane && spelling_.lane_gather != nullptr) return lane_loads(node, buffer);
  return fmt::format("{}gather({}, {})", spelling_.names(buffer.type).initial, numbers_of(buffer),
                     integers_.vector(index));
}

/// Positions are read from their table where they stand there: taking a vector of them apart costs more than a load.
std::string RealWriter::lane_loads(const schedule::Node& node, const LoopBuffer& buffer) const {
  const auto& index = node.operands[0];
  const std::string numbers = numbers_of(buffer), name = spelling_.names(buffer.type).initial;
  helpers_["gather_lanes" + name] = spelling_.lane_gather(program_.vector_width, buffer.type);
  if (const auto place = integers_.positions(index))
    return fmt::format("{}gather_lanes({} + {}, {})", name, numbers, place->shift, place->table);
  return fmt::format("{}gather_lanes_of({}, {})", name, numbers, integers_.vector(index));
}

std::string RealWriter::operation(const schedule::Node& node, int needed) {
  const auto& operands = node.operands;
  if (node.op == ScalarOp::neg) return fmt::format("(-{})", text(operands[0], 3));
  const std::string sign = infix(node.op);
  if (sign.empty()) return call(node);
  const int own = strength(node.op);               // reals do not associate, so the order of the tree is kept
  const std::string left = text(operands[0], own); // numbers its literals first, whatever the compiler
  return enclosed(left + sign + text(operands[1], own + 1), own, needed);
}

std::string RealWriter::call(const schedule::Node& node) {
  const bool is_vectorial =
      std::ranges::any_of(node.operands, [this](const NodePtr& operand) { return is_vector(operand); });
  std::string result =
      (is_vectorial ? operations_.vector(node.op, node.type) : operations_.scalar(node.op, node.type)) + "(";
  for (std::size_t i = 0; i < node.operands.size(); ++i)
    result += (i > 0 ? ", " : "") + (is_vectorial ? vector(node.operands[i]) : text(node.operands[i]));
  return result + ")";
}

} // namespace rafter::emit

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/loop_program.hpp>

#include <algorithm>
#include <array>

#include <rafter/base/error.hpp>

namespace rafter::schedule {

namespace {

std::shared_ptr<Node> make(Kind kind, std::vector<NodePtr> operands, std::string name = {}, Type type = Type::real) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->type = type;
  for (const auto& operand : operands) node->has_lane = node->has_lane || operand->has_lane;
  node->operands = std::move(operands);
  node->name = std::move(name);
  return node;
}

bool is_literal(const NodePtr& node, std::int64_t value) {
  return node->kind == Kind::integer && node->integer == value;
}
bool are_literals(const NodePtr& a, const NodePtr& b) { return a->kind == Kind::integer && b->kind == Kind::integer; }

NodePtr access(Kind kind, const std::string& buffer, NodePtr index, NodePtr value, NodePtr active) {
  std::vector<NodePtr> operands{std::move(index), std::move(value)};
  if (active != nullptr) operands.push_back(std::move(active));
  return make(kind, std::move(operands), buffer);
}

} // namespace

NodePtr integer(std::int64_t value) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::integer;
  node->integer = value;
  return node;
}
NodePtr variable(const std::string& name, bool has_lane) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::variable;
  node->name = name;
  node->has_lane = has_lane;
  return node;
}
NodePtr lane() {
  auto node = std::make_shared<Node>();
  node->kind = Kind::lane;
  node->has_lane = true;
  return node;
}
NodePtr group() { return make(Kind::group, {}); }
NodePtr item(int axis) {
  auto node = make(Kind::item, {});
  node->integer = axis;
  return node;
}
NodePtr iadd(NodePtr a, NodePtr b) {
  if (is_literal(a, 0)) return b;
  if (is_literal(b, 0)) return a;
  if (are_literals(a, b)) return integer(a->integer + b->integer);
  return make(Kind::iadd, {std::move(a), std::move(b)});
}
NodePtr isub(NodePtr a, NodePtr b) {
  if (is_literal(b, 0)) return a;
  if (are_literals(a, b)) return integer(a->integer - b->integer);
  return make(Kind::isub, {std::move(a), std::move(b)});
}
NodePtr imul(NodePtr a, NodePtr b) {
  if (is_literal(a, 1)) return b;
  if (is_literal(b, 1)) return a;
  if (is_literal(a, 0) || is_literal(b, 0)) return integer(0);
  if (are_literals(a, b)) return integer(a->integer * b->integer);
  return make(Kind::imul, {std::move(a), std::move(b)});
}
NodePtr imin(NodePtr a, NodePtr b) { return make(Kind::imin, {std::move(a), std::move(b)}); }
NodePtr idiv(NodePtr a, std::int64_t b) {
  if (b == 1) return a;
  return a->kind == Kind::integer ? integer(a->integer / b) : make(Kind::idiv, {std::move(a), integer(b)});
}
NodePtr ieq(NodePtr a, NodePtr b) { return make(Kind::ieq, {std::move(a), std::move(b)}); }
NodePtr ilt(NodePtr a, NodePtr b) { return make(Kind::ilt, {std::move(a), std::move(b)}); }
NodePtr iload(const std::string& buffer, NodePtr index) { return make(Kind::iload, {std::move(index)}, buffer); }
NodePtr number(double value, Type type) {
  auto node = make(Kind::number, {}, {}, type);
  node->value = type == Type::real32 ? static_cast<double>(static_cast<float>(value)) : value;
  return node;
}
NodePtr reg(const std::string& name, Type type) { return make(Kind::reg, {}, name, type); }
NodePtr load(const std::string& buffer, NodePtr index, Type type) {
  return make(Kind::load, {std::move(index)}, buffer, type);
}
NodePtr load_by_lane(const std::string& buffer, NodePtr index, Type type) {
  const bool lies_apart = index->has_lane && !is_contiguous(*index);
  auto node = make(Kind::load, {std::move(index)}, buffer, type);
  node->is_by_lane = lies_apart;
  return node;
}
bool is_contiguous(const Node& index) {
  return index.kind == Kind::lane ||
         (index.kind == Kind::iadd && index.operands[1]->kind == Kind::lane && !index.operands[0]->has_lane);
}
NodePtr converted(NodePtr value, Type type) {
  if (value->type == type) return value;
  if (value->kind == Kind::number) return number(value->value, type);
  return make(type == Type::real ? Kind::widen : Kind::narrow, {std::move(value)}, {}, type);
}
NodePtr operation(form::ScalarOp op, std::vector<NodePtr> operands) {
  const Type type = operands.empty() ? Type::real : operands.front()->type;
  auto node = make(Kind::operation, std::move(operands), {}, type);
  node->op = op;
  return node;
}
NodePtr block(std::vector<NodePtr> statements) { return make(Kind::block, std::move(statements)); }
NodePtr loop(const std::string& name, NodePtr count, NodePtr body, LoopStyle style) {
  if (body->kind != Kind::block) body = block({std::move(body)});
  auto node = make(Kind::loop, {std::move(count), std::move(body)}, name);
  node->style = style;
  return node;
}
NodePtr let(const std::string& name, NodePtr value) { return make(Kind::let, {std::move(value)}, name); }
NodePtr ilet(const std::string& name, NodePtr value) { return make(Kind::ilet, {std::move(value)}, name); }
NodePtr store(const std::string& buffer, NodePtr index, NodePtr value, NodePtr active) {
  return access(Kind::store, buffer, std::move(index), std::move(value), std::move(active));
}
NodePtr stream(const std::string& buffer, NodePtr index, NodePtr value) {
  auto node = std::make_shared<Node>(*store(buffer, std::move(index), std::move(value)));
  node->is_streaming = true;
  return node;
}
NodePtr add(const std::string& buffer, NodePtr index, NodePtr value, NodePtr active) {
  return access(Kind::add, buffer, std::move(index), std::move(value), std::move(active));
}
NodePtr atomic_add(const std::string& buffer, NodePtr index, NodePtr value, NodePtr active) {
  auto node = std::make_shared<Node>(*add(buffer, std::move(index), std::move(value), std::move(active)));
  node->is_atomic = true;
  return node;
}
NodePtr barrier() { return make(Kind::barrier, {}); }
NodePtr prefetch(const std::string& buffer, NodePtr index) { return make(Kind::prefetch, {std::move(index)}, buffer); }
NodePtr prefetch_nearest(const std::string& buffer, NodePtr index) {
  auto node = make(Kind::prefetch, {std::move(index)}, buffer);
  node->is_nearest = true;
  return node;
}
NodePtr branch(NodePtr condition, NodePtr then, NodePtr otherwise) {
  return make(Kind::branch, {std::move(condition), std::move(then), std::move(otherwise)});
}

const LoopBuffer* LoopProgram::find(const std::string& buffer) const {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const LoopBuffer& b) { return b.name == buffer; });
  return found == buffers.end() ? nullptr : &*found;
}

std::vector<LoopBuffer> LoopProgram::arguments() const {
  std::vector<LoopBuffer> result;
  for (const auto& buffer : buffers)
    if (buffer.space == Space::global) result.push_back(buffer);
  return result;
}

} // namespace rafter::schedule

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/array_places.hpp>

#include <algorithm>

namespace rafter::schedule {

ArrayPlaces::ArrayPlaces(const std::vector<LoopBuffer>& buffers, const Node& body) {
  for (const auto& buffer : buffers)
    if (buffer.space != Space::global && buffer.space != Space::shared) of_array_[buffer.name] = Place::literal;
  visit(body);
}

Place ArrayPlaces::of(const std::string& array) const {
  const auto found = of_array_.find(array);
  return found == of_array_.end() ? Place::computed : found->second;
}

void ArrayPlaces::visit(const Node& node) {
  const bool is_unrolled = node.kind == Kind::loop && node.style == LoopStyle::unrolled;
  if (is_unrolled) unrolled_.push_back(node.name);
  const bool is_access =
      node.kind == Kind::load || node.kind == Kind::iload || node.kind == Kind::store || node.kind == Kind::add;
  if (is_access)
    if (const auto found = of_array_.find(node.name); found != of_array_.end())
      found->second = std::max(found->second, place(*node.operands[0]));
  for (const auto& operand : node.operands) visit(*operand);
  if (is_unrolled) unrolled_.pop_back();
}

Place ArrayPlaces::place(const Node& index) const {
  if (index.kind == Kind::iload) return Place::computed;
  if (index.kind == Kind::variable)
    return std::ranges::count(unrolled_, index.name) > 0 ? Place::unrolled : Place::computed;
  Place result = Place::literal;
  for (const auto& operand : index.operands) result = std::max(result, place(*operand));
  return result;
}

std::set<std::string> in_registers(const LoopProgram& program) {
  const ArrayPlaces places(program.buffers, *program.body);
  std::set<std::string> result;
  for (const auto& [name, place] : places.all())
    if (place != Place::computed) result.emplace(name);
  return result;
}

} // namespace rafter::schedule

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/work_arrays.hpp>

#include <algorithm>
#include <unordered_map>

namespace rafter::schedule {
namespace {

/// One operand on the way from the program's body to a node that uses an array; for several uses, the path that they
/// share.
struct PathStep {
  const Node* node;
  int first, last;
};
using Path = std::vector<PathStep>;

class Uses {
public:
  explicit Uses(const Node& body) { visit(body); }
  const Path* find(const std::string& buffer) const {
    const auto found = paths_.find(buffer);
    return found == paths_.end() ? nullptr : &found->second;
  }

private:
  void visit(const Node& node) {
    const bool uses_buffer =
        node.kind == Kind::load || node.kind == Kind::iload || node.kind == Kind::store || node.kind == Kind::add;
    if (uses_buffer) add(node.name);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (node.operands[i] == nullptr) continue;
      way_.push_back({&node, static_cast<int>(i), static_cast<int>(i)});
      visit(*node.operands[i]);
      way_.pop_back();
    }
  }

  void add(const std::string& buffer) {
    const auto [place, is_new] = paths_.try_emplace(buffer, way_);
    if (is_new) return;
    auto& path = place->second;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (i == way_.size() || path[i].node != way_[i].node) {
        path.resize(i);
        return;
      }
      path[i].first = std::min(path[i].first, way_[i].first);
      path[i].last = std::max(path[i].last, way_[i].last);
      if (path[i].first != path[i].last) path.resize(i + 1);
    }
  }

  Path way_;
  std::unordered_map<std::string, Path> paths_;
};

} // namespace

std::vector<WorkArray> work_arrays(const LoopProgram& program) {
  const Uses uses(*program.body);
  const auto registers = in_registers(program);
  std::vector<WorkArray> result;
  for (const auto& buffer : program.buffers) {
    const auto* path = buffer.space == Space::work ? uses.find(buffer.name) : nullptr;
    if (path == nullptr) continue;
    WorkArray array{.name = buffer.name,
                    .bytes = static_cast<double>(buffer.size) * size_bytes(buffer.type),
                    .loop = "batch",
                    .is_in_registers = registers.contains(buffer.name)};
    std::string loop = array.loop;
    for (const auto& step : *path) {
      if (step.node->kind == Kind::loop) loop = step.node->name;
      if (step.node->kind != Kind::block) continue;
      array.loop = loop;
      array.first = step.first;
      array.last = step.last;
      array.num_statements = static_cast<int>(step.node->operands.size());
    }
    result.push_back(std::move(array));
  }
  return result;
}

} // namespace rafter::schedule

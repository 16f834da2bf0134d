// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/scalar_text.hpp>

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace rafter::form {

namespace {

constexpr int max_repeated = 32; ///< nodes of an expression that is written out in several places
constexpr int max_depth = 64;    ///< operations that are nested without a name

class Writer {
public:
  explicit Writer(const ScalarGraph& graph) : graph_(graph) {}

  ScalarTexts texts(std::span<const NodeId> roots) {
    const auto order = graph_.reachable(roots);
    for (const NodeId root : roots) ++parts_[root].num_users;
    for (const NodeId id : order)
      for (const NodeId operand : graph_[id].operands)
        if (operand >= 0) ++parts_[operand].num_users;
    ScalarTexts result;
    for (const NodeId id : order) measure(id, result.names);
    for (const NodeId root : roots) {
      std::string text;
      write(root, text);
      result.roots.push_back(std::move(text));
    }
    return result;
  }

private:
  /// A node as it is written.
  struct Part {
    int num_users = 0;
    int size = 1, depth = 0; ///< nodes, nested operations; of names those of a leaf
    std::string name;        ///< empty: it is written out
  };

  void measure(NodeId id, std::vector<std::string>& names) {
    Part& part = parts_.at(id);
    for (const NodeId operand : graph_[id].operands) {
      if (operand < 0) continue;
      const Part& of_operand = parts_.at(operand);
      part.size += of_operand.size;
      part.depth = std::max(part.depth, of_operand.depth + 1);
    }
    if (!(part.num_users > 1 && part.size > max_repeated) && part.depth < max_depth) return;
    std::string name = fmt::format("t{}", names.size()), text = name + " = ";
    write(id, text);
    names.push_back(std::move(text));
    part.size = 1;
    part.depth = 0;
    part.name = std::move(name);
  }

  void write(NodeId id, std::string& text) const {
    const auto& node = graph_[id];
    if (const auto& name = parts_.at(id).name; !name.empty())
      text += name;
    else if (node.op == ScalarOp::constant)
      text += fmt::format("{}", node.value);
    else if (node.op == ScalarOp::atom)
      text += form::to_string(node.atom);
    else {
      text += info(node.op).name;
      for (int i = 0; i < info(node.op).arity; ++i) {
        text += i == 0 ? "(" : ", ";
        write(node.operands[static_cast<std::size_t>(i)], text);
      }
      text += ')';
    }
  }

  const ScalarGraph& graph_;
  std::unordered_map<NodeId, Part> parts_;
};

} // namespace

ScalarTexts texts_of(const ScalarGraph& graph, std::span<const NodeId> roots) { return Writer(graph).texts(roots); }

std::string ScalarGraph::to_string(NodeId id) const {
  const auto [names, roots] = texts_of(*this, std::array{id});
  std::string text;
  for (const auto& name : names) text += name + "; ";
  return text + roots.front();
}

} // namespace rafter::form

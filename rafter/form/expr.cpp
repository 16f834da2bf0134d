// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/expr.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/form/printer.hpp>
#include <rafter/form/shapes.hpp>

namespace rafter::form {

namespace {

bool is_equal(const ExprNode& a, const ExprNode& b) {
  return a.kind == b.kind && a.operands == b.operands &&
         std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value) && a.indices == b.indices &&
         a.coefficient == b.coefficient && a.space == b.space && a.name == b.name;
}

std::uint64_t hash_of(const ExprNode& node) {
  std::uint64_t hash = base::combine(0, static_cast<std::uint64_t>(node.kind));
  const auto mix = [&hash](std::uint64_t value) { hash = base::combine(hash, value); };
  for (const auto& operand : node.operands) mix(operand.node().hash);
  mix(std::bit_cast<std::uint64_t>(node.value));
  for (const int index : node.indices) mix(static_cast<std::uint64_t>(index + 1));
  mix(std::hash<const void*>()(node.coefficient.get()));
  mix(std::hash<const void*>()(node.space.get()));
  mix(std::hash<std::string>()(node.name));
  return hash;
}

/// All living nodes. The table does not own them: when the last handle of a node goes, its deleter takes the node out,
/// so that spaces and coefficients (and the meshes behind them) live no longer than the expressions that use them.
class NodeTable : public std::enable_shared_from_this<NodeTable> {
public:
  std::shared_ptr<const ExprNode> intern(ExprNode draft) {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = entries_.equal_range(draft.hash);
    // Nodes leave the table, under the lock, before they are freed, so the plain pointers are valid. A node whose last
    // handle is just being destroyed cannot be locked, and gets a successor.
    for (auto entry = begin; entry != end; ++entry)
      if (is_equal(*entry->second.node, draft))
        if (auto existing = entry->second.handle.lock()) return existing;
    const std::uint64_t hash = draft.hash;
    auto owned = std::make_unique<const ExprNode>(std::move(draft));
    const auto entry = entries_.emplace(hash, Entry{owned.get(), {}});
    std::shared_ptr<const ExprNode> node(owned.release(),
                                         [table = shared_from_this()](const ExprNode* p) { table->release(p); });
    entry->second.handle = node;
    return node;
  }

private:
  struct Entry {
    const ExprNode* node;
    std::weak_ptr<const ExprNode> handle;
  };

  void release(const ExprNode* node) {
    // Freed after the lock is released, because its operands are released through this function, too.
    const std::unique_ptr<const ExprNode> owned(node);
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = entries_.equal_range(node->hash);
    const auto entry = std::find_if(begin, end, [node](const auto& e) { return e.second.node == node; });
    if (entry != end) entries_.erase(entry);
  }

  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, Entry> entries_;
};

NodeTable& node_table() {
  static const auto table = std::make_shared<NodeTable>();
  return *table;
}

void combine_dimensions(ExprNode& draft) {
  if (draft.space) draft.gdim = draft.space->gdim;
  if (draft.kind == NodeKind::coordinate || draft.kind == NodeKind::normal || draft.kind == NodeKind::grad ||
      draft.kind == NodeKind::divergence || draft.kind == NodeKind::curl)
    draft.gdim = draft.indices[0];
  for (const auto& operand : draft.operands) {
    const int gdim = operand.node().gdim;
    if (gdim == 0) continue;
    if (draft.gdim != 0 && draft.gdim != gdim)
      throw base::InputError(
          fmt::format("in '{}': parts live in {}D and in {}D space", summary(draft), draft.gdim, gdim));
    draft.gdim = gdim;
  }
}

void count_derivatives(ExprNode& draft) {
  if (draft.kind == NodeKind::field || draft.kind == NodeKind::argument) draft.derivative_order = 0;
  if (draft.kind == NodeKind::normal) draft.has_normal = true;
  int sum = 0;
  for (const auto& operand : draft.operands) {
    draft.derivative_order = std::max(draft.derivative_order, operand.node().derivative_order);
    draft.has_normal = draft.has_normal || operand.node().has_normal;
    sum += std::max(operand.node().derivative_order, 0);
  }
  const bool is_spatial =
      draft.kind == NodeKind::grad || draft.kind == NodeKind::divergence || draft.kind == NodeKind::curl;
  if (is_spatial && draft.has_normal)
    throw base::InputError(fmt::format("in '{}': derivatives of the facet normal are not supported", summary(draft)));
  if (is_spatial && draft.derivative_order >= 0) ++draft.derivative_order;
  if (draft.derivative_order > 1 || (draft.kind == NodeKind::derivative && sum > 1))
    throw base::InputError(
        fmt::format("in '{}': second derivatives are not supported (integrate by parts, or introduce a field for "
                    "the first derivative)",
                    summary(draft)));
}

void check_size(const ExprNode& draft) {
  if (draft.depth > max_expression_depth)
    throw base::InputError(
        fmt::format("the expression is nested more than {} levels deep (long sums count one level per term): "
                    "split it into definitions",
                    max_expression_depth));
  const bool is_too_large =
      std::any_of(draft.shape.begin(), draft.shape.end(), [](int n) { return n > max_components; });
  if (static_cast<int>(draft.shape.size()) > max_rank || is_too_large || num_components(draft.shape) > max_components)
    throw base::InputError(fmt::format("in '{}': {} is too large (at most rank {} and {} components)", summary(draft),
                                       shape_text(draft.shape), max_rank, max_components));
}

} // namespace

Expr make_expr(ExprNode draft) {
  draft.depth = 1;
  for (const auto& operand : draft.operands) draft.depth = std::max(draft.depth, operand.node().depth + 1);
  draft.shape = result_shape(draft);
  check_size(draft);
  combine_dimensions(draft);
  count_derivatives(draft);
  draft.hash = hash_of(draft);
  return Expr(node_table().intern(std::move(draft)));
}

Expr make_expr(NodeKind kind, std::vector<Expr> operands) {
  ExprNode draft;
  draft.kind = kind;
  draft.operands = std::move(operands);
  return make_expr(std::move(draft));
}

Expr::Expr(double value) {
  if (!std::isfinite(value)) throw base::InputError(fmt::format("the number {} in an expression is not finite", value));
  ExprNode draft;
  draft.value = value == 0 ? 0.0 : value; // -0.0 becomes 0.0
  *this = make_expr(std::move(draft));
}

Expr Expr::at(std::vector<int> indices) const {
  ExprNode draft;
  draft.kind = NodeKind::component;
  draft.operands = {*this};
  draft.indices = indices;
  if (indices.size() <= shape().size()) draft.indices.resize(shape().size(), -1);
  const Expr result = make_expr(std::move(draft)); // checks the indices
  indices = result.node().indices;
  if (std::all_of(indices.begin(), indices.end(), [](int i) { return i < 0; })) return *this;
  if (kind() == NodeKind::list && indices[0] >= 0) {
    const Expr& entry = operand(static_cast<std::size_t>(indices[0]));
    return entry.rank() == 0 ? entry : entry.at({indices.begin() + 1, indices.end()});
  }
  if (kind() != NodeKind::component) return result;
  // A[0][1] is A[0, 1]: the indices fill the axes that the inner indexing kept.
  std::vector<int> merged = node().indices;
  std::size_t next = 0;
  for (auto& index : merged)
    if (index < 0) index = indices[next++];
  return operand(0).at(std::move(merged));
}

int num_components(const std::vector<int>& shape) {
  long long count = 1;
  for (const int n : shape) count = std::min<long long>(count * n, 1LL << 30);
  return static_cast<int>(count);
}

std::string shape_text(const std::vector<int>& shape) {
  if (shape.empty()) return "no axes (a scalar)";
  return fmt::format("shape ({})", fmt::join(shape, ", "));
}

} // namespace rafter::form

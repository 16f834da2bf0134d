// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <unordered_set>
#include <vector>

#include <rafter/form/expr.hpp>

/// Walks over expressions. Expressions are graphs: a definition that is used twice is one node with two users, and
/// forty definitions that each use the one before twice have 2^40 paths from the root to the first. Every walk takes a
/// node once, however many paths lead to it.
namespace rafter::form {

/// Calls `visit(e)` once for each node that the roots depend on, users before their operands, and operands from left to
/// right. `visit` returns false where the walk is to end; the result is then false, too.
template <class Visit> bool walk(const std::vector<Expr>& roots, const Visit& visit) {
  std::unordered_set<const ExprNode*> is_seen;
  std::vector<Expr> left(roots.rbegin(), roots.rend());
  while (!left.empty()) {
    const Expr e = std::move(left.back());
    left.pop_back();
    if (!is_seen.insert(&e.node()).second) continue;
    if (!visit(e)) return false;
    left.insert(left.end(), e.operands().rbegin(), e.operands().rend());
  }
  return true;
}

/// Says whether a node that an expression depends on, or its root, satisfies the condition.
template <class Condition> bool any_node(const Expr& root, const Condition& condition) {
  return !walk({root}, [&condition](const Expr& e) { return !condition(e); });
}

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <rafter/base/error.hpp>
#include <rafter/form/form.hpp>
#include <rafter/form/functions.hpp>
#include <rafter/form/token_stream.hpp>

namespace rafter::form {

/// Gives errors of operations of the language the position in the text where the operation stands.
class ErrorPositions {
public:
  explicit ErrorPositions(int gdim) : gdim_(gdim) {}

  /// Runs one operation; its errors get the position, its result remembers it: what a form is not linear in is named
  /// with the position of the offending expression itself.
  template <class Operation> Value located(Position position, const Operation& operation) {
    try {
      Value result{operation()};
      if (const auto* e = std::get_if<Expr>(&result.content)) origins_.try_emplace(&e->node(), std::pair(*e, position));
      return result;
    } catch (const LinearityError& error) {
      const auto origin = origins_.find(&error.offending().node());
      fail_at(origin == origins_.end() ? position : origin->second.second, error.what());
    } catch (const base::InputError& error) {
      fail_at(position, error.what() + point_hint(error.what()));
    }
  }
  /// 'x' without an index was read: errors about shapes say what it is.
  void note_whole_point() { has_whole_point_ = true; }

private:
  std::string point_hint(std::string_view message) const;

  int gdim_;
  bool has_whole_point_ = false;
  std::unordered_map<const ExprNode*, std::pair<Expr, Position>>
      origins_; ///< holds the nodes, so that addresses stay theirs
};

} // namespace rafter::form

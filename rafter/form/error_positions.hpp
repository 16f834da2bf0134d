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

/// Adds to errors of the form language the position in the text of the operation that failed.
class ErrorPositions {
public:
  explicit ErrorPositions(int gdim) : gdim_(gdim) {}

  /// Runs one operation that stands at `position`. Its errors name that position; errors about linearity name the
  /// position of the offending sub-expression, which is known because every result remembers where it was made.
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
  /// Notes that the text reads 'x' without an index, so that errors about shapes explain that x is a vector.
  void note_whole_point() { has_whole_point_ = true; }

private:
  std::string point_hint(std::string_view message) const;

  int gdim_;
  bool has_whole_point_ = false;
  std::unordered_map<const ExprNode*, std::pair<Expr, Position>>
      origins_; ///< position where each expression was made; it holds the expressions, so that the addresses of their
                ///< nodes stay unique
};

} // namespace rafter::form

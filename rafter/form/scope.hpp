// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/form/expr.hpp>

namespace rafter::form {

/// name = "text" or name(parameters) = "text"
struct Definition {
  std::vector<std::string> parameters; ///< empty: a name, not a function
  std::string text;
  bool is_function = false;
};

/// The names that a text may use, besides those of the language (functions, x, n, pi, dx, ds). Adding a name twice, a
/// name of the language or something that is no name throws base::InputError.
class Scope {
public:
  explicit Scope(int gdim);

  /// A name for an expression: a coefficient, a field, an argument.
  void add(const std::string& name, const Expr& value);
  /// Coefficient field under its own name: the known solution in functionals and residuals.
  void add_field(const std::shared_ptr<const FieldSpace>& space);
  /// Trial functions, named as their spaces, and test functions: v_<name> each, and also v when there is one space.
  void add_arguments(std::span<const std::shared_ptr<const FieldSpace>> spaces);
  /// Test functions only (next to add_field in a residual).
  void add_test_functions(std::span<const std::shared_ptr<const FieldSpace>> spaces);
  /// Definition with a signature "P" or "P(u, p)"; its text is parsed where it is used and may use every other name.
  void define(std::string_view signature, std::string text);

  int gdim() const { return gdim_; }
  const Expr* find(const std::string& name) const;
  const Definition* find_definition(const std::string& name) const;
  std::vector<std::string> names() const;

private:
  void check_new(const std::string& name) const;
  int gdim_;
  std::map<std::string, Expr> values_;
  std::map<std::string, Definition> definitions_;
};

} // namespace rafter::form

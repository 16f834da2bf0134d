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

/// A definition that a text may use: name = "text" or name(parameters) = "text".
struct Definition {
  std::vector<std::string> parameters; ///< parameters of a function; empty for a plain name
  std::string text;
  bool is_function = false;
};

/// The names that a text may use besides those of the language (its functions, x, n, pi, dx, ds). Adding a name twice,
/// a name of the language, or something that is no name throws base::InputError.
class Scope {
public:
  explicit Scope(int gdim);

  /// Adds a name for an expression, such as a coefficient, a field or an argument.
  void add(const std::string& name, const Expr& value);
  /// Adds a field under the name of its space: the known solution in functionals and residuals.
  void add_field(const std::shared_ptr<const FieldSpace>& space);
  /// Adds trial functions, named as their spaces, and test functions, named v_<name of the space>, and also v when
  /// there is one space.
  void add_arguments(std::span<const std::shared_ptr<const FieldSpace>> spaces);
  /// Adds test functions only, for residuals, where add_field gives the solution.
  void add_test_functions(std::span<const std::shared_ptr<const FieldSpace>> spaces);
  /// Adds a definition with signature "P" or "P(u, p)". Its text is parsed where it is used and may use all other
  /// names.
  void define(std::string_view signature, std::string text);
  /// Notes why a name that readers know from elsewhere may not stand in this text, such as "is a test function, ...";
  /// messages say so. Names that the text may use, and those of the language, are left alone; adding the name later
  /// makes it one of them.
  void refuse(const std::string& name, std::string why);

  int gdim() const { return gdim_; }
  const Expr* find(const std::string& name) const;
  const Definition* find_definition(const std::string& name) const;
  /// Returns the reason why a name may not stand in the text; null where nothing is known of it.
  const std::string* why_refused(const std::string& name) const;
  std::vector<std::string> names() const;

private:
  void check_new(const std::string& name) const;
  int gdim_;
  std::map<std::string, Expr> values_;
  std::map<std::string, Definition> definitions_;
  std::map<std::string, std::string> refused_;
};

} // namespace rafter::form

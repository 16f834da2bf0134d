// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <rafter/form/form.hpp>

/// What texts of the form language can hold and do: the values and the functions of the parser.
namespace rafter::form {

struct Value;

struct ListValue {
  std::vector<Value> entries;
};

/// What a piece of text means.
struct Value {
  std::variant<Expr, MeasureSum, Form, std::string, ListValue> content;
};
/// "an expression", "a form", ...
const char* kind_text(const Value& value);

/// Lists become tensors; anything else that is not an expression throws InputError with `what` as its subject.
Expr as_expr(const Value& value, std::string_view what);
/// A whole number written out.
int as_integer(const Value& value, std::string_view what);

Value added(const Value& a, const Value& b);
Value subtracted(const Value& a, const Value& b);
Value multiplied(const Value& a, const Value& b);
Value divided(const Value& a, const Value& b);
Value negated(const Value& a);

/// One call: name(arguments), in space of dimension gdim.
struct Call {
  std::string_view name;
  const std::vector<Value>& arguments;
  int gdim;
  Expr expr(std::size_t i) const;
};

struct LanguageFunction {
  std::string_view name;
  std::size_t min_arguments, max_arguments;
  Value (*call)(const Call&);
  bool takes_forms = false; ///< as forms; others take integrals as numbers where these are known (functionals)
};

/// nullptr: not a function of the language
const LanguageFunction* find_function(std::string_view name);
/// Throws InputError on a wrong number or kind of arguments.
Value call_function(const LanguageFunction& function, const std::vector<Value>& arguments, int gdim);

/// dx or ds with the arguments of a call: nothing, a tag, or a tuple of tags.
MeasureSum tagged(const MeasureSum& measure, const std::vector<Value>& arguments);

/// Functions, x, n, pi, dx, ds.
bool is_language_name(std::string_view name);
std::vector<std::string> language_names();

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <rafter/form/form.hpp>

/// Values and functions of the form language in text, as the parser uses them.
namespace rafter::form {

struct Value;

struct ListValue {
  std::vector<Value> entries;
};

/// The meaning of a part of a text: an expression, a measure, a form, a string or a list.
struct Value {
  std::variant<Expr, MeasureSum, Form, std::string, ListValue> content;
};
/// Name of the kind of a value for messages, such as "an expression" or "a form".
const char* kind_text(const Value& value);

/// The value as an expression. Lists become tensors; anything else that is not an expression throws InputError with
/// `what` as its subject.
Expr as_expr(const Value& value, std::string_view what);
/// The value as an integer, if it is a literal whole number; otherwise throws InputError with `what` as its subject.
int as_integer(const Value& value, std::string_view what);

Value added(const Value& a, const Value& b);
Value subtracted(const Value& a, const Value& b);
Value multiplied(const Value& a, const Value& b);
Value divided(const Value& a, const Value& b);
Value negated(const Value& a);

/// A call name(arguments) in a text about a space of dimension gdim.
struct Call {
  std::string_view name;
  const std::vector<Value>& arguments;
  int gdim;
  Expr expr(std::size_t i) const;
};

/// A function of the form language, with the number of arguments that it takes.
struct LanguageFunction {
  std::string_view name;
  std::size_t min_arguments, max_arguments;
  Value (*call)(const Call&);
  bool takes_forms = false; ///< the function takes forms as such; for others, integrals are numbers where their values
                            ///< are known (functionals)
};

/// The function of this name, or nullptr.
const LanguageFunction* find_function(std::string_view name);
/// Throws InputError on a wrong number or kind of arguments.
Value call_function(const LanguageFunction& function, const std::vector<Value>& arguments, int gdim);

/// The measure dx or ds restricted by the arguments of a call: none, a tag, or a tuple of tags.
MeasureSum tagged(const MeasureSum& measure, const std::vector<Value>& arguments);

/// Says whether a name belongs to the language: its functions, x, n, pi, dx and ds.
bool is_language_name(std::string_view name);
std::vector<std::string> language_names();

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/functions.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <rafter/form/printer.hpp>
#include <rafter/form/time_derivative.hpp>

namespace rafter::form {

namespace {

template <Expr (*f)(const Expr&)> Value of_one(const Call& c) { return {f(c.expr(0))}; }
template <Expr (*f)(const Expr&, int)> Value of_space(const Call& c) { return {f(c.expr(0), c.gdim)}; }
template <Expr (*f)(const Expr&, const Expr&)> Value of_two(const Call& c) { return {f(c.expr(0), c.expr(1))}; }

Value call_conditional(const Call& c) { return {conditional(c.expr(0), c.expr(1), c.expr(2))}; }
Value call_identity(const Call& c) { return {identity(as_integer(c.arguments[0], "the size of Identity"))}; }
Value call_partial(const Call& c) { return {partial(c.expr(0), as_integer(c.arguments[1], "the axis of Dx"), c.gdim)}; }

Value call_as_tensor(const Call& c) {
  const Expr result = c.expr(0);
  const int rank = c.name == "as_vector" ? 1 : c.name == "as_matrix" ? 2 : result.rank();
  if (result.rank() != rank || rank == 0)
    throw base::InputError(fmt::format("{} takes {}, but '{}' has {}", c.name,
                                       rank == 1 ? "a list of scalars" : "a list of equally long lists",
                                       summary(result), shape_text(result.shape())));
  return {result};
}

Value call_len(const Call& c) {
  const Expr e = c.expr(0);
  if (e.rank() == 0)
    throw base::InputError(fmt::format("len takes a vector or matrix, but '{}' is a scalar", summary(e)));
  return {Expr(e.shape()[0])};
}

const Form& form_argument(const Call& c) {
  const auto* form = std::get_if<Form>(&c.arguments[0].content);
  if (form == nullptr)
    throw base::InputError(fmt::format("{} takes a form, not {}", c.name, kind_text(c.arguments[0])));
  return *form;
}

Value call_derivative(const Call& c) {
  const bool has_direction = c.arguments.size() == 3;
  if (const auto* form = std::get_if<Form>(&c.arguments[0].content))
    return {has_direction ? derivative(*form, c.expr(1), c.expr(2)) : derivative(*form, c.expr(1))};
  if (!has_direction) throw base::InputError("the derivative of an expression needs a direction: derivative(e, u, w)");
  return {derivative(c.expr(0), c.expr(1), c.expr(2))};
}

Value call_action(const Call& c) {
  std::vector<Expr> fields;
  for (std::size_t i = 1; i < c.arguments.size(); ++i) fields.push_back(c.expr(i));
  return {action(form_argument(c), fields)};
}

Value call_adjoint(const Call& c) { return {adjoint(form_argument(c))}; }

constexpr std::array functions{
    LanguageFunction{"grad", 1, 1, of_space<grad>},
    LanguageFunction{"div", 1, 1, of_space<div>},
    LanguageFunction{"curl", 1, 1, of_space<curl>},
    LanguageFunction{"rot", 1, 1, of_space<curl>},
    LanguageFunction{"nabla_grad", 1, 1, of_space<nabla_grad>},
    LanguageFunction{"nabla_div", 1, 1, of_space<nabla_div>},
    LanguageFunction{"Dx", 2, 2, call_partial},
    LanguageFunction{"dt", 1, 1, of_one<dt>},
    LanguageFunction{"sym", 1, 1, of_one<sym>},
    LanguageFunction{"skew", 1, 1, of_one<skew>},
    LanguageFunction{"dev", 1, 1, of_one<dev>},
    LanguageFunction{"tr", 1, 1, of_one<tr>},
    LanguageFunction{"det", 1, 1, of_one<det>},
    LanguageFunction{"inv", 1, 1, of_one<inv>},
    LanguageFunction{"cofac", 1, 1, of_one<cofac>},
    LanguageFunction{"transpose", 1, 1, of_one<transpose>},
    LanguageFunction{"perp", 1, 1, of_one<perp>},
    LanguageFunction{"inner", 2, 2, of_two<inner>},
    LanguageFunction{"dot", 2, 2, of_two<dot>},
    LanguageFunction{"outer", 2, 2, of_two<outer>},
    LanguageFunction{"cross", 2, 2, of_two<cross>},
    LanguageFunction{"elem_mult", 2, 2, of_two<elem_mult>},
    LanguageFunction{"pow", 2, 2, of_two<pow>},
    LanguageFunction{"abs", 1, 1, of_one<abs>},
    LanguageFunction{"sign", 1, 1, of_one<sign>},
    LanguageFunction{"sqrt", 1, 1, of_one<sqrt>},
    LanguageFunction{"exp", 1, 1, of_one<exp>},
    LanguageFunction{"ln", 1, 1, of_one<ln>},
    LanguageFunction{"log", 1, 1, of_one<ln>},
    LanguageFunction{"sin", 1, 1, of_one<sin>},
    LanguageFunction{"cos", 1, 1, of_one<cos>},
    LanguageFunction{"tan", 1, 1, of_one<tan>},
    LanguageFunction{"asin", 1, 1, of_one<asin>},
    LanguageFunction{"acos", 1, 1, of_one<acos>},
    LanguageFunction{"atan", 1, 1, of_one<atan>},
    LanguageFunction{"atan2", 2, 2, of_two<atan2>},
    LanguageFunction{"atan_2", 2, 2, of_two<atan2>}, // UFL's older name
    LanguageFunction{"sinh", 1, 1, of_one<sinh>},
    LanguageFunction{"cosh", 1, 1, of_one<cosh>},
    LanguageFunction{"tanh", 1, 1, of_one<tanh>},
    LanguageFunction{"min_value", 2, 2, of_two<min_value>},
    LanguageFunction{"max_value", 2, 2, of_two<max_value>},
    LanguageFunction{"lt", 2, 2, of_two<lt>},
    LanguageFunction{"le", 2, 2, of_two<le>},
    LanguageFunction{"gt", 2, 2, of_two<gt>},
    LanguageFunction{"ge", 2, 2, of_two<ge>},
    LanguageFunction{"eq", 2, 2, of_two<eq>},
    LanguageFunction{"ne", 2, 2, of_two<ne>},
    LanguageFunction{"And", 2, 2, of_two<logical_and>},
    LanguageFunction{"Or", 2, 2, of_two<logical_or>},
    LanguageFunction{"Not", 1, 1, of_one<logical_not>},
    LanguageFunction{"conditional", 3, 3, call_conditional},
    LanguageFunction{"Identity", 1, 1, call_identity},
    LanguageFunction{"as_vector", 1, 1, call_as_tensor},
    LanguageFunction{"as_matrix", 1, 1, call_as_tensor},
    LanguageFunction{"as_tensor", 1, 1, call_as_tensor},
    LanguageFunction{"len", 1, 1, call_len},
    LanguageFunction{"derivative", 2, 3, call_derivative, true},
    LanguageFunction{"action", 2, 16, call_action, true},
    LanguageFunction{"adjoint", 1, 1, call_adjoint, true},
};

constexpr std::array<std::string_view, 6> other_names{"x", "n", "pi", "dx", "ds", "dS"};

template <class T> const T* as(const Value& value) { return std::get_if<T>(&value.content); }

[[noreturn]] void fail_operation(const char* verb, const Value& a, const Value& b) {
  throw base::InputError(fmt::format("cannot {} {} and {}", verb, kind_text(a), kind_text(b)));
}

/// Both sides of an operator on expressions.
std::pair<Expr, Expr> expressions(const char* verb, const Value& a, const Value& b) {
  const auto is_expression = [](const Value& v) { return as<Expr>(v) != nullptr || as<ListValue>(v) != nullptr; };
  if (!is_expression(a) || !is_expression(b)) fail_operation(verb, a, b);
  return {as_expr(a, "the left side"), as_expr(b, "the right side")};
}

Tag as_tag(const Value& value) {
  if (const auto* name = as<std::string>(value)) return {*name};
  const int number = as_integer(value, "a tag");
  if (number < 0) throw base::InputError(fmt::format("tags are not negative, but {} is given", number));
  return {number};
}

} // namespace

const char* kind_text(const Value& value) {
  constexpr std::array texts{"an expression", "a measure", "a form", "a string", "a list"};
  return texts[value.content.index()];
}

Expr as_expr(const Value& value, std::string_view what) {
  if (const auto* e = as<Expr>(value)) return *e;
  const auto* list = as<ListValue>(value);
  if (list == nullptr) throw base::InputError(fmt::format("{} must be an expression, not {}", what, kind_text(value)));
  std::vector<Expr> entries;
  for (const auto& entry : list->entries) entries.push_back(as_expr(entry, "an entry of a list"));
  return as_tensor(std::move(entries));
}

int as_integer(const Value& value, std::string_view what) {
  const auto* e = as<Expr>(value);
  constexpr double limit = 2147483647;
  if (e == nullptr || e->kind() != NodeKind::literal || e->node().value != std::floor(e->node().value) ||
      std::fabs(e->node().value) > limit)
    throw base::InputError(
        fmt::format("{} must be a whole number{}", what, e != nullptr ? fmt::format(", not '{}'", summary(*e)) : ""));
  return static_cast<int>(e->node().value);
}

Expr Call::expr(std::size_t i) const {
  const std::string what =
      arguments.size() == 1 ? fmt::format("the argument of {}", name) : fmt::format("argument {} of {}", i + 1, name);
  return as_expr(arguments[i], what);
}

Value added(const Value& a, const Value& b) {
  if (as<Form>(a) != nullptr && as<Form>(b) != nullptr) return {*as<Form>(a) + *as<Form>(b)};
  if (as<MeasureSum>(a) != nullptr && as<MeasureSum>(b) != nullptr) return {*as<MeasureSum>(a) + *as<MeasureSum>(b)};
  const auto [left, right] = expressions("add", a, b);
  return {left + right};
}

Value subtracted(const Value& a, const Value& b) {
  if (as<Form>(a) != nullptr && as<Form>(b) != nullptr) return {*as<Form>(a) - *as<Form>(b)};
  const auto [left, right] = expressions("subtract", a, b);
  return {left - right};
}

Value multiplied(const Value& a, const Value& b) {
  if (as<MeasureSum>(a) != nullptr) throw base::InputError("a measure comes last: integrand*dx");
  if (as<MeasureSum>(b) != nullptr) {
    if (as<Form>(a) != nullptr) throw base::InputError("the integrand has a measure already");
    return {as_expr(a, "an integrand") * *as<MeasureSum>(b)};
  }
  if (as<Form>(a) != nullptr && as<Form>(b) == nullptr) return {as_expr(b, "the factor of a form") * *as<Form>(a)};
  if (as<Form>(b) != nullptr && as<Form>(a) == nullptr) return {as_expr(a, "the factor of a form") * *as<Form>(b)};
  const auto [left, right] = expressions("multiply", a, b);
  return {left * right};
}

Value divided(const Value& a, const Value& b) {
  if (as<Form>(a) != nullptr) return {*as<Form>(a) / as_expr(b, "the divisor of a form")};
  const auto [left, right] = expressions("divide", a, b);
  return {left / right};
}

Value negated(const Value& a) {
  if (as<Form>(a) != nullptr) return {-*as<Form>(a)};
  return {-as_expr(a, "the operand of '-'")};
}

const LanguageFunction* find_function(std::string_view name) {
  const auto* found =
      std::find_if(functions.begin(), functions.end(), [name](const auto& f) { return f.name == name; });
  return found == functions.end() ? nullptr : found;
}

Value call_function(const LanguageFunction& function, const std::vector<Value>& arguments, int gdim) {
  const auto& [name, least, most, call, takes_forms] = function;
  if (arguments.size() < least || arguments.size() > most)
    throw base::InputError(fmt::format("{} takes {}{} argument{}, {} given", name, least,
                                       least == most ? "" : fmt::format(" to {}", most), most == 1 ? "" : "s",
                                       arguments.size()));
  return call({name, arguments, gdim});
}

MeasureSum tagged(const MeasureSum& measure, const std::vector<Value>& arguments) {
  if (arguments.empty()) return measure;
  if (arguments.size() > 1) throw base::InputError("a measure takes one tag, or several as a tuple: ds((1, 2))");
  const auto* list = as<ListValue>(arguments[0]);
  if (list == nullptr) return measure(as_tag(arguments[0]));
  std::vector<Tag> tags;
  for (const auto& entry : list->entries) tags.push_back(as_tag(entry));
  return measure(std::move(tags));
}

bool is_language_name(std::string_view name) {
  return find_function(name) != nullptr || std::find(other_names.begin(), other_names.end(), name) != other_names.end();
}

std::vector<std::string> language_names() {
  std::vector<std::string> names(other_names.begin(), other_names.end() - 1); // dS is known but refused
  for (const auto& function : functions) names.emplace_back(function.name);
  return names;
}

} // namespace rafter::form

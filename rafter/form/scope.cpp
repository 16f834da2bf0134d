// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/scope.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/functions.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lexer.hpp>

namespace rafter::form {

namespace {

bool is_name(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

void check_name(const std::string& name) {
  if (!is_name(name))
    throw base::InputError(
        fmt::format("'{}' is not a name: use letters, digits and '_', not starting with a digit", name));
  if (is_language_name(name))
    throw base::InputError(fmt::format("the name '{}' belongs to the form language: choose another", name));
}

[[noreturn]] void fail_signature(std::string_view signature) {
  throw base::InputError(fmt::format("'{}' does not define anything: write name or name(a, b)", signature));
}

} // namespace

Scope::Scope(int gdim) : gdim_(gdim) {
  if (gdim < 1 || gdim > 3) throw base::InputError(fmt::format("space has 1, 2 or 3 dimensions, not {}", gdim));
}

void Scope::check_new(const std::string& name) const {
  check_name(name);
  if (values_.contains(name) || definitions_.contains(name))
    throw base::InputError(
        fmt::format("the name '{}' is used twice among fields, test functions, coefficients and definitions", name));
}

void Scope::add(const std::string& name, const Expr& value) {
  check_new(name);
  values_.emplace(name, value);
}

void Scope::add_field(const std::shared_ptr<const FieldSpace>& space) { add(space->name, field(space, space->name)); }

void Scope::add_arguments(std::span<const std::shared_ptr<const FieldSpace>> spaces) {
  for (const auto& space : spaces) add(space->name, trial_function(space));
  add_test_functions(spaces);
}

void Scope::add_test_functions(std::span<const std::shared_ptr<const FieldSpace>> spaces) {
  for (const auto& space : spaces) {
    const Expr v = test_function(space, spaces.size() == 1 ? "v" : "v_" + space->name);
    if (spaces.size() == 1) add("v", v);
    add("v_" + space->name, v);
  }
}

void Scope::define(std::string_view signature, std::string text) {
  const auto tokens = tokenize(signature);
  if (tokens[0].kind != TokenKind::name) fail_signature(signature);
  check_new(tokens[0].text);
  Definition definition;
  definition.text = std::move(text);
  definition.is_function = tokens[1].kind != TokenKind::end;
  if (definition.is_function) {
    if (tokens[1].text != "(") fail_signature(signature);
    std::size_t at = 2;
    for (;; at += 2) {
      if (tokens[at].kind != TokenKind::name) fail_signature(signature);
      check_name(tokens[at].text);
      if (std::find(definition.parameters.begin(), definition.parameters.end(), tokens[at].text) !=
          definition.parameters.end())
        throw base::InputError(fmt::format("in '{}': the parameter '{}' appears twice", signature, tokens[at].text));
      definition.parameters.push_back(tokens[at].text);
      if (tokens[at + 1].text != ",") break;
    }
    if (tokens[at + 1].text != ")" || tokens[at + 2].kind != TokenKind::end) fail_signature(signature);
  }
  definitions_.emplace(tokens[0].text, std::move(definition));
}

const Expr* Scope::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const Definition* Scope::find_definition(const std::string& name) const {
  const auto found = definitions_.find(name);
  return found == definitions_.end() ? nullptr : &found->second;
}

void Scope::refuse(const std::string& name, std::string why) {
  if (!is_language_name(name)) refused_.insert_or_assign(name, std::move(why));
}

const std::string* Scope::why_refused(const std::string& name) const {
  const auto found = refused_.find(name);
  return found == refused_.end() || find(name) != nullptr || find_definition(name) != nullptr ? nullptr
                                                                                              : &found->second;
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> result;
  for (const auto& [name, value] : values_) result.push_back(name);
  for (const auto& [name, definition] : definitions_) result.push_back(name);
  return result;
}

} // namespace rafter::form

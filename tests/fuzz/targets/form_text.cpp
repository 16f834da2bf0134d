// SPDX-License-Identifier: BSD-3-Clause
// A text becomes a form, scalar integrands with a degree, and a text again; or it becomes a function of points. The
// names are those of the corpus of forms. Lines "def SIGNATURE = TEXT" at the beginning define more; with 2 as first
// character the dimension is 2.
#include <array>

#include <rafter/form/degree.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/printer.hpp>
#include <tests/property/form_corpus.hpp>

#include "target.hpp"

namespace {

using namespace rafter;

/// Removes the definitions from the text; returns false if they are refused.
bool take_definitions(std::string_view& text, form::Scope& scope) {
  constexpr std::string_view word = "def ";
  while (text.starts_with(word)) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return false;
    const auto signature = line.substr(word.size(), equals - word.size());
    if (!fuzz::refusal([&] { scope.define(signature, std::string(line.substr(equals + 1))); }).empty()) return false;
  }
  return true;
}

/// Printed texts of deep expressions may be nested deeper than the parser allows, and long ones are cut.
bool is_limit(const std::string& message) {
  return message.find("nested more than") != std::string::npos || message.find("the texts have more than") == 0;
}

/// Returns whether the text is a form.
bool read_form(std::string_view text, const form::Scope& scope) {
  form::Form found;
  if (!fuzz::refusal([&] { found = form::parse_form(text, scope); }).empty()) return false;
  fuzz::refusal([&] {
    for (const auto& integral : form::lower(found).integrals) form::choose_quadrature_degree(integral);
  });
  const auto printed = form::to_text(found);
  if (printed.ends_with("...")) return true;
  form::Form again;
  const auto refused = fuzz::refusal([&] { again = form::parse_form(printed, scope); });
  if (!refused.empty() && is_limit(refused)) return true;
  fuzz::require(refused.empty() && again == found, "'" + printed + "' is read back as the same form; " + refused);
  return true;
}

void evaluate(std::string_view text, const form::Scope& scope) {
  fuzz::refusal([&] {
    const form::PointEvaluator f(form::parse_expression(text, scope));
    std::vector<double> values(static_cast<std::size_t>(f.num_components()));
    f(std::array{0.25, 0.5, 0.75}, values);
  });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array scopes{form::test::make_scope(2), form::test::make_scope(3)};
  auto text = fuzz::as_text(data, size);
  const bool is_plane = text.starts_with('2');
  text.remove_prefix(is_plane ? 1 : 0);
  auto scope = scopes[is_plane ? 0 : 1];
  if (!take_definitions(text, scope)) return 0;
  if (!read_form(text, scope)) evaluate(text, scope);
  return 0;
}

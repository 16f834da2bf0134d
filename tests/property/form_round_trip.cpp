// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/printer.hpp>
#include <tests/property/form_corpus.hpp>

namespace rafter::form {
namespace {

TEST(RoundTrip, FormsPrintAsTextThatParsesToThemselves) {
  for (const int gdim : {2, 3}) {
    const Scope scope = test::make_scope(gdim);
    for (const auto& [name, text] : test::corpus()) {
      const Form form = parse_form(text, scope);
      EXPECT_EQ(parse_form(to_text(form), scope), form) << name << ": " << to_text(form);
    }
  }
}

TEST(RoundTrip, FormsLower) {
  for (const int gdim : {2, 3}) {
    const Scope scope = test::make_scope(gdim);
    for (const auto& [name, text] : test::corpus())
      EXPECT_FALSE(lower(parse_form(text, scope)).integrals.empty()) << name;
  }
}

TEST(RoundTrip, ExpressionsPrintWithTheBracketsTheyNeed) {
  Scope scope = test::make_scope(3);
  // Each pair has a text and its normal form as printed; they are equal if the text has no needless brackets.
  const std::vector<std::pair<std::string, std::string>> cases{
      {"-2**2", "-2**2"},
      {"(-2)**2", "(-2)**2"},
      {"2**3**2", "2**3**2"},
      {"(2**3)**2", "(2**3)**2"},
      {"alpha**-r", "alpha**-r"},
      {"-(alpha*r)", "-(alpha*r)"},
      {"-alpha*r", "-alpha*r"},
      {"alpha - (r - 1)", "alpha - (r - 1)"},
      {"alpha - r - 1", "alpha - r - 1"},
      {"alpha/(r*2)", "alpha/(r*2)"},
      {"alpha/r*2", "alpha/r*2"},
      {"alpha - -r", "alpha - -r"},
      {"alpha*-1", "alpha*-1"},
      {"--r", "r"},
      {"+r", "r"},
      {"(w + b)[0]", "(w + b)[0]"},
      {"grad(w)[0][1]", "grad(w)[0, 1]"},
      {"grad(w)[:, 1]", "grad(w)[:, 1]"},
      {"w.dx(2)", "grad(w)[:, 2]"},
      {"[1, r]", "as_vector([1, r])"},
      {"as_matrix(((1, 2), (3, r)))", "as_matrix([[1, 2], [3, r]])"},
      {"as_tensor([w, b])", "as_matrix([w, b])"},
      {"outer(w, w)*r", "r*outer(w, w)"},
      {"k*w", "dot(k, w)"},
      {"grad(w).T.T", "grad(w)"},
      {"1e-3 + 1E+20 + .5 + 2.", "0.001 + 1e+20 + 0.5 + 2"},
      {"pi - -pi*pi**2", "pi - -pi*pi**2"},
      {"r > 1", "lt(1, r)"},
      {"conditional(r <= alpha, sin(r), max_value(r, 1))", "conditional(le(r, alpha), sin(r), max_value(r, 1))"},
      {"Identity(len(w)) # the unit matrix", "Identity(3)"},
  };
  for (const auto& [text, printed] : cases) {
    const Expr e = parse_expression(text, scope);
    EXPECT_EQ(to_text(e), printed) << text;
    EXPECT_EQ(parse_expression(printed, scope), e) << text;
  }
}

TEST(RoundTrip, LongTextIsCut) {
  Scope scope(3);
  // Every definition doubles the text of the one before, but not the graph.
  scope.define("a0", "x[0]");
  for (int i = 1; i < 60; ++i) scope.define(fmt::format("a{}", i), fmt::format("a{0}*a{0}", i - 1));
  const std::string text = to_text(parse_expression("a59", scope), 100);
  EXPECT_EQ(text.size(), 103U);
  EXPECT_TRUE(text.ends_with("..."));
}

} // namespace
} // namespace rafter::form

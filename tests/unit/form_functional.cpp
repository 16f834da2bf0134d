// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>

namespace rafter::form {
namespace {

class FunctionalTexts : public testing::Test {
protected:
  FunctionalTexts() {
    auto space = std::make_shared<FieldSpace>();
    space->gdim = 2;
    scope_.add_field(space);
    scope_.define("volume", "1*dx");
    scope_.define("norm(w)", "sqrt(inner(w, w)*dx)");
  }
  FunctionalText parse(const std::string& text) const { return parse_functional(text, scope_); }
  /// Returns the value of a functional whose integrals have these values.
  double value(const std::string& text, std::vector<double> integrals) const {
    const auto functional = parse(text);
    EXPECT_EQ(functional.integrals.size(), integrals.size()) << text;
    for (std::size_t i = 0; i < integrals.size(); ++i) functional.integrals.at(i).number->values = {integrals[i]};
    double result = 0;
    const PointEvaluator evaluator(functional.value);
    evaluator({}, std::span(&result, 1));
    return result;
  }
  std::string message(const std::string& text) const {
    try {
      parse(text);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  Scope scope_{2};
};

TEST_F(FunctionalTexts, SumsAndConstantMultiplesOfIntegralsAreOneForm) {
  for (const std::string text : {"u*dx", "2*(u*dx) - u*ds/3", "-(u*dx + x[0]*dx(1))", "(u*dx)*2"}) {
    const auto functional = parse(text);
    ASSERT_EQ(functional.integrals.size(), 1u) << text;
    EXPECT_EQ(functional.integrals[0].form, parse_form(text, scope_)) << text;
    EXPECT_EQ(functional.value, coefficient(functional.integrals[0].number)) << text;
  }
}

TEST_F(FunctionalTexts, IntegralsAreNumbersInArithmetic) {
  EXPECT_EQ(value("(u*dx)/(1*dx)", {6, 4}), 1.5);
  EXPECT_EQ(value("u*dx/volume", {6, 4}), 1.5);
  EXPECT_EQ(value("(u*dx)*(1*ds) + 1", {6, 4}), 25);
  EXPECT_EQ(value("1 - u*dx", {6}), -5);
  EXPECT_EQ(value("2/(u*dx)", {4}), 0.5);
  EXPECT_EQ(value("(u*dx)**2", {3}), 9);
  EXPECT_EQ(value("sqrt(u*u*dx)", {9}), 3);
  EXPECT_EQ(value("norm(u)/norm(x)", {16, 4}), 2);
  EXPECT_EQ(value("max_value(u*dx, 1*ds)", {3, 7}), 7);
  EXPECT_EQ(value("conditional(u*dx > 1, 5, 6)", {0.5}), 6);
}

TEST_F(FunctionalTexts, EqualIntegralsAreEvaluatedOnce) { EXPECT_EQ(value("(u*dx)/(1 + u*dx)", {3}), 0.75); }

TEST_F(FunctionalTexts, IntegrandsMayHoldTheNumbersOfIntegralsBefore) {
  const auto functional = parse("(u - u*dx/volume)**2*dx");
  ASSERT_EQ(functional.integrals.size(), 3u);
  const auto parameters = lower(functional.integrals[2].form).parameters;
  ASSERT_EQ(parameters.size(), 2u);
  for (const auto& parameter : parameters)
    EXPECT_TRUE(parameter.coefficient == functional.integrals[0].number ||
                parameter.coefficient == functional.integrals[1].number);
}

TEST_F(FunctionalTexts, WhatIsNoNumberIsRefused) {
  EXPECT_NE(message("u").find("'u' lacks a measure"), std::string::npos);
  EXPECT_NE(message("u/volume").find("lacks a measure"), std::string::npos);
  EXPECT_NE(message("x[0]*dx + x[0]").find("lacks a measure"), std::string::npos);
  EXPECT_NE(message("[u*dx, 1*dx]").find("not a form"), std::string::npos);
  EXPECT_NE(message("as_vector([1, 2])").find("a functional is a number"), std::string::npos);
  EXPECT_NE(message("u*dx > 1").find("condition"), std::string::npos);
  EXPECT_NE(message("u*dx*dx").find("measure already"), std::string::npos);
}

TEST_F(FunctionalTexts, FormsOfOperatorsKnowNoQuotients) {
  EXPECT_THROW(parse_form("(u*dx)/(1*dx)", scope_), base::InputError);
  EXPECT_THROW(parse_form("sqrt(u*dx)", scope_), base::InputError);
}

} // namespace
} // namespace rafter::form

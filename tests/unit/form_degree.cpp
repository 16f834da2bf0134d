// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/form/degree.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <tests/property/form_corpus.hpp>

namespace rafter::form {
namespace {

/// The scope has a scalar u of degree 3 and a vector w of degree 2 on the same kind of cells.
Scope make_scope(bool is_simplex) {
  const std::vector<std::shared_ptr<const FieldSpace>> spaces{test::make_space("u", 0, 2, 3, is_simplex)};
  Scope scope(2);
  scope.add_arguments(spaces);
  scope.add("w", field(test::make_space("w", 2, 2, 2, is_simplex), "w"));
  scope.add("r", field(spaces[0], "r"));
  scope.add("c", constant("c", 1.5));
  scope.add("m", by_tag("m", {{"1", 2.0}}));
  return scope;
}

struct Case {
  const char* text;
  int degree_on_simplices, degree_on_others;
  bool is_exact;
};

TEST(Degree, FollowsTheRules) {
  const std::vector<Case> cases{
      {"c*m*pi", 0, 0, true},
      {"x[0]", 1, 1, true},
      {"u", 3, 3, true},
      {"u*v", 6, 6, true},
      {"u + w[0]", 3, 3, true},
      {"inner(grad(u), grad(v))", 4, 6, true},
      {"div(w)*u", 4, 5, true},
      {"x[0]**4*u", 7, 7, true},
      {"grad(x[0]**4)[0]", 3, 3, true},
      {"grad(c*x)[0, 0]", 0, 0, true},
      {"det(grad(w))", 2, 4, true},
      {"cofac(grad(w))[0, 0]", 1, 2, true},
      {"inv(grad(w))[0, 0]", 3, 4, false},
      {"u/c", 3, 3, true},
      {"u/(1 + x[0])", 6, 6, false},
      {"sin(x[0])", 3, 3, false},
      {"sin(c)", 0, 0, true},
      {"div(grad(sin(x[0])))", 3, 3, false},
      {"r**2", 6, 6, true},
      {"r**0.5", 5, 5, false},
      {"r**-1", 5, 5, false},
      {"2**c", 0, 0, true},
      {"c**r", 5, 5, false},
      {"abs(r)", 3, 3, false},
      {"abs(c)", 0, 0, true},
      {"conditional(x[0] < 1, r, w[0])", 3, 3, false},
      {"conditional(c < 1, r, w[0])", 3, 3, true},
      {"derivative(r**2*w[0], r, u)", 8, 8, true},
      {"derivative(w[0]**2, w, [u, u])", 5, 5, true},
      {"as_vector([u, x[0]])[1]", 1, 1, true},
      {"dot(w, w)", 4, 4, true},
      {"x[0]**1000000", 1000, 1000, true},
  };
  for (const auto& [text, on_simplices, on_others, is_exact] : cases)
    for (const bool is_simplex : {true, false}) {
      const DegreeEstimate estimate = estimate_degree(parse_expression(text, make_scope(is_simplex)));
      EXPECT_EQ(estimate.degree, is_simplex ? on_simplices : on_others) << text;
      EXPECT_EQ(estimate.is_exact, is_exact) << text;
    }
}

QuadratureChoice choice(const char* text, int cap = -1) {
  return choose_quadrature_degree(lower(parse_form(text, make_scope(false))).integrals.at(0), cap);
}

TEST(Degree, QuadratureIsCappedAndSaysSo) {
  EXPECT_EQ(choice("u*v*dx").degree, 6);
  EXPECT_FALSE(choice("u*v*dx").is_capped);
  EXPECT_EQ(choice("exp(r*r)*u*v*dx").degree, 2 * 3 + 4);
  EXPECT_TRUE(choice("exp(r*r)*u*v*dx").is_capped);
  EXPECT_EQ(choice("exp(r*r)*u*v*dx").explanation, "degree 14 estimated (a guess: not polynomial), capped at 10");
  EXPECT_EQ(choice("exp(r*r)*u*v*dx", 20).degree, 14);
  EXPECT_EQ(choice("exp(x[0]**20)*dx").degree, 12);
  EXPECT_EQ(choice("u*v*dx", 0).degree, 0);
}

TEST(Degree, AGuessIsAtLeastTwiceTheDegreeOfTheFields) {
  EXPECT_EQ(choice("sqrt(x[0])*div(w)*dx").explanation, "degree 5 estimated (a guess: not polynomial)");
  EXPECT_EQ(choice("abs(x[0])*v*dx").degree, 6);
  EXPECT_EQ(choice("abs(x[0])*v*dx").explanation,
            "degree 4 estimated (a guess: not polynomial), raised to 6: twice the degree of the fields");
  EXPECT_EQ(choice("abs(x[0])*v*dx", 5).degree, 5);
  EXPECT_TRUE(choice("abs(x[0])*v*dx", 5).is_capped);
  EXPECT_EQ(choice("x[0]*v*dx").degree, 4);
}

TEST(Degree, TheAuthorOfAFormDecides) {
  EXPECT_EQ(choice("exp(r*r)*u*v*dx(degree=13)").degree, 13);
  EXPECT_EQ(choice("u*v*dx(1, degree=2)", 1).explanation, "degree 2 asked for in the form (estimated 6)");
}

} // namespace
} // namespace rafter::form

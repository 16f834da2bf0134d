// SPDX-License-Identifier: BSD-3-Clause
// Definitions that use each other twice have 2^200 paths from the last to the first. What is made of them costs their
// number of nodes, and has the right value: powers of two are exact.
#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/form/bilinear_parts.hpp>
#include <rafter/form/degree.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/printer.hpp>
#include <rafter/form/scalar_text.hpp>
#include <rafter/form/theta_scheme.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/form/walk.hpp>
#include <tests/property/form_corpus.hpp>

namespace rafter::form {
namespace {

constexpr int n = 200;

/// A scope with a field u, test functions v of residuals, and chains of definitions d0, ... dn, where {} stands for the
/// one before.
class SharedExpressions : public ::testing::Test {
protected:
  void chain(const std::string& first, const std::string& next, int length = n) {
    scope_.define("d0", first);
    for (int i = 1; i <= length; ++i)
      scope_.define(fmt::format("d{}", i), fmt::format(fmt::runtime(next), fmt::format("d{}", i - 1)));
  }
  Expr last(int length = n) const { return parse_expression(fmt::format("d{}", length), scope_); }
  Expr expression(const std::string& text) const { return parse_expression(text, scope_); }
  static int count(const Expr& e) {
    int nodes = 0;
    walk({e}, [&nodes](const Expr&) { return ++nodes > 0; });
    return nodes;
  }
  /// Values at x = (x0, x1) and u = value, with gradient 0.
  static std::vector<double> values(const Expr& e, double x0, double x1, double u = 0) {
    const auto lowered = lower(e);
    EXPECT_LT(lowered.graph->size(), 20 * n) << "nodes of the scalar graph";
    return lowered.graph->evaluate(lowered.components, [&](const Atom& atom) {
      if (atom.kind == AtomKind::coordinate) return atom.a == 0 ? x0 : x1;
      return atom.c < 0 ? u : 0.0;
    });
  }
  std::string message(const std::string& text) const {
    try {
      (void)parse_form(text, scope_);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  SharedExpressions() {
    scope_.add_field(space_);
    scope_.add_test_functions(std::array{space_});
  }
  std::shared_ptr<const FieldSpace> space_ = test::make_space("u", 0, 2);
  Scope scope_{2};
};

TEST_F(SharedExpressions, ProductsHaveOneNodeForEachDefinition) {
  chain("1 + x[0]", "{0}*{0}");
  const Expr e = last();
  EXPECT_EQ(count(e), n + 4); // x, x[0], 1 and the sum are below the products
  EXPECT_EQ(values(e, 0, 0), std::vector{1.0});
  EXPECT_EQ(values(last(40), std::exp2(-60), 0), std::vector{1.0});
  EXPECT_EQ(values(last(8), 1, 0), std::vector{std::exp2(256)});
}

TEST_F(SharedExpressions, GradientsFollowTheChainRuleOnce) {
  chain("x[0]", "{0}*{0}");
  EXPECT_EQ(values(grad(last(), 2), 1, 0), (std::vector{std::exp2(n), 0.0}));
  EXPECT_EQ(values(grad(grad(last(20), 2)[0], 2), 1, 0), (std::vector{std::exp2(20) * (std::exp2(20) - 1), 0.0}));
}

TEST_F(SharedExpressions, SumsAreTakenOnce) {
  chain("1 + x[0]", "{0} + sin({0}*x[1])");
  EXPECT_EQ(values(last(), 3, 0), std::vector{4.0});
  EXPECT_EQ(values(grad(last(), 2), 3, 0), (std::vector{1.0, n * 4.0})); // at x1 = 0 each sine adds d0
}

TEST_F(SharedExpressions, MultiplesAndDifferences) {
  chain("x[0]", "-{0} + 3*{0}");
  EXPECT_EQ(values(last(), 1, 0), std::vector{std::exp2(n)});
  EXPECT_EQ(values(grad(last(), 2), 1, 0), (std::vector{std::exp2(n), 0.0}));
}

TEST_F(SharedExpressions, GateauxDerivatives) {
  chain("u", "{0}*{0}");
  EXPECT_EQ(values(derivative(last(), field(space_, "u"), Expr(1.0)), 0, 0, 1), std::vector{std::exp2(n)});
}

TEST_F(SharedExpressions, QuadraticFormsOfSumsThatAreShared) {
  chain("u*u", "{0} + 3*{0}"); // 4^k u^2, which is found to be a quadratic form
  EXPECT_EQ(values(derivative(last(), field(space_, "u"), Expr(1.0)), 0, 0, 1), std::vector{2 * std::exp2(2 * n)});
}

TEST_F(SharedExpressions, ComponentsOfTensors) {
  chain("[[1, x[0]], [0, 1]]", "dot({0}, {0})");
  EXPECT_EQ(values(last(), 1, 0), (std::vector{1.0, std::exp2(n), 0.0, 1.0}));
}

TEST_F(SharedExpressions, FunctionsAreReadOnceForEachArgument) {
  scope_.define("f0(a)", "a*a");
  for (int i = 1; i <= 60; ++i) scope_.define(fmt::format("f{}(a)", i), fmt::format("f{0}(a)*f{0}(a)", i - 1));
  EXPECT_EQ(count(expression("f60(u)")), 62);
  EXPECT_EQ(values(expression("f60(u)"), 0, 0, 1), std::vector{1.0});
}

TEST_F(SharedExpressions, FormsAreLoweredWithAllTheirAttributes) {
  chain("x[0]*u", "{0}*{0}");
  const auto F = parse_form("(d200*v + inner(d200*grad(u), grad(v)))*dx", scope_);
  const auto lowered = lower(F);
  ASSERT_EQ(lowered.integrals.size(), 1u);
  const auto& integral = lowered.integrals[0];
  EXPECT_LT(integral.graph->size(), 20 * n);
  EXPECT_EQ(integral.degree, 1000); // the bound of estimates
  EXPECT_EQ(integral.max_field_degree, 2);
  EXPECT_LT(content_of(integral).size(), std::size_t{200} * n);
  const auto tangent = lower(derivative(F, field(space_, "u")));
  ASSERT_EQ(tangent.integrals.size(), 1u);
  EXPECT_LT(tangent.integrals[0].graph->size(), 40 * n);
  EXPECT_FALSE(is_symmetric(tangent));
  EXPECT_EQ(lower(diagonal_block(derivative(F, field(space_, "u")), space_)).signature, tangent.signature);
}

TEST_F(SharedExpressions, FormsMayBeDefinedByForms) {
  chain("u*v*dx", "{0} + {0}");
  const auto lowered = lower(parse_form("d200", scope_));
  ASSERT_EQ(lowered.integrals.size(), 1u);
  const auto& term = lowered.integrals[0].test_terms.at(0);
  EXPECT_EQ(lowered.integrals[0].graph->evaluate(std::array{term.coefficient}, [](const Atom&) { return 1.0; }),
            std::vector{std::exp2(n)});
}

TEST_F(SharedExpressions, StepsInTimeTakeASummandOnce) {
  chain("dt(u)*v + 3*u*v - x[0]*v", "{0} - (-{0})");
  const Expr u = field(space_, "u");
  const auto forms = make_theta_forms(parse_form("d200*dx", scope_), {u});
  const auto one = make_theta_forms(parse_form("d0*dx", scope_), {u});
  const auto value = [](const LoweredForm& form) {
    EXPECT_EQ(form.integrals.size(), 1u);
    const auto& integral = form.integrals.at(0);
    EXPECT_LT(integral.graph->size(), 200);
    return integral.graph->evaluate(std::array{integral.test_terms.at(0).coefficient},
                                    [](const Atom& atom) { return 0.5 + atom.a; })[0];
  };
  EXPECT_DOUBLE_EQ(value(forms.tangent), std::exp2(n) * value(one.tangent));
  EXPECT_DOUBLE_EQ(value(forms.load), std::exp2(n) * value(one.load));
}

TEST_F(SharedExpressions, TextsAreCutOrHaveNames) {
  chain("1 + x[0]", "{0}*{0} + 3");
  EXPECT_EQ(to_text(last(), 1000).size(), 1003u); // "..." stands at the end
  EXPECT_LE(summary(last()).size(), 83u);
  const auto lowered = lower(last());
  const auto [names, roots] = texts_of(*lowered.graph, lowered.components);
  ASSERT_EQ(roots.size(), 1u);
  std::size_t length = roots[0].size();
  for (const auto& name : names) length += name.size();
  EXPECT_LT(length, std::size_t{500} * n);
}

TEST_F(SharedExpressions, SmallPartsAreWrittenOutAndDeepOnesHaveNames) {
  ScalarGraph graph;
  const NodeId x = graph.atom({AtomKind::coordinate, 0}), y = graph.atom({AtomKind::coordinate, 1});
  const NodeId sum = graph.add(x, y), twice = graph.mul(sum, sum);
  const auto small = texts_of(graph, std::array{twice});
  EXPECT_TRUE(small.names.empty());
  EXPECT_EQ(small.roots, std::vector<std::string>{"mul(add(x[0,0,0], x[1,0,0]), add(x[0,0,0], x[1,0,0]))"});
  NodeId deep = x;
  for (int i = 0; i < 100'000; ++i) deep = graph.make(ScalarOp::sin, deep);
  const auto texts = texts_of(graph, std::array{deep});
  EXPECT_EQ(texts.names.size(), 100'000u / 64);
  EXPECT_EQ(texts.names.at(1).substr(0, 13), "t1 = sin(sin(");
  EXPECT_NE(texts.names.at(1).find("(t0)"), std::string::npos);
}

TEST_F(SharedExpressions, WhatGrowsWithoutEndHasALimit) {
  scope_.define("m0", "dx");
  scope_.define("l0", "(1, 2)");
  scope_.define("g0(a)", "a");
  for (int i = 1; i <= 60; ++i) {
    scope_.define(fmt::format("m{}", i), fmt::format("m{0} + m{0}", i - 1));
    scope_.define(fmt::format("l{}", i), fmt::format("(l{0}, l{0})", i - 1));
    scope_.define(fmt::format("g{}(a)", i), fmt::format("g{0}(2*a) + g{0}(3*a)", i - 1));
  }
  EXPECT_EQ(parse_form("u*m3", scope_).integrals().size(), 1u);
  EXPECT_NE(message("u*m60").find("a sum of 4096 and 4096 measures: a sum has at most 4096"), std::string::npos);
  EXPECT_NE(message("u*m60").find("in the definition of 'm13'"), std::string::npos) << message("u*m60");
  EXPECT_NE(message("u*ds(l60)").find("the list has 131072 entries"), std::string::npos) << message("u*ds(l60)");
  const auto calls = message("g60(u)*dx");
  EXPECT_NE(calls.find("the texts have more than 500000 parts"), std::string::npos) << calls;
  EXPECT_NE(calls.find("' has been read with "), std::string::npos) << calls;
}

TEST_F(SharedExpressions, LongChainsOfDefinitionsAreFollowedToTheirFault) {
  chain("1 + missing", "{0} + 1", 3000);
  const auto fault = message("d3000*dx");
  EXPECT_EQ(fault, "line 1, column 1: in the definition of 'd3000', line 1, column 1: in the definition of 'd2999', "
                   "line 1, column 1: in the definition of 'd2998', through 2995 more, in the definition of 'd2', "
                   "line 1, column 1: in the definition of 'd1', line 1, column 1: in the definition of 'd0', "
                   "line 1, column 5: unknown name 'missing'");
  scope_.define("c0", "1 + c3000");
  for (int i = 1; i <= 3000; ++i) scope_.define(fmt::format("c{}", i), fmt::format("c{}", i - 1));
  const auto cycle = message("c3000*dx");
  EXPECT_NE(cycle.find("the definition 'c3000' uses itself (c3000 -> c2999 -> "), std::string::npos) << cycle;
  EXPECT_NE(cycle.find("-> (2989 more) -> c3000)"), std::string::npos) << cycle;
  EXPECT_LT(cycle.size(), 1000u);
}

TEST_F(SharedExpressions, ExpressionsHaveADepth) {
  chain("x[0]", "{0} + 1", 3000);
  const auto deep = message("d3000*dx");
  EXPECT_NE(deep.find("in the definition of 'd999', line 1, column 6: the expression is nested more than 1000 levels"),
            std::string::npos)
      << deep;
}

} // namespace
} // namespace rafter::form

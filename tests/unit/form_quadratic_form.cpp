// SPDX-License-Identifier: BSD-3-Clause
// Sums are recognised as quadratic forms exactly if they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include <rafter/form/differentiate.hpp>
#include <rafter/form/quadratic_form.hpp>

namespace rafter::form {
namespace {

/// Atoms e_0, e_1, ... vary, numbers l, m do not.
class QuadraticForms : public ::testing::Test {
protected:
  static Atom atom(AtomKind kind, int a) { return {.kind = kind, .a = a}; }
  NodeId varying(int i) { return graph_.atom(atom(AtomKind::coordinate, i)); }
  NodeId fixed(int i) { return graph_.atom(atom(AtomKind::cell_coefficient, i)); }
  bool is_constant(NodeId id) const {
    return std::ranges::none_of(graph_.reachable(std::array{id}), [this](NodeId node) {
      return graph_[node].op == ScalarOp::atom && graph_[node].atom.kind == AtomKind::coordinate;
    });
  }
  std::optional<QuadraticForm> find(NodeId root) {
    return find_quadratic_form(graph_, root, [this](NodeId id) { return is_constant(id); });
  }
  /// Stress and strain in the plane have the product sum_k s_k e_k + s_2 e_2, s = l tr(e) + 2 m e, in which the
  /// off-diagonal entry counts twice.
  NodeId stress(int k) {
    const NodeId own = graph_.mul(graph_.mul(graph_.constant(2), fixed(1)), varying(k));
    return k == 2 ? own : graph_.add(graph_.mul(fixed(0), graph_.add(varying(0), varying(1))), own);
  }
  NodeId energy() {
    NodeId sum = graph_.constant(0);
    for (const int k : {0, 2, 2, 1}) sum = graph_.add(sum, graph_.mul(stress(k), varying(k)));
    return sum;
  }
  ScalarGraph graph_;
};

TEST_F(QuadraticForms, AreStressTimesStrain) {
  for (const int k : {0, 1, 2}) varying(k);
  const auto form = find(energy());
  ASSERT_TRUE(form);
  ASSERT_EQ(form->terms.size(), 3u);
  for (const int k : {0, 1, 2}) {
    const auto term = std::ranges::find(form->terms, varying(k), &QuadraticForm::Term::right);
    ASSERT_NE(term, form->terms.end());
    EXPECT_EQ(term->weight, k == 2 ? 2 : 1);
    EXPECT_EQ(term->left, stress(k));
  }
}

TEST_F(QuadraticForms, AreSumsOfSquaresAndDifferences) {
  const NodeId a = varying(0), b = varying(1);
  const auto form = find(graph_.sub(graph_.mul(a, a), graph_.mul(graph_.constant(0.5), graph_.mul(b, b))));
  ASSERT_TRUE(form);
  EXPECT_EQ(form->terms[0].weight, 1);
  EXPECT_EQ(form->terms[1].weight, -0.5);
}

TEST_F(QuadraticForms, NeedASymmetricMatrixOfConstants) {
  const NodeId a = varying(0), b = varying(1), c = fixed(0);
  const auto sum_of = [&](NodeId of_a, NodeId of_b) { return graph_.add(graph_.mul(of_a, a), graph_.mul(of_b, b)); };
  const NodeId ca = graph_.mul(c, a), cb = graph_.mul(c, b);
  EXPECT_TRUE(find(sum_of(graph_.add(a, cb), graph_.add(b, ca))));
  EXPECT_FALSE(find(sum_of(graph_.add(a, cb), graph_.add(b, graph_.mul(fixed(1), a))))); // C_01 is not C_10
  EXPECT_FALSE(find(sum_of(graph_.add(a, cb), graph_.mul(c, b))));
  EXPECT_FALSE(find(sum_of(graph_.add(a, c), b)));                // the sum is affine
  EXPECT_FALSE(find(sum_of(graph_.mul(a, b), graph_.mul(a, a)))); // the sum is cubic
  EXPECT_FALSE(find(sum_of(c, c)));                               // the sum is linear
  EXPECT_FALSE(find(graph_.add(sum_of(a, b), c)));
  EXPECT_FALSE(find(graph_.add(sum_of(a, b), graph_.make(ScalarOp::sin, a))));
}

TEST_F(QuadraticForms, HaveTheDerivativeOfTheProductRule) {
  for (const int k : {0, 1, 2}) varying(k);
  Differentiator derivative(graph_, [this](const Atom& of) {
    return of.kind == AtomKind::coordinate ? graph_.atom(atom(AtomKind::cell_coefficient, 10 + of.a))
                                           : graph_.constant(0);
  });
  const NodeId root = energy(), found = derivative(root);
  const std::vector<double> e{0.3, -0.7, 1.1}, d{0.2, 0.5, -0.4};
  const double l = 1.5, m = 0.8;
  const auto value = [&](const Atom& of) {
    if (of.kind == AtomKind::coordinate) return e[static_cast<std::size_t>(of.a)];
    return of.a >= 10 ? d[static_cast<std::size_t>(of.a - 10)] : of.a == 0 ? l : m;
  };
  const auto wanted = 2 * (l * (e[0] + e[1]) * (d[0] + d[1]) + 2 * m * (e[0] * d[0] + e[1] * d[1] + 2 * e[2] * d[2]));
  EXPECT_NEAR(graph_.evaluate(std::array{found}, value)[0], wanted, 1e-14);
}

TEST_F(QuadraticForms, OfLongSumsAreNotLookedFor) {
  NodeId sum = graph_.constant(0);
  for (int k = 0; k < 100000; ++k) sum = graph_.add(sum, graph_.mul(varying(k), varying(k)));
  EXPECT_FALSE(find(sum));
}

} // namespace
} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <thread>

#include <gtest/gtest.h>

#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/printer.hpp>

namespace rafter::form {
namespace {

std::shared_ptr<const FieldSpace> make_space(int components, int gdim, int degree = 2, std::string name = "u") {
  auto space = std::make_shared<FieldSpace>();
  space->name = std::move(name);
  space->components = components;
  space->gdim = gdim;
  space->degree = degree;
  return space;
}

TEST(Language, EqualExpressionsAreOneNode) {
  const auto [u, v] = arguments(make_space(0, 3));
  EXPECT_EQ(inner(grad(u), grad(v)), inner(grad(u), grad(v)));
  EXPECT_NE(inner(grad(u), grad(v)), inner(grad(v), grad(u)));
  EXPECT_EQ(&(2.0 * u).node(), &(2.0 * u).node());
}

TEST(Language, NodesDoNotOutliveTheirHandles) {
  const auto space = make_space(3, 3);
  const auto uses = space.use_count();
  {
    const auto [u, v] = arguments(space);
    const Form a = inner(sym(grad(u)), sym(grad(v))) * dx;
    EXPECT_GT(space.use_count(), uses);
  }
  EXPECT_EQ(space.use_count(), uses);
}

TEST(Language, ThreadsShareOneTableOfNodes) {
  const auto space = make_space(3, 3);
  const auto build = [&space](std::vector<Form>& forms) {
    const auto [u, v] = arguments(space);
    for (int i = 0; i < 500; ++i) {
      // All threads make most of these forms and drop them at the same time.
      const Form form = (inner(sym(grad(u)), grad(v)) + (i % 7) * inner(u, v)) * dx;
      if (i % 100 == 0) forms.push_back(form);
    }
  };
  std::array<std::vector<Form>, 4> forms;
  std::vector<std::thread> threads;
  for (auto& own : forms) threads.emplace_back(build, std::ref(own));
  for (auto& thread : threads) thread.join();
  for (const auto& own : forms) EXPECT_EQ(own, forms[0]);
}

TEST(Language, TextAndCppGiveTheSameForm) {
  const std::vector<std::shared_ptr<const FieldSpace>> spaces{make_space(0, 2)};
  Scope scope(2);
  scope.add_arguments(spaces);
  const auto [u, v] = arguments(spaces[0]);
  EXPECT_EQ(parse_form("inner(grad(u), grad(v))*dx", scope), inner(grad(u), grad(v)) * dx);
  EXPECT_EQ(parse_form("u*v*ds((2, 1)) + 2*u*v*ds(\"wall\")", scope), u * v * ds({1, 2}) + 2 * u * v * ds("wall"));
  EXPECT_EQ(parse_form("u.dx(0)*v*(dx(1) + dx(2))", scope), grad(u)[0] * v * (dx(1) + dx(2)));
}

TEST(Language, LaplaceLowersToOneTermPerDerivative) {
  const auto [u, v] = arguments(make_space(0, 3));
  const LoweredForm form = lower(inner(grad(u), grad(v)) * dx);
  ASSERT_EQ(form.integrals.size(), 1U);
  EXPECT_EQ(form.rank, 2);
  const auto& integral = form.integrals[0];
  ASSERT_EQ(integral.test_terms.size(), 3U);
  for (int axis = 0; axis < 3; ++axis) {
    const auto& term = integral.test_terms[static_cast<std::size_t>(axis)];
    EXPECT_EQ(term.derivative, axis);
    EXPECT_EQ((*integral.graph)[term.coefficient].atom, (Atom{AtomKind::trial, 0, 0, axis}));
  }
  EXPECT_EQ(integral.degree, 4);
}

} // namespace
} // namespace rafter::form

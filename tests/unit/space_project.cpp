// SPDX-License-Identifier: BSD-3-Clause
// Expressions of fields become functions of a space.
#include <gtest/gtest.h>

#include <cmath>

#include <rafter/base/error.hpp>
#include <rafter/form/language.hpp>
#include <rafter/space/expression_evaluator.hpp>
#include <rafter/space/interpolate.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

using form::LoweredExpression;

using Shared = std::shared_ptr<const space::Discretisation>;

Shared share(mesh::Mesh mesh) {
  return std::make_shared<const space::Discretisation>(std::make_shared<const mesh::Mesh>(std::move(mesh)));
}

std::shared_ptr<const space::FunctionSpace> make_field(const Shared& on, int degree, int components,
                                                       const std::string& name) {
  return space::FunctionSpace::make(on, {.degree = degree, .components = components, .name = name});
}

std::shared_ptr<const LoweredExpression> lowered(const form::Expr& e) {
  return std::make_shared<const LoweredExpression>(form::lower(e));
}

double linear(std::span<const double> x) {
  double sum = 1;
  for (std::size_t a = 0; a < x.size(); ++a) sum += static_cast<double>(a + 1) * x[a];
  return sum;
}

class Project : public ::testing::TestWithParam<std::string> {};

TEST_P(Project, IsExactForContinuousFunctionsOfTheSpace) {
  const auto on = share(box(GetParam()));
  const int dim = on->mesh().gdim;
  const auto from = make_field(on, 1, 0, "w"), to = make_field(on, 2, 1 + dim, "p");
  std::vector<double> w(static_cast<std::size_t>(from->num_local())), wanted(static_cast<std::size_t>(to->num_local())),
      found(wanted.size());
  space::interpolate(
      *from, [](auto x, auto values) { values[0] = linear(x); }, w);
  const auto field = form::field(from, "w");
  std::vector<form::Expr> components{field * field};
  for (int a = 0; a < dim; ++a) components.push_back(form::grad(field)(a) * field);
  const std::vector<space::FieldValues> fields{{from, w}};
  space::project(*to, lowered(form::as_vector(components)), fields, found);
  space::interpolate(
      *to,
      [](auto x, auto values) {
        for (std::size_t c = 0; c < values.size(); ++c)
          values[c] = linear(x) * (c == 0 ? linear(x) : static_cast<double>(c));
      },
      wanted);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 2e-12) << i;
}

INSTANTIATE_TEST_SUITE_P(every_shape, Project, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(ProjectValues, AreMeansWhereCellsDiffer) {
  // A hat function of height 1 at 1/4 has the slopes 4 and -4/3 in the cells [0, 1/4] and [1/4, 1].
  auto mesh = box("interval", 2);
  for (auto& x : mesh.points)
    if (x > 0.4 && x < 0.6) x = 0.25;
  const auto on = share(std::move(mesh));
  const auto from = make_field(on, 1, 0, "w"), to = make_field(on, 1, 0, "p");
  std::vector<double> w(3), found(3);
  space::interpolate(
      *from, [](auto x, auto values) { values[0] = x[0] > 0.2 && x[0] < 0.3 ? 1.0 : 0.0; }, w);
  const std::vector<space::FieldValues> fields{{from, w}};
  space::project(*to, lowered(form::grad(form::field(from, "w"))(0)), fields, found);
  std::ranges::sort(found);
  EXPECT_NEAR(found[0], -1 / 0.75, 1e-13); // value of the longer cell alone
  // This is the mean of both values, weighted by the lengths of the cells.
  EXPECT_NEAR(found[1], 0.25 * 4 - 0.75 * (1 / 0.75), 1e-13);
  EXPECT_NEAR(found[2], 4, 1e-13);
}

TEST(ProjectValues, OfAnotherSizeAndNotFiniteAreRefused) {
  const auto on = share(box("triangle"));
  const auto space = make_field(on, 1, 0, "w");
  std::vector<double> w(static_cast<std::size_t>(space->num_local())), found(w.size());
  const std::vector<space::FieldValues> fields{{space, w}};
  const auto field = form::field(space, "w");
  const auto message = [&](const form::Expr& e, std::span<double> vector) -> std::string {
    try {
      space::project(*space, lowered(e), fields, vector);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(field, found), "accepted");
  EXPECT_NE(message(form::grad(field), found).find("has 2 components, the field 1"), std::string::npos);
  EXPECT_NE(message(field, std::span(found).first(1)).find("1 entries"), std::string::npos);
  EXPECT_NE(message(1 / field, found).find("its value is inf at x = ("), std::string::npos);
}

} // namespace
} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
// Errors in what operators are made of are refused where they are made, with what would be right.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

template <class Error = base::InputError, class Call> std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' in '" << message << "'";
}

class OperatorErrors : public ::testing::Test {
protected:
  std::string of_operator(const form::Form& form, const op::OperatorOptions& options) const {
    return message_of([&] { const op::Operator A(form, problem_.system(), options); });
  }
  std::string of_operator(const std::string& text) const { return of_operator(problem_.form(text), options_); }
  Vector vector(std::size_t size) const { return Vector(options_.shared_device, size); }
  std::size_t size() const { return static_cast<std::size_t>(problem_.system().size()); }

  Problem problem_ = Problem(two_material_box("quadrilateral"), 2).with("kappa", 0.7);
  Problem other_ = Problem(box("quadrilateral"), 2).with("kappa", 0.7);
  op::OperatorOptions options_ = planned({.shared_device = std::make_shared<InterpreterDevice>()});
};

/// The trial functions are scalars q of degree 1, the test functions are those of u, and some operations need one
/// system.
class RectangularErrors : public OperatorErrors {
protected:
  form::Form form() const {
    form::Scope scope(2);
    scope.add("q", form::trial_function(second_));
    scope.add("v", form::test_function(problem_.space()));
    return form::parse_form("q*v*dx", scope);
  }
  std::shared_ptr<const space::FunctionSpace> second_ =
      space::FunctionSpace::make(problem_.space()->discretisation(), {.name = "q"});
};

TEST_F(RectangularErrors, VectorsHaveTheSizesOfTheirSystems) {
  const op::Operator A(form(), options_);
  const auto columns = static_cast<std::size_t>(second_->num_local());
  auto wrong = vector(size()), right = vector(columns), y = vector(size());
  A.apply(right, y);
  expect_parts(message_of([&] { A.apply(wrong, y); }),
               {"the input vector has", std::to_string(size()), std::to_string(columns)});
  expect_parts(message_of([&] { A.apply(right, right); }), {"the output vector has"});
}

TEST_F(RectangularErrors, WhatNeedsOneSystemIsRefusedWithBothSizes) {
  const op::Operator A(form(), options_);
  const std::vector<std::string> parts{"rectangular", std::to_string(size()) + " rows (u)",
                                       std::to_string(second_->num_local()) + " columns (q)"};
  expect_parts(message_of([&] { (void)A.size(); }), parts);
  auto d = vector(size());
  expect_parts(message_of([&] { A.diagonal(d); }), parts);
  auto options = options_;
  options.dirichlet = {dirichlet(problem_.space(), [](auto, auto) { return 0.0; })};
  expect_parts(message_of([&] { const op::Operator B(form(), options); }), parts);
  options = options_;
  options.plan = "mapping=assembled";
  expect_parts(message_of([&] { const op::Operator B(form(), options); }), {"plan: mapping=assembled", "one system"});
}

TEST_F(OperatorErrors, FormsOfAnotherRankAreRefused) {
  expect_parts(of_operator("v*dx"), {"a bilinear form is expected", "rank 1"});
  expect_parts(of_operator(problem_.functional("u*u*dx"), options_), {"a bilinear form is expected", "rank 0"});
  expect_parts(message_of([&] { op::LinearForm(problem_.form("u*v*dx"), problem_.system(), options_); }),
               {"a linear form is expected", "rank 2"});
  expect_parts(message_of([&] { op::Functional(problem_.form("v*dx"), problem_.system(), options_); }),
               {"a functional is expected", "rank 1"});
}

TEST_F(OperatorErrors, FormsThatAreNotLinearAreRefusedWithTheExpression) {
  expect_parts(message_of([&] { problem_.form("u*u*v*dx"); }), {"'u*u' is not linear"});
  expect_parts(message_of([&] { problem_.form("exp(u)*v*dx"); }), {"exp"});
  EXPECT_NE(message_of([&] { problem_.form("u*v*dx + v*dx"); }), "");
}

TEST_F(OperatorErrors, UnknownTagsAreRefused) {
  expect_parts(of_operator("u*v*dx(7)"), {"7"});
  expect_parts(of_operator("u*v*ds(17)"), {"17"});
  expect_parts(of_operator("u*v*dx + u*v*ds('ymxx')"), {"ymxx", "did you mean 'ymax'?"});
  EXPECT_NE(message_of([&] { op::Functional(problem_.functional("u*dx(7)"), problem_.system(), options_); }), "");
}

TEST_F(OperatorErrors, MissingEntriesByTagAreRefusedWithTheTag) {
  problem_.with("k", form::by_tag("k", {{"1", 3.0}}));
  expect_parts(of_operator("k*u*v*dx"), {"coefficient 'k'", "tag 2", "by_tag"});
  problem_.with("m", form::by_tag("m", {{"1", 3.0}, {"2", 1.0}, {"9", 2.0}}));
  expect_parts(of_operator("m*u*v*dx"), {"9"});
}

TEST_F(OperatorErrors, SpacesOfAnotherMeshAreRefused) {
  expect_parts(of_operator(other_.form("u*v*dx"), options_), {"'u'", "not a field of this system"});
  expect_parts(message_of([&] {
                 op::make_system({problem_.space(), other_.space()});
               }),
               {"on one discretisation", "'u'"});
  expect_parts(message_of([&] { op::make_system({}); }), {"at least one function space"});
  auto options = options_;
  options.dirichlet = {dirichlet(other_.space(), [](auto, auto) { return 0.0; })};
  EXPECT_NE(of_operator(problem_.form("u*v*dx"), options), "");
}

TEST_F(OperatorErrors, SpacesOfOtherBatchesAreRefused) {
  const auto discretisation = std::make_shared<const space::Discretisation>(
      problem_.space()->discretisation()->mesh_ptr(), mesh::make_cell_batches(problem_.mesh(), {.cells_per_batch = 4}));
  const auto other = space::FunctionSpace::make(discretisation, {.name = "w"});
  expect_parts(message_of([&] { op::make_system({problem_.space(), other}); }), {"discretisation", "'w'"});
}

TEST_F(OperatorErrors, FieldsWithoutAMeshAreRefused) {
  auto bare = std::make_shared<form::FieldSpace>();
  bare->gdim = 2;
  const auto [u, v] = form::arguments(bare);
  const form::Form form = u * v * form::dx;
  expect_parts(message_of([&] { (void)op::systems_of(form); }), {"'u' has no mesh"});
}

TEST_F(OperatorErrors, MissingValuesOfFieldsAreRefused) {
  form::Scope scope(2);
  const std::shared_ptr<const form::FieldSpace> space = problem_.space();
  scope.add_field(space);
  scope.add_test_functions({&space, 1});
  const op::LinearForm residual(form::parse_form("u*u*v*dx", scope), problem_.system(), options_);
  auto b = vector(size());
  expect_parts(message_of([&] { residual.assemble(b); }), {"data fields (u)", "values are not given"});
}

TEST_F(OperatorErrors, VectorsOfAnotherSizeAreRefusedWithBothSizes) {
  const op::Operator A(problem_.form("u*v*dx"), options_);
  auto right = A.make_vector(), shorter = vector(size() - 1), longer = vector(size() + 5);
  const auto expect_sizes = [&](const std::string& message, std::size_t found) {
    expect_parts(message, {std::to_string(found), std::to_string(size())});
  };
  expect_sizes(message_of([&] { A.apply(shorter, right); }), size() - 1);
  expect_sizes(message_of([&] { A.apply(right, shorter); }), size() - 1);
  expect_sizes(message_of([&] { A.apply_add(right, longer); }), size() + 5);
  expect_sizes(message_of([&] { A.apply_free(longer, right); }), size() + 5);
  expect_sizes(message_of([&] { A.diagonal(shorter); }), size() - 1);
  const op::LinearForm L(problem_.form("v*dx"), problem_.system(), options_);
  expect_sizes(message_of([&] { L.assemble(shorter); }), size() - 1);
  const op::Functional J(problem_.functional("u*dx"), problem_.system(), options_);
  expect_sizes(message_of([&] { (void)J(shorter); }), size() - 1);
}

TEST_F(OperatorErrors, OneVectorForInputAndOutputIsRefused) {
  const op::Operator A(problem_.form("u*v*dx"), options_);
  auto x = random_vector(A, 1);
  expect_parts(message_of([&] { A.apply(x, x); }), {"same vector"});
}

TEST_F(OperatorErrors, PlansAndQuadratureOutOfRangeAreRefused) {
  auto options = options_;
  options.plan = "factors=stoer";
  expect_parts(of_operator(problem_.form("u*v*dx"), options), {"stoer", "did you mean 'store'?"});
  options = options_;
  options.quadrature.points = 0;
  EXPECT_NE(of_operator(problem_.form("u*v*dx"), options), "");
  options = options_;
  options.quadrature.degree = -3;
  EXPECT_NE(of_operator(problem_.form("u*v*dx"), options), "");
  options = options_;
  options.quadrature.degree = 100000;
  EXPECT_NE(of_operator(problem_.form("u*v*dx"), options), "");
}

TEST_F(OperatorErrors, UnknownDevicesAreRefused) {
  op::OperatorOptions options = planned();
  options.device = "hots";
  expect_parts(of_operator(problem_.form("u*v*dx"), options), {"hots", "host"});
}

} // namespace
} // namespace rafter::test

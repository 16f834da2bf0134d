// SPDX-License-Identifier: BSD-3-Clause
// Kernels that find their dofs by an index of each, and that gather lane by lane (keys `indices` and `gathers` of
// plans), give what the simplest program means, compiled and interpreted, on every shape.
#include <gtest/gtest.h>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

class Indices : public ::testing::TestWithParam<std::string> {
protected:
  /// One batch of the box is full and one is not; the vertices of the mesh are shuffled, so that its cells see shared
  /// entities in all orientations.
  void expect_same(int degree, int components, const std::string& form, const std::vector<std::string>& plans) const {
    Problem problem(scrambled(box(GetParam()), 2), degree, components);
    problem.with("kappa", 0.7);
    op::OperatorOptions options{.shared_device = std::make_shared<InterpreterDevice>(), .plan = simplest};
    options.quadrature.points = degree + 1;
    const op::Operator B(problem.form(form), planned(options));
    const auto expected = values_of(applied(B, random_vector(B, 3)));
    const double tolerance = 1e-13 * (degree + 1) * (degree + 1) * largest(expected);
    for (const auto& plan : plans) {
      SCOPED_TRACE(GetParam() + " degree " + std::to_string(degree) + " " + plan);
      options.plan = plan;
      for (const bool is_interpreted : {true, false}) {
        options.shared_device = is_interpreted ? std::make_shared<InterpreterDevice>() : nullptr;
        options.device = "checked"; // where it is not interpreted: no access outside of the tables
        expect_action(op::Operator(problem.form(form), planned(options)), 3, expected, tolerance);
      }
    }
  }
};

TEST_P(Indices, OfDofsGiveWhatRunsGive) {
  for (const int degree : {1, 3})
    expect_same(degree, 0, helmholtz_form(), {"indices=dofs", "indices=dofs vector_width=4 gathers=scalar"});
  expect_same(2, box_dimension(GetParam()), elasticity_form(box_dimension(GetParam())), {"indices=dofs"});
}

TEST_P(Indices, OfBatchesInWhichCellsDifferAreListedBesideThoseOfRuns) {
  for (const int degree : {1, 2, 3, 4}) expect_same(degree, 0, helmholtz_form(), {"", "vector_width=4 gathers=scalar"});
  expect_same(3, box_dimension(GetParam()), elasticity_form(box_dimension(GetParam())), {"", "vector_width=4"});
}

TEST_P(Indices, NumbersLoadedLaneByLaneAreThoseOfAGather) {
  expect_same(3, 0, helmholtz_form(), {"gathers=scalar", "gathers=scalar vector_width=4 prefetch=0"});
  expect_same(1, 0, "(1 + x[0]*x[0])*inner(grad(u), grad(v))*dx + kappa*u*v*ds", {"gathers=scalar indices=dofs"});
}

TEST_P(Indices, OfDofsServeDiagonalsAndFloats) {
  Problem problem(scrambled(box(GetParam()), 2), 2);
  problem.with("kappa", 0.7);
  const auto diagonal = [&](const std::string& plan) {
    const op::Operator A(problem.form(helmholtz_form()), planned({.device = "checked", .plan = plan}));
    auto d = A.make_vector();
    A.diagonal(d);
    return values_of(d);
  };
  const auto expected = diagonal(simplest);
  EXPECT_LE(distance(diagonal("indices=dofs gathers=scalar"), expected), 1e-12 * largest(expected));
  EXPECT_LE(distance(diagonal("indices=dofs compute=float"), expected), 1e-12 * largest(expected))
      << "diagonals are computed in doubles";
}

INSTANTIATE_TEST_SUITE_P(shapes, Indices, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

/// Returns how often a text occurs in the source of the first kernel.
std::size_t count_in_source(const op::Operator& A, const std::string& text) {
  const auto& source = A.kernels().info().front().source;
  std::size_t result = 0;
  for (auto at = source.find(text); at != std::string::npos; at = source.find(text, at + 1)) ++result;
  return result;
}

TEST(Indices, OfDofsNeedNoTablesOfRuns) {
  Problem problem(scrambled(box("tetrahedron"), 2), 3);
  const auto made = [&](const std::string& plan) {
    return op::Operator(problem.form("inner(grad(u), grad(v))*dx"), planned({.plan = plan}));
  };
  EXPECT_EQ(count_in_source(made("indices=dofs"), "run_starts"), 0U);
  EXPECT_EQ(count_in_source(made("indices=dofs"), "permutations"), 0U);
  EXPECT_EQ(count_in_source(made("indices=dofs"), "unpatterned_entries"), 0U);
  EXPECT_GT(count_in_source(made("indices=runs"), "run_starts"), 0U);
  EXPECT_GT(count_in_source(made("indices=runs"), "unpatterned_entries"), 0U);
  EXPECT_EQ(count_in_source(made("indices=runs"), "permutations"), 0U) << "which the list contains";
  EXPECT_GT(count_in_source(made("gathers=scalar"), "gather_lanes("), 0U);
  EXPECT_EQ(count_in_source(made("gathers=vector"), "gather_lanes("), 0U);
}

} // namespace
} // namespace rafter::test

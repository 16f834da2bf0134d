// SPDX-License-Identifier: BSD-3-Clause
// The columns of a sparse matrix are the images of unit vectors under the matrix-free operator: on every shape and map,
// for coupled fields, facet terms, conditions and forms that are not symmetric.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/operator/matrix/sparse_assembly.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_laws.hpp>

namespace rafter::test {
namespace {

/// Returns A x by the entries of the matrix.
std::vector<double> product(const op::SparseMatrix& matrix, const Vector& x) {
  std::vector<double> y(static_cast<std::size_t>(matrix.num_rows()));
  matrix.multiply(x.host_read(), y);
  return y;
}

void expect_well_formed(const op::SparseMatrix& matrix, const op::Operator& A) {
  ASSERT_EQ(matrix.num_rows(), A.size());
  ASSERT_EQ(matrix.num_columns, A.size());
  ASSERT_EQ(matrix.row_offsets.back(), matrix.num_entries());
  ASSERT_EQ(matrix.values.size(), matrix.columns.size());
  for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row)
    for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
      const auto column = matrix.columns[static_cast<std::size_t>(k)];
      ASSERT_GE(column, k > matrix.row_offsets[row] ? matrix.columns[static_cast<std::size_t>(k) - 1] + 1 : 0);
      ASSERT_LT(column, matrix.num_columns);
    }
  const std::set<std::int32_t> constrained(A.constraints().entries.begin(), A.constraints().entries.end());
  for (const auto row : constrained) {
    EXPECT_EQ(matrix.row_offsets[static_cast<std::size_t>(row) + 1] - matrix.row_offsets[static_cast<std::size_t>(row)],
              1);
    EXPECT_EQ(matrix(row, row), 1);
  }
}

void expect_matrix_of(const op::Operator& A, double bound) {
  const auto matrix = A.sparse_matrix();
  expect_well_formed(matrix, A);
  const Vector x = random_vector(A, 5);
  const auto expected = values_of(applied(A, x));
  EXPECT_LE(distance(product(matrix, x), expected), bound * largest(expected));
  Vector unit = A.make_vector();
  std::mt19937 random(3);
  for (int n = 0; n < 3; ++n) {
    const std::size_t j = random() % unit.size();
    std::ranges::fill(unit.host_overwrite(), 0.0);
    unit.host_write()[j] = 1;
    const auto column = values_of(applied(A, unit));
    for (std::size_t i = 0; i < column.size(); ++i)
      EXPECT_NEAR(matrix(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)), column[i],
                  bound * largest(matrix.values));
  }
}

void expect_blocks_of(const op::Operator& A, op::BlockKind kind) {
  const auto matrix = A.sparse_matrix();
  const auto blocks = A.diagonal_blocks(kind);
  EXPECT_EQ(A.diagonal_blocks(matrix, kind).values, blocks.values) << "of a matrix that is there";
  std::set<std::int32_t> seen;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto begin = static_cast<std::size_t>(blocks.offsets[b]);
    const std::size_t n = static_cast<std::size_t>(blocks.offsets[b + 1]) - begin;
    ASSERT_EQ(blocks.value_offsets[b + 1] - blocks.value_offsets[b], static_cast<std::int64_t>(n * n));
    for (std::size_t i = 0; i < n; ++i) {
      if (kind == op::BlockKind::node) {
        EXPECT_TRUE(seen.insert(blocks.unknowns[begin + i]).second);
      }
      seen.insert(blocks.unknowns[begin + i]);
      for (std::size_t j = 0; j < n; ++j)
        EXPECT_EQ(blocks.values[static_cast<std::size_t>(blocks.value_offsets[b]) + i * n + j],
                  matrix(blocks.unknowns[begin + i], blocks.unknowns[begin + j]));
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), A.num_unknowns());
}

class Sparse : public ::testing::TestWithParam<std::string> {};

TEST_P(Sparse, EqualsTheKernelsOfCellsAndFacets) {
  const auto check = [](mesh::Mesh mesh, int degree) {
    Problem problem(std::move(mesh), degree);
    SCOPED_TRACE(fmt::format("{} degree {}", problem.mesh().source, degree));
    problem.with("kappa", 0.7);
    const op::Operator A(problem.form("((1 + x[0])*inner(grad(u), grad(v)) + u.dx(0)*v)*dx + kappa*u*v*ds((1, 2))"),
                         planned({.threads = 2, .dirichlet = {dirichlet(problem.space(), zero, {1})}}));
    expect_matrix_of(A, rounding(degree));
    EXPECT_GT(A.sparse_matrix().asymmetry(), 1e-3);
  };
  check(scrambled(box(GetParam()), 3), 1);
  check(curved_box(GetParam(), 2), 2);
}

TEST_P(Sparse, EqualsTheKernelsOfCoupledFields) {
  mesh::Mesh mesh = scrambled(box(GetParam()), 3);
  const int dim = mesh.gdim;
  Problem problem(mesh, {{.degree = 2, .components = dim, .name = "w"}, {.degree = 1, .name = "p"}});
  const std::string div = dim == 1 ? "[0].dx(0)" : "", head = dim == 1 ? "" : "div(", tail = dim == 1 ? "" : ")";
  const auto divergence = [&](const std::string& w) { return dim == 1 ? w + div : head + w + tail; };
  auto options = planned({.threads = 2});
  options.dirichlet = {dirichlet(problem.space(0), zero, {1})};
  const op::Operator A(problem.form("(inner(grad(w), grad(v_w)) - p*" + divergence("v_w") + " - v_p*" +
                                    divergence("w") + ")*dx + p*v_p*ds(2)"),
                       options);
  expect_matrix_of(A, rounding(2));
  EXPECT_LE(A.sparse_matrix().asymmetry(), rounding(2));
  expect_blocks_of(A, op::BlockKind::node);
  expect_blocks_of(A, op::BlockKind::cell);
}

INSTANTIATE_TEST_SUITE_P(every_shape, Sparse, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(SparseMatrix, OfAnAssembledOperatorIsTheSame) {
  Problem problem(scrambled(box("tetrahedron"), 3), 1, 3);
  problem.with("kappa", 0.7);
  const op::Operator A(problem.form(elasticity_form(3)), planned({.threads = 1})),
      M(problem.form(elasticity_form(3)), planned({.threads = 1, .plan = "mapping=assembled"}));
  const auto free = A.sparse_matrix(), assembled = M.sparse_matrix();
  EXPECT_EQ(free.columns, assembled.columns);
  EXPECT_LE(distance(free.values, assembled.values), rounding(1) * largest(free.values));
  expect_matrix_of(M, rounding(1));
}

TEST(SparseMatrix, IsTheSameBitsForAnyNumberOfThreads) {
  Problem problem(scrambled(box("prism", 5), 3), 1);
  problem.with("kappa", 0.7);
  const op::Operator one(problem.form(helmholtz_form()), planned({.threads = 1})),
      three(problem.form(helmholtz_form()), planned({.threads = 3}));
  const auto a = one.sparse_matrix(), b = three.sparse_matrix();
  EXPECT_EQ(a.row_offsets, b.row_offsets);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.values, b.values);
}

TEST(SparseMatrix, ValuesAreComputedAnewInPlace) {
  Problem problem(scrambled(box("quadrilateral", 4), 3), 1);
  problem.with("kappa", 0.7);
  const op::Operator A(problem.form(helmholtz_form()), planned({.threads = 1}));
  auto matrix = A.sparse_matrix();
  const auto expected = matrix.values;
  const auto* place = matrix.values.data();
  std::ranges::fill(matrix.values, -1.0);
  A.update(matrix);
  EXPECT_EQ(matrix.values, expected);
  EXPECT_EQ(matrix.values.data(), place);
  matrix.row_offsets.pop_back();
  EXPECT_THROW(A.update(matrix), base::InputError);
}

TEST(SparseMatrix, MayBeRestrictedToUnknowns) {
  // rows 0 and 2 of  1 0 2
  //                  0 1 0
  //                  3 4 5
  const op::SparseMatrix matrix{
      .num_columns = 3, .row_offsets = {0, 2, 3, 6}, .columns = {0, 2, 1, 0, 1, 2}, .values = {1, 2, 1, 3, 4, 5}};
  const std::vector<op::EntryRange> ranges{{0, 1}, {2, 3}};
  const auto part = matrix.restricted(ranges);
  EXPECT_EQ(part.num_columns, 2);
  EXPECT_EQ(part.row_offsets, (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(part.columns, (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(part.values, (std::vector<double>{1, 2, 3, 5}));
}

TEST(SparseMatrix, OfAnotherOperatorHasNoBlocksHere) {
  const Problem problem(box("triangle"), 1), larger(box("triangle", 5), 1);
  const auto options = interpreted();
  const op::Operator A(problem.form("u*v*dx"), options), B(larger.form("u*v*dx"), options);
  EXPECT_THROW((void)A.diagonal_blocks(B.sparse_matrix(), op::BlockKind::node), base::InputError);
}

TEST(SparseMatrix, MultipliesVectorsOfItsSizeAlone) {
  const op::SparseMatrix matrix{.num_columns = 3, .row_offsets = {0, 2, 2}, .columns = {0, 2}, .values = {2.0, -1.0}};
  std::vector<double> y(2);
  matrix.multiply(std::vector<double>{1, 10, 100}, y);
  EXPECT_EQ(y, (std::vector<double>{-98, 0}));
  EXPECT_EQ(matrix(0, 2), -1);
  EXPECT_EQ(matrix(0, 1), 0);
  EXPECT_TRUE(std::isinf(matrix.asymmetry()));
  EXPECT_THROW(matrix.multiply(std::vector<double>{1, 10}, y), base::InputError);
}

} // namespace
} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include <rafter/base/parallel.hpp>
#include <rafter/solve/aggregation_multigrid.hpp>
#include <rafter/solve/algebraic_multigrid.hpp>
#include <rafter/solve/csr_products.hpp>
#include <rafter/solve/matrix_operator.hpp>
#include <tests/support/assembled_problem.hpp>
#include <tests/support/multigrid_problems.hpp>

/// Algebraic multigrid by smoothed aggregation.
namespace rafter::test {
namespace {

using op::SparseMatrix;

std::vector<solvers::MultigridLevel> levels_of(const Assembled& of, std::int64_t enough_unknowns) {
  return solvers::aggregated_levels(*of.A, of.matrix, of.near_null_space, {.enough_unknowns = enough_unknowns});
}

std::vector<double> product(const SparseMatrix& A, std::span<const double> x) {
  std::vector<double> y(static_cast<std::size_t>(A.num_rows()));
  A.multiply(x, y);
  return y;
}

TEST(Aggregation, CoversEveryNodeThatIsCoupledOnce) {
  const Assembled of(sample("plate-with-hole-tet.msh").refined(1), laplacian());
  const auto& near = of.near_null_space;
  const auto nodes = solvers::make_nodes(near.num_nodes, near.node, near.component);
  const auto connections =
      solvers::find_strong_connections(of.matrix, nodes, solvers::AggregationParameters().threshold);
  const auto aggregates = solvers::make_aggregates(connections);
  std::vector<int> sizes(static_cast<std::size_t>(aggregates.count), 0);
  for (std::size_t node = 0; node < aggregates.of_node.size(); ++node) {
    EXPECT_EQ(aggregates.of_node[node] >= 0, connections.is_coupled[node] != 0);
    if (aggregates.of_node[node] >= 0) ++sizes.at(static_cast<std::size_t>(aggregates.of_node[node]));
  }
  EXPECT_EQ(std::ranges::count(sizes, 0), 0);
  EXPECT_GT(aggregates.count, 0);
  EXPECT_LT(aggregates.count, near.num_nodes / 2);
  for (const auto entry : of.A->constraints().entries)
    EXPECT_EQ(aggregates.of_node[static_cast<std::size_t>(near.node[static_cast<std::size_t>(entry)])], -1);
}

/// The prolongation without smoothing has orthonormal columns and holds the modes at all nodes of aggregates.
TEST(Aggregation, TentativeProlongationsHoldTheModes) {
  const Assembled of(sample("beam-tet.mesh").refined(1), elasticity_form(3), 3, {1});
  const auto& near = of.near_null_space;
  ASSERT_EQ(near.modes.size(), 6U);
  const auto nodes = solvers::make_nodes(near.num_nodes, near.node, near.component);
  const auto aggregates = solvers::make_aggregates(
      solvers::find_strong_connections(of.matrix, nodes, solvers::AggregationParameters().threshold));
  const auto coarse = solvers::tentative_prolongation(near, aggregates, nodes);
  ASSERT_GT(coarse.P.num_columns, 0);
  for (std::size_t m = 0; m < near.modes.size(); ++m) {
    const auto image = product(coarse.P, coarse.near_null_space.modes[m]);
    for (std::size_t i = 0; i < image.size(); ++i) {
      const bool is_aggregated = near.node[i] >= 0 && aggregates.of_node[static_cast<std::size_t>(near.node[i])] >= 0;
      EXPECT_NEAR(image[i], is_aggregated ? near.modes[m][i] : 0.0, 1e-11) << "mode " << m << ", unknown " << i;
    }
  }
  const auto gram = solvers::product(solvers::transposed(coarse.P), coarse.P);
  for (std::int64_t i = 0; i < gram.num_rows(); ++i)
    for (auto k = gram.row_offsets[static_cast<std::size_t>(i)]; k < gram.row_offsets[static_cast<std::size_t>(i) + 1];
         ++k)
      EXPECT_NEAR(gram.values[static_cast<std::size_t>(k)], gram.columns[static_cast<std::size_t>(k)] == i ? 1 : 0,
                  1e-12);
}

TEST(Aggregation, EntriesOfProductsAreEstimatedFromSomeRows) {
  const Assembled of(box("tetrahedron", 14), laplacian());
  const auto squared = solvers::product(of.matrix, of.matrix);
  ASSERT_GT(of.matrix.num_rows(), 2000); // every row is counted below 1000
  EXPECT_NEAR(solvers::estimate_entries(of.matrix, of.matrix), static_cast<double>(squared.num_entries()),
              0.05 * static_cast<double>(squared.num_entries()));
}

/// Checks P^T A P, and A P, against what the matrices do to unit vectors, one after the other: columns by columns.
void expect_galerkin_product(const op::SparseMatrix& A, const op::SparseMatrix& P) {
  const auto P_transposed = solvers::transposed(P);
  const auto found = solvers::galerkin_product(A, P, P_transposed), AP = solvers::product(A, P);
  for (std::int64_t column = 0; column < P.num_columns; column += 5) {
    std::vector<double> unit(static_cast<std::size_t>(P.num_columns), 0.0);
    unit[static_cast<std::size_t>(column)] = 1;
    const auto image = product(A, product(P, unit)), expected = product(P_transposed, image);
    EXPECT_LE(distance(product(AP, unit), image), 1e-13 * (1 + largest(image))) << column;
    EXPECT_LE(distance(product(found, unit), expected), 1e-13 * (1 + largest(expected))) << column;
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(found.num_rows()); ++row) {
    const auto entries = solvers::row_entries(found, row);
    for (auto k = entries.begin + 1; k < entries.end; ++k) EXPECT_LT(found.columns[k - 1], found.columns[k]) << row;
  }
}

TEST(Aggregation, GalerkinProductsOfBlocksAreThoseOfEntries) {
  const Assembled scalar(box("tetrahedron", 5), laplacian());
  expect_galerkin_product(scalar.matrix, scalar.matrix); // columns that stand alone
  const auto body = sliding_cube("1"); // components of nodes are constrained: groups of three, two and one
  expect_galerkin_product(body.matrix, body.matrix);
  const auto levels = levels_of(body, 20);
  ASSERT_FALSE(levels.empty());
  const auto coarse = levels.back().A->sparse_matrix();
  expect_galerkin_product(coarse, coarse);
  const auto& A = body.matrix;
  op::SparseMatrix holes{.num_columns = A.num_columns, .row_offsets = {0}, .columns = {}, .values = {}};
  for (std::size_t row = 0; row < static_cast<std::size_t>(A.num_rows()); ++row) {
    const auto entries = solvers::row_entries(A, row);
    for (auto k = entries.begin; k < entries.end; ++k)
      if (A.columns[k] % 7 > 1) { // two of seven columns have no entries
        holes.columns.push_back(A.columns[k]);
        holes.values.push_back(A.values[k]);
      }
    holes.row_offsets.push_back(holes.num_entries());
  }
  expect_galerkin_product(body.matrix, holes);
}

TEST(Aggregation, GroupsOfColumnsStandTogetherInEveryRow) {
  // Columns 0 and 1 are in rows 0 and 2, 2 in row 0 alone, 3 in none, 4 and 5 in row 1; 5 is in row 2 without 4.
  const op::SparseMatrix A{.num_columns = 6,
                           .row_offsets = {0, 3, 5, 8},
                           .columns = {0, 1, 2, 4, 5, 0, 1, 5},
                           .values = std::vector<double>(8, 1.0)};
  const solvers::ColumnGroups groups(A);
  EXPECT_EQ(groups.firsts, (std::vector<std::int32_t>{0, 2, 3, 4, 5, 6}));
  EXPECT_EQ(groups.of_column, (std::vector<std::int32_t>{0, 0, 1, 2, 3, 4}));
}

TEST(Aggregation, LevelsAreGalerkinProducts) {
  const Assembled of(box("tetrahedron", 6), laplacian());
  const auto levels = levels_of(of, 20);
  ASSERT_FALSE(levels.empty());
  const auto& coarse = *levels.back().A;
  Vector x(coarse.device(), static_cast<std::size_t>(coarse.size()));
  fill_random(x, 1);
  Vector Ax(x.device(), x.size()), back(x.device(), x.size());
  coarse.apply(x, Ax);
  Vector fine = of.A->make_vector(), image = of.A->make_vector();
  levels.back().to_finer->prolongate(x, fine);
  of.A->apply(fine, image);
  levels.back().to_finer->restrict_to(image, back);
  EXPECT_LE(distance(back.host_read(), Ax.host_read()), 1e-12 * largest(Ax.host_read()));
}

TEST(Aggregation, CyclesAreSymmetricAndPositive) {
  const Assembled of(sample("beam-tet.mesh").refined(1), elasticity_form(3), 3, {1});
  const solvers::AggregationMultigrid M(of.A, of.near_null_space);
  const Vector r = random_vector(*of.A, 1), s = random_vector(*of.A, 2);
  Vector Mr = of.A->make_vector(), Ms = of.A->make_vector();
  M.apply(r, Mr);
  M.apply(s, Ms);
  EXPECT_GT(dot(Mr, r), 0);
  EXPECT_NEAR(dot(Mr, s), dot(r, Ms), 1e-12 * std::sqrt(dot(Mr, r) * dot(Ms, s)));
}

TEST(Aggregation, IsTheSameOnAnyNumberOfThreads) {
  const auto on_threads = [&](int threads) {
    const Assembled of(
        std::make_shared<Problem>(box("tetrahedron", 8), 1), laplacian(),
        [](const Problem& on) { return std::vector{dirichlet(on.space(), zero_values)}; }, threads);
    EXPECT_EQ(of.A->device()->num_threads(), threads);
    const auto A = levels_of(of, 20).front().A->sparse_matrix();
    return std::pair(A.columns, A.values);
  };
  EXPECT_EQ(on_threads(1), on_threads(3));
}

TEST(Aggregation, ConstrainedComponentsOfFreeNodesStayAsTheyAre) {
  const auto of = sliding_cube("1");
  const auto levels = levels_of(of, 100);
  ASSERT_FALSE(levels.empty());
  Vector coarse(of.A->device(), static_cast<std::size_t>(levels.back().A->size())), fine = of.A->make_vector();
  fill_random(coarse, 1);
  levels.back().to_finer->prolongate(coarse, fine);
  ASSERT_FALSE(of.A->constraints().entries.empty());
  for (const auto entry : of.A->constraints().entries)
    EXPECT_EQ(fine.host_read()[static_cast<std::size_t>(entry)], 0.0) << entry;
  const solvers::AggregationMultigrid M(of.A, of.near_null_space);
  Vector r = random_vector(*of.A, 1), z = of.A->make_vector();
  for (const auto entry : of.A->constraints().entries) r.host_write()[static_cast<std::size_t>(entry)] = 0;
  M.apply(r, z);
  for (const auto entry : of.A->constraints().entries)
    EXPECT_EQ(z.host_read()[static_cast<std::size_t>(entry)], 0.0) << entry;
}

TEST(Aggregation, IterationsDoNotDependOnUnits) {
  const int count = sliding_cube("1").iterations();
  EXPECT_LE(count, 20);
  for (const auto* stiffness : {"1e-9", "1e9"}) EXPECT_EQ(sliding_cube(stiffness).iterations(), count) << stiffness;
}

TEST(Aggregation, MatricesThatItCannotCoarsenTakePolynomialsInPlaceOfFactors) {
  const Assembled of(box("tetrahedron", 24), "u*v*dx");
  ASSERT_GT(of.A->num_unknowns(), solvers::most_direct_unknowns);
  const solvers::AggregationMultigrid M(of.A, of.near_null_space);
  EXPECT_NE(M.description().find("coarsest level: Chebyshev"), std::string::npos) << M.description();
  EXPECT_LE(of.iterations(), 15);
}

TEST(Aggregation, IterationsDoNotGrowWithUnstructuredMeshes) {
  const auto mesh = sample("plate-with-hole-tet.msh");
  const int coarse = Assembled(mesh.refined(1), laplacian()).iterations();
  const int fine = Assembled(mesh.refined(2), laplacian()).iterations();
  EXPECT_LE(coarse, 15);
  EXPECT_LE(fine, 15);
}

TEST(Aggregation, RigidModesCarryElasticity) {
  Assembled of(sample("beam-tet.mesh").refined(2), elasticity_form(3), 3, {1});
  const int with = of.iterations();
  EXPECT_LE(with, 25);
  of.near_null_space = solvers::constant_near_null_space(of.A->size());
  EXPECT_GT(of.iterations(), with);
}

TEST(Aggregation, StretchedCells) {
  const auto mesh = mesh::make_box({.cells = {16, 16, 16}, .size = {1, 1, 0.01}, .shape = "hexahedron"});
  EXPECT_LE(Assembled(mesh, laplacian()).iterations(), 40);
}

TEST(Aggregation, JumpsOfAMillion) {
  const Assembled of(box("tetrahedron", 10), "conditional(lt(x[0], 0.43), 1e6, 1)*inner(grad(u), grad(v))*dx");
  EXPECT_LE(of.iterations(), 25);
}

/// Levels of aggregates stand below the geometric ones in the same cycle.
TEST(Aggregation, SolvesTheCoarsestLevelOfMultigrid) {
  const LevelledProblem problem(
      {.meshes = {std::make_shared<const mesh::Mesh>(sample("plate-with-hole-tet.msh").refined(1))}, .refinements = {}},
      {.degree = 2});
  const int with_factors = problem.iterations({.coarse = solvers::CoarseSolver::direct});
  const int with_aggregates = problem.iterations({.coarse = solvers::CoarseSolver::amg});
  EXPECT_LE(with_aggregates, with_factors + 4);
  const auto M = solvers::make_preconditioner(problem.A(), problem.solver({.coarse = solvers::CoarseSolver::amg}));
  EXPECT_NE(M->description().find("algebraic multigrid"), std::string::npos) << M->description();
}

TEST(Aggregation, RefusesOperatorsThatAreNotSymmetric) {
  const Assembled of(box("triangle"), "(inner(grad(u), grad(v)) + u.dx(0)*v)*dx");
  EXPECT_THROW(solvers::make_algebraic_multigrid(of.A, of.near_null_space), base::InputError);
}

/// The constants of a pure Neumann problem, as conjugate gradients with aggregates need them.
TEST(Aggregation, SolvesSingularOperatorsInAsManyIterationsAsRegularOnes) {
  for (const int cells : {12, 24}) {
    Problem problem(box("tetrahedron", cells), 1);
    const op::Operator A(problem.form(laplacian()), planned({.threads = 1}));
    solvers::SolverOptions options{.method = "cg", .preconditioner = "amg"};
    options.control.rtol = 1e-8;
    options.null_space = constants(A);
    Vector b = random_vector(A, 1), x = A.make_vector(), residual = A.make_vector();
    options.null_space->project(b);
    std::ranges::fill(x.host_overwrite(), 0.0);
    const auto result = solvers::solve(A, b, x, options);
    ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
    EXPECT_LE(result.iterations, 20) << cells;
    EXPECT_LE(options.null_space->norm_of_part(x), 1e-10 * std::sqrt(dot(x, x)));
    A.apply(x, residual);
    EXPECT_LE(distance(residual.host_read(), b.host_read()), 1e-6 * largest(b.host_read()));
  }
}

/// Nodes i and j, and k and l, are coupled strongly, i to k and l so weakly that both entries are added to the diagonal
/// of i, 0.1 + 0.2 in floating-point numbers, and leave a rounding of it.
TEST(Aggregation, DiagonalsThatAddedEntriesCancelAreNotDividedBy) {
  constexpr std::int64_t num_groups = 50;
  SparseMatrix A{.num_columns = 4 * num_groups, .row_offsets = {0}, .columns = {}, .values = {}};
  const double own = 0.1 + 0.2;
  const std::array<std::array<double, 4>, 4> group{
      {{own, -1, -0.1, -0.2}, {-1, 10, 0, 0}, {-0.1, 0, 10, -1}, {-0.2, 0, -1, 10}}};
  ASSERT_GT((own - 0.1) - 0.2, 0);
  for (std::int64_t row = 0; row < A.num_columns; ++row) {
    for (std::int64_t c = 0; c < 4; ++c)
      if (const double value = group[static_cast<std::size_t>(row % 4)][static_cast<std::size_t>(c)]; value != 0) {
        A.columns.push_back(static_cast<std::int32_t>(row / 4 * 4 + c));
        A.values.push_back(value);
      }
    A.row_offsets.push_back(A.num_entries());
  }
  const solvers::MatrixOperator of(device::make_device("host", 1), A);
  const auto levels = solvers::aggregated_levels(of, A, solvers::constant_near_null_space(A.num_columns),
                                                 {.enough_unknowns = 10, .most_levels = 1});
  ASSERT_EQ(levels.size(), 1U);
  Vector coarse(of.device(), static_cast<std::size_t>(levels[0].A->size())), fine(of.device(), 4 * num_groups);
  std::ranges::fill(coarse.host_overwrite(), 1.0);
  levels[0].to_finer->prolongate(coarse, fine);
  EXPECT_LE(largest(fine.host_read()), 100);
}

} // namespace
} // namespace rafter::test

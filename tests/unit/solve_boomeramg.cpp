// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <malloc.h>

#include <cmath>
#include <thread>

#include <rafter/solve/algebraic_multigrid.hpp>
#include <rafter/solve/boomeramg.hpp>
#include <rafter/solve/matrix_operator.hpp>
#include <tests/support/assembled_problem.hpp>
#include <tests/support/hypre.hpp>
#include <tests/support/multigrid_problems.hpp>

/// BoomerAMG of hypre, through the adapter that is opened at run time.
namespace rafter::test {
namespace {

using solvers::AmgInterpolation;
using solvers::AmgMethod;

const solvers::MultigridParameters boomeramg{.amg = AmgMethod::boomeramg},
    rigid_modes{.amg = AmgMethod::boomeramg, .boomeramg = {.interpolation = AmgInterpolation::rigid_modes}};

class BoomerAmg : public testing::Test {
protected:
  void SetUp() override {
    if (!has_hypre()) GTEST_SKIP() << "hypre is not there (apt-get install libhypre-dev)";
  }
};

Vector applied(const solvers::Preconditioner& M, const Vector& r) {
  Vector z(r.device(), r.size());
  M.apply(r, z);
  return z;
}

/// |(M r, s) - (r, M s)| over the M-norms of r and s, which are random vectors without a part in the null space.
void expect_symmetric_and_positive(const solvers::Preconditioner& M, const op::Operator& A,
                                   const solvers::NullSpace& null_space = {}) {
  Vector r = random_residual(A, 1), s = random_residual(A, 2);
  null_space.project(r);
  null_space.project(s);
  const Vector Mr = applied(M, r), Ms = applied(M, s);
  EXPECT_GT(dot(Mr, r), 0);
  EXPECT_GT(dot(Ms, s), 0);
  EXPECT_NEAR(dot(Mr, s), dot(r, Ms), 1e-12 * std::sqrt(dot(Mr, r) * dot(Ms, s)));
}

Assembled clamped_beam(int refinements) {
  return {sample("beam-tet.mesh").refined(refinements), elasticity_form(3), 3, {1}};
}

TEST_F(BoomerAmg, CyclesAreSymmetricAndPositive) {
  const Assembled scalar(sample("plate-with-hole-tet.msh").refined(1), laplacian());
  expect_symmetric_and_positive(solvers::BoomerAmg(scalar.A, scalar.near_null_space), *scalar.A);
  for (const auto& of : {clamped_beam(1), sliding_cube("1")})
    for (const auto interpolation : {AmgInterpolation::components, AmgInterpolation::rigid_modes})
      expect_symmetric_and_positive(solvers::BoomerAmg(of.A, of.near_null_space, {.interpolation = interpolation}),
                                    *of.A);
}

TEST_F(BoomerAmg, SolutionsAreThoseOfFactors) {
  const auto of = clamped_beam(1);
  const Vector b = of.load();
  Vector exact = of.A->make_vector();
  solvers::Factors(of.matrix).apply(b, exact);
  for (const auto& parameters : {boomeramg, rigid_modes}) {
    auto options = of.solver(parameters);
    options.control.rtol = 1e-12;
    Vector x = of.A->make_vector();
    std::ranges::fill(x.host_overwrite(), 0.0);
    const auto result = solvers::solve(*of.A, b, x, options);
    ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
    EXPECT_LE(distance(x.host_read(), exact.host_read()), 1e-9 * largest(exact.host_read()));
  }
}

TEST_F(BoomerAmg, IterationsDoNotGrowWithUnstructuredMeshes) {
  const auto mesh = sample("plate-with-hole-tet.msh");
  for (const int refinements : {1, 2})
    EXPECT_LE(Assembled(mesh.refined(refinements), laplacian()).iterations(boomeramg), 15);
}

TEST_F(BoomerAmg, ComponentsOfSystemsAreDistinguished) {
  auto of = clamped_beam(2);
  const int with = of.iterations(boomeramg);
  EXPECT_LE(with, 45);
  EXPECT_LE(of.iterations(rigid_modes), 26); // rotations matter in a slender body
  of.near_null_space = solvers::constant_near_null_space(of.A->size());
  EXPECT_GT(of.iterations(boomeramg), with);
}

TEST_F(BoomerAmg, ConstrainedComponentsOfFreeNodesStayAsTheyAre) {
  const auto of = sliding_cube("1");
  ASSERT_FALSE(of.A->constraints().entries.empty());
  Vector r = random_vector(*of.A, 1);
  for (const auto entry : of.A->constraints().entries) r.host_write()[static_cast<std::size_t>(entry)] = 0;
  for (const auto interpolation : {AmgInterpolation::components, AmgInterpolation::rigid_modes}) {
    const Vector z = applied(solvers::BoomerAmg(of.A, of.near_null_space, {.interpolation = interpolation}), r);
    for (const auto entry : of.A->constraints().entries)
      EXPECT_EQ(z.host_read()[static_cast<std::size_t>(entry)], 0.0) << entry;
  }
}

TEST_F(BoomerAmg, IterationsDoNotDependOnUnits) {
  for (const auto& parameters : {boomeramg, rigid_modes}) {
    const int count = sliding_cube("1").iterations(parameters);
    EXPECT_LE(count, 30);
    for (const auto* stiffness : {"1e-9", "1e9"})
      EXPECT_EQ(sliding_cube(stiffness).iterations(parameters), count) << stiffness;
  }
}

/// The constants of a pure Neumann problem, whose coarsest matrices are singular, too.
TEST_F(BoomerAmg, SolvesSingularOperatorsInAsManyIterationsAsRegularOnes) {
  for (const int cells : {12, 24}) {
    Problem problem(box("tetrahedron", cells), 1);
    const op::Operator A(problem.form(laplacian()), planned({.threads = 1}));
    solvers::SolverOptions options{.method = "cg", .preconditioner = "amg", .multigrid = boomeramg};
    options.control.rtol = 1e-8;
    options.null_space = constants(A);
    Vector b = random_vector(A, 1), x = A.make_vector(), residual = A.make_vector();
    options.null_space->project(b);
    std::ranges::fill(x.host_overwrite(), 0.0);
    expect_symmetric_and_positive(*solvers::make_preconditioner(A, options), A, *options.null_space);
    const auto result = solvers::solve(A, b, x, options);
    ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
    EXPECT_LE(result.iterations, 20) << cells;
    EXPECT_LE(options.null_space->norm_of_part(x), 1e-10 * std::sqrt(dot(x, x)));
    A.apply(x, residual);
    EXPECT_LE(distance(residual.host_read(), b.host_read()), 1e-6 * largest(b.host_read()));
  }
}

/// An elastic body that nothing holds: all six rigid modes.
TEST_F(BoomerAmg, SolvesElasticityThatNothingHolds) {
  const Assembled of(std::make_shared<Problem>(box("tetrahedron", 8), 1, 3), elasticity_form(3),
                     [](const Problem&) { return std::vector<op::FieldCondition>(); });
  std::vector<Vector> basis;
  for (const auto& mode : of.near_null_space.modes) {
    basis.push_back(of.A->make_vector());
    std::ranges::copy(mode, basis.back().host_overwrite().begin());
  }
  const auto null_space = std::make_shared<const solvers::NullSpace>(of.A->device(), std::move(basis));
  for (const auto& parameters : {boomeramg, rigid_modes}) {
    auto options = of.solver(parameters);
    options.null_space = null_space;
    expect_symmetric_and_positive(*solvers::make_preconditioner(*of.A, options), *of.A, *options.null_space);
    Vector b = random_residual(*of.A, 1), x = of.A->make_vector();
    options.null_space->project(b);
    std::ranges::fill(x.host_overwrite(), 0.0);
    const auto result = solvers::solve(*of.A, b, x, options);
    EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
    EXPECT_LE(result.iterations, 40);
  }
}

TEST_F(BoomerAmg, SolvesTheCoarsestLevelOfMultigrid) {
  const LevelledProblem problem(
      {.meshes = {std::make_shared<const mesh::Mesh>(sample("plate-with-hole-tet.msh").refined(1))}, .refinements = {}},
      {.degree = 2});
  const int with_factors = problem.iterations({.coarse = solvers::CoarseSolver::direct});
  auto parameters = boomeramg;
  parameters.coarse = solvers::CoarseSolver::amg;
  EXPECT_LE(problem.iterations(parameters), with_factors + 4);
  const auto M = solvers::make_preconditioner(problem.A(), problem.solver(parameters));
  EXPECT_FALSE(M->is_variable());
  EXPECT_NE(M->description().find("BoomerAMG of hypre"), std::string::npos) << M->description();
  parameters.coarse_rtol = 1e-2;
  EXPECT_LE(problem.iterations(parameters), with_factors + 1);
}

TEST_F(BoomerAmg, LeavesIndefiniteCoarsestLevelsToFactors) {
  constexpr int cells = 110; // 12 321 unknowns are more than are factorised otherwise
  const Assembled of(box("triangle", cells), "(inner(grad(u), grad(v)) - 60*u*v)*dx");
  ASSERT_GT(of.A->num_unknowns(), solvers::most_direct_unknowns);
  const solvers::Multigrid M({{.A = of.A, .to_finer = nullptr}}, boomeramg);
  EXPECT_GT(M.num_negative_eigenvalues(), 0) << M.description();
}

/// Instances of different matrices are set up, applied and destroyed in any order.
TEST_F(BoomerAmg, InstancesDoNotTouchEachOther) {
  const auto beam = clamped_beam(1);
  const Assembled plate(sample("plate-with-hole-tet.msh"), laplacian());
  const Vector r = random_residual(*beam.A, 1), s = random_residual(*plate.A, 2);
  auto first = std::make_unique<solvers::BoomerAmg>(beam.A, beam.near_null_space);
  const Vector alone = applied(*first, r);
  auto second = std::make_unique<solvers::BoomerAmg>(plate.A, plate.near_null_space);
  const Vector of_second = applied(*second, s), of_first = applied(*first, r);
  EXPECT_EQ(distance(of_first.host_read(), alone.host_read()), 0);
  first.reset();
  EXPECT_EQ(distance(applied(*second, s).host_read(), of_second.host_read()), 0);
  second.reset();
  const solvers::BoomerAmg again(beam.A, beam.near_null_space);
  EXPECT_EQ(distance(applied(again, r).host_read(), alone.host_read()), 0);
}

TEST_F(BoomerAmg, ThreadsMaySetUpAndApplyAtOnce) {
  const auto of = clamped_beam(1);
  const Vector r = random_residual(*of.A, 1);
  const solvers::BoomerAmg alone(of.A, of.near_null_space);
  const Vector expected = applied(alone, r);
  const auto own = [&] { // an operator has work vectors of its own
    return std::make_shared<const solvers::MatrixOperator>(device::make_device("host", 1), of.matrix);
  };
  std::vector<std::shared_ptr<const solvers::MatrixOperator>> matrices{own(), own(), own()};
  std::vector<double> distances(matrices.size(), 1);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < matrices.size(); ++t)
    threads.emplace_back([&, t] {
      const solvers::BoomerAmg M(matrices[t], of.near_null_space);
      Vector right(matrices[t]->device(), r.size());
      std::ranges::copy(r.host_read(), right.host_overwrite().begin());
      for (int repeat = 0; repeat < 3; ++repeat)
        distances[t] = distance(applied(M, right).host_read(), expected.host_read());
    });
  for (auto& thread : threads) thread.join();
  for (const double found : distances) EXPECT_EQ(found, 0);
}

/// The allocator counts nothing under sanitizers, and the leak sanitizer looks for what is left.
TEST_F(BoomerAmg, MemoryIsReleased) {
  const auto of = clamped_beam(1);
  const Vector r = random_residual(*of.A, 1);
  const auto use = [&] {
    const solvers::BoomerAmg M(of.A, of.near_null_space, {.interpolation = AmgInterpolation::rigid_modes});
    applied(M, r);
  };
  use(); // what stays is there from the first time on
  const auto before = mallinfo2();
  for (int repeat = 0; repeat < 5; ++repeat) use();
  const auto after = mallinfo2();
  const auto bytes_of_matrix = 12 * static_cast<std::size_t>(of.matrix.num_entries());
  EXPECT_LT(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + bytes_of_matrix / 10);
}

TEST_F(BoomerAmg, MatricesWithoutCouplingsAreDividedByTheirDiagonal) {
  const op::SparseMatrix diagonal{
      .num_columns = 3, .row_offsets = {0, 1, 2, 3}, .columns = {0, 1, 2}, .values = {2, 4, 8}};
  const auto A = std::make_shared<const solvers::MatrixOperator>(device::make_device("host", 1), diagonal);
  Vector r(A->device(), 3);
  std::ranges::fill(r.host_overwrite(), 1.0);
  const Vector z = applied(solvers::BoomerAmg(A, solvers::constant_near_null_space(3)), r);
  EXPECT_EQ(std::vector(z.host_read().begin(), z.host_read().end()), (std::vector{0.5, 0.25, 0.125}));
}

TEST_F(BoomerAmg, RefusesWhatItDoesNotServe) {
  const Assembled convection(box("triangle"), "(inner(grad(u), grad(v)) + u.dx(0)*v)*dx");
  EXPECT_THROW(solvers::make_algebraic_multigrid(convection.A, convection.near_null_space, boomeramg),
               base::InputError);
  const Assembled indefinite(box("triangle", 16), "(inner(grad(u), grad(v)) - 60*u*v)*dx");
  EXPECT_THROW(solvers::BoomerAmg(indefinite.A, indefinite.near_null_space), base::SolverError);
  const Assembled scalar(box("triangle"), laplacian());
  EXPECT_THROW(solvers::BoomerAmg(scalar.A, scalar.near_null_space, {.interpolation = AmgInterpolation::rigid_modes}),
               base::InputError);
  for (const double threshold : {-0.1, 1.0, std::nan("")})
    EXPECT_THROW(solvers::BoomerAmg(scalar.A, scalar.near_null_space, {.strong_threshold = threshold}),
                 base::InputError);
}

} // namespace
} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
// A solve on an OpenCL device reads rows of residuals and nothing else, and preconditioners wait for nothing: the calls
// of the driver that wait are counted.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <rafter/operator/levels/compiled_transfer.hpp>
#include <rafter/solve/block_preconditioner.hpp>
#include <rafter/solve/inverse_matrix.hpp>
#include <rafter/solve/newton.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/counted_opencl.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/multigrid_problems.hpp>
#include <tests/support/opencl.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

class ResidentSolves : public ::testing::Test {
protected:
  void SetUp() override {
    if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  }
};

LevelledProblem problem_on(const std::shared_ptr<device::Device>& device, const std::string& steps, int refinements,
                           LevelledOptions options, int cells = 2) {
  options.device = device;
  options.coarsening = {.steps = op::parse_coarsening_steps(steps), .enough_unknowns = 1};
  return {refined(box("hexahedron", cells), refinements), options, [device](const op::TransferSpecification& of) {
            return op::make_transfer(of, {.device = device, .planner = planner()});
          }};
}

/// The preconditioner's application to a residual, counted when it happens for the second time.
DriverWaits waits_of_application(const op::Operator& A, const solvers::Preconditioner& M) {
  const Vector r = random_residual(A, 1);
  Vector z = A.make_vector();
  M.apply(r, z);
  return CountedOpenCl::waits_of([&] { M.apply(r, z); });
}

std::vector<double> solution(const LevelledProblem& problem, const solvers::SolverOptions& options) {
  const auto& A = problem.A();
  const Vector b = random_residual(A, 2);
  Vector x = A.make_vector();
  const auto result = solvers::solve(A, b, x, options);
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  return {x.host_read().begin(), x.host_read().end()};
}

TEST_F(ResidentSolves, PreconditionersWaitForNothing) {
  for (const char* steps : {"p", "h", "p,h", "lor"}) {
    const auto problem = problem_on(CountedOpenCl::device(), steps, 1, {.degree = 2});
    for (const auto& parameters :
         {solvers::MultigridParameters{.cycle = solvers::Cycle::v, .coarse = solvers::CoarseSolver::direct},
          solvers::MultigridParameters{.cycle = solvers::Cycle::w, .coarse = solvers::CoarseSolver::chebyshev}}) {
      SCOPED_TRACE(fmt::format("{} {}", steps, solvers::name(parameters.coarse)));
      const auto M = solvers::make_preconditioner(problem.A(), problem.solver(parameters));
      EXPECT_EQ(waits_of_application(problem.A(), *M), DriverWaits());
    }
  }
}

TEST_F(ResidentSolves, SingularAndAggregatedLevelsWaitForNothing) {
  LevelledOptions options{.degree = 2};
  options.has_dirichlet = false;
  const auto problem = problem_on(CountedOpenCl::device(), "p", 1, options);
  const std::vector<solvers::NullSpaceCondition> conditions{
      {.space = problem.system().spaces[0], .kind = solvers::NullSpaceCondition::Kind::mean, .values = {0.0}}};
  for (const auto coarse : {solvers::CoarseSolver::direct, solvers::CoarseSolver::amg}) {
    SCOPED_TRACE(solvers::name(coarse));
    const auto M = solvers::make_preconditioner(problem.A(), problem.solver({.coarse = coarse}, conditions));
    EXPECT_EQ(waits_of_application(problem.A(), *M), DriverWaits());
  }
}

TEST_F(ResidentSolves, ProjectionsAreThoseOfTheHost) {
  for (const std::size_t num_vectors : {1U, 3U, 4U, 6U}) {
    std::vector<std::vector<double>> found;
    for (const auto& device : {device::make_device("host", 1), CountedOpenCl::device()}) {
      constexpr std::size_t n = 9001;
      const auto vector = [&](unsigned seed) {
        const auto values = random_values(n, seed);
        return Vector(device, base::AlignedVector<double>(values.begin(), values.end()));
      };
      std::vector<Vector> basis;
      for (std::size_t k = 0; k < num_vectors; ++k) basis.push_back(vector(static_cast<unsigned>(k) + 1));
      const solvers::NullSpace space(device, std::move(basis));
      auto x = vector(99);
      space.project(x);
      const auto waits = CountedOpenCl::waits_of([&] { space.project(x); });
      EXPECT_EQ(waits, DriverWaits()) << device->name();
      EXPECT_LE(space.norm_of_part(x), 1e-14 * solvers::VectorOps(device).norm(x));
      found.emplace_back(x.host_read().begin(), x.host_read().end());
    }
    EXPECT_LE(distance(found[0], found[1]), 1e-13) << num_vectors;
  }
}

TEST_F(ResidentSolves, FactorsOfLargerCoarsestLevelsCopyOneVectorThereAndBack) {
  const auto problem = problem_on(CountedOpenCl::device(), "p", 1, {.degree = 2}, 6);
  const auto size = problem.levels().front().A->size();
  ASSERT_GT(size, solvers::most_inverted_unknowns);
  const auto M = solvers::make_preconditioner(problem.A(), problem.solver({.coarse = solvers::CoarseSolver::direct}));
  EXPECT_EQ(waits_of_application(problem.A(), *M),
            (DriverWaits{.reads = 1, .writes = 1, .finishes = 0, .largest_read = 8 * static_cast<std::size_t>(size)}));
  EXPECT_NE(M->description().find("on the host"), std::string::npos) << M->description();
}

TEST_F(ResidentSolves, ReadResidualsAloneAndFindTheSolutionOfTheHost) {
  const auto on_host = problem_on(device::make_device("host", 1), "p,h", 1, {.degree = 2}),
             on_device = problem_on(CountedOpenCl::device(), "p,h", 1, {.degree = 2});
  for (const char* preconditioner : {"none", "jacobi", "chebyshev", "multigrid", "amg"}) {
    SCOPED_TRACE(preconditioner);
    const auto options_of = [&](const LevelledProblem& problem) {
      auto options = problem.solver();
      options.preconditioner = preconditioner;
      options.control.rtol = 1e-12;
      return options;
    };
    const auto expected = solution(on_host, options_of(on_host)), found = solution(on_device, options_of(on_device));
    EXPECT_LE(distance(found, expected), 1e-9 * largest(expected));

    const auto& A = on_device.A();
    const Vector b = random_residual(A, 2);
    const auto M = solvers::make_preconditioner(A, options_of(on_device));
    Vector warm = A.make_vector(), x = A.make_vector();
    (void)solvers::cg(A, b, warm, *M, {.control = {.rtol = 1e-2}});
    solvers::Result result;
    const auto waits =
        CountedOpenCl::waits_of([&] { result = solvers::cg(A, b, x, *M, {.control = {.rtol = 1e-10}}); });
    EXPECT_EQ(result.status, solvers::Status::converged);
    constexpr int found_at_begin_and_end = 8;             // norms
    constexpr std::size_t rows = 17 * 8 * sizeof(double); // of one queue of iterations
    EXPECT_LE(waits.reads, found_at_begin_and_end + result.iterations / 2);
    EXPECT_LE(waits.largest_read, rows);
    constexpr int tables_at_begin = 2; // the blocks that operations on vectors and queued iterations go through
    EXPECT_LE(waits.writes, tables_at_begin);
    EXPECT_EQ(waits.finishes, 0);
  }
}

TEST_F(ResidentSolves, BlocksOfFieldsAndInverseDiagonalsWaitForNothing) {
  const auto problem = problem_on(CountedOpenCl::device(), "p", 1, {.degree = 2});
  const auto& A = problem.A();
  const auto size = static_cast<std::int32_t>(A.size());
  const auto part = [&](std::int32_t begin) {
    const std::shared_ptr<const op::LinearOperator> own(&A, [](const op::LinearOperator*) {});
    return solvers::BlockPreconditioner::Part{
        .block = {.field = "u", .preconditioner = "jacobi", .entries = {begin, begin + size}, .A = own},
        .make = [&A] { return std::make_shared<const solvers::Jacobi>(A); }};
  };
  const solvers::BlockPreconditioner M(2 * size + 48, {part(16), part(size + 32)});
  const auto random = random_values(static_cast<std::size_t>(2 * size + 48), 1);
  const Vector r(A.device(), base::AlignedVector<double>(random.begin(), random.end()));
  Vector z(A.device(), r.size());
  M.apply(r, z);
  EXPECT_EQ(CountedOpenCl::waits_of([&] { M.apply(r, z); }), DriverWaits());
  Vector diagonal = A.make_vector();
  A.diagonal(diagonal);
  for (std::size_t i = 0; i < diagonal.size(); ++i)
    for (const std::size_t begin : {std::size_t(16), diagonal.size() + 32})
      EXPECT_DOUBLE_EQ(z.host_read()[begin + i] * diagonal.host_read()[i], random[begin + i]);
  EXPECT_EQ(z.host_read()[diagonal.size() + 20], 0);

  const auto waits = CountedOpenCl::waits_of([&] { (void)solvers::inverse_diagonal(A); });
  EXPECT_EQ(waits.largest_read, sizeof(double));
}

/// Equations A u = b, whose tangent is A everywhere.
class LinearEquations final : public solvers::NonlinearProblem {
public:
  LinearEquations(const op::Operator& A, const Vector& b) : A_(A), b_(b), ops_(A.device()) {}
  std::shared_ptr<device::Device> device() const override { return A_.device(); }
  std::int64_t size() const override { return A_.size(); }
  const space::Constraints& constraints() const override { return A_.constraints(); }
  void residual(const Vector& u, Vector& r) override {
    A_.apply_free(u, r);
    ops_.axpy(-1, b_, r);
  }
  void linearise(const Vector&) override {}
  const op::LinearOperator& tangent() const override { return A_; }
  void apply_tangent_free(const Vector& du, Vector& y) const override { A_.apply_free(du, y); }
  std::string describe_non_finite(const Vector&, const Vector&) const override { return "somewhere"; }

private:
  const op::Operator& A_;
  const Vector& b_;
  solvers::VectorOps ops_;
};

TEST_F(ResidentSolves, NewtonsMethodReadsNumbersAlone) {
  const auto problem = problem_on(CountedOpenCl::device(), "p", 1, {.degree = 2});
  const auto& A = problem.A();
  const Vector b = random_residual(A, 2);
  LinearEquations equations(A, b);
  solvers::NewtonOptions options{.rtol = 1e-10};
  options.solver.preconditioner = "jacobi";
  const auto solve = [&](Vector& u) {
    const auto result = solvers::newton(equations, u, options);
    EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
    EXPECT_GE(result.iterations, 2);
  };
  Vector first = A.make_vector(), u = A.make_vector();
  solve(first);
  const auto waits = CountedOpenCl::waits_of([&] { solve(u); });
  constexpr std::size_t rows = 17 * 8 * sizeof(double); // of one queue of iterations
  ASSERT_GT(u.size() * sizeof(double), 2 * rows);
  EXPECT_LE(waits.largest_read, rows);
}

/// The solution after so many iterations. The form is one that tests of actions compile for a device, too. `plan` is
/// that of the operator.
std::vector<double> iterate(const std::string& shape, const std::shared_ptr<device::Device>& device,
                            const std::string& plan, int iterations) {
  test::Problem problem(scrambled(box(shape), 1), 2, 0);
  problem.with("kappa", 0.7);
  const auto form = problem.form("((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[0])*u*v)*dx + kappa*u*v*ds(1)");
  const op::Operator A(form, planned({.shared_device = device, .plan = plan}));
  const Vector b = random_residual(A, 1);
  Vector x = A.make_vector();
  const solvers::Identity M(A);
  (void)solvers::cg(A, b, x, M, {.control = {.rtol = 1e-15, .max_iterations = iterations}});
  return values(x);
}

class ResidentSolvesOnShape : public ResidentSolves, public ::testing::WithParamInterface<std::string> {};

TEST_P(ResidentSolvesOnShape, FiveIterationsAreThoseOfTheHostOnEveryDevice) {
  const auto expected = iterate(GetParam(), device::make_device("host", 1), "", 5);
  EXPECT_GT(largest(expected), 0);
  const std::vector<std::shared_ptr<device::Device>> devices{
      device::make_device("checked"), std::make_shared<InterpreterDevice>(), CountedOpenCl::device()};
  for (const auto& device : devices)
    EXPECT_LE(distance(iterate(GetParam(), device, "", 5), expected), 1e-12 * largest(expected)) << device->name();
}

INSTANTIATE_TEST_SUITE_P(every_shape, ResidentSolvesOnShape, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST_F(ResidentSolves, HaveTheSameBitsInEveryRunInTwoPasses) {
  const auto run = [] { return iterate("hexahedron", CountedOpenCl::device(), "scatter=two-pass", 30); };
  EXPECT_EQ(run(), run());
}

} // namespace

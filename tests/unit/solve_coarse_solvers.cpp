// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <rafter/base/log.hpp>
#include <rafter/solve/aggregation_multigrid.hpp>
#include <rafter/solve/kept_preconditioner.hpp>
#include <tests/support/multigrid_problems.hpp>

/// Coarsest levels: what solves them, what it reports of indefinite operators, and how its errors name the level.
namespace rafter::test {
namespace {

double no_values(std::span<const double>, std::size_t) { return 0.0; }

/// (grad u, grad v) - shift (u, v) on the unit square with u = 0 on its boundary: below 2 pi^2 = 19.7 it is positive
/// definite; with 60 it has three negative eigenvalues.
struct Helmholtz {
  Problem problem;
  std::shared_ptr<const op::Operator> A;

  Helmholtz(int cells, double shift) : problem(box("triangle", cells), 1) {
    A = std::make_shared<const op::Operator>(
        problem.form("(inner(grad(u), grad(v)) - " + std::to_string(shift) + "*u*v)*dx"),
        planned({.threads = 1, .dirichlet = {dirichlet(problem.space(), no_values)}}));
  }
  solvers::MultigridLevel level() const { return {.A = A, .to_finer = nullptr, .name = "degree 1 on these cells"}; }
};
constexpr double definite = 5, indefinite = 60;

/// Collects what the library warns of.
class Warnings {
public:
  Warnings() : before_(base::set_warning_handler([this](const std::string& text) { texts.push_back(text); })) {}
  ~Warnings() { base::set_warning_handler(before_); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  std::vector<std::string> texts;

private:
  base::WarningHandler before_;
};

TEST(CoarseSolvers, OfLargeLevelsAreFactorsWhereTheFormIsIndefinite) {
  constexpr int cells = 110; // 12 321 unknowns are more than are factorised otherwise
  const Helmholtz positive(cells, definite), negative(cells, indefinite);
  ASSERT_GT(positive.A->num_unknowns(), solvers::most_direct_unknowns);
  const solvers::Multigrid of_positive({positive.level()}), of_negative({negative.level()});
  EXPECT_NE(of_positive.description().find("algebraic multigrid"), std::string::npos) << of_positive.description();
  EXPECT_NE(of_negative.description().find("factors of the matrix"), std::string::npos) << of_negative.description();
  EXPECT_EQ(of_positive.num_negative_eigenvalues(), 0);
  EXPECT_GT(of_negative.num_negative_eigenvalues(), 0);
}

TEST(CoarseSolvers, ReportAnIndefiniteFormOnceUnderTheNameOfThePreconditioner) {
  const Helmholtz negative(48, indefinite);
  const solvers::SolverOptions options{.method = "gmres", .preconditioner = "amg"};
  Warnings warnings;
  solvers::KeptPreconditioner kept;
  for (int step = 0; step < 3; ++step) kept.update(*negative.A, options); // aggregates are made anew each time
  ASSERT_EQ(warnings.texts.size(), 1U);
  EXPECT_TRUE(warnings.texts[0].starts_with("preconditioner amg: the symmetric part of the form is indefinite"))
      << warnings.texts[0];
  EXPECT_EQ(warnings.texts[0].find("multigrid"), std::string::npos) << warnings.texts[0];
}

/// Returns the message of the error that a function throws.
template <class Error, class Function> std::string message_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error of this kind";
  return {};
}

TEST(CoarseSolvers, NameTheirLevelInErrors) {
  Problem problem(box("triangle", 4), 1);
  const auto A =
      std::make_shared<const op::Operator>(problem.form("inner(grad(u), grad(v))*dx"), planned({.threads = 1}));
  const solvers::MultigridLevel level{.A = A, .to_finer = nullptr, .name = "degree 1 on these cells"};
  for (const auto coarse : {solvers::CoarseSolver::direct, solvers::CoarseSolver::automatic}) {
    const auto text = message_of<base::SolverError>([&] { solvers::Multigrid({level}, {.coarse = coarse}); });
    EXPECT_TRUE(text.starts_with("multigrid, degree 1 on these cells: the matrix is singular")) << text;
  }
  const Helmholtz positive(4, definite);
  const auto text = message_of<base::InputError>(
      [&] { solvers::Multigrid({positive.level()}, {.coarse = solvers::CoarseSolver::amg, .coarse_rtol = 2}); });
  EXPECT_TRUE(text.starts_with("multigrid, degree 1 on these cells: ")) << text;
}

TEST(Blocks, NameTheirFieldInErrors) {
  const Helmholtz positive(4, definite);
  const solvers::FieldBlock block{.field = "temperature",
                                  .preconditioner = "jacobi",
                                  .entries = {0, static_cast<std::int32_t>(positive.A->size())},
                                  .A = positive.A};
  const auto fail = []() -> std::shared_ptr<const solvers::Preconditioner> { throw base::SolverError("a pivot is 0"); };
  EXPECT_EQ(message_of<base::SolverError>(
                [&] { solvers::BlockPreconditioner(positive.A->size(), {{.block = block, .make = fail}}); }),
            "block of field 'temperature': a pivot is 0");
}

/// An operator that counts the applications of another, and those with fused work.
class CountedOperator final : public op::LinearOperator {
public:
  explicit CountedOperator(std::shared_ptr<const op::Operator> A) : A_(std::move(A)) {}
  std::int64_t size() const override { return A_->size(); }
  std::vector<op::EntryRange> owned_ranges() const override { return A_->owned_ranges(); }
  std::shared_ptr<device::Device> device() const override { return A_->device(); }
  void apply(const Vector& x, Vector& y) const override {
    ++num_plain;
    A_->apply(x, y);
  }
  void diagonal(Vector& d) const override { A_->diagonal(d); }
  op::SparseMatrix sparse_matrix() const override { return A_->sparse_matrix(); }
  void apply_with(Vector& x, Vector& y, const op::VectorWork& work) const override {
    ++num_fused;
    A_->apply_with(x, y, work);
  }
  std::int64_t num_parts() const override { return A_->num_parts(); }
  mutable int num_plain = 0, num_fused = 0;

private:
  std::shared_ptr<const op::Operator> A_;
};

TEST(AggregationMultigrid, FusesNothingWhereThatIsAskedFor) {
  const Helmholtz positive(48, definite);
  std::vector<int> counts;
  for (const bool is_fused : {true, false}) {
    const CountedOperator A(positive.A);
    const auto M = solvers::make_preconditioner(A, {.preconditioner = "amg", .is_fused = is_fused});
    Vector r = random_vector(*positive.A, 1), z = positive.A->make_vector();
    A.num_fused = 0;
    M->apply(r, z);
    counts.push_back(A.num_fused);
  }
  EXPECT_EQ(counts[1], 1); // the residual between both smoothers, which is no update of a vector of theirs
  EXPECT_GT(counts[0], counts[1]);
}

TEST(FullStart, SavesMoreApplicationsThanItTakes) {
  const LevelledProblem problem(refined(box("hexahedron", 3), 1), {.degree = 4});
  const std::shared_ptr<const op::Operator> of_problem(std::shared_ptr<void>(), &problem.A());
  std::vector<int> counts;
  for (const bool has_full_start : {false, true}) {
    const CountedOperator A(of_problem);
    const auto options = problem.solver({.has_full_start = has_full_start});
    const auto M = solvers::make_preconditioner(A, options);
    Vector b = problem.A().make_vector(), x = problem.A().make_vector();
    std::ranges::fill(b.host_overwrite(), 1.0);
    std::ranges::fill(x.host_overwrite(), 0.0);
    for (const auto entry : problem.A().constraints().entries) b.host_write()[static_cast<std::size_t>(entry)] = 0;
    A.num_plain = A.num_fused = 0;
    const auto result = solvers::solve(A, b, x, *M, options);
    EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
    EXPECT_LE(result.norms->preconditioned, 1e-6);
    counts.push_back(A.num_plain + A.num_fused);
  }
  EXPECT_LT(counts[1], counts[0]);
}

/// Iterations to a tolerance on the coarsest level take the place of one cycle there; cg becomes flexible.
TEST(CoarseSolvers, ToATolerance) {
  const LevelledProblem problem(refined(box("tetrahedron", 3), 1),
                                {.degree = 2, .coarsening = {.steps = {op::CoarseningStep::p}}});
  const int with_factors = problem.iterations({.coarse = solvers::CoarseSolver::direct});
  const solvers::MultigridParameters inexact{
      .coarse = solvers::CoarseSolver::amg, .coarse_rtol = 1e-2, .coarse_iterations = 10};
  const auto M = solvers::make_preconditioner(problem.A(), problem.solver(inexact));
  EXPECT_TRUE(M->is_variable());
  EXPECT_NE(M->description().find("conjugate gradients to 0.01 in at most 10 iterations"), std::string::npos)
      << M->description();
  EXPECT_LE(problem.iterations(inexact), with_factors + 1);
  Vector b = random_vector(problem.A(), 1), x = problem.A().make_vector();
  EXPECT_THROW(solvers::minres(problem.A(), b, x, *M), base::InputError); // its recursion needs a fixed one
}

} // namespace
} // namespace rafter::test

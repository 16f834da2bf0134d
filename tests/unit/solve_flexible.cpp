// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/solve/solver.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Preconditioner;
using solvers::Status;

namespace {

/// Applies another preconditioner and says that it may change.
class SaidToVary final : public Preconditioner {
public:
  explicit SaidToVary(const Preconditioner& M) : M_(M) {}
  void apply(const op::Vector& r, op::Vector& z) const override { M_.apply(r, z); }
  bool is_variable() const override { return true; }

private:
  const Preconditioner& M_;
};

/// Scales each entry by a positive factor between 1 - change and 1 + change, which differs from one application to the
/// next.
class Varying final : public Preconditioner {
public:
  explicit Varying(bool is_known, double change = 0.6) : is_known_(is_known), change_(change) {}
  void apply(const op::Vector& r, op::Vector& z) const override {
    ++num_applications_;
    const auto factors = random_values(r.size(), num_applications_);
    const auto in = r.host_read();
    const auto out = z.host_overwrite();
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = (1 + change_ * factors[i]) * in[i];
  }
  bool is_variable() const override { return is_known_; }

private:
  bool is_known_;
  double change_;
  mutable unsigned num_applications_ = 0;
};

} // namespace

TEST(FlexibleCg, TakesTheIterationsOfCgWithAFixedPreconditioner) {
  const auto A = laplacian(60);
  const auto b = random_values(60, 1);
  const solvers::Chebyshev M(A, {.degree = 3});
  for (const bool is_fused : {false, true}) {
    auto x = A.vector(), flexible_x = A.vector();
    const solvers::CgParameters parameters{.control = {.rtol = 1e-9}, .is_fused = is_fused};
    const auto plain = solvers::cg(A, A.vector(b), x, M, parameters);
    const auto flexible = solvers::cg(A, A.vector(b), flexible_x, SaidToVary(M), parameters);
    ASSERT_EQ(plain.status, Status::converged) << plain.message;
    EXPECT_EQ(flexible.status, Status::converged) << flexible.message;
    EXPECT_EQ(flexible.iterations, plain.iterations);
    ASSERT_EQ(flexible.history.size(), plain.history.size());
    for (std::size_t i = 0; i + 1 < plain.history.size(); ++i)
      EXPECT_NEAR(flexible.history[i], plain.history[i], 1e-6 * plain.history[i]) << i;
  }
}

TEST(FlexibleCg, ConvergesInFewerIterationsThanCgWithAPreconditionerThatChanges) {
  const auto A = laplacian(80);
  const auto b = random_values(80, 2);
  int iterations[2] = {0, 0};
  for (const bool is_flexible : {false, true}) {
    auto x = A.vector();
    const auto result = solvers::cg(A, A.vector(b), x, Varying(is_flexible), {.control = {.rtol = 1e-9}});
    iterations[is_flexible ? 1 : 0] = result.status == Status::converged ? result.iterations : 1 << 30;
    if (!is_flexible) continue;
    EXPECT_EQ(result.status, Status::converged) << result.message;
    EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-9 * distance(b, std::vector<double>(80, 0)) / 1.5e-3);
  }
  EXPECT_LT(2 * iterations[1], iterations[0]);
}

TEST(FlexibleCg, MakesEachDirectionOrthogonalToTheLastOne) {
  // Products with A see p_k and p_k+1 one after the other, since each step takes one application.
  const auto A = laplacian(40);
  class Recorder final : public op::LinearOperator {
  public:
    explicit Recorder(const DenseMatrix& A) : A_(A) {}
    std::int64_t size() const override { return A_.size(); }
    std::shared_ptr<device::Device> device() const override { return A_.device(); }
    void apply(const op::Vector& x, op::Vector& y) const override {
      A_.apply(x, y);
      directions.push_back(values(x));
      images.push_back(values(y));
    }
    void diagonal(op::Vector& d) const override { A_.diagonal(d); }
    mutable std::vector<std::vector<double>> directions, images;

  private:
    const DenseMatrix& A_;
  };
  const Recorder recorder(A);
  auto x = A.vector();
  const auto result = solvers::cg(recorder, A.vector(random_values(40, 3)), x, Varying(true),
                                  {.control = {.rtol = 0, .max_iterations = 12}, .is_fused = false});
  ASSERT_EQ(result.iterations, 12);
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  for (std::size_t k = 1; k + 1 < 12; ++k) { // product 0 is that of the first residual
    const double energy = std::sqrt(dot(recorder.directions[k], recorder.images[k]) *
                                    dot(recorder.directions[k + 1], recorder.images[k + 1]));
    EXPECT_NEAR(dot(recorder.directions[k + 1], recorder.images[k]), 0, 1e-12 * energy) << k;
  }
}

TEST(FlexibleGmres, TakesTheIterationsOfGmresWithAFixedPreconditioner) {
  const auto A = convection(50, 3.0);
  const auto b = random_values(50, 4);
  const solvers::Jacobi M(A);
  auto x = A.vector(), flexible_x = A.vector();
  const solvers::GmresParameters parameters{.control = {.rtol = 1e-10}, .restart = 20};
  const auto plain = solvers::gmres(A, A.vector(b), x, M, parameters);
  const auto flexible = solvers::gmres(A, A.vector(b), flexible_x, SaidToVary(M), parameters);
  ASSERT_EQ(plain.status, Status::converged) << plain.message;
  EXPECT_EQ(flexible.status, Status::converged) << flexible.message;
  EXPECT_EQ(flexible.iterations, plain.iterations);
  EXPECT_LE(distance(values(x), values(flexible_x)), 1e-8);
}

TEST(FlexibleGmres, ConvergesWhereThePreconditionerChanges) {
  const auto A = convection(50, 3.0);
  const auto b = random_values(50, 5);
  auto x = A.vector();
  const solvers::GmresParameters parameters{.control = {.rtol = 1e-10, .max_iterations = 200}, .restart = 60};
  const auto result = solvers::gmres(A, A.vector(b), x, Varying(true), parameters);
  EXPECT_EQ(result.status, Status::converged) << result.message;
  // The residual that one cycle updates is that of x, to rounding, which no restart has to repair.
  EXPECT_LE(result.iterations, 50);
  EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-7);
  auto inexact = A.vector();
  const auto plain = solvers::gmres(A, A.vector(b), inexact, Varying(false), parameters);
  EXPECT_GT(plain.status == Status::converged ? plain.iterations : 1 << 30, result.iterations);
}

TEST(FlexibleMethods, BicgstabTakesAPreconditionerThatChangesALittle) {
  const auto A = convection(50, 3.0);
  const auto b = random_values(50, 6);
  auto x = A.vector();
  const auto result = solvers::bicgstab(A, A.vector(b), x, Varying(true, 0.05), {.rtol = 1e-10});
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-7);
}

TEST(FlexibleMethods, ThoseThatNeedAFixedPreconditionerRefuseOthers) {
  const auto A = laplacian(5);
  const auto b = A.vector({1, 2, 3, 4, 5});
  auto x = A.vector();
  const Varying M(true);
  EXPECT_THROW(solvers::minres(A, b, x, M), base::InputError);
  EXPECT_THROW(solvers::gmres(A, b, x, M, {.side = solvers::Side::left}), base::InputError);
}

TEST(FlexibleMethods, ProjectedAndBlockPreconditionersVaryWithThoseThatTheyApply) {
  const auto M = std::make_shared<const Varying>(true);
  const auto fixed = std::make_shared<const Varying>(false);
  const auto none = std::make_shared<const solvers::NullSpace>();
  EXPECT_TRUE(solvers::ProjectedPreconditioner(M, none).is_variable());
  EXPECT_FALSE(solvers::ProjectedPreconditioner(fixed, none).is_variable());
  const auto part = [](int begin, const std::shared_ptr<const Preconditioner>& of) {
    return solvers::BlockPreconditioner::Part{{.field = "u",
                                               .preconditioner = "none",
                                               .entries = {begin, begin + 3},
                                               .A = std::make_shared<const DenseMatrix>(laplacian(3))},
                                              [of] { return of; }};
  };
  EXPECT_TRUE(solvers::BlockPreconditioner(6, {part(0, fixed), part(3, M)}).is_variable());
  EXPECT_FALSE(solvers::BlockPreconditioner(6, {part(0, fixed), part(3, fixed)}).is_variable());
}

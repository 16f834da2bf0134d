// SPDX-License-Identifier: BSD-3-Clause
// Forcing terms, the line search and Newton's method are tested on functions whose behaviour is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <rafter/solve/newton.hpp>
#include <rafter/space/constraints.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Failure;
using solvers::Status;
using solvers::TrialState;

namespace {

TEST(ForcingTerms, FollowTheSquareOfTheRatioOfResiduals) {
  solvers::ForcingTerms terms({.first = 0.2});
  EXPECT_DOUBLE_EQ(terms.next(1.0, 0), 0.2);
  EXPECT_DOUBLE_EQ(terms.next(0.1, 0), 0.9 * 0.01);
  EXPECT_DOUBLE_EQ(terms.next(0.001, 0), 0.9 * 1e-4);
}

TEST(ForcingTerms, FallSlowlyAfterALargeOneAndNotBelowWhatTheTargetNeeds) {
  solvers::ForcingTerms terms({.first = 0.5});
  terms.next(1.0, 0);
  EXPECT_DOUBLE_EQ(terms.next(1e-3, 0), 0.9 * 0.25); // the ratio alone would give 0.9e-6
  EXPECT_DOUBLE_EQ(terms.next(1e-6, 5e-7), 0.25);    // half of the target is enough
  EXPECT_DOUBLE_EQ(terms.next(1.0, 0), 0.5);         // the largest term allowed
}

TEST(ForcingTerms, RefuseParametersOutOfRange) {
  EXPECT_THROW(solvers::ForcingTerms({.largest = 1.0}), base::InputError);
  EXPECT_THROW(solvers::ForcingTerms({.gamma = 0.0}), base::InputError);
  EXPECT_THROW(solvers::ForcingTerms({.exponent = 3.0}), base::InputError);
}

/// The path has the states along a step from 0, where the energy E(s) has the derivative `slope`; NaN is not finite.
struct Path {
  std::function<double(double)> slope, energy{};
  int calls = 0;
  TrialState operator()(double s) {
    ++calls;
    const double g = slope(s);
    return {.is_finite = std::isfinite(g),
            .slope = g,
            .residual = std::abs(g),
            .energy = energy ? std::optional(energy(s)) : std::nullopt};
  }
  solvers::LineSearchResult search() {
    const auto start = (*this)(0);
    return solvers::search_line(std::ref(*this), start);
  }
};

TEST(LineSearch, TakesTheFullStepWhereTheSlopeFalls) {
  Path path{.slope = [](double s) { return s - 1; }};
  const auto found = path.search();
  EXPECT_TRUE(found.is_found);
  EXPECT_EQ(found.length, 1);
  EXPECT_EQ(found.trials, 1);
}

TEST(LineSearch, BracketsTheZeroOfASlopeThatTheFullStepOvershoots) {
  Path path{.slope = [](double s) { return std::pow(10 * s, 3) - 1; }}; // the slope is zero at 0.1, and 999 at 1
  const auto found = path.search();
  EXPECT_TRUE(found.is_found);
  EXPECT_LE(std::abs(path.slope(found.length)), 0.8);
  EXPECT_GT(found.length, 0);
  EXPECT_LT(found.trials, 12);
}

TEST(LineSearch, GoesOnWhereTheEnergyFallsAllAlong) {
  Path path{.slope = [](double s) { return -1 - s; }}; // the curvature is negative
  const auto found = path.search();
  EXPECT_TRUE(found.is_found);
  EXPECT_EQ(found.length, 1);
}

TEST(LineSearch, HalvesStepsToStatesThatAreNotFinite) {
  Path path{.slope = [](double s) { return s > 0.3 ? std::nan("") : 4 * s - 1; }};
  const auto found = path.search();
  EXPECT_TRUE(found.is_found);
  EXPECT_EQ(found.length, 0.25);
  EXPECT_EQ(found.trials, 3);
}

TEST(LineSearch, ReducesTheEnergyWhereThereIsOne) {
  const auto energy = [](double s) { return -s + 8 * s * s; };
  Path path{.slope = [](double s) { return -1 + 16 * s; }, .energy = energy};
  const auto found = path.search();
  EXPECT_TRUE(found.is_found);
  EXPECT_LT(energy(found.length), 0);
}

TEST(LineSearch, SaysWhenNoLengthServes) {
  Path path{.slope = [](double s) { return s == 0 ? -1.0 : 5.0; }}; // the slope jumps and has no zero
  const auto found = path.search();
  EXPECT_FALSE(found.is_found);
  EXPECT_LE(found.trials, 40); // of which the last ones are within 1e-12 of the jump
}

TEST(LineSearch, FindsTheZeroBehindAKink) {
  // A rod of stiffness 1 closes a gap, at `kink` of the step, to a penalty that is stiffer by many orders of magnitude.
  for (const double penalty : {1e3, 1e6, 1e9})
    for (const double kink : {0.01, 0.105, 0.7}) {
      Path path{.slope = [&](double s) { return s - 1 + penalty * std::max(0.0, s - kink); }};
      const auto found = path.search();
      EXPECT_TRUE(found.is_found) << penalty << " behind " << kink;
      EXPECT_LE(std::abs(path.slope(found.length)), 0.8);
      EXPECT_LT(found.trials, 80);
    }
}

/// The residual is R_i(u) = f(u_i) - load_i for each entry separately; the last entry is constrained.
class PointwiseProblem final : public solvers::NonlinearProblem {
public:
  using Function = double (*)(double);
  PointwiseProblem(Function f, Function slope, std::vector<double> load, double boundary)
      : f_(f), slope_(slope),
        load_(std::move(load)), constraints_{{static_cast<std::int32_t>(load_.size()) - 1}, {boundary}},
        tangent_(diagonal_matrix(std::vector<double>(load_.size(), 1.0))) {}

  std::shared_ptr<device::Device> device() const override { return tangent_.device(); }
  std::int64_t size() const override { return static_cast<std::int64_t>(load_.size()); }
  const space::Constraints& constraints() const override { return constraints_; }
  void set_load_factor(double factor) override { factor_ = factor; }
  void residual(const device::Vector& u, device::Vector& r) override {
    for (std::size_t i = 0; i < load_.size(); ++i) r.host_write()[i] = f_(u.host_read()[i]) - factor_ * load_[i];
  }
  void linearise(const device::Vector& u) override {
    ++num_linearised;
    std::vector<double> entries;
    for (const double value : u.host_read()) entries.push_back(slope_(value));
    free_ = entries;
    entries.back() = 1;
    num_applies += tangent_.num_applies;
    tangent_ = diagonal_matrix(entries);
  }
  const op::LinearOperator& tangent() const override { return tangent_; }
  void apply_tangent_free(const device::Vector& du, device::Vector& y) const override {
    for (std::size_t i = 0; i < free_.size(); ++i) y.host_write()[i] = free_[i] * du.host_read()[i];
  }
  std::string describe_non_finite(const device::Vector&, const device::Vector&) const override {
    return "entry somewhere";
  }

  std::vector<std::int64_t> field_offsets() const override { return offsets; }

  int num_linearised = 0;
  std::vector<std::int64_t> offsets{0};
  int num_applies = 0; ///< applications of all tangents but the present one

private:
  Function f_, slope_;
  std::vector<double> load_, free_;
  space::Constraints constraints_;
  DenseMatrix tangent_;
  double factor_ = 1;
};

solvers::NewtonOptions tight() {
  solvers::NewtonOptions options{.rtol = 1e-12};
  options.solver.method = "direct";
  return options;
}

/// The equations u + u^3 = 2, 10 and 0, whose solutions are 1, 2 and 0.
PointwiseProblem cubic_problem() {
  return PointwiseProblem([](double u) { return u + u * u * u; }, [](double u) { return 1 + 3 * u * u; },
                          {2.0, 10.0, 0.0}, 0.0);
}

device::Vector zeros(const PointwiseProblem& problem) {
  device::Vector u(problem.device(), 3);
  std::ranges::fill(u.host_overwrite(), 0.0);
  return u;
}

TEST(Newton, ConvergesQuadratically) {
  PointwiseProblem problem = cubic_problem();
  device::Vector u = zeros(problem);
  const auto result = solvers::newton(problem, u, tight());
  ASSERT_EQ(result.status, Status::converged) << result.message;
  EXPECT_NEAR(u.host_read()[0], 1, 1e-12);
  EXPECT_NEAR(u.host_read()[1], 2, 1e-12);
  EXPECT_EQ(problem.num_linearised, result.iterations); // linearised once for each accepted state
  const auto& steps = result.steps;
  ASSERT_GE(steps.size(), 4u);
  const double last = steps[steps.size() - 1].residual, before = steps[steps.size() - 2].residual;
  EXPECT_LT(last, 10 * before * before + 1e-15);
  EXPECT_TRUE(steps.back().is_last);
}

TEST(Newton, AppliesTheTangentForItsLinearSolvesAlone) {
  PointwiseProblem problem = cubic_problem();
  device::Vector u = zeros(problem);
  const auto result = solvers::newton(problem, u, tight());
  ASSERT_EQ(result.status, Status::converged) << result.message;
  // A direct solve looks at the residual that it begins with and at the one that it leaves.
  EXPECT_EQ(problem.num_applies + static_cast<const DenseMatrix&>(problem.tangent()).num_applies,
            2 * result.iterations);
}

TEST(Newton, BringsBoundaryValuesAndLoadsInSteps) {
  PointwiseProblem problem([](double u) { return u + u * u * u; }, [](double u) { return 1 + 3 * u * u; }, {10.0, 0.0},
                           4.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  auto options = tight();
  options.load_steps = 4;
  const auto result = solvers::newton(problem, u, options);
  ASSERT_EQ(result.status, Status::converged) << result.message;
  EXPECT_NEAR(u.host_read()[0], 2, 1e-12);
  EXPECT_EQ(u.host_read()[1], 4);
  EXPECT_EQ(result.load_factor, 1);
  EXPECT_EQ(result.steps.front().load_factor, 0.25);
  EXPECT_EQ(std::ranges::count_if(result.steps, [](const auto& step) { return step.is_last; }), 4);
}

TEST(Newton, TakesNoStepForRoundingOfBoundaryValues) {
  PointwiseProblem problem([](double u) { return u; }, [](double) { return 1.0; }, {2.0, 0.0}, 4.0);
  device::Vector u(problem.device(), 2);
  std::ranges::copy(std::vector{2.0, 4.0 + 1e-15}, u.host_overwrite().begin());
  const auto result = solvers::newton(problem, u, tight());
  ASSERT_EQ(result.status, Status::converged) << result.message;
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(u.host_read()[1], 4);
}

TEST(Newton, ReportsRoundingOfBoundaryValuesFieldByField) {
  // A pressure of 1e8 beside a displacement of 1e-7, whose increment is rounding of the pressure.
  PointwiseProblem problem([](double u) { return u; }, [](double) { return 1.0; }, {1e8, 0.0, 0.0}, 1e-7);
  device::Vector u(problem.device(), 3);
  for (const bool has_fields : {false, true}) {
    if (has_fields) problem.offsets = {0, 1};
    std::ranges::copy(std::vector{1e8, 0.0, 0.0}, u.host_overwrite().begin());
    const auto result = solvers::newton(problem, u, tight());
    ASSERT_EQ(result.status, Status::converged) << result.message;
    EXPECT_EQ(u.host_read()[2], 1e-7);
    EXPECT_EQ(result.iterations, has_fields ? 1 : 0);
  }
}

TEST(Newton, BringsBoundaryValuesAloneWhereLoadsOvershoot) {
  // The first linear system has the solution 1e6, where the residual is 1e18; the boundary value contributes nothing to
  // it.
  PointwiseProblem problem([](double u) { return 1e-3 * u + u * u * u; }, [](double u) { return 1e-3 + 3 * u * u; },
                           {1000.0, 0.0}, 4.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  const auto result = solvers::newton(problem, u, tight());
  ASSERT_EQ(result.status, Status::converged) << result.message;
  EXPECT_NEAR(u.host_read()[0], 10, 1e-3);
  EXPECT_EQ(u.host_read()[1], 4);
  EXPECT_LE(result.iterations, 12); // full steps from 1e6 leave two thirds of u each
}

TEST(Newton, HalvesALoadStepThatFails) {
  // The load 1.3 can be reached only in parts with so few Newton steps.
  PointwiseProblem problem([](double u) { return std::atan(u); }, [](double u) { return 1 / (1 + u * u); }, {1.3, 0.0},
                           0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  auto options = tight();
  options.max_iterations = 5;
  EXPECT_NE(solvers::newton(problem, u, options).status, Status::converged);
  std::ranges::fill(u.host_overwrite(), 0.0);
  options.load_steps = 2;
  const auto result = solvers::newton(problem, u, options);
  ASSERT_EQ(result.status, Status::converged) << result.message;
  EXPECT_NEAR(u.host_read()[0], std::tan(1.3), 1e-10);
  EXPECT_EQ(result.steps.front().load_factor, 0.5);
  EXPECT_TRUE(std::ranges::any_of(result.steps,
                                  [](const auto& step) { return step.load_factor > 0.5 && step.load_factor < 1; }));
}

TEST(Newton, RefusesForcingTermsOutOfRange) {
  PointwiseProblem problem([](double u) { return u; }, [](double) { return 1.0; }, {1.0, 0.0}, 0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  auto options = tight();
  options.forcing = {.largest = 0.5, .smallest = 0.6};
  EXPECT_THROW((void)solvers::newton(problem, u, options), base::InputError);
}

TEST(Newton, RefusesAStartThatIsNotFinite) {
  PointwiseProblem problem([](double u) { return std::log(u); }, [](double u) { return 1 / u; }, {0.0, 0.0}, 1.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), -1.0);
  try {
    (void)solvers::newton(problem, u, tight());
    FAIL() << "no error";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("starting state is not finite: entry somewhere"), std::string::npos)
        << error.what();
  }
}

TEST(Newton, HalvesStepsOutOfTheDomain) {
  // The full step from 5 ends at 5 (1 - ln 5) < 0.
  PointwiseProblem problem([](double u) { return std::log(u); }, [](double u) { return 1 / u; }, {0.0, 0.0}, 1.0);
  device::Vector u(problem.device(), 2);
  std::ranges::copy(std::vector{5.0, 1.0}, u.host_overwrite().begin());
  for (const bool line_search : {true, false}) {
    std::ranges::copy(std::vector{5.0, 1.0}, u.host_overwrite().begin());
    auto options = tight();
    options.line_search = line_search;
    const auto result = solvers::newton(problem, u, options);
    ASSERT_EQ(result.status, Status::converged) << result.message;
    EXPECT_NEAR(u.host_read()[0], 1, 1e-10);
    EXPECT_LT(result.steps.front().length, 1);
  }
}

TEST(Newton, LeavesStatesOfNegativeCurvatureAlsoWithANegativeDiagonal) {
  // The energy u^4 / 4 - u^2 / 2 - 0.01 u has its maximum near -0.01, and minima near -1 and 1.
  for (const std::string preconditioner : {"none", "jacobi"}) {
    PointwiseProblem problem([](double u) { return u * u * u - u; }, [](double u) { return 3 * u * u - 1; },
                             {0.01, 0.02, 0.0}, 0.0);
    device::Vector u(problem.device(), 3);
    std::ranges::fill(u.host_overwrite(), 0.0);
    solvers::NewtonOptions options{.rtol = 1e-10};
    options.solver.method = "cg";
    options.solver.preconditioner = preconditioner;
    const auto result = solvers::newton(problem, u, options);
    ASSERT_EQ(result.status, Status::converged) << preconditioner << ": " << result.message;
    EXPECT_TRUE(result.steps.front().has_negative_curvature);
    EXPECT_NEAR(u.host_read()[0], 1.005, 1e-3) << preconditioner;
    EXPECT_LE(result.iterations, 25) << preconditioner;
  }
}

TEST(Newton, ReportsTangentsThatHaveNoFactors) {
  PointwiseProblem problem([](double u) { return u * u - 1; }, [](double u) { return 2 * u; }, {0.0, 0.0}, 0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  solvers::NewtonOptions options;
  options.solver.method = "cg"; // its Jacobi preconditioner needs a diagonal without zeros
  const auto result = solvers::newton(problem, u, options);
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_NE(result.message.find("Newton step 1: "), std::string::npos) << result.message;
}

TEST(Newton, TakesASolutionForOne) {
  PointwiseProblem problem([](double u) { return u + u * u * u; }, [](double u) { return 1 + 3 * u * u; },
                           {2.0, 10.0, 5.0}, 0.0);
  device::Vector u(problem.device(), 3);
  std::ranges::fill(u.host_overwrite(), 0.0);
  ASSERT_EQ(solvers::newton(problem, u, tight()).status, Status::converged);
  const auto again = solvers::newton(problem, u, tight());
  EXPECT_EQ(again.status, Status::converged);
  EXPECT_EQ(again.iterations, 0);
  EXPECT_EQ(again.warning, "");
}

TEST(Newton, NamesThePlaceThatShortenedStepsWhenItGivesUp) {
  PointwiseProblem problem([](double u) { return u < 0.9 ? 1 / (1 - u) : std::nan(""); },
                           [](double u) { return 1 / ((1 - u) * (1 - u)); }, {100.0, 0.0}, 0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  auto options = tight();
  options.max_iterations = 3;
  const auto result = solvers::newton(problem, u, options);
  EXPECT_NE(result.status, Status::converged);
  EXPECT_NE(result.message.find("entry somewhere"), std::string::npos) << result.message;
}

TEST(Newton, NamesThePlaceWhereNoLengthIsFinite) {
  PointwiseProblem problem([](double u) { return u == 0 ? 0.0 : std::nan(""); }, [](double) { return 1.0; }, {1.0, 0.0},
                           0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  const auto result = solvers::newton(problem, u, tight());
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_EQ(result.failure, Failure::non_finite);
  EXPECT_NE(result.message.find("entry somewhere"), std::string::npos) << result.message;
  EXPECT_EQ(result.iterations, 0);
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_TRUE(result.steps[0].is_last); // no step was taken
}

TEST(Newton, FailsWhereTheResidualJumpsPastZero) {
  // Minus one up to 1 and five behind it: every step that the line search tries is too long.
  PointwiseProblem problem([](double u) { return u <= 1 ? -1.0 : 5.0; }, [](double) { return 1.0; }, {0.0, 0.0}, 0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::copy(std::vector{1.0, 0.0}, u.host_overwrite().begin());
  for (const bool line_search : {true, false}) {
    std::ranges::copy(std::vector{1.0, 0.0}, u.host_overwrite().begin());
    auto options = tight();
    options.line_search = line_search;
    options.max_iterations = 5;
    const auto result = solvers::newton(problem, u, options);
    EXPECT_NE(result.status, Status::converged);
    if (line_search) {
      EXPECT_EQ(result.failure, Failure::stagnated) << result.message;
    }
    EXPECT_GT(result.relative_residual, 0.5);
    EXPECT_EQ(result.warning, "");
  }
}

TEST(Newton, TakesWhatRoundingLeavesForASolutionWhateverTheResidualBefore) {
  // No double is nearer to the root than some 1e-16, where R is 1e-10. There are no reactions to compare it with.
  PointwiseProblem problem([](double u) { return 1e6 * (u * u * u - 2 * u + std::sin(u) - 0.1); },
                           [](double u) { return 1e6 * (3 * u * u - 2 + std::cos(u)); }, {0.0, 0.0}, 0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::copy(std::vector{1.1, 0.0}, u.host_overwrite().begin());
  auto options = tight();
  options.rtol = 1e-15;
  const auto first = solvers::newton(problem, u, options);
  EXPECT_EQ(first.status, Status::converged) << first.message;
  options.rtol = 1e-30;
  const auto again = solvers::newton(problem, u, options);
  EXPECT_EQ(again.status, Status::converged) << again.message;
}

TEST(Newton, SaysThatNoStateWasFiniteOnlyWhereNoneWas) {
  PointwiseProblem problem([](double u) { return u == 0      ? -1.0
                                                 : u == 0.25 ? 5.0
                                                             : std::nan(""); },
                           [](double) { return 1.0; }, {0.0, 0.0}, 0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  const auto result = solvers::newton(problem, u, tight());
  EXPECT_EQ(result.failure, Failure::stagnated) << result.message;
  EXPECT_NE(result.message.find("shortened"), std::string::npos) << result.message;
}

TEST(Newton, ReportsTheResidualOfTheStateThatDivergedToo) {
  PointwiseProblem problem([](double u) { return u < 1 ? u - 2 : 1e20; }, [](double) { return 1.0; }, {0.0, 0.0}, 0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  auto options = tight();
  options.line_search = false;
  const auto result = solvers::newton(problem, u, options);
  EXPECT_EQ(result.failure, Failure::diverged) << result.message;
  EXPECT_EQ(u.host_read()[0], 2);
  EXPECT_GT(result.relative_residual, 1e19);
}

TEST(Newton, ReportsWhatTheFirstOfItsLoadStepsLeft) {
  // No double has the square 2, which is half of the load.
  PointwiseProblem problem([](double u) { return u * u; }, [](double u) { return 2 * u; }, {4.0, 0.0}, 1.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 1.0);
  auto options = tight();
  options.rtol = 1e-30;
  options.load_steps = 2;
  const auto result = solvers::newton(problem, u, options);
  ASSERT_EQ(result.status, Status::converged) << result.message;
  EXPECT_EQ(u.host_read()[0], 2);
  EXPECT_EQ(result.steps.back().residual, 0);
  EXPECT_NE(result.warning.find("rounding"), std::string::npos) << result.warning;
}

TEST(Newton, TakesADirectionOfNegativeCurvatureThatDescends) {
  // The energy is u^4 / 4 - u^2 / 2 - u / 100, with negative curvature at 0 and a minimum close to 1.
  PointwiseProblem problem([](double u) { return u * u * u - u; }, [](double u) { return 3 * u * u - 1; }, {0.01, 0.0},
                           0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  solvers::NewtonOptions options{.rtol = 1e-10};
  options.solver.preconditioner = "none";
  const auto result = solvers::newton(problem, u, options);
  ASSERT_EQ(result.status, Status::converged) << result.message;
  EXPECT_GT(u.host_read()[0], 1);
  EXPECT_TRUE(result.steps.front().has_negative_curvature);
}

TEST(Newton, StopsWhenTheMonitorAsks) {
  PointwiseProblem problem([](double u) { return u + u * u * u; }, [](double u) { return 1 + 3 * u * u; }, {9.0, 0.0},
                           0.0);
  device::Vector u(problem.device(), 2);
  std::ranges::fill(u.host_overwrite(), 0.0);
  auto options = tight();
  options.load_steps = 3;
  options.monitor = [](int iteration, double) { return iteration < 2; };
  const auto result = solvers::newton(problem, u, options);
  EXPECT_EQ(result.failure, Failure::stopped);
  EXPECT_EQ(result.iterations, 2);
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
// What Newton's method compares residuals with comes from the equations, also where boundary values exert no force at
// first and where forces are near the ends of the range of doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <rafter/solve/force_scale.hpp>
#include <rafter/solve/newton.hpp>
#include <rafter/space/constraints.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Failure;
using solvers::Status;

namespace {

using Law = std::function<double(double)>;

/// A chain of equal springs, whose last node is held at a value and whose first node has a force q(u) beside that of
/// its spring. A constant state costs no force in the springs. The chain as a whole has the stiffness `stiffness`.
class Chain final : public solvers::NonlinearProblem {
public:
  Chain(double stiffness, Law q, Law slope, double boundary, std::size_t num_nodes = 5)
      : spring_(stiffness * static_cast<double>(num_nodes - 1)), q_(std::move(q)), slope_(std::move(slope)),
        size_(num_nodes), constraints_{{static_cast<std::int32_t>(num_nodes) - 1}, {boundary}}, free_(matrix(0)),
        tangent_(free_) {}

  std::shared_ptr<device::Device> device() const override { return tangent_.device(); }
  std::int64_t size() const override { return static_cast<std::int64_t>(size_); }
  const space::Constraints& constraints() const override { return constraints_; }
  void residual(const device::Vector& u, device::Vector& r) override {
    matrix(0).apply(u, r);
    r.host_write()[0] += q_(u.host_read()[0]);
  }
  void linearise(const device::Vector& u) override {
    free_ = matrix(slope_(u.host_read()[0]));
    tangent_ = DenseMatrix(size_, [this](std::size_t i, std::size_t j) {
      return i + 1 == size_ || j + 1 == size_ ? (i == j ? 1.0 : 0.0) : free_(i, j);
    });
  }
  const op::LinearOperator& tangent() const override { return tangent_; }
  void apply_tangent_free(const device::Vector& du, device::Vector& y) const override { free_.apply(du, y); }
  std::string describe_non_finite(const device::Vector&, const device::Vector&) const override { return "a node"; }

  /// The state that is `value` everywhere.
  device::Vector state(double value) const {
    device::Vector u(device(), size_);
    std::ranges::fill(u.host_overwrite(), value);
    return u;
  }

private:
  DenseMatrix matrix(double at_first) const {
    return {size_, [&](std::size_t i, std::size_t j) {
              const std::size_t last = size_ - 1;
              if (i != j) return i + 1 == j || j + 1 == i ? -spring_ : 0.0;
              return (i == 0 || i == last ? spring_ : 2 * spring_) + (i == 0 ? at_first : 0.0);
            }};
  }

  double spring_;
  Law q_, slope_;
  std::size_t size_;
  space::Constraints constraints_;
  DenseMatrix free_, tangent_;
};

solvers::NewtonOptions options_with(const std::string& method = "direct") {
  solvers::NewtonOptions options{.rtol = 1e-10};
  options.solver.method = method;
  return options;
}

/// The root of an increasing function between two numbers.
double root(const Law& f, double low, double high) {
  for (int i = 0; i < 200; ++i) (f(0.5 * (low + high)) > 0 ? high : low) = 0.5 * (low + high);
  return 0.5 * (low + high);
}

struct Case {
  std::string name;
  double stiffness, boundary;
  Law q, slope;
  bool is_stiff = false;
  double rtol = 1e-10; ///< some forces are the difference of large numbers, whose rounding is a part of them
};

/// All have boundary values that the first linear step brings everywhere, without a force but rounding.
std::vector<Case> cases() {
  const auto cube = [](double c) { return Law([c](double u) { return c * u * u * u; }); };
  const auto cube_slope = [](double c) { return Law([c](double u) { return 3 * c * u * u; }); };
  constexpr double sigma = 5.67e-8;
  return {{"a cubic spring", 1, 2, cube(1), cube_slope(1)},
          {"a cubic spring and a large value", 1, 2000, cube(1), cube_slope(1)},
          {"a soft spring, whose force is hardly felt", 1, 2, cube(1e-9), cube_slope(1e-9), false, 1e-6},
          {"a power of seven", 1, 200, [](double u) { return std::pow(u, 7); },
           [](double u) { return 7 * std::pow(u, 6); }},
          {"contact", 1, -0.3, [](double u) { return -100 * std::max(0.0, -u - 0.1); },
           [](double u) { return -u - 0.1 > 0 ? 100.0 : 0.0; }},
          {"a stiff obstacle", 1, -0.3, [](double u) { return -1e9 * std::max(0.0, -u - 0.1); },
           [](double u) { return -u - 0.1 > 0 ? 1e9 : 0.0; }, true, 1e-6},
          {"radiation to 0 K", 50, 1000, [](double u) { return sigma * std::pow(u, 4); },
           [](double u) { return 4 * sigma * std::pow(u, 3); }},
          {"radiation to 300 K", 50, 1000, [](double u) { return sigma * (std::pow(u, 4) - std::pow(300.0, 4)); },
           [](double u) { return 4 * sigma * std::pow(u, 3); }}};
}

TEST(ForceScale, BoundaryValuesWithoutForcesAtFirstAreNoDivergence) {
  for (const auto& given : cases())
    for (const std::string method : {"direct", "cg"})
      for (const double start : {0.0, given.boundary}) {
        SCOPED_TRACE(given.name + ", " + method);
        if (given.is_stiff && start != 0) continue; // the force of such a start is that of 0.2 of a stiff spring
        Chain chain(given.stiffness, given.q, given.slope, given.boundary);
        auto u = chain.state(start);
        auto options = options_with(method);
        options.rtol = given.rtol;
        const auto result = solvers::newton(chain, u, options);
        ASSERT_EQ(result.status, Status::converged) << result.message;
        EXPECT_EQ(result.warning, "");
        const auto balance = [&](double x) { return given.q(x) - given.stiffness * (given.boundary - x); };
        const double at_first = root(balance, std::min(0.0, given.boundary), std::max(0.0, given.boundary));
        EXPECT_NEAR(u.host_read()[0], at_first, 1e-9 * std::abs(given.boundary));
        // The force is right to the tolerance, too, where the springs hold it in few digits of their values.
        const double force = given.q(at_first), rounding = 1e-14 * given.stiffness * std::abs(given.boundary);
        EXPECT_NEAR(given.q(u.host_read()[0]), force, 1e-6 * std::abs(force) + rounding);
      }
}

TEST(ForceScale, AFarStartDoesNotHideTheForcesOfTheSolution) {
  // The first residual is 8e9 and 8e12, the forces of the solution are 2e3.
  for (const double start : {2000.0, 20000.0}) {
    Chain chain(
        1, [](double u) { return u * u * u; }, [](double u) { return 3 * u * u; }, 2000);
    auto u = chain.state(start);
    auto options = options_with();
    options.rtol = 1e-8;
    const auto result = solvers::newton(chain, u, options);
    ASSERT_EQ(result.status, Status::converged) << result.message;
    const double expected = root([](double x) { return x * x * x + x - 2000; }, 0, 2000);
    EXPECT_NEAR(u.host_read()[0], expected, 1e-7 * expected);
    EXPECT_LE(result.relative_residual, 1e-8);
  }
}

TEST(ForceScale, StatesWithoutForcesAreSolutions) {
  for (const double start : {0.0, 7.0}) {
    Chain chain(
        3.7e5, [](double) { return 0.0; }, [](double) { return 0.0; }, 0.1);
    auto u = chain.state(start);
    const auto result = solvers::newton(chain, u, options_with());
    ASSERT_EQ(result.status, Status::converged) << result.message;
    EXPECT_EQ(result.warning, "");
    EXPECT_LE(result.iterations, 2);
    EXPECT_LT(result.relative_residual, 1e-12);
    EXPECT_NEAR(u.host_read()[0], 0.1, 1e-14);
  }
}

TEST(ForceScale, ASolutionThatIsZeroIsReached) {
  Chain chain(
      1, [](double u) { return u * u * u; }, [](double u) { return 3 * u * u; }, 0);
  auto u = chain.state(1);
  const auto result = solvers::newton(chain, u, options_with());
  ASSERT_EQ(result.status, Status::converged) << result.message;
  EXPECT_LE(result.iterations, 8);
  EXPECT_NEAR(u.host_read()[0], 0, 1e-12);
}

TEST(ForceScale, StepsThatLeadBeyondAllForcesAreDivergence) {
  // A jump behind a start where nothing but rounding of the values exerts a force.
  Chain chain(
      1, [](double u) { return u < 2.5 ? -1 : 1e20; }, [](double) { return 0.0; }, 2);
  auto u = chain.state(0);
  auto options = options_with();
  options.line_search = false;
  const auto result = solvers::newton(chain, u, options);
  EXPECT_EQ(result.failure, Failure::diverged) << result.message;
}

TEST(ForceScale, LoadsNearTheEndsOfTheRangeOfDoublesAreMet) {
  for (const double load : {1e-300, 1e-170, 1e156, 1e160, 1e250})
    for (const std::string method : {"direct", "cg", "gmres", "minres", "bicgstab"})
      for (const bool line_search : {true, false}) {
        SCOPED_TRACE(method + " " + std::to_string(std::log10(load)));
        Chain chain(
            2, [load](double u) { return u > 0 ? 3 * u - load : u - load; }, [](double u) { return u > 0 ? 3.0 : 1.0; },
            0);
        auto u = chain.state(0);
        auto options = options_with(method);
        options.line_search = line_search;
        const auto result = solvers::newton(chain, u, options);
        ASSERT_EQ(result.status, Status::converged) << result.message;
        EXPECT_NEAR(u.host_read()[0] / load, 0.2, 1e-9);
      }
}

TEST(ForceScale, WhatIsNotFiniteNeverConverged) {
  // The cube of the first step is beyond all doubles.
  Chain chain(
      1, [](double u) { return u * u * u - 1e160; }, [](double u) { return 3 * u * u; }, 0);
  auto u = chain.state(0);
  const auto result = solvers::newton(chain, u, options_with());
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_EQ(result.failure, Failure::non_finite);
  EXPECT_NE(result.message.find("not finite"), std::string::npos) << result.message;
}

TEST(ForceScale, ADerivativeThatVanishesNamesTheStart) {
  for (const std::string method : {"direct", "cg", "gmres", "minres", "bicgstab"}) {
    Chain chain(
        0, [](double u) { return u * u * u * u - 1; }, [](double u) { return 4 * u * u * u; }, 0, 2);
    auto u = chain.state(0);
    auto options = options_with(method);
    options.solver.preconditioner = "none";
    const auto result = solvers::newton(chain, u, options);
    EXPECT_EQ(result.status, Status::failed) << method;
    EXPECT_NE(result.message.find("1 of 1 equations"), std::string::npos) << method << ": " << result.message;
    EXPECT_NE(result.message.find("(initial)"), std::string::npos) << method << ": " << result.message;
    EXPECT_EQ(result.message.find("Neumann"), std::string::npos) << method << ": " << result.message;
    u = chain.state(0.5);
    const auto other = solvers::newton(chain, u, options);
    ASSERT_EQ(other.status, Status::converged) << method << ": " << other.message;
    EXPECT_NEAR(u.host_read()[0], 1, 1e-10);
  }
}

TEST(ForceScale, IsTheLoadUntilForcesAreKnownToBeLess) {
  solvers::ForceScale scale(1e-8, 0);
  scale.begin(3);
  EXPECT_EQ(scale.reference(4), 5);
  EXPECT_EQ(scale.target(4), 5e-8);
  scale.set_forces(7, 0);
  EXPECT_EQ(scale.reference(4), 5);
  scale.set_forces(0.1, 0.001);
  EXPECT_EQ(scale.reference(4), 0.1);
  EXPECT_EQ(scale.target(4), 1e-9);
  scale.set_forces(1e-9, 1e-12); // of a state that balances them
  EXPECT_EQ(scale.reference(4), 1e-9);
  scale.set_forces(1e-9, 5e-10); // of a state that approaches zero
  EXPECT_DOUBLE_EQ(scale.target(4), 5 * solvers::state_rounding);
  scale.begin(1); // another load step, whose forces are not known yet
  EXPECT_EQ(scale.reference(4), 5);
  scale.set_magnitude(1e20); // beside which all that was rounding
  EXPECT_EQ(scale.reference(4), 1e20);
  EXPECT_DOUBLE_EQ(scale.target(4), solvers::state_rounding * 1e20);
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
// Tests of time steps: their single operator, the kernels that they compile, and fields without derivatives in time.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/rafter.hpp>
#include <tests/support/planner.hpp>

namespace {

using namespace rafter;

/// This host device counts the programs that it has to compile.
class CountingDevice final : public device::Device {
public:
  std::string name() const override { return inner_->name(); }
  std::string language() const override { return inner_->language(); }
  int num_threads() const override { return inner_->num_threads(); }
  std::vector<std::string> compilers() const override { return inner_->compilers(); }
  std::vector<std::string> flag_sets() const override { return inner_->flag_sets(); }
  bool shares_host_memory() const override { return inner_->shares_host_memory(); }
  std::shared_ptr<device::Buffer> allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  std::shared_ptr<device::Buffer> wrap(void* host, std::size_t bytes) override { return inner_->wrap(host, bytes); }
  std::shared_ptr<const device::Program> compile(const std::string& source,
                                                 const device::CompileOptions& options) override {
    ++num_compiled;
    return inner_->compile(source, options);
  }
  std::shared_ptr<device::Event> run(std::span<const device::Task> tasks) override { return inner_->run(tasks); }
  void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body) override {
    inner_->parallel_for(count, body);
  }
  std::atomic<int> num_compiled = 0;

private:
  std::shared_ptr<device::Device> inner_ = device::make_device("host", 1);
};

/// The heat equation has a conductivity, a source and boundary values that change in time.
struct Heat {
  explicit Heat(bool is_nonlinear = false) : V(make_box({.cells = {4, 4}, .shape = "triangle"}), {.degree = 2}) {
    const auto v = arguments(V).second;
    const auto x = spatial_coordinate(2);
    const auto k = is_nonlinear ? 1 + u * u + sin(t) * x[0] : 1 + sin(t) * x[0];
    F = (dt(u) * v + k * inner(grad(u), grad(v)) - exp(-t) * x[1] * v) * dx;
    options.discretisation = test::planned({.threads = 1});
    options.discretisation.shared_device = device;
    options.discretisation.dirichlet = {V.fixed({1, 2, 3, 4}, cos(t) * x[0])};
    options.theta = 0.5;
  }
  FunctionSpace V;
  Expr u = field(V.ptr(), "u"), t = parameter("t");
  Form F;
  std::shared_ptr<CountingDevice> device = std::make_shared<CountingDevice>();
  TimeOptions options;
};

void expect_no_compilation(Heat& heat, const std::string& method) {
  heat.options.solvers.solver.method = method;
  heat.options.end = 1;
  heat.options.step = 0.01;
  std::vector<int> compiled;
  heat.options.monitor = [&](double, const Vector&) { compiled.push_back(heat.device->num_compiled); };
  const auto result = solve_in_time(heat.F, {heat.u}, heat.options);
  ASSERT_TRUE(result.is_converged()) << result.steps.back().message;
  ASSERT_EQ(compiled.size(), 101U);
  EXPECT_GT(compiled[1], 0);
  EXPECT_EQ(compiled.back(), compiled[1]) << "kernels were compiled after the first step";
}

TEST(TimeSteps, AHundredCompileNothingAfterTheFirst) {
  for (const bool is_nonlinear : {false, true})
    for (const char* method : {"cg", "direct"}) {
      if (is_nonlinear && std::string(method) == "cg") continue; // the tangent is not symmetric
      Heat heat(is_nonlinear);
      expect_no_compilation(heat, method);
    }
}

Vector random_vector(const Operator& A, unsigned seed) {
  Vector result = A.make_vector();
  solvers::VectorOps(A.device()).fill_random(seed, result);
  return result;
}

TEST(TimeSteps, TheOperatorIsMassPlusThetaTimesStepTimesStiffness) {
  Heat heat;
  const auto [trial, v] = arguments(heat.V);
  const auto x = spatial_coordinate(2);
  const auto& options = heat.options.discretisation;
  const auto system = op::make_system({heat.V.ptr()});
  Operator M(trial * v * dx, system, options);
  Operator K((1 + sin(heat.t) * x[0]) * inner(grad(trial), grad(v)) * dx, system, options);
  auto forms = form::make_theta_forms(heat.F, {heat.u});
  EXPECT_TRUE(forms.is_linear);
  const auto kernels = op::kernel_options(options, heat.device);
  const std::vector built{op::build_form(forms.tangent, system, op::Purpose::action, kernels),
                          op::build_form(forms.load, system, op::Purpose::action, kernels)};
  op::compile(built);
  const auto A = std::make_shared<Operator>(built[0], options.dirichlet);
  solvers::ThetaStepper stepper(std::move(forms), {"u"}, A, built[1], {});
  const auto state = random_vector(*A, 1), probe = random_vector(*A, 2);
  const solvers::VectorOps ops(heat.device);
  for (const auto& step : {solvers::TimeStep{0.3, 0.5, 0.2, 0.5}, solvers::TimeStep{1, 1.1, 0.1, 1}}) {
    stepper.bind(step, state);
    Vector found = A->make_vector(), mass = A->make_vector(), stiffness = A->make_vector();
    A->apply_free(probe, found);
    M.apply_free(probe, mass);
    K.set("t", step.end);
    K.apply_free(probe, stiffness);
    const double size = ops.norm(mass);
    ops.axpy(step.theta * step.length, stiffness, mass);
    ops.subtract_from(found, mass);
    EXPECT_LT(ops.norm(mass), 1e-13 * size * 100);
    // The right-hand side has the state before the step, M u - (1 - theta) dt K u, and the loads at both ends.
    Vector load = A->make_vector(), source = A->make_vector();
    stepper.load().assemble(load);
    LinearForm f(exp(-heat.t) * x[1] * v * dx, system, options);
    M.apply_free(state, mass);
    K.set("t", step.begin);
    K.apply_free(state, stiffness);
    ops.axpy(-(1 - step.theta) * step.length, stiffness, mass);
    for (const auto& [time, share] : {std::pair(step.end, step.theta), std::pair(step.begin, 1 - step.theta)}) {
      f.set("t", time);
      f.assemble(source);
      ops.axpy(share * step.length, source, mass);
    }
    const double load_size = ops.norm(load);
    ops.subtract_from(load, mass);
    EXPECT_LT(ops.norm(mass), 1e-12 * load_size);
  }
}

TEST(TimeSteps, TolerancesDoNotDependOnTheUnitOfTheEquation) {
  // Jacobi's norm of a residual grows with the root of the unit, its 2-norm with the unit.
  const auto solution = [](double unit, const char* method, solvers::Norm norm) {
    Heat heat;
    heat.options.end = 0.5;
    heat.options.solvers.solver.method = method;
    heat.options.solvers.solver.control.norm = norm;
    const auto v = arguments(heat.V).second;
    const auto result = solve_in_time(
        (unit * dt(heat.u) * v + unit * inner(grad(heat.u), grad(v)) - unit * heat.t * v) * dx, {heat.u}, heat.options);
    EXPECT_TRUE(result.is_converged()) << result.steps.back().message;
    return std::vector<double>(result.solution.host_read().begin(), result.solution.host_read().end());
  };
  const auto expected = solution(1, "direct", solvers::Norm::residual);
  for (const auto norm : {solvers::Norm::residual, solvers::Norm::preconditioned})
    for (const double unit : {1e-6, 1.0, 1e6}) {
      const auto found = solution(unit, "cg", norm);
      double error = 0;
      for (std::size_t i = 0; i < found.size(); ++i) error = std::max(error, std::abs(found[i] - expected[i]));
      EXPECT_LT(error, 1e-7) << unit << ", " << solvers::name(norm);
      EXPECT_GT(error, 1e-14) << "cg went on to rounding: " << unit << ", " << solvers::name(norm);
    }
}

/// A field that is the same everywhere, on two intervals.
struct Uniform {
  FunctionSpace V{make_box({.cells = {2}, .shape = "interval"}), {.degree = 1}};
  Expr u = field(V.ptr(), "u"), v = arguments(V).second;
  TimeOptions options;
  explicit Uniform(double initial) {
    options.discretisation = test::planned({.threads = 1});
    options.discretisation.shared_device = op::device_of(options.discretisation);
    options.solvers.solver.method = "direct";
    options.initial.emplace(options.discretisation.shared_device, static_cast<std::size_t>(V->num_local()));
    std::ranges::fill(options.initial->host_overwrite(), initial);
  }
  /// The value at the end.
  double solve(const Form& F) const {
    const auto result = solve_in_time(F, {u}, options);
    EXPECT_TRUE(result.is_converged()) << result.steps.back().message;
    for (const double value : result.solution.host_read()) EXPECT_NEAR(value, result.solution.host_read()[0], 1e-12);
    return result.solution.host_read()[0];
  }
};

/// Two fields that are the same everywhere: u, and z without a derivative in time.
struct UniformPair {
  FunctionSpace V{make_box({.cells = {2}, .shape = "interval"}), {.degree = 1}};
  FunctionSpace Q{V, {.degree = 1, .name = "z"}};
  Expr u = field(V.ptr(), "u"), z = field(Q.ptr(), "z"), t = parameter("t");
  Expr v = arguments(V).second, q = arguments(Q).second;
  TimeOptions options;
  explicit UniformPair(double theta, double initial_u = 0, double initial_z = 0) {
    options.discretisation = test::planned({.threads = 1});
    options.discretisation.shared_device = op::device_of(options.discretisation);
    options.solvers.solver.method = "direct";
    options.theta = theta;
    const auto system = op::make_system({V.ptr(), Q.ptr()});
    options.initial.emplace(options.discretisation.shared_device, static_cast<std::size_t>(system.size()));
    const auto values = options.initial->host_overwrite();
    std::ranges::fill(values, initial_u);
    std::ranges::fill(values.subspan(static_cast<std::size_t>(system.offset(1))), initial_z);
  }
  /// Values of both fields at all times.
  std::vector<std::array<double, 2>> solve(const Form& F) {
    std::vector<std::array<double, 2>> values;
    const auto system = op::make_system({V.ptr(), Q.ptr()});
    options.monitor = [&](double, const Vector& state) {
      values.push_back({state.host_read()[0], state.host_read()[static_cast<std::size_t>(system.offset(1))]});
    };
    const auto result = solve_in_time(F, {u, z}, options);
    EXPECT_TRUE(result.is_converged()) << result.steps.back().message;
    return values;
  }
};

/// The steps of a length up to an end, the last of which may be shorter.
std::vector<double> lengths(double end, double step) {
  std::vector<double> result;
  for (double t = 0; end - t > 1e-9; t += step) result.push_back(std::min(step, end - t));
  return result;
}

TEST(TimeSteps, IntermediateValuesLieOnTheLineThroughTheOneBefore) {
  // u' + 3 z = 0 and z = u: u_t = u_s - 3 h Z, and Z = z_t - (1 - theta) h (z_t - Z_old)/(t - tau_old).
  for (const double theta : {0.3, 0.5, 0.75, 1.0}) {
    UniformPair pair(theta, 2);
    pair.options.end = 1;
    pair.options.step = 0.3;
    const auto found = pair.solve((dt(pair.u) * pair.v + 3 * pair.z * pair.v + (pair.z - pair.u) * pair.q) * dx);
    ASSERT_EQ(found.size(), 5U);
    double u = 2, intermediate = 2, since = 0; // since the time of the intermediate value
    EXPECT_NEAR(found[0][1], 2, 1e-13);        // the first one is solved for
    for (std::size_t n = 1; n < found.size(); ++n) {
      const double h = lengths(1, 0.3)[n - 1], rest = (1 - theta) * h / (since + h);
      u = (u - 3 * h * rest * intermediate) / (1 + 3 * h * (1 - rest));
      intermediate = u - rest * (u - intermediate);
      since = (1 - theta) * h;
      EXPECT_NEAR(found[n][0], u, 1e-12) << theta << ' ' << n;
      EXPECT_NEAR(found[n][1], u, 1e-12) << theta << ' ' << n;
    }
  }
}

TEST(TimeSteps, MultipliersAreExtrapolatedFromTheirIntermediateValues) {
  // u' + 5 u + z = 0 and u = sin t: the intermediate value follows from u at both ends of the step alone.
  for (const double theta : {0.5, 0.75, 1.0}) {
    UniformPair pair(theta, 7, 9);
    pair.options.end = 1;
    pair.options.step = 0.3;
    const auto found =
        pair.solve((dt(pair.u) * pair.v + (5 * pair.u + pair.z) * pair.v + (pair.u - sin(pair.t)) * pair.q) * dx);
    ASSERT_EQ(found.size(), 5U);
    EXPECT_NEAR(found[0][0], 0, 1e-13);
    EXPECT_NEAR(found[0][1], 9, 1e-13); // as it was given
    double t = 0, before = 0, since = 0;
    for (std::size_t n = 1; n < found.size(); ++n) {
      const double h = lengths(1, 0.3)[n - 1], s = t;
      t += h;
      const double intermediate =
          -(std::sin(t) - std::sin(s)) / h - 5 * (theta * std::sin(t) + (1 - theta) * std::sin(s));
      const double slope = n == 1 ? 0 : (intermediate - before) / (since + theta * h);
      EXPECT_NEAR(found[n][0], std::sin(t), 1e-12) << theta << ' ' << n;
      EXPECT_NEAR(found[n][1], intermediate + slope * (1 - theta) * h, 1e-11) << theta << ' ' << n;
      before = intermediate;
      since = (1 - theta) * h;
    }
  }
}

TEST(TimeSteps, DerivativesInTheEquationOfAFieldWithoutOneKeepTheOrder) {
  // The equations are as Biot's without storage: 2 u = z, and u' + k z = cos t + 2 k sin t is tested with q. u = sin t.
  const auto error = [](double step) {
    UniformPair pair(0.5);
    pair.options.end = 1;
    pair.options.step = step;
    const auto found = pair.solve(
        ((2 * pair.u - pair.z) * pair.v + (dt(pair.u) + 3 * pair.z - cos(pair.t) - 6 * sin(pair.t)) * pair.q) * dx);
    EXPECT_NEAR(found.back()[1], 2 * found.back()[0], 1e-12);
    return std::abs(found.back()[0] - std::sin(1));
  };
  EXPECT_NEAR(std::log2(error(1.0 / 32) / error(1.0 / 64)), 2, 0.1);
}

TEST(TimeSteps, PressuresDoNotRingAfterAWrongStart) {
  // u' + 3 u + z = 0 and u - eps z = sin t: with eps near 0 the first z is wrong by the error of u over eps.
  for (const double eps : {1e-2, 1e-5, 1e-8}) {
    const auto solve = [eps](double start) {
      UniformPair pair(0.5, start);
      pair.options.end = 1;
      pair.options.step = 1.0 / 32;
      return pair.solve(
          (dt(pair.u) * pair.v + (3 * pair.u + pair.z) * pair.v + (pair.u - eps * pair.z - sin(pair.t)) * pair.q) * dx);
    };
    // u(0) = eps z(0) = -eps (cos 0 + ...) up to eps squared.
    const auto right = solve(-eps), wrong = solve(-eps + 1e-3);
    EXPECT_NEAR(wrong[0][1] - right[0][1], 1e-3 / eps, 1e-6 / eps);
    for (std::size_t n = eps < 1e-3 ? 4 : 20; n < wrong.size(); ++n)
      EXPECT_NEAR(wrong[n][1], right[n][1], 1e-4) << eps << ' ' << n;
  }
}

TEST(TimeSteps, FieldsWithoutDerivativesNeedAThetaAboveZero) {
  UniformPair pair(0);
  const auto& [u, z, v, q] = std::tie(pair.u, pair.z, pair.v, pair.q);
  for (const Form& F : {Form((dt(u) * v + z * v + (z - u) * q) * dx), Form((dt(u) * v + z * v + u * q) * dx)}) {
    EXPECT_THROW((void)solve_in_time(F, {u, z}, pair.options), InputError);
    const auto forms = form::make_theta_forms(F, {u, z}), implicit = form::make_theta_forms(F, {u, z}, {}, 1);
    EXPECT_THROW(form::require_theta(forms, 0), InputError);
    EXPECT_NO_THROW(form::require_theta(forms, 0.1));
    EXPECT_NO_THROW(form::require_theta(forms, 1));
    EXPECT_THROW(form::require_theta(implicit, 0.5), InputError); // they have no intermediate values
    EXPECT_NO_THROW(form::require_theta(implicit, 1));
    EXPECT_TRUE(forms.has_intermediates);
    EXPECT_FALSE(implicit.has_intermediates);
  }
  const Form both = (dt(u) * v + z * v + (dt(z) - u) * q) * dx;
  EXPECT_NO_THROW(form::require_theta(form::make_theta_forms(both, {u, z}), 0));
}

TEST(TimeSteps, OnlyFormsWithIntermediateValuesReadThem) {
  UniformPair pair(0.5);
  const auto& [u, z, v, q] = std::tie(pair.u, pair.z, pair.v, pair.q);
  const auto names = [](const form::ThetaForms& forms) {
    auto result = forms.load.field_names;
    for (const auto& part : forms.load.parameters) result.push_back(part.coefficient->name);
    for (const auto& part : forms.tangent.parameters) result.push_back(part.coefficient->name);
    return result;
  };
  const auto has = [&](const form::ThetaForms& forms, const std::string& name) {
    return std::ranges::count(names(forms), name) > 0;
  };
  const Form index_one = (dt(u) * v + z * v + (z - u) * q) * dx, index_two = (dt(u) * v + z * v + u * q) * dx;
  for (const Form& F : {index_one, index_two}) {
    const auto implicit = form::make_theta_forms(F, {u, z}, {}, 1), forms = form::make_theta_forms(F, {u, z});
    EXPECT_FALSE(has(implicit, "intermediate(z)"));
    EXPECT_FALSE(has(implicit, form::algebraic_share_name) || has(implicit, form::multiplier_share_name));
    EXPECT_TRUE(has(forms, "intermediate(z)"));
    EXPECT_FALSE(has(forms, "intermediate(u)"));
  }
  EXPECT_TRUE(has(form::make_theta_forms(index_one, {u, z}), form::algebraic_share_name));
  EXPECT_TRUE(has(form::make_theta_forms(index_two, {u, z}), form::multiplier_share_name));
  const Form both = (dt(u) * v + z * v + (dt(z) - u) * q) * dx;
  EXPECT_EQ(form::make_theta_forms(both, {u, z}).tangent.signature,
            form::make_theta_forms(both, {u, z}, {}, 1).tangent.signature);
}

TEST(TimeSteps, CoefficientsMayHaveTheNamesOfTheScheme) {
  Uniform uniform(1);
  uniform.options.end = 0.1;
  for (const char* name : {"theta", "step", "weight"})
    EXPECT_NEAR(uniform.solve((dt(uniform.u) + constant(name, 5) * uniform.u) * uniform.v * dx), 1 / 1.5, 1e-12)
        << name;
}

TEST(TimeSteps, SourcesJumpWhereTheStateCrossesAThreshold) {
  // Four steps reach 0.4 at rate 1, and six more go on from there at rate 2: the source is that of the new state.
  Uniform uniform(0);
  const auto& u = uniform.u;
  const Form F = (dt(u) - conditional(lt(Expr(0.45), u), 2.0, 1.0)) * uniform.v * dx;
  EXPECT_FALSE(form::make_theta_forms(F, {u}).is_linear);
  EXPECT_NEAR(uniform.solve(F), 1.6, 1e-8);
  // Friction against the force 2: 10 steps at rate 1.
  EXPECT_NEAR(uniform.solve((dt(u) + sign(u) - 2) * uniform.v * dx), 1, 1e-8);
}

TEST(TimeSteps, JumpsWithRatesAndMultipliersAreRefused) {
  Uniform uniform(0);
  const auto& [u, v] = std::tie(uniform.u, uniform.v);
  const auto refuse = [](const Form& F, const std::vector<Expr>& unknowns, const std::string& part) {
    try {
      (void)form::make_theta_forms(F, unknowns);
      ADD_FAILURE() << "no error with " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refuse((dt(u) + 0.5 * sign(dt(u)) - 1) * v * dx, {u}, "not linear in derivatives in time");
  refuse((dt(u) + conditional(lt(Expr(0.0), dt(u)), 1.0, 2.0) * u) * v * dx, {u}, "not linear in derivatives in time");
  const FunctionSpace Q(uniform.V, {.degree = 1, .name = "p"});
  const auto p = field(Q.ptr(), "p"), q = arguments(Q).second;
  refuse((dt(u) * v + p * v + u * q + conditional(lt(Expr(0.0), p), 1.0, 2.0) * v) * dx, {u, p}, "must occur linearly");
}

TEST(TimeSteps, WithThetaZeroAreExplicit) {
  Uniform uniform(1);
  uniform.options.end = 0.3;
  uniform.options.theta = 0;
  const auto& [u, v] = std::tie(uniform.u, uniform.v);
  EXPECT_NEAR(uniform.solve((dt(u) + 2 * u - parameter("t")) * v * dx), ((0.8 * 0.8) + 0.01) * 0.8 + 0.02, 1e-12);
  double value = 1;
  for (int i = 0; i < 3; ++i) value += 0.1 * value * (2 - value);
  EXPECT_NEAR(uniform.solve((dt(u) - u * (2 - u)) * v * dx), value, 1e-12);
}

TEST(TimeSteps, ParametersAndKnownFieldsAreThoseOfTheOptions) {
  Uniform uniform(1);
  uniform.options.end = 0.1;
  const auto& u = uniform.u;
  const FunctionSpace W(uniform.V, {.degree = 1, .name = "w"});
  const auto w = field(W.ptr(), "w"), k = parameter("k");
  Vector values(uniform.options.discretisation.shared_device, static_cast<std::size_t>(W->num_local()));
  std::ranges::fill(values.host_overwrite(), 2.0);
  const Form linear = (dt(w * u) + k * u - w) * uniform.v * dx, cubic = (dt(u) + k * u * u * u - w) * uniform.v * dx;
  uniform.options.data.emplace_back("w", std::move(values));
  uniform.options.parameters = {{"k", 5}};
  EXPECT_NEAR(uniform.solve(linear), 2.2 / 2.5, 1e-12);
  const double root = uniform.solve(cubic);
  EXPECT_NEAR(root + 0.5 * root * root * root, 1.2, 1e-7);
  for (const char* name : {"t", "q"}) {
    uniform.options.parameters = {{"k", 5}, {name, 1}};
    EXPECT_THROW((void)solve_in_time(linear, {u}, uniform.options), InputError) << name;
  }
  uniform.options.parameters.pop_back();
  uniform.options.initial.emplace(uniform.options.discretisation.shared_device, 2U);
  EXPECT_THROW((void)solve_in_time(linear, {u}, uniform.options), InputError);
}

TEST(TimeSteps, ARunThatFailsLeavesTheLastStateWithItsTime) {
  for (const int last : {0, 3}) {
    Heat heat(true);
    heat.options.end = 1;
    heat.options.solvers.solver.method = "direct";
    std::vector<double> times, state;
    // The run is stopped in the projection of the first state, or in the step behind the third state.
    heat.options.solvers.newton.monitor = [&](int iteration, double) {
      return static_cast<int>(times.size()) < last || iteration < 1;
    };
    heat.options.monitor = [&](double time, const Vector& u) {
      times.push_back(time);
      state.assign(u.host_read().begin(), u.host_read().end());
    };
    const auto result = solve_in_time(heat.F, {heat.u}, heat.options);
    EXPECT_FALSE(result.is_converged());
    ASSERT_EQ(static_cast<int>(times.size()), last);
    if (last == 0) state.assign(result.solution.size(), 0.0); // where it started
    EXPECT_EQ(result.time, last == 0 ? 0 : times.back());
    EXPECT_TRUE(std::ranges::equal(result.solution.host_read(), state));
  }
}

TEST(TimeSteps, DerivativesOfFieldsThatNothingSolvesForAreZeroOrRefused) {
  Uniform uniform(1);
  const auto& u = uniform.u;
  const FunctionSpace W(uniform.V, {.degree = 1, .name = "w"});
  const auto w = field(W.ptr(), "w");
  const Form F = (dt(w * u) + u) * uniform.v * dx, without = (w * dt(u) + u) * uniform.v * dx;
  EXPECT_EQ(form::make_theta_forms(F, {u}, {"w"}).tangent.signature,
            form::make_theta_forms(without, {u}).tangent.signature);
  EXPECT_EQ(form::make_theta_forms(F, {u}, {"w"}).load.signature, form::make_theta_forms(without, {u}).load.signature);
  for (const auto& known : {std::vector<std::string>{}, std::vector<std::string>{"z"}}) try {
      (void)form::make_theta_forms(F, {u}, known);
      ADD_FAILURE() << "no error";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("dt(w): the field is none of the unknowns"), std::string::npos)
          << error.what();
    }
  EXPECT_THROW((void)form::make_theta_forms((dt(w) + u) * uniform.v * dx, {u}, {"w"}), InputError); // nothing in time
}

TEST(TimeSteps, FormsThatDoNotFitAreRefused) {
  Heat heat;
  const auto v = arguments(heat.V).second;
  const auto refuse = [&](const Form& F, const std::string& part) {
    try {
      (void)form::make_theta_forms(F, {heat.u});
      ADD_FAILURE() << "no error with " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refuse(inner(grad(heat.u), grad(v)) * dx, "no derivative in time");
  refuse(dt(heat.u) * dt(heat.u) * v * dx, "not linear in derivatives in time");
  EXPECT_THROW(dt(dt(heat.u)), InputError);
  EXPECT_THROW(dt(heat.t * heat.u), InputError);
  EXPECT_THROW(dt(spatial_coordinate(2)), InputError);
  EXPECT_THROW(dt(v), InputError);
  EXPECT_THROW(dt(Expr(1.0)), InputError);
}

TEST(TimeSteps, WrongTimesAreRefused) {
  EXPECT_THROW(solvers::TimeGrid(0, 1, 0, 1), InputError);
  EXPECT_THROW(solvers::TimeGrid(0, 1, -0.1, 1), InputError);
  EXPECT_THROW(solvers::TimeGrid(1, 1, 0.1, 1), InputError);
  EXPECT_THROW(solvers::TimeGrid(0, 1, 0.1, 1.5), InputError);
  EXPECT_THROW(solvers::TimeGrid(0, 1, 0.1, NAN), InputError);
  EXPECT_THROW(solvers::TimeGrid(0, INFINITY, 0.1, 1), InputError);
  EXPECT_THROW(solvers::TimeGrid(0, 1, INFINITY, 1), InputError);
  EXPECT_THROW(solvers::TimeGrid(0, 1, 1e-12, 1), InputError);
}

TEST(TimeSteps, TimesEndWhereTheyShall) {
  const solvers::TimeGrid whole(0, 1, 0.1, 1), shorter(0.5, 1, 0.3, 1), one(0, 1, 5, 1);
  EXPECT_EQ(whole.num_steps(), 10); // 10 times 0.1 is 1 up to rounding, so that no shorter step remains
  EXPECT_EQ(whole.time(10), 1);
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(whole.step(i).length, 0.1);
  EXPECT_TRUE(whole.ends_with_whole_step());
  EXPECT_EQ(shorter.num_steps(), 2);
  EXPECT_EQ(shorter.step(1).length, 0.3);
  EXPECT_NEAR(shorter.step(2).length, 0.2, 1e-15);
  EXPECT_FALSE(shorter.ends_with_whole_step());
  EXPECT_EQ(one.num_steps(), 1);
  EXPECT_EQ(one.step(1).length, 1);
}

TEST(TimeSteps, TimesAreThoseOfALongerRun) {
  for (const double step : {0.1, 0.05, 0.01, 1.0 / 3})
    for (const double start : {0.0, 0.7}) {
      const solvers::TimeGrid longer(start, start + 101 * step, step, 1);
      for (int n = 1; n <= 100; ++n) {
        const solvers::TimeGrid grid(start, std::round((start + n * step) * 1e12) * 1e-12, step,
                                     1); // as people write it
        ASSERT_EQ(grid.num_steps(), n);
        EXPECT_TRUE(grid.ends_with_whole_step());
        EXPECT_EQ(grid.time(n), longer.time(n));
        EXPECT_EQ(grid.step(n).length, longer.step(n).length);
      }
    }
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
// A problem file and a program that states the same problem get the same solution, to the last bit where their kernels
// have the same plans, and the same errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <rafter/base/temporary.hpp>
#include <rafter/problem_solver.hpp>
#include <rafter/rafter.hpp>

namespace rafter::test {
namespace {

/// The plan of the operators on both sides. With a plan the command does not weigh whether to compile quickly.
constexpr const char* plan = "contraction=dense";

problem::Solution by_file(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return app::solve_problem(io::parse_problem(text, "problem.toml", "", overrides), {.threads = 1, .plan = plan});
}

/// Returns what a program gives the operator so that it gets the kernels of the command.
OperatorOptions as_command(std::vector<FieldCondition> conditions) {
  return {.threads = 1, .plan = plan, .dirichlet = std::move(conditions)};
}

/// Returns the message of the InputError that a function throws.
template <class Function> std::string message_of(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Returns the message of a problem file without places, and with the word that programs have for its forms.
std::string without_places(std::string message) {
  message = std::regex_replace(message, std::regex(R"(problem\.toml(:\d+:\d+)?: )"), "");
  message = std::regex_replace(message, std::regex("forms\\.L: "), "");
  return std::regex_replace(message, std::regex("forms\\.[aF]"), "the form");
}

void expect_equal(const op::Vector& file, const op::Vector& program) {
  ASSERT_EQ(file.size(), program.size());
  EXPECT_TRUE(std::ranges::equal(file.host_read(), program.host_read()));
}

/// -div(k grad(u)) + c u = f on the unit square, u = 0 on the left, with what a test asks for.
struct Diffusion {
  const char *a = "inner(grad(u), grad(v))*dx", *L = "x[0]*v*dx", *solver = "", *tags = "[1]";
  std::string text() const {
    return fmt::format("[mesh]\nbox = {{ cells = [6, 6], shape = \"triangle\" }}\n[fields.u]\ndegree = 2\n[forms]\n"
                       "a = \"{}\"\nL = \"{}\"\n{}[solver]\n{}\n",
                       a, L, tags[0] == 0 ? "" : fmt::format("[[dirichlet]]\ntags = {}\nvalue = 0.0\n", tags), solver);
  }
};

class SameAnswers : public testing::Test {
protected:
  /// Boxes of files have this order of cells where it is open which preconditioner is taken.
  SameAnswers() : SameAnswers(FunctionSpace(box_generations({.cells = {6, 6}, .shape = "triangle"}), {.degree = 2})) {}
  explicit SameAnswers(FunctionSpace space) : V(std::move(space)) {}

  FunctionSpace V;
  std::pair<Expr, Expr> uv = arguments(V);
  Expr u = uv.first, v = uv.second, x = spatial_coordinate(2);

  /// States the linear problem as a value.
  Problem stated(const std::string& method) const {
    Problem problem{.unknowns = {field(V.ptr(), "u")}, .a = inner(grad(u), grad(v)) * dx, .L = x(0) * v * dx};
    problem.discretisation = as_command({V.fixed({1}, 0)});
    problem.solver.method = method;
    return problem;
  }
  SolveResult program(const Form& a, const Form& L, bool is_fixed = true, const SolveOptions& options = {}) const {
    std::vector<FieldCondition> conditions;
    if (is_fixed) conditions.push_back(V.fixed({1}, 0));
    const Operator A(a, as_command(std::move(conditions)));
    Vector b = A.make_vector();
    LinearForm(L, A.system(), {.shared_device = A.device(), .runs_few_times = true}).assemble(b);
    return solve(A, b, options);
  }
};

TEST_F(SameAnswers, OfALinearProblem) {
  for (const auto* method : {"", "cg", "minres"}) {
    SCOPED_TRACE(method);
    const auto solver = method[0] == 0 ? std::string() : fmt::format("method = \"{}\"", method);
    const auto file = by_file(Diffusion{.solver = solver.c_str()}.text());
    const auto cpp = program(inner(grad(u), grad(v)) * dx, x(0) * v * dx, true, {.method = method});
    EXPECT_EQ(cpp.method, file.report.method);
    EXPECT_EQ(cpp.reason.substr(0, 40), file.report.reason.substr(0, 40)); // forecasts of times follow
    EXPECT_EQ(cpp.info.history, file.report.history);
    expect_equal(file.values, cpp.solution);
    const auto whole = solve(stated(method));
    EXPECT_EQ(whole.report.method, file.report.method);
    EXPECT_EQ(whole.report.history, file.report.history);
    expect_equal(file.values, whole.values);
  }
}

TEST_F(SameAnswers, PartsOfAProblemThatDoNotGoTogetherAreRefused) {
  const auto compare = [&](const std::string& part, const std::function<void(Problem&)>& change) {
    auto problem = stated("");
    change(problem);
    const auto message = message_of([&] { solve(problem); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const auto w = field(V.ptr(), "u");
  compare("a linear form is expected", [&](Problem& of) { of.L = x(0) * dx; });
  compare("a linear form is expected", [&](Problem& of) { of.L = u * v * dx; });
  compare("a bilinear form is expected", [&](Problem& of) { of.a = v * dx; });
  compare("or else a residual form", [&](Problem& of) { of.F = w * v * dx; });
  compare("L goes with a", [&](Problem& of) {
    of.a.reset();
    of.F = w * v * dx;
  });
  compare("out of range", [&](Problem& of) { of.output.every = 0; });
  compare("no expression", [&](Problem& of) { of.output.fields = {{.name = "empty"}}; });
  compare("steps in time need a form F", [&](Problem& of) { of.time = TimeInterval{}; });
  compare("never-made", [&](Problem& of) { of.output.file = "never-made/file.vtkhdf"; });
  compare("no known field 'k'", [&](Problem& of) { of.data = {{"k", Vector(op::device_of({.threads = 1}), 49)}}; });
  compare("no parameter 'k'", [&](Problem& of) { of.parameters = {{"k", 1.0}}; });
  compare("there is no field 1", [&](Problem& of) { of.check.exact = {{.field = 1, .value = x(0)}}; });
  compare("the preconditioner block", [&](Problem& of) {
    of.a.reset();
    of.L.reset();
    of.F = w * v * dx;
    of.preconditioner = block({{"u", "jacobi"}});
  });
}

TEST_F(SameAnswers, OfALinearProblemThatIsWrong) {
  const auto poisson = inner(grad(u), grad(v)) * dx;
  const auto compare = [&](const Diffusion& file, const std::string& part, const auto& program) {
    const auto message = message_of([&] { by_file(file.text()); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(without_places(message), message_of(program));
  };
  compare({.tags = ""}, "singular", [&] { program(poisson, x(0) * v * dx, false); });
  compare({.a = "1e-320*inner(grad(u), grad(v))*dx"}, "smallest normal",
          [&] { program(1e-320 * inner(grad(u), grad(v)) * dx, x(0) * v * dx); });
  compare({.a = "ln(x[0] - 0.5)*inner(grad(u), grad(v))*dx"}, "not finite",
          [&] { program(form::ln(x(0) - 0.5) * inner(grad(u), grad(v)) * dx, x(0) * v * dx); });
  compare({.L = "1e300*exp(1e2*x[0])*v*dx"}, "not finite",
          [&] { program(poisson, 1e300 * form::exp(1e2 * x(0)) * v * dx); });
}

TEST_F(SameAnswers, OfAProblemThatIsNotSymmetric) {
  const auto flow = inner(grad(u), grad(v)) * dx + 3.0 * grad(u)(0) * v * dx;
  const char* text = "inner(grad(u), grad(v))*dx + 3.0*grad(u)[0]*v*dx";
  const auto file = by_file(Diffusion{.a = text}.text());
  const auto cpp = program(flow, x(0) * v * dx);
  EXPECT_EQ(cpp.method, "direct");
  EXPECT_EQ(cpp.reason.substr(0, 30), file.report.reason.substr(0, 30));
  expect_equal(file.values, cpp.solution);

  const auto gmres = by_file(Diffusion{.a = text, .solver = "method = \"gmres\""}.text());
  expect_equal(gmres.values, program(flow, x(0) * v * dx, true, {.method = "gmres"}).solution);

  for (const auto* method : {"cg", "minres"}) {
    const auto message = message_of(
        [&] { by_file(Diffusion{.a = text, .solver = fmt::format("method = \"{}\"", method).c_str()}.text()); });
    EXPECT_NE(message.find("not symmetric"), std::string::npos) << message;
    EXPECT_EQ(without_places(message), message_of([&] { program(flow, x(0) * v * dx, true, {.method = method}); }));
  }
  const auto message = message_of([&] { by_file(Diffusion{.a = text, .tags = ""}.text()); });
  EXPECT_NE(message.find("constants"), std::string::npos) << message;
  EXPECT_EQ(without_places(message), message_of([&] { program(flow, x(0) * v * dx, false); }));
}

/// -div((1 + u^2) grad(u)) + r(u) = x on the unit square.
class SameNonlinearAnswers : public SameAnswers {
protected:
  SameNonlinearAnswers()
      : SameAnswers(FunctionSpace(make_box({.cells = {6, 6}, .shape = "triangle"}), {.degree = 2})) {}

  Expr w = field(V.ptr(), "u");

  static std::string text(const std::string& F, const std::string& solver = "", const char* tags = "[1]") {
    return fmt::format("[mesh]\nbox = {{ cells = [6, 6], shape = \"triangle\" }}\n[fields.u]\ndegree = 2\n[forms]\n"
                       "F = \"{}\"\n{}[solver]\n{}\n[newton]\nrtol = 1e-10\n",
                       F, tags[0] == 0 ? "" : fmt::format("[[dirichlet]]\ntags = {}\nvalue = 0.0\n", tags), solver);
  }
  /// States a problem with a residual form as a program does.
  Problem stated(const Form& F, bool is_fixed = true) const {
    Problem problem{.unknowns = {w}, .F = F, .discretisation = as_command({}), .newton = {.rtol = 1e-10}};
    if (is_fixed) problem.discretisation.dirichlet = {V.fixed({1}, 0)};
    return problem;
  }
  NonlinearResult program(const Form& F, bool is_fixed = true, const solvers::SolverOptions& solver = {}) const {
    std::vector<FieldCondition> conditions;
    if (is_fixed) conditions.push_back(V.fixed({1}, 0));
    return solve_nonlinear(F, {w},
                           {.newton = {.rtol = 1e-10, .solver = solver}, .discretisation = as_command(conditions)});
  }
};

TEST_F(SameNonlinearAnswers, OfAProblemThatIsRight) {
  const auto file = by_file(text("(inner((1 + u*u)*grad(u), grad(v)) - x[0]*v)*dx"));
  const auto F = (inner((1 + w * w) * grad(w), grad(v)) - x(0) * v) * dx;
  const auto cpp = program(F);
  EXPECT_EQ("newton with " + cpp.method, file.report.method);
  EXPECT_EQ(cpp.info.iterations, file.report.iterations);
  expect_equal(file.values, cpp.solution);
  const auto solution = solve(stated(F));
  EXPECT_EQ(solution.report.history, file.report.history);
  expect_equal(file.values, solution.values);
}

/// u' - div(grad(u)) = t x with functionals, an exact solution and output, in steps whose boundary values follow the
/// time.
class SameAnswersInTime : public SameNonlinearAnswers {
protected:
  base::Temporary folder =
      base::Temporary::folder((std::filesystem::temp_directory_path() / "rafter-answers-").string());

  std::string path(const std::string& name) const { return (std::filesystem::path(folder.path()) / name).string(); }
  std::vector<std::string> to(const std::string& name) const { return {"output.file=" + path(name)}; }
  static std::string content(const std::string& path) {
    std::stringstream result;
    result << std::ifstream(path, std::ios::binary).rdbuf();
    return result.str();
  }
  std::string text(double end, const std::string& restart = "") const {
    return fmt::format("[mesh]\nbox = {{ cells = [6, 6], shape = \"triangle\" }}\n[fields.u]\ndegree = 2\n"
                       "initial = \"x[0]\"\n[forms]\nF = \"(dt(u)*v + inner(grad(u), grad(v)) - t*x[0]*v)*dx\"\n"
                       "[[dirichlet]]\ntags = [1]\nvalue = \"t*x[1]\"\n[time]\nstep = 0.1\nend = {}\ntheta = 0.5\n{}"
                       "[functionals]\nflux = \"t*u*dx\"\n[check]\nu = \"x[0] + t\"\n"
                       "[output]\nfile = \"never.vtkhdf\"\nfields = {{ heat = \"-t*grad(u)\" }}\n",
                       end, restart.empty() ? "" : fmt::format("restart = \"{}\"\n", restart));
  }
  Problem stated(double end, const std::string& output, const std::string& restart = "") const {
    const auto t = parameter("t");
    auto problem = SameNonlinearAnswers::stated((dt(w) * v + inner(grad(w), grad(v)) - t * x(0) * v) * dx, false);
    problem.discretisation.dirichlet = {V.fixed({1}, t * x(1))};
    problem.time = TimeInterval{.end = end, .step = 0.1, .theta = 0.5, .restart = restart};
    auto initial = std::make_shared<Vector>(op::device_of({.threads = 1}), static_cast<std::size_t>(V->num_local()));
    space::interpolate(
        *V, [](std::span<const double> at, std::span<double> value) { value[0] = at[0]; }, initial->host_overwrite());
    problem.initial = std::move(initial);
    problem.functionals = {{"flux", t * w * dx}};
    problem.check.exact = {{.field = 0, .value = x(0) + t}};
    problem.output.file = output;
    problem.output.fields = {
        {.name = "heat", .expression = std::make_shared<const form::LoweredExpression>(form::lower(-t * grad(w)))}};
    return problem;
  }
};

TEST_F(SameAnswersInTime, OfAProblemThatIsRight) {
  const auto file = by_file(text(0.5), to("file.vtkhdf"));
  const auto cpp = solve(stated(0.5, path("cpp.vtkhdf")));
  ASSERT_TRUE(cpp.is_converged) << cpp.report.message;
  EXPECT_EQ(cpp.report.method, file.report.method);
  EXPECT_EQ(cpp.time, 0.5);
  ASSERT_EQ(cpp.steps.size(), 6u) << "the first state and five steps";
  expect_equal(file.values, cpp.values);
  EXPECT_EQ(cpp.report.functionals, file.report.functionals);
  ASSERT_EQ(cpp.report.errors.size(), 1u);
  EXPECT_EQ(cpp.report.errors[0].second.l2, file.report.errors[0].second.l2);
  EXPECT_EQ(cpp.report.errors[0].second.h1, file.report.errors[0].second.h1);
  // The files hold the states and the derived field at each time.
  EXPECT_TRUE(content(path("file.vtkhdf")) == content(path("cpp.vtkhdf")));
}

TEST_F(SameAnswersInTime, OfARunThatGoesOn) {
  by_file(text(0.3), to("file.vtkhdf"));
  const auto file = by_file(text(0.6, path("file.vtkhdf")), to("file2.vtkhdf"));
  solve(stated(0.3, path("cpp.vtkhdf")));
  const auto cpp = solve(stated(0.6, path("cpp2.vtkhdf"), path("cpp.vtkhdf")));
  expect_equal(file.values, cpp.values);
  const auto whole = solve(stated(0.6, ""));
  for (std::size_t i = 0; i < whole.values.size(); ++i)
    EXPECT_NEAR(whole.values.host_read()[i], cpp.values.host_read()[i], 1e-12);
}

TEST_F(SameAnswersInTime, OfAProblemThatIsWrong) {
  const auto compare = [&](const std::string& file, const std::string& part, const Problem& problem) {
    const auto message = message_of([&] { by_file(file, to("wrong.vtkhdf")); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(without_places(message), message_of([&] { solve(problem); }));
  };
  by_file(text(0.3), to("file.vtkhdf"));
  compare(text(0.2, path("file.vtkhdf")), "accepted is a time after", stated(0.2, "", path("file.vtkhdf")));
  auto singular = stated(0.3, "");
  singular.F = (dt(w) * v + form::ln(x(0) - 0.5) * inner(grad(w), grad(v))) * dx;
  auto file = text(0.3);
  file.replace(file.find("inner(grad"), 0, "ln(x[0] - 0.5)*");
  file.replace(file.find(" - t*x[0]*v"), 11, "");
  compare(file, "not finite", singular);
  auto explicit_scheme = stated(0.3, "");
  explicit_scheme.F = (dt(w) * dt(w) * v + inner(grad(w), grad(v))) * dx;
  file = text(0.3);
  file.replace(file.find("dt(u)*v"), 7, "dt(u)*dt(u)*v");
  file.replace(file.find(" - t*x[0]*v"), 11, "");
  compare(file, "not linear in derivatives in time", explicit_scheme);
}

TEST_F(SameNonlinearAnswers, OfAProblemThatIsWrong) {
  const auto compare = [&](const std::string& file, const std::string& part, const auto& program) {
    const auto message = message_of([&] { by_file(file); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(without_places(message), message_of(program));
  };
  compare(text("(inner(grad(u), grad(v)) + ln(u)*v)*dx"), "not finite",
          [&] { program((inner(grad(w), grad(v)) + form::ln(w) * v) * dx); });
  compare(text("(inner(grad(u), grad(v)) - x[0]*v)*dx", "", ""), "singular",
          [&] { program((inner(grad(w), grad(v)) - x(0) * v) * dx, false); });
  compare(text("(inner(grad(u), grad(v)) + u*grad(u)[0]*v - v)*dx", "method = \"minres\""), "not symmetric",
          [&] { program((inner(grad(w), grad(v)) + w * grad(w)(0) * v - v) * dx, true, {.method = "minres"}); });
}

TEST_F(SameNonlinearAnswers, StepsInTimeHaveTheMethodThatIsAskedFor) {
  const auto t = parameter("t");
  const auto method_of = [&](TimeOptions options) {
    options.end = 0.2;
    options.discretisation = as_command({V.fixed({1}, 0)});
    const auto result = solve_in_time((dt(w) * v + inner(grad(w), grad(v)) - t * v) * dx, {w}, options);
    EXPECT_TRUE(result.is_converged()) << result.steps.back().message;
    return result.method;
  };
  EXPECT_EQ(method_of({}), "direct") << "the system is small";
  EXPECT_EQ(method_of({.solvers = {.solver = {.method = "minres"}, .newton = {}}}), "minres");
  EXPECT_EQ(method_of({.solvers = {.solver = {.restart = 20}, .newton = {}}}), "cg");
  const Generations meshes = box_generations({.cells = {6, 6}, .shape = "triangle"});
  V = FunctionSpace(meshes, {.degree = 2});
  w = field(V.ptr(), "u");
  v = arguments(V).second;
  EXPECT_EQ(method_of({.multigrid = MultigridOptions{.meshes = meshes}}), "cg") << "a preconditioner is asked for";
}

TEST_F(SameNonlinearAnswers, StepsInTimeWithANullSpaceNeedAConditionOnIt) {
  // Velocity and pressure of enclosed flow, whose pressure is known up to a constant.
  const FunctionSpace U(V, {.degree = 2, .components = 2, .name = "w"}), Q(V, {.degree = 1, .name = "p"});
  const auto flow = field(U.ptr(), "w"), p = field(Q.ptr(), "p");
  const auto test = arguments(U).second, q = arguments(Q).second;
  const auto F =
      (inner(dt(flow), test) + inner(grad(flow), grad(test)) - p * div(test) - q * div(flow) - x(0) * x(1) * test(0)) *
      dx;
  TimeOptions options{.end = 0.1, .step = 0.1, .discretisation = as_command({U.fixed({}, {0, 0})})};
  EXPECT_NE(message_of([&] { solve_in_time(F, {flow, p}, options); }).find("singular"), std::string::npos);
  options.null_space = {Q.mean({0.0})};
  const auto result = solve_in_time(F, {flow, p}, options);
  EXPECT_TRUE(result.is_converged()) << result.steps.back().message;
}

} // namespace
} // namespace rafter::test

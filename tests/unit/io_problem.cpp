// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include <rafter/base/text.hpp>
#include <rafter/io/problem.hpp>
#include <tests/support/device_folders.hpp>
#include <tests/support/io_problems.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

io::Problem parse(const std::string& text, std::vector<std::string> overrides = {}) {
  return io::parse_problem(text, "p.toml", "", overrides);
}

TEST(Problem, EveryKeyIsRead) {
  const auto problem = parse(beam_problem);
  EXPECT_EQ(problem.title, "Two-material beam");
  EXPECT_EQ(problem.mesh.box->cells, (std::vector<int>{8, 2, 1}));
  EXPECT_EQ(problem.mesh.box->size, (std::vector<double>{8, 2, 1}));
  EXPECT_EQ(problem.mesh.box->shape, "hexahedron");
  EXPECT_EQ(problem.mesh.box->degree, 2);
  EXPECT_EQ(problem.mesh.refine, 2);
  EXPECT_EQ(problem.numerics.quadrature, element::QuadratureKind::gll);
  EXPECT_EQ(problem.numerics.points->points(problem.max_degree()), 5);
  EXPECT_EQ(problem.numerics.max_degree, 20);
  ASSERT_EQ(problem.fields.size(), 1u);
  EXPECT_EQ(problem.fields[0].components, 3);
  EXPECT_EQ(problem.fields[0].degree, 4);
  EXPECT_EQ(problem.output.file, "beam.vtkhdf");
}

TEST(Problem, TimeIsRead) {
  EXPECT_FALSE(parse(beam_problem).time);
  const auto problem = parse(beam_problem, {"time={start=-1,end=2.5,step=0.25,theta=0.5}", "fields.u.initial='x'",
                                            "output={file='a.vtkhdf',every=4}"});
  ASSERT_TRUE(problem.time);
  EXPECT_EQ(problem.time->start, -1);
  EXPECT_EQ(problem.time->end, 2.5);
  EXPECT_EQ(problem.time->step, 0.25);
  EXPECT_EQ(problem.time->theta, 0.5);
  EXPECT_EQ(problem.output.every, 4);
  EXPECT_EQ(problem.fields[0].initial.size(), 1U); // linear problems may have initial values, too
  const auto restart = parse(beam_problem, {"time={end=2,step=1,restart='old.vtkhdf'}"});
  EXPECT_EQ(restart.time->restart, "old.vtkhdf");
  EXPECT_EQ(restart.time->theta, 1); // this is the implicit Euler method, the default
  EXPECT_EQ(restart.output.every, 1);
}

TEST(Problem, ConstraintsAreRead) {
  using Kind = io::Constraint::Kind;
  const auto constraints = parse(beam_problem).constraints;
  ASSERT_EQ(constraints.size(), 1u);
  EXPECT_EQ(constraints[0].field, 0u);
  EXPECT_EQ(constraints[0].kind, Kind::point);
  EXPECT_EQ(constraints[0].point, (std::vector<double>{8, 1, 0.5}));
  EXPECT_EQ(constraints[0].values, (std::vector<double>{0, 1, -2.5}));
  const auto mean = parse(std::string(small_problem) + "[[constraint]]\nmean = 3\n").constraints.at(0);
  EXPECT_EQ(mean.kind, Kind::mean);
  EXPECT_EQ(mean.values, (std::vector<double>{3}));
  const auto rigid = parse(std::string(small_problem) + "[[constraint]]\nrigid_modes = true\n").constraints.at(0);
  EXPECT_EQ(rigid.kind, Kind::rigid_modes);
  EXPECT_TRUE(rigid.values.empty());
}

TEST(Problem, SolverKeysThatNothingReadsAreReported) {
  const auto reported = [](const std::string& solver) {
    const Warnings warnings;
    parse(std::string(small_problem) + "[solver]\n" + solver);
    return base::join(warnings.texts, "\n");
  };
  EXPECT_EQ(reported("method = \"gmres\"\nrestart = 10\nside = \"left\"\n"), "");
  EXPECT_EQ(reported("method = \"cg\"\nfused = false\n"), "");
  EXPECT_EQ(reported("method = \"gmres\"\npreconditioner = \"chebyshev\"\nfused = false\nchebyshev = { degree = 2 }\n"),
            "");
  const auto restart = reported("method = \"cg\"\nrestart = 10\n");
  EXPECT_NE(restart.find("p.toml:"), std::string::npos) << restart;
  EXPECT_NE(restart.find("key solver.restart is not used: it is for method = \"gmres\"; the method is \"cg\""),
            std::string::npos)
      << restart;
  EXPECT_NE(reported("chebyshev = { degree = 2 }\n").find("preconditioner = \"chebyshev\""), std::string::npos);
  EXPECT_NE(reported("method = \"direct\"\npreconditioner = \"jacobi\"\n").find("solver.preconditioner is not used"),
            std::string::npos);
  EXPECT_NE(reported("method = \"minres\"\nfused = true\n").find("solver.fused is not used"), std::string::npos);
}

TEST(Problem, PreconditionersOfFieldsAreRead) {
  const auto read = [](const std::string& solver) { return parse(std::string(small_problem) + "[solver]\n" + solver); };
  EXPECT_EQ(read("preconditioner = \"block\"\nblocks = { u = \"multigrid\" }\n").blocks,
            std::vector<std::string>{"multigrid"});
  const Warnings warnings;
  read("method = \"gmres\"\npreconditioner = \"block\"\nblocks.u = \"chebyshev\"\nchebyshev = { degree = 2 }\n");
  EXPECT_TRUE(warnings.texts.empty()) << base::join(warnings.texts, "\n");
  read("blocks.u = \"jacobi\"\n");
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_NE(warnings.texts[0].find("solver.blocks is not used"), std::string::npos) << warnings.texts[0];
}

TEST(Problem, KeysOfMultigridAreRead) {
  using Step = op::CoarseningStep;
  const auto read = [](const std::string& table) {
    return parse(std::string(small_problem) + "[solver]\npreconditioner = \"multigrid\"\nmultigrid = { " + table +
                 " }\n");
  };
  const auto all =
      read("coarsening = \"h,p\", degrees = [2, 1], smoother = \"chebyshev\", smoother_degree = 3, pre = 2, "
           "post = 2, cycle = \"W\", precision = \"double\", coarse = \"chebyshev\", coarse_iterations = 20");
  EXPECT_EQ(all.coarsening.steps, (std::vector{Step::h, Step::p}));
  EXPECT_TRUE(all.coarsening.repeats_steps);
  EXPECT_EQ(all.coarsening.degrees, (std::vector{2, 1}));
  EXPECT_EQ(all.solver.multigrid.smoother.degree, 3);
  EXPECT_EQ(all.solver.multigrid.smoothing_steps, 2);
  EXPECT_EQ(all.solver.multigrid.cycle, solvers::Cycle::w);
  EXPECT_EQ(all.solver.multigrid.coarse, solvers::CoarseSolver::chebyshev);
  EXPECT_EQ(all.solver.multigrid.coarse_degree, 20);
  EXPECT_EQ(read("coarsening = \"lor\"").coarsening.steps, (std::vector{Step::lor}));
  EXPECT_EQ(read("coarsening = [\"p\", \"lor\"]").coarsening.steps, (std::vector{Step::p, Step::lor}));
  const auto list = read("coarsening = [\"p\", \"h\", \"p\"], post = 3");
  EXPECT_EQ(list.coarsening.steps, (std::vector{Step::p, Step::h, Step::p}));
  EXPECT_FALSE(list.coarsening.repeats_steps);
  EXPECT_EQ(list.solver.multigrid.smoothing_steps, 3);
  EXPECT_EQ(read("semicoarsening = false").box_coarsening, mesh::BoxCoarsening::all_axes);
  const auto none = read("");
  EXPECT_EQ(none.coarsening.steps, (std::vector{Step::p, Step::h}));
  EXPECT_EQ(none.box_coarsening, mesh::BoxCoarsening::short_edges);
  EXPECT_EQ(none.solver.multigrid.smoothing_steps, 1);
  EXPECT_EQ(none.solver.multigrid.amg, solvers::AmgMethod::smoothed_aggregation);
}

TEST(Problem, KeysOfBoomerAmgAreRead) {
  const auto read = [](const std::string& table) {
    return parse(std::string(small_problem) + "[solver]\npreconditioner = \"amg\"\nmultigrid = { amg = \"boomeramg\"" +
                 table + " }\n")
        .solver.multigrid;
  };
  const auto usual = read("");
  EXPECT_EQ(usual.amg, solvers::AmgMethod::boomeramg);
  EXPECT_EQ(usual.boomeramg.strong_threshold, 0);
  EXPECT_EQ(usual.boomeramg.interpolation, solvers::AmgInterpolation::components);
  const auto given = read(", boomeramg = { strong_threshold = 0.4, interpolation = \"rigid-modes\" }");
  EXPECT_EQ(given.boomeramg.strong_threshold, 0.4);
  EXPECT_EQ(given.boomeramg.interpolation, solvers::AmgInterpolation::rigid_modes);
}

TEST(Problem, SolverKeysAreRead) {
  const auto solver = parse(beam_problem).solver;
  EXPECT_EQ(solver.method, "gmres");
  EXPECT_EQ(solver.preconditioner, "chebyshev");
  EXPECT_EQ(solver.control.rtol, 1e-6);
  EXPECT_EQ(solver.control.atol, 1e-12);
  EXPECT_EQ(solver.control.max_iterations, 500);
  EXPECT_EQ(solver.control.norm, solvers::Norm::residual);
  EXPECT_FALSE(solver.is_fused);
  EXPECT_EQ(solver.restart, 30);
  EXPECT_EQ(solver.side, solvers::Side::left);
  EXPECT_EQ(solver.chebyshev.degree, 5);
  EXPECT_EQ(solver.chebyshev.eigenvalue_ratio, 20);
  EXPECT_EQ(solver.chebyshev.safety_factor, 1.2);
  EXPECT_EQ(solver.chebyshev.estimate_iterations, 15);
}

TEST(Problem, CoefficientsKeepShapeAndOrder) {
  const auto problem = parse(beam_problem);
  std::vector<std::string> names;
  for (const auto& coefficient : problem.coefficients) names.push_back(coefficient.name);
  EXPECT_EQ(names, (std::vector<std::string>{"lambda", "mu", "pull", "f", "g", "K", "rho"}));
  const auto& c = problem.coefficients;
  ASSERT_TRUE(c[1].is_by_tag);
  EXPECT_EQ(c[1].by_tag[0].first, "stiff");
  EXPECT_EQ(c[1].by_tag[1].first, "2");
  EXPECT_EQ(c[1].by_tag[0].second.values(), (std::vector<double>{50}));
  EXPECT_EQ(c[2].value.shape, (std::vector<int>{3}));
  EXPECT_EQ(c[2].value.values(), (std::vector<double>{0, 0, -1e-2}));
  EXPECT_FALSE(c[3].value.is_constant());
  EXPECT_EQ(c[4].value.components[1].text, "0");
  EXPECT_EQ(c[4].value.components[2].text, "x[1]");
  EXPECT_EQ(c[5].value.shape, (std::vector<int>{2, 2}));
  EXPECT_EQ(c[5].value.values(), (std::vector<double>{1, 0.5, 0.5, 2}));
  EXPECT_TRUE(c[6].value.shape.empty());
}

TEST(Problem, DefinitionsFunctionalsAndConditionsAreRead) {
  const auto problem = parse(beam_problem);
  EXPECT_EQ(problem.definitions[0].name, "strain");
  EXPECT_FALSE(problem.definitions[0].is_function);
  EXPECT_EQ(problem.definitions[1].name, "stress");
  EXPECT_EQ(problem.definitions[1].parameters, (std::vector<std::string>{"w", "k"}));
  EXPECT_EQ(problem.functionals[0].name, "energy");
  EXPECT_EQ(problem.dirichlet[0].tags.tags, (std::vector<std::string>{"1", "clamped"}));
  EXPECT_EQ(problem.dirichlet[0].values[1].text, "x[0]");
  EXPECT_TRUE(problem.dirichlet[1].is_all);
  EXPECT_EQ(problem.dirichlet[1].components, (std::vector<int>{2, 0}));
  EXPECT_EQ(problem.check.exact[0].second[2].number, 0.5);
  EXPECT_EQ(problem.check.max_l2_error, 1e-8);
  EXPECT_EQ(problem.check.max_h1_error, 1e-6);
}

TEST(Problem, DefaultsFillWhatIsLeftOut) {
  const auto problem = parse(small_problem);
  EXPECT_EQ(problem.mesh.box->size, (std::vector<double>{1, 1}));
  EXPECT_EQ(problem.mesh.box->shape, "quadrilateral");
  EXPECT_EQ(problem.mesh.refine, 0);
  EXPECT_EQ(problem.fields[0].degree, 1);
  EXPECT_EQ(problem.fields[0].components, 0);
  EXPECT_FALSE(problem.numerics.points || problem.numerics.degree || problem.numerics.max_degree);
  EXPECT_FALSE(problem.forms.L);
  EXPECT_EQ(problem.solver.method, "cg");
  EXPECT_EQ(problem.solver.preconditioner, "jacobi");
  EXPECT_EQ(problem.solver.control.rtol, 1e-8);
  EXPECT_TRUE(problem.output.file.empty());
}

TEST(Problem, ExpressionsKnowTheirPlaceInTheFile) {
  const auto problem = parse(beam_problem);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < beam_problem.size();) {
    const auto end = beam_problem.find('\n', begin);
    lines.push_back(beam_problem.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto expect_at = [&](const io::Location& location, const std::string& text) {
    ASSERT_GE(location.line, 1);
    EXPECT_EQ(lines[static_cast<std::size_t>(location.line) - 1].substr(static_cast<std::size_t>(location.column) - 1,
                                                                        text.size()),
              text);
  };
  expect_at(problem.forms.a.location, "inner(lambda");
  expect_at(problem.forms.a.at(problem.forms.a.text.find("div")), "div(u)");
  expect_at(problem.forms.L->location, "inner(pull");
  expect_at(problem.forms.L->at(problem.forms.L->text.find("inner(g")), "inner(g, v)*dx");
  expect_at(problem.coefficients[3].value.components[0].location, "3*pi");
  expect_at(problem.coefficients[4].value.components[2].location, "x[1]");
  expect_at(problem.definitions[1].location, "\"stress(w, k)\"");
  EXPECT_EQ(problem.forms.a.location.text().substr(0, 7), "p.toml:");
}

TEST(Problem, ColumnsCountCharactersNotBytes) {
  const auto problem = parse("title = \"x\"\n" + small_problem + "L = '\u03bb*v*dx'\n");
  EXPECT_EQ(problem.forms.L->location.column, 6);
  EXPECT_EQ(problem.forms.L->at(problem.forms.L->text.find("*v")).column, 7);
}

TEST(Problem, TestFunctionsAreNamedAfterTheFields) {
  EXPECT_EQ(parse(small_problem).test_name(0), "v");
  const auto two = parse("[mesh]\nbox = { cells = [2] }\n[fields.a]\n[fields.b]\n[forms]\na = \"a*v_a*dx\"\n");
  EXPECT_EQ(two.fields[0].name, "a");
  EXPECT_EQ(two.test_name(1), "v_b");
}

TEST(Problem, NumbersBecomeTextThatReadsBackAsTheSameNumber) {
  const auto problem = parse(small_problem + "[coefficients]\nk = 0.1\nl = -1e-300\nm = 12345678901\n");
  for (const auto& coefficient : problem.coefficients) {
    const auto& expression = coefficient.value.components[0];
    EXPECT_EQ(std::stod(expression.text), expression.number);
  }
}

TEST(Overrides, SetValuesOfEveryKind) {
  const auto problem = parse(beam_problem, {"numerics.points=5", "solver.method = cg", "solver.rtol=1e-3",
                                            "dirichlet.1.value=[1, \"x[1]\"]", "mesh.box.cells=[1,2,3]",
                                            "coefficients.lambda={by_tag={7=3}}", "title=\"a = b\""});
  EXPECT_EQ(problem.numerics.points->points(4), 5);
  EXPECT_EQ(problem.solver.method, "cg");
  EXPECT_EQ(problem.solver.control.rtol, 1e-3);
  EXPECT_EQ(problem.dirichlet[1].values[1].text, "x[1]");
  EXPECT_EQ(problem.mesh.box->cells, (std::vector<int>{1, 2, 3}));
  ASSERT_EQ(problem.coefficients[0].by_tag.size(), 1u); // the table replaces that of the file and is not merged with it
  EXPECT_EQ(problem.coefficients[0].by_tag[0].first, "7");
  EXPECT_EQ(problem.title, "a = b");
}

TEST(Overrides, MakeSectionsThatAreNotThereAndApplyInOrder) {
  const auto problem = parse(small_problem, {"solver.chebyshev.degree=7", "output.file=/tmp/x.vtkhdf",
                                             "solver.chebyshev.degree=8", "fields.u.degree=3"});
  EXPECT_EQ(problem.solver.chebyshev.degree, 8);
  EXPECT_EQ(problem.output.file, "/tmp/x.vtkhdf");
  EXPECT_EQ(problem.fields[0].degree, 3);
}

TEST(Problem, MeshPathsStartFromTheFolderOfTheFile) {
  const test::Folder own;
  const auto& folder = own.path();
  std::filesystem::create_directories(folder / "meshes");
  std::ofstream(folder / "meshes/a.msh") << "x";
  std::ofstream(folder / "p.toml") << "[mesh]\nfile = \"meshes/a.msh\"\n[fields.u]\n[forms]\na = \"u*v*dx\"\n";
  const auto problem = io::read_problem((folder / "p.toml").string());
  EXPECT_TRUE(std::filesystem::equivalent(problem.mesh.file, folder / "meshes/a.msh"));
  EXPECT_FALSE(problem.mesh.box);
}

} // namespace

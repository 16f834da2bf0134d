// SPDX-License-Identifier: BSD-3-Clause
// Keys that are accepted and have no effect are reported in one warning each, with their place and the reason.
#include <gtest/gtest.h>

#include <filesystem>

#include <rafter/base/text.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/io/unused_keys.hpp>
#include <tests/support/device_folders.hpp>
#include <tests/support/io_problems.hpp>
#include <tests/support/source_directory.hpp>

namespace rafter::test {
namespace {

struct Reading {
  io::Problem problem;
  std::vector<std::string> texts;
};

Reading read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const Warnings warnings;
  auto problem = io::parse_problem(text, "p.toml", "", overrides);
  return {std::move(problem), warnings.texts};
}

/// Returns what is reported of the smallest problem with more keys.
std::string reported(const std::vector<std::string>& overrides) {
  return base::join(read(small_problem, overrides).texts, "\n");
}

TEST(UnusedKeys, AreNoneInProblemsThatReadAllOfTheirs) {
  EXPECT_EQ(reported({}), "");
  EXPECT_EQ(reported({"coefficients.k=2", "definitions.m='k*u*v'", "forms.a='inner(grad(u), grad(v))*dx + m*dx'"}), "");
}

TEST(UnusedKeys, OfPreconditionersAreReportedWithoutASectionOfTheSolver) {
  const std::string key = "forms.preconditioner='inner(grad(u), grad(v))*dx'";
  EXPECT_EQ(reported({key}),
            "--set " + key +
                ": key forms.preconditioner is not used: it is for solver.preconditioner = \"block\"; the "
                "preconditioner is \"jacobi\"");
  EXPECT_NE(reported({key, "solver.method='direct'"}).find("key forms.preconditioner is not used"), std::string::npos);
  EXPECT_EQ(reported({key, "solver.preconditioner='block'", "solver.blocks.u='jacobi'"}), "");
  EXPECT_NE(reported({key, "solver.method='direct'", "solver.preconditioner='block'", "solver.blocks.u='jacobi'"})
                .find("key forms.preconditioner is not used"),
            std::string::npos);
}

TEST(UnusedKeys, OfRulesAreReportedWhereAnotherKeyGivesTheRule) {
  EXPECT_EQ(reported({"numerics.max_degree=5"}), "");
  for (const std::string rule : {"points", "degree"})
    EXPECT_NE(reported({"numerics.max_degree=5", "numerics." + rule + "=4"})
                  .find("key numerics.max_degree is not used: it is for degrees that the form decides; numerics." +
                        rule + " gives the rule"),
              std::string::npos);
}

TEST(UnusedKeys, OfFirstStatesAreReportedBesideARestart) {
  const std::vector<std::string> keys{"time={step=1,end=2}", "fields.u.initial='x[0]'"};
  EXPECT_EQ(reported(keys), "");
  EXPECT_NE(reported({"time={step=1,end=2,restart='old.vtkhdf'}", "fields.u.initial='x[0]'"})
                .find("key fields.u.initial is not used: time.restart gives the first state"),
            std::string::npos);
}

TEST(UnusedKeys, OfLoadStepsAreReportedWhereNothingIsScaled) {
  const std::vector<std::string> F{"forms={F='inner(grad(u), grad(v))*dx - v*dx'}", "newton.load_steps=4"};
  const auto with = [&F](std::vector<std::string> more) {
    more.insert(more.begin(), F.begin(), F.end());
    return reported(more);
  };
  EXPECT_NE(with({}).find("key newton.load_steps is not used: nothing grows"), std::string::npos) << with({});
  EXPECT_NE(with({"dirichlet=[{tags='all',value=0.0}]"}).find("key newton.load_steps is not used"), std::string::npos);
  EXPECT_EQ(with({"dirichlet=[{tags='all',value=1}]"}), "");
  EXPECT_EQ(with({"dirichlet=[{tags='all',value='x[0]'}]"}), "");
  EXPECT_EQ(with({"forms={F='inner(grad(u), grad(v))*dx - load_factor*v*dx'}"}), "");
  EXPECT_EQ(with({"definitions.f='load_factor'", "forms={F='inner(grad(u), grad(v))*dx - f*v*dx'}"}), "");
  EXPECT_EQ(with({"newton.load_steps=1"}), "");
}

TEST(UnusedKeys, OfConditionsAreReportedWhereLaterOnesHoldEverywhere) {
  const auto conditions = [](const std::string& list) {
    return reported({"fields.u.components=2", "dirichlet=[" + list + "]"});
  };
  const std::string first = R"({tags=["xmin","xmax"],value=[0,1]})";
  const std::string expected = "key dirichlet[0].value is not used: later conditions hold wherever this one does";
  EXPECT_NE(conditions(first + R"(,{tags=["xmax","ymin","xmin"],value=[2,3]})").find(expected), std::string::npos);
  EXPECT_NE(conditions(first + R"(,{tags="xmin",value=[2,3]},{tags="xmax",value=[2,3]})").find(expected),
            std::string::npos);
  EXPECT_NE(
      conditions(first +
                 R"(,{tags=["xmin","xmax"],components=[1],value=[2]},{tags=["xmin","xmax"],components=[0],value=[2]})")
          .find(expected),
      std::string::npos);
  EXPECT_NE(conditions(R"({tags="all",value=[0,1]},{tags="all",value=[2,3]})").find(expected), std::string::npos);
  EXPECT_EQ(conditions(first + R"(,{tags=["xmin"],value=[2,3]})"), "");
  EXPECT_EQ(conditions(first + R"(,{tags=["xmin","xmax"],components=[1],value=[2]})"), "");
  EXPECT_EQ(conditions(R"({tags="all",value=[0,1]},{tags=["xmin","xmax","ymin","ymax"],value=[2,3]})"), "");
}

TEST(UnusedKeys, OfSemicoarseningAreReportedForMeshesFromFiles) {
  const std::vector<std::string> keys{"solver.preconditioner='multigrid'", "solver.multigrid.semicoarsening=false"};
  EXPECT_EQ(reported(keys), "");
  auto file = keys;
  file.emplace_back("mesh={file='" + std::string(__FILE__) + "'}"); // any file, since it is not read here
  EXPECT_NE(reported(file).find("key solver.multigrid.semicoarsening is not used: it is for mesh.box"),
            std::string::npos)
      << reported(file);
}

TEST(UnusedKeys, OfNamesAreReportedUnlessATextHasThemOrATextThatIsUsedDoes) {
  const auto text = [](const std::string& more) {
    return std::string(R"TOML(title = "k and m"
[mesh]
box = { cells = [2, 2] }
[fields.u]
[coefficients]
k = 1.0
m = [1.0, 2.0]
c = "k*x[0]"
"d" = { by_tag = { 1 = 2.0 } }
[definitions]
"P(w, k2)" = "m[0]*w"
dx2 = "2.0"
unused = "c"
)TOML") + more;
  };
  const auto names = [&](const std::string& more) {
    std::vector<std::string> result;
    for (const auto& warning : read(text(more)).texts) {
      const auto begin = warning.find("key ") + 4;
      EXPECT_NE(warning.find(" is not used: no form, condition or output has the name "), std::string::npos) << warning;
      result.push_back(warning.substr(begin, warning.find(" is not") - begin));
    }
    return base::join(result, " ");
  };
  EXPECT_EQ(names("[forms]\na = \"u*v*dx\"\n"), "coefficients.k coefficients.m coefficients.c coefficients.d "
                                                "definitions.P(w, k2) definitions.dx2 definitions.unused");
  EXPECT_EQ(names("[forms]\na = \"P(u, 1)*u.dx(0)*d*v*dx\"\n"),
            "coefficients.k coefficients.c definitions.dx2 definitions.unused")
      << "m is in the text of P";
  EXPECT_EQ(names("[forms]\na = \"c*u*v*dx\"\n[functionals]\ni = \"P(d, 1)*dx2*dx\"\n"), "definitions.unused")
      << "k is in the text of c";
  EXPECT_EQ(names("[forms]\na = \"u*v*dx\"\n[[dirichlet]]\ntags = \"all\"\nvalue = \"unused + d\"\n[check]\nu = "
                  "\"dx2 + P(1, 1)\"\n"),
            "");
  EXPECT_EQ(
      names("[forms]\na = \"d*u*v*dx\"\n[output]\nfile = \"a.vtkhdf\"\nfields = { f = \"unused + P(u, dx2)\" }\n"), "");
}

TEST(UnusedKeys, AreNoneInExamplesAndTestedProblems) {
  const Warnings warnings;
  int count = 0;
  for (const auto* folder : {"/examples", "/tests/problems"})
    for (const auto& entry : std::filesystem::directory_iterator(source_directory() + folder))
      if (entry.path().extension() == ".toml") {
        io::read_problem(entry.path().string());
        ++count;
      }
  EXPECT_GT(count, 40);
  EXPECT_EQ(base::join(warnings.texts, "\n"), "");
}

TEST(UnusedKeys, HaveTheirPlaceInTheFile) {
  const auto warnings = read(small_problem + "[coefficients]\n  k = 1.0\n").texts;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].substr(0, warnings[0].find(": key")), "p.toml:7:3");
}

TEST(UnusedKeys, OfMethodsAreReportedWhereDirectSolvesTakeTheirPlace) {
  const auto [problem, before] =
      read(small_problem, {"solver.preconditioner='chebyshev'", "solver.fused=false", "solver.chebyshev.degree=3",
                           "solver.rtol=1e-9", "solver.norm='preconditioned'"});
  EXPECT_TRUE(before.empty()) << before[0];
  const Warnings warnings;
  io::warn_of_keys_that_direct_solves_leave(problem, "it is small");
  std::vector<std::string> expected;
  for (const std::string key : {"preconditioner", "fused", "chebyshev"})
    expected.push_back("key solver." + key + " is not used: the method is \"direct\", chosen because it is small");
  expected.emplace_back(
      "key solver.norm is not used: the method is \"direct\", chosen because it is small, and judges the residual");
  ASSERT_EQ(warnings.texts.size(), expected.size()) << base::join(warnings.texts, "\n");
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(warnings.texts[i].ends_with(expected[i]));
}

} // namespace
} // namespace rafter::test

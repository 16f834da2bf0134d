// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

#include <rafter/base/error.hpp>
#include <rafter/report/report.hpp>
#include <rafter/schedule/plan.hpp>

using namespace rafter;
using report::Detail;
using report::SolveReport;

namespace {

SolveReport example() {
  SolveReport result;
  result.title = "Beam";
  result.status = "converged";
  result.dofs = 12345;
  result.cells = {{"hexahedron", 64}, {"prism", 8}};
  result.iterations = 17;
  result.residual = 3.5e-9;
  result.errors = {{"u", {1e-9, 2e-7}}};
  result.functionals = {{"energy", 0.125}};
  result.seconds = {{"mesh", 0.1}, {"spaces", 0.2}, {"kernels", 0.3}, {"setup", 0.4}, {"solve", 1}, {"output", 0}};
  result.operators = {{.name = "apply",
                       .plans = {{"cell hexahedron cartesian", to_string(schedule::parse_plan("vector_width=4"))},
                                 {"cell prism affine", to_string(schedule::parse_plan("contraction=dense"))}},
                       .dofs_per_second = 1e6,
                       .gflops = 4,
                       .gbytes_per_second = 1,
                       .bound_seconds = 5e-4,
                       .seconds = 1e-3,
                       .share = 0.5,
                       .limited_by = "memory"}};
  result.machine = {"CPU", 2, 100, 20};
  return result;
}

TEST(Report, JsonHasEveryKeyOfTheInterface) {
  const auto json = nlohmann::json::parse(report::to_json(example()));
  EXPECT_EQ(json["title"], "Beam");
  EXPECT_FALSE(json["version"].get<std::string>().empty());
  EXPECT_EQ(json["status"], "converged");
  EXPECT_EQ(json["dofs"], 12345);
  EXPECT_EQ(json["cells"]["prism"], 8);
  EXPECT_EQ(json["iterations"], 17);
  EXPECT_EQ(json["residual"], 3.5e-9);
  EXPECT_EQ(json["errors"]["u"]["l2"], 1e-9);
  EXPECT_EQ(json["errors"]["u"]["h1"], 2e-7);
  EXPECT_EQ(json["functionals"]["energy"], 0.125);
  for (const char* phase : {"mesh", "spaces", "kernels", "setup", "solve", "output"})
    EXPECT_TRUE(json["seconds"][phase].is_number()) << phase;
  for (const char* key : {"name", "plan", "dofs_per_second", "gflops", "gbytes_per_second", "bound_seconds", "seconds",
                          "share", "limited_by"})
    EXPECT_TRUE(json["operators"][0].contains(key)) << key;
  EXPECT_EQ(json["machine"]["threads"], 2);
  EXPECT_FALSE(json.contains("message"));
}

SolveReport newton_example() {
  auto result = example();
  result.iterations = 3;
  result.newton = {{.load_factor = 0.5, .residual = 1e-1, .length = 0.25, .tolerance = 1e-2, .linear_iterations = 7},
                   {.load_factor = 0.5, .residual = 1e-9, .is_last = true},
                   {.load_factor = 1, .residual = 1e-1, .tolerance = 1e-2, .linear_iterations = 8},
                   {.load_factor = 1, .residual = 1e-3, .tolerance = 1e-4, .linear_iterations = 9},
                   {.load_factor = 1, .residual = 1e-7, .is_last = true}};
  return result;
}

TEST(Report, JsonHasTheStepsOfNewtonsMethod) {
  EXPECT_FALSE(nlohmann::json::parse(report::to_json(example())).contains("newton"));
  const auto json = nlohmann::json::parse(report::to_json(newton_example()))["newton"];
  EXPECT_EQ(json["linear_iterations"], 7 + 8 + 9);
  ASSERT_EQ(json["steps"].size(), 5u);
  const auto &first = json["steps"][0], &last = json["steps"][1];
  EXPECT_EQ(first["load_factor"], 0.5);
  EXPECT_EQ(first["residual"], 1e-1);
  EXPECT_EQ(first["length"], 0.25);
  EXPECT_EQ(first["tolerance"], 1e-2);
  EXPECT_EQ(first["linear_iterations"], 7);
  EXPECT_EQ(last["residual"], 1e-9);
  for (const char* key : {"length", "tolerance", "linear_iterations"}) EXPECT_FALSE(last.contains(key)) << key;
}

TEST(Report, DetailsHaveTheOrderOfConvergenceWithinALoadStep) {
  const auto text = report::to_text(newton_example(), Detail::all);
  EXPECT_NE(text.find("3 Newton steps"), std::string::npos) << text;
  EXPECT_NE(text.find("1.000e-07   2.00\n"), std::string::npos) << text; // the order after residuals 1e-1 and 1e-3
  EXPECT_NE(text.find("1.000e-09\n"), std::string::npos) << text;        // one residual before it gives no order
}

TEST(Report, ResultsHaveTheResidualsOfTheLastLoadStepInALine) {
  const auto text = report::to_text(newton_example());
  EXPECT_NE(
      text.find("\nnewton: 2 load steps of 1 to 2 Newton steps, 24 linear iterations; residuals at load factor 1:\n"
                "        1.0e-01 1.0e-03 1.0e-07\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("tolerance"), std::string::npos) << text;
  auto single = newton_example();
  single.newton.erase(single.newton.begin(), single.newton.begin() + 2);
  EXPECT_NE(report::to_text(single).find("\nnewton: 17 linear iterations; residuals: 1.0e-01 1.0e-03 1.0e-07\n"),
            std::string::npos)
      << report::to_text(single);
}

TEST(Report, JsonOfAnEmptyReportKeepsItsObjects) {
  const auto json = nlohmann::json::parse(report::to_json({}));
  for (const char* key : {"cells", "errors", "functionals", "seconds", "machine"})
    EXPECT_TRUE(json[key].is_object()) << key;
  EXPECT_TRUE(json["operators"].is_array());
}

TEST(Report, JsonStaysValidForNumbersThatAreNotFiniteAndDamagedText) {
  SolveReport damaged = example();
  damaged.title = "\xff\"\n";
  damaged.residual = std::numeric_limits<double>::quiet_NaN();
  const auto json = nlohmann::json::parse(report::to_json(damaged));
  EXPECT_TRUE(json["residual"].is_null());
}

TEST(Report, DetailsHaveTheRulesOfQuadrature) {
  auto result = example();
  result.quadrature = {{"cell hexahedron cartesian, cell hexahedron affine", "Gauss, 27 points, degree 5: estimated"}};
  EXPECT_NE(report::to_text(result, report::Detail::all).find("quadrature: Gauss, 27 points, degree 5"),
            std::string::npos);
  EXPECT_EQ(report::to_text(result).find("quadrature"), std::string::npos);
  const auto json = nlohmann::json::parse(report::to_json(result));
  EXPECT_EQ(json["quadrature"][0]["kernels"], "cell hexahedron cartesian, cell hexahedron affine");
}

TEST(Report, TextNamesWhatTheReaderLooksFor) {
  auto result = example();
  result.message = "stagnation: no progress";
  const auto text = report::to_text(result, Detail::all);
  for (const char* part :
       {"Beam", "12345 unknowns", "64 hexahedra", "17 iterations", "3.50e-09", "stagnation", "energy", "0.125", "solve",
        "apply", "50.0 %", "memory", "vector_width=4", "relative L2 error"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Report, ResultsComeBeforeTimesAndTheseBeforeSpeeds) {
  auto result = example();
  result.method = "cg";
  result.preconditioner_name = "jacobi";
  result.message = "relative L2 error of u is too large";
  result.peak_memory_bytes = 3'000'000;
  result.residuals = {.norm = "residual", .residual = 3.5e-9, .preconditioned = 1e-8, .has_lift = true};
  const std::string expected = R"(Beam
converged after 17 iterations (cg, jacobi), relative residual 3.50e-09
12345 unknowns, 64 hexahedra, 8 prisms
relative L2 error of u is too large

functional  value
energy      0.125

field  relative L2 error  relative H1 error
u           1.000000e-09       2.000000e-07

phase      mesh  spaces  kernels   setup   solve  output   total
seconds  0.1000  0.2000   0.3000  0.4000  1.0000  0.0000  2.0000
peak memory 0.003 GB

operator  MDoF/s  GFLOP/s  GB/s  time  of roofline  limited by
apply          1     4.00  1.00  1 ms       50.0 %  memory
)";
  EXPECT_EQ(report::to_text(result), expected);
}

TEST(Report, TheNormOfAResidualIsReportedWhereItIsNotThe2Norm) {
  auto result = example();
  result.residuals = {.norm = "preconditioned", .residual = 2e-5, .preconditioned = 3.5e-9};
  EXPECT_NE(report::to_text(result).find("relative residual 3.50e-09 in the preconditioned norm\n"), std::string::npos);
  EXPECT_NE(report::to_text(result, Detail::all).find("in the preconditioned norm (2.00e-05 in the 2-norm)\n"),
            std::string::npos);
}

TEST(Report, CopiesOfAllPhasesAreALineAndInDetailColumns) {
  auto result = example();
  result.copies = {{"mesh", {}}, {"spaces", {.bytes_to_device = 2'000'000, .num_to_device = 3}}};
  EXPECT_NE(report::to_text(result).find("\ncopied: 2.00 MB to the device, 0.00 MB to the host, in 3 copies\n"),
            std::string::npos);
  EXPECT_NE(report::to_text(result, Detail::all).find("MB to device"), std::string::npos);
}

/// Every key of a row has a meaning, and every meaning a key.
TEST(Report, JsonHasTheLegendOfItsLists) {
  const auto json = nlohmann::json::parse(report::to_json(newton_example()));
  const auto keys_of = [](const nlohmann::json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.insert(key);
    return keys;
  };
  auto keys = keys_of(json["operators"][0]);
  EXPECT_EQ(keys.erase("plans"), 1u);
  EXPECT_EQ(keys_of(json["legend"]["operators"]), keys);
  EXPECT_EQ(keys_of(json["legend"]["newton"]), keys_of(json["newton"]["steps"][0]));
  EXPECT_FALSE(nlohmann::json::parse(report::to_json(example()))["legend"].contains("newton"));
}

TEST(Report, JsonHasThePlanOfEachKernel) {
  const auto plans = nlohmann::json::parse(report::to_json(example()))["operators"][0]["plans"];
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[1]["kernel"], "cell prism affine");
  EXPECT_EQ(plans[1]["plan"], to_string(schedule::parse_plan("contraction=dense")));
}

TEST(Report, PlansOfSeveralKernelsStandOnceBelowTheOperators) {
  auto result = example();
  result.operators.push_back(result.operators.front());
  const auto text = report::to_text(result, Detail::all);
  EXPECT_NE(text.find("memory      A B\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  A  vector_width=4 (cell hexahedron cartesian)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  B  contraction=dense (cell prism affine)\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("--plan"), text.rfind("--plan", text.find("  B  "))) << text;
  EXPECT_EQ(text.find("  C  "), std::string::npos) << text;
}

TEST(Report, JsonHoldsTheFullTextOfThePlansThatDiffer) {
  auto result = example();
  result.operators[0].plans.push_back(result.operators[0].plans[0]);
  const auto json = nlohmann::json::parse(report::to_json(result));
  EXPECT_EQ(json["operators"][0]["plan"], to_string(schedule::parse_plan("vector_width=4")) + "; " +
                                              to_string(schedule::parse_plan("contraction=dense")));
}

} // namespace

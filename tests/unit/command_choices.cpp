// SPDX-License-Identifier: BSD-3-Clause
// Problems that name no preconditioner get the faster one of two, on machines that measured both (bench/data/choices).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <rafter/discretisation.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/machine/machine.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/problem/equations.hpp>
#include <rafter/problem/expected_work.hpp>
#include <rafter/problem/jacobi_forecast.hpp>
#include <rafter/stated_problem.hpp>
#include <rafter/tune/planner.hpp>

#include <tests/support/source_directory.hpp>

namespace rafter::test {
namespace {

struct Measured {
  double seconds = 0;
  int iterations = 0;
};

struct MeasuredProblem {
  std::string machine, name, text;
  machine::Machine record;
  Measured jacobi, multigrid;
};

void PrintTo(const MeasuredProblem& of, std::ostream* stream) { *stream << of.machine << ": " << of.name; }

std::vector<MeasuredProblem> measured_problems() {
  std::vector<MeasuredProblem> result;
  for (const auto& entry : std::filesystem::directory_iterator(source_directory() + "/bench/data/choices")) {
    const auto json = nlohmann::json::parse(std::ifstream(entry.path()));
    for (const auto& problem : json.at("problems")) {
      const auto measured = [&problem](const char* preconditioner) {
        const auto& of = problem.at(preconditioner);
        return Measured{.seconds = of.at("seconds"), .iterations = of.at("iterations")};
      };
      result.push_back({.machine = entry.path().stem().string(),
                        .name = problem.at("name"),
                        .text = problem.at("text"),
                        .record = machine::from_json(json.at("machine").dump()),
                        .jacobi = measured("jacobi"),
                        .multigrid = measured("multigrid")});
    }
  }
  return result;
}

class Choices : public testing::TestWithParam<MeasuredProblem> {};

struct Forecast {
  problem::SolveForecast seconds;
  double jacobi_iterations = 0;
};

Forecast forecast_of(const MeasuredProblem& of) {
  auto text = of.text;
  constexpr std::string_view path = "file = \"";
  if (const auto at = text.find(path); at != std::string::npos) text.insert(at + path.size(), source_directory() + "/");
  const auto file = io::parse_problem(text, "problem.toml");
  op::OperatorOptions options;
  options.threads = 1;
  options.planner = std::make_shared<tune::Planner>(tune::PlannerOptions{.machine = of.record});
  options.shared_device = op::device_of(options);
  const auto problem = app::state(file, app::make_meshes(file), options);
  const auto equations = problem::make_equations(problem);
  const auto& discretisation = problem.discretisation;
  const double iterations = problem::expected_jacobi_iterations(
      equations.tangent, equations.system, discretisation.dirichlet, problem.parameters, problem.solver.control.rtol);
  auto kernels = op::kernel_options(discretisation, discretisation.shared_device);
  kernels.num_applications = problem::expected_applications(problem.solver, false, iterations);
  const auto action = op::build_form(equations.tangent, equations.system, op::Purpose::action, kernels);
  return {problem::forecast_solve(*action, iterations), iterations};
}

TEST_P(Choices, AreWithinAFifthOfTheFaster) {
  const auto& of = GetParam();
  const auto forecast = forecast_of(of).seconds;
  // What 0086 tells of the model is read from these, by --gtest_output=json:FILE.
  RecordProperty("jacobi_over_forecast", std::to_string(of.jacobi.seconds / forecast.with_jacobi));
  RecordProperty("multigrid_over_forecast", std::to_string(of.multigrid.seconds / forecast.with_multigrid));
  const double seconds = forecast.is_for_multigrid() ? of.multigrid.seconds : of.jacobi.seconds;
  constexpr double worth_kernels = 0.3;
  EXPECT_LE(seconds, std::max(1.2 * std::min(of.jacobi.seconds, of.multigrid.seconds), worth_kernels))
      << "jacobi is forecast to take " << forecast.with_jacobi << " s and takes " << of.jacobi.seconds << ", multigrid "
      << forecast.with_multigrid << " and " << of.multigrid.seconds;
}

TEST_P(Choices, KnowHowManyIterationsJacobiTakes) {
  const auto& of = GetParam();
  const double share = forecast_of(of).jacobi_iterations / of.jacobi.iterations;
  RecordProperty("forecast_over_iterations", std::to_string(share));
  EXPECT_GT(share, 0.6);
  EXPECT_LT(share, 2.5) << "a body that is held at one side may take fewer";
}

INSTANTIATE_TEST_SUITE_P(measured, Choices, testing::ValuesIn(measured_problems()), [](const auto& of) {
  std::string result = of.param.machine + "_" + of.param.name;
  std::ranges::replace_if(
      result, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return result;
});

} // namespace
} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
// Plans of cell kernels are found by timing them on the mesh, remembered, and taken by operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/host/host_device.hpp>
#include <rafter/device/host/process.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/cell_unknowns.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/operator/tuning.hpp>
#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/point_loops.hpp>
#include <rafter/tune/store.hpp>

#include <tests/support/device_folders.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// Tests have a store of their own. Timings are as short as possible, since nothing here depends on which plan wins.
class Tuning : public testing::Test {
protected:
  op::KernelOptions options(bool weighs_all = true) const {
    op::KernelOptions result;
    result.device = device_;
    result.planner =
        std::make_shared<const tune::Planner>(tune::PlannerOptions{.store = store_, .weighs_all = weighs_all});
    return result;
  }
  std::vector<op::TunedKernel> tune(const Problem& problem, const std::string& form,
                                    const tune::SearchOptions& search = {}) const {
    return op::tune_kernels(form::lower(problem.form(form)), problem.system(), options(),
                            {.search = search, .sample_seconds = 1e-5});
  }
  Folder folder_;
  std::shared_ptr<device::Device> device_ = std::make_shared<device::HostDevice>(1);
  std::shared_ptr<tune::Store> store_ = std::make_shared<tune::Store>(folder_.path() / "plans.sqlite");
};

TEST_F(Tuning, OperatorsTakeTheFastestPlanOfEveryCellKernel) {
  const Problem problem(box("mixed"), 2);
  const auto form = problem.form("inner(grad(u), grad(v))*dx + u*v*ds");
  const auto tuned = tune(problem, "inner(grad(u), grad(v))*dx + u*v*ds", {.most_plans = 2});
  const auto built = op::build_form(form::lower(form), problem.system(), op::Purpose::action, options(false));
  std::size_t num_cell_kernels = 0;
  for (const auto& block : built->blocks) {
    const auto& decision = block.kernel.info.decision;
    if (block.cell_block < 0) {
      EXPECT_EQ(decision.origin, tune::Origin::usual); // plans of facets are not tuned
      continue;
    }
    ASSERT_LT(num_cell_kernels, tuned.size());
    const auto& kernel = tuned[num_cell_kernels++];
    EXPECT_EQ(kernel.info.block, block.cell_block);
    EXPECT_EQ(kernel.num_timed, std::min<std::size_t>(2, kernel.info.decision.candidates.size()));
    EXPECT_EQ(decision.origin, tune::Origin::measured);
    EXPECT_EQ(decision.plan, kernel.info.plan);
    EXPECT_EQ(block.kernel.info.plan, kernel.info.plan);
  }
  EXPECT_GT(num_cell_kernels, 1U);
  EXPECT_EQ(num_cell_kernels, tuned.size());
}

TEST_F(Tuning, WhatIsRememberedIsNotTimedAgain) {
  const Problem problem(box("quadrilateral"), 2);
  EXPECT_EQ(tune(problem, "u*v*dx", {.most_plans = 2}).front().num_timed, 2U);
  const auto again = tune(problem, "u*v*dx", {.most_plans = 2});
  EXPECT_EQ(again.front().num_timed, 0U);
  EXPECT_TRUE(again.front().info.decision.candidates.front().measured_seconds.has_value());
  EXPECT_EQ(tune(problem, "2*u*v*dx", {.most_plans = 2}).front().num_timed, 2U); // this is another kernel
}

TEST_F(Tuning, MeasuredTimesComeFirstAndInOrder) {
  const Problem problem(box("quadrilateral"), 2);
  const auto tuned = tune(problem, "u*v*dx", {.is_exhaustive = true}).front();
  const auto& candidates = tuned.info.decision.candidates;
  EXPECT_EQ(tuned.num_timed, candidates.size());
  for (std::size_t i = 1; i < candidates.size(); ++i)
    EXPECT_LE(candidates[i - 1].measured_seconds, candidates[i].measured_seconds);
  for (const auto& candidate : candidates) EXPECT_GT(candidate.measured_seconds, 0.0);
}

/// All candidates compute the same operator up to rounding.
TEST_F(Tuning, CandidatesAgree) {
  const Problem problem(box("hexahedron"), 2);
  const auto form = form::lower(problem.form("inner(grad(u), grad(v))*dx"));
  const auto weighed = op::build_form(form, problem.system(), op::Purpose::action, options());
  const auto& candidates = weighed->blocks.front().kernel.info.decision.candidates;
  ASSERT_GT(candidates.size(), 4U);
  std::vector<std::shared_ptr<op::GeneratedForm>> forms;
  for (const auto& candidate : candidates) {
    auto fixed = options(false);
    fixed.plan = std::make_shared<const schedule::Plan>(candidate.plan);
    forms.push_back(op::build_form(form, problem.system(), op::Purpose::action, fixed));
  }
  op::compile(forms);
  const auto size = static_cast<std::size_t>(problem.system().size());
  Vector x(device_, size), expected(device_, size), y(device_, size);
  fill_random(x, 7);
  op::FormKernels(forms.front()).run(&x, expected, false);
  for (const auto& built : forms) {
    op::FormKernels(built).run(&x, y, false);
    for (std::size_t i = 0; i < size; ++i)
      EXPECT_NEAR(y.host_read()[i], expected.host_read()[i], 1e-13) << schedule::to_string(*built->options.plan);
  }
}

/// The matrices of all cells, shape (cell, row, column); cells of one shape.
std::vector<double> matrices_of_cells(const op::Operator& A, std::size_t num_cells) {
  const auto length = static_cast<std::size_t>(op::num_local_unknowns(A.system(), 0));
  std::vector<double> result(num_cells * length * length);
  const op::CellArray<double> array{.group = 0, .values = result};
  A.cell_matrices(std::span(&array, 1));
  return result;
}

TEST_F(Tuning, KernelsOfCellMatricesTakeTheFastestLoops) {
  const Problem problem(box("prism"), 1);
  const auto form = problem.form("inner(grad(u), grad(v))*dx + u*dot([1.0, 2.0, 3.0], grad(v))*dx");
  const auto lowered = form::lower(form);
  const auto kernel_plan = [&] {
    const auto built = op::build_cell_matrices(lowered, problem.system(), options(false));
    return built->blocks.front().kernel.info;
  };
  EXPECT_EQ(kernel_plan().decision.origin, tune::Origin::usual);
  const auto tuned = op::tune_kernels(lowered, problem.system(), options(),
                                      {.search = {.is_exhaustive = true}, .sample_seconds = 1e-5}, op::Purpose::matrix);
  ASSERT_EQ(tuned.size(), 1U);
  // Tables, and three orders with derivatives ahead and inside.
  EXPECT_EQ(tuned.front().num_timed, 7U);
  std::set<std::string> loops;
  for (const auto& candidate : tuned.front().info.decision.candidates) {
    EXPECT_GT(candidate.measured_seconds, 0.0);
    loops.insert(fmt::format("{} {}", schedule::name(candidate.plan[schedule::key::order]),
                             schedule::name(candidate.plan[schedule::key::derivatives])));
  }
  EXPECT_EQ(loops, (std::set<std::string>{"tables ahead", "qss ahead", "qss inside", "sqs ahead", "sqs inside",
                                          "ssq ahead", "ssq inside"}));
  EXPECT_EQ(kernel_plan().decision.origin, tune::Origin::measured);
  EXPECT_EQ(kernel_plan().plan, tuned.front().info.plan);
  const auto again =
      op::tune_kernels(lowered, problem.system(), options(), {.sample_seconds = 1e-5}, op::Purpose::matrix);
  EXPECT_EQ(again.front().num_timed, 0U);
  // What is remembered of matrices says nothing about the action.
  const auto action = op::build_form(lowered, problem.system(), op::Purpose::action, options(false));
  EXPECT_EQ(action->blocks.front().kernel.info.decision.origin, tune::Origin::predicted);
}

TEST_F(Tuning, CandidatesOfCellMatricesAgree) {
  const Problem problem(box("pyramid"), 1);
  const auto form = problem.form("inner(grad(u), grad(v))*dx + u*v*dx");
  const auto weighed = op::build_form(form::lower(form), problem.system(), op::Purpose::matrix, options());
  const auto& candidates = weighed->blocks.front().kernel.info.decision.candidates;
  ASSERT_EQ(candidates.size(), 7U);
  std::vector<double> expected;
  for (const auto& candidate : candidates) {
    const op::Operator A(form, {.shared_device = device_, .plan = schedule::to_string(candidate.plan)});
    const auto matrices =
        matrices_of_cells(A, static_cast<std::size_t>(problem.system().mesh->groups.front().num_cells()));
    if (expected.empty()) expected = matrices;
    ASSERT_EQ(matrices.size(), expected.size());
    for (std::size_t i = 0; i < matrices.size(); ++i)
      EXPECT_NEAR(matrices[i], expected[i], 1e-14) << schedule::to_string(candidate.plan);
  }
}

/// Each new value of a field or parameter computes all stored matrices again.
TEST_F(Tuning, StoredMatricesAreWeighedWhereNothingChanges) {
  const auto num_with_matrices = [&](const Problem& problem, const form::Form& form) {
    const auto built = op::build_form(form::lower(form), problem.system(), op::Purpose::action, options());
    return std::ranges::count_if(built->blocks.front().kernel.info.decision.candidates, [](const auto& candidate) {
      return candidate.plan[schedule::key::contraction] == kernel::Contraction::cell_matrices;
    });
  };
  const Problem hexahedra(box("hexahedron"), 1);
  const auto form = hexahedra.form("inner(grad(u), grad(v))*dx");
  EXPECT_GT(num_with_matrices(hexahedra, form), 0);
  EXPECT_EQ(num_with_matrices(hexahedra, form::parameter("k") * form), 0);
  const Problem large(box("hexahedron"), 3); // 64 times 64 entries
  EXPECT_EQ(num_with_matrices(large, large.form("inner(grad(u), grad(v))*dx")), 0);
}

TEST_F(Tuning, MatricesThatAreTooLargeForAKernelHaveNoPlans) {
  const Problem problem(box("tetrahedron", 1), 6);
  try {
    (void)op::tune_kernels(form::lower(problem.form("(1 + x[0])*inner(grad(u), grad(v))*dx")), problem.system(),
                           options(), {}, op::Purpose::matrix);
    FAIL() << "there is nothing to tune";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("column by column"), std::string::npos) << error.what();
  }
}

TEST_F(Tuning, PlansNameTheCompilerThatIsUsed) {
  const auto script = folder_.path() / "counting";
  std::ofstream(script) << "#!/bin/sh\n[ \"$1\" = --version ] || echo used >> '" << folder_.path().string()
                        << "/uses'\nexec " << device::find_program("gcc") << " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const Folder cache; // the cache is empty
  auto device = std::make_shared<device::HostDevice>(1, device::CacheDirectory(cache.path()));
  const Problem problem(box("quadrilateral"), 1);
  const op::Operator A(problem.form("u*v*dx"),
                       planned({.shared_device = device, .plan = "compiler=" + script.string()}));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "uses"));
}

TEST_F(Tuning, StoppedTuningRemembersNothing) {
  const Problem problem(box("quadrilateral"), 1);
  EXPECT_THROW((void)op::tune_kernels(
                   form::lower(problem.form("u*v*dx")), problem.system(), options(),
                   {.sample_seconds = 1e-5, .event = [](const std::string&) { throw base::SolverError("stopped"); }}),
               base::SolverError);
  EXPECT_FALSE(std::filesystem::exists(store_->file()));
}

TEST_F(Tuning, APlannerThatWeighsFewPlansOrNoneIsEnough) {
  const Problem problem(box("quadrilateral"), 1);
  const auto form = form::lower(problem.form("u*v*dx"));
  const op::TuningOptions tuning{.search = {.most_plans = 2}, .is_fresh = true, .sample_seconds = 1e-5};
  const auto all = op::tune_kernels(form, problem.system(), options(), tuning);
  const auto few = op::tune_kernels(form, problem.system(), options(false), tuning);
  EXPECT_EQ(few.front().num_timed, 2U);
  EXPECT_EQ(few.front().info.decision.candidates.size(), all.front().info.decision.candidates.size());
  std::string event;
  auto stopped = tuning;
  stopped.event = [&event](const std::string& text) {
    event = text;
    throw base::SolverError("stopped");
  };
  EXPECT_THROW((void)op::tune_kernels(form, problem.system(), {.planner = planner()}, stopped), base::SolverError);
  EXPECT_NE(event.find("timing"), std::string::npos) << event;
}

TEST_F(Tuning, OperatorsDecideForAMatrixByTheTimesOfItsProducts) {
  const Problem problem(box("tetrahedron", 4), 1);
  const auto form = form::lower(problem.form("inner(grad(u), grad(v))*dx + u*v*ds"));
  const op::TuningOptions tuning{.sample_seconds = 1e-5};
  auto expecting = options(false);
  expecting.num_applications = 1e6; // beside so many applications, set-up costs nothing
  (void)op::tune_kernels(form, problem.system(), expecting, {.search = {.most_plans = 1}, .sample_seconds = 1e-5});
  const auto timed = op::tune_matrix(form, problem.system(), expecting, tuning);
  ASSERT_TRUE(timed.has_value());
  EXPECT_TRUE(timed->was_timed);
  EXPECT_TRUE(timed->forecast.is_measured);
  const auto again = op::tune_matrix(form, problem.system(), expecting, tuning);
  EXPECT_FALSE(again->was_timed);
  for (const auto value :
       {&op::MatrixForecast::seconds, &op::MatrixForecast::kernel_seconds, &op::MatrixForecast::setup_seconds}) {
    EXPECT_GT(timed->forecast.*value, 0);
    EXPECT_EQ(again->forecast.*value, timed->forecast.*value);
  }
  const auto built = op::build_form(form, problem.system(), op::Purpose::action, expecting);
  ASSERT_TRUE(built->forecast.has_value());
  EXPECT_EQ(built->forecast->seconds, timed->forecast.seconds);
  EXPECT_EQ(built->matrix != nullptr, timed->forecast.pays());
  const auto fresh = op::tune_matrix(form, problem.system(), expecting, {.is_fresh = true, .sample_seconds = 1e-5});
  EXPECT_TRUE(fresh->was_timed);
  // Another problem has its own times.
  const Problem larger(box("tetrahedron", 5), 1);
  const auto of_larger = op::build_form(form::lower(larger.form("inner(grad(u), grad(v))*dx + u*v*ds")),
                                        larger.system(), op::Purpose::action, expecting);
  EXPECT_FALSE(of_larger->forecast->is_measured);
}

TEST_F(Tuning, MatricesOfFormsWithParametersAreTimedOnSomeValues) {
  // The parameters of a form in time, such as the length of a step, have no values before they are set.
  const Problem problem(box("tetrahedron", 4), 1);
  const auto form = form::lower(form::parameter("k") * problem.form("inner(grad(u), grad(v))*dx + u*v*ds"));
  ASSERT_EQ(form.parameters.size(), 1U);
  auto expecting = options(false);
  expecting.num_applications = 1e6;
  (void)op::tune_kernels(form, problem.system(), expecting, {.search = {.most_plans = 1}, .sample_seconds = 1e-5});
  const auto timed = op::tune_matrix(form, problem.system(), expecting, {.is_fresh = true, .sample_seconds = 1e-5});
  ASSERT_TRUE(timed.has_value());
  EXPECT_TRUE(timed->was_timed);
  EXPECT_GT(timed->forecast.seconds, 0);
}

TEST_F(Tuning, MatricesWithoutHopeAreNotTimed) {
  const Problem problem(box("tetrahedron", 2), 1);
  const auto form = form::lower(problem.form("inner(grad(u), grad(v))*dx"));
  auto expecting = options(false);
  EXPECT_FALSE(op::tune_matrix(form, problem.system(), expecting, {}).has_value()) << "nobody applies it";
  expecting.num_applications = 1;
  const auto hopeless = op::tune_matrix(form, problem.system(), expecting, {});
  ASSERT_TRUE(hopeless.has_value());
  EXPECT_FALSE(hopeless->was_timed);
  EXPECT_FALSE(hopeless->forecast.is_measured);
  EXPECT_FALSE(hopeless->forecast.pays());
}

TEST_F(Tuning, FormsWithoutCellIntegralsAreRefused) {
  const Problem problem(box("quadrilateral"), 1);
  try {
    (void)tune(problem, "u*v*ds");
    FAIL() << "nothing is refused";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no integral over cells (dx)"), std::string::npos) << error.what();
  }
}

TEST_F(Tuning, LinearFormsAreRefused) {
  const Problem problem(box("quadrilateral"), 1);
  EXPECT_THROW((void)op::tune_kernels(form::lower(problem.form("v*dx")), problem.system(), options(), {}),
               base::InputError);
}

} // namespace
} // namespace rafter::test

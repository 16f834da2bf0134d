// SPDX-License-Identifier: BSD-3-Clause
// The planner takes plans that were measured, or else what the model predicts, and lowers only a few plans for it.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/machine/typical.hpp>
#include <rafter/schedule/contraction_keys.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/tune/candidates.hpp>
#include <rafter/tune/plan_lowering.hpp>
#include <rafter/tune/planner.hpp>
#include <rafter/tune/store.hpp>
#include <rafter/tune/unweighed_plans.hpp>

#include <tests/support/device_folders.hpp>

namespace rafter::tune {
namespace {

namespace key = schedule::key;

/// The plans of this kernel on hexahedra differ in the length of a loop; the lowered ones are recorded.
class Kernel final : public PlanLowering {
public:
  Kernel() {
    problem.text = "test";
    problem.is_tensor = true;
    problem.num_dofs = problem.num_points = 125;
    problem.nodes_per_axis = problem.points_per_axis = 5;
    problem.factor_storages = {kernel::FactorStorage::recompute, kernel::FactorStorage::store,
                               kernel::FactorStorage::store_merged};
    problem.num_batches = 100;
    problem.input_bytes = problem.output_bytes = 1000;
  }
  Estimate estimate(const schedule::Plan& plan) override { return {.flops = 16.0 * length(plan)}; }
  PlannedProgram lower(const schedule::Plan& plan) override {
    if (refuses(plan)) throw base::InputError("too large");
    ++num_lowered[schedule::to_string(plan)];
    const auto body = "(store w (iadd (imul $i 8) lane) (mul (number 2) (load w (iadd (imul $i 8) lane))))";
    return {.loops = schedule::read(
                fmt::format("(program kernel 8\n(buffer w work real 8000 lane)\n(block (for i {} (block {}))))\n",
                            length(plan), body))};
  }
  static int length(const schedule::Plan& plan) {
    return 100 + (plan[key::contraction] == kernel::Contraction::collocated ? 0 : 200) +
           (plan[key::factors] == kernel::FactorStorage::store ? 0 : 50) + (plan[key::even_odd] == 0 ? 20 : 0);
  }
  schedule::PlanningProblem problem;
  std::map<std::string, int> num_lowered;
  std::function<bool(const schedule::Plan&)> refuses = [](const schedule::Plan&) { return false; };
};

const auto fastest = schedule::parse_plan("contraction=collocated factors=store even_odd=4");

TEST(Planner, PredictsTheFastest) {
  Kernel kernel;
  const auto decision = Planner().decide(kernel.problem, kernel);
  EXPECT_EQ(decision.plan, fastest);
  EXPECT_EQ(decision.origin, Origin::predicted);
  EXPECT_LE(kernel.num_lowered.size(), num_weighed);
}

TEST(Planner, WeighsAllOnRequestEachProgramOnce) {
  Kernel kernel;
  kernel.problem.compilers = {"default", "clang"};
  const auto decision = Planner({.weighs_all = true}).decide(kernel.problem, kernel);
  EXPECT_EQ(decision.candidates.size(), candidates(kernel.problem).size());
  EXPECT_EQ(2 * kernel.num_lowered.size(), decision.candidates.size());
  for (const auto& [plan, times] : kernel.num_lowered) EXPECT_EQ(times, 1) << plan;
  for (std::size_t i = 1; i < decision.candidates.size(); ++i)
    EXPECT_LE(decision.candidates[i - 1].predicted_seconds, decision.candidates[i].predicted_seconds);
  EXPECT_EQ(decision.candidates.front().plan, fastest);
}

TEST(Planner, WithoutTimingsTheUsualCompilerIsTaken) {
  Kernel kernel;
  kernel.problem.compilers = {"default", "clang"};
  EXPECT_EQ(Planner().decide(kernel.problem, kernel).plan[key::compiler], "");
}

TEST(Planner, VectorsOfSeveralRegistersAreForClang) {
  Kernel kernel;
  kernel.problem.register_width = 4;
  const Planner planner({.machine = machine::typical_machine(256)});
  for (const auto& candidate : planner.decide(kernel.problem, kernel).candidates)
    EXPECT_EQ(candidate.plan[key::vector_width], 4);
  kernel.problem.compilers = {"default", "clang"};
  int num_wide = 0;
  for (const auto& candidate : planner.decide(kernel.problem, kernel).candidates) {
    EXPECT_EQ(candidate.plan[key::compiler], candidate.plan[key::vector_width] > 4 ? "clang" : "");
    num_wide += candidate.plan[key::vector_width] > 4 ? 1 : 0;
  }
  EXPECT_GT(num_wide, 0);
}

TEST(Planner, TransfersTakeTwoRegistersWhereClangSplitsThem) {
  const auto plan = [](int register_width, std::vector<std::string> names, int cells_per_batch = 64) {
    const Planner planner({.machine = machine::typical_machine(64 * register_width)});
    return plan_transfer(cells_per_batch, planner, schedule::Target(), {std::move(names), {"default", "O2"}});
  };
  const auto split = plan(4, {"default", "clang"});
  EXPECT_EQ(split[key::vector_width], 8);
  EXPECT_EQ(split[key::compiler], "clang");
  EXPECT_EQ(split[key::flags], "O2");
  EXPECT_FALSE(split[key::prefetch]);
  EXPECT_EQ(plan(4, {"default"})[key::vector_width], 4);
  EXPECT_EQ(plan(4, {"default"})[key::compiler], "");
  EXPECT_EQ(plan(2, {"default", "clang"})[key::vector_width], 4);
  for (const int cells : {8, 64}) { // a register holds the patches of a batch
    EXPECT_EQ(plan(8, {"default", "clang"}, cells)[key::vector_width], 8);
    EXPECT_EQ(plan(8, {"default", "clang"}, cells)[key::compiler], "");
  }
}

TEST(Planner, WhatWasMeasuredCounts) {
  const test::Folder folder;
  const auto store = std::make_shared<Store>(folder.path() / "plans.sqlite");
  const Planner planner({.store = store});
  Kernel kernel;
  EXPECT_EQ(planner.decide(kernel.problem, kernel).key, ""); // the store has no file yet, so that no key is needed
  const auto cold = Planner({.store = store, .weighs_all = true}).decide(kernel.problem, kernel);
  const auto slow =
      schedule::to_string(schedule::parse_plan("contraction=per-derivative factors=recompute even_odd=0"));
  EXPECT_TRUE(store->remember(cold.key, {{slow, 1e-6, 1}, {schedule::to_string(fastest), 2e-6, 1}}));
  kernel.num_lowered.clear();
  const auto warm = planner.decide(kernel.problem, kernel);
  EXPECT_EQ(schedule::to_string(warm.plan), slow);
  EXPECT_EQ(warm.origin, Origin::measured);
  EXPECT_TRUE(kernel.num_lowered.empty()); // no plan had to be weighed
  const auto listed = Planner({.store = store, .weighs_all = true}).decide(kernel.problem, kernel);
  EXPECT_EQ(schedule::to_string(listed.candidates[0].plan), slow);
  EXPECT_EQ(listed.candidates[0].measured_seconds, 1e-6);
  EXPECT_EQ(listed.candidates[1].plan, fastest);
  EXPECT_FALSE(listed.candidates[2].measured_seconds.has_value());
}

TEST(Planner, RememberedPlansThatAreNoCandidatesAreIgnored) {
  const test::Folder folder;
  const auto store = std::make_shared<Store>(folder.path() / "plans.sqlite");
  const Planner planner({.store = store});
  Kernel kernel;
  const auto key = Planner({.store = store, .weighs_all = true}).decide(kernel.problem, kernel).key;
  EXPECT_TRUE(store->remember(key, {{"mapping=of_old_times", 1e-9, 1}, {"contraction=dense", 1e-9, 1}}));
  EXPECT_EQ(planner.decide(kernel.problem, kernel).plan, fastest);
  EXPECT_EQ(planner.decide(kernel.problem, kernel).origin, Origin::predicted);
}

TEST(Planner, RememberedTimesThatNoClockShowsAreIgnored) {
  const test::Folder folder;
  const auto store = std::make_shared<Store>(folder.path() / "plans.sqlite");
  Kernel kernel;
  const auto weighs_all = Planner({.store = store, .weighs_all = true});
  const auto key = weighs_all.decide(kernel.problem, kernel).key;
  const auto slow = schedule::parse_plan("contraction=per-derivative factors=recompute even_odd=0");
  const auto other = schedule::parse_plan("factors=store even_odd=0");
  for (const double seconds : {-1.0, 0.0, -std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(store->remember(key, {{schedule::to_string(slow), seconds, 1}, {schedule::to_string(other), 1e-6, 1}}));
    EXPECT_EQ(Planner({.store = store}).decide(kernel.problem, kernel).plan, other) << seconds;
    for (const auto& candidate : weighs_all.decide(kernel.problem, kernel).candidates)
      EXPECT_EQ(candidate.measured_seconds.has_value(), candidate.plan == other) << seconds;
  }
}

TEST(Planner, RememberedPlansWithoutKeysOfThisVersionCount) {
  const test::Folder folder;
  const auto store = std::make_shared<Store>(folder.path() / "plans.sqlite");
  const Planner planner({.store = store});
  Kernel kernel;
  const auto slow = schedule::parse_plan("factors=store even_odd=0");
  const auto key = Planner({.store = store, .weighs_all = true}).decide(kernel.problem, kernel).key;
  auto text = schedule::to_string(slow);
  EXPECT_TRUE(store->remember(key, {{text.substr(0, text.find(" flags=")), 1e-9, 1}}));
  EXPECT_EQ(planner.decide(kernel.problem, kernel).plan, slow);
  EXPECT_EQ(planner.decide(kernel.problem, kernel).origin, Origin::measured);
}

TEST(Planner, PlansThatDoNotFitAreLeftOut) {
  Kernel kernel;
  kernel.refuses = [](const schedule::Plan& plan) { return plan == fastest; };
  EXPECT_EQ(Planner().decide(kernel.problem, kernel).plan, schedule::parse_plan("factors=store even_odd=0"));
  kernel.refuses = [](const schedule::Plan&) { return true; };
  EXPECT_THROW((void)Planner().decide(kernel.problem, kernel), base::InputError);
}

} // namespace
} // namespace rafter::tune

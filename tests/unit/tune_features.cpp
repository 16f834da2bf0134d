// SPDX-License-Identifier: BSD-3-Clause
// Features are counted from loop programs; those of small programs are compared with counts by hand.
#include <gtest/gtest.h>

#include <rafter/schedule/planning_problem.hpp>
#include <rafter/tune/features.hpp>
#include <rafter/tune/plan_lowering.hpp>

namespace rafter::tune {
namespace {

/// Programs have four lanes, work arrays w (whole vectors) and s (constant indices only), and vectors x, y.
Features count(const std::string& body) {
  PlannedProgram plan;
  plan.loops = schedule::read("(program kernel 4\n"
                              "(buffer w work real 64 lane)\n"
                              "(buffer s work real 8 lane)\n"
                              "(buffer x global real 0 role input_vector 0)\n"
                              "(buffer n global integer 0 role run_starts 0)\n"
                              "(buffer y global real 0 written role output_vector 0)\n"
                              "(block " +
                              body + "))\n");
  plan.data_bytes = 100;
  schedule::PlanningProblem problem;
  problem.cells_per_batch = 4;
  problem.input_bytes = 20;
  problem.output_bytes = 3;
  return count_features(plan, problem);
}

constexpr const char* whole = "(iadd (imul $i 4) lane)"; // index of vector i in a work array

TEST(Features, SizesAreThoseOfPlanAndProblem) {
  const auto f = count("");
  EXPECT_EQ(f.work_bytes, 8 * (64 + 8));
  EXPECT_EQ(f.data_bytes, 100);
  EXPECT_EQ(f.vector_bytes, 23);
  EXPECT_EQ(f.arithmetic + f.loads + f.stores + f.text, 0);
}

TEST(Features, LoopsMultiply) {
  const auto f =
      count(std::string("(for i 8 (block (store w ") + whole + " (add (load w " + whole + ") (number 1)))))");
  EXPECT_EQ(f.iterations, 8);
  EXPECT_EQ(f.loads, 8);
  EXPECT_EQ(f.stores, 8);
  EXPECT_EQ(f.arithmetic, 8);
  EXPECT_EQ(f.flops, 8 * 4);
}

TEST(Features, UnrolledLoopsStandInTheTextAndTakeNoIterations) {
  const std::string body = std::string(" (block (store w ") + whole + " (add (load w " + whole + ") (number 1)))))";
  const auto rolled = count("(for i 8" + body), unrolled = count("(for i unrolled 8" + body);
  EXPECT_EQ(unrolled.iterations, 0);
  EXPECT_EQ(unrolled.arithmetic, rolled.arithmetic);
  EXPECT_EQ(unrolled.text, 8 * rolled.text);
}

TEST(Features, RunsAreTurnedInRegisters) {
  const std::string place = "(iadd (imul (iload n $k) 4) lane)", number = "(iadd (iload n lane) $k)";
  const auto loaded = count("(for k run 2 (block (store w " + place + " (load x " + number + "))))");
  EXPECT_EQ(loaded.loads, 2 * 4 / 2) << "two numbers of every lane at a time";
  EXPECT_EQ(loaded.stores, 2);
  EXPECT_EQ(loaded.arithmetic, 2 * 1);
  EXPECT_EQ(loaded.gathers + loaded.iterations, 0);
  const auto added = count("(for k run 4 (block (add y " + number + " (load w " + place + "))))");
  EXPECT_EQ(added.scatters, 4 * 4 / 4);
  EXPECT_EQ(added.loads, 4);
  EXPECT_EQ(added.arithmetic, 4 * 2);
}

TEST(Features, AProductThatIsAddedIsOneInstruction) {
  const std::string u = std::string("(load w ") + whole + ")";
  const auto fused =
      count("(for i 2 (block (store w " + std::string(whole) + " (add (mul (number 3) " + u + ") " + u + "))))");
  EXPECT_EQ(fused.arithmetic, 2);
  EXPECT_EQ(fused.flops, 2 * 2 * 4);
}

TEST(Features, WorkArraysWithConstantIndicesAreRegisters) {
  const auto f =
      count("(store s (iadd 0 lane) (number 0)) (add s (iadd 0 lane) (mul (number 2) (load s (iadd 4 lane))))");
  EXPECT_EQ(f.loads, 0);
  EXPECT_EQ(f.stores, 0);
  EXPECT_EQ(f.arithmetic, 1);
}

TEST(Features, IndicesPerLaneGatherAndScatter) {
  const auto f = count("(for i 3 (block (ilet p (iload n (iadd (imul $i 4) lane))) (add y @p (load x @p))))");
  EXPECT_EQ(f.gathers, 3);
  EXPECT_EQ(f.scatters, 3 * 4);
  EXPECT_EQ(f.index_loads, 3);
  EXPECT_EQ(f.loads, 0);
}

TEST(Features, LoadsLaneByLaneCountTheirLanes) {
  const auto f = count("(for i 3 (block (ilet p (iload n (iadd (imul $i 4) lane))) (add y @p (load x by_lane @p))))");
  EXPECT_EQ(f.gathers, 0);
  EXPECT_EQ(f.lane_loads, 3 * 4);
}

TEST(Features, NumbersForAllLanesAreBroadcast) {
  const auto f =
      count(std::string("(for i 3 (block (store w ") + whole + " (mul (load x $i) (load w " + whole + ")))))");
  EXPECT_EQ(f.broadcasts, 3);
  EXPECT_EQ(f.loads, 3);
}

TEST(Features, DivisionsAndFunctionsCountByThemselves) {
  const auto f = count(std::string("(for i 2 (block (store w ") + whole + " (div (sqrt (load w " + whole +
                       ")) (exp (load w " + whole + "))))))");
  EXPECT_EQ(f.divisions, 2 * 2);
  EXPECT_EQ(f.functions, 2 * 4);
  EXPECT_EQ(f.arithmetic, 0);
}

TEST(Features, BranchesCountTheRegularPath) {
  const auto f =
      count("(if (iload n 0) (block (store w lane (number 1))) (block (store w lane (number 1)) (store w lane "
            "(number 2))))");
  EXPECT_EQ(f.stores, 0); // a number at a constant index is in a register
  EXPECT_EQ(f.text, 1);
  EXPECT_EQ(f.index_loads, 1);
}

TEST(Features, WordsAreThoseOfTheArithmetic) {
  const auto f = count_features(
      {.loops = schedule::read(
           "(program k 4 (buffer u global real 0) (buffer h work real32 64 lane) (block (for i 8 (block "
           "(store h (iadd (imul $i 4) lane) (mul (load h (iadd (imul $i 4) lane)) (narrow (load u lane)))"
           ")))))")},
      {.cells_per_batch = 4});
  EXPECT_EQ(f.word_bytes, 4);
  EXPECT_EQ(f.work_bytes, 4 * 64);
  EXPECT_EQ(f.arithmetic, 2 * 8) << "a product and a conversion";
}

TEST(Features, NamesCoverEveryFeatureOnce) {
  Features f;
  for (const auto& feature : feature_names) f.*feature.value += 1;
  for (const auto& feature : feature_names) EXPECT_EQ(f.*feature.value, Features().*feature.value + 1) << feature.name;
  EXPECT_EQ(sizeof(Features), feature_names.size() * sizeof(double));
}

} // namespace
} // namespace rafter::tune

// SPDX-License-Identifier: BSD-3-Clause
// Candidates are the product over all keys, without combinations that make no sense.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <rafter/base/text.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/key_registry.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/tune/candidates.hpp>

namespace rafter::tune {
namespace {

namespace key = schedule::key;

schedule::PlanningProblem hexahedron() {
  schedule::PlanningProblem problem;
  problem.is_tensor = true;
  problem.num_dofs = 125;
  problem.num_points = 125;
  problem.nodes_per_axis = problem.points_per_axis = 5;
  problem.factor_storages = {kernel::FactorStorage::store, kernel::FactorStorage::recompute};
  return problem;
}

schedule::PlanningProblem tetrahedron() {
  schedule::PlanningProblem problem;
  problem.num_dofs = 10;
  problem.num_points = 4;
  problem.factor_storages = {kernel::FactorStorage::recompute};
  return problem;
}

std::set<std::string> values(const std::vector<schedule::Plan>& plans, const std::string& key) {
  std::set<std::string> result;
  for (const auto& plan : plans) {
    const auto text = schedule::to_string(plan) + " ";
    const auto begin = text.find(key + "=") + key.size() + 1;
    result.insert(text.substr(begin, text.find(' ', begin) - begin));
  }
  return result;
}

TEST(Candidates, AreDifferentPlansThatAreParsedBack) {
  for (const auto& problem : {hexahedron(), tetrahedron()}) {
    std::set<std::string> texts;
    for (const auto& plan : candidates(problem)) {
      EXPECT_EQ(schedule::parse_plan(schedule::to_string(plan)), plan);
      EXPECT_TRUE(texts.insert(schedule::to_string(plan)).second) << schedule::to_string(plan);
    }
  }
}

TEST(Candidates, EveryKeyThatIsTriedHasAUsualValue) {
  for (const auto* key : schedule::key_registry().varied())
    for (const auto& problem : {hexahedron(), tetrahedron()}) {
      const auto usual = key->tried(problem, {});
      ASSERT_FALSE(usual.empty()) << key->name;
      schedule::Plan plan;
      EXPECT_NO_THROW(key->read(plan, usual.front())) << key->name;
    }
}

TEST(Candidates, BeginWithTheUsualPlan) {
  EXPECT_EQ(schedule::to_string(candidates(hexahedron()).front()),
            schedule::to_string(schedule::parse_plan("factors=store")));
}

/// Kernels of cell matrices have loops to choose from, and with cells in items groups, orders in memory and an array in
/// shared memory; all else is as in their usual plan.
TEST(Candidates, OfCellMatricesHaveOtherLoops) {
  auto problem = tetrahedron();
  problem.has_point_matrices = true;
  problem.matrix_plan = std::make_shared<const schedule::Plan>(schedule::parse_plan("contraction=dense prefetch=0"));
  const auto on_host = candidates(problem);
  EXPECT_EQ(on_host.size(), 7U);
  EXPECT_EQ(values(on_host, "prefetch"), std::set<std::string>{"0"});
  EXPECT_EQ(values(on_host, "order"), (std::set<std::string>{"tables", "qss", "sqs", "ssq"}));
  problem.has_point_matrices = false;
  EXPECT_EQ(values(candidates(problem), "contraction"), std::set<std::string>{"dense"});
  problem.has_point_matrices = true;
  problem.target = {.has_lanes = false, .has_groups = true};
  problem.matrix_plan = std::make_shared<const schedule::Plan>(schedule::usual_plan(problem.target));
  const auto in_items = candidates(problem);
  const std::size_t of_groups_and_orders_in_memory = 2 * 3 * 2, loops = 6, workspaces = 5;
  EXPECT_EQ(in_items.size(), of_groups_and_orders_in_memory * (1 + loops * workspaces));
  for (const auto& plan : in_items)
    EXPECT_EQ(plan[schedule::key::padding], plan[schedule::key::workspace] != schedule::Workspace::none);
}

TEST(Candidates, OnlyGridsOfPointsAreFactorised) {
  EXPECT_EQ(values(candidates(tetrahedron()), "contraction"), std::set<std::string>{"dense"});
  EXPECT_EQ(values(candidates(hexahedron()), "contraction"), (std::set<std::string>{"collocated", "per-derivative"}));
  auto stored = hexahedron();
  stored.has_stored_matrices = true;
  EXPECT_TRUE(values(candidates(stored), "contraction").contains("cell-matrices"));
  auto linear = hexahedron();
  linear.num_dofs = linear.num_points = 8;
  EXPECT_TRUE(values(candidates(linear), "contraction").contains("dense"));
}

TEST(Candidates, DenseProductsDifferInRegistersAndText) {
  EXPECT_EQ(values(candidates(tetrahedron()), "rows"), (std::set<std::string>{"16", "8"}));
  EXPECT_EQ(values(candidates(tetrahedron()), "unroll"), (std::set<std::string>{"256", "0"}));
  EXPECT_EQ(values(candidates(hexahedron()), "rows").size(), 1U);
  auto few_registers = tetrahedron();
  few_registers.register_width = 4;
  EXPECT_EQ(values(candidates(few_registers), "rows"), std::set<std::string>{"8"});
}

TEST(Candidates, DenseProductsTakeSeveralGroupsWhereABatchHasThem) {
  const auto subbatches = [](schedule::PlanningProblem problem, int batch, int of_register) {
    problem.cells_per_batch = batch;
    problem.register_width = of_register;
    problem.compilers = {"default", "clang"};
    return values(candidates(problem), "subbatches");
  };
  EXPECT_EQ(subbatches(tetrahedron(), 8, 8), std::set<std::string>{"1"});
  EXPECT_EQ(subbatches(tetrahedron(), 16, 8), (std::set<std::string>{"1", "2"}));
  EXPECT_EQ(subbatches(tetrahedron(), 8, 4), (std::set<std::string>{"1", "2"}));
  EXPECT_EQ(subbatches(tetrahedron(), 8, 2), (std::set<std::string>{"1", "2", "4"}));
  EXPECT_EQ(subbatches(hexahedron(), 16, 8), std::set<std::string>{"1"});
  auto large = tetrahedron();
  large.num_dofs = 56;
  EXPECT_EQ(subbatches(large, 8, 8), std::set<std::string>{"1"});
  EXPECT_EQ(subbatches(large, 16, 8), std::set<std::string>({"1", "2"})); // the single sub-batch has vector_width = 16
  EXPECT_EQ(subbatches(large, 16, 4), std::set<std::string>({"2", "4"}));
  auto problem = tetrahedron();
  problem.register_width = 2;
  for (const auto& plan : candidates(problem)) EXPECT_LE(plan[key::vector_width] * plan[key::subbatches], 8);
}

TEST(Candidates, EvenOddThresholdsDifferInWhatTheyDo) {
  const auto thresholds = [](int nodes, int points) {
    auto problem = hexahedron();
    problem.nodes_per_axis = nodes;
    problem.points_per_axis = points;
    return values(candidates(problem), "even_odd");
  };
  EXPECT_EQ(thresholds(5, 5), (std::set<std::string>{"4", "0"}));
  EXPECT_EQ(thresholds(3, 4), (std::set<std::string>{"4", "2", "0"}));
  // No matrix has 4 columns, so that 4 does what 0 would.
  EXPECT_EQ(thresholds(2, 3), (std::set<std::string>{"4", "2"}));
}

TEST(Candidates, StreamOnlyWhatIsExclusiveAndLeavesTheCaches) {
  auto problem = hexahedron();
  EXPECT_EQ(values(candidates(problem), "stores"), std::set<std::string>{"cached"});
  problem.streams_outputs = true;
  EXPECT_EQ(values(candidates(problem), "stores"), std::set<std::string>{"streaming"});
}

TEST(Candidates, StreamWholeLinesAlone) {
  auto problem = hexahedron();
  problem.streams_outputs = true;
  problem.cells_per_batch = 8;
  problem.register_width = 4;
  for (const auto& plan : candidates(problem))
    EXPECT_EQ(plan[key::stores] == schedule::Stores::streaming, plan[key::vector_width] == 8) << to_string(plan);
}

TEST(Candidates, IndicesOfDofsWhereRunsSaveNothing) {
  const auto indices = [](schedule::PlanningProblem problem, bool has_longer_runs, double share) {
    problem.has_longer_runs = has_longer_runs;
    problem.whole_runs_share = share;
    return values(candidates(problem), "indices");
  };
  EXPECT_EQ(indices(hexahedron(), true, 0), std::set<std::string>{"runs"});
  EXPECT_EQ(indices(tetrahedron(), false, 1), std::set<std::string>{"dofs"});
  EXPECT_EQ(indices(tetrahedron(), true, 0.5), std::set<std::string>{"dofs"});
  EXPECT_EQ(indices(tetrahedron(), true, 0.9), (std::set<std::string>{"runs", "dofs"}));
}

TEST(Candidates, CompilersMultiplyThem) {
  auto problem = hexahedron();
  const auto one = candidates(problem).size();
  problem.compilers = {"default", "clang"};
  EXPECT_EQ(candidates(problem).size(), 2 * one);
  EXPECT_EQ(values(candidates(problem), "compiler"), (std::set<std::string>{"default", "clang"}));
}

TEST(Candidates, FlagsMultiplyThoseOfLargeKernels) {
  auto problem = hexahedron();
  problem.flag_sets = {"default", "O2", "unroll"};
  EXPECT_EQ(values(candidates(problem), "flags"), std::set<std::string>{"default"});
  const auto one = candidates(problem).size();
  problem.num_points = 216;
  EXPECT_EQ(candidates(problem).size(), 2 * one);
  EXPECT_EQ(values(candidates(problem), "flags"), (std::set<std::string>{"default", "O2"}));
}

TEST(Candidates, HalfOfTheLanesWhereTheArraysAreLarge) {
  auto problem = hexahedron();
  EXPECT_EQ(values(candidates(problem), "vector_width"), std::set<std::string>{"8"});
  problem.num_points = 4096;
  EXPECT_EQ(values(candidates(problem), "vector_width"), (std::set<std::string>{"8", "4"}));
}

TEST(Candidates, PointsInLanesWhereTheArraysAreLargeAndLinesFillRegisters) {
  auto problem = hexahedron();
  problem.output_bytes = 1;
  const auto offers = [&](int points) {
    problem.points_per_axis = points;
    problem.num_points = points * points * points;
    for (const auto& plan : candidates(problem))
      if (plan[key::mapping].name == "simd_points") {
        EXPECT_EQ(plan[key::contraction], kernel::Contraction::collocated);
        EXPECT_EQ(plan[key::vector_width], 8);
      }
    return values(candidates(problem), "mapping").contains("simd_points");
  };
  EXPECT_FALSE(offers(8)); // the arrays fit in the nearest cache
  EXPECT_TRUE(offers(13));
  EXPECT_FALSE(offers(17)); // two vectors and an eighth would take three registers
  EXPECT_TRUE(offers(24));
  problem.output_bytes = 0; // a functional has no output vector
  EXPECT_FALSE(offers(24));
  problem.output_bytes = 1;
  problem.points_per_axis = problem.num_points = 4096; // intervals have no such mapping
  EXPECT_FALSE(values(candidates(problem), "mapping").contains("simd_points"));
}

TEST(Candidates, VectorsOfTwoRegistersAreCompiledByClangAlone) {
  auto problem = hexahedron();
  problem.register_width = 4;
  EXPECT_EQ(values(candidates(problem), "vector_width"), std::set<std::string>{"4"});
  problem.compilers = {"default", "clang"};
  std::set<std::string> of_wide, of_usual;
  for (const auto& plan : candidates(problem))
    (plan[key::vector_width] > 4 ? of_wide : of_usual).insert(plan[key::compiler]);
  EXPECT_EQ(of_wide, std::set<std::string>{"clang"});
  EXPECT_EQ(of_usual, std::set<std::string>{""});
  problem.cells_per_batch = 16;
  problem.register_width = 8;
  of_usual.clear();
  for (const auto& plan : candidates(problem))
    if (plan[key::vector_width] == 8) of_usual.insert(plan[key::compiler]);
  EXPECT_EQ(of_usual, (std::set<std::string>{"", "clang"}));
}

TEST(Candidates, BothWaysToGatherOnSimplicesAlone) {
  auto hexahedra = hexahedron(), tetrahedra = tetrahedron();
  hexahedra.gathers = tetrahedra.gathers = {"scalar", "vector"};
  EXPECT_EQ(values(candidates(hexahedra), "gathers"), std::set<std::string>{"scalar"});
  EXPECT_EQ(values(candidates(tetrahedra), "gathers"), (std::set<std::string>{"scalar", "vector"}));
}

TEST(Candidates, AsManyLanesAsARegisterHoldsOrTwice) {
  auto problem = hexahedron();
  problem.compilers = {"default", "clang"};
  for (const auto& [register_width, expected] :
       {std::pair(16, std::set<std::string>{"8"}), std::pair(4, std::set<std::string>{"4", "8"}),
        std::pair(2, std::set<std::string>{"2", "4"}), std::pair(1, std::set<std::string>{"2", "4"})}) {
    problem.register_width = register_width;
    EXPECT_EQ(values(candidates(problem), "vector_width"), expected) << register_width;
    EXPECT_EQ(candidates(problem).front()[key::vector_width], schedule::usual_width(8, register_width));
  }
}

TEST(Candidates, OneCellAfterTheOtherOnlyWithoutLanes) {
  auto problem = hexahedron();
  EXPECT_FALSE(values(candidates(problem), "mapping").contains("plain"));
  problem.cells_per_batch = 1;
  EXPECT_EQ(values(candidates(problem), "mapping"), std::set<std::string>{"plain"});
  for (const auto& plan : candidates(problem)) EXPECT_EQ(plan[key::vector_width], 1);
}

TEST(Candidates, SimilarityFallsWithEveryKeyThatDiffers) {
  const auto plan = schedule::parse_plan("factors=store even_odd=4");
  EXPECT_EQ(similarity(plan, plan), 1);
  double before = 1;
  for (const char* text :
       {"factors=store even_odd=0", "factors=recompute even_odd=0", "factors=recompute even_odd=0 compiler=clang",
        "factors=recompute even_odd=0 compiler=clang contraction=per-derivative"}) {
    const auto other = schedule::parse_plan(text);
    EXPECT_LT(similarity(plan, other), before) << text;
    EXPECT_EQ(similarity(plan, other), similarity(other, plan));
    before = similarity(plan, other);
  }
  EXPECT_GT(before, 0);
}

TEST(Candidates, SimilarityPairsKeysByName) {
  // Plans for the items of groups have fewer keys, and keys that others have not.
  const auto shared = [](const char* key) { return schedule::key_registry().named(key).shared; };
  const auto host = schedule::parse_plan("factors=store"),
             items = schedule::parse_plan("factors=store mapping=cell_per_item"),
             lanes = schedule::parse_plan("factors=recompute mapping=cell_per_item vector_width=4");
  EXPECT_NE(base::split(schedule::to_string(host), ' ').size(), base::split(schedule::to_string(items), ' ').size());
  EXPECT_NE(base::split(schedule::to_string(lanes), ' ').size(), base::split(schedule::to_string(items), ' ').size());
  EXPECT_DOUBLE_EQ(similarity(lanes, schedule::parse_plan("factors=store mapping=cell_per_item vector_width=4")),
                   shared("factors"));
  for (const auto& [a, b] : {std::pair(host, items), std::pair(host, lanes), std::pair(items, lanes)}) {
    EXPECT_EQ(similarity(a, b), similarity(b, a));
    EXPECT_GT(similarity(a, b), 0);
    EXPECT_LT(similarity(a, b), 1);
  }
  EXPECT_DOUBLE_EQ(similarity(items, lanes), shared("factors") * shared("vector_width"));
}

} // namespace
} // namespace rafter::tune

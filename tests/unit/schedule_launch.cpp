// SPDX-License-Identifier: BSD-3-Clause
// Programs whose groups have items mean what their definition says, compared with results by hand; faults that are
// planted into them are found at their place, and the programs without the fault pass.
#include <gtest/gtest.h>

#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/schedule/launch_interpreter.hpp>

namespace rafter::schedule {
namespace {

using Reals = std::vector<double>;
using Integers = std::vector<std::int32_t>;

/// Returns a program with arguments y (written), x and s (integers), shared array t of 8 numbers and work array w of 4.
LoopProgram program(const std::string& launch, const std::string& statements) {
  auto result = read("(program k 1\n(launch " + launch +
                     ")\n(buffer y global real 0 written)\n(buffer x global real 0)\n(buffer s global integer 0)\n"
                     "(buffer t shared real 8)\n(buffer w work real 4)\n(block " +
                     statements + "))\n");
  verify(result);
  EXPECT_EQ(print(read(print(result))), print(result));
  return result;
}

struct Data {
  Reals y = Reals(16, 0.0), x;
  Integers s;
};

/// Runs batches 0 .. num_batches-1; returns y.
Reals run(const LoopProgram& program, std::int64_t num_batches, Data data) {
  const Argument arguments[] = {{data.y, {}}, {data.x, {}}, {{}, data.s}};
  interpret_launch(program, arguments, 0, num_batches);
  return data.y;
}

Reals numbers(int count) {
  Reals result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 1.0);
  return result;
}

/// Message of a run that has a fault; "" if it has none.
std::string fault(const std::string& launch, const std::string& statements, std::int64_t num_batches,
                  Data data = {.x = numbers(64), .s = Integers(64, 0)}) {
  try {
    run(program(launch, statements), num_batches, std::move(data));
  } catch (const base::InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(Axes, NumberItemsWithinGroupsAndGroupsWithinTheRun) {
  const auto p =
      program("2 2 2 3", "(store y (iadd (imul group 8) (iadd (imul item_z 4) (iadd (imul item_y 2) item_x)))"
                         " (load x (iadd (imul $batch 10) (iadd $last_batch item_y))))");
  Data data{.x = numbers(64)};
  const Argument arguments[] = {{data.y, {}}, {data.x, {}}, {{}, data.s}};
  interpret_launch(p, arguments, 1, 6); // groups take batches 1 to 3, and 4 and 5
  EXPECT_EQ(data.y, (Reals{16, 16, 17, 17, 16, 16, 17, 17, 46, 46, 47, 47, 46, 46, 47, 47}));
}

TEST(Masks, ItemsTakeTheirBranchAndTheirIterationsOfLoops) {
  const auto p = program("4 1 1 1", "(if (ilt item_x 2) (block (store w 0 (number 5))) (block (store w 0 (number 7))))"
                                    "(for i item_x (block (add w 0 (number 10))))"
                                    "(if (ieq item_x 3) (block (store w 1 (load x 1000)) ) (block))"
                                    "(store y item_x (load w 0))");
  EXPECT_THROW(run(p, 1, {.x = numbers(4)}), base::InternalError); // item 3 leaves x, and nobody else tries
  Data data{.x = numbers(1001)};
  data.y.resize(4);
  EXPECT_EQ(run(p, 1, data), (Reals{5, 15, 27, 37}));
}

TEST(Masks, ItemsWithoutANumberDoNotReadIt) {
  EXPECT_EQ(run(program("4 1 1 1", "(if (ilt item_x 2) (block (store y item_x (load x (iload s item_x)))) (block))"), 1,
                {.y = Reals(2, 0.0), .x = numbers(3), .s = {2, 0}}),
            (Reals{3, 1}));
}

TEST(Lanes, OfItemsStandSideBySide) {
  const auto p = read("(program k 2 (launch 2 1 1 1) (buffer y global real 0 written) (buffer w work real 2 lane)"
                      "(block (store w lane (number 1)) (add w lane (number 2) item_x)"
                      "(store y (iadd (imul item_x 2) lane) (load w lane))))");
  verify(p);
  Reals y(4, 0.0);
  const Argument arguments[] = {{y, {}}};
  interpret_launch(p, arguments, 0, 1);
  EXPECT_EQ(y, (Reals{1, 1, 3, 1}));
}

TEST(SharedMemory, BelongsToOneGroupAndBarriersOrderIt) {
  const auto p = program("4 1 1 1", "(store t item_x (load x (iadd (imul group 4) item_x))) (barrier)"
                                    "(store y (iadd (imul group 4) item_x) (load t (isub 3 item_x)))");
  EXPECT_EQ(run(p, 2, {.y = Reals(8, 0.0), .x = numbers(8)}), (Reals{4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST(AtomicAdds, OfItemsAndGroupsAllCount) {
  const auto p = program("4 1 1 1", "(add y atomic (iload s item_x) (load x item_x))");
  EXPECT_EQ(run(p, 3, {.y = {0, 1}, .x = {1, 2, 4, 0.1}, .s = {0, 0, 0, 1}}), (Reals{21, 1 + 0.1 + 0.1 + 0.1}));
}

TEST(AtomicAdds, AreSummedInBothOrdersUpToRounding) {
  const auto p = program("1 1 1 1", "(add y atomic 0 (load x group))");
  EXPECT_EQ(run(p, 3, {.y = {0}, .x = {1e16, 1, 1}}), (Reals{1e16})); // in descending order the sum is 1e16 + 2
}

/// A program, the same with a fault, and what is said of it.
struct Planted {
  const char* name;
  const char* launch;
  const char* before; ///< statements before the place of the fault
  const char* right;  ///< text that stands there
  const char* wrong;  ///< text that stands there instead
  const char* behind;
  std::vector<const char*> message; ///< parts of the message, in their order
};
void PrintTo(const Planted& fault, std::ostream* out) { *out << fault.name; }

class PlantedFaults : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedFaults, AreFoundAtTheirPlaceAndOnlyThere) {
  const auto& [name, launch, before, right, wrong, behind, message] = GetParam();
  EXPECT_EQ(fault(launch, std::string(before) + right + behind, 3), "");
  const std::string found = fault(launch, std::string(before) + wrong + behind, 3);
  std::size_t place = 0;
  for (const std::string part : message) {
    place = found.find(part, place);
    ASSERT_NE(place, std::string::npos) << "'" << part << "' is missing in '" << found << "'";
    place += part.size();
  }
}

const char* const sum_of_neighbours = "(store y (iadd (imul group 4) item_x)"
                                      " (add (load t item_x) (load t (isub 3 item_x))))";
const Planted planted[] = {
    {"missing_barrier",
     "4 1 1 1",
     "(store t item_x (load x item_x))",
     "(barrier)",
     "",
     sum_of_neighbours,
     {"program k: ", "race for entry 3 of t: ", "item 3 of group 0 writes in (store t item_x (load x item_x))",
      "item 0 of group 0 reads in (load t (isub 3 item_x))", "no barrier"}},
    {"barrier_too_early",
     "4 1 1 1",
     "(store t item_x (number 0)) (barrier)",
     "(store t item_x (load x item_x)) (barrier)",
     "(barrier) (store t item_x (load x item_x))",
     sum_of_neighbours,
     {"program k: race for entry 3 of t: ", "item 3 of group 0 writes in (store t item_x (load x item_x))",
      "item 0 of group 0 reads in (load t (isub 3 item_x))", "no barrier"}},
    {"missing_atomic_between_groups",
     "1 1 1 1",
     "",
     "(add y atomic (iload s group) (load x group))",
     "(add y (iload s group) (load x group))",
     "",
     {"program k: race for entry 0 of y: ", "item 0 of group 0 writes in (add y (iload s group) (load x group))",
      "item 0 of group 1 writes in (add y (iload s group) (load x group))", "any order"}},
    {"missing_atomic_between_items",
     "4 1 1 1",
     "",
     "(add y atomic (iadd group 4) (load x item_x))",
     "(add y (iadd group 4) (load x item_x))",
     "",
     {"program k: race for entry 4 of y: ", "item 0 of group 0 writes", "item 1 of group 0 writes", "no barrier"}},
    {"atomic_and_plain_writes_mixed",
     "1 1 1 1",
     "(if (ieq group 0) (block ",
     "(add y atomic 0 (number 1))",
     "(store y 0 (number 1))",
     ") (block (add y atomic 0 (number 1))))",
     {"program k: race for entry 0 of y: ", "item 0 of group 0 writes in (store y",
      "item 0 of group 1 adds atomically"}},
    {"result_of_another_group_read",
     "1 1 1 1",
     "(store y group (number 1))",
     "(store y (iadd group 8) (load y group))",
     "(store y (iadd group 8) (load y 0))",
     "",
     {"program k: race for entry 0 of y: ", "item 0 of group 0 writes in (store y group (number 1))",
      "item 0 of group 1 reads in (load y 0)", "any order"}},
    {"stale_copy_of_shared_memory", // the next turn overwrites a copy that others still read
     "4 1 1 1",
     "(for turn 2 (block (store t item_x (load x (iadd (imul $turn 4) item_x))) (barrier)"
     "(store w $turn (load t (isub 3 item_x)))",
     "(barrier)",
     "",
     ")) (store y (iadd (imul group 4) item_x) (add (load w 0) (load w 1)))",
     {"program k: race for entry 0 of t: ", "item 3 of group 0 reads in (load t (isub 3 item_x))",
      "item 0 of group 0 writes in (store t item_x"}},
    {"missing_refresh_of_shared_memory", // what an earlier group copied is not there
     "4 1 1 1",
     "(if (ilt group ",
     "3",
     "1",
     ") (block (store t item_x (load x item_x))) (block)) (barrier) (store y (iadd (imul group 4) item_x) (load t "
     "item_x))",
     {"program k: entry 0 of t is read before its group has written it: item 0 of group 1 reads in (load t item_x)"}},
    {"work_array_of_another_group",
     "1 1 1 1",
     "(if (ilt group ",
     "3",
     "2",
     ") (block (store w 1 (number 2))) (block)) (add w 1 (number 1)) (store y group (load w 1))",
     {"program k: entry 1 of w is read before its item has written it: item 0 of group 2 writes in (add w 1"}},
};

INSTANTIATE_TEST_SUITE_P(every_kind, PlantedFaults, ::testing::ValuesIn(planted),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(PlantedFaults, WritesOfTwoItemsMeetAlsoWithEqualValues) {
  EXPECT_NE(fault("2 1 1 1", "(store y group (number 1))", 1).find("race for entry 0 of y"), std::string::npos);
}

TEST(Indices, ThatLeaveTheWorkArrayOfAnItemAreRefused) {
  EXPECT_NE(fault("2 1 1 1", "(store w (iadd item_x 3) (number 1))", 1).find("index 4 leaves buffer w"),
            std::string::npos);
}

TEST(HostPrograms, AreTheOnlyOnesThatRunBatchByBatch) {
  const auto p = program("2 1 1 1", "(store y item_x (number 1))");
  EXPECT_THROW((void)interpret(p, {}, 0, 1), base::InternalError);
  const auto host =
      program("1 1 1 1", "(store y group (number 1)) (barrier) (store y (iadd $batch item_y) (number 2))");
  EXPECT_EQ(print(host).find("launch"), std::string::npos);
  Data data;
  const Argument arguments[] = {{data.y, {}}, {data.x, {}}, {{}, data.s}};
  interpret(host, arguments, 4, 6);
  EXPECT_EQ(data.y, (Reals{1, 1, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

} // namespace
} // namespace rafter::schedule

// SPDX-License-Identifier: BSD-3-Clause
// The interpreter does what the definition of loop programs says, statement by statement, compared with results by
// hand. Operations of tiny programs are counted.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <rafter/base/error.hpp>
#include <rafter/schedule/counts.hpp>

#include <tests/support/loop_texts.hpp>

namespace rafter::schedule {
namespace {

using Reals = std::vector<double>;
using Integers = std::vector<std::int32_t>;

/// Runs statements on batches 0 .. num_batches-1 and returns the output vector, which is zero before.
Reals run(const std::string& statements, Reals u = {}, Integers s = {}, std::int64_t num_batches = 1) {
  const auto program = read(test::loop_text(statements));
  verify(program);
  Reals x(12, 0.0);
  const Argument arguments[] = {{x, {}}, {u, {}}, {{}, s}};
  interpret(program, arguments, 0, num_batches);
  while (!x.empty() && x.back() == 0) x.pop_back();
  return x;
}

TEST(Meaning, AddsOfLanesThatMeetComeInAscendingOrder) {
  // Any other order of these four terms gives another sum than 1.
  EXPECT_EQ(run("(add x (iload s lane) (load u lane))", {1e16, 1, -1e16, 1}, {2, 2, 2, 2}), (Reals{0, 0, 1}));
}

TEST(Meaning, FloatsAreRoundedAfterEveryOperation) {
  const auto program = read("(program k 1 (buffer x global real 0 written) (buffer c constant real32 2 values 0.1 3)"
                            "(buffer h work real32 1) (block"
                            "(store x 0 (widen (load c 0)))"
                            "(store x 1 (widen (mul (load c 0) (load c 1))))"
                            "(store h 0 (number32 16777216)) (add h 0 (number32 1)) (store x 2 (widen (load h 0)))"
                            "(store x 3 (widen (narrow (number 0.1))))"
                            "(store x 4 (widen (div (number32 1) (load c 1))))"
                            "(store x 5 (widen (number32 0.1)))))");
  verify(program);
  EXPECT_EQ(print(read(print(program))), print(program));
  Reals x(6, 0.0);
  const Argument arguments[] = {{x, {}}};
  interpret(program, arguments, 0, 1);
  const float tenth = 0.1F, three = 3;
  EXPECT_EQ(x, (Reals{tenth, tenth * three, 16777216, tenth, 1 / three, tenth}));
}

TEST(LoopCounts, OperationsOnFloatsAreCountedApart) {
  const auto counts = count(read("(program k 4 (buffer x global real 0 written) (buffer h work real32 4 lane) (block"
                                 "(store h lane (add (load h lane) (mul (number32 2) (load h lane))))"
                                 "(add x lane (widen (load h lane)))))"));
  EXPECT_EQ(counts.flops, 12);
  EXPECT_EQ(counts.single_flops, 8);
  EXPECT_EQ(counts.operations, 8);
  EXPECT_EQ(counts.single_operations, 4);
  EXPECT_EQ(counts.global.written_bytes, 32);
}

TEST(Meaning, StoresOfLanesThatMeetLeaveTheLast) {
  EXPECT_EQ(run("(store x (iload s lane) (load u lane))", {5, 6, 7, 8}, {0, 1, 0, 1}), (Reals{7, 8}));
}

TEST(Meaning, LanesFromTheActiveCountOnWriteNothing) {
  const std::string text = "(store x (iadd (imul $batch 4) lane) (number 7) (iload s $batch))";
  EXPECT_EQ(run(text, {}, {2}), (Reals{7, 7}));
  EXPECT_EQ(run(text, {}, {0}), Reals{});
  EXPECT_EQ(run(text, {}, {-3}), Reals{});
  EXPECT_EQ(run(text, {}, {9}), (Reals{7, 7, 7, 7}));
  EXPECT_EQ(run(text, {}, {1, 3}, 2), (Reals{7, 0, 0, 0, 7, 7, 7}));
  EXPECT_EQ(run("(add x lane (number 2) 3) (add x lane (number 1) 1)"), (Reals{3, 2, 2}));
}

TEST(Meaning, BranchTakesTheFirstAlternativeUnlessTheConditionIsZero) {
  const std::string text = "(if (iload s 0) (block (store x 0 (number 1))) (block (store x 0 (number 2))))";
  EXPECT_EQ(run(text, {}, {1}), Reals{1});
  EXPECT_EQ(run(text, {}, {-5}), Reals{1});
  EXPECT_EQ(run(text, {}, {0}), Reals{2});
}

TEST(Meaning, LoopsCountFromZeroAndMayBeEmpty) {
  const std::string text = "(for i (iload s 0) (block (store x $i (load u $i))))";
  EXPECT_EQ(run(text, {4, 5, 6}, {3}), (Reals{4, 5, 6}));
  EXPECT_EQ(run(text, {}, {0}), Reals{});
  EXPECT_EQ(run(text, {}, {-2}), Reals{});
}

TEST(Meaning, NestedAndUnrolledLoopsVisitRowsInOrder) {
  const std::string body = "(block (add x (iadd (imul $i 3) $j) (load c $j)))))";
  const Reals expected{1, 2, 3, 1, 2, 3};
  EXPECT_EQ(run("(for i 2 (block (for j 3 " + body + ")"), expected);
  EXPECT_EQ(run("(for i unrolled 2 (block (for j unrolled 3 " + body + ")"), expected);
}

TEST(Meaning, RegistersHoldOneValuePerLaneAndAreNewInEachTurn) {
  EXPECT_EQ(run("(for i 2 (block (let a (mul (load u lane) (load c $i))) (add x lane %a)))", {1, 2, 3, 4}),
            (Reals{3, 6, 9, 12}));
}

TEST(Meaning, WorkArraysKeepWhatWasStored) {
  EXPECT_EQ(
      run("(store w (iadd 4 lane) (load u lane)) (for i 4 (block (store x $i (load w (isub 7 $i)))))", {1, 2, 3, 4}),
      (Reals{4, 3, 2, 1}));
}

TEST(Meaning, IntegersAreComputedLaneByLane) {
  EXPECT_EQ(run("(store x (imin (imul 2 lane) 5) (load u lane))", {1, 2, 3, 4}), (Reals{1, 0, 2, 0, 3, 4}));
  EXPECT_EQ(run("(ilet d (isub 3 lane)) (store x @d (load u lane))", {1, 2, 3, 4}), (Reals{4, 3, 2, 1}));
  EXPECT_EQ(run("(if (ieq (iload s 1) 4) (block (store x 0 (number 1))) (block))", {}, {0, 4}), Reals{1});
  EXPECT_EQ(run("(store x (iload ci (ieq (iload s lane) 9)) (load u lane))", {1, 2, 3, 4}, {9, 0, 0, 0}),
            (Reals{4, 1}));
}

TEST(Meaning, SelectionDoesNotSeeTheBranchNotTaken) {
  EXPECT_EQ(
      run("(store x lane (select (lt (load u lane) (number 0)) (number 1) (sqrt (load u lane))))", {-1, 4, -9, 16}),
      (Reals{1, 2, 1, 4}));
}

TEST(Meaning, ComparisonsAndLogicGiveOneOrZero) {
  EXPECT_EQ(run("(store x 0 (and (le (number 2) (number 2)) (not (ne (number 1) (number 1)))))"
                "(store x 1 (add (or (number 0) (number 0)) (eq (number 3) (number 3))))"),
            (Reals{1, 1}));
}

TEST(Meaning, AccessOutsideABufferIsAnErrorNotACrash) {
  EXPECT_THROW(run("(store x 12 (number 1))"), base::InternalError);
  EXPECT_THROW(run("(store x (isub $batch 1) (number 1))"), base::InternalError);
  EXPECT_THROW(run("(store x 0 (load u (iload s 0)))", {1}, {1}), base::InternalError);
  EXPECT_THROW(run("(store x (iload s 5) (number 1))", {}, {1}), base::InternalError);
}

TEST(Meaning, MissingArgumentsAreAnError) {
  EXPECT_THROW(interpret(read(test::loop_text("")), {}, 0, 1), base::InternalError);
}

// --- counts ----------------------------------------------------------------------------------------------------------

LoopCounts counted(const std::string& statements) {
  const auto program = read(test::loop_text(statements));
  verify(program);
  return count(program);
}

TEST(LoopCounts, OperationsOnLanesCountForEveryLane) {
  EXPECT_EQ(counted("(let a (load u lane)) (let b (mul %a %a))").flops, 4);
  EXPECT_EQ(counted("(let a (load u 0)) (let b (mul %a %a))").flops, 1);
  EXPECT_EQ(counted("(let a (load u 0)) (let b (mul %a (load u lane))) (let c1 (add %b %a))").flops, 8);
}

TEST(LoopCounts, AddsCountOneMoreAndSignChangesNothing) {
  EXPECT_EQ(counted("(add x lane (mul (load u lane) (load u lane)))").flops, 8);
  EXPECT_EQ(counted("(store x lane (neg (load u lane)))").flops, 0);
  EXPECT_EQ(counted("(store x 0 (div (number 1) (sqrt (number 2))))").flops, 2);
}

TEST(LoopCounts, AProductAndItsSumAreOneOperation) {
  const auto operations = [](const std::string& statements) { return counted(statements).operations; };
  const std::string u = "(load u lane)";
  EXPECT_EQ(operations("(let a (add (mul " + u + " " + u + ") " + u + "))"), 4);
  EXPECT_EQ(operations("(let a (add (mul " + u + " " + u + ") (mul " + u + " " + u + ")))"), 8) << "one of the two";
  EXPECT_EQ(operations("(let m (mul " + u + " " + u + ")) (let a (sub " + u + " %m)) (let b (add %m " + u + "))"), 8);
  EXPECT_EQ(operations("(add x lane (mul " + u + " " + u + "))"), 4);
  EXPECT_EQ(operations("(let s (mul (load u 0) (load u 1))) (let a (add %s " + u + "))"), 4) << "a product of scalars";
  EXPECT_EQ(operations("(let m (mul " + u + " " + u + ")) (let a (mul %m " + u + "))"), 8) << "no sum";
}

TEST(LoopCounts, LoopsMultiplyTheirBodies) {
  const std::string body = "(block (add w lane (mul (load u lane) (load c $j)))))))";
  EXPECT_EQ(counted("(for i 5 (block (for j 3 " + body).flops, 5 * 3 * 8);
  EXPECT_EQ(counted("(for i unrolled 5 (block (for j 3 " + body).flops, 5 * 3 * 8);
}

TEST(LoopCounts, RunTimeLoopsCountOnceAndBranchesTheirFirstAlternative) {
  EXPECT_EQ(counted("(for i (iload s 0) (block (add x $i (number 1))))").flops, 1);
  EXPECT_EQ(counted("(if (iload s 0) (block (add x 0 (number 1))) (block (add x lane (number 1))))").flops, 1);
}

TEST(LoopCounts, BytesAreThoseOfGlobalBuffers) {
  const auto counts = counted("(let a (load u lane)) (store w lane %a) (let b (load w lane)) (let d (load c 1))"
                              "(for i 3 (block (store x (iadd (imul $i 4) lane) %b) (add x $i %d)))");
  EXPECT_EQ(counts.global.read_bytes, 8 * (4 + 3)); // loads of u by lanes, and the reads of the scalar additions
  EXPECT_EQ(counts.global.written_bytes, 8 * (3 * 4 + 3));
}

} // namespace
} // namespace rafter::schedule

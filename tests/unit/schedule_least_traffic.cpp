// SPDX-License-Identifier: BSD-3-Clause
// The least bytes of small programs are compared with numbers by hand.
#include <gtest/gtest.h>

#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/least_traffic.hpp>

namespace rafter::schedule {
namespace {

constexpr double vector_bytes = 8 * 8;
const double file = static_cast<double>(Target().register_bytes);

/// Programs have eight lanes, a work array w of 64 vectors, a work array s of single numbers, a table t, and vectors x
/// and y. In their text, (at i) is place i of the batch, and [i] is vector i.
class Program {
public:
  explicit Program(std::string statements) {
    for (std::size_t i = 0; (i = statements.find("(at ", i)) != std::string::npos;)
      statements.replace(i, 4, "(iadd (imul $batch 64) ");
    for (std::size_t i = 0; (i = statements.find("[", i)) != std::string::npos;)
      statements.replace(i, 1, "(iadd (imul ");
    for (std::size_t i = 0; (i = statements.find("]", i)) != std::string::npos;) statements.replace(i, 1, " 8) lane)");
    program_ = read("(program k 8\n"
                    "(buffer w work real 512 lane)\n"
                    "(buffer s work real 512)\n"
                    "(buffer t global real 0 role matrix 0)\n"
                    "(buffer x global real 0 role input_vector 0)\n"
                    "(buffer n global integer 0 role run_starts 0)\n"
                    "(buffer active global integer 0 role num_active 0)\n"
                    "(buffer y global real 0 written role output_vector 0)\n"
                    "(block " +
                    statements + "))\n");
    verify(program_);
  }
  LeastTraffic least() const { return least_traffic(access_trace(program_)); }
  Traffic local() const { return count(program_).local; }

private:
  LoopProgram program_;
};

TEST(LeastTraffic, ASmallWorkArrayMayStayInRegisters) {
  const Program program("(for i 4 (block (store w [$i] (load x [(at $i)]))))"
                        "(for i 4 (block (store y [(at $i)] (load w [$i]))))");
  EXPECT_EQ(program.least().all, (Traffic{4 * vector_bytes, 4 * vector_bytes}));
  EXPECT_EQ(program.local(), (Traffic{8 * vector_bytes, 8 * vector_bytes}));
}

TEST(LeastTraffic, OfALargeWorkArrayRegistersHoldAPart) {
  const Program program("(for i 64 (block (store w [$i] (load x [(at $i)]))))"
                        "(for i 64 (block (store y [(at $i)] (load w [$i]))))");
  const double size = 64 * vector_bytes;
  EXPECT_EQ(program.least().all, (Traffic{size + size - file, size + size - file}));
}

TEST(LeastTraffic, WhatIsStoredAndLoadedInTheSameTurnStays) {
  const Program program("(for i 64 (block (store w [$i] (load x [(at $i)])) (store y [(at $i)] (load w [$i]))))");
  EXPECT_EQ(program.least().all, (Traffic{64 * vector_bytes, 64 * vector_bytes}));
}

TEST(LeastTraffic, WrittenNumbersAreNotKept) {
  const Program program("(for i 64 (block (store w [$i] (number 0))))"
                        "(for i 64 (block (store y [(at $i)] (load w [$i]))))");
  EXPECT_EQ(program.least().all, (Traffic{0, 64 * vector_bytes}));
}

TEST(LeastTraffic, WhatIsNotReadAgainIsNotKept) {
  const Program program("(for i 64 (block (store w [$i] (load x [(at $i)]))))");
  EXPECT_EQ(program.least().all, (Traffic{64 * vector_bytes, 0}));
}

TEST(LeastTraffic, EveryTurnLoadsWhatRegistersDoNotHold) {
  const Program program("(for j 5 (block (for i 1024 (block (add s 0 (load t $i))))))");
  const double table = 8 * 1024;
  EXPECT_EQ(program.least().all.read_bytes, 5 * (table - file));
  EXPECT_EQ(program.least().all.written_bytes, 0);
}

TEST(LeastTraffic, PlacesOfTheBatchCrossOnce) {
  // The list of places is read in both loops; the numbers that are added to are read and written.
  const Program program("(for i 2 (block (store w [$i] (load x (iload n [(at $i)])))))"
                        "(for i 2 (block (add y (iload n [(at $i)]) (load w [$i]) (iload active $batch))))");
  const auto least = program.least();
  EXPECT_EQ(least.all, (Traffic{2 * (4 * 8 + vector_bytes) + 2 * vector_bytes + 4, 2 * vector_bytes}));
  EXPECT_EQ(least.masked, (Traffic{2 * vector_bytes, 2 * vector_bytes}));
}

TEST(LeastTraffic, LanesThatMeetInPartAreCountedByTheirNumbers) {
  // The 64 numbers are written as vectors and read one by one, and registers hold all of them.
  const Program few("(for i 8 (block (store s [$i] (load x [(at $i)]))))"
                    "(for i 64 (block (store y (at $i) (load s $i))))");
  EXPECT_EQ(few.least().all.read_bytes, 8 * vector_bytes);
  const Program many("(for i 64 (block (store s [$i] (load x [(at $i)]))))"
                     "(for i 512 (block (store y (at $i) (load s $i))))");
  EXPECT_EQ(many.least().all.read_bytes, 64 * vector_bytes + 512 * 8 - file);
}

TEST(LeastTraffic, TheRegularPathIsFollowed) {
  const Program program(
      "(if (iload n $batch) (block (store y (at 0) (load x (at 0)))) (block (store y (at 1) (number 1))"
      "(store y (at 2) (number 1))))"
      "(for i 4 (block (if (ieq $i 2) (block (store y (at (iadd 8 $i)) (load x (at 3)))) (block))))");
  EXPECT_EQ(program.least().all, (Traffic{4 + 8 + 8, 8 + 8}));
}

} // namespace
} // namespace rafter::schedule

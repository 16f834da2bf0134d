// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/schedule/work_arrays.hpp>

namespace rafter::schedule {
namespace {

LoopBuffer work(const char* name, std::int64_t size, Type type = Type::real) {
  return {.name = name, .space = Space::work, .type = type, .size = size};
}

/// The program sets y[i] to sums of three arrays: all iterations of the first loop fill `whole`, which the second one
/// uses; `layer` holds other numbers in each iteration of the second loop, `line` in each iteration of the loop inside
/// it.
LoopProgram layered_program() {
  LoopProgram program;
  program.buffers = {work("whole", 12),
                     work("layer", 4),
                     work("line", 3, Type::real32),
                     work("unused", 5),
                     {.name = "y", .is_written = true, .role = role::output_vector}};
  const auto z = variable("z"), k = variable("k");
  const auto fill = loop("z", integer(3), block({store("whole", z, number(1))}));
  const auto inner = loop("k", integer(4),
                          block({store("line", integer(0), number(2, Type::real32)),
                                 let("r", converted(load("line", integer(0), Type::real32), Type::real)),
                                 store("layer", k, operation(form::ScalarOp::add, {reg("r"), load("whole", z)}))}));
  const auto consume = loop("z", integer(3), block({inner, add("y", z, load("layer", integer(1)))}));
  program.body = block({store("y", integer(0), number(0)), fill, consume});
  verify(program);
  return program;
}

TEST(WorkArrays, LiveInTheInnermostBlockThatHoldsAllTheirUses) {
  const auto arrays = work_arrays(layered_program());
  ASSERT_EQ(arrays.size(), 3U); // one array is never used
  const auto expect = [&](std::size_t i, const char* name, double bytes, const char* loop, int first, int last,
                          int count) {
    EXPECT_EQ(arrays[i].name, name);
    EXPECT_EQ(arrays[i].bytes, bytes) << name;
    EXPECT_EQ(arrays[i].loop, loop) << name;
    EXPECT_EQ(arrays[i].first, first) << name;
    EXPECT_EQ(arrays[i].last, last) << name;
    EXPECT_EQ(arrays[i].num_statements, count) << name;
  };
  expect(0, "whole", 96, "batch", 1, 2, 3);
  expect(1, "layer", 32, "z", 0, 1, 2);
  expect(2, "line", 12, "k", 0, 1, 3);
}

TEST(WorkArrays, WhosePlacesAreKnownTakeNoMemory) {
  const auto arrays = work_arrays(layered_program());
  EXPECT_FALSE(arrays[0].is_in_registers);
  EXPECT_FALSE(arrays[1].is_in_registers);
  EXPECT_TRUE(arrays[2].is_in_registers);
}

} // namespace
} // namespace rafter::schedule

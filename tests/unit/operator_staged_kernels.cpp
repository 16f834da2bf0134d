// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/device/array.hpp>
#include <rafter/operator/run/staged_kernels.hpp>

namespace rafter::test {
namespace {

using op::StagedKernels;
using Values = std::vector<double>;

/// Computes y[batch] = x[batch], or adds that on request.
schedule::LoopProgram copying() {
  using namespace schedule;
  LoopProgram program;
  program.name = "copying";
  program.buffers = {{.name = "x", .role = role::input_vector},
                     {.name = "mode", .type = Type::integer, .role = role::mode},
                     {.name = "y", .is_written = true, .role = role::output_vector}};
  const auto entry = variable("batch"), value = load("x", entry);
  program.body =
      block({branch(iload("mode", integer(0)), block({add("y", entry, value)}), block({store("y", entry, value)}))});
  verify(program);
  return program;
}

/// Adds y[batch] to itself.
schedule::LoopProgram doubling() {
  using namespace schedule;
  LoopProgram program;
  program.name = "doubling";
  program.buffers = {{.name = "y", .is_written = true, .role = role::output_vector}};
  program.body = block({add("y", variable("batch"), load("y", variable("batch")))});
  verify(program);
  return program;
}

/// Computes y[entry] = x[table[entry]] for the entries of the table of chunks that a launch is over.
schedule::LoopProgram reading_table() {
  using namespace schedule;
  LoopProgram program;
  program.name = "reading_table";
  program.buffers = {{.name = "x", .role = role::input_vector},
                     {.name = "table", .type = Type::integer, .role = role::chunk_bounds},
                     {.name = "y", .is_written = true, .role = role::output_vector}};
  program.body = block({store("y", variable("batch"), load("x", iload("table", variable("batch"))))});
  verify(program);
  return program;
}

class StagedKernelsTest : public ::testing::TestWithParam<const char*> {
protected:
  std::shared_ptr<device::Device> device_ = device::make_device(GetParam(), 2);
  device::Vector x_{device_, {1, 2, 3, 4}}, y_{device_, {10, 20, 30, 40}};

  op::KernelArguments kernel(const schedule::LoopProgram& loops) {
    return {op::compiled(*device_, loops), loops.arguments(), loops.launch, {}};
  }
  device::BufferRegistry vectors() {
    device::BufferRegistry result;
    result.add(schedule::role::input_vector, 0, x_.device_read());
    result.add(schedule::role::output_vector, 0, y_.device_write());
    return result;
  }
  Values values() const { return {y_.host_read().begin(), y_.host_read().end()}; }
};

TEST_P(StagedKernelsTest, StagesRunInTheirOrderOnTheirBatches) {
  const StagedKernels kernels(device_, {kernel(copying()), kernel(doubling())},
                              {{{0, 0, 2}, {0, 3, 4}}, {{1, 0, 1}}, {{1, 0, 2}}});
  kernels.run(vectors(), false);
  EXPECT_EQ(values(), (Values{4, 4, 30, 4}));
}

TEST_P(StagedKernelsTest, ARunAddsOrOverwrites) {
  const StagedKernels kernels(device_, {kernel(copying())}, {{{0, 0, 4}}});
  kernels.run(vectors(), true);
  EXPECT_EQ(values(), (Values{11, 22, 33, 44}));
  kernels.run(vectors(), false);
  EXPECT_EQ(values(), (Values{1, 2, 3, 4}));
}

TEST_P(StagedKernelsTest, EachKernelMayHaveAModeOfItsOwnAndStagesMayRunApart) {
  const StagedKernels kernels(device_, {kernel(copying()), kernel(copying())}, {{{0, 0, 2}}, {{1, 2, 4}}});
  auto bound = kernels.bind(vectors(), [&](std::size_t number, device::BufferRegistry& own) {
    own.add(schedule::role::mode, 0, kernels.mode(number == 1));
  });
  kernels.run(*bound);
  kernels.run(*bound, 1, 2);
  EXPECT_EQ(values(), (Values{1, 2, 36, 48}));
}

TEST_P(StagedKernelsTest, ChunksOfATableAreOneLaunch) {
  const StagedKernels kernels(device_, {kernel(reading_table())}, {{{0, 1, 2}, {0, 0, 3}}});
  ASSERT_EQ(kernels.stages().front().size(), 1U);
  EXPECT_TRUE(kernels.reads_bounds(0));
  kernels.run(vectors(), false);
  EXPECT_EQ(values(), (Values{2, 3, 1, 4})) << "x at 1, 2, 0, 3";
}

INSTANTIATE_TEST_SUITE_P(Devices, StagedKernelsTest, ::testing::Values("host", "checked"));

TEST(StagesOfKernels, ThoseInAnyOrderComeFirst) {
  const std::vector<op::BlockChunk> whole{{1, 0, 5}};
  const auto stages = op::with_first(whole, {{{0, 0, 2}, {1, 0, 2}}, {{1, 2, 5}}, {{0, 2, 3}}});
  ASSERT_EQ(stages.size(), 3U) << "what is left empty is none";
  EXPECT_EQ(stages[0].front().block, 1U);
  EXPECT_EQ(stages[0].front().batch_end, 5);
  ASSERT_EQ(stages[1].size(), 1U);
  EXPECT_EQ(stages[1].front().block, 0U);
  EXPECT_EQ(stages[2].front().batch_begin, 2);
}

TEST(ClearUncovered, LeavesWhatKernelsOverwrite) {
  device::Vector y(device::make_device("host", 1), {1, 2, 3});
  const std::vector<std::int32_t> padding{1};
  op::clear_uncovered(y, padding, true);
  EXPECT_EQ(Values(y.host_read().begin(), y.host_read().end()), (Values{1, 0, 3}));
  op::clear_uncovered(y, padding, false);
  EXPECT_EQ(Values(y.host_read().begin(), y.host_read().end()), (Values{0, 0, 0}));
}

} // namespace
} // namespace rafter::test

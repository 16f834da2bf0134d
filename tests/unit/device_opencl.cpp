// SPDX-License-Identifier: BSD-3-Clause
// OpenCL devices keep what is copied to them, run groups of items, and say what is wrong.
#include <gtest/gtest.h>

#include <array>

#include <tests/support/opencl.hpp>

namespace rafter::device {
namespace {

class OpenCl : public ::testing::Test {
protected:
  void SetUp() override {
    if (!test::has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  }
};

TEST_F(OpenCl, DevicesSayWhatTheyCan) {
  const OpenClDevice device;
  const auto capabilities = device.capabilities();
  EXPECT_NE(capabilities.description, "");
  EXPECT_GE(capabilities.num_compute_units, 1);
  EXPECT_GE(capabilities.most_items, 32);
  EXPECT_GE(capabilities.shared_bytes, 16384U);
  EXPECT_GT(capabilities.memory_bytes, 0U);
  EXPECT_EQ(capabilities.description, opencl_devices().front().description);
}

TEST_F(OpenCl, DevicesThatAreNotThereAreRefused) {
  EXPECT_THROW(OpenClDevice(-1), base::EnvironmentError);
  EXPECT_THROW(OpenClDevice(static_cast<int>(opencl_devices().size())), base::EnvironmentError);
}

TEST_F(OpenCl, BuffersKeepWhatIsCopied) {
  OpenClDevice device;
  const std::array<double, 3> sent{1, 2, 3};
  std::array<double, 3> received{};
  const auto buffer = device.allocate(sizeof sent);
  EXPECT_EQ(buffer->size_bytes(), sizeof sent);
  buffer->copy_from_host(sent.data(), sizeof sent);
  buffer->copy_to_host(received.data(), sizeof received);
  EXPECT_EQ(received, sent);
  EXPECT_THROW(buffer->copy_from_host(sent.data(), sizeof sent + 1), base::InternalError);
  EXPECT_THROW(buffer->copy_to_host(received.data(), sizeof received + 1), base::InternalError);
  buffer->copy_from_host(sent.data(), sizeof(double), 2 * sizeof(double));
  buffer->copy_to_host(received.data(), 2 * sizeof(double), sizeof(double));
  EXPECT_EQ(received, (std::array<double, 3>{2, 1, 3}));
  EXPECT_THROW(buffer->copy_from_host(sent.data(), sizeof(double), sizeof sent), base::InternalError);
  buffer->clear();
  buffer->copy_to_host(received.data(), sizeof received);
  EXPECT_EQ(received, (std::array<double, 3>{0, 0, 0}));
  const Copies expected{.bytes_to_device = 32, .bytes_to_host = 64, .num_to_device = 2, .num_to_host = 3};
  EXPECT_EQ(device.copies(), expected);
  EXPECT_THROW(device.wrap(received.data(), sizeof received), base::InternalError);
  const auto empty = device.allocate(0);
  empty->copy_from_host(nullptr, 0);
  EXPECT_EQ(empty->size_bytes(), 0U);
}

/// Each item writes its number in the run behind the skipped bytes.
const char* const numbers = R"(
kernel void entry_numbers(global char* memory, long offset, long begin, long end) {
  global int* y = (global int*)(memory + offset);
  const long item = get_local_id(0) + 2*(get_local_id(1) + 3*get_local_id(2));
  y[6*get_group_id(0) + item] = begin + 100*end + 10000*item;
})";

TEST_F(OpenCl, TasksRunTheGroupsOfTheirLaunch) {
  OpenClDevice device;
  const auto kernel = device.compile(numbers)->kernel("numbers");
  EXPECT_EQ(kernel->name(), "numbers");
  std::array<int, 13> values{};
  const auto buffer = device.allocate(sizeof values);
  buffer->copy_from_host(values.data(), sizeof values);
  std::array<Buffer*, 1> arguments{buffer.get()};
  const std::array<std::size_t, 1> offsets{sizeof(int)};
  Task task{.kernel = kernel.get(),
            .arguments = arguments,
            .begin = 3,
            .end = 3,
            .offsets = offsets,
            .launch = {.items = {2, 3, 1}, .batches = 4}};
  device.run(std::span(&task, 1))->wait(); // a run without batches has no groups
  buffer->copy_to_host(values.data(), sizeof values);
  EXPECT_EQ(values, (std::array<int, 13>{}));
  task.end = 8; // five batches are two groups
  device.run(std::span(&task, 1))->wait();
  buffer->copy_to_host(values.data(), sizeof values);
  EXPECT_EQ(values[0], 0);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i + 1)], 803 + 10000 * (i % 6));
}

TEST_F(OpenCl, FailedCompilationsShowWhatTheCompilerSays) {
  OpenClDevice device;
  try {
    device.compile("kernel void wrong() { no_such_name = 1; }");
    FAIL() << "a wrong source was compiled";
  } catch (const base::EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_name"), std::string::npos) << error.what();
  }
  EXPECT_THROW(device.compile(numbers)->kernel("nothing"), base::InternalError);
}

} // namespace
} // namespace rafter::device

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <rafter/base/error.hpp>
#include <rafter/device/array.hpp>
#include <rafter/device/compile_all.hpp>
#include <rafter/device/host/host_device.hpp>
#include <stdexcept>
#include <utility>

#include "../support/device_folders.hpp"

namespace {

using namespace rafter;
using test::Folder;

const std::string scale_source = R"(
#include <stdint.h>
#include <math.h>
void scale(void* const* arguments, int64_t begin, int64_t end) {
  const double* x = arguments[0];
  double* y = arguments[1];
  for (int64_t i = begin; i < end; ++i) y[i] = 2 * x[i] + sqrt(x[i]);
}
)";

class OnDevice : public testing::TestWithParam<const char*> {};

TEST_P(OnDevice, CompiledKernelComputesEveryRangeOnce) {
  const auto device = device::make_device(GetParam(), 3);
  device::Vector x(device, 1000), y(device, 1000);
  std::iota(x.host_overwrite().begin(), x.host_overwrite().end(), 0.0);
  const auto kernel = device->compile(scale_source)->kernel("scale");
  const std::vector<device::Buffer*> arguments{x.device_read(), y.device_overwrite()};
  std::vector<device::Task> tasks;
  for (int begin = 0; begin < 1000; begin += 7)
    tasks.push_back({kernel.get(), arguments, begin, std::min(1000, begin + 7)});
  device->run(tasks)->wait();
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto value = static_cast<double>(i);
    EXPECT_DOUBLE_EQ(y.host_read()[i], 2 * value + std::sqrt(value));
  }
}

TEST_P(OnDevice, KernelOutlivesProgramAndDevice) {
  std::shared_ptr<const device::Kernel> kernel;
  {
    const auto device = device::make_device(GetParam(), 1);
    kernel = device->compile(scale_source)->kernel("scale");
  }
  const auto device = device::make_device(GetParam(), 1);
  device::Vector x(device, base::AlignedVector<double>{4.0}), y(device, 1);
  const std::vector<device::Buffer*> arguments{x.device_read(), y.device_overwrite()};
  const device::Task task{kernel.get(), arguments, 0, 1};
  device->run({&task, 1})->wait();
  EXPECT_EQ(y.host_read()[0], 10.0);
}

TEST_P(OnDevice, MoreArgumentsThanUsualArriveInOrder) {
  const auto device = device::make_device(GetParam(), 1);
  const auto kernel = device
                          ->compile("#include <stdint.h>\nvoid sum(void* const* a, int64_t b, int64_t e) {"
                                    "  for (int i = 0; i < 50; ++i) *(double*)a[50] += i * *(double*)a[i]; }")
                          ->kernel("sum");
  std::vector<device::Vector> values;
  std::vector<device::Buffer*> arguments;
  for (int i = 0; i < 51; ++i) {
    values.emplace_back(device, base::AlignedVector<double>{i < 50 ? 1.0 + i : 0.0});
    arguments.push_back(values.back().device_write());
  }
  const device::Task task{kernel.get(), arguments, 0, 1};
  device->run({&task, 1})->wait();
  double expected = 0;
  for (int i = 0; i < 50; ++i) expected += i * (1.0 + i);
  EXPECT_EQ(values[50].host_read()[0], expected);
}

TEST_P(OnDevice, EmptyArraysAndEmptyRunsAreAllowed) {
  const auto device = device::make_device(GetParam(), 2);
  device::Vector nothing(device, 0);
  EXPECT_TRUE(nothing.host_read().empty());
  EXPECT_EQ(nothing.device_read()->size_bytes(), 0U);
  device->run({})->wait();
}

INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, testing::Values("host", "checked"));

TEST(DeviceHost, ThreadsFollowTheRequest) {
  EXPECT_EQ(device::make_device("host", 3)->num_threads(), 3);
  EXPECT_GE(device::make_device("host")->num_threads(), 1);
  EXPECT_EQ(device::make_device("checked", 3)->num_threads(), 1);
}

TEST(DeviceHost, KeepsObjectsByTypeAndKeyUntilItEnds) {
  auto device = device::make_device("host", 1);
  const std::array<int, 2> keys{};
  int num_made = 0;
  const auto number = [&](int place, int key) {
    return device->keep<int>(&keys[static_cast<std::size_t>(place)], key, [&] {
      ++num_made;
      return std::make_shared<const int>(num_made);
    });
  };
  EXPECT_THROW(device->keep<int>(keys.data(), 0, []() -> std::shared_ptr<const int> { throw base::InputError("no"); }),
               base::InputError);
  const auto first = number(0, 0);
  EXPECT_EQ(number(0, 0), first);
  EXPECT_NE(number(0, 1), first);
  EXPECT_NE(number(1, 0), first);
  EXPECT_EQ(num_made, 3);
  const auto text = device->keep<std::string>(keys.data(), 0, [] { return std::make_shared<const std::string>("x"); });
  EXPECT_EQ(*text, "x");
  const std::weak_ptr<const int> kept = number(1, 0);
  device.reset();
  EXPECT_TRUE(kept.expired());
}

TEST(DeviceHost, BuffersWrapHostMemory) {
  const auto device = device::make_device("host", 1);
  device::Vector x(device, 10);
  x.host_write()[3] = 5;
  EXPECT_EQ(x.device_read()->handle(), x.host_read().data());
}

TEST(DeviceHost, CompileAllKeepsTheOrderAndSharesEqualSources) {
  const Folder folder;
  device::HostDevice device(1, device::CacheDirectory(folder.path()));
  const auto source = [](int i) {
    return "#include <stdint.h>\nvoid set(void* const* a, int64_t b, int64_t e) { *(int*)a[0] = " + std::to_string(i) +
           "; }";
  };
  const std::vector<std::string> sources{source(1), source(2), source(1), source(3)};
  const auto programs = device::compile_all(device, sources);
  ASSERT_EQ(programs.size(), 4U);
  EXPECT_EQ(programs[0], programs[2]);
  const std::vector<int> expected{1, 2, 1, 3};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto kernel = programs[i]->kernel("set");
    int value = 0;
    const auto buffer = device.wrap(&value, sizeof value);
    const std::vector<device::Buffer*> arguments{buffer.get()};
    const device::Task task{kernel.get(), arguments, 0, 1};
    device.run({&task, 1})->wait();
    EXPECT_EQ(value, expected[i]);
  }
  EXPECT_EQ(folder.count(".so"), 3U);
}

std::string empty_kernel(int number) { return "void kernel_" + std::to_string(number) + "(void) {}\n"; }

TEST(DeviceHost, ProgressReportsEveryDistinctSourceThatIsNotInTheCache) {
  const Folder folder;
  const auto reported = [&folder](const std::vector<int>& kernels) {
    device::HostDevice device(1, device::CacheDirectory(folder.path())); // another one remembers nothing itself
    std::vector<device::CompileJob> jobs;
    for (const int number : kernels) jobs.push_back({empty_kernel(number), {}});
    std::vector<std::pair<std::size_t, std::size_t>> result;
    device::compile_all(device, jobs,
                        [&result](std::size_t number, std::size_t count) { result.emplace_back(number, count); });
    return result;
  };
  using Calls = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(reported({1, 2, 1}), (Calls{{1, 2}, {2, 2}}));
  EXPECT_EQ(reported({1, 3, 2}), (Calls{{1, 1}}));
  EXPECT_EQ(reported({1, 2, 3}), Calls{});
}

TEST(DeviceHost, ProgressThatThrowsEndsTheCompilation) {
  const Folder folder;
  device::HostDevice device(1, device::CacheDirectory(folder.path()));
  std::vector<device::CompileJob> jobs;
  for (int number = 0; number < 8; ++number) jobs.push_back({empty_kernel(number), {}});
  int num_calls = 0;
  const auto compile = [&] {
    device::compile_all(device, jobs, [&num_calls](std::size_t, std::size_t) {
      ++num_calls;
      throw std::runtime_error("enough");
    });
  };
  EXPECT_THROW(compile(), std::runtime_error);
  EXPECT_EQ(num_calls, 1);
  EXPECT_EQ(folder.count(".so"), 0U);
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <rafter/base/error.hpp>
#include <rafter/device/array.hpp>
#include <thread>
#include <vector>

namespace {

using namespace rafter;
using device::Vector;

const char* const loops_source = R"(
#include <stdint.h>
void increment(void* const* a, int64_t begin, int64_t end) {
  double* x = a[0];
  for (int64_t i = begin; i < end; ++i) x[i] += 1;
}
void set(void* const* a, int64_t begin, int64_t end) {
  double* x = a[0];
  for (int64_t i = begin; i < end; ++i) x[i] = i;
}
void copy(void* const* a, int64_t begin, int64_t end) {
  const double* x = a[0];
  double* y = a[1];
  for (int64_t i = begin; i < end; ++i) y[i] = x[i];
}
)";

class Arrays : public testing::TestWithParam<const char*> {
protected:
  void run(const char* kernel_name, std::vector<device::Buffer*> arguments, std::int64_t size) const {
    const auto kernel = program_->kernel(kernel_name);
    const device::Task task{kernel.get(), arguments, 0, size};
    device_->run({&task, 1})->wait();
  }
  std::shared_ptr<device::Device> device_ = device::make_device(GetParam(), 2);
  std::shared_ptr<const device::Program> program_ = device_->compile(loops_source);
};

TEST_P(Arrays, HostValuesReachKernelsAndComeBack) {
  Vector x(device_, base::AlignedVector<double>{1, 2, 3});
  for (int repeat = 1; repeat <= 3; ++repeat) {
    run("increment", {x.device_write()}, 3);
    EXPECT_EQ(x.host_read()[1], 2 + repeat);
  }
  x.host_write()[1] = 10;
  run("increment", {x.device_write()}, 3);
  EXPECT_EQ(x.host_read()[0], 5);
  EXPECT_EQ(x.host_read()[1], 11);
}

TEST_P(Arrays, ThreadsReadTheSameArrayAtTheSameTime) { // the thread sanitizer looks whether they only read
  const Vector x(device_, base::AlignedVector<double>{1, 2, 3});
  auto* const buffer = x.device_read();
  double sums[2] = {0, 0};
  {
    std::vector<std::jthread> threads;
    for (double& sum : sums)
      threads.emplace_back([&x, &sum, buffer] {
        for (int repeat = 0; repeat < 100; ++repeat) sum += x.host_read()[2] + (x.device_read() == buffer ? 1 : 0);
      });
  }
  EXPECT_EQ(sums[0], 400);
  EXPECT_EQ(sums[1], 400);
}

TEST_P(Arrays, OverwriteNeedsNoOldValues) {
  Vector x(device_, 5);
  run("set", {x.device_overwrite()}, 5);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(x.host_read()[i], static_cast<double>(i));
  for (auto& value : x.host_overwrite()) value = 7;
  run("increment", {x.device_write()}, 5);
  EXPECT_EQ(x.host_read()[4], 8);
}

TEST_P(Arrays, ReadingOnBothSidesKeepsBothValid) {
  Vector x(device_, base::AlignedVector<double>{1, 2}), y(device_, 2);
  run("copy", {x.device_read(), y.device_overwrite()}, 2);
  EXPECT_EQ(x.host_read()[1], 2);
  EXPECT_EQ(y.host_read()[1], 2);
  run("copy", {y.device_read(), x.device_overwrite()}, 2);
  EXPECT_EQ(x.host_read()[0], 1);
}

TEST_P(Arrays, PartsReachTheHostWithoutTheOthers) {
  Vector x(device_, 5);
  run("set", {x.device_overwrite()}, 5);
  const auto before = device_->copies();
  const bool copies = !device_->shares_host_memory();
  base::AlignedVector<double> room;
  const auto part = x.host_read(2, 2, room);
  EXPECT_EQ(std::vector<double>(part.begin(), part.end()), (std::vector<double>{2, 3}));
  EXPECT_EQ(device_->copies() - before,
            (copies ? device::Copies{.bytes_to_host = 16, .num_to_host = 1} : device::Copies{}));
  EXPECT_EQ(room.size(), copies ? 2U : 0U);
  run("increment", {x.device_write()}, 5); // the host's side was stale and is
  EXPECT_EQ(x.host_read()[4], 5);
  EXPECT_EQ(x.host_read(3, 1, room).data(), x.host_read().data() + 3) << "nothing is copied where the host has it";
  EXPECT_TRUE(x.host_read(5, 0, room).empty());
  EXPECT_THROW((void)x.host_read(4, 2, room), base::InternalError);
  EXPECT_THROW((void)x.host_read(6, 0, room), base::InternalError);
}

TEST_P(Arrays, ScratchIsWrittenAloneAndInPlaceWhereMemoryIsShared) {
  Vector made(device_, 4);
  run("set", {made.device_overwrite()}, 4);
  const Vector& x = made;
  const auto before = device_->copies();
  const bool copies = !device_->shares_host_memory();
  base::AlignedVector<double> room;
  const auto scratch = x.host_scratch(1, 2, room);
  scratch[0] = 7;
  scratch[1] = 8;
  x.put_scratch(1, scratch);
  EXPECT_EQ(device_->copies() - before,
            (copies ? device::Copies{.bytes_to_device = 16, .num_to_device = 1} : device::Copies{}));
  EXPECT_EQ(std::vector<double>(x.host_read().begin(), x.host_read().end()), (std::vector<double>{0, 7, 8, 3}));
  EXPECT_THROW((void)x.host_scratch(3, 2, room), base::InternalError);
  EXPECT_THROW(x.put_scratch(3, std::vector<double>(2)), base::InternalError);
}

TEST_P(Arrays, PartsAreCopiedOnTheDevice) {
  Vector x(device_, 5), y(device_, base::AlignedVector<double>{9, 9, 9, 9});
  run("set", {x.device_overwrite()}, 5);
  (void)y.device_read();
  const auto before = device_->copies();
  y.copy_from(x, 3, 1, 2);
  y.copy_from(x, 5, 4, 0);
  y.clear(0, 1);
  EXPECT_EQ(device_->copies(), before);
  EXPECT_EQ(std::vector<double>(y.host_read().begin(), y.host_read().end()), (std::vector<double>{0, 3, 4, 9}));
  Vector z(device_, 5);
  z.copy_from(x, 0, 0, 5);
  EXPECT_EQ(z.host_read()[4], 4);
  EXPECT_THROW(y.copy_from(x, 4, 0, 2), base::InternalError);
  EXPECT_THROW(y.copy_from(x, 0, 3, 2), base::InternalError);
  EXPECT_THROW(y.clear(4, 1), base::InternalError);
}

TEST_P(Arrays, PartsOfArraysOfOtherDevicesPassThroughTheHostAlone) {
  const auto other = device::make_device("checked");
  Vector x(other, base::AlignedVector<double>{1, 2, 3, 4}), y(device_, 3);
  (void)x.device_write(); // its host's side is stale
  const auto before = other->copies(), before_here = device_->copies();
  y.copy_from(x, 1, 0, 2);
  EXPECT_EQ(other->copies() - before, (device::Copies{.bytes_to_host = 16, .num_to_host = 1}));
  if (!device_->shares_host_memory()) {
    EXPECT_EQ(device_->copies() - before_here, (device::Copies{.bytes_to_device = 16, .num_to_device = 1}));
  }
  EXPECT_EQ(std::vector<double>(y.host_read().begin(), y.host_read().end()), (std::vector<double>{2, 3, 0}));
  y.copy_from(x, 3, 2, 1); // both sides have values
  run("increment", {y.device_write()}, 3);
  EXPECT_EQ(std::vector<double>(y.host_read().begin(), y.host_read().end()), (std::vector<double>{3, 4, 5}));
}

TEST_P(Arrays, AnEventOfARunIsCompleteWhenItWasWaitedFor) {
  Vector x(device_, 3);
  const auto kernel = program_->kernel("increment");
  const std::vector<device::Buffer*> arguments{x.device_write()};
  const device::Task task{kernel.get(), arguments, 0, 3};
  const auto early = device_->run({&task, 1});
  early->wait();
  EXPECT_EQ(static_cast<const double*>(arguments[0]->handle())[2], 1); // both devices run on the host
  const auto late = device_->run({&task, 1});
  early->wait(); // again
  late->wait();
  EXPECT_EQ(x.host_read()[2], 2);
}

TEST_P(Arrays, MovedArraysKeepTheirValues) {
  Vector x(device_, base::AlignedVector<double>{1, 2});
  run("increment", {x.device_write()}, 2);
  Vector y = std::move(x);
  run("increment", {y.device_write()}, 2);
  EXPECT_EQ(y.host_read()[0], 3);
}

INSTANTIATE_TEST_SUITE_P(Devices, Arrays, testing::Values("host", "checked"));

TEST(Copies, ArraysOfDevicesReachTheHostWhenItAsksForThem) {
  const auto device = device::make_device("checked");
  Vector x(device, 3);
  EXPECT_EQ(static_cast<const double*>(x.device_read()->handle())[2], 0); // zero without a copy from the host
  EXPECT_EQ(device->copies(), device::Copies{});
  EXPECT_EQ(x.host_write()[1], 0);
  const auto after_read = device->copies();
  EXPECT_EQ(after_read, (device::Copies{.bytes_to_host = 24, .num_to_host = 1}));
  x.host_overwrite();
  x.device_read();
  x.device_read(); // the device has the values already
  EXPECT_EQ(device->copies() - after_read, (device::Copies{.bytes_to_device = 24, .num_to_device = 1}));
}

TEST(CheckedDevice, SeparatesTheMemories) {
  const auto device = device::make_device("checked");
  Vector x(device, base::AlignedVector<double>{1, 2});
  EXPECT_NE(x.device_read()->handle(), x.host_read().data());
  x.host_write()[0] = 5;
  EXPECT_EQ(static_cast<const double*>(x.device_read()->handle())[0], 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.device_read()->handle()) % 64, 0U);
}

TEST(CheckedDevice, FreshMemoryIsPoisoned) {
  const auto device = device::make_device("checked");
  for (const std::size_t bytes : {8U, 24U, 804U}) {
    const auto buffer = device->allocate(bytes);
    std::vector<float> single(bytes / 4);
    buffer->copy_to_host(single.data(), bytes);
    for (const float value : single) EXPECT_TRUE(std::isnan(value));
    std::vector<double> values(bytes / 8);
    buffer->copy_to_host(values.data(), values.size() * 8);
    for (const double value : values) {
      std::uint64_t bits;
      std::memcpy(&bits, &value, 8);
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(bits & (1ULL << 51), 0U) << "quiet";
    }
  }
  Vector x(device, 3);
  x.device_overwrite(); // the call promises to write all entries, which the test does not
  EXPECT_TRUE(std::isnan(x.host_read()[2]));
}

TEST(CheckedDevice, TheStaleSideIsPoisoned) {
  const auto device = device::make_device("checked");
  Vector x(device, base::AlignedVector<double>{1, 2, 3});
  const auto kept = x.host_read(); // a view must not be kept while the device writes
  auto* const memory = static_cast<const double*>(x.device_write()->handle());
  for (const double value : kept) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(memory[2], 3);
  x.host_write()[0] = 5;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(memory[i]));
  EXPECT_EQ(kept[2], 3);
}

TEST(CheckedDevice, OverwriteLeavesNothingOfTheOldValues) {
  const auto device = device::make_device("checked");
  Vector x(device, base::AlignedVector<double>{1, 2});
  for (const double value : x.host_overwrite()) EXPECT_TRUE(std::isnan(value));
  x.host_overwrite()[0] = 1; // the other entry loses its value
  EXPECT_TRUE(std::isnan(static_cast<const double*>(x.device_read()->handle())[1]));
  x.device_overwrite();
  EXPECT_TRUE(std::isnan(x.host_read()[0]));
}

TEST(HostArrays, AccessNeverTouchesTheValues) {
  Vector x(device::make_device("host", 1), base::AlignedVector<double>{1, 2});
  x.device_overwrite();
  x.host_overwrite();
  x.device_write();
  x.host_write();
  EXPECT_EQ(x.host_read()[1], 2);
}

TEST(EmptyArrays, HaveNothingOnEitherSide) {
  Vector x;
  EXPECT_TRUE(x.host_read().empty());
  EXPECT_TRUE(x.host_write().empty());
  EXPECT_TRUE(x.host_overwrite().empty());
  EXPECT_EQ(x.device_write(), nullptr);
}

TEST(CheckedDevice, TasksRunInAShuffledButRepeatableOrder) {
  const auto order = [] {
    const auto device = device::make_device("checked");
    const auto kernel = device
                            ->compile("#include <stdint.h>\nvoid note(void* const* a, int64_t begin, int64_t end) {"
                                      " double* x = a[0]; x[(int)++x[0]] = begin; }")
                            ->kernel("note");
    Vector x(device, base::AlignedVector<double>(51));
    const std::vector<device::Buffer*> arguments{x.device_write()};
    std::vector<device::Task> tasks;
    for (int i = 0; i < 50; ++i) tasks.push_back({kernel.get(), arguments, i, i + 1});
    device->run(tasks)->wait();
    const auto values = x.host_read();
    return std::vector<double>(values.begin() + 1, values.end());
  };
  const auto first = order();
  EXPECT_EQ(order(), first);
  EXPECT_FALSE(std::ranges::is_sorted(first));
  auto sorted = first;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<double>(i));
}

} // namespace

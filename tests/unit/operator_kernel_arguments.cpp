// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>

#include <rafter/base/error.hpp>
#include <rafter/device/array.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/operator/run/kernel_arguments.hpp>

namespace rafter::test {
namespace {

using device::BufferRegistry;
using device::Vector;

/// Computes y[batch] = x[order[batch]], where `order` is a table that no part of the library knows.
schedule::LoopProgram permutation() {
  using namespace schedule;
  LoopProgram program;
  program.buffers = {{.name = "x", .role = role::input_vector},
                     {.name = "order", .type = Type::integer, .role = "order_of_the_test", .index = 3},
                     {.name = "y", .is_written = true, .role = role::output_vector}};
  program.body = block({store("y", variable("batch"), load("x", iload("order", variable("batch"))))});
  verify(program);
  return program;
}

class KernelArgumentsTest : public ::testing::Test {
protected:
  device::Array<std::int32_t> order_{device_, {2, 0, 1}};
  Vector x_{device_, {10, 11, 12}}, z_{device_, {20, 21, 22}}, y_{device_, 3};
  BufferRegistry kept_, run_;
  void SetUp() override {
    kept_.add("order_of_the_test", 3, order_.device_read());
    run_.add(schedule::role::input_vector, 0, x_.device_read());
    run_.add(schedule::role::output_vector, 0, y_.device_write());
  }
  static std::string message_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const base::InternalError& error) {
      return error.what();
    }
    return "";
  }

private:
  static inline const std::shared_ptr<device::Device> device_ = device::make_device("host", 1);
};

TEST_F(KernelArgumentsTest, AnyRoleMayBeRegisteredAndRead) {
  const auto loops = schedule::read(schedule::print(permutation()));
  EXPECT_EQ(loops.find("order")->role, "order_of_the_test");
  const auto program = x_.device()->compile(emit::emit(loops, x_.device()->language()));
  const auto kernel = program->kernel(loops.name);
  op::KernelArguments arguments(kernel, loops.arguments(), loops.launch, kept_);
  const auto run = [&] {
    const auto task = arguments.task(0, 3);
    x_.device()->run(std::span(&task, 1))->wait();
    return std::vector<double>(y_.host_read().begin(), y_.host_read().end());
  };
  arguments.bind(run_);
  EXPECT_EQ(run(), (std::vector<double>{12, 10, 11}));
  BufferRegistry other;
  other.add(schedule::role::input_vector, 0, z_.device_read());
  other.add(schedule::role::output_vector, 0, y_.device_write());
  auto copy = arguments;
  arguments.bind(other);
  EXPECT_EQ(run(), (std::vector<double>{22, 20, 21}));
  arguments = copy;
  EXPECT_EQ(run(), (std::vector<double>{12, 10, 11})) << "a copy has its own buffers";
}

TEST_F(KernelArgumentsTest, OffsetsAreThoseOfTheRegistry) {
  BufferRegistry shifted;
  shifted.add(schedule::role::input_vector, 0, x_.device_read(), sizeof(double));
  shifted.add(schedule::role::output_vector, 0, y_.device_write());
  const auto loops = permutation();
  const auto program = x_.device()->compile(emit::emit(loops, x_.device()->language()));
  const auto kernel = program->kernel(loops.name);
  op::KernelArguments arguments(kernel, loops.arguments(), loops.launch, kept_);
  arguments.bind(shifted);
  const auto task = arguments.task(1, 3); // these batches read places 0 and 1 after the offset
  x_.device()->run(std::span(&task, 1))->wait();
  EXPECT_EQ(y_.host_read()[1], 11);
  EXPECT_EQ(y_.host_read()[2], 12);
}

TEST_F(KernelArgumentsTest, WhatIsMissingIsNamed) {
  op::KernelArguments arguments(nullptr, permutation().arguments(), {}, {});
  const auto message = message_of([&] { arguments.bind(run_); });
  EXPECT_NE(message.find("order_of_the_test 3"), std::string::npos) << message;
  BufferRegistry never_made;
  never_made.add("order_of_the_test", 3, nullptr);
  EXPECT_NE(message_of([&] { op::KernelArguments(nullptr, permutation().arguments(), {}, never_made); }), "");
}

TEST_F(KernelArgumentsTest, ARoleHasOneOwner) {
  EXPECT_NE(message_of([&] { kept_.add("order_of_the_test", 3, order_.device_read()); }), "");
  EXPECT_EQ(message_of([&] { kept_.add("order_of_the_test", 4, order_.device_read()); }), "");
}

} // namespace
} // namespace rafter::test

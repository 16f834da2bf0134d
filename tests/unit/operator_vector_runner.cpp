// SPDX-License-Identifier: BSD-3-Clause
// Loops over vectors know lists of entries, floats, and scalars that stay on the device; wrong ones are refused.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include <rafter/base/error.hpp>
#include <rafter/operator/run/vector_runner.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/opencl.hpp>

namespace rafter::op {
namespace {

constexpr std::array<std::string_view, 7> loops{
    "take(| x[entries], kept): kept = x; x = 0",
    "give(| x[entries], y[entries], kept): x = kept; y = kept",
    "narrow(| x, y: float): y = x/3",
    "widen(| y: float, x): x = y; sum xx = x*y",
    "step(rr, old, beta, count, alpha | r): r = 2*r; sum square = r*r; then old = rr; then rr = square;"
    " then beta = rr/old; then count = count + 1; then alpha = select(le(rr, 100), 0, alpha)",
    "halve(rr, old, beta, count, alpha |): then alpha = max(alpha/2, -(3 - 1e-3)); then rr = sqrt(abs(rr))",
    "several(a | x, y): let z = x + a; x = z*z; y = x - z; sum c = x; sum d = y*y",
};

std::vector<std::shared_ptr<device::Device>> devices() {
  std::vector<std::shared_ptr<device::Device>> result{device::make_device("host", 2), device::make_device("checked"),
                                                      std::make_shared<test::InterpreterDevice>()};
  if (test::has_opencl()) result.push_back(device::make_device("opencl"));
  return result;
}

Vector numbers(const std::shared_ptr<device::Device>& device, std::size_t n) {
  base::AlignedVector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i + 1);
  return {device, std::move(values)};
}

std::vector<double> values(const Vector& x) { return {x.host_read().begin(), x.host_read().end()}; }

TEST(VectorRunner, VisitsTheEntriesOfAList) {
  for (const auto& device : devices()) {
    SCOPED_TRACE(device->name());
    const VectorRunner runner(device, loops);
    Vector x = numbers(device, 6), y = numbers(device, 6), kept(device, 3);
    const IntegerArray entries(device, base::AlignedVector<std::int32_t>{5, 0, 2});
    runner.run("take", {}, {x, kept, entries});
    EXPECT_EQ(values(x), (std::vector<double>{0, 2, 0, 4, 5, 0}));
    EXPECT_EQ(values(kept), (std::vector<double>{6, 1, 3}));
    runner.run("give", {}, {x, y, kept, entries});
    EXPECT_EQ(values(x), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(values(y), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(VectorRunner, WidensAndRoundsFloats) {
  for (const auto& device : devices()) {
    SCOPED_TRACE(device->name());
    const VectorRunner runner(device, loops);
    constexpr std::size_t n = 4099;
    Vector x = numbers(device, n), wide(device, n);
    SingleVector y(device, n);
    runner.run("narrow", {}, {x, y});
    const auto sums = runner.run("widen", {}, {y, wide});
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto rounded = static_cast<double>(static_cast<float>(static_cast<double>(i + 1) / 3));
      ASSERT_EQ(wide.host_read()[i], rounded) << i;
      sum += rounded * rounded;
    }
    EXPECT_NEAR(sums[0], sum, 1e-13 * sum);
  }
}

TEST(VectorRunner, AssignsScalarsOnTheDevice) {
  for (const auto& device : devices()) {
    SCOPED_TRACE(device->name());
    const VectorRunner runner(device, loops);
    Vector r = numbers(device, 3), scalars(device, base::AlignedVector<double>{7, 0, 0, 0, 1});
    const auto before = device->copies();
    runner.queue("step", scalars, 0, {r});
    EXPECT_EQ(values(scalars), (std::vector<double>{56, 7, 8, 1, 0}));
    runner.queue("step", scalars, 0, {r});
    runner.queue("step", scalars, 0, {r});
    EXPECT_EQ(values(scalars), (std::vector<double>{896, 224, 4, 3, 1.0 * 0}));
    EXPECT_LE((device->copies() - before).num_to_host, 2);
    runner.queue("halve", scalars, 0, {});
    EXPECT_EQ(scalars.host_read()[4], 0);
    EXPECT_NEAR(scalars.host_read()[0], std::sqrt(896.0), 1e-13);
    EXPECT_EQ(values(r), (std::vector<double>{8, 16, 24}));
  }
}

TEST(VectorRunner, LaterStatementsSeeEarlierValues) {
  for (const auto& device : devices()) {
    SCOPED_TRACE(device->name());
    const VectorRunner runner(device, loops);
    Vector x = numbers(device, 5), y(device, 5);
    const auto sums = runner.run("several", {1}, {x, y});
    EXPECT_EQ(values(x), (std::vector<double>{4, 9, 16, 25, 36}));
    EXPECT_EQ(values(y), (std::vector<double>{2, 6, 12, 20, 30}));
    EXPECT_EQ(std::vector<double>(sums.begin(), sums.end()), (std::vector<double>{90, 4 + 36 + 144 + 400 + 900}));
  }
}

TEST(VectorRunner, EmptyVectorsHaveZeroSums) {
  for (const auto& device : devices()) {
    const VectorRunner runner(device, loops);
    Vector x(device, 0), y(device, 0);
    EXPECT_EQ(runner.run("several", {1}, {x, y})[1], 0) << device->name();
  }
}

TEST(VectorRunner, KernelsAreSharedAndEndWithTheirDevice) {
  for (auto all = devices(); auto& device : all) {
    const auto kernels = VectorKernels::of(device, loops);
    EXPECT_EQ(VectorKernels::of(device, loops), kernels) << device->name();
    const std::weak_ptr<const device::Device> ended = device;
    EXPECT_EQ(kernels.use_count(), 2) << device->name();
    device.reset();
    EXPECT_TRUE(ended.expired());
    EXPECT_EQ(kernels.use_count(), 1) << "something else than the device keeps its kernels";
  }
}

TEST(VectorRunner, RefusesOperandsThatDoNotFit) {
  const auto device = device::make_device("host", 1);
  const VectorRunner runner(device, loops), ranges(device, loops, std::vector<EntryRange>{{0, 4}});
  Vector x(device, 3), y(device, 4);
  const Vector constant(device, 3);
  SingleVector single(device, 3);
  EXPECT_THROW(runner.run("several", {1}, {x, y}), base::InternalError);
  EXPECT_THROW(runner.run("several", {1}, {x}), base::InternalError);
  EXPECT_THROW(runner.run("several", {}, {x, x}), base::InternalError);
  EXPECT_THROW(runner.run("several", {1}, {x, constant}), base::InternalError);
  EXPECT_THROW(runner.run("several", {1}, {x, single}), base::InternalError);
  EXPECT_THROW(runner.run("nothing", {}, {x}), base::InternalError);
  EXPECT_THROW(runner.run("step", {1, 1, 1, 1, 1}, {x}), base::InternalError);
  EXPECT_THROW(ranges.run("several", {1}, {x, x}), base::InternalError);
}

TEST(VectorLoopText, WrongOnesAreRefused) {
  for (const char* text : {"",
                           "f",
                           "f(|x)",
                           "f(| x): x",
                           "f(| x): x = ",
                           "f(| x): x = y",
                           "f(| x, x): x = x",
                           "f(a | x): a = x",
                           "f(| x_): x_ = 0",
                           "f(| x_1): x_1 = 0",
                           "f(| x): x = 1 2",
                           "f(| x): sum s = x; x = 0",
                           "f(| x): let x = 1",
                           "f(| x): sum s = x; then s = 1",
                           "f(a | x): then a = x",
                           "f(a | x): let y = x; then a = y",
                           "f(| x): sum s = x; sum t = s*x",
                           "f(| x): x = sinus(x)",
                           "f(| x): x = max(x)",
                           "f(| x: double): x = 0",
                           "f(| x): x = (x",
                           "f(| x[e): x = 0"})
    EXPECT_THROW((void)schedule::parse_vector_loop(text), base::InternalError) << text;
}

TEST(VectorLoopText, SaysWhatIsReadAndWritten) {
  const auto loop = schedule::parse_vector_loop("f(a, b | x, y[e], z: float): y = a*x; z = y; x = x + z");
  EXPECT_EQ(loop.scalars, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(loop.lists(), std::vector<std::string>{"e"});
  ASSERT_EQ(loop.operands.size(), 3U);
  EXPECT_TRUE(loop.operands[0].is_read && loop.operands[0].is_written);
  EXPECT_TRUE(!loop.operands[1].is_read && loop.operands[1].is_written);
  EXPECT_TRUE(!loop.operands[2].is_read && loop.operands[2].is_written);
  EXPECT_EQ(loop.operands[2].type, schedule::Type::real32);
}

} // namespace
} // namespace rafter::op

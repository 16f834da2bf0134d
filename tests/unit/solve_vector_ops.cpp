// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

#include <rafter/device/host/cpu.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

/// The length is large enough for several threads, and no multiple of any block length.
constexpr std::size_t length = 150'007;

TEST(VectorOps, AgreeWithTheirDefinition) {
  const solvers::VectorOps ops(memory_device());
  const std::vector<double> a{1, 2, 3}, b{4, -5, 6};
  auto x = make_vector(a), y = make_vector(b), d = make_vector({2, 3, 4});
  EXPECT_EQ(ops.dot(x, y), 12);
  EXPECT_EQ(ops.norm(make_vector({3, 4})), 5);
  ops.axpy(2, x, y);
  EXPECT_EQ(values(y), (std::vector<double>{6, -1, 12}));
  ops.aypx(-1, x, y);
  EXPECT_EQ(values(y), (std::vector<double>{-5, 3, -9}));
  ops.subtract_from(x, y);
  EXPECT_EQ(values(y), (std::vector<double>{6, -1, 12}));
  ops.multiply(d, x, y);
  EXPECT_EQ(values(y), (std::vector<double>{2, 6, 12}));
  ops.combine(2, 10, d, x, y);
  EXPECT_EQ(values(y), (std::vector<double>{24, 72, 144}));
  ops.scale(0.5, y);
  EXPECT_EQ(values(y), (std::vector<double>{12, 36, 72}));
  ops.copy(y, x);
  EXPECT_EQ(values(x), values(y));
  ops.fill(7, x);
  EXPECT_EQ(values(x), (std::vector<double>{7, 7, 7}));
}

TEST(VectorOps, AdvanceIsTwoUpdatesAndTheSquaredNorm) {
  const solvers::VectorOps ops(memory_device());
  const auto p = make_vector({1, 2}), q = make_vector({3, 4});
  auto x = make_vector({10, 20}), r = make_vector({7, 8});
  EXPECT_EQ(ops.advance(2, p, q, x, r), 1);
  EXPECT_EQ(values(x), (std::vector<double>{12, 24}));
  EXPECT_EQ(values(r), (std::vector<double>{1, 0}));
}

TEST(VectorOps, MultiDotAndMultiAxpyAreSeveralOfTheSingleOnes) {
  const solvers::VectorOps ops(memory_device());
  std::vector<device::Vector> basis;
  for (unsigned j = 0; j < 3; ++j) basis.push_back(make_vector(random_values(length, j)));
  auto w = make_vector(random_values(length, 9)), expected = make_vector(random_values(length, 9));
  std::vector<double> h(3);
  ops.multi_dot(basis, w, h);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(h[j], ops.dot(basis[j], w));
  ops.multi_axpy(-1, h, basis, w);
  for (std::size_t j = 0; j < 3; ++j) ops.axpy(-h[j], basis[j], expected);
  EXPECT_EQ(values(w), values(expected));
}

TEST(VectorOps, ResultsAreBitIdenticalForAnyNumberOfThreads) {
  const auto x = make_vector(random_values(length, 1)), y = make_vector(random_values(length, 2));
  const solvers::VectorOps one(memory_device(1));
  auto r1 = make_vector(random_values(length, 3)), s1 = make_vector(random_values(length, 4));
  const double advanced = one.advance(0.3, x, y, r1, s1);
  for (const int num_threads : {2, 3, 7}) {
    const solvers::VectorOps many(device::make_device("host", num_threads));
    auto r = make_vector(random_values(length, 3)), s = make_vector(random_values(length, 4));
    EXPECT_EQ(many.advance(0.3, x, y, r, s), advanced);
    EXPECT_EQ(values(r), values(r1));
    EXPECT_EQ(values(s), values(s1));
    for (int repeat = 0; repeat < 20; ++repeat) ASSERT_EQ(many.dot(x, y), one.dot(x, y));
  }
}

TEST(VectorOps, RunOnTheThreadsOfTheirDevice) {
  const auto count_threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  const auto device = device::make_device("host", 3);
  const auto before = count_threads();
  const solvers::VectorOps ops(device);
  const auto x = make_vector(random_values(length, 1));
  const double squares = ops.dot(x, x);
  EXPECT_EQ(count_threads(), before);
  EXPECT_GT(squares, 0);
}

TEST(VectorOps, RandomVectorsAreReproducibleAndOfManyStreams) {
  std::vector<std::vector<double>> of_streams;
  for (const unsigned stream : {0u, 1u, 2u})
    for (const int threads : {1, 3}) {
      const auto device = device::make_device("host", threads);
      device::Vector x(device, length);
      solvers::VectorOps(device).fill_random(stream, x);
      of_streams.push_back(values(x));
    }
  for (std::size_t i = 0; i < of_streams.size(); i += 2) EXPECT_EQ(of_streams[i], of_streams[i + 1]);
  for (std::size_t i = 0; i < of_streams.size(); i += 2) {
    const auto& x = of_streams[i];
    EXPECT_TRUE(std::ranges::all_of(x, [](double value) { return std::abs(value) <= 1; }));
    // The numbers are independent and have the variance 1/3, so that products have the mean 0 and the deviation 1/3.
    for (std::size_t j = 0; j < of_streams.size(); j += 2) {
      const double mean = std::inner_product(x.begin(), x.end(), of_streams[j].begin(), 0.0) / length;
      EXPECT_NEAR(mean, i == j ? 1.0 / 3 : 0.0, 5 * (1.0 / 3) / std::sqrt(static_cast<double>(length)))
          << i << ' ' << j;
    }
  }
}

/// A lane sums the numbers that fall to it one after the other, and rounds in the same direction where all are equal:
/// processors with half as many lanes err by twice as much.
TEST(VectorOps, SumsAreAccurate) {
  const solvers::VectorOps ops(memory_device());
  auto ones = make_vector(std::vector<double>(length, 0.1));
  const double exact = static_cast<double>(length) * (0.1 * 0.1);
  constexpr int most_lanes = 8;
  const int lanes = std::min(most_lanes, device::register_bits(device::cpu()).back() / 64);
  const double units = 64.0 * most_lanes / lanes; // in the last place
  EXPECT_NEAR(ops.dot(ones, ones), exact, units * std::numeric_limits<double>::epsilon() * exact);
}

TEST(VectorOps, EmptyVectorsHaveZeroSums) {
  const solvers::VectorOps ops(memory_device());
  auto x = make_vector({});
  EXPECT_EQ(ops.norm(x), 0);
  EXPECT_EQ(ops.first_non_finite(x), -1);
}

TEST(VectorOps, SizesThatDifferAreAnInternalError) {
  const solvers::VectorOps ops(memory_device());
  const auto x = make_vector({1, 2}), y = make_vector({1, 2, 3});
  EXPECT_THROW(ops.dot(x, y), base::InternalError);
}

TEST(VectorOps, FirstNonFiniteEntryIsFound) {
  const solvers::VectorOps ops(memory_device());
  EXPECT_EQ(ops.first_non_finite(make_vector({1, 2, std::numeric_limits<double>::infinity(), NAN})), 2);
}

} // namespace

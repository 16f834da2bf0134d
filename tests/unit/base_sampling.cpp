// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include <rafter/base/sampling.hpp>

namespace rafter::base {
namespace {

TEST(Sampling, EveryRoundCallsEachOnceInTurnAfterWarmingUp) {
  std::vector<int> order;
  const std::vector<std::function<void()>> calls{[&] { order.push_back(0); }, {}, [&] { order.push_back(2); }};
  const auto samples = sample(calls, {.rounds = 4, .sample_seconds = 0});
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[0].size(), 4U);
  EXPECT_TRUE(samples[1].empty());
  EXPECT_EQ(samples[2].size(), 4U);
  ASSERT_GE(order.size(), 2U + 8U);
  const std::vector<int> rounds(order.end() - 8, order.end());
  EXPECT_EQ(rounds, (std::vector<int>{0, 2, 0, 2, 0, 2, 0, 2}));
}

TEST(Sampling, LongerSamplesCallMoreOften) {
  int count = 0;
  const std::vector<std::function<void()>> calls{[&] { ++count; }};
  (void)sample(calls, {.rounds = 1, .sample_seconds = 0.01});
  EXPECT_GT(count, 100);
}

TEST(Sampling, SeveralThreadsAreTimedByTheWallClock) {
  // Waiting takes no processor time, so that only the wall clock can see it.
  const std::vector<std::function<void()>> calls{[] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }};
  const auto samples = sample(calls, {.rounds = 2, .sample_seconds = 0, .threads = 4});
  for (const double seconds : samples[0]) EXPECT_GE(seconds, 0.002);
}

TEST(Sampling, TimingHoldsMedianAndExtremes) {
  const auto timing = timing_of({4, 1, 2});
  EXPECT_EQ(timing.median, 2);
  EXPECT_EQ(timing.best, 1);
  EXPECT_EQ(timing.worst, 4);
  EXPECT_EQ(timing.spread(), 1.5);
}

TEST(Sampling, SteadyMediansSeeThroughADriftOfTheMachine) {
  // The second call always takes twice the time of the first, while the machine slows down.
  const Samples samples{{1, 2, 4, 8, 16}, {2, 4, 8, 16, 32}, {}};
  const auto medians = steady_medians(samples);
  EXPECT_NEAR(medians[1] / medians[0], 2, 1e-14);
  EXPECT_NEAR(medians[0], 4, 1e-13);
  EXPECT_TRUE(std::isinf(medians[2]));
  EXPECT_NEAR(median_ratio(samples[1], samples[0]), 2, 1e-14);
}

} // namespace
} // namespace rafter::base

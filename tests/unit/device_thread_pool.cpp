// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/device/host/thread_pool.hpp>
#include <set>
#include <stdexcept>

namespace {

using rafter::device::ThreadPool;

class Pools : public testing::TestWithParam<int> {};

TEST_P(Pools, EveryIndexIsVisitedOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.num_threads(), GetParam());
  for (const std::int64_t count : {0, 1, 2, 3, 17, 1000}) {
    std::vector<int> visits(static_cast<std::size_t>(count)); // plain integers: a second visit would be a race
    pool.run(count, [&visits](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
    for (const int visit : visits) EXPECT_EQ(visit, 1);
  }
}

TEST_P(Pools, WritesOfOneRunAreSeenInTheNext) {
  ThreadPool pool(GetParam());
  constexpr std::int64_t count = 64;
  std::vector<std::int64_t> values(count), next(count);
  for (int step = 0; step < 200; ++step) {
    pool.run(count, [&](std::int64_t i) {
      next[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>((i + 1) % count)] + 1;
    });
    values.swap(next);
  }
  for (const std::int64_t value : values) EXPECT_EQ(value, 200);
}

TEST_P(Pools, FirstFailureArrivesAndThePoolStaysUsable) {
  ThreadPool pool(GetParam());
  const auto fail = [](std::int64_t i) {
    if (i == 5) throw std::runtime_error("five");
  };
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_THROW(pool.run(100, fail), std::runtime_error);
    std::atomic<int> count = 0;
    pool.run(100, [&count](std::int64_t) { ++count; });
    EXPECT_EQ(count, 100);
  }
}

TEST_P(Pools, RunsInsideRunsAreSerial) {
  ThreadPool pool(GetParam());
  std::atomic<int> count = 0;
  pool.run(10, [&](std::int64_t) {
    const auto self = std::this_thread::get_id();
    pool.run(10, [&](std::int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++count;
    });
  });
  EXPECT_EQ(count, 100);
}

TEST_P(Pools, CallersFromSeveralThreadsTakeTurns) {
  ThreadPool pool(GetParam());
  std::atomic<int> count = 0;
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 3; ++c)
      callers.emplace_back([&pool, &count] {
        for (int repeat = 0; repeat < 20; ++repeat) pool.run(13, [&count](std::int64_t) { ++count; });
      });
  }
  EXPECT_EQ(count, 3 * 20 * 13);
}

INSTANTIATE_TEST_SUITE_P(Threads, Pools, testing::Values(1, 2, 3, 8));

TEST(ThreadPoolWork, IsSharedBetweenThreads) {
  ThreadPool pool(2);
  std::atomic<int> arrived = 0;
  // Each index waits for the other: only two threads can finish this.
  pool.run(2, [&arrived](std::int64_t) {
    ++arrived;
    arrived.notify_all();
    for (int seen = arrived; seen < 2; seen = arrived) arrived.wait(seen);
  });
  EXPECT_EQ(arrived, 2);
}

} // namespace

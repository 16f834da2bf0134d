// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/device/device.hpp>
#include <rafter/device/host/thread_pool.hpp>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using rafter::device::ThreadPool;

class Pools : public testing::TestWithParam<int> {};

TEST_P(Pools, EveryIndexIsVisitedOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.num_threads(), GetParam());
  for (const std::int64_t count : {0, 1, 2, 3, 17, 1000}) {
    // The integers are not atomic, so that a second visit would be a race.
    std::vector<int> visits(static_cast<std::size_t>(count));
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

/// A forked child has none of the threads of its parent.
TEST_P(Pools, ForkedChildCompletesItsRuns) {
  ThreadPool pool(GetParam());
  pool.run(10, [](std::int64_t) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int count = 0; // not atomic, since one thread is left
    pool.run(100, [&count](std::int64_t) { ++count; });
    _exit(count == 100 ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, Pools, testing::Values(1, 2, 3, 8));

TEST(ThreadPoolWork, OfASlowThreadIsDoneByOthers) {
  ThreadPool pool(2);
  std::atomic<int> num_done = 0;
  // Index 0 begins the first share of the indices and waits for all others, some of which are in the same share.
  pool.run(20, [&num_done](std::int64_t i) {
    if (i == 0)
      for (int seen = num_done; seen < 19; seen = num_done) num_done.wait(seen);
    else {
      ++num_done;
      num_done.notify_all();
    }
  });
  EXPECT_EQ(num_done, 19);
}

TEST(ThreadPoolWork, OfADevicesLoopsIsDoneOnce) {
  for (const char* name : {"host", "checked"}) {
    const auto device = rafter::device::make_device(name, 3);
    for (const std::int64_t count : {0, 1, 100}) {
      // Every index has an integer of its own, so that there is no race.
      std::vector<int> visits(static_cast<std::size_t>(count));
      device->parallel_for(count, [&visits](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
      for (const int visit : visits) EXPECT_EQ(visit, 1) << name;
    }
  }
}

TEST(ThreadPoolWork, IsSharedBetweenThreads) {
  ThreadPool pool(2);
  std::atomic<int> arrived = 0;
  // Each index waits for the other, so that only two threads can finish.
  pool.run(2, [&arrived](std::int64_t) {
    ++arrived;
    arrived.notify_all();
    for (int seen = arrived; seen < 2; seen = arrived) arrived.wait(seen);
  });
  EXPECT_EQ(arrived, 2);
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <rafter/base/parallel.hpp>
#include <rafter/base/sorted_order.hpp>

namespace rafter::base {
namespace {

TEST(ParallelLoops, RunEveryTaskOnce) {
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    for (const std::int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      run_parallel(count, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
      EXPECT_TRUE(std::ranges::all_of(runs, [](const auto& n) { return n == 1; })) << threads << " " << count;
    }
  }
}

TEST(ParallelLoops, FailAsPlainLoopsDo) {
  const ThreadLimit limit(4);
  for (int repetition = 0; repetition < 50; ++repetition) try {
      run_parallel(1000, [](std::int64_t i) {
        if (i >= 7 && i % 3 == 1) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
}

TEST(ParallelLoops, TakeOneThreadWithinALoop) {
  const ThreadLimit limit(3);
  EXPECT_EQ(num_loop_threads(), 3);
  run_parallel(8, [](std::int64_t) { EXPECT_EQ(num_loop_threads(), 1); });
  {
    const ThreadLimit none(0);
    EXPECT_EQ(num_loop_threads(), num_available_cores());
  }
  EXPECT_EQ(num_loop_threads(), 3);
}

TEST(ParallelLoops, DoNotWaitForThreadsThatAreBusyElsewhere) {
  std::latch have_begun(2);
  std::atomic<bool> is_over = false;
  std::jthread busy([&] {
    const ThreadLimit limit(2);
    run_parallel(2, [&](std::int64_t) {
      have_begun.count_down();
      is_over.wait(false);
    });
  });
  have_begun.wait(); // the loop above holds its own thread and the only helper that two threads need
  std::atomic<int> runs = 0;
  const ThreadLimit limit(2);
  run_parallel(1000, [&](std::int64_t) { ++runs; });
  EXPECT_EQ(runs, 1000);
  is_over = true;
  is_over.notify_all();
}

TEST(ParallelLoops, OfSeveralThreadsRunSideBySide) {
  std::vector<std::atomic<int>> runs(1000);
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] {
        const ThreadLimit limit(3);
        for (int repetition = 0; repetition < 50; ++repetition)
          run_parallel(1000, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
      });
  }
  EXPECT_TRUE(std::ranges::all_of(runs, [](const auto& n) { return n == 200; }));
}

TEST(ParallelLoops, PartsFollowEachOtherWhateverTheThreads) {
  for (const std::int64_t count : {0, 1, 9, 10, 11, 1000})
    for (const std::int64_t most : {std::int64_t{3}, std::numeric_limits<std::int64_t>::max()}) {
      const Parts parts(count, 10, most);
      EXPECT_LE(parts.count(), most);
      std::int64_t next = 0;
      for (std::int64_t part = 0; part < parts.count(); ++part) {
        EXPECT_EQ(parts.begin(part), next);
        EXPECT_GT(parts.end(part), next);
        next = parts.end(part);
      }
      EXPECT_EQ(next, count);
    }
}

TEST(SortedOrder, IsThatOfAStableSort) {
  std::mt19937_64 random(3);
  const auto check = [](const std::vector<std::uint64_t>& keys) {
    std::vector<std::int32_t> expected(keys.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::ranges::stable_sort(expected, {}, [&](std::int32_t i) { return keys[static_cast<std::size_t>(i)]; });
    for (const int threads : {1, 3}) {
      const ThreadLimit limit(threads);
      EXPECT_EQ(sorted_order(keys), expected);
    }
  };
  check({});
  check({5});
  for (const std::size_t n : {10u, 100u, 50000u}) {
    std::vector<std::uint64_t> any(n), few(n), skew(n);
    for (auto& key : any) key = random();
    for (auto& key : few) key = random() % 7;
    for (auto& key : skew) key = random() >> random() % 64;
    check(any);
    check(few);
    check(skew);
    check(std::vector<std::uint64_t>(n, std::numeric_limits<std::uint64_t>::max()));
    skew.front() = std::numeric_limits<std::uint64_t>::max(); // all others in one block
    check(skew);
  }
}

} // namespace
} // namespace rafter::base

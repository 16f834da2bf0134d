// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include <rafter/base/aligned.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <sys/mman.h>

namespace rafter::base {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t tolerance = 4 * mebibyte; // other memory of the process may change by so much in the meantime

/// Takes so much memory from the system, writes to all of it and gives it back.
void touch(std::int64_t bytes) {
  void* pages =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  std::memset(pages, 1, static_cast<std::size_t>(bytes));
  ASSERT_EQ(::munmap(pages, static_cast<std::size_t>(bytes)), 0);
}

TEST(Memory, PeakHoldsWhatIsNoLongerResident) {
  const auto before = process_memory();
  ASSERT_TRUE(before);
  EXPECT_GT(before->resident_bytes, 0);
  const std::int64_t taken = before->peak_bytes - before->resident_bytes + 64 * mebibyte; // more than any earlier peak
  touch(taken);
  const auto after = process_memory();
  ASSERT_TRUE(after);
  EXPECT_NEAR(static_cast<double>(after->peak_bytes), static_cast<double>(before->resident_bytes + taken), tolerance);
  EXPECT_NEAR(static_cast<double>(after->resident_bytes), static_cast<double>(before->resident_bytes), tolerance);
}

TEST(Memory, RestartedPeakIsThatOfWhatFollows) {
  touch(128 * mebibyte);
  if (!restart_peak_memory()) GTEST_SKIP() << "this system does not restart peaks";
  const auto start = process_memory();
  ASSERT_TRUE(start);
  EXPECT_LE(start->peak_bytes, start->resident_bytes + tolerance);
  touch(32 * mebibyte);
  const auto after = process_memory();
  ASSERT_TRUE(after);
  EXPECT_NEAR(static_cast<double>(after->peak_bytes), static_cast<double>(start->resident_bytes + 32 * mebibyte),
              tolerance);
}

TEST(Memory, GrowthOfAPartCountsFromItsBeginning) {
  if (!restart_peak_memory()) GTEST_SKIP() << "this system does not restart peaks";
  const MemoryGrowth first;
  touch(64 * mebibyte);
  EXPECT_NEAR(static_cast<double>(*first.peak_bytes()), 64.0 * mebibyte, tolerance);
  EXPECT_NEAR(static_cast<double>(*first.resident_bytes()), 0, tolerance);
  const MemoryGrowth second;
  touch(16 * mebibyte);
  EXPECT_NEAR(static_cast<double>(*second.peak_bytes()), 16.0 * mebibyte, tolerance);
}

TEST(Memory, AllocationsThatFailGiveTheSizes) {
  constexpr std::size_t exbibyte = std::size_t(1) << 60;
  try {
    allocate_aligned(exbibyte);
    FAIL() << "no machine has so much";
  } catch (const EnvironmentError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("1099511627776 MiB could not be allocated"), std::string::npos) << text;
    EXPECT_NE(text.find("MiB in use"), std::string::npos) << text;
  }
}

} // namespace
} // namespace rafter::base

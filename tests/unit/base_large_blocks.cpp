// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <rafter/base/aligned.hpp>
#include <rafter/base/large_blocks.hpp>

namespace {

using namespace rafter::base;

constexpr std::size_t size = least_large_block + 4096;

class LargeBlocks : public testing::Test {
protected:
  void SetUp() override {
    if (!begin_large_blocks()) GTEST_SKIP() << "no addresses for large blocks, or a sanitizer watches";
  }
  static char* take(std::size_t bytes) { return static_cast<char*>(take_large_block(bytes)); }
};

TEST_F(LargeBlocks, AFreedBlockServesTheNextOneOfItsSize) {
  char* const before = take(size);
  char* const first = take(size);
  char* const behind = take(size);
  ASSERT_NE(first, nullptr);
  std::memset(first, 1, size);
  EXPECT_TRUE(give_large_block(first));
  EXPECT_EQ(take(size), first);
  for (char* block : {before, first, behind}) EXPECT_TRUE(give_large_block(block));
}

TEST_F(LargeBlocks, FreedNeighboursBecomeOneBlock) {
  const std::array blocks{take(size), take(size), take(size), take(size)};
  for (const int i : {1, 0, 2}) EXPECT_TRUE(give_large_block(blocks[static_cast<std::size_t>(i)]));
  EXPECT_EQ(take(3 * size), blocks[0]);
  EXPECT_TRUE(give_large_block(blocks[0]));
  EXPECT_TRUE(give_large_block(blocks[3]));
}

TEST_F(LargeBlocks, ABlockTakesWhatIsFreeAtTheEndAndAddsToIt) {
  char* const last = take(size);
  EXPECT_TRUE(give_large_block(last));
  char* const longer = take(64 * size);
  EXPECT_LE(longer, last);
  std::memset(longer, 1, 64 * size);
  EXPECT_TRUE(give_large_block(longer));
}

TEST_F(LargeBlocks, TheSmallestRangeThatFitsIsTaken) {
  char* const wide = take(4 * size);
  char* const between = take(size);
  char* const fitting = take(2 * size);
  char* const end = take(size);
  EXPECT_TRUE(give_large_block(wide));
  EXPECT_TRUE(give_large_block(fitting));
  EXPECT_EQ(take(2 * size), fitting);
  EXPECT_EQ(take(3 * size), wide);
  for (char* block : {wide, between, fitting, end}) EXPECT_TRUE(give_large_block(block));
}

TEST_F(LargeBlocks, TrimmedOnesAreGivenBackToTheSystem) {
  char* const block = take(size);
  char* const behind = take(size);
  std::memset(block, 1, size);
  EXPECT_TRUE(give_large_block(block));
  trim_large_blocks();
  ASSERT_EQ(take(size), block);
  EXPECT_EQ(block[0], 0); // the system clears the pages that it gives
  EXPECT_EQ(block[size - 1], 0);
  EXPECT_TRUE(give_large_block(block));
  EXPECT_TRUE(give_large_block(behind));
}

TEST_F(LargeBlocks, OtherMemoryIsNone) {
  int number = 0;
  EXPECT_FALSE(give_large_block(&number));
  EXPECT_FALSE(give_large_block(nullptr));
}

TEST_F(LargeBlocks, AlignedMemoryIsTakenFromThem) {
  void* const memory = allocate_aligned(size);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
  free_aligned(memory);
  EXPECT_EQ(take(size), memory);
  EXPECT_TRUE(give_large_block(memory));
}

} // namespace

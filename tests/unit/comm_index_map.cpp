// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>

#include <rafter/comm/index_map.hpp>

namespace rafter::comm {
namespace {

TEST(IndexMap, OneProcessOwnsEverything) {
  const IndexMap map(10);
  EXPECT_EQ(map.num_owned(), 10);
  EXPECT_EQ(map.num_ghosts(), 0);
  EXPECT_EQ(map.num_local(), 10);
  EXPECT_EQ(map.num_global(), 10);
  for (std::int64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(map.local_to_global(i), i);
    EXPECT_EQ(map.global_to_local(i), i);
  }
}

TEST(IndexMap, EmptyMapHoldsNothing) {
  const IndexMap map;
  EXPECT_EQ(map.num_local(), 0);
  EXPECT_EQ(map.global_to_local(0), -1);
}

TEST(IndexMap, LocalToGlobalAndBackIsTheIdentityWithUnsortedGhosts) {
  const IndexMap map(100, 105, 300, {299, 7, 0, 105, 99}, {2, 0, 0, 1, 0});
  EXPECT_EQ(map.num_local(), 10);
  for (std::int64_t local = 0; local < map.num_local(); ++local)
    EXPECT_EQ(map.global_to_local(map.local_to_global(local)), local);
  EXPECT_EQ(map.local_to_global(0), 100);
  EXPECT_EQ(map.local_to_global(5), 299);
  EXPECT_EQ(map.local_to_global(7), 0);
}

TEST(IndexMap, NumbersThatAreNotHeldMapToMinusOne) {
  const IndexMap map(100, 105, 300, {299, 7}, {2, 0});
  int held = 0;
  for (std::int64_t global = -2; global < 303; ++global) held += map.global_to_local(global) >= 0;
  EXPECT_EQ(held, 7);
  EXPECT_EQ(map.global_to_local(106), -1);
  EXPECT_EQ(map.global_to_local(-1), -1);
  EXPECT_EQ(map.global_to_local(300), -1);
}

TEST(IndexMap, GlobalNumbersHave64Bits) {
  const std::int64_t begin = std::int64_t{1} << 40;
  const IndexMap map(begin, begin + 3, begin * 4, {begin * 3}, {5});
  EXPECT_EQ(map.local_to_global(3), begin * 3);
  EXPECT_EQ(map.global_to_local(begin * 3), 3);
  EXPECT_EQ(map.ghost_owners()[0], 5);
}

TEST(IndexMap, CopiesKeepLookUp) {
  IndexMap copy;
  {
    const IndexMap map(2, 4, 9, {8, 0}, {1, 0});
    copy = map;
  }
  EXPECT_EQ(copy.global_to_local(8), 2);
  EXPECT_EQ(copy.global_to_local(0), 3);
}

} // namespace
} // namespace rafter::comm

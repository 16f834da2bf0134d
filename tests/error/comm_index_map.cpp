// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/comm/index_map.hpp>

namespace rafter::comm {
namespace {

using base::InternalError;

TEST(IndexMapErrors, OwnedRangeMustLieInTheGlobalRange) {
  EXPECT_THROW(IndexMap(-1), InternalError);
  EXPECT_THROW(IndexMap(-1, 3, 10, {}, {}), InternalError);
  EXPECT_THROW(IndexMap(3, 2, 10, {}, {}), InternalError);
  EXPECT_THROW(IndexMap(3, 11, 10, {}, {}), InternalError);
}

TEST(IndexMapErrors, GhostsMustBeForeignAndUnique) {
  EXPECT_THROW(IndexMap(2, 5, 10, {3}, {0}), InternalError);
  EXPECT_THROW(IndexMap(2, 5, 10, {10}, {0}), InternalError);
  EXPECT_THROW(IndexMap(2, 5, 10, {-1}, {0}), InternalError);
  EXPECT_THROW(IndexMap(2, 5, 10, {7, 8, 7}, {1, 1, 1}), InternalError);
}

TEST(IndexMapErrors, EveryGhostHasOneOwner) {
  EXPECT_THROW(IndexMap(2, 5, 10, {7, 8}, {1}), InternalError);
  EXPECT_THROW(IndexMap(2, 5, 10, {7}, {-1}), InternalError);
}

TEST(IndexMapErrors, LocalNumbersOutOfRange) {
  const IndexMap map(2, 5, 10, {7}, {1});
  EXPECT_THROW(map.local_to_global(-1), InternalError);
  EXPECT_THROW(map.local_to_global(4), InternalError);
}

} // namespace
} // namespace rafter::comm

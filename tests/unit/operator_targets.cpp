// SPDX-License-Identifier: BSD-3-Clause
// Targets follow from a language and from what a driver tells of a device; what it does not tell has a meaning.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/operator/generate/kernel_target.hpp>

#include "../support/text_device.hpp"

namespace {

using namespace rafter;

TEST(Targets, OfAHostAreThoseOfItsLanguage) {
  EXPECT_EQ(op::target_of("c", {}), schedule::Target());
  EXPECT_EQ(op::target_of("c", {.most_items = 7, .shared_bytes = 9, .matrix_shapes = {}}), schedule::Target());
  EXPECT_THROW(op::target_of("fortran", {}), base::InternalError);
}

TEST(Targets, HaveTheLimitsOfTheDevice) {
  const device::Capabilities capabilities{.most_items = 512,
                                          .sub_group_width = 64,
                                          .registers_per_item = 128,
                                          .registers_per_unit = 65536,
                                          .shared_bytes = 49152,
                                          .work_bytes_per_item = 1 << 16,
                                          .matrix_shapes = {{8, 8, 4}}};
  const auto target = op::target_of(test::TextDevice("opencl", capabilities));
  EXPECT_EQ(target.language, "opencl");
  EXPECT_FALSE(target.is_processor);
  EXPECT_EQ(target.most_items, 512);
  EXPECT_EQ(target.items_in_step, 64);
  EXPECT_EQ(target.lanes_of_item, 1);
  EXPECT_EQ(target.register_bytes, 4 * 128);
  EXPECT_EQ(target.unit_register_bytes, 4 * 65536);
  EXPECT_EQ(target.shared_bytes, 49152);
  EXPECT_EQ(target.most_work_bytes, 1 << 16);
  EXPECT_EQ(target.most_group_work_bytes, 0) << "no thread has a group on its stack";
  EXPECT_EQ(target.matrix_shapes, capabilities.matrix_shapes);
}

TEST(Targets, OfDevicesThatTellNothingHaveNoOtherLimitsThanAHost) {
  const auto target = op::target_of("opencl", {});
  const schedule::Target host;
  EXPECT_EQ(target.most_items, host.most_items);
  EXPECT_EQ(target.most_work_bytes, host.most_work_bytes);
  EXPECT_EQ(target.items_in_step, 1);
  EXPECT_EQ(target.register_bytes, 0);
  EXPECT_EQ(target.shared_bytes, 0);
}

TEST(Targets, OfProcessorsKeepGroupsOnAStack) {
  const auto target = op::target_of("opencl", {.most_items = 4096, .vector_width = 8, .is_processor = true});
  EXPECT_TRUE(target.is_processor);
  EXPECT_EQ(target.lanes_of_item, 8);
  EXPECT_EQ(target.most_items, schedule::Target().most_items) << "what the emitted text accepts";
  EXPECT_EQ(target.most_group_work_bytes, schedule::Target().most_group_work_bytes);
}

TEST(Targets, AddAtomicallyByAnInstructionWhereTheLanguageCanSayIt) {
  EXPECT_FALSE(op::target_of("opencl", {.has_atomic_doubles = true}).has_atomic_doubles) << "OpenCL C 1.2 cannot";
}

} // namespace

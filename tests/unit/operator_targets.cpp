// SPDX-License-Identifier: BSD-3-Clause
// Targets follow from a language and from what a driver tells of a device; what it does not tell has a meaning.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/machine/device_record.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/tune/device_probe.hpp>

#include "../support/box_meshes.hpp"
#include "../support/operator_problems.hpp"
#include "../support/source_directory.hpp"
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

/// The record of an NVIDIA H200 as it was measured.
machine::DeviceRecord h200() {
  std::stringstream text;
  text
      << std::ifstream(std::filesystem::path(test::source_directory()) / "bench/data/devices/nvidia-h200.json").rdbuf();
  return machine::device_record_from_json(text.str());
}

op::KernelOptions for_target(const machine::DeviceRecord& record, const std::string& plan = "") {
  op::OperatorOptions options{.plan = plan,
                              .planner = std::make_shared<const tune::Planner>(tune::planner_options(record))};
  return op::kernel_options(options, op::kernel_target(record.capabilities));
}

/// The kernels of a form on deformed hexahedra of degree 4, with p+2 points in each direction.
std::shared_ptr<op::GeneratedForm> on_deformed_hexahedra(const char* form, op::KernelOptions options) {
  const test::Problem problem(test::curved_box("hexahedron", 1, 3), 4, 0);
  options.quadrature.points = 6;
  return op::build_form(form::lower(problem.form(form)), problem.system(), op::Purpose::action, options);
}

TEST(TargetsWithoutADevice, AreWhatTheRecordTells) {
  const auto record = h200();
  EXPECT_EQ(record.capabilities.architecture, "sm_90");
  const auto target = op::kernel_target(record.capabilities);
  EXPECT_EQ(target.name, "NVIDIA H200");
  EXPECT_EQ(target.target.language, "opencl");
  EXPECT_EQ(target.target.items_in_step, 32);
  EXPECT_EQ(target.target.register_bytes, 4 * 255);
  EXPECT_EQ(machine::device_record_from_json(machine::to_json(record)), record);
}

TEST(TargetsWithoutADevice, HavePlansAndTextsButNoPrograms) {
  const auto built = on_deformed_hexahedra("inner(u, v)*dx", for_target(h200()));
  EXPECT_EQ(built->options.device, nullptr);
  const auto& info = built->blocks.at(0).kernel.info;
  EXPECT_EQ(info.plan[schedule::key::mapping].name, "cell_per_item");
  EXPECT_NE(info.source.find("void entry_kernel("), std::string::npos);
  EXPECT_THROW(op::compile(std::array{built}), base::InternalError);
}

TEST(TargetsWithoutADevice, TakeStoredFactorsWhereMemoryCostsLessThanWorkArrays) {
  const auto built = on_deformed_hexahedra("inner(u, v)*dx", for_target(h200()));
  const auto& plan = built->blocks.at(0).kernel.info.plan;
  EXPECT_EQ(plan[schedule::key::factors].kind, kernel::FactorStorage::Kind::store) << schedule::to_string(plan);
}

TEST(TargetsWithoutADevice, InLanguagesThatNothingIsWrittenInAreRefused) {
  EXPECT_THROW(op::kernel_target(device::Capabilities{.description = "X", .languages = {"fortran"}}), base::InputError);
  EXPECT_THROW(op::kernel_target(device::Capabilities{.description = "X", .languages = {}}), base::InputError);
  EXPECT_EQ(op::kernel_target(device::Capabilities{.languages = {"fortran", "opencl"}}).target.language, "opencl");
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
// The cost model obeys laws: more work takes no less time, and no prediction is below the roofline.
#include <gtest/gtest.h>

#include <limits>

#include <rafter/machine/device_record.hpp>
#include <rafter/machine/typical.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/tune/cost_model.hpp>
#include <rafter/tune/cost_weights.hpp>
#include <rafter/tune/features.hpp>
#include <rafter/tune/plan_lowering.hpp>

namespace rafter::tune {
namespace {

schedule::PlanningProblem problem_of(double num_batches) {
  schedule::PlanningProblem problem;
  problem.num_batches = num_batches;
  problem.input_bytes = 1000;
  problem.output_bytes = 500;
  return problem;
}

Features usual_features() {
  Features f;
  f.flops = 16000;
  f.arithmetic = 1200;
  f.loads = 700;
  f.stores = 300;
  f.gathers = 40;
  f.scatters = 200;
  f.index_loads = 90;
  f.iterations = 100;
  f.work_bytes = 30000;
  f.text = 900;
  f.data_bytes = 800;
  f.vector_bytes = 1500;
  return f;
}

TEST(CostModel, MoreOfAnythingIsNotFaster) {
  const auto machine = machine::typical_machine();
  for (const double batches : {10.0, 1e3, 1e6}) {
    const auto problem = problem_of(batches);
    const double before = predict(usual_features(), problem, machine, processor_weights()).seconds;
    for (const auto& feature : feature_names) {
      auto more = usual_features();
      more.*feature.value = 10 * more.*feature.value + 10;
      EXPECT_GE(predict(more, problem, machine, processor_weights()).seconds, before) << feature.name << " " << batches;
    }
  }
}

TEST(CostModel, TheWayToGatherThatTheMachineMeasuredFasterIsCheaper) {
  auto by_vector = usual_features(), by_lane = usual_features();
  by_lane.lane_loads = by_vector.vector_width * by_vector.gathers;
  by_lane.gathers = 0;
  const auto seconds = [](const Features& features, double vector, double scalar) {
    auto machine = machine::typical_machine();
    machine.vector_gather = {vector, vector};
    machine.scalar_gather = {scalar, scalar};
    return predict(features, problem_of(10), machine, processor_weights()).seconds;
  };
  EXPECT_LT(seconds(by_vector, 7e9, 4e9), seconds(by_lane, 7e9, 4e9));
  EXPECT_GT(seconds(by_vector, 2e9, 4e9), seconds(by_lane, 2e9, 4e9));
  EXPECT_EQ(seconds(by_vector, 0, 0), seconds(by_lane, 0, 0)) << "nothing was measured";
  EXPECT_EQ(seconds(by_vector, 7e9, 4e9), seconds(by_lane, 2e9, 4e9)) << "the weight is that of the faster way";
}

TEST(CostModel, MoreArithmeticIsSlowerInCaches) {
  auto more = usual_features();
  more.arithmetic *= 2;
  const auto machine = machine::typical_machine();
  EXPECT_GT(predict(more, problem_of(10), machine, processor_weights()).seconds,
            predict(usual_features(), problem_of(10), machine, processor_weights()).seconds);
}

TEST(CostModel, FullRegistersOfFloatsTakeAsLongAsOnesOfDoubles) {
  const auto machine = machine::typical_machine(512);
  auto floats = usual_features();
  floats.word_bytes = 4;
  floats.vector_width = 16;
  EXPECT_DOUBLE_EQ(predict(floats, problem_of(10), machine, processor_weights()).seconds,
                   predict(usual_features(), problem_of(10), machine, processor_weights()).seconds);
  floats.vector_width = 8; // registers that are half full are no faster, on half the cells
  EXPECT_GE(predict(floats, problem_of(10), machine, processor_weights()).seconds,
            predict(usual_features(), problem_of(10), machine, processor_weights()).seconds);
}

TEST(CostModel, NoPredictionIsBelowTheRoofline) {
  const auto machine = machine::typical_machine();
  for (const auto& feature : feature_names) { // each feature alone
    Features f;
    f.*feature.value = 1e6;
    const auto prediction = predict(f, problem_of(100), machine, processor_weights());
    EXPECT_GE(prediction.seconds, prediction.bound_seconds) << feature.name;
  }
}

TEST(CostModel, TimeGrowsWithTheNumberOfBatches) {
  const auto machine = machine::typical_machine();
  double before = 0;
  for (const double batches : {1.0, 10.0, 100.0, 1e4, 1e6}) {
    const double seconds = predict(usual_features(), problem_of(batches), machine, processor_weights()).seconds;
    EXPECT_GT(seconds, before);
    before = seconds;
  }
}

TEST(CostModel, BytesCountMoreOnceTheyComeFromMemory) {
  const auto machine = machine::typical_machine();
  auto stored = usual_features();
  stored.data_bytes = 60000;
  const auto cost_of_storing = [&](double batches) {
    return predict(stored, problem_of(batches), machine, processor_weights()).seconds /
           predict(usual_features(), problem_of(batches), machine, processor_weights()).seconds;
  };
  EXPECT_GT(cost_of_storing(1e5), cost_of_storing(1)); // stores 6 GB and 60 kB
}

TEST(CostModel, WorkThatLeavesTheNearestCacheIsSlower) {
  const auto machine = machine::typical_machine();
  auto large = usual_features();
  large.work_bytes = 1 << 20;
  EXPECT_GT(predict(large, problem_of(10), machine, processor_weights()).seconds,
            predict(usual_features(), problem_of(10), machine, processor_weights()).seconds);
}

TEST(CostModel, EveryCacheThatWorkLeavesMakesItSlower) {
  const auto machine = machine::typical_machine();
  double before = 0, step = 0;
  for (const auto& level : machine.levels) {
    auto features = usual_features();
    features.work_bytes = 0.9 * static_cast<double>(level.bytes);
    const double inside = predict(features, problem_of(10), machine, processor_weights()).seconds;
    if (before > 0) {
      EXPECT_GT(inside, before) << level.name;
      EXPECT_GT(inside - before, step) << level.name << ": each is slower than the one before";
      step = inside - before;
    }
    before = inside;
  }
}

TEST(CostModel, InstructionsTakeTheirTimeHoweverManyLanesTheyUse) {
  const auto machine = machine::typical_machine(512);
  const auto seconds = [&](int vector_width) {
    auto features = usual_features();
    features.vector_width = vector_width;
    return predict(features, problem_of(10), machine, processor_weights()).seconds;
  };
  EXPECT_EQ(seconds(4), seconds(8));
  EXPECT_GT(seconds(16), 1.5 * seconds(8)); // each vector takes two registers
}

TEST(CostModel, WhatLanesDoOneByOneTakesAsLongInWiderVectors) {
  const auto machine = machine::typical_machine(256);
  const auto seconds = [&](double scatters, int vector_width) {
    auto features = usual_features();
    features.scatters = scatters;
    features.vector_width = vector_width;
    return predict(features, problem_of(10), machine, processor_weights()).seconds;
  };
  EXPECT_NEAR(seconds(2e5, 8) - seconds(1e5, 8), seconds(2e5, 4) - seconds(1e5, 4), 1e-9 * seconds(2e5, 4));
}

TEST(CostModel, RatesOfBusyMachinesDoNotCount) {
  auto record = machine::typical_machine(256, 4);
  record.levels[1].bytes = 12345;
  auto busy = record;
  busy.steadiness = 0.3;
  busy.peaks.front().fma = {1e9, 1e9};
  busy.matrix_product = {1e9, 1e9};
  busy.levels.back().read = busy.levels.back().triad = {1e8, 1e8};
  EXPECT_EQ(machine::steady(record), record); // a record of a quiet machine is not changed
  auto expected = record;
  expected.steadiness = busy.steadiness;
  EXPECT_EQ(machine::steady(busy), expected);
}

TEST(CostModel, TheRoughEstimateFollowsOperationsAndBytes) {
  const auto machine = machine::typical_machine();
  const auto seconds = [&](double flops, double bytes) {
    return predict_roughly({.flops = flops, .data_bytes = bytes}, problem_of(1e6), machine, processor_weights());
  };
  EXPECT_LT(seconds(1e4, 1e3), seconds(1e5, 1e3));
  EXPECT_LT(seconds(1e4, 1e3), seconds(1e4, 1e5));
}

/// The record of a device with round figures: 10^12 multiply-adds per second, a memory of 8e12 bytes per second.
machine::DeviceRecord round_record() {
  machine::DeviceRecord result;
  result.machine = machine::typical_machine(64);
  const auto rate = [](double value) { return machine::Rate{value, value}; };
  result.machine.peaks = {
      {.bits = 64, .fma = rate(2e12), .add = rate(5e11), .mul = rate(1e12), .single_fma = rate(4e12)}};
  const machine::Level memory{.name = "memory",
                              .bytes = std::int64_t{1} << 40,
                              .read = rate(8e12),
                              .triad = rate(8e12),
                              .copy = rate(8e12),
                              .streaming_copy = rate(8e12)};
  auto registers = memory;
  registers.bytes = 0;
  result.machine.levels = {registers, memory};
  result.shared.read = rate(16e12);
  result.capabilities = {.num_compute_units = 10, .registers_per_item = 250, .registers_per_unit = 50000};
  return result;
}

TEST(CostWeights, OfDevicesFollowFromWhatWasMeasured) {
  const auto record = round_record();
  const auto weights = cost_weights(record);
  EXPECT_DOUBLE_EQ(weights.arithmetic, 2 * 2) << "additions at half the rate; 400 items are needed, 200 fit";
  EXPECT_DOUBLE_EQ(weights.loads, 0.5) << "8 bytes at 16e12 per second, instructions at 1e12";
  EXPECT_DOUBLE_EQ(weights.stores, weights.loads);
  EXPECT_DOUBLE_EQ(weights.spilling, 1);
  EXPECT_DOUBLE_EQ(weights.scatters, 2);
  EXPECT_DOUBLE_EQ(weights.nearest_bytes, 4 * 250);
  EXPECT_DOUBLE_EQ(weights.num_work_arrays, 10 * 200);
}

TEST(CostWeights, OfDevicesWithUnknownRegistersTakeAllWorkArraysToFit) {
  auto record = round_record();
  record.capabilities = {};
  const auto weights = cost_weights(record);
  EXPECT_DOUBLE_EQ(weights.arithmetic, 2);
  EXPECT_EQ(weights.nearest_bytes, std::numeric_limits<double>::infinity());
  EXPECT_EQ(weights.num_work_arrays, 1);
}

TEST(CostWeights, OfProcessorsAreThoseOfTheHost) {
  auto record = round_record();
  record.capabilities.is_processor = true;
  EXPECT_EQ(cost_weights(record), processor_weights());
}

TEST(CostModel, OfADeviceCountsDataByTheirBytesAlone) {
  const auto record = round_record();
  const auto seconds = [&](const Features& features) {
    return predict(features, problem_of(1e6), record.machine, cost_weights(record)).seconds;
  };
  Features few;
  few.vector_width = 1;
  few.work_bytes = 1e5;
  few.vector_bytes = 1500;
  few.loads = 400;
  auto loads_data = few, loads_work = few;
  loads_data.data_bytes = 800;
  loads_work.loads += 100;
  loads_data.loads += 100;
  EXPECT_GT(seconds(loads_work) - seconds(few), 1e6 * 100 * 1.4 * 1e-12);
  EXPECT_NEAR(seconds(loads_data) - seconds(few), 1e6 * (100 * 0.5 * 1e-12 + 800 / 8e12), 1e-9);
}

} // namespace
} // namespace rafter::tune

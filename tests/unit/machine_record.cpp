// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <rafter/base/error.hpp>
#include <rafter/device/host/cache_entry.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/machine/caches.hpp>
#include <rafter/machine/estimate.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/machine/typical.hpp>

#include "../support/device_folders.hpp"

namespace {

using namespace rafter;
using machine::Counts;
using machine::Machine;
using machine::Rate;

/// The machine has round numbers: 100 Gflop/s and 10 GB/s per core, and four cores.
Machine made_up() {
  Machine result;
  result.model = "Made up \"X\"";
  result.vendor = "Nobody";
  result.instruction_sets = {"avx", "avx2"};
  result.cores = 4;
  result.peaks = {{64, {10e9, 40e9}, {5e9, 20e9}, {5e9, 20e9}, {10e9, 40e9}},
                  {256, {100e9, 400e9}, {50e9, 200e9}, {50e9, 200e9}, {200e9, 800e9}}};
  result.levels = {{"L1", 32768, {200e9, 800e9}, {150e9, 600e9}, {100e9, 400e9}, {10e9, 40e9}},
                   {"memory", 1LL << 34, {10e9, 25e9}, {9e9, 21e9}, {6e9, 14e9}, {8e9, 20e9}}};
  return result;
}

TEST(MachineRoofline, LargestTimeIsTheBound) {
  const Machine machine = made_up();
  const auto flops = bound({.flops = 200e9, .global_bytes_read = 10e9, .least_local_bytes_read = 200e9}, machine, 1);
  EXPECT_DOUBLE_EQ(flops.seconds, 2);
  EXPECT_EQ(flops.limited_by, "flops");
  const auto memory = bound({.flops = 200e9, .global_bytes_read = 30e9, .least_local_bytes_read = 200e9}, machine, 1);
  EXPECT_DOUBLE_EQ(memory.seconds, 3);
  EXPECT_EQ(memory.limited_by, "memory");
  const auto local = bound({.flops = 200e9, .global_bytes_read = 30e9, .least_local_bytes_read = 800e9}, machine, 1);
  EXPECT_DOUBLE_EQ(local.seconds, 4);
  EXPECT_EQ(local.limited_by, "local memory");
}

TEST(MachineRoofline, TheNearestCacheReadsAndWritesAtTheSameTime) {
  Machine machine = made_up(); // it reads 200 GB/s and writes 50 GB/s in a triad and beside the reads of a copy
  const auto seconds = [&machine](double read, double written) {
    return bound({.least_local_bytes_read = read, .least_local_bytes_written = written}, machine, 1).seconds;
  };
  EXPECT_DOUBLE_EQ(seconds(400e9, 0), 2);
  EXPECT_DOUBLE_EQ(seconds(400e9, 100e9), 2);
  EXPECT_DOUBLE_EQ(seconds(200e9, 100e9), 2);
  EXPECT_DOUBLE_EQ(seconds(100e9, 200e9), 4);
  machine.levels.front().triad.one_core = 600e9; // 400 GB/s of reads and 200 GB/s of writes
  EXPECT_DOUBLE_EQ(seconds(400e9, 0), 1);
  EXPECT_DOUBLE_EQ(seconds(0, 400e9), 2);
}

TEST(MachineRoofline, NoMixOfTheNearestCacheIsBoundedBelowWhatWasMeasured) {
  const Machine machine = made_up();
  const auto& level = machine.levels.front();
  const auto seconds = [&machine](double read, double written) {
    return bound({.least_local_bytes_read = read, .least_local_bytes_written = written}, machine, 1).seconds;
  };
  EXPECT_LE(seconds(1, 0), 1 / level.read.one_core);
  EXPECT_LE(seconds(2, 1), 3 / level.triad.one_core);
  EXPECT_LE(seconds(1, 1), 2 / level.copy.one_core);
  const auto cached = resident(machine, 1000, 1); // the same holds for data that are in the cache
  EXPECT_LE(bound({.global_bytes_read = 2, .global_bytes_written = 1}, cached, 1).seconds, 3 / level.triad.one_core);
}

TEST(MachineRoofline, NothingToDoTakesNoTime) {
  const auto nothing = bound({}, made_up(), 1);
  EXPECT_EQ(nothing.seconds, 0);
  EXPECT_EQ(nothing.limited_by, "");
}

TEST(MachineRoofline, EffectiveFlopsDoNotEnter) {
  EXPECT_EQ(bound({.flops = 1e9, .effective_flops = 9e9}, made_up(), 1).seconds, 0.01);
}

TEST(MachineRoofline, MemoryFollowsTheMixOfReadsAndWrites) {
  const Machine machine = made_up();
  const auto seconds = [&machine](double read, double written) {
    return bound({.global_bytes_read = read, .global_bytes_written = written}, machine, 1).seconds;
  };
  EXPECT_DOUBLE_EQ(seconds(90e9, 0), 9);           // at the rate of reads
  EXPECT_DOUBLE_EQ(seconds(60e9, 30e9), 10);       // at the rate of the triad
  EXPECT_DOUBLE_EQ(seconds(40e9, 40e9), 10);       // at the rate of the better copy
  EXPECT_DOUBLE_EQ(seconds(0, 80e9), 10);          // more writes than a copy has count as a copy
  EXPECT_DOUBLE_EQ(seconds(75e9, 15e9), 90 / 9.5); // half way between reads and triad
}

TEST(MachineRoofline, CoresInterpolateBetweenOneAndAll) {
  const Machine machine = made_up();
  EXPECT_DOUBLE_EQ(machine.peak_flops(1), 100e9);
  EXPECT_DOUBLE_EQ(machine.peak_flops(2), 200e9);
  EXPECT_DOUBLE_EQ(machine.peak_flops(4), 400e9);
  EXPECT_DOUBLE_EQ(machine.peak_flops(9), 400e9);
  EXPECT_DOUBLE_EQ(bound({.global_bytes_read = 25e9}, machine, 4).seconds, 1);
}

TEST(MachineRoofline, CountsAdd) {
  Counts sum{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  sum += {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110};
  EXPECT_EQ(sum, (Counts{11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121}));
}

TEST(MachineRoofline, OperationsOnFloatsHaveTheirOwnRate) {
  const Machine machine = made_up();
  EXPECT_DOUBLE_EQ(machine.single_peak_flops(1), 200e9);
  EXPECT_DOUBLE_EQ(machine::bound({.flops = 100e9, .single_flops = 100e9}, machine, 1).seconds, 0.5);
  EXPECT_DOUBLE_EQ(machine::bound({.flops = 100e9, .single_flops = 40e9}, machine, 1).seconds, 0.6 + 0.2);
  // Operations are not fused here.
  EXPECT_DOUBLE_EQ(
      machine::bound({.flops = 100e9, .operations = 100e9, .single_flops = 100e9, .single_operations = 100e9}, machine,
                     1)
          .seconds,
      1);
}

TEST(MachineRecord, RatesOfFloatsMayBeMissing) {
  auto text = machine::to_json(made_up());
  const std::string key = "\"single_fma\"";
  for (auto i = text.find(key); i != std::string::npos; i = text.find(key)) text.replace(i, key.size(), "\"other\"");
  EXPECT_EQ(machine::from_json(text), made_up()) << "a register holds twice as many floats, a scalar is one";
}

TEST(MachineRecord, GathersMayBeMissing) {
  const Machine without = made_up();
  EXPECT_EQ(machine::to_json(without).find("gather"), std::string::npos);
  EXPECT_FALSE(without.gathers_faster_by_lane());
  auto with = without;
  with.vector_gather = {1e9, 1e9};
  with.scalar_gather = {1.04e9, 1e9};
  EXPECT_FALSE(with.gathers_faster_by_lane()) << "measurements vary by as much";
  with.scalar_gather = {1.2e9, 1e9};
  EXPECT_TRUE(with.gathers_faster_by_lane());
}

TEST(MachineRecord, ProductsOfMatricesMayBeMissing) {
  const Machine without = made_up();
  EXPECT_EQ(machine::to_json(without).find("matrix_product"), std::string::npos);
  EXPECT_EQ(machine::from_json(machine::to_json(without)).matrix_product, Rate{});
}

TEST(MachineRecord, JsonRoundTripIsExact) {
  Machine machine = made_up();
  machine.peaks[0].fma.one_core = 1e10 / 3;
  machine.vector_gather = {1e9 / 3, 2e9};
  machine.scalar_gather = {1e9, 1e9 / 7};
  machine.matrix_product = {1e10 / 3, 3e10};
  machine.measured_at = "2024-02-29T12:00:00Z";
  machine.measured_with = "rafter, \"cc\"";
  machine.streamed_bytes = 1LL << 40;
  machine.steadiness = 1.0 / 3;
  machine.cpu_share = 0.7;
  EXPECT_EQ(machine::from_json(machine::to_json(machine)), machine);
}

TEST(MachineRecord, SizesOfCachesAreRead) {
  EXPECT_EQ(machine::parse_size("48K"), 49152);
  EXPECT_EQ(machine::parse_size("2M"), 2097152);
  EXPECT_EQ(machine::parse_size("512"), 512);
  for (const char* wrong : {"", "K", "-1K", "3G", "3 K"}) EXPECT_EQ(machine::parse_size(wrong), 0) << wrong;
  const auto sizes = machine::cache_sizes();
  ASSERT_FALSE(sizes.empty());
  EXPECT_TRUE(std::ranges::is_sorted(sizes));
}

TEST(MachineRecord, CpuTextOfIntelAndArmIsRead) {
  const auto intel = device::parse_cpu("vendor_id\t: GenuineIntel\nmodel name\t: Xeon: 5\nflags\t\t: sse2 avx  avx2\n\n"
                                       "model name\t: other\n");
  EXPECT_EQ(intel.vendor, "GenuineIntel");
  EXPECT_EQ(intel.model, "Xeon: 5");
  EXPECT_EQ(intel.instruction_sets, (std::vector<std::string>{"avx", "avx2", "sse2"}));
  EXPECT_TRUE(device::has_instruction_set(intel, "avx"));
  EXPECT_FALSE(device::has_instruction_set(intel, "avx512f"));
  const auto arm = device::parse_cpu("CPU implementer\t: 0x41\nFeatures\t: fp asimd sve\nCPU part\t: 0xd40\n");
  EXPECT_EQ(arm.model, "0xd40");
  EXPECT_TRUE(device::has_instruction_set(arm, "sve"));
  EXPECT_TRUE(device::parse_cpu("").model.empty());
}

/// Records are kept however busy the machine of the tests is.
const machine::ProbeOptions quick{.cores = 2, .seconds = 0.2, .memory_bytes = 1 << 22, .least_quiet = 0};

TEST(MachineProbe, MeasuresEveryRateOfThisMachine) {
  const Machine machine = machine::probe(quick);
  EXPECT_EQ(machine.cores, 2);
  const auto expect_positive = [](const Rate& rate, const std::string& what) {
    EXPECT_GT(rate.one_core, 0) << what;
    EXPECT_GE(rate.all_cores, rate.one_core) << what;
    EXPECT_LT(rate.all_cores, 1e15) << what; // a loop that the compiler has removed would seem faster
    EXPECT_LT(rate.one_core, 1e13) << what;
  };
  ASSERT_GE(machine.peaks.size(), 2U);
  for (const auto& peak : machine.peaks) {
    expect_positive(peak.fma, "fma");
    expect_positive(peak.add, "add");
    expect_positive(peak.mul, "mul");
    expect_positive(peak.single_fma, "fma of floats");
  }
  EXPECT_EQ(machine.peaks.front().bits, 64);
  ASSERT_GE(machine.levels.size(), 2U);
  for (const auto& level : machine.levels) {
    EXPECT_GT(level.bytes, 0) << level.name;
    for (const auto& rate : {level.read, level.triad, level.copy, level.streaming_copy})
      expect_positive(rate, level.name);
  }
  expect_positive(machine.vector_gather, "vector gather");
  expect_positive(machine.scalar_gather, "scalar gather");
  expect_positive(machine.matrix_product, "products of matrices");
  EXPECT_EQ(machine.nearest_level().name, "L1");
  EXPECT_EQ(machine.memory().name, "memory");
  EXPECT_GE(machine.streamed_bytes, quick.memory_bytes);
  for (const double share : {machine.steadiness, machine.cpu_share}) {
    EXPECT_GT(share, 0);
    EXPECT_LE(share, 1);
  }
  EXPECT_EQ(machine.measured_at.size(), std::string("2024-02-29T12:00:00Z").size());
  EXPECT_NE(machine.measured_with.find(device::find_compiler().version), std::string::npos);
}

/// Writes a record as the cache keeps it.
void keep(const Machine& machine, const std::filesystem::path& file) {
  const auto name = file.stem().string();
  device::write_entry(file, {"machine", name.substr(name.find('-') + 1)}, machine::to_json(machine));
}

TEST(MachineProbe, ARecordOfAnotherMachineIsMeasuredAgain) {
  const test::Folder folder;
  const test::Environment cache("XDG_CACHE_HOME", folder.path().string());
  const Machine own = machine::load_or_probe(quick);
  const auto record = test::Folder::files_in(folder.path() / "rafter", ".json").at(0);
  Machine foreign = own;
  foreign.steadiness = 0.97; // all else is the same, so that nothing but the check distinguishes the two
  const auto other = record.parent_path() / "machine-00000000000000000000000000000000.json";
  keep(foreign, other);
  std::filesystem::rename(other, record);
  const test::Warnings warnings;
  EXPECT_FALSE(machine::load());
  EXPECT_TRUE(std::filesystem::exists(record.string() + ".damaged"));
  EXPECT_EQ(warnings.texts.size(), 1U);
  EXPECT_NE(machine::load_or_probe(quick), foreign);
  EXPECT_TRUE(machine::load());
}

TEST(MachineProbe, ARecordWithoutProductsOfMatricesIsReadAndMeasuredAgain) {
  const test::Folder folder;
  const test::Environment cache("XDG_CACHE_HOME", folder.path().string());
  Machine older = machine::load_or_probe(quick);
  older.matrix_product = {};
  keep(older, test::Folder::files_in(folder.path() / "rafter", ".json").at(0));
  EXPECT_EQ(machine::load(quick.cores), older);
  EXPECT_GT(machine::load_or_probe(quick).matrix_product.one_core, 0);
}

TEST(MachineProbe, RecordIsKeptAndMeasuredAgainWhenDamaged) {
  const test::Folder folder;
  const test::Environment cache("XDG_CACHE_HOME", folder.path().string());
  const auto records = [&folder] {
    std::vector<std::filesystem::path> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "rafter"))
      if (entry.path().extension() == ".json") result.push_back(entry.path());
    return result;
  };
  const Machine first = machine::load_or_probe(quick);
  ASSERT_EQ(records().size(), 1U);
  EXPECT_EQ(machine::load_or_probe(quick), first); // a second measurement would give other numbers
  std::ofstream(records()[0]) << "{\"model\": ";
  const Machine again = machine::load_or_probe(quick);
  EXPECT_EQ(again.model, first.model);
  EXPECT_EQ(machine::load_or_probe(quick), again);
  machine::ProbeOptions fresh = quick;
  fresh.is_fresh = true;
  const Machine replaced = machine::load_or_probe(fresh);
  EXPECT_NE(replaced, again);
  EXPECT_EQ(machine::load_or_probe(quick), replaced);
}

TEST(MachineRecord, IsQuietWhenBothSharesAreHigh) {
  Machine machine = made_up();
  EXPECT_TRUE(machine.is_quiet());
  machine.steadiness = 0.5;
  EXPECT_FALSE(machine.is_quiet());
  machine.steadiness = 1;
  machine.cpu_share = 0.5;
  EXPECT_FALSE(machine.is_quiet());
}

TEST(MachineRecord, IsEstimatedFromTwoRates) {
  const Machine typical = machine::typical_machine(256, 2);
  const auto& peak = typical.peaks.front();
  const auto& memory = typical.memory();
  const auto times = [](double factor, const Rate& rate) {
    return Rate{factor * rate.one_core, factor * rate.all_cores};
  };
  const machine::TwoRates rates{.fma = times(2, peak.fma), .triad = times(3, memory.triad)};
  Machine given = typical;
  given.levels[0].bytes = 12345;
  for (auto& level : given.levels) level.read = level.triad = level.copy = level.streaming_copy = {};
  const Machine found = machine::estimated(given, rates);
  EXPECT_EQ(found.peaks.front().fma, rates.fma);
  EXPECT_EQ(found.peaks.front().mul, times(2, peak.mul));
  EXPECT_EQ(found.matrix_product, times(2, typical.matrix_product));
  EXPECT_EQ(found.memory().triad, rates.triad);
  EXPECT_EQ(found.memory().read, times(3, memory.read));
  EXPECT_EQ(found.nearest_level().bytes, 12345);
  EXPECT_EQ(found.nearest_level().copy, times(2, typical.nearest_level().copy));
}

TEST(MachineRecord, EstimatesAreKeptApartFromRecords) {
  const test::Folder folder;
  const test::Environment cache("XDG_CACHE_HOME", folder.path().string());
  int measurements = 0;
  const auto counted = [&] { ++measurements; };
  const Machine first = machine::load_or_estimate(2, counted);
  EXPECT_EQ(machine::load_or_estimate(2, counted), first);
  EXPECT_EQ(measurements, 1);
  EXPECT_FALSE(machine::load(2).has_value());
  EXPECT_EQ(first.cores, 2);
  for (const auto& rate : {first.peaks.front().fma, first.memory().triad}) {
    EXPECT_GT(rate.one_core, 1e7);
    EXPECT_LT(rate.one_core, 1e13);
    EXPECT_GE(rate.all_cores, rate.one_core);
  }
}

TEST(MachineRecord, TellsOfThreadsThatShareCores) {
  Machine machine = made_up();
  machine.cores = 2;
  for (auto& peak : machine.peaks) peak.fma.all_cores = 1.9 * peak.fma.one_core;
  EXPECT_EQ(machine::shared_cores_note(machine), "");
  for (auto& peak : machine.peaks) peak.fma.all_cores = 1.2 * peak.fma.one_core;
  EXPECT_THAT(machine::shared_cores_note(machine), testing::StartsWith("2 threads compute like 1.2 cores"));
}

TEST(MachineRecord, WarnsOfBusyMachinesWithBothShares) {
  Machine machine = made_up();
  EXPECT_EQ(machine::busy_warning(machine), "");
  machine.steadiness = 0.97;
  machine.cpu_share = 0.19;
  const auto warning = machine::busy_warning(machine);
  for (const char* part : {"busy", "97 %", "19 %", "rafter machine --fresh"})
    EXPECT_NE(warning.find(part), std::string::npos) << warning;
}

TEST(MachineProbe, BusyMeasurementsServeForAWhileAndReplaceNoQuietOne) {
  const test::Folder folder;
  const test::Environment cache("XDG_CACHE_HOME", folder.path().string());
  const test::Warnings warnings;
  machine::ProbeOptions busy = quick;
  busy.least_quiet = 2; // no measurement is so quiet
  const Machine first = machine::load_or_probe(busy);
  EXPECT_EQ(machine::load_or_probe(busy), first);
  busy.busy_record_seconds = 0;
  EXPECT_NE(machine::load_or_probe(busy), first); // two measurements give different numbers

  machine::ProbeOptions fresh = quick;
  fresh.is_fresh = true;
  Machine quiet = machine::load_or_probe(fresh);
  EXPECT_EQ(machine::load_or_probe(quick), quiet);
  EXPECT_TRUE(warnings.texts.empty()) << "whoever shows figures warns";
}

TEST(MachineProbe, AQuietRecordOutlivesABusyMeasurement) {
  const test::Folder folder;
  const test::Environment cache("XDG_CACHE_HOME", folder.path().string());
  machine::ProbeOptions options = quick;
  Machine kept = machine::load_or_probe(options);
  kept.steadiness = kept.cpu_share = 3; // above the limit below, which no measurement reaches
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "rafter"))
    if (entry.path().extension() == ".json") keep(kept, entry.path());
  options.least_quiet = 2;
  EXPECT_EQ(machine::load_or_probe(options), kept);
  options.is_fresh = true;
  EXPECT_NE(machine::load_or_probe(options), kept);
  options.is_fresh = false;
  EXPECT_EQ(machine::load_or_probe(options), kept);
}

} // namespace

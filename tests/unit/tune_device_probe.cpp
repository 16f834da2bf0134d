// SPDX-License-Identifier: BSD-3-Clause
// The programs that measure a device have no races and compute what their names say; records keep what was measured.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include <rafter/emit/c_family.hpp>
#include <rafter/schedule/launch_interpreter.hpp>
#include <rafter/tune/device_probe.hpp>
#include <rafter/tune/device_probe_programs.hpp>
#include <tests/support/device_folders.hpp>
#include <tests/support/opencl.hpp>

namespace rafter {
namespace {

constexpr tune::ProbePrograms programs{.items = 2};

/// Returns what a program writes in two batches whose arrays begin with numbers.
std::vector<double> result_of(const schedule::LoopProgram& program) {
  constexpr std::size_t size = 2 * 2 * tune::ProbePrograms::numbers_per_item;
  std::vector<double> y(size, 0.5), x(size), z(size, 4);
  std::iota(x.begin(), x.end(), 1.0);
  std::vector<schedule::Argument> arguments{{.reals = y, .integers = {}}};
  if (program.arguments().size() > 1)
    arguments.insert(arguments.end(), {{.reals = x, .integers = {}}, {.reals = z, .integers = {}}});
  schedule::interpret_launch(program, arguments, 0, 2);
  return y;
}

TEST(DeviceProbePrograms, StreamThroughMemory) {
  const auto copied = result_of(programs.memory("copy")), summed = result_of(programs.memory("triad"));
  for (std::size_t i = 0; i < copied.size(); ++i) {
    EXPECT_EQ(copied[i], static_cast<double>(i + 1));
    EXPECT_EQ(summed[i], static_cast<double>(i + 1) + 2);
  }
  const auto sums = result_of(programs.memory("read"));
  EXPECT_EQ(sums[0], 1 + 3 + 5 + 7 + 9 + 11 + 13 + 15); // items stand side by side
  EXPECT_EQ(sums[1], 2 + 4 + 6 + 8 + 10 + 12 + 14 + 16);
}

TEST(DeviceProbePrograms, KeepTheirNumbersFinite) {
  constexpr double chains = tune::ProbePrograms::num_chains, updates = tune::ProbePrograms::num_updates;
  double first = 0; // sum of the accumulators before the updates; y is 0.5
  for (int c = 0; c < tune::ProbePrograms::num_chains; ++c) first += 1 + c / 64.0;
  EXPECT_NEAR(result_of(programs.arithmetic("fma", schedule::Type::real))[0], 0.5 * chains, 1e-12);
  EXPECT_NEAR(result_of(programs.arithmetic("fma", schedule::Type::real32))[0], 0.5 * chains, 1e-5);
  EXPECT_NEAR(result_of(programs.arithmetic("add", schedule::Type::real))[0], first + 0.25 * chains * updates, 1e-9);
  EXPECT_NEAR(result_of(programs.arithmetic("mul", schedule::Type::real))[0], first * std::pow(1.0625, updates), 1e-9);
}

void expect_product(const tune::ProbePrograms& of) {
  const auto depth = static_cast<std::size_t>(of.product_depth), rows = static_cast<std::size_t>(of.product_rows()),
             columns = static_cast<std::size_t>(of.product_columns());
  constexpr std::size_t num_batches = 2;
  std::vector<double> c(num_batches * rows * columns), a(rows * depth), b(num_batches * depth * columns);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 5);
  std::vector<schedule::Argument> arguments{
      {.reals = c, .integers = {}}, {.reals = a, .integers = {}}, {.reals = b, .integers = {}}};
  schedule::interpret_launch(of.matrix_product(), arguments, 0, num_batches);
  for (std::size_t batch = 0; batch < num_batches; ++batch)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < depth; ++k) sum += a[k * rows + i] * b[(batch * depth + k) * columns + j];
        EXPECT_EQ(c[(batch * columns + j) * rows + i], sum) << batch << " " << i << " " << j;
      }
}

TEST(DeviceProbePrograms, MultiplyMatrices) {
  constexpr tune::ProbePrograms straight{.items = 64, .tile = 2, .product_depth = 8},
      looped{.items = 2, .tile = 8, .product_depth = 32};
  EXPECT_EQ(straight.product_rows(), 64);
  EXPECT_EQ(straight.product_columns(), 4) << "each of 64 items has a tile of 4 numbers";
  EXPECT_EQ(straight.product_flops(), 2.0 * 64 * 4 * 8);
  expect_product(straight);
  expect_product(looped);
}

TEST(DeviceProbePrograms, HaveNoRacesInSharedMemory) {
  constexpr double count = tune::ProbePrograms::num_shared, turns = tune::ProbePrograms::num_turns;
  EXPECT_EQ(result_of(programs.shared("copy"))[1], 0.5 * count); // all numbers are 0.5
  EXPECT_EQ(result_of(programs.shared("read"))[1], 0.5 * count * (turns + 1));
  double t = 0.5, u = 0.5;
  for (int turn = 0; turn < tune::ProbePrograms::num_turns / 2; ++turn) {
    u = t + u / 2;
    t = u + t / 2;
  }
  EXPECT_NEAR(result_of(programs.shared("triad"))[1], count * t, 1e-9);
  EXPECT_EQ(result_of(programs.empty())[0], 0.5);
}

class DeviceRecords : public ::testing::Test {
protected:
  void SetUp() override {
    if (!test::has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  }
  void TearDown() override { std::filesystem::remove_all(folder().path() / "rafter"); }
  /// The folder stays as long as the process, because drivers remember where their own caches are.
  static const test::Folder& folder() {
    static const test::Folder result;
    return result;
  }
  test::Environment cache_{"XDG_CACHE_HOME", folder().path().string()};
};

void expect_positive(const machine::Level& level) {
  for (const auto& rate : {level.read, level.copy, level.triad}) EXPECT_GT(rate.one_core, 0) << level.name;
}

TEST_F(DeviceRecords, AreMeasuredOnceAndKeptByDeviceAndDriver) {
  const auto device = device::make_device("opencl");
  const auto capabilities = device->capabilities();
  EXPECT_FALSE(tune::kept_ceilings(*device));
  int num_probes = 0;
  const tune::DeviceProbeOptions options{
      .seconds = 0.1, .memory_bytes = std::size_t{1} << 24, .begins = [&] { ++num_probes; }};
  const auto record = tune::load_or_probe(device, options);
  EXPECT_EQ(record.machine.model, capabilities.description);
  EXPECT_EQ(record.capabilities.num_compute_units, capabilities.num_compute_units);
  EXPECT_GE(record.machine.levels.size(), 2U);
  EXPECT_EQ(record.machine.levels.front().name, "registers");
  EXPECT_EQ(record.machine.levels.back().name, "memory");
  for (const auto& level : record.machine.levels) expect_positive(level);
  expect_positive(record.shared);
  EXPECT_EQ(record.shared.bytes, static_cast<std::int64_t>(capabilities.shared_bytes));
  EXPECT_GT(record.machine.peak_flops(1), 0);
  EXPECT_GT(record.machine.matrix_product.one_core, 0);
  EXPECT_GT(record.launch_seconds, 0);
  EXPECT_EQ(tune::load_or_probe(device, options), record);
  EXPECT_EQ(num_probes, 1);
  EXPECT_EQ(tune::kept_ceilings(*device), (tune::Ceilings{record.machine, tune::cost_weights(record)}));

  auto other = capabilities;
  other.version += " of another driver";
  EXPECT_FALSE(machine::load(other));
  EXPECT_EQ(machine::device_record_from_json(machine::to_json(record)), record);
}

TEST_F(DeviceRecords, ThatAreDamagedAreMeasuredAgain) {
  const auto device = device::make_device("opencl");
  const tune::DeviceProbeOptions options{.seconds = 0.1, .memory_bytes = std::size_t{1} << 22};
  (void)tune::load_or_probe(device, options);
  for (const auto& entry : std::filesystem::directory_iterator(folder().path() / "rafter"))
    if (entry.path().extension() == ".json") std::ofstream(entry.path()) << "{";
  EXPECT_FALSE(machine::load(device->capabilities()));
  EXPECT_GT(tune::load_or_probe(device, options).launch_seconds, 0);
  EXPECT_TRUE(machine::load(device->capabilities()));
}

TEST_F(DeviceRecords, WithoutProductsOfMatricesAreReadAndMeasuredAgain) {
  const auto device = device::make_device("opencl");
  const tune::DeviceProbeOptions options{.seconds = 0.1, .memory_bytes = std::size_t{1} << 22};
  auto older = tune::load_or_probe(device, options);
  older.machine.matrix_product = {};
  machine::keep(older, device->capabilities());
  EXPECT_EQ(machine::load(device->capabilities()), older);
  EXPECT_GT(tune::load_or_probe(device, options).machine.matrix_product.one_core, 0);
}

TEST_F(DeviceRecords, UnderTheNameOfAnotherDeviceAreNone) {
  const auto device = device::make_device("opencl");
  (void)tune::load_or_probe(device, {.seconds = 0.1, .memory_bytes = std::size_t{1} << 22});
  const auto file = test::Folder::files_in(folder().path() / "rafter", ".json").at(0);
  auto other = device->capabilities();
  other.num_compute_units += 1; // which is known by the name of the file alone
  auto record = *machine::load(device->capabilities());
  machine::keep(record, other);
  for (const auto& name : test::Folder::files_in(folder().path() / "rafter", ".json"))
    if (name != file) std::filesystem::rename(name, file);
  EXPECT_FALSE(machine::load(device->capabilities()));
  EXPECT_TRUE(std::filesystem::exists(file.string() + ".damaged"));
}

TEST(DeviceRecordTexts, ThatLackANumberAreRefused) {
  EXPECT_THROW((void)machine::device_record_from_json("{}"), base::InputError);
  EXPECT_THROW((void)machine::device_record_from_json("nothing"), base::InputError);
}

TEST(DevicesOfTheHost, HaveNoRecordOfTheirOwn) {
  EXPECT_THROW((void)tune::probe(device::make_device("checked")), base::InputError);
}

} // namespace
} // namespace rafter

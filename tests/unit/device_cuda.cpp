// SPDX-License-Identifier: BSD-3-Clause
// CUDA devices keep what is copied to them, run groups of items, remember what they compiled, and say what fails: on
// the emulated driver, and on a device where there is one.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <thread>

#include <rafter/base/error.hpp>
#include <rafter/device/gpu/gpu_library.hpp>
#include <tests/support/cuda.hpp>
#include <tests/support/device_folders.hpp>
#include <tests/support/messages.hpp>

namespace rafter::device {
namespace {

/// A device with a cache folder of its own.
class Fresh {
public:
  explicit Fresh(const GpuMaker& maker) : maker_(maker) {}
  std::shared_ptr<GpuDevice> device(int number = 0) const {
    return std::make_shared<GpuDevice>(maker_,
                                       GpuOptions{.number = number, .directory = CacheDirectory(folder_.path())});
  }

private:
  const GpuMaker& maker_;
  test::Folder folder_;
};

enum class Kind { emulated, emulated_hip, real };

class Cuda : public ::testing::TestWithParam<Kind> {
protected:
  void SetUp() override {
    if (GetParam() == Kind::real && !test::has_cuda()) GTEST_SKIP() << "this machine has no CUDA device with NVRTC";
  }
  Fresh fresh_{GetParam() == Kind::real           ? cuda()
               : GetParam() == Kind::emulated_hip ? test::emulated_hip()
                                                  : test::emulated_cuda()};
};

std::string name_of(Kind kind) {
  return kind == Kind::real ? "Real" : kind == Kind::emulated_hip ? "EmulatedHip" : "Emulated";
}
void PrintTo(Kind kind, std::ostream* out) { *out << name_of(kind); }

INSTANTIATE_TEST_SUITE_P(Devices, Cuda, ::testing::Values(Kind::emulated, Kind::emulated_hip, Kind::real),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(Cuda, DevicesSayWhatTheyCan) {
  const auto capabilities = fresh_.device()->capabilities();
  EXPECT_NE(capabilities.description, "");
  const bool is_hip = GetParam() == Kind::emulated_hip;
  EXPECT_EQ(capabilities.architecture.substr(0, 3), is_hip ? "gfx" : "sm_");
  EXPECT_EQ(capabilities.architecture.find(':'), std::string::npos);
  EXPECT_EQ(capabilities.languages, std::vector<std::string>{is_hip ? "hip" : "cuda"});
  EXPECT_GE(capabilities.num_compute_units, 1);
  EXPECT_EQ(capabilities.sub_group_width, is_hip ? 64 : 32);
  EXPECT_GE(capabilities.most_items, 512);
  EXPECT_GE(capabilities.shared_bytes, 16384U);
  EXPECT_GE(capabilities.registers_per_unit, 32768);
  EXPECT_GT(capabilities.work_bytes_per_item, 1024);
  EXPECT_TRUE(capabilities.has_atomic_doubles);
  EXPECT_FALSE(capabilities.is_processor);
}

TEST_P(Cuda, BuffersKeepWhatIsCopied) {
  const auto device = fresh_.device();
  const std::array<double, 3> sent{1, 2, 3};
  std::array<double, 3> received{};
  const auto buffer = device->allocate(sizeof sent);
  EXPECT_EQ(buffer->size_bytes(), sizeof sent);
  buffer->copy_from_host(sent.data(), sizeof sent);
  buffer->copy_to_host(received.data(), sizeof received);
  EXPECT_EQ(received, sent);
  EXPECT_THROW(buffer->copy_from_host(sent.data(), sizeof sent + 1), base::InternalError);
  buffer->copy_from_host(sent.data(), sizeof(double), 2 * sizeof(double));
  buffer->copy_to_host(received.data(), 2 * sizeof(double), sizeof(double));
  EXPECT_EQ(received, (std::array<double, 3>{2, 1, 3}));
  const auto other = device->allocate(sizeof sent);
  other->clear();
  other->copy_from(*buffer, sizeof(double), 0, sizeof(double));
  other->copy_to_host(received.data(), sizeof received);
  EXPECT_EQ(received, (std::array<double, 3>{0, 1, 0}));
  const Copies expected{.bytes_to_device = 32, .bytes_to_host = 64, .num_to_device = 2, .num_to_host = 3};
  EXPECT_EQ(device->copies(), expected);
  EXPECT_THROW(device->wrap(received.data(), sizeof received), base::InternalError);
  const auto empty = device->allocate(0);
  empty->copy_from_host(nullptr, 0);
  EXPECT_EQ(empty->size_bytes(), 0U);
}

/// Arrays of several parts of pinned memory, the last one not full.
TEST_P(Cuda, LargeArraysPassInParts) {
  const auto device = fresh_.device();
  std::vector<std::int32_t> sent(3 * (std::size_t{1} << 20) + 12345), received(sent.size());
  std::iota(sent.begin(), sent.end(), 7);
  const auto buffer = device->allocate(sent.size() * sizeof(int));
  buffer->copy_from_host(sent.data(), sent.size() * sizeof(int));
  buffer->copy_to_host(received.data(), received.size() * sizeof(int));
  EXPECT_TRUE(received == sent);
}

/// More than the ring of pinned memory takes, in sizes that do not divide it.
TEST_P(Cuda, QueuedBytesArriveAtTheirPlaces) {
  const auto device = fresh_.device();
  std::vector<std::uint8_t> sent(100000), received(sent.size()), expected(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint8_t>(7 * i + i / 251);
  const auto buffer = device->allocate(sent.size());
  buffer->clear();
  std::size_t place = 3;
  for (std::size_t i = 0; place + 40000 < sent.size(); ++i) {
    const std::size_t bytes = i % 5 == 4 ? 39000 : 1 + i * 37 % 300;
    buffer->queue_from_host(sent.data() + i, bytes, place);
    std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(i), bytes,
                expected.begin() + static_cast<std::ptrdiff_t>(place));
    place += bytes / 2 + 1;
  }
  buffer->copy_to_host(received.data(), received.size());
  EXPECT_TRUE(received == expected);
}

/// Each item writes its number in the run behind the skipped bytes.
const char* const cuda_numbers = R"(
extern "C" __global__ void __launch_bounds__(6, 1) entry_numbers(void* memory, long begin, long end) {
  int* y = (int*)memory;
  const long item = threadIdx.x + 2*(threadIdx.y + 3*threadIdx.z);
  y[6*(long)blockIdx.x + item] = begin + 100*end + 10000*item;
}
)";

TEST_P(Cuda, TasksRunTheGroupsOfTheirLaunch) {
  const auto device = fresh_.device();
  const auto program = device->compile(cuda_numbers);
  EXPECT_THROW(program->kernel("others"), base::InternalError);
  const auto kernel = program->kernel("numbers");
  EXPECT_EQ(kernel->name(), "numbers");
  std::array<int, 13> values{};
  const auto buffer = device->allocate(sizeof values);
  buffer->copy_from_host(values.data(), sizeof values);
  std::array<Buffer*, 1> arguments{buffer.get()};
  const std::array<std::size_t, 1> offsets{sizeof(int)};
  Task task{.kernel = kernel.get(),
            .arguments = arguments,
            .begin = 3,
            .end = 3,
            .offsets = offsets,
            .launch = {.items = {2, 3, 1}, .batches = 4}};
  device->run(std::span(&task, 1))->wait(); // a run without batches has no groups
  device->run({})->wait();
  buffer->copy_to_host(values.data(), sizeof values);
  EXPECT_EQ(values, (std::array<int, 13>{}));
  task.end = 8; // five batches are two groups
  const auto event = device->run(std::span(&task, 1));
  event->wait();
  event->wait();
  buffer->copy_to_host(values.data(), sizeof values);
  EXPECT_EQ(values[0], 0);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i + 1)], 803 + 10000 * (i % 6));
}

/// Items add to one number at the same time, and wait for each other: each reads what another one has written.
TEST_P(Cuda, ItemsAddAtomicallyAndMeetAtBarriers) {
  const auto device = fresh_.device();
  const auto kernel = device
                          ->compile(R"(
static __constant__ double K[2] = {0.5, 2.5};
extern "C" __global__ void __launch_bounds__(64, 1) entry_sum(void* memory, long begin, long end) {
  double* y = (double*)memory;
  __shared__ double s[64];
  const long item = threadIdx.x;
  s[item] = item;
  __syncthreads();
  atomicAdd(y, K[0]);
  y[1 + 64*(long)blockIdx.x + item] = K[1]*s[63 - item];
}
)")
                          ->kernel("sum");
  std::array<double, 129> values{};
  const auto buffer = device->allocate(sizeof values);
  buffer->clear();
  std::array<Buffer*, 1> arguments{buffer.get()};
  const Task task{.kernel = kernel.get(),
                  .arguments = arguments,
                  .begin = 0,
                  .end = 2,
                  .launch = {.items = {64, 1, 1}, .batches = 1}};
  device->run(std::span(&task, 1));
  buffer->copy_to_host(values.data(), sizeof values);
  EXPECT_EQ(values[0], 64);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i + 1)], 2.5 * (63 - i % 64));
}

TEST_P(Cuda, SourcesThatDoNotCompileAreKept) {
  const auto device = fresh_.device();
  std::string message;
  try {
    device->compile("extern \"C\" __global__ void entry_k(void* y) { y[0] = nothing; }");
  } catch (const base::EnvironmentError& error) {
    message = error.what();
  }
  test::expect_mentions(message, {GetParam() == Kind::emulated_hip ? "hiprtc" : "NVRTC", "cannot compile a kernel for ",
                                  "source kept: ", "nothing"});
}

TEST_P(Cuda, DevicesThatAreNotThereAreRefused) {
  EXPECT_THROW(fresh_.device(-1), base::EnvironmentError);
  EXPECT_THROW(fresh_.device(1000), base::EnvironmentError);
}

class EmulatedCuda : public ::testing::Test {
protected:
  std::string message_of(const std::function<void()>& act) const {
    try {
      act();
    } catch (const base::EnvironmentError& error) {
      return error.what();
    }
    return "";
  }
  Fresh fresh_{test::emulated_cuda()};
};

TEST_F(EmulatedCuda, CompiledProgramsAreKeptByArchitectureAndCompiler) {
  { EXPECT_EQ(fresh_.device()->find(cuda_numbers, {}), nullptr); }
  fresh_.device()->compile(cuda_numbers);
  const test::Environment broken("EMULATED_CUDA_BROKEN", "1");
  const auto device = fresh_.device();
  EXPECT_NE(device->find(cuda_numbers, {}), nullptr);
  EXPECT_NE(device->compile(cuda_numbers)->kernel("numbers"), nullptr) << "the compiler works no more";
  EXPECT_THROW(device->compile(std::string(cuda_numbers) + "// another one"), base::EnvironmentError);
}

TEST_F(EmulatedCuda, ReasonsAreNamed) {
  {
    const test::Environment none("EMULATED_CUDA_DEVICES", "0");
    test::expect_mentions(message_of([&] { fresh_.device(); }), {"there is no CUDA device 0", "this machine has none"});
    EXPECT_TRUE(gpu_devices(test::emulated_cuda()).empty());
  }
  {
    const test::Environment two("EMULATED_CUDA_DEVICES", "2");
    EXPECT_EQ(fresh_.device(1)->capabilities().description, "emulated device 1");
    test::expect_mentions(message_of([&] { fresh_.device(2); }),
                          {"no CUDA device 2", "cuda:0 ('emulated device 0')", "cuda:1 ('emulated device 1')"});
  }
  {
    const test::Environment old("EMULATED_CUDA_VERSION", "10020");
    static const auto names = test::emulated_cuda().driver; // opened anew by its address
    test::expect_mentions(message_of([&] { gpu_library(names); }), {"too old", "version 10.2", "12.0 or newer"});
  }
  {
    static const auto names = [] {
      auto result = cuda_names();
      result.libraries = {"libnothing.so.1"};
      return result;
    }();
    test::expect_mentions(message_of([&] { gpu_library(names); }),
                          {"no CUDA here", "libnothing.so.1", "--device host"});
  }
  {
    const test::Environment little("EMULATED_CUDA_BYTES", "1000000");
    const auto device = fresh_.device();
    const auto half = device->allocate(600000);
    test::expect_mentions(message_of([&] { device->allocate(600000); }),
                          {"allocating 600000 of the 1000000 bytes", "'emulated device 0'", "exhausted", "coarser"});
  }
  {
    const test::Environment local("EMULATED_CUDA_LOCAL", "1000000"); // the device holds 8192 items at once
    const auto program = fresh_.device()->compile(cuda_numbers);
    test::expect_mentions(message_of([&] { program->kernel("numbers"); }),
                          {"kernel numbers", "1000000 bytes", "8192 items", "8.2 GB", "4.0 GB are free"});
  }
}

TEST_F(EmulatedCuda, DevicesThatDoNotAnswerLeaveTheOthers) {
  const test::Environment two("EMULATED_CUDA_DEVICES", "2");
  const auto second = test::emulated_calls("cuDeviceGetName") + 2;
  const test::Environment lost("EMULATED_CUDA_FAIL", "cuDeviceGetName:" + std::to_string(second) + ":999");
  const auto devices = gpu_devices(test::emulated_cuda());
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].objection, "");
  EXPECT_EQ(devices[0].capabilities.description, "emulated device 0");
  test::expect_mentions(devices[1].objection, {"the device was lost"});
  test::expect_mentions(message_of([&] { fresh_.device(1); }), {"cuda:1", "was lost"});
}

/// A task from the host to the device and back. `y` is what it computes. Returns the calls of two functions before
/// anything is given back.
std::map<std::string, long> run_once(const Fresh& fresh, std::array<int, 12>& y) {
  const auto device = fresh.device();
  const auto kernel = device->compile(cuda_numbers)->kernel("numbers");
  const auto buffer = device->allocate(sizeof y);
  const auto copy = device->allocate(sizeof y);
  buffer->copy_from_host(y.data(), sizeof y);
  buffer->clear();
  buffer->queue_from_host(y.data(), sizeof(int), 4);
  std::array<Buffer*, 1> arguments{buffer.get()};
  const Task task{.kernel = kernel.get(),
                  .arguments = arguments,
                  .begin = 0,
                  .end = 2,
                  .launch = {.items = {2, 3, 1}, .batches = 1}};
  device->run(std::span(&task, 1))->wait();
  copy->copy_from(*buffer, sizeof y, 0, 0);
  copy->copy_to_host(y.data(), sizeof y);
  std::map<std::string, long> calls;
  for (const char* name : {"cuCtxSetCurrent", "cuStreamSynchronize"}) calls[name] = test::emulated_calls(name);
  return calls;
}

/// Each function of the driver fails in turn, at each of its calls: the error names the driver, and nothing is left.
TEST_F(EmulatedCuda, EachFailureIsAnErrorAndLeavesNothing) {
  std::array<int, 12> y{};
  run_once(fresh_, y); // opens the libraries, which stay open
  test::forget_emulated_calls();
  const auto calls_of_body = run_once(fresh_, y);
  ASSERT_EQ(y[1], 10200);
  ASSERT_EQ(test::emulated_live(), std::vector<std::string>{});
  std::map<std::string, long> calls;
  for (const auto& name : test::emulated_functions()) calls[name] = test::emulated_calls(name);
  ASSERT_GE(calls.size(), 28U);
  // Results of functions that give something back are not looked at.
  for (const char* name : {"cuMemFree_v2", "cuMemFreeHost", "cuModuleUnload", "cuEventDestroy_v2", "cuStreamDestroy_v2",
                           "cuDevicePrimaryCtxRelease_v2"})
    EXPECT_EQ(calls.erase(name), 1U) << name;
  calls.erase("cuGetErrorName");
  for (const auto& [name, count] : calls)
    for (long call = 1; call <= count; ++call) {
      constexpr int lost = 999;
      test::forget_emulated_calls();
      const auto before = test::emulated_live(); // devices that could not be entered keep what they have
      std::string message;
      {
        const test::Environment fail("EMULATED_CUDA_FAIL",
                                     name + ":" + std::to_string(call) + ":" + std::to_string(lost));
        message = message_of([&] { run_once(fresh_, y); });
      }
      if (const auto body = calls_of_body.find(name); body != calls_of_body.end() && call > body->second) continue;
      test::expect_mentions(message, {"CUDA", "device was lost", "EMULATED_999"});
      if (name == "cuCtxSetCurrent") continue;
      EXPECT_EQ(test::emulated_live(), before) << name << ", call " << call;
    }
}

TEST_F(EmulatedCuda, ThreadsShareADevice) {
  const auto device = fresh_.device();
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        const std::vector<int> sent(1000 + t, static_cast<int>(100 * t) + round);
        std::vector<int> received(sent.size());
        const auto buffer = device->allocate(sent.size() * sizeof(int));
        buffer->queue_from_host(sent.data(), sent.size() * sizeof(int));
        buffer->copy_to_host(received.data(), received.size() * sizeof(int));
        wrong[t] += received == sent ? 0 : 1;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
}

TEST(GpuCompiler, ResourcesAreReadFromItsLog) {
  const auto resources = resources_in_log(R"(ptxas info    : 0 bytes gmem, 40 bytes cmem[4]
ptxas info    : Compiling entry function 'entry_b' for 'sm_90'
ptxas info    : Function properties for entry_b
    3400 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Function properties for __internal_accurate_pow
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 3400 bytes cumulative stack size, 17408 bytes smem, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'entry_a' for 'sm_90'
ptxas info    : Function properties for entry_a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, 400 bytes cmem[0]
)");
  const std::vector<KernelResources> expected{
      {.name = "entry_a", .registers = 24},
      {.name = "entry_b", .registers = 128, .stack_bytes = 3400, .spilled_bytes = 16, .shared_bytes = 17408}};
  EXPECT_EQ(resources, expected);
}

/// Returns a key of a map in MessagePack and what stands behind it.
std::string packed(const std::string& key, const std::string& value) {
  constexpr unsigned char short_text = 0xa0, text_of_one_byte = 0xd9;
  const auto size = static_cast<unsigned char>(key.size());
  const auto head = size < 32 ? std::string{static_cast<char>(short_text | size)}
                              : std::string{static_cast<char>(text_of_one_byte), static_cast<char>(size)};
  return head + key + value;
}

TEST(GpuCompiler, ResourcesAreReadFromCodeObjects) {
  using namespace std::string_literals;
  const auto name = [](const std::string& text) { return packed(".name", packed(text, "")); };
  const auto long_name = "entry_" + std::string(40, 'b');
  // Numbers of one byte, and of 0xcc one, 0xcd two and 0xce four bytes behind that; arguments have names, too.
  const auto code = "\x7f"
                    "ELF" +
                    packed(".args", name("x")) + packed(".group_segment_fixed_size", "\x00"s) + name("entry_a") +
                    packed(".private_segment_fixed_size", "\x10"s) + packed(".vgpr_count", "\x18"s) +
                    packed(".vgpr_spill_count", "\x00"s) + packed(".args", name("y")) +
                    packed(".group_segment_fixed_size", "\xce\x00\x01\x00\x10"s) + name(long_name) +
                    packed(".private_segment_fixed_size", "\xcd\x0d\x48"s) + packed(".vgpr_count", "\xcc\xff"s) +
                    packed(".vgpr_spill_count", "\x04"s);
  const std::vector<KernelResources> expected{
      {.name = "entry_a", .registers = 24, .stack_bytes = 16},
      {.name = long_name, .registers = 255, .stack_bytes = 3400, .spilled_bytes = 16, .shared_bytes = 65552}};
  EXPECT_EQ(resources_in_code_object(code), expected);
  EXPECT_TRUE(resources_in_code_object("").empty());
  // Numbers whose keys an object does not have are zero.
  const auto short_of = resources_in_code_object(code.substr(0, code.find(".vgpr_count")));
  ASSERT_EQ(short_of.size(), 1U);
  EXPECT_EQ(short_of[0].registers, 0);
  EXPECT_EQ(short_of[0].stack_bytes, 16);
}

} // namespace
} // namespace rafter::device

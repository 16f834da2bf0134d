// SPDX-License-Identifier: BSD-3-Clause
// OpenCL devices keep what is copied to them, run groups of items, and remember what they compiled.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <thread>

#include <dlfcn.h>
#include <unistd.h>

#include <rafter/device/host/cache_entry.hpp>
#include <rafter/device/opencl/opencl_library.hpp>
#include <tests/support/device_folders.hpp>
#include <tests/support/opencl.hpp>

namespace rafter::device {
namespace {

class OpenCl : public ::testing::Test {
protected:
  void SetUp() override {
    if (!test::has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  }
};

TEST_F(OpenCl, DevicesSayWhatTheyCan) {
  const OpenClDevice device;
  const auto capabilities = device.capabilities();
  EXPECT_NE(capabilities.description, "");
  EXPECT_GE(capabilities.num_compute_units, 1);
  EXPECT_GE(capabilities.most_items, 32);
  EXPECT_GE(capabilities.shared_bytes, 16384U);
  EXPECT_GT(capabilities.memory_bytes, 0U);
  bool is_listed = false;
  for (const auto& listed : opencl_devices())
    is_listed = is_listed || (listed.objection.empty() && listed.capabilities.description == capabilities.description);
  EXPECT_TRUE(is_listed);
}

TEST_F(OpenCl, DevicesThatAreNotThereAreRefused) {
  EXPECT_THROW(OpenClDevice(-1), base::EnvironmentError);
  EXPECT_THROW(OpenClDevice(static_cast<int>(opencl_devices().size())), base::EnvironmentError);
}

TEST_F(OpenCl, QueuedBytesArriveAtTheirPlaces) {
  OpenClDevice device;
  std::array<std::uint8_t, 600> sent{}, received{}, expected{};
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint8_t>(7 * i + 1);
  const auto buffer = device.allocate(sizeof sent);
  for (const std::size_t offset : {0, 1, 8, 24, 100, 256})
    for (const std::size_t bytes : {1, 8, 24, 64, 127, 128, 300}) {
      buffer->clear();
      buffer->queue_from_host(sent.data(), bytes, offset);
      buffer->copy_to_host(received.data(), sizeof received);
      expected.fill(0);
      std::copy_n(sent.begin(), bytes, expected.begin() + static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(received, expected) << bytes << " bytes at " << offset;
    }
  EXPECT_THROW(buffer->queue_from_host(sent.data(), sizeof sent, 1), base::InternalError);
}

TEST_F(OpenCl, BuffersKeepWhatIsCopied) {
  OpenClDevice device;
  const std::array<double, 3> sent{1, 2, 3};
  std::array<double, 3> received{};
  const auto buffer = device.allocate(sizeof sent);
  EXPECT_EQ(buffer->size_bytes(), sizeof sent);
  buffer->copy_from_host(sent.data(), sizeof sent);
  buffer->copy_to_host(received.data(), sizeof received);
  EXPECT_EQ(received, sent);
  EXPECT_THROW(buffer->copy_from_host(sent.data(), sizeof sent + 1), base::InternalError);
  EXPECT_THROW(buffer->copy_to_host(received.data(), sizeof received + 1), base::InternalError);
  buffer->copy_from_host(sent.data(), sizeof(double), 2 * sizeof(double));
  buffer->copy_to_host(received.data(), 2 * sizeof(double), sizeof(double));
  EXPECT_EQ(received, (std::array<double, 3>{2, 1, 3}));
  EXPECT_THROW(buffer->copy_from_host(sent.data(), sizeof(double), sizeof sent), base::InternalError);
  buffer->clear();
  buffer->copy_to_host(received.data(), sizeof received);
  EXPECT_EQ(received, (std::array<double, 3>{0, 0, 0}));
  const Copies expected{.bytes_to_device = 32, .bytes_to_host = 64, .num_to_device = 2, .num_to_host = 3};
  EXPECT_EQ(device.copies(), expected);
  EXPECT_THROW(device.wrap(received.data(), sizeof received), base::InternalError);
  const auto empty = device.allocate(0);
  empty->copy_from_host(nullptr, 0);
  EXPECT_EQ(empty->size_bytes(), 0U);
}

/// Each item writes its number in the run behind the skipped bytes.
const char* const numbers = R"(
kernel void entry_numbers(global char* memory, long offset, long begin, long end) {
  global int* y = (global int*)(memory + offset);
  const long item = get_local_id(0) + 2*(get_local_id(1) + 3*get_local_id(2));
  y[6*get_group_id(0) + item] = begin + 100*end + 10000*item;
})";

TEST_F(OpenCl, TasksRunTheGroupsOfTheirLaunch) {
  OpenClDevice device;
  const auto kernel = device.compile(numbers)->kernel("numbers");
  EXPECT_EQ(kernel->name(), "numbers");
  std::array<int, 13> values{};
  const auto buffer = device.allocate(sizeof values);
  buffer->copy_from_host(values.data(), sizeof values);
  std::array<Buffer*, 1> arguments{buffer.get()};
  const std::array<std::size_t, 1> offsets{sizeof(int)};
  Task task{.kernel = kernel.get(),
            .arguments = arguments,
            .begin = 3,
            .end = 3,
            .offsets = offsets,
            .launch = {.items = {2, 3, 1}, .batches = 4}};
  device.run(std::span(&task, 1))->wait(); // a run without batches has no groups
  buffer->copy_to_host(values.data(), sizeof values);
  EXPECT_EQ(values, (std::array<int, 13>{}));
  task.end = 8; // five batches are two groups
  device.run(std::span(&task, 1))->wait();
  buffer->copy_to_host(values.data(), sizeof values);
  EXPECT_EQ(values[0], 0);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i + 1)], 803 + 10000 * (i % 6));
}

/// A driver whose kernels, while the gate is closed, begin when it is opened.
class Gate {
public:
  static inline bool is_closed = false;

  static OpenClLibrary library() {
    auto result = *OpenClLibrary::instance();
    result.run_kernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint dim, const std::size_t* first,
                           const std::size_t* all, const std::size_t* items, cl_uint, const cl_event*,
                           cl_event* event) -> cl_int {
      if (is_closed && gate_ == nullptr) gate_ = make(queue);
      const auto code = OpenClLibrary::instance()->run_kernel(queue, kernel, dim, first, all, items, is_closed ? 1 : 0,
                                                              is_closed ? &gate_ : nullptr, event);
      last_ = *event;
      return code;
    };
    result.finish = [](cl_command_queue queue) -> cl_int {
      EXPECT_FALSE(is_closed) << "all that is queued is waited for";
      return is_closed ? CL_SUCCESS : OpenClLibrary::instance()->finish(queue);
    };
    return result;
  }
  static void open() {
    is_closed = false;
    EXPECT_EQ(function<decltype(clSetUserEventStatus)>("clSetUserEventStatus")(gate_, CL_COMPLETE), CL_SUCCESS);
    OpenClLibrary::instance()->release_event(std::exchange(gate_, nullptr));
  }
  static bool is_last_run_complete() {
    cl_int state = CL_QUEUED;
    EXPECT_EQ(OpenClLibrary::instance()->get_event_info(last_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                                                        nullptr),
              CL_SUCCESS);
    return state == CL_COMPLETE;
  }

private:
  template <class Function> static Function* function(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(::dlopen("libOpenCL.so.1", RTLD_NOW), name));
  }
  static cl_event make(cl_command_queue queue) {
    cl_context context = nullptr;
    cl_int code = function<decltype(clGetCommandQueueInfo)>("clGetCommandQueueInfo")(queue, CL_QUEUE_CONTEXT,
                                                                                     sizeof context, &context, nullptr);
    EXPECT_EQ(code, CL_SUCCESS);
    auto* const result = function<decltype(clCreateUserEvent)>("clCreateUserEvent")(context, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return result;
  }
  static inline cl_event gate_ = nullptr, last_ = nullptr;
};

TEST_F(OpenCl, AnEventOfAnEarlyRunIsWaitedForWhileLaterOnesAreQueued) {
  OpenClDevice device({.library = std::make_shared<const OpenClLibrary>(Gate::library())});
  const auto kernel = device.compile(numbers)->kernel("numbers");
  const auto buffer = device.allocate(sizeof(int));
  std::array<Buffer*, 1> arguments{buffer.get()};
  Task task{.kernel = kernel.get(), .arguments = arguments, .begin = 3, .end = 4};
  const auto early = device.run(std::span(&task, 1));
  const auto before = device.run({});
  Gate::is_closed = true;
  task.end = 5;
  const auto late = device.run(std::span(&task, 1));
  const auto after = device.run({});
  early->wait();
  before->wait(); // that of a run without tasks is of what was asked for before it
  EXPECT_FALSE(Gate::is_last_run_complete());
  Gate::open();
  after->wait();
  EXPECT_TRUE(Gate::is_last_run_complete());
  late->wait();
  int result = 0;
  buffer->copy_to_host(&result, sizeof result);
  EXPECT_EQ(result, 503);
}

TEST_F(OpenCl, BuffersCopyPartsOfOthersInTheOrderOfRuns) {
  OpenClDevice device;
  const auto kernel = device.compile(numbers)->kernel("numbers");
  const std::array<int, 3> sent{1, 2, 3};
  std::array<int, 3> received{};
  const auto from = device.allocate(sizeof sent), to = device.allocate(sizeof sent);
  from->copy_from_host(sent.data(), sizeof sent);
  to->clear();
  const auto before = device.copies();
  to->copy_from(*from, 2 * sizeof(int), sizeof(int), 0);
  std::array<Buffer*, 1> arguments{from.get()};
  const Task task{.kernel = kernel.get(), .arguments = arguments, .begin = 3, .end = 4};
  device.run(std::span(&task, 1));
  to->copy_from(*from, sizeof(int), 0, 2 * sizeof(int));
  to->clear(sizeof(int), sizeof(int));
  EXPECT_EQ(device.copies(), before) << "nothing passes through the host";
  to->copy_to_host(received.data(), sizeof received);
  EXPECT_EQ(received, (std::array<int, 3>{2, 0, 403}));
  EXPECT_THROW(to->copy_from(*from, sizeof(int), sizeof sent, 0), base::InternalError);
  EXPECT_THROW(to->copy_from(*from, sizeof(int), 0, sizeof sent), base::InternalError);
  EXPECT_THROW(to->clear(sizeof(int), sizeof sent), base::InternalError);
}

/// Devices of drivers that hand out the code of programs, and count the sources which they are given.
class OpenClCache : public OpenCl {
protected:
  static inline int num_compiled = 0;

  OpenClDevice device(const std::string& driver = "") {
    auto library = test::driver_without_a_name();
    library.create_program = [](cl_context context, cl_uint count, const char** texts, const std::size_t* lengths,
                                cl_int* code) {
      ++num_compiled;
      return OpenClLibrary::instance()->create_program(context, count, texts, lengths, code);
    };
    if (!driver.empty()) library.get_device_info = with_other_driver;
    return OpenClDevice(
        {.directory = CacheDirectory(folder_.path()), .library = std::make_shared<const OpenClLibrary>(library)});
  }
  void SetUp() override {
    OpenCl::SetUp();
    num_compiled = 0;
  }
  /// The number that the kernel of a program writes.
  static int result_of(OpenClDevice& device, const Program& program) {
    const auto kernel = program.kernel("numbers");
    const auto buffer = device.allocate(sizeof(int));
    std::array<Buffer*, 1> arguments{buffer.get()};
    const Task task{.kernel = kernel.get(), .arguments = arguments, .begin = 3, .end = 4};
    device.run(std::span(&task, 1))->wait();
    int result = 0;
    buffer->copy_to_host(&result, sizeof result);
    return result;
  }
  test::Folder folder_;

private:
  static cl_int with_other_driver(cl_device_id id, cl_device_info what, std::size_t room, void* place,
                                  std::size_t* needed) {
    const auto code = test::driver_without_a_name().get_device_info(id, what, room, place, needed);
    if (what == CL_DRIVER_VERSION && place != nullptr && room > 0) static_cast<char*>(place)[0] = 'x';
    return code;
  }
};
constexpr int number_of_first = 403;

TEST_F(OpenClCache, ProgramsAreKeptForTheNextProcess) {
  auto first = device();
  EXPECT_EQ(first.find(numbers, {}), nullptr);
  EXPECT_EQ(result_of(first, *first.compile(numbers)), number_of_first);
  EXPECT_EQ(num_compiled, 1);
  EXPECT_TRUE(std::filesystem::exists(first.file_of(numbers)));
  auto second = device(); // it has nothing in memory
  const auto found = second.find(numbers, {});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(second.compile(numbers), found);
  EXPECT_EQ(result_of(second, *found), number_of_first);
  EXPECT_EQ(num_compiled, 1);
}

TEST_F(OpenClCache, FilesBelongToTheirSourceAndDriver) {
  const auto usual = device(), other = device("other");
  EXPECT_NE(usual.file_of(numbers), usual.file_of(std::string(numbers) + " "));
  EXPECT_NE(usual.file_of(numbers), other.file_of(numbers));
  EXPECT_EQ(usual.file_of(numbers), device().file_of(numbers));
}

TEST_F(OpenClCache, DamagedFilesAreCompiledAnew) {
  const auto file = device().file_of(numbers);
  auto first = device();
  first.compile(numbers);
  const std::string good = read_bytes(file);
  // a file that was cut, one whose checksum is wrong, and one that is right but no program of this driver
  const std::string foreign = "no program";
  for (const auto& bad : {good.substr(0, good.size() / 2), "x" + good.substr(1),
                          foreign + entry_trailer({".clbin", file.stem().string()}, foreign)}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bad;
    num_compiled = 0;
    auto next = device();
    EXPECT_EQ(next.find(numbers, {}), nullptr);
    EXPECT_EQ(result_of(next, *next.compile(numbers)), number_of_first);
    EXPECT_EQ(num_compiled, 1);
    EXPECT_NE(device().find(numbers, {}), nullptr);
  }
}

TEST_F(OpenClCache, ProgramsOfOtherSourcesAreCompiledAnew) {
  auto first = device();
  std::string other(numbers);
  other.replace(other.find("100*end"), 3, "200");
  first.compile(numbers);
  EXPECT_EQ(result_of(first, *first.compile(other)), number_of_first + 400);
  std::filesystem::rename(first.file_of(other), first.file_of(numbers));
  num_compiled = 0;
  auto next = device();
  EXPECT_EQ(next.find(numbers, {}), nullptr);
  EXPECT_EQ(result_of(next, *next.compile(numbers)), number_of_first);
  EXPECT_EQ(num_compiled, 1);
}

/// PoCL compiles all kernels of a program to hand out its code, and those that run once more.
TEST_F(OpenClCache, PoclIsAskedForNoCodeAndItsProgramsAreKnownByTheirSource) {
  auto library = *OpenClLibrary::instance();
  library.get_program_info = [](auto...) -> cl_int {
    ADD_FAILURE() << "PoCL is asked for what it compiled";
    return CL_INVALID_VALUE;
  };
  const auto pocl = [&] {
    return OpenClDevice(
        {.directory = CacheDirectory(folder_.path()), .library = std::make_shared<const OpenClLibrary>(library)});
  };
  auto first = pocl();
  if (first.capabilities().version.find("PoCL") == std::string::npos)
    GTEST_SKIP() << "this machine's driver is another";
  EXPECT_EQ(first.find(numbers, {}), nullptr);
  EXPECT_EQ(result_of(first, *first.compile(numbers)), number_of_first);
  auto second = pocl();
  const auto found = second.find(numbers, {});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(result_of(second, *found), number_of_first);
  const auto file = first.file_of(numbers);
  const std::string foreign = "no program";
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      << foreign + entry_trailer({".clbin", file.stem().string()}, foreign);
  auto third = pocl();
  EXPECT_EQ(third.find(numbers, {}), nullptr);
  EXPECT_EQ(result_of(third, *third.compile(numbers)), number_of_first);
}

TEST_F(OpenCl, ProgramsHaveNoOtherEntryPoints) {
  OpenClDevice device;
  EXPECT_THROW(device.compile(numbers)->kernel("nothing"), base::InternalError);
}

/// The address sanitizer finds what is lost also while a driver has its threads, and others have variables in a library
/// that was opened: CTest runs this and expects the leak. All threads stay until the process ends.
TEST(OpenClLeaks, DISABLED_AreFoundBesideADriverAndVariablesOfThreads) {
  constexpr int num_threads = 8;
  static std::latch ready(num_threads);
  OpenClDevice device;
  device.compile(numbers);
  const char* library = std::getenv("RAFTER_THREAD_VARIABLE");
  ASSERT_NE(library, nullptr);
  void* opened = ::dlopen(library, RTLD_NOW);
  ASSERT_NE(opened, nullptr);
  const auto variable = reinterpret_cast<void* (*)()>(::dlsym(opened, "variable_of_this_thread"));
  for (int i = 0; i < num_threads; ++i)
    std::thread([variable] {
      EXPECT_NE(variable(), nullptr);
      ready.count_down();
      for (;;) ::pause();
    }).detach();
  ready.wait();
  const auto lose = [] {
    volatile char* lost = new char[777];
    lost[0] = 1;
  };
  std::thread(lose).join(); // the pointer was on a stack that is gone
}

} // namespace
} // namespace rafter::device

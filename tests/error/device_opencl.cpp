// SPDX-License-Identifier: BSD-3-Clause
// What a driver of OpenCL refuses becomes one error that says what to do. Entries of the table of its functions are
// replaced by ones that fail.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <map>

#include <rafter/device/architecture.hpp>
#include <rafter/device/array.hpp>
#include <rafter/device/opencl/opencl_library.hpp>

#include <tests/support/messages.hpp>

#include "../support/device_folders.hpp"
#include "../support/opencl.hpp"

namespace {

using namespace rafter;
using device::OpenClDevice;
using device::OpenClLibrary;
using test::Folder;

constexpr const char* nothing = "kernel void entry_nothing(long begin, long end) {}";

template <class Action> std::string message(const Action& action) {
  try {
    action();
  } catch (const base::EnvironmentError& error) {
    return error.what();
  }
  return "nothing thrown";
}

class OpenClFailures : public ::testing::Test {
protected:
  void SetUp() override {
    if (!test::has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
    library_ = *OpenClLibrary::instance();
  }
  /// A device whose driver has the functions of library_.
  OpenClDevice device() const {
    return OpenClDevice({.directory = device::CacheDirectory(folder_.path()),
                         .library = std::make_shared<const OpenClLibrary>(library_)});
  }
  OpenClLibrary library_;
  Folder folder_;
};

TEST_F(OpenClFailures, ExhaustedMemorySaysHowMuchWasAskedFor) {
  library_.create_buffer = [](cl_context, cl_mem_flags, size_t, void*, cl_int* code) -> cl_mem {
    *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
  };
  auto opencl = device();
  test::expect_mentions(message([&] { opencl.allocate(4096); }),
                        {"allocating 4096 of the ", "exhausted", "coarser mesh"});
}

TEST_F(OpenClFailures, DriversThatAllocateLateFailWithTheSameWords) {
  library_.write_buffer = [](auto...) -> cl_int { return CL_OUT_OF_RESOURCES; };
  library_.fill_buffer = [](auto...) -> cl_int { return CL_MEM_OBJECT_ALLOCATION_FAILURE; };
  auto opencl = device();
  const auto buffer = opencl.allocate(8);
  const double value = 1;
  test::expect_mentions(message([&] { buffer->copy_from_host(&value, 8); }), {"copying to the device", "exhausted"});
  test::expect_mentions(message([&] { buffer->clear(); }), {"clearing memory", "exhausted"});
}

TEST_F(OpenClFailures, ArraysBeyondTheLargestBufferAreRefusedBeforeTheDriverIsAsked) {
  library_.create_buffer = [](cl_context, cl_mem_flags, size_t, void*, cl_int* code) -> cl_mem {
    ADD_FAILURE() << "the driver was asked";
    *code = CL_INVALID_BUFFER_SIZE;
    return nullptr;
  };
  auto opencl = device();
  const auto most = opencl.capabilities().most_buffer_bytes;
  ASSERT_GT(most, 0U);
  test::expect_mentions(message([&] { opencl.allocate(most + 1); }),
                        {std::to_string(most + 1) + " bytes", std::to_string(most), "--device host"});
}

TEST_F(OpenClFailures, LostDevicesAreNamedWhereverTheyShow) {
  library_.read_buffer = [](auto...) -> cl_int { return CL_DEVICE_NOT_AVAILABLE; };
  auto opencl = device();
  device::Vector x(
      std::make_shared<OpenClDevice>(device::OpenClOptions{.directory = device::CacheDirectory(folder_.path()),
                                                           .library = std::make_shared<const OpenClLibrary>(library_)}),
      3);
  test::expect_mentions(message([&] { (void)x.host_read(); }), {"copying from the device", "lost", "rafter doctor"});
  library_.run_kernel = [](auto...) -> cl_int { return CL_INVALID_COMMAND_QUEUE; };
  auto second = device();
  const auto kernel = second.compile(nothing)->kernel("nothing");
  const device::Task task{.kernel = kernel.get(), .begin = 0, .end = 1};
  test::expect_mentions(message([&] { second.run(std::span(&task, 1)); }), {"running nothing", "lost"});
  library_ = *OpenClLibrary::instance();
  library_.create_queue = [](cl_context, cl_device_id, cl_command_queue_properties, cl_int* code) -> cl_command_queue {
    *code = CL_DEVICE_NOT_AVAILABLE;
    return nullptr;
  };
  test::expect_mentions(message([&] { device(); }), {"making a queue", "lost"});
}

TEST_F(OpenClFailures, FaultsOfKernelsShowWhenTheirEventsAreWaitedFor) {
  // The driver is waited for all the same: a process that ends while its threads still compile or run a kernel crashes.
  library_.wait_for_events = [](cl_uint count, const cl_event* events) -> cl_int {
    const cl_int code = OpenClLibrary::instance()->wait_for_events(count, events);
    return code == CL_SUCCESS ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : code;
  };
  auto opencl = device();
  const auto kernel = opencl.compile(nothing)->kernel("nothing");
  const device::Task task{.kernel = kernel.get(), .begin = 0, .end = 1};
  const auto event = opencl.run(std::span(&task, 1));
  test::expect_mentions(message([&] { event->wait(); }), {"running nothing", "fault"});
  test::expect_mentions(message([&] { event->wait(); }), {"running nothing", "fault"}); // as often as it is asked
  test::expect_mentions(message([&] { opencl.run({})->wait(); }), {"running kernels", "fault"});
}

TEST_F(OpenClFailures, TheKernelThatFailedIsNamedAmongThoseOfItsRun) {
  static cl_event failed;
  static int num_runs;
  failed = nullptr;
  num_runs = 0;
  library_.run_kernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t* first,
                           const size_t* all, const size_t* items, cl_uint count, const cl_event* events,
                           cl_event* event) -> cl_int {
    const cl_int code =
        OpenClLibrary::instance()->run_kernel(queue, kernel, dim, first, all, items, count, events, event);
    if (++num_runs == 2) failed = *event;
    return code;
  };
  library_.wait_for_events = [](cl_uint count, const cl_event* events) -> cl_int {
    const cl_int code = OpenClLibrary::instance()->wait_for_events(count, events);
    return code == CL_SUCCESS ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : code;
  };
  library_.get_event_info = [](cl_event event, cl_event_info what, size_t room, void* place, size_t* needed) -> cl_int {
    const cl_int code = OpenClLibrary::instance()->get_event_info(event, what, room, place, needed);
    if (event == failed) *static_cast<cl_int*>(place) = CL_OUT_OF_RESOURCES;
    return code;
  };
  auto opencl = device();
  const auto program = opencl.compile("kernel void entry_one(long begin, long end) {}"
                                      "kernel void entry_two(long begin, long end) {}");
  const auto one = program->kernel("one"), two = program->kernel("two");
  const std::array tasks{device::Task{.kernel = one.get(), .begin = 0, .end = 1},
                         device::Task{.kernel = two.get(), .begin = 0, .end = 1}};
  test::expect_mentions(message([&] { opencl.run(tasks)->wait(); }), {"running two failed", "exhausted"});
}

TEST_F(OpenClFailures, SourcesThatDoNotCompileAreKeptAndTheLogIsShown) {
  auto opencl = device();
  const std::string wrong = "kernel void entry_wrong(long begin, long end) { no_such_name = 1; }";
  const auto text = message([&] { opencl.compile(wrong); });
  test::expect_mentions(text, {"no_such_name", "-cl-std=CL1.2", "source kept: "});
  ASSERT_EQ(folder_.count(".cl"), 1U);
  test::expect_mentions(text, {folder_.files(".cl").front().string()});
  EXPECT_EQ(device::read_bytes(folder_.files(".cl").front()), wrong);
  EXPECT_EQ(folder_.count(".clbin"), 0U);
}

TEST_F(OpenClFailures, DriversThatHandOutNoBinariesCompileInEveryRun) {
  library_ = test::driver_without_a_name();
  library_.get_program_info = [](auto...) -> cl_int { return CL_INVALID_VALUE; };
  auto opencl = device();
  EXPECT_NE(opencl.compile(nothing)->kernel("nothing"), nullptr);
  EXPECT_EQ(folder_.count(".clbin"), 0U);
}

/// Two processors and a device of another kind, which is the last; kernels run on those that `able` says. The last one
/// has the extension `maker` and answers its questions by these numbers.
struct Machine {
  static inline std::array<bool, 3> able{};
  static inline std::string maker, name_of_last = "number 2";
  static inline std::map<cl_device_info, cl_uint> of_maker{};
  static inline std::size_t most_items = 256;
  static constexpr std::array<cl_device_type, 3> types{CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU};
  static std::size_t number(cl_device_id device) { return reinterpret_cast<std::size_t>(device) - 1; }

  static OpenClLibrary library() {
    OpenClLibrary result;
    result.get_platforms = [](cl_uint, cl_platform_id* platforms, cl_uint* count) -> cl_int {
      if (platforms != nullptr) *platforms = nullptr;
      if (count != nullptr) *count = 1;
      return CL_SUCCESS;
    };
    result.get_devices = [](cl_platform_id, cl_device_type, cl_uint, cl_device_id* devices, cl_uint* count) -> cl_int {
      for (std::size_t i = 0; devices != nullptr && i < 3; ++i) devices[i] = reinterpret_cast<cl_device_id>(i + 1);
      if (count != nullptr) *count = 3;
      return CL_SUCCESS;
    };
    result.get_device_info = answer;
    return result;
  }

private:
  static cl_int answer(cl_device_id device, cl_device_info what, std::size_t room, void* place, std::size_t* needed) {
    const std::size_t i = number(device);
    if (what == CL_DEVICE_TYPE) return give(&types[i], sizeof types[i], room, place, needed);
    if (what == CL_DEVICE_NAME)
      return give_text(i == 2 ? name_of_last : "number " + std::to_string(i), room, place, needed);
    if (what == CL_DEVICE_EXTENSIONS)
      return give_text("cl_khr_int64_base_atomics" + std::string(able[i] ? " cl_khr_fp64" : "") + (i == 2 ? maker : ""),
                       room, place, needed);
    if (const auto answer = of_maker.find(what); answer != of_maker.end())
      return give(&answer->second, sizeof answer->second, room, place, needed);
    if (what == CL_DEVICE_VERSION || what == CL_DRIVER_VERSION) return give_text("1", room, place, needed);
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE) return give(&most_items, sizeof most_items, room, place, needed);
    const cl_ulong one = 1; // little-endian, so that shorter answers are 1, too
    return give(&one, room, room, place, needed);
  }
  static cl_int give_text(const std::string& text, std::size_t room, void* place, std::size_t* needed) {
    return give(text.c_str(), text.size() + 1, room, place, needed);
  }
  static cl_int give(const void* value, std::size_t bytes, std::size_t room, void* place, std::size_t* needed) {
    if (needed != nullptr) *needed = bytes;
    if (place != nullptr) std::memcpy(place, value, std::min(bytes, room));
    return CL_SUCCESS;
  }
};

TEST(OpenClChoice, TakesTheFirstThatRunsKernelsAndProcessorsLast) {
  const auto library = Machine::library();
  Machine::able = {true, true, true};
  EXPECT_EQ(device::choose_device(library, {}).capabilities.description, "number 2");
  Machine::able = {false, true, false};
  EXPECT_EQ(device::choose_device(library, {}).capabilities.description, "number 1");
  EXPECT_EQ(device::choose_device(library, 1).capabilities.description, "number 1");
}

TEST(OpenClChoice, ANumberMeansThatDeviceAndNoOther) {
  const auto library = Machine::library();
  Machine::able = {true, true, false};
  EXPECT_EQ(device::choose_device(library, 0).capabilities.description, "number 0");
  test::expect_mentions(message([&] { device::choose_device(library, 2); }),
                        {"opencl:2 ('number 2')", "lacks doubles (cl_khr_fp64)"});
  test::expect_mentions(message([&] { device::choose_device(library, 3); }),
                        {"no OpenCL device 3", "opencl:0 ('number 0')", "opencl:2 ('number 2'), which cannot be used"});
}

TEST(OpenClCapabilities, AreWhatMakersTellAndWhatFollowsFromTheArchitecture) {
  const auto library = Machine::library();
  Machine::able = {true, true, true};
  const auto asked = [&](const std::string& name, const std::string& maker, std::map<cl_device_info, cl_uint> answers) {
    Machine::name_of_last = name;
    Machine::maker = maker;
    Machine::of_maker = std::move(answers);
    const auto result = device::choose_device(library, 2).capabilities;
    Machine::name_of_last = "number 2";
    Machine::maker.clear();
    Machine::of_maker.clear();
    return result;
  };
  const std::vector<std::string> languages{"opencl"};

  const auto hopper =
      asked("H", " cl_nv_device_attribute_query", {{0x4000, 9}, {0x4001, 0}, {0x4002, 65536}, {0x4003, 32}});
  EXPECT_EQ(hopper.architecture, "sm_90");
  EXPECT_EQ(hopper.sub_group_width, 32);
  EXPECT_EQ(hopper.registers_per_unit, 65536);
  EXPECT_EQ(hopper.registers_per_item, 255);
  EXPECT_EQ(hopper.work_bytes_per_item, 512 << 10);
  EXPECT_EQ(hopper.matrix_shapes.size(), 4U);
  EXPECT_TRUE(hopper.has_atomic_doubles);
  EXPECT_FALSE(hopper.is_processor);
  EXPECT_EQ(hopper.languages, languages);

  const auto cdna = asked("gfx90a:sramecc+:xnack-", " cl_amd_device_attribute_query", {{0x4043, 64}});
  EXPECT_EQ(cdna.architecture, "gfx90a");
  EXPECT_EQ(cdna.sub_group_width, 64);
  EXPECT_EQ(cdna.registers_per_item, 256);
  EXPECT_TRUE(cdna.has_atomic_doubles);
  EXPECT_EQ(cdna.work_bytes_per_item, 0) << "not known";

  const auto unknown = asked("X", "", {});
  EXPECT_EQ(unknown.architecture, "");
  EXPECT_EQ(unknown.registers_per_unit, 0);
  EXPECT_FALSE(unknown.has_atomic_doubles);
  EXPECT_TRUE(device::choose_device(library, 0).capabilities.is_processor);
}

TEST(OpenClArchitecture, FasterMatrixUnitsAreThoseOfTwoArchitectures) {
  EXPECT_EQ(device::architecture("sm_80").matrix_shapes.size(), 1U);
  EXPECT_TRUE(device::architecture("sm_86").matrix_shapes.empty());
  EXPECT_FALSE(device::architecture("sm_52").has_atomic_doubles);
  EXPECT_EQ(device::architecture("sm_x").registers_per_item, 0);
  EXPECT_EQ(device::architecture("gfx900").registers_per_item, 0);
  EXPECT_EQ(device::architecture("").registers_per_item, 0);
}

TEST(OpenClChoice, DevicesWithSmallGroupsAreRefused) {
  const auto library = Machine::library();
  Machine::able = {true, true, true};
  Machine::most_items = 16;
  test::expect_mentions(message([&] { device::choose_device(library, 0); }), {"at most 16 items", "need 32"});
  Machine::most_items = 32;
  EXPECT_EQ(device::choose_device(library, 0).capabilities.most_items, 32);
}

TEST(OpenClChoice, WithoutAnyTheErrorSaysWhyEachIsNone) {
  const auto library = Machine::library();
  Machine::able = {};
  test::expect_mentions(message([&] { device::choose_device(library, {}); }),
                        {"opencl:0", "opencl:1", "opencl:2", "lacks"});
  OpenClLibrary empty = library;
  empty.get_platforms = [](auto...) -> cl_int { return CL_INVALID_VALUE; };
  test::expect_mentions(message([&] { device::choose_device(empty, {}); }), {"none", "./rafter.sh setup opencl"});
}

} // namespace

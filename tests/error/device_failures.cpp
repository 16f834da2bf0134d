// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fstream>
#include <linux/capability.h>
#include <rafter/base/error.hpp>
#include <rafter/device/array.hpp>
#include <rafter/device/compile_all.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/host_device.hpp>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <tests/support/messages.hpp>
#include <unistd.h>

#include "../support/device_folders.hpp"

namespace {

using namespace rafter;
namespace fs = std::filesystem;
using device::CacheDirectory;
using device::ProgramCache;
using test::Folder;

template <class Exception, class Action> std::string message(const Action& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing thrown";
}

const std::string good_source =
    "#include <stdint.h>\nvoid f(void* const* a, int64_t b, int64_t e) { *(double*)a[0] = 1; }";

TEST(DeviceNames, UnknownOnesGetASuggestion) {
  const auto failure = [](const char* name) {
    return message<base::InputError>([name] { device::make_device(name); });
  };
  test::expect_mentions(failure("hots"), {"'hots'", "did you mean 'host'", "checked"});
  test::expect_mentions(failure("cuda:"), {"'cuda:'"});
  test::expect_mentions(failure("cuda:x"), {"'cuda:x'"});
  test::expect_mentions(failure("opencl:1x"), {"'opencl:1x'"});
  test::expect_mentions(failure("opencl:-1"), {"'opencl:-1'"});
  test::expect_mentions(failure("host:1"), {"'host:1'"});
  test::expect_mentions(failure(""), {"accepted: host, checked"});
}

TEST(DeviceNames, DevicesThatAreNotThereAreNamed) {
  test::expect_mentions(message<base::EnvironmentError>([] { device::make_device("cuda:77"); }), {"there is no CUDA"});
  test::expect_mentions(message<base::EnvironmentError>([] { device::make_device("hip:77"); }), {"there is no HIP"});
}

TEST(DeviceNames, ImpossibleNumbersOfThreadsAreRefused) {
  for (const int number : {-2, 5000})
    test::expect_mentions(message<base::InputError>([number] { device::make_device("host", number); }),
                          {std::to_string(number), "1 to 4096", "0 for all"});
}

TEST(Compiling, FailureShowsCommandOutputAndKeptSource) {
  const Folder folder;
  ProgramCache cache{CacheDirectory(folder.path())};
  const std::string source = "void f(void) { nonsense_here; }\n";
  const std::string text = message<base::EnvironmentError>([&] { cache.program(source); });
  ASSERT_EQ(folder.files(".c").size(), 1U);
  const std::string kept = folder.files(".c")[0].string();
  test::expect_mentions(text, {"exit code 1", "command: ", "-O3", "source kept: " + kept, "nonsense_here"});
  EXPECT_TRUE(device::read_bytes(kept).starts_with(source)) << device::read_bytes(kept);
  EXPECT_EQ(folder.count(".so"), 0U);
  EXPECT_NE(message<base::EnvironmentError>([&] { cache.program(source); }),
            "nothing thrown"); // the failure must not be remembered as a success
}

TEST(Compiling, FailureShowsACommandThatAShellUnderstands) {
  const Folder folder;
  ProgramCache cache{CacheDirectory(folder.path() / "it's here; $HOME")};
  const std::string text = message<base::EnvironmentError>([&] { cache.program("wrong"); });
  test::expect_mentions(text, {"'" + folder.path().string() + "/it'\\''s here; $HOME/"});
}

TEST(Compiling, LongOutputIsCut) {
  const Folder folder;
  std::string source = "void f(void) {\n";
  for (int i = 0; i < 200; ++i) source += "wrong" + std::to_string(i) + ";\n";
  ProgramCache cache{CacheDirectory(folder.path())};
  const std::string text = message<base::EnvironmentError>([&] { cache.program(source + "}"); });
  test::expect_mentions(text, {"more lines)", "wrong0"});
  EXPECT_EQ(text.find("wrong150"), std::string::npos);
}

TEST(Compiling, MissingCompilerSaysWhatToInstall) {
  const Folder folder;
  const test::Environment path("PATH", folder.path().string());
  ProgramCache cache{CacheDirectory(folder.path())};
  test::expect_mentions(message<base::EnvironmentError>([&] { cache.program(good_source); }),
                        {"gcc", "clang", "apt install"});
  test::expect_mentions(message<base::EnvironmentError>([&] { cache.program(good_source, {.compiler = "/no/cc"}); }),
                        {"'/no/cc'", "apt install"});
}

TEST(Compiling, BrokenCompilersAreReported) {
  const Folder folder;
  const auto script = [&folder](const std::string& name, const std::string& text) {
    const fs::path path = folder.path() / name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  };
  ProgramCache cache{CacheDirectory(folder.path())};
  const auto failure = [&cache](const std::string& compiler) {
    return message<base::EnvironmentError>([&] { cache.program(good_source, {.compiler = compiler}); });
  };
  test::expect_mentions(failure(script("without-version", "echo broken; exit 1\n")), {"does not work", "broken"});
  test::expect_mentions(failure(script("killed", "[ \"$1\" = --version ] || kill -11 $$\n")), {"signal 11"});
  const std::string silent = script("silent", "exit 0\n"); // the compiler claims success but writes nothing
  test::expect_mentions(failure(silent), {"made no library", "command: " + silent, "source kept: "});
}

TEST(Compiling, WorksInFoldersWithBlanks) {
  const Folder folder;
  ProgramCache cache{CacheDirectory(folder.path() / "a b 'c' $d")};
  EXPECT_NE(cache.program(good_source)->kernel("f"), nullptr);
}

TEST(Compiling, WorksWhenTheProgramIgnoresItsChildren) {
  const Folder folder;
  const auto previous = std::signal(SIGCHLD, SIG_IGN);
  ProgramCache cache{CacheDirectory(folder.path())};
  for (const auto& compiler : device::available_compilers()) // each waits for children of its own
    EXPECT_NE(cache.program(good_source, {.compiler = compiler == "default" ? "" : compiler})->kernel("f"), nullptr)
        << compiler;
  std::signal(SIGCHLD, previous);
}

TEST(Compiling, OfManyTheFirstFailureIsThrown) {
  const Folder folder;
  device::HostDevice device(1, CacheDirectory(folder.path()));
  const std::vector<std::string> sources{good_source, "first wrong;", "second bad;"};
  test::expect_mentions(message<base::EnvironmentError>([&] { device::compile_all(device, sources); }), {"first"});
}

TEST(Compiling, OtherLanguagesAndUnknownEntryPointsAreOurFault) {
  const auto device = device::make_device("host", 1);
  EXPECT_THROW(device->compile(good_source, {.language = "cuda"}), base::InternalError);
  test::expect_mentions(message<base::InternalError>([&] { device->compile(good_source)->kernel("g"); }), {"'g'"});
}

TEST(CacheFolder, UnsafeOnesAreReplacedWithOneWarning) {
  const Folder folder;
  const fs::path open = folder.path() / "open", file = folder.path() / "file", parent = folder.path() / "parent";
  fs::create_directory(open);
  fs::permissions(open, fs::perms::owner_all | fs::perms::group_write);
  std::ofstream(file) << "x";
  fs::create_directories(parent / "inside");
  fs::permissions(parent / "inside", fs::perms::owner_all);
  fs::permissions(parent, fs::perms::all);
  const std::vector<std::pair<fs::path, std::string>> unsafe{{open, "others can write"},
                                                             {file, "not a folder"},
                                                             {file / "below", "Not a directory"},
                                                             {parent / "inside", "others can replace"},
                                                             {"/proc/none", "cannot be made"}};
  for (const auto& [path, reason] : unsafe) {
    test::Warnings warnings;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const CacheDirectory directory(path);
      EXPECT_TRUE(directory.is_private_temporary()) << path;
      EXPECT_EQ(fs::status(directory.path()).permissions(), fs::perms::owner_all);
    }
    ASSERT_EQ(warnings.texts.size(), 1U) << path;
    test::expect_mentions(warnings.texts[0], {reason});
  }
}

TEST(CacheFolder, ForeignOnesAreReplaced) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const Folder folder;
  const fs::path foreign = folder.path() / "foreign";
  fs::create_directory(foreign);
  fs::permissions(foreign, fs::perms::owner_all);
  ASSERT_EQ(chown(foreign.c_str(), 65534, 65534), 0);
  test::Warnings warnings;
  EXPECT_TRUE(CacheDirectory(foreign).is_private_temporary());
  ASSERT_EQ(warnings.texts.size(), 1U);
  test::expect_mentions(warnings.texts[0], {"somebody else"});
}

TEST(CacheFolder, WithoutHomeKernelsStillCompile) {
  const test::Environment home("HOME", std::nullopt), cache("XDG_CACHE_HOME", std::nullopt);
  const auto device = device::make_device("host", 1);
  EXPECT_NE(device->compile(good_source)->kernel("f"), nullptr);
}

TEST(CacheFolder, VanishedOneDegradesWithOneWarning) {
  const Folder folder;
  const fs::path path = folder.path() / "cache";
  ProgramCache cache{CacheDirectory(path)};
  fs::remove_all(path);
  test::Warnings warnings;
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(cache.program(good_source + "\nint v = " + std::to_string(i) + ";")->kernel("f"), nullptr);
  ASSERT_EQ(warnings.texts.size(), 1U);
  test::expect_mentions(warnings.texts[0], {path.string(), "this run only"});
}

/// Root may write everywhere. Without capabilities, it may write as any owner may, but can still enter folders that
/// only root may enter, such as one with a checkout.
bool give_up_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return syscall(SYS_capset, &header, none.data()) == 0;
}

TEST(CacheFolder, ReadOnlyOneDegradesWithOneWarning) {
  const Folder folder;
  const fs::path path = folder.path() / "cache";
  fs::create_directory(path);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_exec);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool is_right = give_up_capabilities() && access(path.c_str(), W_OK) != 0;
    std::vector<std::string> texts;
    base::set_warning_handler([&texts](const std::string& text) { texts.push_back(text); });
    try {
      ProgramCache cache{CacheDirectory(path)};
      is_right = is_right && cache.program(good_source)->kernel("f") != nullptr;
      fs::remove_all(cache.directory()); // _exit below skips the removal by a destructor
    } catch (const std::exception&) {
      is_right = false;
    }
    is_right = is_right && texts.size() == 1 && texts[0].find("cannot be written") != std::string::npos;
    _exit(is_right ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  fs::permissions(path, fs::perms::owner_all);
}

TEST(Buffers, CopiesThatDoNotFitAreRefused) {
  for (const char* name : {"host", "checked"}) {
    const auto buffer = device::make_device(name, 1)->allocate(16);
    std::vector<double> values(3);
    EXPECT_THROW(buffer->copy_from_host(values.data(), 24), base::InternalError);
    EXPECT_THROW(buffer->copy_to_host(values.data(), 24), base::InternalError);
  }
}

TEST(CheckedDevice, WritesOutsideNameKernelArgumentAndSide) {
  const auto device = device::make_device("checked");
  const auto kernel = device
                          ->compile("#include <stdint.h>\nvoid stray(void* const* a, int64_t begin, int64_t end) {"
                                    " ((double*)a[1])[begin] = 0; }")
                          ->kernel("stray");
  const auto failure = [&](std::int64_t where) {
    device::Vector x(device, 4), y(device, 3);
    const std::vector<device::Buffer*> arguments{x.device_write(), y.device_write()};
    const device::Task task{kernel.get(), arguments, where, where + 1};
    return message<base::InternalError>([&] { device->run({&task, 1}); });
  };
  for (const std::int64_t inside : {0, 2}) EXPECT_EQ(failure(inside), "nothing thrown");
  for (const std::int64_t behind : {3, 60, 130})
    test::expect_mentions(failure(behind), {"'stray'", "behind argument 1", "24 bytes"});
  for (const std::int64_t before : {-1, -128}) test::expect_mentions(failure(before), {"before argument 1"});
}

TEST(CheckedDevice, HostMemoryIsRefused) {
  const auto checked = device::make_device("checked"), host = device::make_device("host", 1);
  double value = 0;
  EXPECT_THROW(checked->wrap(&value, 8), base::InternalError);
  const auto buffer = host->wrap(&value, 8);
  const auto kernel = checked->compile(good_source)->kernel("f");
  const std::vector<device::Buffer*> arguments{buffer.get()};
  const device::Task task{kernel.get(), arguments, 0, 1};
  EXPECT_THROW(checked->run({&task, 1}), base::InternalError);
  EXPECT_EQ(value, 0);
}

TEST(Tasks, WithoutKernelAreRefused) {
  const device::Task task;
  EXPECT_THROW(device::make_device("host", 1)->run({&task, 1}), base::InternalError);
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <rafter/base/error.hpp>
#include <rafter/device/host/cache_entry.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/compiler_versions.hpp>
#include <rafter/device/host/host_device.hpp>
#include <rafter/device/host/process.hpp>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "../support/device_folders.hpp"

namespace {

using namespace rafter;
namespace fs = std::filesystem;
using device::CacheDirectory;
using device::ProgramCache;
using test::Folder;

std::string source_of(int value) {
  return "#include <stdint.h>\nvoid set(void* const* a, int64_t b, int64_t e) { *(int*)a[0] = " +
         std::to_string(value) + "; }";
}

/// Returns the number that a program writes.
int result_of(const device::Program& program) {
  int value = 0;
  void* arguments[] = {&value};
  dynamic_cast<const device::HostKernel&>(*program.kernel("set")).entry()(arguments, 0, 1);
  return value;
}

/// This compiler counts its uses, except for questions about its version.
class CountingCompiler {
public:
  CountingCompiler() {
    std::ofstream(path()) << "#!/bin/sh\n[ \"$1\" = --version ] || echo used >> '" << folder_.path().string()
                          << "/uses'\nexec " << device::find_program("gcc") << " \"$@\"\n";
    fs::permissions(path(), fs::perms::owner_all);
  }
  device::CompileOptions options() const { return {.compiler = path().string()}; }
  int uses() const {
    std::ifstream file(folder_.path() / "uses");
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }

private:
  fs::path path() const { return folder_.path() / "counting-cc"; }
  Folder folder_;
};

TEST(Flags, EverySetCompilesWithEveryCompilerToAProgramOfItsOwn) {
  const Folder folder;
  device::ProgramCache cache(device::CacheDirectory(folder.path()));
  EXPECT_EQ(device::flag_set_names().front(), "default");
  std::set<std::string> files;
  for (const auto& compiler : device::available_compilers())
    for (const auto& set : device::flag_sets()) {
      const device::CompileOptions options{.compiler = compiler == "default" ? "" : compiler, .flag_set = set.name};
      EXPECT_EQ(result_of(*cache.program(source_of(7), options)), 7) << compiler << " " << set.name;
      files.insert(cache.file_of(source_of(7), options));
    }
  EXPECT_EQ(files.size(), device::available_compilers().size() * device::flag_sets().size());
}

TEST(Flags, UnknownSetsAreRefusedWithTheNearest) {
  EXPECT_THROW((void)device::compiler_flags({.flag_set = "O22"}), base::InputError);
}

TEST(KernelCache, SecondProcessMemoryTakesTheFile) {
  const Folder folder;
  const CountingCompiler compiler;
  for (int repeat = 0; repeat < 3; ++repeat) {
    ProgramCache cache{CacheDirectory(folder.path())}; // a new object has nothing in memory
    EXPECT_EQ(result_of(*cache.program(source_of(5), compiler.options())), 5);
  }
  EXPECT_EQ(compiler.uses(), 1);
}

TEST(KernelCache, OneCacheGivesTheSameProgram) {
  const Folder folder;
  ProgramCache cache{CacheDirectory(folder.path())};
  EXPECT_EQ(cache.program(source_of(1)), cache.program(source_of(1)));
}

TEST(KernelCache, NameDependsOnSourceFlagsAndCompiler) {
  const Folder folder;
  const CountingCompiler compiler;
  const ProgramCache cache{CacheDirectory(folder.path())};
  const std::vector<fs::path> files{
      cache.file_of(source_of(1)), cache.file_of(source_of(2)), cache.file_of(source_of(1), {.flags = {"-DX"}}),
      cache.file_of(source_of(1), {.flags = {"-DX", "-DY"}}), cache.file_of(source_of(1), compiler.options())};
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(files[i], files[j]);
  EXPECT_EQ(cache.file_of(source_of(1)), files[0]);
}

TEST(KernelCache, OnlyFinishedProgramsRemain) {
  const Folder folder;
  ProgramCache cache{CacheDirectory(folder.path())};
  cache.program(source_of(1));
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder.path())) entries.push_back(entry.path());
  EXPECT_EQ(entries, std::vector{cache.file_of(source_of(1))});
  struct stat status;
  ASSERT_EQ(stat(entries[0].c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

/// Each parameter damages a file, which must not be used afterwards.
class Damage : public testing::TestWithParam<std::function<std::string(std::string)>> {};

TEST_P(Damage, IsNoticedAndRepaired) {
  const Folder folder;
  const CountingCompiler compiler;
  const fs::path file = ProgramCache{CacheDirectory(folder.path())}.file_of(source_of(7), compiler.options());
  ProgramCache{CacheDirectory(folder.path())}.program(source_of(7), compiler.options());
  const std::string good = device::read_bytes(file);
  const std::string bad = GetParam()(good);
  ASSERT_NE(bad, good);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bad;
  ProgramCache cache{CacheDirectory(folder.path())};
  EXPECT_EQ(result_of(*cache.program(source_of(7), compiler.options())), 7);
  EXPECT_EQ(compiler.uses(), 2);
}

std::string flipped(std::string bytes, std::size_t position) {
  bytes[position] = static_cast<char>(bytes[position] ^ 1);
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(Files, Damage,
                         testing::Values([](std::string) { return std::string(); },
                                         [](std::string) { return std::string(5000, 'x'); },
                                         [](std::string good) { return good.substr(0, good.size() / 2); },
                                         [](std::string good) { return good.substr(0, good.size() - 1); },
                                         [](std::string good) { return good + "x"; },
                                         [](std::string good) { return flipped(good, good.size() / 2); },
                                         [](std::string good) { return flipped(good, 0); },
                                         [](std::string good) { return flipped(good, good.size() - 1); }));

/// Exchanges two files.
void exchange(const fs::path& one, const fs::path& other) {
  const fs::path aside = one.string() + ".exchanged";
  fs::rename(one, aside);
  fs::rename(other, one);
  fs::rename(aside, other);
}

TEST(KernelCache, ProgramsOfOtherKeysAreSetAsideAndCompiledAnew) {
  const Folder folder;
  const CountingCompiler compiler;
  const auto file_of = [&](int value) {
    return ProgramCache{CacheDirectory(folder.path())}.file_of(source_of(value), compiler.options());
  };
  const auto result = [&](int value) {
    return result_of(*ProgramCache{CacheDirectory(folder.path())}.program(source_of(value), compiler.options()));
  };
  for (int value = 0; value < 3; ++value) EXPECT_EQ(result(value), value);
  exchange(file_of(0), file_of(1));
  fs::copy_file(file_of(2), file_of(3));
  fs::create_symlink(file_of(2), file_of(4));
  const test::Warnings warnings;
  for (int value = 0; value < 5; ++value) EXPECT_EQ(result(value), value);
  EXPECT_EQ(compiler.uses(), 3 + 4);
  EXPECT_EQ(folder.count(".damaged"), 4U);
  ASSERT_EQ(warnings.texts.size(), 1U);
  EXPECT_NE(warnings.texts[0].find(folder.path().string()), std::string::npos) << warnings.texts[0];
  for (int value = 0; value < 5; ++value) EXPECT_EQ(result(value), value);
  EXPECT_EQ(compiler.uses(), 3 + 4) << "what was made anew is found";
}

/// The loader opens a file by its name after the check, when another one may be there.
TEST(KernelCache, ProgramsThatSayAnotherKeyAreNotLoaded) {
  const Folder folder;
  const CountingCompiler compiler;
  const auto options = compiler.options();
  const auto cache = [&] { return ProgramCache{CacheDirectory(folder.path())}; };
  const auto one = cache().file_of(source_of(1), options), other = cache().file_of(source_of(2), options);
  for (const int value : {1, 2}) EXPECT_EQ(result_of(*cache().program(source_of(value), options)), value);
  const auto content = *device::read_entry(other, {".so", other.stem().string()});
  device::write_entry(one, {".so", one.stem().string()}, content); // the check holds, and the program is another one
  EXPECT_EQ(cache().find(source_of(1), options), nullptr);
  EXPECT_EQ(result_of(*cache().program(source_of(1), options)), 1);
  EXPECT_EQ(compiler.uses(), 3);
}

TEST(KernelCache, WhatIsNoFileIsSetAside) {
  const Folder folder;
  const auto file_of = [&](int value) { return ProgramCache{CacheDirectory(folder.path())}.file_of(source_of(value)); };
  fs::create_directories(file_of(0) / "inner");
  ASSERT_EQ(mkfifo(file_of(1).c_str(), 0600), 0);
  for (int value = 0; value < 2; ++value)
    EXPECT_EQ(result_of(*ProgramCache{CacheDirectory(folder.path())}.program(source_of(value))), value);
  EXPECT_EQ(folder.count(".damaged"), 2U);
  EXPECT_EQ(folder.count(".so"), 2U);
}

TEST(KernelCache, ProgramsThatWereSetAsideGoAfterADay) {
  const Folder folder;
  ProgramCache cache{CacheDirectory(folder.path())};
  const auto others = folder.path() / "plans.sqlite.damaged", old = folder.path() / "a.so.damaged";
  for (const auto& file : {others, old}) {
    std::ofstream(file) << "x";
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(25));
  }
  std::ofstream(cache.file_of(source_of(1))) << "x";
  cache.program(source_of(1));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(others));
  EXPECT_TRUE(fs::exists(cache.file_of(source_of(1)).string() + ".damaged"));
}

/// Every way in which a file can come not to be the entry that its name stands for.
TEST(CacheEntries, AreReadBackOnlyUnderTheirOwnKeyAndKind) {
  const Folder folder;
  const fs::path file = folder.path() / "entry";
  const device::EntryKey key{"kind", "0123"};
  for (const auto& content : {std::string(), std::string("text\n"), std::string(5000, '\0')}) {
    device::write_entry(file, key, content);
    EXPECT_EQ(device::read_entry(file, key), content);
    const std::string good = device::read_bytes(file);
    for (const auto& other : {device::EntryKey{"kinds", "0123"}, device::EntryKey{"kind", "0124"},
                              device::EntryKey{"kind0", "123"}, device::EntryKey{"", ""}}) {
      EXPECT_EQ(device::read_entry(file, other), std::nullopt) << other.kind << " " << other.hash;
      EXPECT_FALSE(fs::exists(file)) << "it is set aside";
      std::ofstream(file, std::ios::binary) << good;
    }
    for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 50) {
      std::ofstream(file, std::ios::binary) << good.substr(0, length);
      EXPECT_EQ(device::read_entry(file, key), std::nullopt) << length;
    }
    for (std::size_t place = 0; place < good.size(); place += 1 + good.size() / 50)
      for (const int bit : {1, 128}) {
        std::string bad = good;
        bad[place] = static_cast<char>(bad[place] ^ bit);
        std::ofstream(file, std::ios::binary) << bad;
        EXPECT_EQ(device::read_entry(file, key), std::nullopt) << place;
      }
    std::ofstream(file, std::ios::binary) << good << "\n";
    EXPECT_EQ(device::read_entry(file, key), std::nullopt);
    std::ofstream(file, std::ios::binary) << good << good;
    EXPECT_EQ(device::read_entry(file, key), std::nullopt);
    EXPECT_EQ(device::read_entry(file, key), std::nullopt) << "there is none";
  }
}

TEST(KernelCache, FileThatTheLoaderRefusesIsRebuilt) {
  const Folder folder;
  ProgramCache cache{CacheDirectory(folder.path())};
  const std::string text = "not a library";
  // The checksum is right but the bytes are no library, as an earlier fault could have left them.
  const fs::path file = cache.file_of(source_of(3));
  device::write_entry(file, {".so", file.stem().string()}, text);
  EXPECT_EQ(result_of(*cache.program(source_of(3))), 3);
}

TEST(KernelCache, ThreadsShareOneCompilation) {
  const Folder folder;
  const CountingCompiler compiler;
  ProgramCache cache{CacheDirectory(folder.path())};
  std::vector<int> results(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i)
      threads.emplace_back([&cache, &results, &compiler, i] {
        results[i] = result_of(*cache.program(source_of(static_cast<int>(i % 2)), compiler.options()));
      });
  }
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], static_cast<int>(i % 2));
  EXPECT_EQ(compiler.uses(), 2);
}

TEST(KernelCache, ProcessesMayCompileTheSameAtOnce) {
  const Folder folder;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      bool is_right = true;
      try {
        for (int value = 0; value < 3; ++value)
          is_right =
              is_right && result_of(*ProgramCache{CacheDirectory(folder.path())}.program(source_of(value))) == value;
      } catch (...) {
        is_right = false;
      }
      _exit(is_right ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t child : children) {
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(folder.count(".so"), 3U);
}

TEST(KernelCache, FolderOfTheEnvironmentIsMadeForTheUserAlone) {
  const Folder folder;
  const test::Environment home("HOME", folder.path().string());
  {
    const test::Environment cache("XDG_CACHE_HOME", (folder.path() / "a" / "b").string());
    EXPECT_EQ(CacheDirectory().path(), folder.path() / "a" / "b" / "rafter");
  }
  for (const auto& ignored :
       {std::optional<std::string>(), std::optional<std::string>(""), std::optional<std::string>("relative")}) {
    const test::Environment cache("XDG_CACHE_HOME", ignored);
    const CacheDirectory directory;
    EXPECT_EQ(directory.path(), folder.path() / ".cache" / "rafter");
    EXPECT_FALSE(directory.is_private_temporary());
    struct stat status;
    ASSERT_EQ(stat(directory.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
  }
}

TEST(KernelCache, CompilersAreFoundInPathOnlyInAbsoluteFolders) {
  const Folder folder;
  const fs::path program = folder.path() / "gcc";
  std::ofstream(program) << "#!/bin/sh\necho version one\necho more\n";
  fs::permissions(program, fs::perms::owner_all);
  const test::Environment path("PATH", "relative::" + folder.path().string());
  EXPECT_EQ(device::find_program("gcc"), program.string());
  EXPECT_EQ(device::find_compiler().path, program.string());
  EXPECT_EQ(device::find_compiler().version, "version one");
  EXPECT_EQ(device::find_program("clang"), "");
}

TEST(KernelCache, VersionsOfCompilersAreRememberedUntilTheirProgramsChange) {
  const Folder cache, programs;
  const fs::path compiler = programs.path() / "gcc-99", link = programs.path() / "cc";
  fs::copy_file(fs::canonical("/bin/sh"), compiler);
  fs::create_symlink(compiler, link);
  EXPECT_EQ(device::remembered_version(cache.path(), link), std::nullopt);
  device::remember_version(cache.path(), link, "gcc 99.1");
  EXPECT_EQ(device::remembered_version(cache.path(), link), "gcc 99.1");
  fs::last_write_time(compiler, fs::last_write_time(compiler) + std::chrono::seconds(1));
  EXPECT_EQ(device::remembered_version(cache.path(), link), std::nullopt) << "the program was replaced";
  device::remember_version(cache.path(), link, "gcc 99.2");
  EXPECT_EQ(device::remembered_version(cache.path(), link), "gcc 99.2");
  fs::copy_file(compiler, programs.path() / "gcc-100");
  fs::remove(link);
  fs::create_symlink(programs.path() / "gcc-100", link);
  EXPECT_EQ(device::remembered_version(cache.path(), link), std::nullopt) << "the link leads to another program";
}

TEST(KernelCache, VersionsOfOtherCompilersAreNotTakenForThoseOfACompiler) {
  const Folder cache, programs;
  const fs::path one = programs.path() / "gcc-1", other = programs.path() / "gcc-2";
  for (const auto& program : {one, other}) fs::copy_file(fs::canonical("/bin/sh"), program);
  device::remember_version(cache.path(), one, "gcc 1");
  const fs::path file_of_one = fs::directory_iterator(cache.path())->path();
  device::remember_version(cache.path(), other, "gcc 2");
  for (const auto& entry : fs::directory_iterator(cache.path()))
    if (entry.path() != file_of_one) {
      exchange(file_of_one, entry.path());
      break;
    }
  const test::Warnings warnings;
  for (const auto& program : {one, other})
    EXPECT_EQ(device::remembered_version(cache.path(), program), std::nullopt) << program;
  EXPECT_EQ(warnings.texts.size(), 1U);
  device::remember_version(cache.path(), one, "gcc 1");
  EXPECT_EQ(device::remembered_version(cache.path(), one), "gcc 1");
}

TEST(KernelCache, VersionsOfProgramsThatStartCompilersAreNotRemembered) {
  const Folder cache, programs;
  const fs::path script = programs.path() / "gcc", wrapper = programs.path() / "ccache";
  std::ofstream(script) << "#!/bin/sh\nexec /usr/bin/gcc \"$@\"\n";
  fs::copy_file(fs::canonical("/bin/sh"), wrapper);
  for (const auto& program : {script, wrapper}) {
    device::remember_version(cache.path(), program, "gcc 99.1");
    EXPECT_EQ(device::remembered_version(cache.path(), program), std::nullopt) << program;
  }
}

TEST(Processes, StoppedOnesEndWithWhatTheyStartedAndNoOtherStarts) {
  const Folder folder;
  const fs::path started = folder.path() / "started";
  std::jthread stopper([&] {
    while (!fs::exists(started)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    device::stop_processes();
  });
  const std::string script = "trap '' INT TERM HUP; sleep 600 & touch " + started.string() + "; wait; sleep 600";
  EXPECT_THROW(device::run_process({"/bin/sh", "-c", script}), device::ProcessesStopped);
  stopper.join();
  EXPECT_THROW(device::run_process({"/bin/true"}), device::ProcessesStopped);
  device::allow_processes();
  EXPECT_TRUE(device::run_process({"/bin/true"}).is_success());
}

TEST(Processes, ResultsAreReported) {
  const auto result = device::run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(device::run_process({"/bin/sh", "-c", "kill -9 $$"}).signal, 9);
  EXPECT_EQ(device::run_process({"/bin/echo", "a b", "$HOME;"}).output, "a b $HOME;\n");
  EXPECT_EQ(device::run_process({"/bin/sh", "-c", "head -c 3000000 /dev/zero"}).output.size(), 1U << 20);
}

} // namespace

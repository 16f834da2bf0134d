// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/temporary.hpp>

#include "../support/device_folders.hpp"

namespace {

using namespace rafter;
namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  return status;
}

template <class Exception> std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing thrown";
}

class Outputs : public testing::Test {
protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::size_t num_entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  test::Folder folder_;
};

TEST_F(Outputs, FilesAreReplacedInOneStepAndKeepTheirMode) {
  base::write_output(path("a"), "first");
  ::chmod(path("a").c_str(), 0640);
  const auto former = status_of(path("a"));
  base::write_output(path("a"), "second");
  const auto now = status_of(path("a"));
  EXPECT_EQ(content(path("a")), "second");
  EXPECT_NE(now.st_ino, former.st_ino); // a program that reads the former file can read it to its end
  EXPECT_EQ(now.st_mode & 0777, 0640U);
  EXPECT_EQ(num_entries(), 1U);
}

TEST_F(Outputs, LinksStayAndWhatTheyNameIsReplaced) {
  fs::create_directory(path("below"));
  std::ofstream(path("below/file")) << "former";
  fs::create_symlink("below/file", path("near")); // the target is relative to the folder of the link
  fs::create_symlink(path("near"), path("far"));
  base::write_output(path("far"), "new");
  EXPECT_EQ(content(path("below/file")), "new");
  fs::create_symlink("below/missing", path("dangling"));
  base::write_output(path("dangling"), "made");
  EXPECT_EQ(content(path("below/missing")), "made");
  for (const char* link : {"near", "far", "dangling"}) EXPECT_TRUE(fs::is_symlink(path(link))) << link;
}

TEST_F(Outputs, PipesAndSocketsAreWrittenTo) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", path("link"));
  std::string read;
  {
    const std::jthread reader([&] { read = content(path("pipe")); });
    base::write_output(path("link"), std::string(200000, 'x')); // a pipe holds less
  }
  EXPECT_EQ(read.size(), 200000U);
  EXPECT_TRUE(S_ISFIFO(status_of(path("pipe")).st_mode));

  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(server, 1), 0);
  base::write_output(path("socket"), "hello");
  const int connection = ::accept(server, nullptr, nullptr);
  std::array<char, 16> bytes{};
  EXPECT_EQ(::read(connection, bytes.data(), bytes.size()), 5);
  EXPECT_TRUE(S_ISSOCK(status_of(path("socket")).st_mode));
  ::close(connection);
  ::close(server);
}

TEST_F(Outputs, DescriptorsAreWrittenToWhereTheyAre) {
  const int descriptor = ::open(path("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const auto inode = status_of(path("log")).st_ino;
  ASSERT_EQ(::write(descriptor, "before ", 7), 7);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    fs::remove(path("name"));
    fs::create_symlink(folder + std::to_string(descriptor), path("name"));
    base::write_output(path("name"), "after ");
  }
  ::close(descriptor);
  EXPECT_EQ(content(path("log")), "before after after ");
  EXPECT_EQ(status_of(path("log")).st_ino, inode);
}

/// The test makes a device node of its own with the numbers of /dev/full, so that a mistake cannot replace the one of
/// the machine.
TEST_F(Outputs, FullDeviceIsAnErrorAndStays) {
  if (::mknod(path("full").c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0 || ::access(path("full").c_str(), W_OK) != 0)
    GTEST_SKIP() << "only root makes devices";
  if (const int opened = ::open(path("full").c_str(), O_WRONLY); opened < 0)
    GTEST_SKIP() << "devices do not work on this disk";
  else
    ::close(opened);
  fs::create_symlink("full", path("link"));
  for (const char* name : {"full", "link"}) {
    const auto text = message_of<base::EnvironmentError>([&] { base::write_output(path(name), "x"); });
    EXPECT_NE(text.find(path(name) + ": cannot be written: No space"), std::string::npos) << text;
    const auto seekable = message_of<base::EnvironmentError>([&] {
      base::OutputFile output(path(name));
      std::ofstream(output.working_path()) << "x";
      output.commit();
    });
    EXPECT_EQ(seekable, text);
  }
  EXPECT_TRUE(S_ISCHR(status_of(path("full")).st_mode));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(num_entries(), 2U);
}

TEST_F(Outputs, NothingRemainsWithoutCommit) {
  const test::Environment temporary("TMPDIR", folder_.path().string());
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* name : {"file", "pipe"}) {
    const base::OutputFile output(path(name));
    EXPECT_EQ(fs::path(output.working_path()).parent_path(), folder_.path());
    EXPECT_EQ(num_entries(), 2U);
  }
  EXPECT_EQ(num_entries(), 1U);
}

TEST_F(Outputs, ImpossibleOnesAreKnownBeforeTheWork) {
  fs::create_directory(path("folder"));
  std::ofstream(path("input")) << "x";
  fs::create_symlink("input", path("link"));
  fs::create_symlink("circle", path("circle"));
  const auto refusal = [](const std::vector<base::NamedFile>& outputs,
                          const std::vector<base::NamedFile>& inputs = {}) {
    return message_of<base::InputError>([&] { base::claim_outputs(outputs, inputs); });
  };
  const auto expect = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\n lacks: " << part;
  };
  expect(refusal({{"--json", path("no/file")}}),
         "--json: \"" + path("no/file") + "\" cannot be written: " + path("no"));
  expect(refusal({{"--json", path("folder")}}), "it is a folder");
  expect(refusal({{"--json", path("circle")}}), "Too many levels");
  expect(refusal({{"--json", path("link")}}, {{"the mesh", path("input")}}), "is the mesh");
  expect(refusal({{"--json", path("new")}, {"--plot", path("folder/../new")}}), "is also the output of --plot");
  const auto relative = std::filesystem::relative(path("new")).string();
  expect(refusal({{"--json", "./" + relative}, {"--plot", relative}}), "is also the output of --plot");
  expect(refusal({{"--json", "-"}, {"--plot", "-"}}), "is also the output of --plot");
  EXPECT_EQ(refusal({{"--json", "/dev/null"}, {"--plot", "/dev/null"}, {"--other", ""}}), "nothing thrown");
  EXPECT_EQ(refusal({{"--json", path("new")}, {"--plot", path("input")}}), "nothing thrown");
  EXPECT_EQ(num_entries(), 4U);
}

/// The outcome is seen in a child process, whose standard output is the given file.
TEST_F(Outputs, StandardOutputCarriesNothingElse) {
  const auto print_and_write = [&](const std::string& name) {
    const int file = ::open(path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int log = ::open(path("log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    std::printf("early ");
    base::claim_outputs(std::vector<base::NamedFile>{{"--json", name}});
    std::printf("text");
    base::write_output(name, "file");
    std::fflush(stdout);
    std::_Exit(0);
  };
  for (const std::string& name : {std::string("-"), std::string("/dev/stdout"), path("out")}) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) print_and_write(name);
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(content(path("out")), "early file") << name;
    EXPECT_EQ(content(path("log")), "text") << name;
  }
}

TEST_F(Outputs, TemporariesGoWithTheProcessThatEndsAtOnce) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto mine = base::Temporary::folder(path("folder-"));
    std::ofstream(mine.path() + "/inside") << "x";
    auto kept = base::Temporary::file(path("kept-"));
    kept.keep();
    base::remove_temporaries();
    std::_Exit(0);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(num_entries(), 1U);
  EXPECT_TRUE(fs::directory_iterator(folder_.path())->path().filename().string().starts_with("kept-"));
}

TEST_F(Outputs, TemporariesGoWhileThreadsStillWriteIntoThem) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto mine = base::Temporary::folder(path("folder-"));
    std::atomic<int> num_written = 0;
    std::thread writer([&] {
      while (num_written < 1000) std::ofstream(mine.path() + "/" + std::to_string(num_written++ % 100)) << "x";
    });
    while (num_written < 100) std::this_thread::yield();
    base::remove_temporaries();
    std::_Exit(0);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(num_entries(), 0U);
}

} // namespace

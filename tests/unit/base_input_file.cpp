// SPDX-License-Identifier: BSD-3-Clause
// Input comes from regular files: whatever else has the name that a user gives is refused before it is opened.
#include <gtest/gtest.h>

#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rafter/base/error.hpp>
#include <rafter/base/input_file.hpp>
#include <tests/support/device_folders.hpp>

namespace rafter::base {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& path) {
  try {
    require_regular_file(path.string(), "a mesh");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(InputFiles, AreRegularFilesOrLinksToThem) {
  const test::Folder folder;
  const auto path = [&](const char* name) { return folder.path() / name; };
  std::ofstream(path("file")) << "x";
  fs::create_symlink("file", path("link"));
  EXPECT_EQ(refusal(path("file")), "accepted");
  EXPECT_EQ(refusal(path("link")), "accepted");
  EXPECT_EQ(irregular_kind(path("link").string()), "");
}

TEST(InputFiles, AreNothingElse) {
  const test::Folder folder;
  const auto path = [&](const char* name) { return folder.path() / name; };
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path("socket").string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  fs::create_symlink("pipe", path("link"));
  fs::create_symlink("circle", path("circle"));
  const auto not_a_file = [&](const fs::path& of, const std::string& kind) {
    return of.string() + ": not a file but " + kind + "; accepted is a mesh";
  };
  EXPECT_EQ(refusal(path("pipe")), not_a_file(path("pipe"), "a pipe (FIFO)"));
  EXPECT_EQ(refusal(path("link")), not_a_file(path("link"), "a pipe (FIFO)"));
  EXPECT_EQ(refusal(path("socket")), not_a_file(path("socket"), "a socket"));
  EXPECT_EQ(refusal(folder.path()), not_a_file(folder.path(), "a directory"));
  EXPECT_EQ(refusal("/dev/zero"), not_a_file("/dev/zero", "a device"));
  EXPECT_EQ(refusal(path("none")), path("none").string() + ": no such file");
  EXPECT_NE(refusal(path("circle")).find("cannot be opened"), std::string::npos) << refusal(path("circle"));
  EXPECT_NE(refusal(folder.path() / std::string(5000, 'a')).find("too long"), std::string::npos);
  ::close(listener);
}

} // namespace
} // namespace rafter::base

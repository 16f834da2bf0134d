// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rafter/base/error.hpp>
#include <rafter/io/hdf5_file.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/space/function_space.hpp>

#include <tests/support/messages.hpp>

/// The leak sanitizer reads this, since HDF5 cannot free a file whose last writes failed.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

using namespace rafter;
namespace fs = std::filesystem;

namespace {

class OutputFailures : public testing::Test {
protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rafter_output_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string message_of(const std::string& path, const mesh::Mesh& mesh) {
    try {
      io::write_vtkhdf(path, mesh, {});
    } catch (const base::EnvironmentError& error) {
      return error.what();
    }
    return "written";
  }
  /// A limit on the size of files has the effect of a full disk: writes beyond it fail.
  static std::string message_on_full_disk(const std::string& path, rlim_t bytes) {
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit former{};
    ::getrlimit(RLIMIT_FSIZE, &former);
    const rlimit small{bytes, former.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto message =
        message_of(path, mesh::make_box({.cells = {100, 100}, .size = {1, 1}, .shape = "quadrilateral"}));
    ::setrlimit(RLIMIT_FSIZE, &former);
    std::signal(SIGXFSZ, handler);
    return message;
  }
  std::size_t num_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(OutputFailures, MissingFolderIsNamed) {
  const auto message =
      message_of(path("no/such/x.vtkhdf"), mesh::make_box({.cells = {2, 2}, .size = {1, 1}, .shape = "triangle"}));
  EXPECT_TRUE(test::contains(message, path("no/such")) && test::contains(message, "no folder")) << message;
}

TEST_F(OutputFailures, FolderInThePlaceOfTheFileIsNamed) {
  fs::create_directories(path("x.vtkhdf"));
  const auto message = message_of(path("x.vtkhdf"), mesh::make_box({.cells = {2}, .size = {1}, .shape = "interval"}));
  EXPECT_TRUE(test::contains(message, "it is a folder")) << message;
}

TEST_F(OutputFailures, FolderWithoutPermissionIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write anywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const auto message = message_of(path("x.vtkhdf"), mesh::make_box({.cells = {2}, .size = {1}, .shape = "interval"}));
  EXPECT_TRUE(test::contains(message, "denied")) << message;
}

TEST_F(OutputFailures, FullDiskIsAnErrorAndLeavesTheFormerFile) {
  std::ofstream(path("x.vtkhdf")) << "former";
  for (const rlim_t bytes : {0, 50, 500, 2000, 8000, 20000, 40000}) {
    const auto message = message_on_full_disk(path("x.vtkhdf"), bytes);
    EXPECT_TRUE(test::contains(message, path("x.vtkhdf")) && test::contains(message, "too large"))
        << bytes << ": " << message;
  }
  std::string text;
  std::ifstream(path("x.vtkhdf")) >> text;
  EXPECT_EQ(text, "former");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(OutputFailures, ProgramEndsAsItWantsAfterAFullDisk) {
  EXPECT_EXIT(
      {
        message_on_full_disk(path("x.vtkhdf"), 20000);
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
}

TEST_F(OutputFailures, NothingRemainsWithoutCommit) {
  {
    io::Hdf5Writer writer(path("x.h5"));
    writer.make_group("g");
    EXPECT_EQ(num_files(), 1u); // the temporary file
    EXPECT_FALSE(fs::exists(path("x.h5")));
  }
  EXPECT_EQ(num_files(), 0u);
}

TEST_F(OutputFailures, MeshWithoutFieldsIsWritten) {
  EXPECT_EQ(message_of(path("x.vtkhdf"), mesh::make_box({.cells = {2, 2}, .size = {1, 1}, .shape = "triangle"})),
            "written");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(OutputFailures, FieldsOfTheWrongSizeOrMeshAreInternalErrors) {
  const auto make = [](int n) {
    return std::make_shared<const mesh::Mesh>(mesh::make_box({.cells = {n}, .size = {1}, .shape = "interval"}));
  };
  const auto mesh = make(2), other = make(3);
  const auto space = space::FunctionSpace::make(std::make_shared<const space::Discretisation>(mesh), {.degree = 1});
  const std::vector<double> values(3), few(2);
  EXPECT_THROW(io::write_vtkhdf(path("x.vtkhdf"), *mesh, std::vector<io::OutputField>{{"u", space, few}}),
               base::InternalError);
  EXPECT_THROW(io::write_vtkhdf(path("x.vtkhdf"), *other, std::vector<io::OutputField>{{"u", space, values}}),
               base::InternalError);
}

} // namespace

// SPDX-License-Identifier: BSD-3-Clause
// Files that are no results of a solve, or not those that are needed, are refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

#include <rafter/base/error.hpp>
#include <rafter/io/hdf5_file.hpp>
#include <rafter/io/saved_state.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/io/vtkhdf_reader.hpp>

#include <tests/support/messages.hpp>

using namespace rafter;
namespace fs = std::filesystem;

namespace {

template <class Operation> std::string message_of(const Operation& operation) {
  try {
    operation();
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// A file of one quadrilateral has these arrays, each of which may be damaged.
struct Contents {
  std::string type = "UnstructuredGrid";
  std::vector<std::int64_t> parts{4}, connectivity{0, 1, 2, 3}, offsets{0, 4};
  std::vector<double> points{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, values{1, 2, 3, 4};
  std::vector<std::uint8_t> types{9};
  std::int64_t columns = 3, value_columns = 0;
  bool has_steps = false, has_types = true;
  std::pair<std::string, std::int64_t> unwritten = {}; ///< name of an array with so many rows, none of which is written

  void write(const std::string& path) const {
    io::Hdf5Writer file(path);
    file.make_group("VTKHDF");
    file.write_attribute("VTKHDF", "Type", type);
    file.make_group("VTKHDF/PointData");
    if (has_steps) file.make_group("VTKHDF/Steps");
    file.write("VTKHDF/NumberOfPoints", parts);
    file.write("VTKHDF/Connectivity", connectivity);
    file.write("VTKHDF/Offsets", offsets);
    add(file, "Points", points, columns);
    add(file, "PointData/w", values, value_columns);
    if (has_types) add(file, "Types", types, 0);
    file.commit();
  }
  template <class T>
  void add(io::Hdf5Writer& file, const std::string& name, const std::vector<T>& data, std::int64_t data_columns) const {
    if (name == unwritten.first) {
      file.make_dataset<T>("VTKHDF/" + name, unwritten.second, data_columns);
      return;
    }
    const auto rows = static_cast<std::int64_t>(data.size()) / std::max<std::int64_t>(data_columns, 1);
    file.make_dataset<T>("VTKHDF/" + name, rows, data_columns);
    file.append("VTKHDF/" + name, std::span<const T>(data));
  }
};

class ResultErrors : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rafter_results_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string reading(const Contents& contents) const {
    contents.write(path("result.vtkhdf"));
    return message_of([&] { io::VtkHdfReader{path("result.vtkhdf")}; });
  }
  std::string asking(const Contents& contents, const std::string& name, int count,
                     const std::vector<double>& x = {0.5, 0.5}) const {
    contents.write(path("result.vtkhdf"));
    return message_of([&] {
      std::vector<double> values(static_cast<std::size_t>(count));
      io::VtkHdfReader{path("result.vtkhdf")}.function(name, count)(x, values);
    });
  }
  fs::path folder_;
};

TEST_F(ResultErrors, FilesThatAreNoResultsAreNamed) {
  EXPECT_TRUE(
      test::contains(message_of([&] { io::VtkHdfReader{path("none.vtkhdf")}; }), "none.vtkhdf\": no such file"));
  EXPECT_TRUE(test::contains(message_of([&] { io::VtkHdfReader{folder_.string()}; }), "not a file but a directory"));
  std::ofstream(path("text.vtkhdf")) << "text";
  EXPECT_TRUE(test::contains(message_of([&] { io::VtkHdfReader{path("text.vtkhdf")}; }), "is no HDF5 file"));
  Contents().write(path("whole.vtkhdf"));
  fs::resize_file(path("whole.vtkhdf"), fs::file_size(path("whole.vtkhdf")) / 2);
  EXPECT_TRUE(test::contains(message_of([&] { io::VtkHdfReader{path("whole.vtkhdf")}; }), "whole.vtkhdf\": "));
  {
    io::Hdf5Writer file(path("other.vtkhdf"));
    file.make_group("Data");
    file.commit();
  }
  EXPECT_TRUE(test::contains(message_of([&] { io::VtkHdfReader{path("other.vtkhdf")}; }), "is no VTK-HDF file"));
}

TEST_F(ResultErrors, DamagedFilesAreRefused) {
  EXPECT_EQ(reading({}), "accepted");
  EXPECT_TRUE(test::contains(reading({.type = "ImageData"}), "is no VTK-HDF file of an unstructured grid"));
  EXPECT_TRUE(test::contains(reading({.parts = {2, 2}}), "several parts"));
  EXPECT_TRUE(test::contains(reading({.has_steps = true}), "VTKHDF/Steps does not say"));
  EXPECT_TRUE(test::contains(reading({.has_types = false}), "no dataset VTKHDF/Types"));
  EXPECT_TRUE(test::contains(reading({.columns = 2}), "three columns"));
  EXPECT_TRUE(test::contains(reading({.connectivity = {0, 1, 2, 4}}), "points that are not there"));
  EXPECT_TRUE(test::contains(reading({.connectivity = {0, 1, 2, -1}}), "points that are not there"));
  EXPECT_TRUE(test::contains(reading({.offsets = {0, 3}}), "Offsets"));
  EXPECT_TRUE(test::contains(reading({.offsets = {0, 5, 4}}), "Offsets"));
  EXPECT_TRUE(test::contains(reading({.connectivity = {}, .offsets = {0}, .types = {}}), "no cells"));
  EXPECT_TRUE(test::contains(reading({.types = {8}}), "VTK's type 8"));
  EXPECT_TRUE(test::contains(reading({.connectivity = {0, 1, 2}, .offsets = {0, 3}, .types = {70}}), "with 3 points"));
  auto nan = Contents();
  nan.points[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(test::contains(reading(nan), "finite"));
  auto curved = Contents();
  curved.points[2] = 1;
  EXPECT_TRUE(test::contains(reading(curved), "z must be 0"));
}

/// Numbers that were never written take no place in the file, whatever size it declares.
TEST_F(ResultErrors, SizesThatTheFileDoesNotHoldAreRefusedBeforeMemoryIsTaken) {
  const std::int64_t huge = std::int64_t{1} << 38;
  for (const std::string name : {"Points", "Types", "PointData/w"}) {
    Contents contents;
    contents.unwritten = {name, huge};
    const auto message = asking(contents, "w", 1);
    EXPECT_TRUE(test::contains(message, "result.vtkhdf\": ")) << name << ": " << message;
    EXPECT_TRUE(test::contains(message, name == "PointData/w" ? "one row for each of the 4 points" : "VTKHDF/" + name))
        << message;
    if (name != "PointData/w") {
      EXPECT_TRUE(test::contains(message, "of which the file holds 0: it is truncated or wrong")) << message;
    }
    EXPECT_LT(fs::file_size(path("result.vtkhdf")), 100000U);
  }
  Contents few;
  few.unwritten = {"PointData/w", 4}; // as many as there are points, but none of them is there
  EXPECT_TRUE(test::contains(asking(few, "w", 1), "VTKHDF/PointData/w declares 32 bytes, of which the file holds 0"));
  few.unwritten = {"Types", 1};
  EXPECT_TRUE(test::contains(reading(few), "VTKHDF/Types declares 1 bytes"));
}

TEST_F(ResultErrors, PipesDevicesAndSocketsAreRefusedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo(path("pipe.vtkhdf").c_str(), 0600), 0);
  EXPECT_TRUE(
      test::contains(message_of([&] { io::VtkHdfReader{path("pipe.vtkhdf")}; }), "not a file but a pipe (FIFO)"));
  EXPECT_TRUE(
      test::contains(message_of([&] { io::read_saved_time(path("pipe.vtkhdf")); }), "not a file but a pipe (FIFO)"));
  EXPECT_TRUE(test::contains(message_of([&] { io::VtkHdfReader{"/dev/zero"}; }), "not a file but a device"));
}

TEST_F(ResultErrors, SavedStatesThatTheFileDoesNotHoldAreRefused) {
  {
    io::Hdf5Writer file(path("state.vtkhdf"));
    for (const auto* group : {"Rafter", "Rafter/State"}) file.make_group(group);
    file.make_dataset<double>("Rafter/Time", std::int64_t{1} << 38, 0);
    file.write("Rafter/Step", std::vector<std::int64_t>{1});
    file.commit();
  }
  EXPECT_TRUE(test::contains(message_of([&] { io::read_saved_time(path("state.vtkhdf")); }), "Rafter/Time declares"));
}

TEST_F(ResultErrors, ArraysThatDoNotServeAreNamed) {
  EXPECT_EQ(asking({}, "w", 1), "accepted");
  EXPECT_TRUE(test::contains(asking({}, "ww", 1), "no point data 'ww' (did you mean 'w'?); it has: w"));
  EXPECT_TRUE(test::contains(asking({}, "w", 2), "'w' has 1 components, expected are 2"));
  EXPECT_TRUE(test::contains(asking({.values = {1, 2, 3}}, "w", 1), "one row for each of the 4 points"));
  EXPECT_TRUE(
      test::contains(asking({.values = {1, 2, 3, std::numeric_limits<double>::infinity()}}, "w", 1), "not finite"));
  const std::vector<double> plane{1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}, space(12, 1.0);
  EXPECT_EQ(asking({.values = plane, .value_columns = 3}, "w", 2), "accepted");
  EXPECT_TRUE(
      test::contains(asking({.values = space, .value_columns = 3}, "w", 2), "three components, expected are two"));
  EXPECT_TRUE(
      test::contains(asking({.values = space, .value_columns = 3}, "w", 1), "has 3 components, expected are 1"));
}

TEST_F(ResultErrors, PointsOutsideOfTheMeshAreNamed) {
  EXPECT_TRUE(test::contains(asking({}, "w", 1, {1.5, 0.5}), "holds the point (1.5, 0.5)"));
  EXPECT_TRUE(test::contains(asking({}, "w", 1, {0.5, 0.5, 0.5}), "dimension 2"));
}

} // namespace

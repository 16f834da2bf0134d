// SPDX-License-Identifier: BSD-3-Clause
// Tests of states in time that are kept in files, from which another run goes on.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <unistd.h>

#include <rafter/base/output_file.hpp>
#include <rafter/io/hdf5_file.hpp>
#include <rafter/io/saved_state.hpp>
#include <rafter/rafter.hpp>

namespace {

using namespace rafter;

/// Each test has a file with one state in a folder of this process.
class SavedStates : public testing::Test {
protected:
  SavedStates() { std::filesystem::create_directories(folder_); }
  ~SavedStates() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "state.vtkhdf").string(); }

  void write(const FunctionSpace& V, const std::vector<double>& values) const {
    io::Hdf5Writer file(path());
    io::write_state(file, V->mesh(), {.time = 0.7, .start = 0.1, .step = 0.2, .number = 3},
                    std::vector{io::OutputField{"u", V.ptr(), values}});
    file.commit();
  }
  std::string refusal(const FunctionSpace& V, const std::string& name = "u") const {
    std::vector<double> values(static_cast<std::size_t>(V->num_local()));
    try {
      (void)io::read_state(path(), V->mesh(), std::vector{io::SavedField{name, V.ptr(), values}});
      return "accepted";
    } catch (const InputError& error) {
      return error.what();
    }
  }

private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("rafter-saved-states-" + std::to_string(::getpid()));
};

TEST_F(SavedStates, AreReadBitByBitWhateverTheOrderOfCells) {
  const auto mesh = make_box({.cells = {9, 9, 2}, .shape = "mixed"});
  const auto space = [&](int cells_per_batch) {
    const auto own = std::make_shared<const Mesh>(mesh);
    auto batches = mesh::make_cell_batches(*own, {.cells_per_batch = cells_per_batch, .has_orientation_buckets = true});
    return space::FunctionSpace::make(std::make_shared<const space::Discretisation>(own, std::move(batches)),
                                      {.degree = 3, .components = 2});
  };
  const auto wide = space(16), narrow = space(4);
  std::vector<double> values(static_cast<std::size_t>(wide->num_local())), read(values.size());
  const auto f = [](std::span<const double> x, std::span<double> at) {
    at[0] = std::sin(3 * x[0] + x[1]) / 3;
    at[1] = std::exp(x[2] - x[0] * x[1]);
  };
  space::interpolate(*wide, f, values);
  {
    io::Hdf5Writer file(path());
    io::write_state(file, wide->mesh(), {.time = 0.7, .start = 0.1, .step = 0.2, .number = 3},
                    std::vector{io::OutputField{"u", wide, values}});
    file.commit();
  }
  const auto time = io::read_state(path(), narrow->mesh(), std::vector{io::SavedField{"u", narrow, read}});
  EXPECT_EQ(time.time, 0.7);
  EXPECT_EQ(time.start, 0.1);
  EXPECT_EQ(time.step, 0.2);
  EXPECT_EQ(time.number, 3);
  std::vector<double> expected(values.size());
  space::interpolate(*narrow, f, expected);
  EXPECT_NE(values, expected) << "the two orders are the same, so that the test shows nothing";
  EXPECT_EQ(read, expected);
}

TEST_F(SavedStates, HoldIntermediateValuesOfSomeFields) {
  const FunctionSpace V(make_box({.cells = {2}, .shape = "interval"}), {.degree = 2});
  const std::vector<double> values{1, 2, 3, 4, 5}, intermediate{6, 7, 8, 9, 10};
  const auto field = [&](const std::string& name, const std::vector<double>& of) {
    return io::OutputField{name, V.ptr(), of};
  };
  {
    io::Hdf5Writer file(path());
    io::write_state(file, V->mesh(), {.time = 1, .start = 0, .step = 0.5, .number = 2, .lag = 0.25},
                    std::vector{field("u", values), field("z", values)}, std::vector{field("z", intermediate)});
    file.commit();
  }
  std::vector<double> u(5), z(5), of_u(5), of_z(5);
  const io::SavedField plain{"u", V.ptr(), u}, both{"z", V.ptr(), z, of_z}, other{"u", V.ptr(), u, of_u};
  EXPECT_EQ(io::read_state(path(), V->mesh(), std::vector{plain, both}).lag, 0.25);
  EXPECT_EQ(of_z, intermediate);
  EXPECT_EQ(z, values);
  EXPECT_EQ(io::read_saved_time(path()).lag, 0.25);
  // A form in which u has no derivative any more needs its intermediate value, too.
  EXPECT_FALSE(io::read_state(path(), V->mesh(), std::vector{other, both}).lag);
  EXPECT_EQ(u, values);
  EXPECT_FALSE([&] {
    write(V, values);
    return io::read_state(path(), V->mesh(), std::vector{other}).lag;
  }()) << "older files have no intermediate values";
}

TEST_F(SavedStates, TimesThatNoRunWritesAreRefused) {
  const FunctionSpace V(make_box({.cells = {2}, .shape = "interval"}), {.degree = 1});
  const std::vector<double> values(3, 1.0);
  const auto refusal_of = [&](const io::SavedTime& time, const std::vector<double>& state) {
    {
      io::Hdf5Writer file(path());
      io::write_state(file, V->mesh(), time, std::vector{io::OutputField{"u", V.ptr(), state}});
      file.commit();
    }
    try {
      (void)io::read_saved_time(path());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return refusal(V);
  };
  constexpr double nan = NAN, infinity = INFINITY;
  const std::vector<std::tuple<double, double, double, std::int64_t, std::string>> cases{
      {0.4, 0, 0.1, std::int64_t{1} << 62, "Rafter/Step"},
      {0.4, 0, 0.1, 5, "Rafter/Step"},
      {0.4, 0, 0.1, 0, "Rafter/Step"},
      {0.4, 0, 0.1, -4, "Rafter/Step"},
      {0.4, 0, -0.1, 4, "Rafter/Time"},
      {-0.4, 0, -0.1, 4, "Rafter/Time"},
      {0.4, 0, 0, 4, "Rafter/Time"},
      {0.4, 0.8, 0.1, 4, "Rafter/Time"},
      {nan, 0, 0.1, 4, "Rafter/Time"},
      {0.4, nan, 0.1, 4, "Rafter/Time"},
      {0.4, 0, nan, 4, "Rafter/Time"},
      {infinity, 0, 0.1, 4, "Rafter/Time"},
      {0.4, 0, infinity, 4, "Rafter/Time"}};
  for (const auto& [time, start, step, number, place] : cases) {
    const auto message = refusal_of({.time = time, .start = start, .step = step, .number = number}, values);
    EXPECT_NE(message.find(path() + ": " + place), std::string::npos) << message;
  }
  for (const double lag : {nan, -0.01, 0.2})
    EXPECT_NE(refusal_of({.time = 0.4, .step = 0.1, .number = 4, .lag = lag}, values).find("Rafter/Lag"),
              std::string::npos)
        << lag;
  EXPECT_NE(refusal_of({.time = 0.4, .step = 0.1, .number = 4}, {1, nan, 1}).find("Rafter/State/u"), std::string::npos);
  EXPECT_EQ(refusal_of({.time = 0.4, .step = 0.1, .number = 4, .lag = 0.05}, values), "accepted");
  // Sums and products are rounded.
  EXPECT_EQ(refusal_of({.time = 0.1 + 300 * 0.1, .start = 0.1, .step = 0.1, .number = 300}, values), "accepted");
  EXPECT_EQ(refusal_of({.time = 1e6 + 1e-3, .start = 1e6, .step = 1e-9, .number = 1000000}, values), "accepted");
}

TEST_F(SavedStates, OfOtherMeshesAndFieldsAreRefused) {
  const auto box = make_box({.cells = {3, 3}, .shape = "quadrilateral"});
  const FunctionSpace V(box, {.degree = 2});
  const std::vector<double> values(static_cast<std::size_t>(V->num_local()), 1.0);
  write(V, values);
  EXPECT_EQ(refusal(V), "accepted");
  EXPECT_NE(refusal(V, "w").find("no field 'w'"), std::string::npos) << refusal(V, "w");
  auto moved = box;
  moved.points[0] -= 0.125;
  const std::vector<std::pair<FunctionSpace, std::string>> others{
      {FunctionSpace(box, {.degree = 3}), "degree 2 and 1 component"},
      {FunctionSpace(box, {.degree = 2, .components = 2}), "degree 2 and 2 components"},
      {FunctionSpace(box.refined(1), {.degree = 2}), "another mesh"},
      {FunctionSpace(moved, {.degree = 2}), "another mesh"},
      {FunctionSpace(box.periodic({{.from = {"xmin"}, .to = {"xmax"}}}), {.degree = 2}), "another mesh"}};
  for (const auto& other : others)
    EXPECT_NE(refusal(other.first).find(other.second), std::string::npos) << refusal(other.first);
}

TEST_F(SavedStates, FilesWithoutAStateAreRefused) {
  const FunctionSpace V(make_box({.cells = {2}, .shape = "interval"}), {.degree = 1});
  EXPECT_NE(refusal(V).find("no such file"), std::string::npos);
  base::write_output(path(), "no HDF5");
  EXPECT_NE(refusal(V).find("no HDF5 file"), std::string::npos);
  const std::vector<double> values(3, 1.0);
  io::write_vtkhdf(path(), V->mesh(), std::vector{io::OutputField{"u", V.ptr(), values}});
  EXPECT_NE(refusal(V).find("no state"), std::string::npos);
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) / 2);
  EXPECT_NE(refusal(V).find(path()), std::string::npos);
}

} // namespace

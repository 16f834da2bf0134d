// SPDX-License-Identifier: BSD-3-Clause
// What write_vtkhdf() writes is read back as the functions that were written.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <unistd.h>

#include <rafter/form/language.hpp>
#include <rafter/io/hdf5_reader.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/io/vtkhdf_reader.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

/// A space on a mesh holds the function f.
struct Written {
  Written(mesh::Mesh on, int degree, int components, const space::SpatialFunction& f) {
    const auto shared = std::make_shared<const mesh::Mesh>(std::move(on));
    space = space::FunctionSpace::make(std::make_shared<const space::Discretisation>(shared),
                                       {.degree = degree, .components = components, .name = "w"});
    values.resize(static_cast<std::size_t>(space->num_local()));
    space::interpolate(*space, f, values);
  }
  std::shared_ptr<const space::FunctionSpace> space;
  std::vector<double> values;
};

class File {
public:
  File()
      : path_(std::filesystem::temp_directory_path() / ("rafter_reader_" + std::to_string(::getpid()) + ".vtkhdf")) {}
  ~File() { std::filesystem::remove(path_); }
  std::string write(const Written& written, const io::VtkHdfOptions& options = {}) const {
    const std::vector<io::OutputField> fields{{"w", written.space, written.values}};
    io::write_vtkhdf(path_.string(), written.space->mesh(), fields, {}, options);
    return path_.string();
  }

  /// The series has two states: the values times -2, and then the values.
  std::string write_series(const Written& written) const {
    std::vector<double> others = written.values;
    for (double& value : others) value *= -2;
    const auto fields = [&](std::span<const double> values) {
      return std::vector<io::OutputField>{{"w", written.space, values}};
    };
    io::VtkHdfSeries series(path_.string(), written.space->mesh(), fields(others));
    series.append(0, fields(others));
    series.append(0.5, fields(written.values));
    series.commit();
    return path_.string();
  }

private:
  std::filesystem::path path_;
};

/// Returns a polynomial of this degree in each component.
space::SpatialFunction polynomial(int degree) {
  return [degree](std::span<const double> x, std::span<double> values) {
    double sum = 0.5;
    for (std::size_t a = 0; a < x.size(); ++a) sum += x[a] / static_cast<double>(a + 2);
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = std::pow(sum, degree) - static_cast<double>(c) * sum;
  };
}

void expect_equal(std::span<const double> found, std::span<const double> wanted, double bound) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], bound) << i;
}

struct Case {
  std::string shape;
  int degree = 1, components = 0;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.shape << " degree " << c.degree << " x " << c.components; }

class VtkHdfReader : public ::testing::TestWithParam<Case> {};

TEST(VtkHdfSeries, HoldsEachTimeAndIsReadAtItsLast) {
  for (const std::string shape : {"quadrilateral", "tetrahedron", "pyramid"}) {
    const Written written(box(shape), shape == "pyramid" ? 1 : 3, 2, polynomial(1));
    const File file;
    const auto path = file.write_series(written);
    const io::Hdf5Reader raw(path);
    const auto points = raw.shape("VTKHDF/Points")[0];
    EXPECT_EQ(raw.shape("VTKHDF/PointData/w")[0], 2 * points);
    EXPECT_EQ(raw.read<double>("VTKHDF/Steps/Values"), (std::vector<double>{0, 0.5}));
    EXPECT_EQ(raw.read<std::int64_t>("VTKHDF/Steps/PointDataOffsets/w"), (std::vector<std::int64_t>{0, points}));
    for (const std::string name : {"PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"})
      EXPECT_EQ(raw.read<std::int64_t>("VTKHDF/Steps/" + name), (std::vector<std::int64_t>{0, 0})) << name;
    std::vector<double> found(written.values.size());
    space::interpolate(*written.space, io::VtkHdfReader(path).function("w", 2), found);
    expect_equal(found, written.values, 1e-12);
    const auto all = raw.read<double>("VTKHDF/PointData/w");
    for (std::size_t i = 0; i < all.size() / 2; ++i) EXPECT_NEAR(all[i], -2 * all[all.size() / 2 + i], 1e-14) << i;
    const auto last = raw.read_rows<double>("VTKHDF/PointData/w", points, points);
    EXPECT_TRUE(std::ranges::equal(last, std::span(all).last(all.size() / 2)));
    EXPECT_THROW((void)raw.read_rows<double>("VTKHDF/PointData/w", points + 1, points), base::InputError);
  }
}

/// The same space reads back what was written, even on curved cells, where this is no polynomial in physical space.
TEST_P(VtkHdfReader, GivesTheSameVectorOnTheSameMesh) {
  const auto& [shape, degree, components] = GetParam();
  for (const auto& mesh : {box(shape), curved_box(shape, std::max(degree, 2))}) {
    const Written written(mesh, degree, components, [](std::span<const double> x, std::span<double> values) {
      for (std::size_t c = 0; c < values.size(); ++c) values[c] = std::sin(5 * x[0] + static_cast<double>(c));
    });
    const File file;
    const io::VtkHdfReader reader(file.write(written));
    EXPECT_EQ(reader.names(), std::vector<std::string>{"w"});
    EXPECT_EQ(reader.dimension(), mesh.tdim);
    std::vector<double> found(written.values.size());
    space::interpolate(*written.space, reader.function("w", written.space->num_components()), found);
    expect_equal(found, written.values, 1e-11);
  }
}

TEST_P(VtkHdfReader, GivesPolynomialsOnMeshesOfOtherCells) {
  const auto& [shape, degree, components] = GetParam();
  const auto f = polynomial(degree);
  const Written written(box(shape), degree, components, f);
  const File file;
  const io::VtkHdfReader reader(file.write(written));
  EXPECT_EQ(reader.order(), degree);
  const int dim = box_dimension(shape);
  const std::string other = dim == 3 ? "prism" : dim == 2 ? "triangle" : "interval";
  const Written wanted(box(other, 3), degree, components, f);
  std::vector<double> found(wanted.values.size());
  space::interpolate(*wanted.space, reader.function("w", wanted.space->num_components()), found);
  expect_equal(found, wanted.values, 1e-11);
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const std::string shape : {"interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism"})
    for (const int degree : {1, 2, 3, 5}) result.push_back({shape, degree, degree == 2 ? 2 : degree == 3 ? 3 : 0});
  return result;
}

INSTANTIATE_TEST_SUITE_P(shapes, VtkHdfReader, ::testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.shape + "_" + std::to_string(c.param.degree); });

/// Pyramids become linear cells, which hold linear functions exactly, and other functions at the points only.
TEST(VtkHdfReaderOfPyramids, GivesLinearFunctionsAndValuesAtPoints) {
  for (const std::string shape : {"pyramid", "mixed"}) {
    const File file;
    const Written linear(box(shape), 3, 3, polynomial(1));
    const io::VtkHdfReader reader(file.write(linear));
    std::vector<double> found(linear.values.size());
    space::interpolate(*linear.space, reader.function("w", 3), found);
    expect_equal(found, linear.values, 1e-12);
    // The nodes of degree 2 are the points of order 2.
    const Written quadratic(box(shape), 2, 0, polynomial(2));
    const io::VtkHdfReader again(file.write(quadratic));
    found.resize(quadratic.values.size());
    space::interpolate(*quadratic.space, again.function("w", 1), found);
    expect_equal(found, quadratic.values, 1e-12);
  }
}

TEST(VtkHdfReaderOfFiles, TakesPointsThatCellsOfSeveralTagsHaveApart) {
  auto mesh = box("quadrilateral");
  for (std::size_t cell = 0; cell < mesh.groups[0].tags.size(); ++cell)
    mesh.groups[0].tags.set(cell, static_cast<std::int32_t>(cell % 2));
  const Written written(std::move(mesh), 2, 0, polynomial(2));
  const auto path = std::filesystem::temp_directory_path() / ("rafter_tags_" + std::to_string(::getpid()) + ".vtkhdf");
  const std::vector<io::OutputField> fields{{"w", written.space, written.values}};
  const std::vector<io::DerivedField> derived{{.name = "slope",
                                               .expression = std::make_shared<const form::LoweredExpression>(
                                                   form::lower(form::grad(form::field(written.space, "w"))))}};
  io::write_vtkhdf(path.string(), written.space->mesh(), fields, derived);
  const io::VtkHdfReader reader(path.string());
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"w", "slope"}));
  EXPECT_EQ(reader.num_components("slope"), 3);
  std::vector<double> found(written.values.size()), slope(2);
  space::interpolate(*written.space, reader.function("w", 1), found);
  expect_equal(found, written.values, 1e-12);
  reader.function("slope", 2)(std::vector{0.3, 0.2}, slope);
  const double sum = 0.5 + 0.3 / 2 + 0.2 / 3;
  EXPECT_NEAR(slope[0], 2 * sum / 2, 1e-11);
  EXPECT_NEAR(slope[1], 2 * sum / 3, 1e-11);
  std::filesystem::remove(path);
}

TEST(VtkHdfReaderOfFiles, FunctionsOutliveTheReader) {
  const File file;
  space::SpatialFunction f;
  {
    const io::VtkHdfReader reader(file.write(Written(box("triangle"), 1, 0, polynomial(1))));
    f = reader.function("w", 1);
  }
  double value = 0;
  f(std::vector{0.25, 0.5}, std::span(&value, 1));
  EXPECT_NEAR(value, 0.5 + 0.125 + 0.5 / 3, 1e-13);
}

} // namespace
} // namespace rafter::test

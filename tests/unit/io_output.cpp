// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/time.h>
#include <unistd.h>

#include <rafter/base/error.hpp>
#include <rafter/form/language.hpp>
#include <rafter/io/hdf5_reader.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/interpolate.hpp>

/// HDF5 reads this clock here, which advances by a minute at every call, so that times in a file would be seen.
extern "C" int gettimeofday(timeval* result, void*) noexcept {
  static std::time_t now = 1'000'000'000;
  now += 60;
  *result = {.tv_sec = now, .tv_usec = 0};
  return 0;
}

using namespace rafter;

namespace {

struct Setting {
  std::shared_ptr<const mesh::Mesh> mesh;
  std::shared_ptr<const space::FunctionSpace> space;
  std::vector<double> values;
};

Setting make_setting(mesh::Mesh mesh, int degree, int components, const space::SpatialFunction& function) {
  Setting result;
  result.mesh = std::make_shared<const mesh::Mesh>(std::move(mesh));
  const auto discretisation = std::make_shared<const space::Discretisation>(result.mesh);
  result.space = space::FunctionSpace::make(discretisation, {.degree = degree, .components = components});
  result.values.resize(static_cast<std::size_t>(result.space->num_local()));
  space::interpolate(*result.space, function, result.values);
  return result;
}

mesh::Mesh box(const std::string& shape, std::vector<int> cells) {
  return mesh::make_box({.cells = cells, .size = std::vector<double>(cells.size(), 1.0), .shape = shape});
}

/// Cells with their centre left of x = 1/2 have tag 1, the others tag 2.
mesh::Mesh two_materials(const std::string& shape, std::vector<int> cells) {
  auto mesh = box(shape, std::move(cells));
  for (auto& group : mesh.groups)
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell) {
      const std::size_t n = group.nodes().size() / group.tags.size();
      double x = 0;
      for (std::size_t i = 0; i < n; ++i)
        x += mesh.points[static_cast<std::size_t>(group.nodes()[cell * n + i]) * static_cast<std::size_t>(mesh.gdim)];
      group.tags.set(cell, x < 0.5 * static_cast<double>(n) ? 1 : 2);
    }
  return mesh;
}

std::vector<std::vector<io::LatticePoint>> lattices_of(const mesh::Mesh& mesh, int order) {
  std::vector<std::vector<io::LatticePoint>> result;
  for (const auto& group : mesh.groups) result.push_back(io::make_vtk_cells(group.shape, order).points);
  return result;
}

io::OutputPoints points_of(const mesh::Mesh& mesh, int order, bool separates_tags = false) {
  return io::make_output_points(mesh, lattices_of(mesh, order), order, separates_tags);
}

TEST(OutputPoints, AreAsManyAsTheNodesOfAContinuousSpace) {
  const std::vector<std::pair<std::string, std::vector<int>>> meshes{
      {"interval", {3}},    {"triangle", {2, 2}},       {"quadrilateral", {2, 2}},
      {"mixed", {2, 2}},    {"tetrahedron", {1, 2, 1}}, {"hexahedron", {2, 1, 2}},
      {"prism", {2, 1, 1}}, {"pyramid", {1, 1, 2}},     {"mixed", {4, 1, 1}}};
  for (const auto& [shape, cells] : meshes)
    for (int order = 1; order <= io::max_vtk_order; ++order) {
      const auto setting = make_setting(box(shape, cells), order, 0, [](auto, auto values) { values[0] = 0; });
      EXPECT_EQ(points_of(*setting.mesh, order).size(), setting.space->num_dofs()) << shape << " order " << order;
    }
}

TEST(OutputPoints, CellsOfDifferentTagsHavePointsOfTheirOwnWhereAsked) {
  const auto mesh = two_materials("hexahedron", {4, 2, 1});
  const auto shared = points_of(mesh, 3).size(), separate = points_of(mesh, 3, true).size();
  EXPECT_EQ(separate - shared, 7 * 4); // the face between the materials has 2 x 1 cells of order 3
}

TEST(OutputPoints, GeometryThatJumpsKeepsItsPoints) {
  auto mesh = box("interval", {3});
  mesh::number_separate_nodes(mesh);
  mesh.points = {0, 1, 1, 2, 2, 3};
  mesh.groups[0].vertices = {0, 1, 1, 2, 2, 0}; // the last vertex is the first one, as in a periodic mesh
  mesh.num_vertices = 3;
  mesh.tagged_facets = {};
  const auto points = points_of(mesh, 2);
  EXPECT_EQ(points.size(), 7);
  EXPECT_NE(points.cells[0][0], points.cells[0][7]);
}

TEST(OutputPoints, AreNotSharedAcrossThePeriod) {
  const auto open = box("hexahedron", {2, 3, 2});
  const auto torus = open.periodic({{.from = {"xmin"}, .to = {"xmax"}}, {.from = {"ymin"}, .to = {"ymax"}}});
  for (const int order : {1, 3}) {
    const auto expected = points_of(open, order), found = points_of(torus, order);
    EXPECT_EQ(found.size(), expected.size()) << order;
    EXPECT_EQ(found.coordinates.size(), expected.coordinates.size());
  }
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(VtkHdf, EqualDataMakeEqualFiles) {
  const auto setting = make_setting(box("mixed", {4, 2, 2}), 2, 3, [](auto x, auto values) {
    for (std::size_t k = 0; k < 3; ++k) values[k] = std::sin(x[k]);
  });
  const std::string path =
      (std::filesystem::temp_directory_path() / ("rafter_equal_" + std::to_string(::getpid()) + ".vtkhdf")).string();
  const std::vector<io::OutputField> fields{{"u", setting.space, setting.values}};
  io::write_vtkhdf(path, *setting.mesh, fields);
  const auto first = bytes_of(path);
  io::write_vtkhdf(path, *setting.mesh, fields);
  EXPECT_GT(first.size(), 1000u);
  EXPECT_TRUE(first == bytes_of(path));
  std::filesystem::remove(path);
}

io::DerivedField derived(const form::Expr& e) {
  return {.name = "w", .expression = std::make_shared<const form::LoweredExpression>(form::lower(e))};
}

std::vector<double> point_values_of(const Setting& setting, const form::Expr& e, int order) {
  const std::vector<space::FieldValues> fields{{setting.space, setting.values}};
  return io::point_values(derived(e), fields, points_of(*setting.mesh, order, true), lattices_of(*setting.mesh, order),
                          order);
}

TEST(VtkHdf, CellDataSayWhichGroupsCellsBelongTo) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("rafter_groups_" + std::to_string(::getpid()) + ".vtkhdf")).string();
  auto mesh = two_materials("interval", {4});
  const auto write = [&] {
    const auto setting = make_setting(mesh, 1, 0, [](auto, auto values) { values[0] = 0; });
    io::write_vtkhdf(path, *setting.mesh, std::vector<io::OutputField>{{"u", setting.space, setting.values}});
    return io::Hdf5Reader(path).members("VTKHDF/CellData");
  };
  EXPECT_EQ(write(), std::vector<std::string>{"tag"}) << "no groups overlap";
  mesh.groups[0].tags.set(3, mesh.physical_groups.tag_of(1, std::vector<std::int32_t>{2, 7}));
  auto members = write();
  std::ranges::sort(members);
  EXPECT_EQ(members, (std::vector<std::string>{"tag", "tag(2)", "tag(7)"}));
  const io::Hdf5Reader file(path);
  EXPECT_EQ(file.read<std::int32_t>("VTKHDF/CellData/tag"), (std::vector<std::int32_t>{1, 1, 2, -1}));
  EXPECT_EQ(file.read<std::int32_t>("VTKHDF/CellData/tag(2)"), (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(file.read<std::int32_t>("VTKHDF/CellData/tag(7)"), (std::vector<std::int32_t>{0, 0, 0, 1}));
  std::filesystem::remove(path);
}

TEST(DerivedField, PolynomialsOfTheOrderAreExactAtEveryPoint) {
  for (const auto& [shape, cells] : std::vector<std::pair<std::string, std::vector<int>>>{
           {"interval", {3}}, {"mixed", {3, 2}}, {"mixed", {4, 1, 2}}}) {
    const auto setting =
        make_setting(box(shape, cells), 3, 0, [](auto x, auto values) { values[0] = x[0] * x[0] * x.back(); });
    const int gdim = setting.mesh->gdim;
    const auto u = form::field(setting.space, "u");
    const auto x = form::spatial_coordinate(gdim);
    const auto values = point_values_of(setting, form::grad(u)(0) + 2 * x(0) - u, 3);
    const auto points = points_of(*setting.mesh, 3, true).coordinates;
    ASSERT_EQ(values.size(), points.size() / 3);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double a = points[3 * i], b = points[3 * i + static_cast<std::size_t>(gdim) - 1];
      EXPECT_NEAR(values[i], (gdim == 1 ? 3 * a * a : 2 * a * b) + 2 * a - a * a * b, 1e-12);
    }
  }
}

TEST(DerivedField, JumpsBetweenTagsStayJumps) {
  const auto setting =
      make_setting(two_materials("triangle", {4, 2}), 2, 0, [](auto x, auto values) { values[0] = x[0] + x[1]; });
  const auto k = form::by_tag("k", {{"1", 1.0}, {"2", 50.0}});
  const auto values = point_values_of(setting, k * form::grad(form::field(setting.space, "u")), 2);
  const auto points = points_of(*setting.mesh, 2, true).coordinates;
  int num_low = 0, num_high = 0; // counts of values at the line between the materials
  for (std::size_t i = 0; i < points.size() / 3; ++i) {
    const bool is_low = std::abs(values[2 * i] - 1) < 1e-12, is_high = std::abs(values[2 * i] - 50) < 1e-10;
    EXPECT_TRUE(is_low || is_high) << values[2 * i];
    EXPECT_TRUE(points[3 * i] == 0.5 || is_low == (points[3 * i] < 0.5));
    num_low += is_low && points[3 * i] == 0.5;
    num_high += is_high && points[3 * i] == 0.5;
  }
  EXPECT_EQ(num_low, 5);
  EXPECT_EQ(num_high, 5);
}

TEST(DerivedField, MeansOfCellsAreIntegralsOverVolumes) {
  const auto setting =
      make_setting(box("prism", {2, 1, 1}), 2, 0, [](auto x, auto values) { values[0] = x[0] * x[2]; });
  const std::vector<space::FieldValues> fields{{setting.space, setting.values}};
  const auto u = form::field(setting.space, "u");
  const auto means = io::cell_means(derived(form::as_vector({u, 2.0 * u})), fields, 0, 2);
  const auto& group = setting.mesh->groups[0];
  ASSERT_EQ(means.size(), 2 * group.tags.size());
  for (std::size_t cell = 0; cell < group.tags.size(); ++cell) {
    double x = 0; // coordinate of the centre; z has the mean 1/2
    for (std::size_t i = 0; i < 6; ++i)
      x += setting.mesh->points[3 * static_cast<std::size_t>(group.nodes()[cell * 6 + i])] / 6;
    EXPECT_NEAR(means[2 * cell], x / 2, 1e-14);
    EXPECT_NEAR(means[2 * cell + 1], x, 1e-14);
  }
}

TEST(DerivedField, ValuesThatAreNotFiniteAreRefusedWithTheirPlace) {
  const auto setting = make_setting(box("interval", {4}), 1, 0, [](auto x, auto values) { values[0] = x[0]; });
  try {
    point_values_of(setting, form::sqrt(form::field(setting.space, "u") - 0.5), 1);
    FAIL();
  } catch (const base::InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("w: its value is nan at x = (0.")) << error.what();
  }
}

TEST(DerivedField, WhatHasNoValuesInCellsIsRefused) {
  const auto setting = make_setting(box("interval", {1}), 1, 0, [](auto, auto values) { values[0] = 0; });
  EXPECT_THROW(form::lower(form::test_function(setting.space)), base::InputError);
  EXPECT_THROW(form::lower(form::facet_normal(1)), base::InputError);
  EXPECT_THROW(form::lower(form::lt(form::spatial_coordinate(1)(0), 0.5)), base::InputError);
  const auto rank3 = form::as_tensor({form::identity(2), form::identity(2)});
  EXPECT_THROW(io::write_vtkhdf("x.vtkhdf", *setting.mesh,
                                std::vector<io::OutputField>{{"u", setting.space, setting.values}},
                                std::vector<io::DerivedField>{derived(rank3)}),
               base::InputError);
  EXPECT_FALSE(std::filesystem::exists("x.vtkhdf"));
}

} // namespace

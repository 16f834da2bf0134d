// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/mesh.hpp>

#include <tests/support/sample_meshes.hpp>

namespace {

using namespace rafter;

/// Each test has a folder of its own.
class WriteMesh : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("rafter-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
               std::to_string(std::random_device{}()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

/// Returns the number of cells by (shape, degree, tag), and of facets by (number of vertices, 0, tag).
std::map<std::array<int, 4>, int> census(const mesh::Mesh& mesh) {
  std::map<std::array<int, 4>, int> counts;
  for (const auto& group : mesh.groups)
    for (const auto tag : group.tags) ++counts[{0, static_cast<int>(group.shape), group.degree, tag}];
  for (const auto& facet : mesh.tagged_facets)
    ++counts[{1, static_cast<int>(std::ranges::count(facet.vertices, -1)), 0, facet.tag}];
  const auto& topology = mesh.topology();
  for (const auto tag : topology.exterior_tags) ++counts[{2, 0, 0, tag}];
  counts[{3, topology.num_edges, topology.num_faces, mesh.num_vertices}] = 1;
  return counts;
}

void expect_equal(const mesh::Mesh& a, const mesh::Mesh& b, bool has_names) {
  EXPECT_EQ(census(a), census(b));
  if (has_names) {
    EXPECT_EQ(a.physical_groups, b.physical_groups);
  }
  const auto report_a = mesh::check_validity(a), report_b = mesh::check_validity(b);
  EXPECT_NEAR(report_a.volume, report_b.volume, 1e-13 * report_a.volume);
  EXPECT_NEAR(report_a.worst_det_j, report_b.worst_det_j, 1e-10);
  EXPECT_EQ(a.points.size(), b.points.size());
}

/// Gmsh files exist in two versions, as text and binary.
const mesh::MeshFormat gmsh_formats[] = {
    {.name = "msh41"}, {.name = "msh22"}, {.name = "msh41", .is_binary = true}, {.name = "msh22", .is_binary = true}};

class WriteGmsh : public WriteMesh {
protected:
  /// Checks that the mesh is read back from every format, and is the same to the last bit for all.
  void expect_round_trips(const mesh::Mesh& mesh) {
    mesh::write_mesh(mesh, path("first"), gmsh_formats[0]);
    const auto first = mesh::read_mesh(path("first"));
    expect_equal(mesh, first, true);
    for (const auto& format : gmsh_formats) {
      SCOPED_TRACE(format.name + (format.is_binary ? " binary" : ""));
      mesh::write_mesh(mesh, path("copy"), format);
      const auto copy = mesh::read_mesh(path("copy"));
      EXPECT_EQ(copy.points, first.points);
      EXPECT_EQ(copy.physical_groups, mesh.physical_groups);
      EXPECT_EQ(census(copy), census(mesh));
      ASSERT_EQ(copy.groups.size(), first.groups.size());
      for (std::size_t g = 0; g < copy.groups.size(); ++g) {
        EXPECT_TRUE(std::ranges::equal(copy.groups[g].nodes(), first.groups[g].nodes()));
        EXPECT_EQ(copy.groups[g].tags, first.groups[g].tags);
      }
    }
  }
};

TEST_F(WriteGmsh, RoundTripKeepsSamples) {
  for (const auto* file :
       {"mixed-four-shapes.msh", "plate-with-hole-tet-order3.msh", "annulus-hex-order2.msh", "compass.msh",
        "toroid-hex.mesh", "shear-prism-order3.msh", "shear-pyramid-order4.msh", "shear-star-mixed-h1-order4.mesh"}) {
    SCOPED_TRACE(file);
    expect_round_trips(mesh::read_mesh(test::sample_path(file)));
  }
}

TEST_F(WriteGmsh, RoundTripKeepsCurvedBoxesOfEveryShape) {
  for (const std::string shape :
       {"interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism", "pyramid"})
    for (int degree = 1; degree <= 4; ++degree) {
      SCOPED_TRACE(shape + std::to_string(degree));
      const auto dim = static_cast<std::size_t>(element::dimension(element::shape_from_name(shape)));
      auto mesh = mesh::make_box(
          {.cells = std::vector<int>(dim, 2), .size = std::vector<double>(dim, 1), .shape = shape, .degree = degree});
      for (std::size_t i = 0; i < mesh.points.size(); i += dim)
        for (std::size_t d = 0; d < dim; ++d)
          mesh.points[i + d] += 0.05 * std::sin(2 * mesh.points[i + (d + 1) % dim] + static_cast<double>(d));
      expect_round_trips(mesh);
    }
}

TEST_F(WriteGmsh, CoordinatesOfVerticesAreKeptToTheLastBit) {
  auto mesh = mesh::make_box({.cells = {3, 3, 3}, .size = {1, 1, 1}, .shape = "tetrahedron"});
  std::mt19937 random(7);
  for (auto& x : mesh.points) x += std::ldexp(static_cast<double>(random()), -38);
  for (const auto& format : gmsh_formats) {
    SCOPED_TRACE(format.name + (format.is_binary ? " binary" : ""));
    mesh::write_mesh(mesh, path("copy"), format);
    const auto copy = mesh::read_mesh(path("copy"));
    ASSERT_EQ(copy.num_cells(), mesh.num_cells());
    for (std::int32_t c = 0; c < mesh.num_cells(); ++c)
      ASSERT_EQ(mesh::cell_vertex_coordinates(copy, 0, c), mesh::cell_vertex_coordinates(mesh, 0, c));
  }
}

TEST_F(WriteGmsh, HeaderStatesVersionAndEncoding) {
  const auto mesh = mesh::make_box({.cells = {1, 1}, .size = {1, 1}, .shape = "quadrilateral"});
  const std::pair<mesh::MeshFormat, std::string> expected[] = {{{}, "4.1 0 8"},
                                                               {{.name = "msh"}, "4.1 0 8"},
                                                               {{.name = "msh41"}, "4.1 0 8"},
                                                               {{.name = "msh22"}, "2.2 0 8"},
                                                               {{.is_binary = true}, "4.1 1 8"},
                                                               {{.name = "msh22", .is_binary = true}, "2.2 1 8"}};
  for (const auto& [format, header] : expected) {
    mesh::write_mesh(mesh, path("a.msh"), format);
    std::ifstream file(path("a.msh"));
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "$MeshFormat");
    std::getline(file, line);
    EXPECT_EQ(line, header);
  }
}

/// A line has one element: number, type, number of tags, physical group, entity, nodes. Without a tag, the group is 0.
TEST_F(WriteGmsh, Version2ListsTagsWithEachElement) {
  auto mesh = mesh::make_box({.cells = {1, 1}, .size = {2, 1}, .shape = "quadrilateral"});
  mesh.physical_groups.names = {{1, "left", 1}};
  std::erase_if(mesh.tagged_facets, [](const auto& facet) { return facet.tag != 1; });
  mesh.groups[0].tags.set(0, 0);
  mesh::write_mesh(mesh, path("a.msh"), {.name = "msh22"});
  std::ifstream file(path("a.msh"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("$PhysicalNames\n1\n1 1 \"left\"\n$EndPhysicalNames\n"), std::string::npos) << text;
  EXPECT_NE(text.find("$Elements\n2\n1 1 2 1 1 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n2 3 2 0 1 "), std::string::npos) << text;
  EXPECT_EQ(text.find("$Entities"), std::string::npos) << text;
}

TEST_F(WriteMesh, MfemRoundTripKeepsSamples) {
  for (const auto* file :
       {"mixed-four-shapes.msh", "beam-hex.mesh", "fichera-mixed.mesh", "star-mixed.mesh", "tinyzoo-3d.mesh"}) {
    SCOPED_TRACE(file);
    const auto mesh = mesh::read_mesh(test::sample_path(file));
    mesh::write_mesh(mesh, path("copy.mesh"));
    expect_equal(mesh, mesh::read_mesh(path("copy.mesh")), false);
  }
  const auto line = mesh::make_box({.cells = {3}, .size = {2}, .shape = "interval"});
  mesh::write_mesh(line, path("line.mesh"));
  expect_equal(line, mesh::read_mesh(path("line.mesh")), false);
}

TEST_F(WriteMesh, RefusesWhatTheFormatCannotHoldAndWritesNothing) {
  const auto curved = mesh::read_mesh(test::sample_path("toroid-hex.mesh"));
  EXPECT_THROW(mesh::write_mesh(curved, path("a.mesh")), base::InputError);
  EXPECT_THROW(mesh::write_mesh(curved, path("a.stl")), base::InputError);
  EXPECT_THROW(mesh::write_mesh(mesh::Mesh{}, path("a.msh")), base::InputError);
  EXPECT_THROW(mesh::write_mesh(curved, path("no/such/folder/a.msh")), base::EnvironmentError);
  const auto degree_5 = mesh::make_box({.cells = {1, 1}, .size = {1, 1}, .shape = "triangle", .degree = 5});
  EXPECT_THROW(mesh::write_mesh(degree_5, path("a.msh")), base::InputError);
  EXPECT_THROW(mesh::write_mesh(degree_5, path("a.msh"), {.name = "msh22"}), base::InputError);
  const auto straight = mesh::read_mesh(test::sample_path("star.mesh"));
  EXPECT_THROW(mesh::write_mesh(straight, path("a.mesh"), {.is_binary = true}), base::InputError);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(WriteMesh, ReplacesAFileAndLeavesNothingBeside) {
  std::ofstream(path("a.msh")) << "old";
  mesh::write_mesh(mesh::read_mesh(test::sample_path("star.mesh")), path("a.msh"));
  EXPECT_EQ(mesh::read_mesh(path("a.msh")).num_cells(), 20);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

} // namespace

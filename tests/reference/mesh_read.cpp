// SPDX-License-Identifier: BSD-3-Clause
// Sample files of other programs are compared with numbers that do not come from Rafter: counts printed by MFEM and
// Gmsh, and closed formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include <rafter/mesh/mesh.hpp>

#include <tests/support/source_directory.hpp>

namespace {

using namespace rafter;
using element::Shape;

std::string sample(const std::string& name) { return test::source_directory() + "/tests/data/meshes/" + name; }

struct Sample {
  const char* file;
  int tdim;
  std::map<Shape, int> cells;
  int num_vertices, num_edges, num_faces, num_exterior; ///< -1 if it is not checked
  double volume, tolerance;
};

std::ostream& operator<<(std::ostream& out, const Sample& s) { return out << s.file; }

constexpr double pi = std::numbers::pi;

const Sample samples[] = {
    // Counts and volumes are those of MFEM 4.
    {"beam-hex.mesh", 3, {{Shape::hexahedron, 8}}, 36, 68, 41, 34, 8, 1e-13},
    {"beam-quad.mesh", 2, {{Shape::quadrilateral, 8}}, 18, 25, 0, 18, 8, 1e-13},
    {"beam-tet.mesh", 3, {{Shape::tetrahedron, 48}}, 36, 117, 130, 68, 8, 1e-13},
    {"beam-tri.mesh", 2, {{Shape::triangle, 16}}, 18, 33, 0, 18, 8, 1e-13},
    {"beam-wedge.mesh", 3, {{Shape::prism, 8}}, 27, 51, 33, 26, 4, 1e-13},
    {"equilateral-pyramid.mesh", 3, {{Shape::pyramid, 1}}, 5, 8, 5, 5, 0.235702260395516, 1e-13},
    {"escher.mesh", 3, {{Shape::tetrahedron, 42}}, 26, 91, 108, 48, 6.43141635331102, 1e-13},
    {"fichera-mixed.mesh",
     3,
     {{Shape::tetrahedron, 5}, {Shape::hexahedron, 3}, {Shape::prism, 6}},
     26,
     60,
     49,
     30,
     7,
     1e-13},
    {"fichera.mesh", 3, {{Shape::hexahedron, 7}}, 26, 51, 33, 24, 7, 1e-13},
    {"l-shape.mesh", 2, {{Shape::quadrilateral, 3}}, 8, 10, 0, 8, 0.75, 1e-13},
    {"star-mixed.mesh", 2, {{Shape::quadrilateral, 10}, {Shape::triangle, 20}}, 31, 60, 0, 20, 4.755279810979, 1e-12},
    {"star.mesh", 2, {{Shape::quadrilateral, 20}}, 31, 50, 0, 20, 4.755279810979, 1e-12},
    {"tinyzoo-3d.mesh",
     3,
     {{Shape::hexahedron, 1}, {Shape::prism, 1}, {Shape::pyramid, 1}, {Shape::tetrahedron, 1}},
     12,
     24,
     17,
     14,
     2,
     1e-13},
    {"toroid-hex.mesh", 3, {{Shape::hexahedron, 6}}, 24, 48, 30, 24, 2.010365298190384, 1e-13},
    // Volumes are closed formulas; tolerances are the interpolation errors of the geometry.
    {"annulus-hex-order2.msh", 3, {{Shape::hexahedron, 36}}, -1, -1, -1, -1, 0.75 * pi, 3e-5},
    {"annulus-hex-order3.msh", 3, {{Shape::hexahedron, 36}}, -1, -1, -1, -1, 0.75 * pi, 5e-6},
    {"disc-quad-order2.msh", 2, {{Shape::quadrilateral, 71}}, -1, -1, -1, 26, pi, 3e-5},
    {"disc-tri-order3.msh", 2, {{Shape::triangle, 144}}, -1, -1, -1, 26, pi, 4e-6},
    {"compass.msh", 2, {{Shape::triangle, 8}, {Shape::quadrilateral, 4}}, 13, 24, 0, 8, 2 * std::numbers::sqrt2, 1e-13},
    {"nested_cubes.msh", 3, {{Shape::tetrahedron, 520}}, 138, -1, -1, -1, 1, 1e-12},
    {"mixed-four-shapes.msh",
     3,
     {{Shape::hexahedron, 6}, {Shape::pyramid, 26}, {Shape::tetrahedron, 20}, {Shape::prism, 12}},
     -1,
     -1,
     -1,
     -1,
     18,
     1e-12},
    // Volumes are integrated by Gmsh.
    {"pipe-bend-prism.msh", 3, {{Shape::prism, 378}}, -1, -1, -1, -1, 10.971550032331, 1e-11},
    {"plate-with-hole-tet.msh", 3, {{Shape::tetrahedron, 520}}, -1, -1, -1, -1, 3.7715877439287, 1e-11},
    {"plate-with-hole-tet-order2.msh", 3, {{Shape::tetrahedron, 462}}, -1, -1, -1, -1, 3.748841502926, 1e-11},
    {"plate-with-hole-tet-order3.msh", 3, {{Shape::tetrahedron, 462}}, -1, -1, -1, -1, 3.7485439198689, 1e-11},
};

class ReadSample : public testing::TestWithParam<Sample> {};

TEST_P(ReadSample, HasTheCountsAndTheVolume) {
  const auto& s = GetParam();
  const auto mesh = mesh::read_mesh(sample(s.file));
  EXPECT_EQ(mesh.tdim, s.tdim);
  EXPECT_EQ(mesh.gdim, s.tdim);
  std::map<Shape, int> cells;
  for (const auto& group : mesh.groups) cells[group.shape] += group.num_cells();
  EXPECT_EQ(cells, s.cells);
  const auto& topology = mesh.topology();
  if (s.num_vertices >= 0) {
    EXPECT_EQ(mesh.num_vertices, s.num_vertices);
  }
  if (s.num_edges >= 0) {
    EXPECT_EQ(topology.num_edges, s.num_edges);
  }
  if (s.num_faces >= 0) {
    EXPECT_EQ(topology.num_faces, s.num_faces);
  }
  if (s.num_exterior >= 0) {
    EXPECT_EQ(static_cast<int>(topology.exterior_facets.size()), s.num_exterior);
  }
  const auto report = mesh::check_validity(mesh);
  EXPECT_NEAR(report.volume, s.volume, s.tolerance * s.volume);
  EXPECT_TRUE(report.inverted_cells.empty());
  EXPECT_GT(report.worst_det_j, 0);
  EXPECT_LE(report.worst_det_j, 1 + 1e-12);
}

std::string test_name(const testing::TestParamInfo<Sample>& info) {
  std::string name = info.param.file;
  for (auto& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Files, ReadSample, testing::ValuesIn(samples), test_name);

TEST(ReadMesh, KeepsAttributesOfTheBeam) {
  const auto mesh = mesh::read_mesh(sample("beam-hex.mesh"));
  EXPECT_EQ(mesh.groups[0].tags, (std::vector<std::int32_t>{1, 1, 1, 1, 2, 2, 2, 2}));
  std::map<int, int> tags;
  for (const auto tag : mesh.topology().exterior_tags) ++tags[tag];
  EXPECT_EQ(tags, (std::map<int, int>{{1, 1}, {2, 1}, {3, 32}}));
}

TEST(ReadMesh, NamesThePlatesGroups) {
  for (const auto* file :
       {"plate-with-hole-tet.msh", "plate-with-hole-tet-order2.msh", "plate-with-hole-tet-order3.msh"}) {
    const auto mesh = mesh::read_mesh(sample(file));
    EXPECT_EQ(mesh.tags_of("clamped", 2), std::vector{1}) << file;
    EXPECT_EQ(mesh.tags_of("free", 2), std::vector{4}) << file;
    EXPECT_EQ(mesh.tags_of("steel", 3), std::vector{10}) << file;
    std::set<int> tags(mesh.topology().exterior_tags.begin(), mesh.topology().exterior_tags.end());
    EXPECT_EQ(tags, (std::set{1, 2, 3, 4})) << file;
    EXPECT_EQ(std::set(mesh.groups[0].tags.begin(), mesh.groups[0].tags.end()), std::set{10}) << file;
  }
}

TEST(ReadMesh, KeepsAllMembershipsOfGroupsThatOverlap) {
  // Two squares of 2 x 2 cells each, written by Gmsh. The group "below" holds its curves reversed.
  for (const auto* file : {"overlapping-groups-22.msh", "overlapping-groups-22-binary.msh", "overlapping-groups-41.msh",
                           "overlapping-groups-41-binary.msh"}) {
    SCOPED_TRACE(file);
    const auto mesh = mesh::read_mesh(sample(file));
    const auto count = [&](const std::string& group, int dim) {
      std::int64_t result = 0;
      for (const auto tag : mesh.tags_of(group, dim))
        result += dim == 2 ? std::count(mesh.groups[0].tags.begin(), mesh.groups[0].tags.end(), tag)
                           : std::ranges::count(mesh.tagged_facets, tag, &mesh::TaggedFacet::tag);
      return result;
    };
    EXPECT_EQ(mesh.num_cells(), 8);
    EXPECT_EQ(count("all", 2), 8);
    EXPECT_EQ(count("insert", 2), 4);
    EXPECT_EQ(mesh.tagged_facets.size(), 8U);
    EXPECT_EQ(count("left", 1), 2);
    EXPECT_EQ(count("insert", 1), 6);
    EXPECT_EQ(count("below", 1), 4);
    EXPECT_EQ(count("inner", 1), 2);
    EXPECT_EQ(mesh.physical_groups.classes(2), (mesh::PhysicalGroups::Classes{{-1, {2, 4}}}));
    EXPECT_EQ(mesh.physical_groups.classes(1), (mesh::PhysicalGroups::Classes{{-1, {1, 2}}, {-2, {1, 4}}}));
    EXPECT_NEAR(mesh::check_validity(mesh).volume, 2, 1e-14);
  }
}

TEST(ReadMesh, TagsTheSidesOfTheMixedBox) {
  const auto mesh = mesh::read_mesh(sample("mixed-four-shapes.msh"));
  const auto& topology = mesh.topology();
  std::set<int> tags(topology.exterior_tags.begin(), topology.exterior_tags.end());
  EXPECT_EQ(tags, (std::set{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(mesh.tags_of("zmax", 2), std::vector{6});
  EXPECT_EQ(mesh.tags_of("core", 3), std::vector{2});
}

TEST(ReadMesh, ConvergesToThePlateWithAHole) {
  // The files have the same CAD shape: the error of the volume falls with the order, and the curved meshes agree up to
  // their interpolation error.
  const auto volume = [](const char* file) { return mesh::check_validity(mesh::read_mesh(sample(file))).volume; };
  const double first = volume("plate-with-hole-tet.msh"), second = volume("plate-with-hole-tet-order2.msh"),
               third = volume("plate-with-hole-tet-order3.msh");
  EXPECT_LT(std::abs(third - second), 5e-4);
  EXPECT_GT(std::abs(first - third), 20 * std::abs(third - second));
}

// Every node of the shear files has a known place: x = X + 0.2 Y^3 - 0.1 Y Z^2 of a straight mesh. Any error in an
// order of nodes moves some node.
class ReadSheared : public testing::TestWithParam<const char*> {};

TEST_P(ReadSheared, PutsEveryNodeWhereItBelongs) {
  const auto mesh = mesh::read_mesh(sample(GetParam()));
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const auto straight = [&](std::int32_t node) {
    std::vector<double> x(mesh.points.begin() + node * mesh.gdim, mesh.points.begin() + (node + 1) * mesh.gdim);
    x[0] -= 0.2 * std::pow(x[1], 3) - (dim > 2 ? 0.1 * x[1] * x[2] * x[2] : 0.0);
    return x;
  };
  for (const auto& group : mesh.groups) {
    const auto e = mesh::geometry_element(group);
    const auto linear = element::make_element(element::Family::lagrange, group.shape, 1);
    const auto table = linear->tabulate(e->nodes());
    const auto n = static_cast<std::size_t>(e->num_dofs());
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      const auto* nodes = group.nodes().data() + static_cast<std::size_t>(c) * n;
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> expected(dim, 0.0);
        for (int v = 0; v < element::num_vertices(group.shape); ++v) {
          const auto corner = straight(nodes[e->entity_dofs(0, v)[0]]);
          const int dof = linear->entity_dofs(0, v)[0];
          for (std::size_t d = 0; d < dim; ++d) expected[d] += table(0, static_cast<int>(i), dof) * corner[d];
        }
        const auto found = straight(nodes[i]);
        for (std::size_t d = 0; d < dim; ++d)
          ASSERT_NEAR(found[d], expected[d], 2e-13) << "cell " << c << " node " << i;
      }
    }
  }
  EXPECT_GE(mesh.groups[0].degree, 3);
}

INSTANTIATE_TEST_SUITE_P(Files, ReadSheared,
                         testing::Values("shear-triangle-order3.msh", "shear-triangle-order4.msh",
                                         "shear-quadrilateral-order3.msh", "shear-quadrilateral-order4.msh",
                                         "shear-tetrahedron-order3.msh", "shear-tetrahedron-order4.msh",
                                         "shear-hexahedron-order3.msh", "shear-hexahedron-order4.msh",
                                         "shear-prism-order3.msh", "shear-pyramid-order3.msh",
                                         "shear-pyramid-order4.msh", "shear-beam-tet-h1-order4.mesh",
                                         "shear-star-mixed-h1-order4.mesh", "shear-fichera-mixed-h1-order3.mesh",
                                         "shear-star-mixed-l2-order3.mesh", "shear-beam-wedge-l2-order4.mesh",
                                         "shear-fichera-cubic-order3.mesh", "shear-beam-tri-cubic-order3.mesh"));

TEST(ReadMesh, SharesNodesOfCurvedNeighboursExactly) {
  // There are V + E (p-1) + F (p-1)^2 + C (p-1)^3 nodes, as neighbours share theirs.
  const auto mesh = mesh::read_mesh(sample("toroid-hex.mesh"));
  EXPECT_EQ(mesh.points.size(), 3U * (24 + 48 * 2 + 30 * 4 + 6 * 8));
  // The nodes of an L2 field belong to one cell each.
  const auto separate = mesh::read_mesh(sample("shear-beam-wedge-l2-order4.mesh"));
  EXPECT_EQ(separate.points.size(), 3U * 8 * 75);
}

} // namespace

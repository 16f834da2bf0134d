// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <rafter/mesh/lattice.hpp>
#include <rafter/mesh/point_placement.hpp>
#include <rafter/mesh/readers.hpp>

namespace {

using namespace rafter;

std::string file_2(const std::string& nodes, const std::string& elements, const std::string& more = "") {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + more + "$Nodes\n" + nodes + "$EndNodes\n$Elements\n" + elements +
         "$EndElements\n";
}

const std::string square = "4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n";

TEST(ReadGmsh, LatticesHaveAsManyPointsAsElementsHaveDofs) {
  for (const auto shape : element::all_cell_shapes)
    for (int degree = 1; degree <= 4; ++degree) {
      const auto lattice = mesh::gmsh_lattice(shape, degree);
      const auto e = element::make_element(element::Family::lagrange, shape, degree);
      EXPECT_EQ(static_cast<int>(lattice.size()), e->num_dofs()) << element::name(shape) << degree;
      const auto index = mesh::lattice_index(degree, lattice);
      EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(index, [](int i) { return i >= 0; })), lattice.size());
    }
}

TEST(ReadGmsh, ConversionReproducesPolynomials) {
  // A function x_0^degree that is known at the points of the lattice is x_0^degree at the nodes of the element.
  for (const auto shape : element::all_cell_shapes)
    for (int degree = 1; degree <= 4; ++degree)
      for (const auto spacing : {mesh::Spacing::equispaced, mesh::Spacing::gauss_lobatto}) {
        // MFEM has no such pyramids.
        if (shape == element::Shape::pyramid && spacing == mesh::Spacing::gauss_lobatto) continue;
        const auto lattice = [&](element::Shape own) {
          return mesh::lattice_positions(own, degree, mesh::gmsh_lattice(own, degree), spacing);
        };
        const auto e = element::make_element(element::Family::lagrange, shape, degree);
        const mesh::PointPlacement placement(shape, degree, lattice, mesh::lagrange_points(degree));
        const auto positions = lattice(shape);
        const auto n = static_cast<std::size_t>(e->num_dofs()), dim = positions.size() / n;
        std::vector<double> powers, values(n);
        for (std::size_t i = 0; i < n; ++i) powers.push_back(std::pow(positions[i * dim], degree));
        std::vector<std::int32_t> nodes(n);
        std::iota(nodes.begin(), nodes.end(), 0);
        const std::vector<std::uint8_t> as_listed(12, 0);
        placement.place({.coordinates = powers,
                         .gdim = 1,
                         .nodes = nodes,
                         .edge_orientations = as_listed,
                         .face_orientations = as_listed},
                        values);
        for (std::size_t i = 0; i < n; ++i)
          EXPECT_NEAR(values[i], std::pow(e->nodes()[i * dim], degree), 1e-12) << element::name(shape) << degree;
      }
}

TEST(ReadGmsh, DropsNodesThatNoCellUsesAndAcceptsGapsInNumbers) {
  const auto mesh = mesh::read_gmsh(
      "m", file_2("5\n900 0 0 0\n7 1 0 0\n30 0 1 0\n8 5 5 5\n2 1 1 0\n", "2\n1 2 2 4 1 900 7 30\n2 2 2 4 1 7 2 30\n"));
  EXPECT_EQ(mesh.num_vertices, 4);
  EXPECT_EQ(mesh.tdim, 2);
  EXPECT_EQ(mesh.points.size(), 8U);
  EXPECT_NEAR(mesh::check_validity(mesh).volume, 1, 1e-15);
}

TEST(ReadGmsh, MirrorsSurfacesWhoseCellsAreAllClockwise) {
  const auto mesh = mesh::read_gmsh("m", file_2(square, "1\n1 3 2 1 1 1 4 3 2\n"));
  EXPECT_TRUE(mesh::check_validity(mesh).inverted_cells.empty());
  // One of the two surfaces is clockwise.
  const auto two = mesh::read_gmsh("m", file_2(square, "2\n1 2 2 1 1 1 2 3\n2 2 2 1 2 1 4 3\n"));
  EXPECT_TRUE(mesh::check_validity(two).inverted_cells.empty());
  EXPECT_NEAR(mesh::check_validity(two).volume, 1, 1e-15);
}

TEST(ReadGmsh, MirrorsCurvedClockwiseCells) {
  // A 6-node triangle is clockwise and has one bulged side, so that its area is 1/2 + 2/3 * 0.1.
  const auto mesh = mesh::read_gmsh("m", file_2("6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0.5 -0.1 0\n5 0.5 0.5 0\n6 0 0.5 0\n",
                                                "1\n1 9 2 1 1 1 3 2 6 5 4\n"));
  const auto report = mesh::check_validity(mesh);
  EXPECT_TRUE(report.inverted_cells.empty());
  EXPECT_NEAR(report.volume, 0.5 + 0.2 / 3, 1e-15);
}

TEST(ReadGmsh, KeepsMixedOrientationAndReportsIt) {
  const auto mesh = mesh::read_gmsh("m", file_2(square, "2\n1 2 2 1 1 1 2 3\n2 2 2 1 1 1 4 3\n"));
  EXPECT_EQ(mesh::check_validity(mesh).inverted_cells.size(), 1U);
}

TEST(ReadGmsh, ReadsLinesAndPointsIn1D) {
  const auto mesh = mesh::read_gmsh("m", file_2("3\n1 0 0 0\n2 2 0 0\n3 1 0 0\n",
                                                "4\n1 15 2 8 1 1\n2 15 2 9 2 2\n3 1 2 1 1 1 3\n4 1 2 1 1 3 2\n",
                                                "$PhysicalNames\n1\n0 8 \"left end\"\n$EndPhysicalNames\n"));
  EXPECT_EQ(mesh.tdim, 1);
  EXPECT_NEAR(mesh::check_validity(mesh).volume, 2, 1e-15);
  EXPECT_EQ(mesh.topology().exterior_tags, (std::vector<std::int32_t>{8, 9}));
  EXPECT_EQ(mesh.tags_of("left end", 0), std::vector{8});
}

TEST(ReadGmsh, AllowsTagsOnInteriorFacets) {
  const auto mesh = mesh::read_gmsh("m", file_2(square, "3\n1 1 2 6 1 1 3\n2 2 2 1 1 1 2 3\n3 2 2 1 1 1 3 4\n"));
  EXPECT_EQ(mesh.tagged_facets.size(), 1U);
  for (const auto tag : mesh.topology().exterior_tags) EXPECT_EQ(tag, 0);
}

TEST(ReadGmsh, TakesThePhysicalGroupOfPartitionedEntities) {
  const std::string text =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 1 0\n1 0 0 0 1 1 0 1 4 0\n$EndEntities\n"
      "$PartitionedEntities\n2\n0\n0 0 1 0\n7 2 1 1 2 0 0 0 1 1 0 1 4 0\n$EndPartitionedEntities\n"
      "$Nodes\n1 4 1 4\n2 7 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"
      "$Elements\n1 1 1 1\n2 7 3 1\n1 1 2 3 4\n$EndElements\n$GhostElements\n0\n$EndGhostElements\n";
  EXPECT_EQ(mesh::read_gmsh("m", text).groups[0].tags, std::vector{4});
}

TEST(ReadGmsh, CountsAnElementOfSeveralGroupsOnce) {
  // Gmsh writes an element of version 2 once for each of its groups, three here: -1 stands for all of them.
  const auto mesh =
      mesh::read_gmsh("m", file_2(square, "5\n1 1 2 6 1 1 2\n2 1 2 7 1 1 2\n3 3 2 4 1 1 2 3 4\n4 3 2 5 1 1 2 3 4\n"
                                          "5 3 2 8 1 1 2 3 4\n"));
  EXPECT_EQ(mesh.num_cells(), 1);
  EXPECT_EQ(mesh.groups[0].tags, std::vector{-1});
  EXPECT_EQ(mesh.physical_groups.groups_of(2, -1), (std::vector{4, 5, 8}));
  EXPECT_EQ(std::ranges::count(mesh.topology().exterior_tags, -1), 1);
  EXPECT_EQ(std::ranges::count(mesh.topology().exterior_tags, 0), 3);
  EXPECT_EQ(mesh.physical_groups.groups_of(1, -1), (std::vector{6, 7}));
}

TEST(ReadGmsh, ReadsParametricNodesOfVersion2) {
  const auto mesh =
      mesh::read_gmsh("m", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$ParametricNodes\n4\n1 0 0 0 0 1\n2 1 0 0 1 1 0.5\n"
                           "3 1 1 0 2 1 0.5 0.5\n4 0 1 0 3 1\n$EndParametricNodes\n$Elements\n1\n1 3 2 1 1 1 2 3 4\n"
                           "$EndElements\n");
  EXPECT_NEAR(mesh::check_validity(mesh).volume, 1, 1e-15);
}

TEST(ReadGmsh, SkipsWhatItDoesNotKnow) {
  const auto mesh =
      mesh::read_gmsh("m", "$Comments\nby hand $Nodes\n$EndComments\n" +
                               file_2(square, "1\n1 3 2 1 1 1 2 3 4\n", "$Mystery\n1 2 3\n$EndMystery\n"));
  EXPECT_EQ(mesh.num_cells(), 1);
}

} // namespace

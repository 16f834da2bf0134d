// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <rafter/element/orientation.hpp>
#include <rafter/mesh/mesh.hpp>

#include <tests/support/sample_meshes.hpp>

namespace {

using namespace rafter;

const char* const samples[] = {"beam-hex.mesh", "fichera-mixed.mesh", "mixed-four-shapes.msh",
                               "escher.mesh",   "star-mixed.mesh",    "toroid-hex.mesh"};

std::vector<std::int32_t> global_vertices(const mesh::CellGroup& group, std::int32_t cell, int dim, int entity) {
  std::vector<std::int32_t> result;
  for (const int v : element::entity_vertices(group.shape, dim, entity))
    result.push_back(group.vertices[static_cast<std::size_t>(cell * element::num_vertices(group.shape) + v)]);
  return result;
}

/// Checks that entities have the same number exactly if their vertices are the same, and that no number is left out.
void expect_numbers_of_vertex_sets(const mesh::Mesh& mesh, int dim) {
  const auto& topology = mesh.topology();
  std::map<std::int32_t, std::set<std::int32_t>> vertices;
  std::set<std::set<std::int32_t>> sets;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto& numbers = dim == 1 ? topology.groups[g].edges : topology.groups[g].faces;
    const int per_cell = element::num_entities(group.shape, dim);
    ASSERT_EQ(numbers.size(), static_cast<std::size_t>(per_cell * group.num_cells()));
    for (std::int32_t c = 0; c < group.num_cells(); ++c)
      for (int e = 0; e < per_cell; ++e) {
        const auto list = global_vertices(group, c, dim, e);
        const std::set set(list.begin(), list.end());
        const auto [found, is_new] = vertices.emplace(numbers[static_cast<std::size_t>(c * per_cell + e)], set);
        EXPECT_EQ(found->second, set);
        sets.insert(set);
      }
  }
  EXPECT_EQ(vertices.size(), sets.size());
  EXPECT_EQ(vertices.begin()->first, 0);
  EXPECT_EQ(vertices.rbegin()->first, static_cast<int>(sets.size()) - 1);
  EXPECT_EQ(static_cast<int>(sets.size()), dim == 1 ? topology.num_edges : topology.num_faces);
}

TEST(Topology, EntityNumbersStandForVertexSets) {
  for (const auto* name : samples) {
    SCOPED_TRACE(name);
    const auto mesh = test::sample_mesh(name);
    for (int dim = 1; dim < mesh.tdim; ++dim) expect_numbers_of_vertex_sets(mesh, dim);
  }
}

/// Tetrahedra around an edge, whose ends are vertices 0 and 1, have more entities with one smallest vertex than usual.
TEST(Topology, ManyEntitiesMayMeetInAVertex) {
  constexpr std::int32_t num_cells = 400;
  mesh::Mesh mesh;
  mesh.num_vertices = num_cells + 2;
  auto& group = mesh.groups.emplace_back();
  group.shape = element::Shape::tetrahedron;
  for (std::int32_t c = 0; c < num_cells; ++c) {
    const std::int32_t next = (c + 1) % num_cells;
    for (const auto v : {0, 1, 2 + c, 2 + next}) group.vertices.push_back(v);
    group.tags.push_back(1);
  }
  mesh.tagged_facets.push_back({{0, 2, 2 + num_cells - 1, -1}, 5}); // the last facet, by its vertices in another order
  for (int dim = 1; dim < 3; ++dim) expect_numbers_of_vertex_sets(mesh, dim);
  const auto& topology = mesh.topology();
  EXPECT_EQ(topology.num_faces, 3 * num_cells);
  ASSERT_EQ(topology.exterior_facets.size(), 2u * num_cells);
  EXPECT_EQ(std::ranges::count(topology.exterior_tags, 5), 1);
  EXPECT_TRUE(std::ranges::is_sorted(topology.exterior_facets));
}

TEST(Topology, CellsAgreeOnTheCanonicalFrameOfWhatTheyShare) {
  for (const auto* name : samples) {
    SCOPED_TRACE(name);
    const auto mesh = test::sample_mesh(name);
    const auto& topology = mesh.topology();
    for (int dim = 1; dim < mesh.tdim; ++dim) {
      std::map<std::int32_t, std::vector<std::int32_t>> frames;
      for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
        const auto& group = mesh.groups[g];
        const auto& numbers = dim == 1 ? topology.groups[g].edges : topology.groups[g].faces;
        const auto& codes = dim == 1 ? topology.groups[g].edge_orientations : topology.groups[g].face_orientations;
        const int per_cell = element::num_entities(group.shape, dim);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const int e = static_cast<int>(i) % per_cell;
          const auto list = global_vertices(group, static_cast<std::int32_t>(i) / per_cell, dim, e);
          const auto permutation = element::vertex_permutation(element::entity_shape(group.shape, dim, e), codes[i]);
          std::vector<std::int32_t> frame(list.size());
          for (std::size_t k = 0; k < list.size(); ++k) frame[static_cast<std::size_t>(permutation[k])] = list[k];
          EXPECT_EQ(frames.emplace(numbers[i], frame).first->second, frame);
        }
      }
    }
  }
}

TEST(Topology, ExteriorFacetsCloseTheSurface) {
  // Every edge of the surface of a body belongs to an even number of its facets (two, except where parts touch).
  for (const auto* name :
       {"beam-hex.mesh", "fichera-mixed.mesh", "mixed-four-shapes.msh", "escher.mesh", "nested_cubes.msh"}) {
    const auto mesh = test::sample_mesh(name);
    std::map<std::set<std::int32_t>, int> edges;
    for (const auto& ref : mesh.topology().exterior_facets) {
      const auto& group = mesh.groups[static_cast<std::size_t>(ref.group)];
      const auto shape = element::facet_shape(group.shape, ref.facet);
      const auto vertices = global_vertices(group, ref.cell, 2, ref.facet);
      for (int e = 0; e < element::num_entities(shape, 1); ++e) {
        const auto local = element::entity_vertices(shape, 1, e);
        ++edges[{vertices[static_cast<std::size_t>(local[0])], vertices[static_cast<std::size_t>(local[1])]}];
      }
    }
    for (const auto& [edge, count] : edges) EXPECT_EQ(count % 2, 0) << name;
    EXPECT_TRUE(std::ranges::is_sorted(mesh.topology().exterior_facets));
  }
}

/// The exterior facets by their vertices, with their tags.
std::map<std::set<std::int32_t>, std::int32_t> tags_of_surface(const mesh::Mesh& mesh) {
  std::map<std::set<std::int32_t>, std::int32_t> result;
  const auto& surface = mesh.surface();
  for (std::size_t f = 0; f < surface.exterior_facets.size(); ++f) {
    const auto& ref = surface.exterior_facets[f];
    const auto vertices =
        global_vertices(mesh.groups[static_cast<std::size_t>(ref.group)], ref.cell, mesh.tdim - 1, ref.facet);
    result[{vertices.begin(), vertices.end()}] = surface.exterior_tags[f];
  }
  return result;
}

TEST(Surface, DoesNotDependOnTheAxesOfCells) {
  // Facets between cells with parallel axes are found in another way than those of cells that are turned.
  constexpr std::array turned{2, 0, 3, 1, 6, 4, 7, 5};
  for (const int every : {1, 2, 5}) {
    const auto box = mesh::make_box({.cells = {5, 4, 3}, .size = {1, 1, 1}, .shape = "hexahedron"});
    auto other = mesh::make_box({.cells = {5, 4, 3}, .size = {1, 1, 1}, .shape = "hexahedron"});
    auto& group = other.groups[0];
    for (std::int32_t cell = 0; cell < group.num_cells(); cell += every)
      for (std::size_t v = 0; v < turned.size(); ++v) {
        const auto first = static_cast<std::size_t>(cell) * turned.size();
        group.vertices[first + v] = box.groups[0].vertices[first + static_cast<std::size_t>(turned[v])];
      }
    EXPECT_EQ(box.surface().exterior_facets.size(), 2U * (5 * 4 + 4 * 3 + 3 * 5));
    EXPECT_EQ(tags_of_surface(other), tags_of_surface(box)) << "every cell of " << every;
  }
}

TEST(Topology, InOneDimensionFacetsAreVertices) {
  const auto mesh = mesh::make_box({.cells = {4}, .size = {1}, .shape = "interval"});
  const auto& topology = mesh.topology();
  EXPECT_EQ(topology.exterior_facets, (std::vector<mesh::FacetRef>{{0, 0, 0}, {0, 3, 1}}));
  EXPECT_EQ(topology.exterior_tags, (std::vector<std::int32_t>{1, 2}));
  EXPECT_TRUE(topology.groups[0].edges.empty());
}

TEST(Topology, CopiesShareIt) {
  const auto mesh = test::sample_mesh("beam-hex.mesh");
  const auto& topology = mesh.topology();
  const auto copy = mesh;
  EXPECT_EQ(&copy.topology(), &topology);
}

} // namespace

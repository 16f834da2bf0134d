// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include <rafter/base/error.hpp>

#include <tests/support/periodic_meshes.hpp>
#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

/// Two rows have three quadrilaterals each; the first process has the left columns.
mesh::Mesh strip() { return mesh::make_box({.cells = {3, 2}, .size = {3, 2}, .shape = "quadrilateral"}); }
mesh::CellRanks columns(const mesh::Mesh& mesh, int num_left) {
  mesh::CellRanks ranks(1);
  const auto& group = mesh.groups.front();
  for (std::size_t cell = 0; cell < group.tags.size(); ++cell)
    ranks[0].push_back(mesh.points[2 * static_cast<std::size_t>(group.nodes()[4 * cell])] < num_left - 0.5 ? 0 : 1);
  return ranks;
}

TEST(LocalPart, KnowsTheGroupsOfTheWholeMesh) {
  auto whole = strip();
  auto& physical = whole.physical_groups;
  physical.names.insert({2, "right", 8});
  for (const std::size_t cell : {2, 5})
    whole.groups[0].tags.set(cell, physical.tag_of(2, std::vector<std::int32_t>{1, 8}));
  for (auto& facet : whole.tagged_facets)
    if (facet.tag == 2) facet.tag = physical.tag_of(1, std::vector<std::int32_t>{2, 4});
  whole.tagged_facets.pop_back(); // leaves a facet of the boundary in no group
  (void)whole.topology();
  comm::run_in_process(2, [&](const Process& process) {
    const auto part = mesh::local_part(whole, columns(whole, 2), process);
    EXPECT_EQ(part.tags_of("right", 2), std::vector<std::int32_t>{-1}) << "of both processes";
    EXPECT_EQ(part.tags_of("1", 2), (std::vector<std::int32_t>{-1, 1}));
    EXPECT_EQ(part.tags_of("xmax", 1), std::vector<std::int32_t>{-1});
    EXPECT_EQ(part.tags_of("ymax", 1), (std::vector<std::int32_t>{-1, 4}));
    EXPECT_EQ(part.tags_of("0", 1), std::vector<std::int32_t>{0});
    const auto own = process->rank() == 1 ? -1 : 1;
    for (const auto tag : part.groups[0].tags) EXPECT_EQ(tag, own);
    EXPECT_EQ(std::ranges::count(part.surface().exterior_tags, -1), process->rank() == 1 ? 2 : 0);
  });
}

TEST(LocalPart, HasItsCellsWithWhatBelongsToThem) {
  const auto whole = strip();
  (void)whole.topology(); // the topology is made before several threads ask for it
  comm::run_in_process(2, [&](const Process& process) {
    const auto part = mesh::local_part(whole, columns(whole, 2), process);
    const int num_columns = process->rank() == 0 ? 2 : 1;
    EXPECT_EQ(part.num_cells(), 2 * num_columns);
    EXPECT_EQ(part.num_vertices, 3 * (num_columns + 1));
    EXPECT_EQ(part.points.size(), 2 * static_cast<std::size_t>(part.num_vertices));
    // The boundary has the tags left or right, below and above; the cut between the parts is no boundary.
    const auto& topology = part.topology();
    std::map<std::int32_t, int> tags;
    for (const auto tag : topology.exterior_tags) ++tags[tag];
    const std::map<std::int32_t, int> expected{{process->rank() == 0 ? 1 : 2, 2}, {3, num_columns}, {4, num_columns}};
    EXPECT_EQ(tags, expected);
    EXPECT_EQ(topology.boundary_tags(), (std::set<std::int32_t>{1, 2, 3, 4})) << "of both processes";
    EXPECT_EQ(part.tags_of("xmax", 1), std::vector<std::int32_t>{2});
    const auto& distribution = *part.distribution;
    EXPECT_EQ(distribution.interface_facets.size(), 2U);
    EXPECT_EQ(distribution.sharing[0].size(), 3U);
    EXPECT_EQ(distribution.sharing[1].size(), 2U);
    for (const auto& of_dim : distribution.sharing)
      for (const auto& [number, ranks] : of_dim) EXPECT_EQ(ranks, (std::vector<int>{0, 1}));
    // Vertices have the global numbers and the coordinates of the whole mesh.
    for (std::size_t cell = 0; cell < part.groups[0].tags.size(); ++cell) {
      const auto of_whole = static_cast<std::size_t>(distribution.global_cells[0][cell]);
      for (std::size_t v = 0; v < 4; ++v) {
        EXPECT_EQ(part.global_vertex(part.groups[0].vertices[4 * cell + v]),
                  whole.groups[0].vertices[4 * of_whole + v]);
        for (std::size_t axis = 0; axis < 2; ++axis)
          EXPECT_EQ(part.points[2 * static_cast<std::size_t>(part.groups[0].nodes()[4 * cell + v]) + axis],
                    whole.points[2 * static_cast<std::size_t>(whole.groups[0].nodes()[4 * of_whole + v]) + axis]);
      }
    }
    // Only the left process has a column that does not touch the cut.
    const auto batches = mesh::make_cell_batches(part, {.cells_per_batch = 2});
    EXPECT_EQ(batches.num_interior_stages > 0, process->rank() == 0);
    for (std::int32_t cell = 0; cell < part.num_cells(); ++cell) {
      const auto node = static_cast<std::size_t>(part.groups[0].nodes()[4 * static_cast<std::size_t>(cell)]);
      EXPECT_EQ(mesh::is_interface_cell(part, 0, cell), part.points[2 * node] > 0.5);
    }
  });
}

TEST(LocalPart, OfOneProcessIsTheMesh) {
  const auto whole = strip();
  comm::run_in_process(1, [&](const Process& process) {
    const auto part = mesh::local_part(whole, {std::vector<int>(6, 0)}, process);
    EXPECT_EQ(part.distribution, nullptr);
    EXPECT_EQ(part.groups[0].vertices, whole.groups[0].vertices);
    EXPECT_TRUE(part.global_vertices.empty());
  });
}

class LocalParts : public ::testing::TestWithParam<std::string> {};

TEST_P(LocalParts, BoundariesTogetherAreTheBoundaryOfTheMesh) {
  for (const auto& mesh : {rank_box(GetParam()), periodic_rank_box(GetParam()), periodic_rank_box(GetParam(), 3)})
    for (const auto parts : all_parts)
      for (const int num_ranks : {2, 5}) {
        const auto& expected = mesh.topology();
        const auto ranks = cell_ranks(mesh, num_ranks, parts);
        std::set<mesh::FacetRef> found;
        std::mutex mutex;
        comm::run_in_process(num_ranks, [&](const Process& process) {
          const auto part = mesh::local_part(mesh, ranks, process);
          const auto& topology = part.topology();
          EXPECT_EQ(topology.boundary_tags(), expected.boundary_tags());
          EXPECT_EQ(topology.periodic_tags(), expected.periodic_tags());
          const std::lock_guard lock(mutex);
          for (std::size_t i = 0; i < topology.exterior_facets.size(); ++i) {
            auto facet = topology.exterior_facets[i];
            facet.cell =
                part.distribution
                    ->global_cells[static_cast<std::size_t>(facet.group)][static_cast<std::size_t>(facet.cell)];
            EXPECT_TRUE(found.insert(facet).second) << "a facet of two processes";
            const auto place = std::ranges::lower_bound(expected.exterior_facets, facet);
            ASSERT_TRUE(place != expected.exterior_facets.end() && *place == facet) << "no facet of the boundary";
            EXPECT_EQ(topology.exterior_tags[i],
                      expected.exterior_tags[static_cast<std::size_t>(place - expected.exterior_facets.begin())]);
          }
        });
        EXPECT_EQ(found.size(), expected.exterior_facets.size());
      }
}

INSTANTIATE_TEST_SUITE_P(every_shape, LocalParts, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test

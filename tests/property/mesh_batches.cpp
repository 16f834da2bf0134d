// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include <rafter/mesh/cell_batches.hpp>
#include <tests/support/mesh_laws.hpp>

using namespace rafter;
using mesh_laws::BoxCase;

namespace {

/// Checks that every batch of every block is in exactly one chunk.
template <class Batches> void expect_chunks_cover_batches(const Batches& batches) {
  std::vector<std::vector<int>> visits;
  for (const auto& block : batches.blocks) visits.emplace_back(block.num_batches, 0);
  for (const auto& stage : batches.stages) {
    EXPECT_FALSE(stage.empty());
    for (const auto& chunk : stage) {
      EXPECT_LT(chunk.batch_begin, chunk.batch_end);
      for (auto b = chunk.batch_begin; b < chunk.batch_end; ++b) ++visits.at(chunk.block).at(b);
    }
  }
  for (const auto& block : visits)
    for (const int n : block) EXPECT_EQ(n, 1);
}

/// Checks that no two chunks of a stage share a vertex.
template <class Batches> void expect_stages_are_disjoint(const mesh::Mesh& mesh, const Batches& batches) {
  for (const auto& stage : batches.stages) {
    std::vector<std::int32_t> owner(mesh.num_vertices, -1);
    for (std::size_t i = 0; i < stage.size(); ++i) {
      const auto& block = batches.blocks[stage[i].block];
      const auto& group = mesh.groups[block.group];
      const int n = element::num_vertices(group.shape);
      for (auto k = stage[i].batch_begin * batches.cells_per_batch; k < stage[i].batch_end * batches.cells_per_batch;
           ++k)
        for (int v = 0; v < n; ++v) {
          auto& o = owner[group.vertices[block.cells[k] * n + v]];
          EXPECT_TRUE(o < 0 || o == static_cast<std::int32_t>(i));
          o = static_cast<std::int32_t>(i);
        }
    }
  }
}

template <class Batches> auto as_tuples(const Batches& batches) {
  std::vector<std::vector<std::tuple<int, int, int>>> stages;
  for (const auto& stage : batches.stages) {
    auto& list = stages.emplace_back();
    for (const auto& chunk : stage) list.emplace_back(chunk.block, chunk.batch_begin, chunk.batch_end);
  }
  return stages;
}

/// Returns a box with affine and other cells in every group.
mesh::Mesh half_bent(const BoxCase& box_case, int degree = 1) {
  auto box = mesh_laws::make_case(box_case, 5, degree);
  for (std::size_t i = 0; i < box.points.size(); i += box.gdim)
    if (box.gdim > 1 && box.points[i] > 1)
      box.points[i] += 0.1 * (box.points[i] - 1) * (box.points[i + 1] + box.points[i]);
  return box;
}

} // namespace

class EveryBatching : public ::testing::TestWithParam<BoxCase> {};

INSTANTIATE_TEST_SUITE_P(shapes, EveryBatching, ::testing::ValuesIn(mesh_laws::box_cases()),
                         [](const auto& box) { return box.param.shape + std::to_string(box.param.dim) + "d"; });

TEST_P(EveryBatching, visits_every_cell_once) {
  for (const int cells_per_batch : {1, 4, 8}) {
    const auto box = half_bent(GetParam());
    const auto batches = mesh::make_cell_batches(box, {.cells_per_batch = cells_per_batch});
    std::vector<std::vector<int>> visits;
    for (const auto& group : box.groups) visits.emplace_back(group.tags.size(), 0);
    for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
      const auto& block = batches.blocks[b];
      EXPECT_EQ(block.shape, box.groups[block.group].shape);
      EXPECT_EQ(block.cells.size(), static_cast<std::size_t>(block.num_batches) * cells_per_batch);
      for (std::int32_t batch = 0; batch < block.num_batches; ++batch) {
        const int active = batches.num_active(static_cast<int>(b), batch);
        EXPECT_GT(active, 0);
        for (int i = 0; i < cells_per_batch; ++i) {
          const auto cell = block.cells[batch * cells_per_batch + i];
          if (i < active) {
            ++visits[block.group].at(cell);
          } else {
            EXPECT_EQ(cell, block.cells[block.num_cells - 1]);
          }
        }
      }
    }
    for (const auto& group : visits)
      for (const int n : group) EXPECT_EQ(n, 1);
  }
}

TEST_P(EveryBatching, chunks_cover_batches_and_stages_share_no_vertex) {
  const auto box = half_bent(GetParam());
  for (const int batches_per_chunk : {0, 1, 3}) {
    const auto batches = mesh::make_cell_batches(box, {.cells_per_batch = 4, .batches_per_chunk = batches_per_chunk});
    expect_chunks_cover_batches(batches);
    expect_stages_are_disjoint(box, batches);
    const auto facets =
        mesh::make_facet_batches(box, {}, {.cells_per_batch = 4, .batches_per_chunk = batches_per_chunk});
    expect_chunks_cover_batches(facets);
    expect_stages_are_disjoint(box, facets);
  }
}

TEST_P(EveryBatching, needs_few_stages_of_about_equal_work) {
  const int n = GetParam().dim == 3 ? 12 : 60;
  const auto batches = mesh::make_cell_batches(mesh_laws::make_case(GetParam(), n));
  const std::size_t most = std::array<std::size_t, 3>{2, 7, 14}[GetParam().dim - 1];
  EXPECT_LE(batches.stages.size(), most);
  std::int64_t total = 0, largest = 0;
  for (const auto& stage : batches.stages) {
    std::int64_t load = 0;
    for (const auto& chunk : stage) load += chunk.batch_end - chunk.batch_begin;
    total += load;
    largest = std::max(largest, load);
  }
  EXPECT_LE(largest * static_cast<std::int64_t>(batches.stages.size()), total * 3 / 2);
}

TEST_P(EveryBatching, is_the_same_every_time) {
  const auto box = half_bent(GetParam());
  const auto a = mesh::make_cell_batches(box), b = mesh::make_cell_batches(box);
  EXPECT_EQ(as_tuples(a), as_tuples(b));
  for (std::size_t i = 0; i < a.blocks.size(); ++i) EXPECT_EQ(a.blocks[i].cells, b.blocks[i].cells);
}

TEST_P(EveryBatching, facets_are_all_exterior_facets_once_with_their_cells_kind) {
  const auto box = half_bent(GetParam());
  const auto cells = mesh::make_cell_batches(box);
  std::set<std::tuple<int, int, mesh::MapKind>> kind_of_cell;
  for (const auto& block : cells.blocks)
    for (const auto cell : block.cells) kind_of_cell.emplace(block.group, cell, block.map);
  std::vector<mesh::FacetRef> found;
  const auto batches = mesh::make_facet_batches(box, {});
  for (const auto& block : batches.blocks)
    for (std::int32_t batch = 0; batch < block.num_batches; ++batch)
      for (std::int32_t i = 0; i < block.num_active[batch]; ++i) {
        const auto cell = block.cells[batch * batches.cells_per_batch + i];
        found.push_back({block.group, cell, block.local_facets[block.facets[batch]]});
        EXPECT_TRUE(kind_of_cell.contains({block.group, cell, block.map}));
      }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, box.topology().exterior_facets);
}

TEST_P(EveryBatching, facets_of_all_tags_are_those_of_each) {
  const auto box = half_bent(GetParam());
  auto count = [&](std::span<const std::int32_t> tags) {
    std::int64_t n = 0;
    for (const auto& block : mesh::make_facet_batches(box, tags).blocks) n += block.num_facets;
    return n;
  };
  std::int64_t sum = 0;
  for (std::int32_t tag = 1; tag <= 2 * box.tdim; ++tag) sum += count(std::array{tag});
  EXPECT_EQ(sum, count({}));
  EXPECT_EQ(sum, static_cast<std::int64_t>(box.topology().exterior_facets.size()));
}

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>
#include <rafter/space/index_tables.hpp>
#include <rafter/space/run_permutations.hpp>
#include <tests/support/space_meshes.hpp>

/// The numbering obeys laws on every shape and degree, on plain meshes and on scrambled ones (vertices renumbered,
/// cells rotated).
namespace rafter {
namespace {

using test::for_each_cell;

/// The parameter is the shape of a box, on which all spaces are tested.
class Numbering : public testing::TestWithParam<std::string> {
protected:
  /// Degrees are 1 to 5 on a plain and a scrambled box, scalar and (to degree 3) vector; 6 and 8 on a scrambled one;
  /// and cells may be curved.
  template <class Law> void for_each_space(Law&& law) const {
    for (const bool is_scrambled : {false, true}) {
      const mesh::Mesh plain = test::box(GetParam());
      const mesh::Mesh mesh = is_scrambled ? test::scrambled(plain, 7) : plain;
      for (int degree = 1; degree <= 5; ++degree)
        for (const int components : {0, 3})
          if (components == 0 || degree <= 3) check(mesh, degree, components, law);
      if (is_scrambled)
        for (const int degree : {6, 8}) check(mesh, degree, 0, law);
    }
    check(test::scrambled(test::curved_box(GetParam(), 2), 9), 3, 2, law);
    check(test::curved_box(GetParam(), 3), 4, 0, law);
    for_each_space_with_patches(law);
  }
  /// Cells form patches here; some belong to none, and others are children of cells that are rotated relative to each
  /// other.
  template <class Law> void for_each_space_with_patches(Law&& law) const {
    if (GetParam() != "quadrilateral" && GetParam() != "hexahedron") return;
    const int cells_per_batch = 2 << test::box_dimension(GetParam());
    for (const auto& mesh : {test::box(GetParam(), 5), test::scrambled(test::box(GetParam()), 7).refined(1)})
      for (const int degree : {1, 2, 3})
        for (const int components : {0, 3})
          check(mesh, degree, components, law, {.cells_per_batch = cells_per_batch, .patch_width = 2});
  }

private:
  template <class Law>
  void check(const mesh::Mesh& mesh, int degree, int components, Law&& law,
             const mesh::BatchOptions& options = {}) const {
    SCOPED_TRACE(mesh.source + ", degree " + std::to_string(degree) + ", components " + std::to_string(components) +
                 ", patches of " + std::to_string(options.patch_width));
    law(*test::make_space(mesh, degree, components, options));
  }
};

TEST_P(Numbering, EveryEntryIsUsedAndSitsAtOnePointWithOneComponent) {
  for_each_space([](const space::FunctionSpace& space) {
    struct Place {
      std::size_t component;
      std::array<double, 3> x;
    };
    std::map<std::int32_t, Place> places;
    const auto dim = static_cast<std::size_t>(space.gdim);
    const auto num_components = static_cast<std::size_t>(space.num_components());
    for_each_cell(space, [&](auto, auto, const auto& entries, const auto& points) {
      const std::size_t num_dofs = entries.size() / num_components;
      for (std::size_t c = 0; c < num_components; ++c)
        for (std::size_t i = 0; i < num_dofs; ++i) {
          std::array<double, 3> x{};
          for (std::size_t d = 0; d < dim; ++d) x[d] = points[i * dim + d];
          const auto [place, is_new] = places.try_emplace(entries[c * num_dofs + i], Place{c, x});
          ASSERT_EQ(place->second.component, c);
          for (std::size_t d = 0; d < dim; ++d) ASSERT_NEAR(place->second.x[d], x[d], 1e-12);
        }
    });
    ASSERT_EQ(static_cast<std::int64_t>(places.size()), space.num_local());
    EXPECT_EQ(places.begin()->first, 0);
    EXPECT_EQ(places.rbegin()->first, space.num_local() - 1);
  });
}

TEST_P(Numbering, CoincidentNodesShareTheirEntry) {
  for_each_space([](const space::FunctionSpace& space) {
    std::map<std::array<std::int64_t, 3>, std::int32_t> entry_at;
    const auto dim = static_cast<std::size_t>(space.gdim);
    for_each_cell(space, [&](auto, auto, const auto& entries, const auto& points) {
      for (std::size_t i = 0; i * dim < points.size(); ++i) {
        std::array<std::int64_t, 3> key{};
        for (std::size_t d = 0; d < dim; ++d) key[d] = std::llround(points[i * dim + d] * 1e9 + 0.1234567);
        const auto [place, is_new] = entry_at.try_emplace(key, entries[i]);
        ASSERT_EQ(place->second, entries[i]);
      }
    });
  });
}

TEST_P(Numbering, FirstTouchRangesPartitionTheVectorInBatchOrder) {
  for_each_space([](const space::FunctionSpace& space) {
    std::int32_t next = 0;
    for (const auto& stage : space.batches().stages)
      for (const auto& chunk : stage)
        for (auto batch = static_cast<std::size_t>(chunk.batch_begin);
             batch < static_cast<std::size_t>(chunk.batch_end); ++batch) {
          const auto& dofs = space.block(chunk.block);
          ASSERT_EQ(dofs.first_touch[2 * batch], next);
          next = dofs.first_touch[2 * batch + 1];
          const int active = space.batches().num_active(chunk.block, static_cast<std::int32_t>(batch));
          ASSERT_EQ(dofs.interior_starts[batch],
                    next - static_cast<int>(dofs.layout.interior_dofs.size()) * space.num_components() * active);
        }
    EXPECT_EQ(next, space.num_local());
  });
}

TEST_P(Numbering, BatchesTouchOnlyWhatTheyOrEarlierBatchesTouchedFirst) {
  for_each_space([](const space::FunctionSpace& space) {
    std::vector<std::int32_t> entries;
    for (const auto& stage : space.batches().stages)
      for (const auto& chunk : stage)
        for (std::int32_t batch = chunk.batch_begin; batch < chunk.batch_end; ++batch) {
          const auto& dofs = space.block(chunk.block);
          const auto first = dofs.first_touch[2 * static_cast<std::size_t>(batch)];
          const auto last = dofs.first_touch[2 * static_cast<std::size_t>(batch) + 1];
          std::set<std::int32_t> own;
          entries.resize(static_cast<std::size_t>(dofs.layout.element->num_dofs() * space.num_components()));
          for (int cell = 0; cell < space.batches().num_active(chunk.block, batch); ++cell) {
            space.cell_dofs(chunk.block, batch, cell, entries);
            for (const auto entry : entries) {
              ASSERT_LT(entry, last);
              if (entry >= first) own.insert(entry);
            }
          }
          ASSERT_EQ(static_cast<std::int32_t>(own.size()), last - first);
        }
  });
}

TEST_P(Numbering, BatchesWithAPatternAreFullAndTheirLanesAlike) {
  for_each_space([](const space::FunctionSpace& space) {
    const auto& batches = space.batches();
    const auto cells_per_batch = static_cast<std::size_t>(batches.cells_per_batch);
    for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
      const auto& dofs = space.block(static_cast<int>(b));
      const auto& layout = dofs.layout;
      const std::size_t num_runs = layout.run_lengths.size();
      for (std::size_t batch = 0; batch < dofs.pattern_numbers.size(); ++batch) {
        bool is_uniform =
            batches.num_active(static_cast<int>(b), static_cast<std::int32_t>(batch)) == batches.cells_per_batch;
        const auto permutation = [&](std::size_t run, std::size_t cell) {
          return space::permutation_of(dofs, (batch * num_runs + run) * cells_per_batch + cell);
        };
        for (std::size_t run = 0; run < num_runs; ++run)
          for (std::size_t cell = 0; cell < cells_per_batch; ++cell)
            is_uniform = is_uniform && permutation(run, cell) == permutation(run, 0);
        const auto number = static_cast<std::size_t>(dofs.pattern_numbers[batch]);
        ASSERT_EQ(number > 0, is_uniform);
        if (number == 0) continue;
        ASSERT_LE(number * num_runs, dofs.patterns.size());
        const int* dof = layout.run_dofs.data(); // each dof is where its permutation puts it
        for (std::size_t run = 0; run < num_runs; ++run)
          for (int k = 0; k < layout.run_lengths[run]; ++k, ++dof) {
            const auto place = dofs.patterns[(number - 1) * num_runs + run] + permutation(run, 0)[k];
            ASSERT_EQ(layout.arrangements.at(static_cast<std::size_t>(place)), *dof);
          }
      }
    }
  });
}

TEST_P(Numbering, ListsHaveTheCellsEntriesOfAllBatchesAndOfThoseWithoutAPattern) {
  std::size_t num_listed = 0;
  for_each_space([&](const space::FunctionSpace& space) {
    const auto device = device::make_device("host", 1);
    for (std::size_t b = 0; b < space.batches().blocks.size(); ++b) {
      const int block = static_cast<int>(b);
      const auto& dofs = space.block(block);
      const auto tables = space.index_tables(block, device);
      const auto all = tables->dof_entries().host_read();
      if (!space::has_permutations(dofs.layout)) { // then kernels get the starts in the place of the entries
        ASSERT_TRUE(std::ranges::equal(all, dofs.run_starts));
      }
      const auto& [numbers, entries] = tables->unpatterned();
      const auto cells_per_batch = static_cast<std::size_t>(space.batches().cells_per_batch);
      const std::size_t of_batch = dofs.layout.run_dofs.size() * cells_per_batch;

      std::vector<std::int32_t> of_cell(
          static_cast<std::size_t>(dofs.layout.element->num_dofs() * space.num_components()));
      std::size_t next = 0;
      for (std::size_t batch = 0; batch < dofs.pattern_numbers.size(); ++batch) {
        const auto of_all = all.subspan(batch * of_batch, of_batch);
        const int active = space.batches().num_active(block, static_cast<std::int32_t>(batch));
        for (int cell = 0; cell < active; ++cell) {
          space.cell_dofs(block, static_cast<std::int32_t>(batch), cell, of_cell);
          for (std::size_t i = 0; i < dofs.layout.run_dofs.size(); ++i)
            ASSERT_EQ(of_all[i * cells_per_batch + static_cast<std::size_t>(cell)],
                      of_cell[static_cast<std::size_t>(dofs.layout.run_dofs[i])]);
        }
        if (dofs.pattern_numbers[batch] != 0) continue;
        ASSERT_EQ(static_cast<std::size_t>(numbers.host_read()[batch]), next);
        ASSERT_TRUE(std::ranges::equal(entries.host_read().subspan(next++ * of_batch, of_batch), of_all));
      }
      ASSERT_EQ(entries.size(), next * of_batch);
      num_listed += next;
    }
  });
  EXPECT_GT(num_listed, 0U);
}

TEST_P(Numbering, PatchesGiveTheCellsEntries) {
  std::size_t num_gathered = 0, num_alone = 0;
  for_each_space_with_patches([&](const space::FunctionSpace& space) {
    const int num_c = space.num_components();
    for (std::size_t b = 0; b < space.batches().blocks.size(); ++b) {
      const auto& dofs = space.block(static_cast<int>(b));
      if (dofs.layout.patch == nullptr) continue;
      const auto& patch = *dofs.layout.patch;
      const auto num_runs = patch.run_lengths.size(), num_children = patch.corners.size();
      const auto per_batch = static_cast<std::size_t>(space.batches().cells_per_batch) / num_children;
      std::vector<std::int32_t> entries(static_cast<std::size_t>(dofs.layout.element->num_dofs() * num_c));
      for (std::size_t batch = 0; batch < dofs.patch_numbers.size(); ++batch) {
        const auto number = static_cast<std::size_t>(dofs.patch_numbers[batch]);
        ++(number > 0 ? num_gathered : num_alone);
        for (std::size_t p = 0; p < per_batch && number > 0; ++p) {
          std::map<int, std::int32_t> entry_of_node;
          for (std::size_t run = 0; run < num_runs; ++run) {
            const auto place = static_cast<std::size_t>(dofs.patch_patterns.at((number - 1) * num_runs + run));
            for (int k = 0; k < patch.run_lengths[run]; ++k)
              entry_of_node[patch.arrangements.at(place + static_cast<std::size_t>(k))] =
                  dofs.patch_starts[(batch * num_runs + run) * per_batch + p] + k * num_c;
          }
          for (std::size_t child = 0; child < num_children; ++child) {
            space.cell_dofs(static_cast<int>(b), static_cast<std::int32_t>(batch),
                            static_cast<int>(child * per_batch + p), entries);
            for (std::size_t i = 0; i < patch.places.size(); ++i)
              for (int c = 0; c < num_c; ++c)
                ASSERT_EQ(
                    entry_of_node.at(patch.corners[child] + patch.places[i]) + c,
                    entries[static_cast<std::size_t>(c * dofs.layout.element->num_dofs() + dofs.layout.run_dofs[i])]);
          }
        }
      }
    }
  });
  const bool has_patches = GetParam() == "quadrilateral" || GetParam() == "hexahedron";
  EXPECT_EQ(num_gathered > num_alone / 4, has_patches);
  // Cells are rotated relative to each other, or cells without a patch number a part of the unknowns.
  EXPECT_EQ(num_alone > 0, has_patches);
}

TEST_P(Numbering, PaddingRepeatsTheLastActiveCell) {
  for_each_space([](const space::FunctionSpace& space) {
    const auto& batches = space.batches();
    const auto cells_per_batch = static_cast<std::size_t>(batches.cells_per_batch);
    for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
      const auto& dofs = space.block(static_cast<int>(b));
      const auto last = static_cast<std::size_t>(batches.blocks[b].num_batches - 1);
      const auto active =
          static_cast<std::size_t>(batches.num_active(static_cast<int>(b), static_cast<std::int32_t>(last)));
      const std::size_t num_runs = dofs.layout.run_lengths.size();
      for (std::size_t run = 0; run < num_runs; ++run)
        for (std::size_t cell = active; cell < cells_per_batch; ++cell) {
          const std::size_t row = (last * num_runs + run) * cells_per_batch;
          EXPECT_EQ(dofs.run_starts[row + cell], dofs.run_starts[row + active - 1]);
          EXPECT_EQ(space::permutation_of(dofs, row + cell), space::permutation_of(dofs, row + active - 1));
        }
    }
  });
}

TEST_P(Numbering, RunsAndInteriorCoverTheElementOnce) {
  for_each_space([](const space::FunctionSpace& space) {
    for (std::size_t b = 0; b < space.batches().blocks.size(); ++b) {
      const auto& layout = space.block(static_cast<int>(b)).layout;
      std::vector<int> dofs = layout.run_dofs;
      EXPECT_EQ(static_cast<int>(dofs.size()),
                std::accumulate(layout.run_lengths.begin(), layout.run_lengths.end(), 0));
      dofs.insert(dofs.end(), layout.interior_dofs.begin(), layout.interior_dofs.end());
      std::ranges::sort(dofs);
      std::vector<int> all(static_cast<std::size_t>(layout.element->num_dofs()));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(dofs, all);
      EXPECT_TRUE(std::ranges::is_sorted(layout.run_dims));
    }
  });
}

/// Checks that the tables of a list of cells have the entries of these cells.
void expect_entries_of_cells(const space::FunctionSpace& space, std::int32_t group, std::span<const std::int32_t> cells,
                             int cells_per_batch) {
  const auto list = space.list_dofs(group, cells, cells_per_batch);
  const auto& layout = list->layout;
  const int num_c = space.num_components();
  const auto num_dofs = static_cast<std::size_t>(layout.element->num_dofs()),
             width = static_cast<std::size_t>(cells_per_batch);
  std::vector<std::int32_t> expected(num_dofs * static_cast<std::size_t>(num_c)), found(expected.size());
  // Spaces whose runs have one dof each keep no permutations, and lists without interior dofs no places of these.
  EXPECT_EQ(list->run_permutations.empty(), std::ranges::all_of(layout.run_lengths, [](int n) { return n == 1; }));
  EXPECT_EQ(list->interior_starts.empty(), layout.interior_dofs.empty());
  const auto position = [&](std::size_t row, std::size_t k) {
    const auto offset = list->run_permutations.empty() ? 0 : list->run_permutations[row];
    return layout.permutations[static_cast<std::size_t>(offset) + k];
  };
  for (std::size_t slot = 0; slot < cells.size(); ++slot) {
    const auto place = space.position(group, cells[slot]);
    space.cell_dofs(place.block, place.batch, place.cell, expected);
    std::size_t at = 0;
    for (std::size_t run = 0; run < layout.run_lengths.size(); ++run) {
      const std::size_t row = (slot / width * layout.run_lengths.size() + run) * width + slot % width;
      for (std::size_t k = 0; k < static_cast<std::size_t>(layout.run_lengths[run]); ++k, ++at)
        for (int c = 0; c < num_c; ++c)
          found[static_cast<std::size_t>(c) * num_dofs + static_cast<std::size_t>(layout.run_dofs[at])] =
              list->run_starts[row] + position(row, k) * num_c + c;
    }
    for (std::size_t i = 0; i < layout.interior_dofs.size(); ++i)
      for (int c = 0; c < num_c; ++c)
        found[static_cast<std::size_t>(c) * num_dofs + static_cast<std::size_t>(layout.interior_dofs[i])] =
            list->interior_starts[slot] + (static_cast<int>(i) * num_c + c) * list->interior_strides[slot];
    ASSERT_EQ(found, expected);
  }
}

TEST_P(Numbering, FacetTablesGiveTheCellsEntries) {
  for_each_space([](const space::FunctionSpace& space) {
    constexpr int cells_per_batch = 4; // differs from the number of the cell batches
    const auto facets = mesh::make_facet_batches(space.mesh(), {}, {.cells_per_batch = cells_per_batch});
    EXPECT_FALSE(facets.blocks.empty());
    for (const auto& block : facets.blocks) expect_entries_of_cells(space, block.group, block.cells, cells_per_batch);
  });
}

TEST_P(Numbering, ListsOfCellsInAnyOrderGiveTheCellsEntries) {
  for_each_space([](const space::FunctionSpace& space) {
    std::mt19937 random(5);
    for (std::size_t g = 0; g < space.mesh().groups.size(); ++g)
      for (const int cells_per_batch : {1, 8}) {
        std::vector<std::int32_t> cells(static_cast<std::size_t>(space.mesh().groups[g].num_cells()));
        std::iota(cells.begin(), cells.end(), 0);
        std::ranges::shuffle(cells, random);
        cells.resize((cells.size() + 7) / 8 * 8, cells.front()); // some cells occur twice
        expect_entries_of_cells(space, static_cast<std::int32_t>(g), cells, cells_per_batch);
      }
  });
}

TEST_P(Numbering, DofsOfEqualListsAreMadeOnce) {
  for_each_space([](const space::FunctionSpace& space) {
    const std::vector<std::int32_t> one{0, 0}, same{0, 0};
    const auto list = space.list_dofs(0, one, 2);
    EXPECT_EQ(space.list_dofs(0, same, 2), list);
    EXPECT_NE(space.list_dofs(0, same, 1), list) << "batches of another size";
    EXPECT_THROW(space.list_dofs(0, one, 4), base::InternalError) << "no whole batch";
  });
}

/// Devices that share the host's memory read the tables of the space itself.
TEST_P(Numbering, TablesOfTheHostAreThoseOfTheSpace) {
  const auto device = device::make_device("host", 1);
  for_each_space([&](const space::FunctionSpace& space) {
    const auto& dofs = space.block(0);
    EXPECT_EQ(space.index_tables(0, device)->run_starts.device_read()->handle(), dofs.run_starts.data());
    const std::vector<std::int32_t> cells{0};
    const auto list = space.list_dofs(0, cells, 1);
    EXPECT_EQ(space.index_tables(list, device)->run_starts.device_read()->handle(), list->run_starts.data());
  });
}

/// Returns the number of interior dofs of the Lagrange element of degree p on a cell shape.
std::int64_t num_interior(element::Shape shape, std::int64_t p) {
  using element::Shape;
  switch (shape) {
  case Shape::point:
    return 1;
  case Shape::interval:
    return p - 1;
  case Shape::triangle:
    return (p - 1) * (p - 2) / 2;
  case Shape::quadrilateral:
    return (p - 1) * (p - 1);
  case Shape::tetrahedron:
    return (p - 1) * (p - 2) * (p - 3) / 6;
  case Shape::hexahedron:
    return (p - 1) * (p - 1) * (p - 1);
  case Shape::prism:
    return (p - 1) * (p - 1) * (p - 2) / 2;
  case Shape::pyramid:
    return (p - 1) * (p - 2) * (2 * p - 3) / 6;
  }
  return 0;
}

/// Returns the sum over all entities of their interior dofs; entities are distinguished by their sorted vertices.
std::int64_t expected_num_dofs(const mesh::Mesh& mesh, int degree) {
  std::set<std::vector<std::int32_t>> entities;
  std::int64_t sum = 0;
  for (const auto& group : mesh.groups) {
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell)
      for (int dim = 0; dim <= mesh.tdim; ++dim)
        for (int e = 0; e < element::num_entities(group.shape, dim); ++e) {
          std::vector<std::int32_t> vertices;
          for (const int v : element::entity_vertices(group.shape, dim, e))
            vertices.push_back(group.vertices[cell * num_vertices + static_cast<std::size_t>(v)]);
          std::ranges::sort(vertices);
          if (entities.insert(vertices).second) sum += num_interior(element::entity_shape(group.shape, dim, e), degree);
        }
  }
  return sum;
}

TEST_P(Numbering, NumDofsIsTheSumOverEntities) {
  for_each_space([](const space::FunctionSpace& space) {
    EXPECT_EQ(space.num_dofs(), expected_num_dofs(space.mesh(), space.degree) * space.num_components());
  });
}

INSTANTIATE_TEST_SUITE_P(AllShapes, Numbering, testing::ValuesIn(test::box_shapes()),
                         [](const auto& tested) { return tested.param; });

TEST(NumberingOfBoxes, NumDofsOfTensorAndSimplexBoxesIsTheLatticeCount) {
  for (const std::string shape : {"interval", "triangle", "quadrilateral", "hexahedron", "prism"})
    for (int p = 1; p <= 6; ++p) {
      std::int64_t count = 1;
      const std::array<int, 3> cells{3, 2, 2};
      for (int d = 0; d < test::box_dimension(shape); ++d) count *= cells[static_cast<std::size_t>(d)] * p + 1;
      EXPECT_EQ(test::make_space(test::box(shape), p)->num_dofs(), count) << shape << " degree " << p;
    }
}

TEST(NumberingOfBoxes, DoesNotDependOnTheWidthOfBatches) {
  for (const int cells_per_batch : {1, 2, 4, 16}) {
    const auto space = test::make_space(test::box("mixed"), 3, 2, cells_per_batch);
    EXPECT_EQ(space->num_dofs(), expected_num_dofs(space->mesh(), 3) * 2);
    std::set<std::int32_t> used;
    for_each_cell(*space,
                  [&](auto, auto, const auto& entries, const auto&) { used.insert(entries.begin(), entries.end()); });
    EXPECT_EQ(static_cast<std::int64_t>(used.size()), space->num_local());
  }
}

TEST(NumberingOfBoxes, SymmetriesOfTheShapesAreComplete) {
  const std::array<std::size_t, 7> expected{1, 3, 4, 12, 24, 6, 4};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(test::symmetries(element::all_cell_shapes[i]).size(), expected[i])
        << element::name(element::all_cell_shapes[i]);
}

} // namespace
} // namespace rafter

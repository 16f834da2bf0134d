// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>
#include <rafter/space/evaluate.hpp>
#include <rafter/space/interpolate.hpp>
#include <rafter/space/layout.hpp>

#include <tests/support/custom_elements.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter {
namespace {

TEST(FunctionSpace, GivesTheFormLanguageItsProperties) {
  const auto space = test::make_space(test::box("prism"), 4, 3);
  EXPECT_EQ(space->family, element::name(element::Family::lagrange));
  EXPECT_EQ(space->degree, 4);
  EXPECT_EQ(space->components, 3);
  EXPECT_EQ(space->num_components(), 3);
  EXPECT_EQ(space->gdim, 3);
  EXPECT_FALSE(space->is_simplex);
  EXPECT_TRUE(test::make_space(test::box("triangle"), 1)->is_simplex);
  EXPECT_TRUE(test::make_space(test::box("interval"), 1)->is_simplex);
  EXPECT_FALSE(test::make_space(test::box("mixed"), 1)->is_simplex);
  EXPECT_EQ(test::make_space(test::box("triangle"), 1)->gdim, 2);
}

TEST(FunctionSpace, OneProcessOwnsAllDofs) {
  const auto space = test::make_space(test::box("hexahedron"), 2);
  EXPECT_EQ(space->index_map().num_owned(), space->num_local());
  EXPECT_EQ(space->index_map().num_ghosts(), 0);
}

TEST(Discretisation, TheDeviceOfAllCoresIsTheSameForThoseWhoCountThem) {
  const auto space = test::make_space(test::box("quadrilateral"), 1);
  const auto& discretisation = *space->discretisation();
  const auto device = discretisation.device("host", 0);
  EXPECT_EQ(discretisation.device("host", device->num_threads()), device);
  EXPECT_NE(discretisation.device("host", device->num_threads() + 1), device);
}

TEST(FunctionSpace, PositionsInvertTheBatches) {
  const auto space = test::make_space(test::box("mixed"), 1, 0, 4);
  const auto& batches = space->batches();
  for (std::size_t b = 0; b < batches.blocks.size(); ++b)
    for (std::int32_t i = 0; i < batches.blocks[b].num_cells; ++i) {
      const auto position =
          space->position(batches.blocks[b].group, batches.blocks[b].cells[static_cast<std::size_t>(i)]);
      EXPECT_EQ(position.block, static_cast<std::int32_t>(b));
      EXPECT_EQ(position.batch, i / 4);
      EXPECT_EQ(position.cell, i % 4);
    }
}

TEST(FunctionSpace, InteriorsOfABatchInterleaveItsActiveCells) {
  // The 12 cells are batches of 8 and 4 active cells.
  const auto space = test::make_space(test::box("hexahedron"), 3, 2);
  const auto& dofs = space->block(0);
  const auto& layout = dofs.layout;
  std::vector<std::int32_t> entries(64 * 2);
  for (std::int32_t batch = 0; batch < 2; ++batch) {
    const int active = batch == 0 ? 8 : 4;
    ASSERT_EQ(space->batches().num_active(0, batch), active);
    for (int cell = 0; cell < 8; ++cell) {
      space->cell_dofs(0, batch, cell, entries);
      for (std::size_t i = 0; i < layout.interior_dofs.size(); ++i)
        for (std::size_t c = 0; c < 2; ++c)
          EXPECT_EQ(entries[c * 64 + static_cast<std::size_t>(layout.interior_dofs[i])],
                    dofs.interior_starts[static_cast<std::size_t>(batch)] + static_cast<int>(i * 2 + c) * active +
                        std::min(cell, active - 1));
    }
  }
}

TEST(FunctionSpace, RunsHoldTheDofsOfAnEntityComponentFastest) {
  const auto space = test::make_space(test::box("tetrahedron"), 4, 3);
  const auto& layout = space->block(0).layout;
  std::vector<std::int32_t> entries(static_cast<std::size_t>(layout.element->num_dofs()) * 3);
  space->cell_dofs(0, 0, 2, entries);
  std::size_t at = 0;
  for (std::size_t run = 0; run < layout.run_lengths.size(); ++run) {
    const std::int32_t start = space->block(0).run_starts[run * 8 + 2];
    std::vector<std::int32_t> expected(static_cast<std::size_t>(layout.run_lengths[run]) * 3), found;
    std::iota(expected.begin(), expected.end(), start);
    for (int k = 0; k < layout.run_lengths[run]; ++k, ++at)
      for (std::size_t c = 0; c < 3; ++c)
        found.push_back(entries[c * static_cast<std::size_t>(layout.element->num_dofs()) +
                                static_cast<std::size_t>(layout.run_dofs[at])]);
    for (std::size_t k = 0; k + 2 < found.size(); k += 3) EXPECT_EQ(found[k + 1] - found[k], 1);
    std::ranges::sort(found);
    EXPECT_EQ(found, expected);
  }
}

TEST(ElementLayout, TableOfPermutationsHoldsEachOnce) {
  using element::Shape;
  const auto layout_of = [](Shape shape, int degree) {
    return space::make_layout(element::make_element(element::Family::lagrange, shape, degree));
  };
  // Vertices have one permutation. On hexahedra, degree 2 has only single dofs, and degree 4 has 1 + 2*3 (edges) + 8*9
  // (faces). On tetrahedra, the 6 * 3 of the faces contain both orders of an edge.
  EXPECT_EQ(layout_of(Shape::hexahedron, 1).permutations.size(), 1U);
  EXPECT_EQ(layout_of(Shape::hexahedron, 2).permutations.size(), 1U);
  EXPECT_EQ(layout_of(Shape::hexahedron, 4).permutations.size(), 1U + 2 * 3 + 8 * 9);
  EXPECT_EQ(layout_of(Shape::tetrahedron, 4).permutations.size(), 1U + 6 * 3);
  EXPECT_EQ(layout_of(Shape::interval, 4).num_runs, 2);
  EXPECT_EQ(layout_of(Shape::hexahedron, 1).num_runs, 8);
  EXPECT_EQ(layout_of(Shape::hexahedron, 2).num_runs, 26);
  EXPECT_EQ(layout_of(Shape::tetrahedron, 2).num_runs, 10);
  EXPECT_EQ(layout_of(Shape::tetrahedron, 3).num_runs, 14);
}

TEST(ElementLayout, SharesDofsThatChangePlacesAlone) {
  const auto fluxes = element::make_element(test::raviart_thomas(element::Shape::triangle));
  EXPECT_THROW(space::make_layout(fluxes), base::InternalError);
  EXPECT_EQ(space::make_broken_layout(fluxes).interior_dofs, (std::vector{0, 1, 2}));
  const auto mini = space::make_layout(element::make_element(test::mini()));
  EXPECT_EQ(mini.run_dofs, (std::vector{0, 1, 2}));
  EXPECT_EQ(mini.interior_dofs, std::vector{3});
}

TEST(Interpolation, SetsEveryNodeToTheFunctionsValueAndCallsItOncePerNode) {
  for (const auto& shape : test::box_shapes()) {
    const auto space = test::make_space(test::box(shape), 3, 2);
    std::vector<double> vector(static_cast<std::size_t>(space->num_local()), std::nan(""));
    std::int64_t num_calls = 0;
    space::interpolate(
        *space,
        [&](std::span<const double> x, std::span<double> values) {
          ++num_calls;
          for (std::size_t c = 0; c < values.size(); ++c)
            values[c] = std::sin(x[0] + static_cast<double>(c)) + x.back();
        },
        vector);
    EXPECT_EQ(num_calls * 2, space->num_dofs());
    test::for_each_cell(*space, [&](auto, auto, const auto& entries, const auto& points) {
      const auto dim = static_cast<std::size_t>(space->gdim);
      const std::size_t num_dofs = points.size() / dim;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::size_t node = i % num_dofs, c = i / num_dofs;
        EXPECT_NEAR(vector[static_cast<std::size_t>(entries[i])],
                    std::sin(points[node * dim] + static_cast<double>(c)) + points[node * dim + dim - 1], 1e-12);
      }
    });
  }
}

TEST(NodePoints, OfSomeDofsAreThoseOfTheCell) {
  const auto space = test::make_space(test::box("pyramid"), 3);
  const auto all = space->cell_node_points(0, 5);
  const std::vector<int> dofs{4, 0, 17};
  std::vector<double> some(9);
  space->node_points(0, 5, dofs, some);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(some[i * 3 + d], all[static_cast<std::size_t>(dofs[i]) * 3 + d]);
}

} // namespace
} // namespace rafter

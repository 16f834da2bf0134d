// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tests/support/space_meshes.hpp>

namespace rafter {
namespace {

/// Returns the bytes of index data that do not depend on the number of cells.
std::size_t table_bytes(const space::FunctionSpace& space) {
  std::size_t bytes = 0;
  for (std::size_t b = 0; b < space.batches().blocks.size(); ++b)
    bytes += space.block(static_cast<int>(b)).layout.permutations.size() * sizeof(std::int32_t);
  return bytes;
}

/// Cells store where the runs of their entities start, not an index per dof. From degree 4 on, where every entity has
/// dofs, all degrees need the same bytes per cell, so that the bytes per dof fall like p^-d. Components cost nothing.
TEST(IndexData, BytesPerCellDoNotGrowWithTheDegree) {
  for (const auto& shape : test::box_shapes()) {
    const auto mesh = test::box(shape, shape == "mixed" ? 2 : 4);
    const auto reference = test::make_space(mesh, 4);
    const std::size_t bytes = reference->index_bytes() - table_bytes(*reference);
    double bytes_per_dof = static_cast<double>(bytes) / static_cast<double>(reference->num_dofs());
    for (const int degree : {5, 6, 8}) {
      const auto space = test::make_space(mesh, degree);
      EXPECT_EQ(space->index_bytes() - table_bytes(*space), bytes) << shape << " degree " << degree;
      const double now = static_cast<double>(bytes) / static_cast<double>(space->num_dofs());
      EXPECT_LT(now, bytes_per_dof);
      bytes_per_dof = now;
      RecordProperty(shape + "_p" + std::to_string(degree) + "_bytes_per_dof", std::to_string(now));
    }
    EXPECT_EQ(test::make_space(mesh, 4, 3)->index_bytes(), reference->index_bytes());
  }
}

/// The table of permutations belongs to the element and not to the mesh.
TEST(IndexData, PermutationTablesDoNotGrowWithTheMesh) {
  EXPECT_EQ(table_bytes(*test::make_space(test::box("prism", 1), 4)),
            table_bytes(*test::make_space(test::scrambled(test::box("prism", 3), 1), 4)));
}

} // namespace
} // namespace rafter

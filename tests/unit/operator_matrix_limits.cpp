// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/cell_unknowns.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/generate/matrix_limits.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/periodic_meshes.hpp>

namespace rafter::test {
namespace {

constexpr double two_to_31 = 2147483648.0;

TEST(LimitsOfMatrices, ArePlacesOf32BitsAndColumnsOf16) {
  EXPECT_EQ(op::lack_of_places({.cell_unknowns = two_to_31 - 1}), "");
  EXPECT_NE(op::lack_of_places({.cell_unknowns = two_to_31}), "");
  // vector-valued linear tetrahedra: 12 unknowns of each cell, though a sixth of a vertex belongs to it
  EXPECT_NE(op::lack_of_places({.cell_unknowns = 12 * 179e6}).find("accepted are 2147483647"), std::string::npos);
  EXPECT_EQ(op::lack_of_columns({.slice_columns = two_to_31 - 1, .row_columns = 65534}), "");
  EXPECT_NE(op::lack_of_columns({.slice_columns = two_to_31}), "");
  EXPECT_NE(op::lack_of_columns({.row_columns = 65535}), "");
}

TEST(LimitsOfMatrices, SizesBoundThoseOfTheMatrix) {
  for (const auto& mesh : {box("mixed"), periodic_box("triangle", 3, std::array{0, 1})}) {
    const Problem problem(mesh, 2, 2);
    const auto options = interpreted();
    const auto lowered = form::lower(problem.form("inner(grad(u), grad(v))*dx"));
    const auto built = op::build_matrix(lowered, problem.system(), op::kernel_options(options, options.shared_device));
    const auto sizes =
        op::matrix_sizes(problem.system(), built->coupling, op::count_entries(problem.system(), built->coupling), 8);
    double cell_unknowns = 0;
    const auto& space = *problem.space();
    for (const auto& group : mesh.groups)
      cell_unknowns += group.num_cells() * space.num_components() * space.element(group.shape)->num_dofs();
    EXPECT_EQ(sizes.cell_unknowns, cell_unknowns);
    const auto matrix = op::Operator(problem.form("inner(grad(u), grad(v))*dx"), options).sparse_matrix();
    std::int64_t longest = 0;
    for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row)
      longest = std::max(longest, matrix.row_offsets[row + 1] - matrix.row_offsets[row]);
    const double block = built->coupling.block_size();
    EXPECT_GE(block * sizes.row_columns, static_cast<double>(longest));
    EXPECT_GE(8 * block * block * sizes.slice_columns, static_cast<double>(matrix.num_entries()));
  }
}

} // namespace
} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
// Generated texts are kept in this folder, so that a change of the generator shows its effect on them.
#include <gtest/gtest.h>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/text_device.hpp>

namespace rafter::test {
namespace {

std::string with_head(const std::string& what, const std::string& comment, const std::string& text) {
  return comment + " SPDX-License-Identifier: BSD-3-Clause\n" + comment + " Generated: " + what + ".\n" + text +
         (text.ends_with('\n') ? "" : "\n");
}

op::KernelInfo mass_on_squares() {
  Problem problem(box("quadrilateral"), 1);
  op::OperatorOptions options = planned({.shared_device = std::make_shared<TextDevice>(),
                                         .plan = "contraction=collocated factors=store-merged mapping=simd_cells"});
  const op::Operator M(problem.form("u*v*dx"), options);
  return M.kernels().info().front();
}

op::KernelInfo laplace_with_points_in_lanes() {
  Problem problem(box("quadrilateral"), 2);
  op::OperatorOptions options =
      planned({.shared_device = std::make_shared<TextDevice>(),
               .plan = "contraction=collocated factors=recompute mapping=simd_points vector_width=4 prefetch=0"});
  const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), options);
  return A.kernels().info().front();
}

TEST(Golden, LaplacianWithPointsInLanes) {
  const auto info = laplace_with_points_in_lanes();
  const std::string what = "Laplacian of degree 2 on cartesian quadrilaterals, points in lanes, ";
  expect_golden("laplace_p2_quadrilateral_points.c", with_head(what + "C", "//", info.source));
  expect_golden("laplace_p2_quadrilateral_points.loops", with_head(what + "loop program", ";", info.loop_program));
}

TEST(Golden, LaplacianOfProductsAlongEachAxis) {
  Problem problem(box("quadrilateral"), 2);
  op::OperatorOptions options =
      planned({.shared_device = std::make_shared<TextDevice>(),
               .plan = "contraction=separable factors=store-merged mapping=simd_cells prefetch=0"});
  const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), options);
  const auto& info = A.kernels().info().front();
  const std::string what = "Laplacian of degree 2 on cartesian quadrilaterals, products along each axis, ";
  expect_golden("laplace_p2_quadrilateral_separable.tensors",
                with_head(what + "tensor program", ";", info.tensor_program));
  expect_golden("laplace_p2_quadrilateral_separable.loops", with_head(what + "loop program", ";", info.loop_program));
}

/// The texts show where data per cell of the next batch and data per point of later points are prefetched.
TEST(Golden, MassMatrixOnUnlikeCells) {
  for (const std::string factors : {"store", "recompute"}) {
    Problem problem(curved_box("quadrilateral", 1), 3);
    op::OperatorOptions options = planned({.shared_device = std::make_shared<TextDevice>(),
                                           .plan = "contraction=collocated mapping=simd_cells factors=" + factors});
    const op::Operator M(problem.form("u*v*dx"), options);
    expect_golden("mass_p3_quadrilateral_" + factors + ".loops",
                  with_head("mass matrix of degree 3 on multilinear quadrilaterals, " + factors + ", loop program", ";",
                            M.kernels().info().front().loop_program));
  }
}

TEST(Golden, MassMatrixOnPatches) {
  Problem problem(box("quadrilateral", 8), 1, 0, {.cells_per_batch = 16, .patch_width = 2});
  op::OperatorOptions options =
      planned({.shared_device = std::make_shared<TextDevice>(),
               .plan = "contraction=separable factors=store mapping=simd_cells vector_width=4 prefetch=0"});
  const op::Operator M(problem.form("u*v*dx"), options);
  expect_golden("mass_p1_quadrilateral_patches.loops",
                with_head("mass matrix of degree 1 on patches of 2 x 2 squares, loop program", ";",
                          M.kernels().info().front().loop_program));
}

/// The text shows a loop over components whose dofs stay in registers, and where lines of the next batch are asked for.
TEST(Golden, LaplacianFromCellVectorToCellVector) {
  Problem problem(box("triangle"), {{.degree = 2, .components = 2, .name = "e", .is_broken = true}});
  op::OperatorOptions options =
      planned({.shared_device = std::make_shared<TextDevice>(),
               .plan = "contraction=modal factors=store-merged mapping=simd_cells vector_width=8 stores=streaming"});
  const op::Operator A(problem.form("inner(grad(e), grad(v_e))*dx"), options);
  expect_golden("laplace_p2_triangle_cell_vectors.loops",
                with_head("Laplacian of degree 2 on the cell vectors of triangles, loop program", ";",
                          A.kernels().info().front().loop_program));
}

TEST(Golden, CTextOfTheMassMatrixOnSquares) {
  expect_golden("mass_p1_quadrilateral.c",
                with_head("mass matrix of degree 1 on cartesian quadrilaterals, C", "//", mass_on_squares().source));
}

TEST(Golden, LoopProgramOfTheMassMatrixOnSquares) {
  expect_golden("mass_p1_quadrilateral.loops",
                with_head("mass matrix of degree 1 on cartesian quadrilaterals, loop program", ";",
                          mass_on_squares().loop_program));
}

TEST(Golden, TensorProgramOfTheMassMatrixOnSquares) {
  expect_golden("mass_p1_quadrilateral.tensors",
                with_head("mass matrix of degree 1 on cartesian quadrilaterals, tensor program", ";",
                          mass_on_squares().tensor_program));
}

} // namespace
} // namespace rafter::test

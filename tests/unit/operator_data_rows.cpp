// SPDX-License-Identifier: BSD-3-Clause
// Batches of equal cells share a row of the data per cell, unless something else distinguishes the cells.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/data_rows.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/space/function_space.hpp>

namespace {

using namespace rafter;

struct Case {
  mesh::Mesh mesh;
  mesh::CellBatches batches;
  form::LoweredForm form; ///< a form without integrals has no coefficients
  explicit Case(mesh::Mesh m) : mesh(std::move(m)), batches(mesh::make_cell_batches(mesh)) {}
  op::BatchedCells cells() const { return op::batched(batches.blocks.front(), batches.cells_per_batch); }
  op::DataRows rows(bool reads_position = false) const {
    return op::make_data_rows(mesh, cells(), op::CellCoefficients(mesh, form), reads_position);
  }
};

mesh::Mesh box(int n, const std::string& shape = "hexahedron") {
  return mesh::make_box({.cells = {n, n, n}, .size = {1.0, 0.7, 1.3}, .shape = shape});
}

/// Checks that the row of every batch fits its cells after a translation.
void expect_rows_fit(const Case& c, const op::DataRows& rows, double bound) {
  const auto cells = c.cells();
  const auto& group = c.mesh.groups[static_cast<std::size_t>(cells.group)];
  const auto nodes = static_cast<std::size_t>(mesh::geometry_element(group)->num_dofs());
  const auto point = [&](std::int32_t cell, std::size_t node, int axis) {
    const auto number = static_cast<std::size_t>(group.nodes()[static_cast<std::size_t>(cell) * nodes + node]);
    return c.mesh.points[number * 3 + static_cast<std::size_t>(axis)];
  };
  ASSERT_EQ(rows.of_batch.size(), static_cast<std::size_t>(cells.num_batches));
  const auto of_rows = rows.representatives(cells).cells;
  for (std::size_t i = 0; i < cells.cells.size(); ++i) {
    const auto batch = i / static_cast<std::size_t>(cells.cells_per_batch),
               cell = i % static_cast<std::size_t>(cells.cells_per_batch);
    const auto row = static_cast<std::size_t>(rows.of_batch[batch]);
    const auto twin = of_rows[row * static_cast<std::size_t>(cells.cells_per_batch) + cell];
    for (std::size_t n = 1; n < nodes; ++n)
      for (int a = 0; a < 3; ++a)
        ASSERT_NEAR(point(cells.cells[i], n, a) - point(cells.cells[i], 0, a), point(twin, n, a) - point(twin, 0, a),
                    bound);
  }
}

TEST(DataRows, AUniformBoxHasOneRow) {
  const Case c(box(9));
  const auto rows = c.rows();
  EXPECT_EQ(rows.count(), 1);
  expect_rows_fit(c, rows, 1e-14);
}

TEST(DataRows, TetrahedraOfABoxHaveFewRows) {
  const Case c(box(20, "tetrahedron"));
  const auto rows = c.rows();
  EXPECT_LT(rows.count() * 4, c.cells().num_batches);
  expect_rows_fit(c, rows, 1e-14);
}

/// Long batches are few, and their rows are too many before it has been seen that they do not repeat.
TEST(DataRows, ManyDifferentCellsInLongBatchesShareNothing) {
  Case c(box(33));
  std::mt19937 random(3);
  std::uniform_real_distribution<double> small(-0.002, 0.002);
  for (double& x : c.mesh.points) x += small(random);
  c.batches = mesh::make_cell_batches(c.mesh, {.cells_per_batch = 512});
  EXPECT_GT(c.cells().num_batches * c.batches.cells_per_batch, 32768);
  const auto rows = c.rows();
  EXPECT_EQ(rows.count(), c.cells().num_batches);
  expect_rows_fit(c, rows, 1e-14);
}

TEST(DataRows, BoxesFarAwayShareTheirRowInSpiteOfRounding) {
  Case c(box(9));
  for (double& x : c.mesh.points) x += 1e5;
  const auto rows = c.rows();
  EXPECT_EQ(rows.count(), 1);
  expect_rows_fit(c, rows, 1e-10);
}

TEST(DataRows, FormsThatReadThePositionShareNothing) {
  const Case c(box(5));
  const auto rows = c.rows(true);
  EXPECT_EQ(rows.count(), c.cells().num_batches);
  EXPECT_TRUE(rows.cells.empty());
  const auto cells = c.cells();
  EXPECT_TRUE(std::ranges::equal(rows.representatives(cells).cells, cells.cells));
}

TEST(DataRows, FacetsOfEqualCellsShareTheRowOfTheirNumber) {
  const Case c(box(8));
  const auto batches = mesh::make_facet_batches(c.mesh, {});
  ASSERT_EQ(batches.blocks.size(), 1U);
  const auto facets = op::batched(batches.blocks.front(), batches.cells_per_batch);
  const auto rows = op::make_data_rows(c.mesh, facets, op::CellCoefficients(c.mesh, c.form), false);
  EXPECT_EQ(rows.count(), 6) << "one for each side of the box";
  const auto of_rows = rows.representatives(facets);
  for (std::size_t batch = 0; batch < rows.of_batch.size(); ++batch)
    EXPECT_EQ(of_rows.facets[static_cast<std::size_t>(rows.of_batch[batch])], facets.facets[batch]) << batch;
}

TEST(DataRows, AMovedVertexPartsItsCellsAlone) {
  Case c(box(8));
  c.mesh.points[3 * (4 + 9 * (4 + 9 * 4)) + 1] += 1e-9;
  // The moved cells are no longer affine, so that the other cells are the first block.
  c.batches = mesh::make_cell_batches(c.mesh);
  ASSERT_EQ(c.batches.blocks.size(), 2U);
  EXPECT_EQ(c.rows().count(), 1);
  const auto moved = op::batched(c.batches.blocks[1], c.batches.cells_per_batch);
  EXPECT_EQ(op::make_data_rows(c.mesh, moved, op::CellCoefficients(c.mesh, c.form), false).count(), moved.num_batches);
}

TEST(DataRows, CellsOfDifferentSizeKeepTheirRows) {
  Case c(box(8));
  for (std::size_t i = 0; i < c.mesh.points.size(); i += 3) c.mesh.points[i] *= c.mesh.points[i]; // grades the mesh
  c.batches = mesh::make_cell_batches(c.mesh);
  const auto rows = c.rows();
  EXPECT_GT(rows.count(), 1);
  expect_rows_fit(c, rows, 1e-12);
}

TEST(DataRows, CoefficientsKeepRowsApart) {
  Case c(box(8));
  for (std::size_t cell = 0; cell < c.mesh.groups[0].tags.size(); ++cell)
    c.mesh.groups[0].tags.set(cell, cell < c.mesh.groups[0].tags.size() / 2 ? 1 : 2);
  auto mesh = std::make_shared<const mesh::Mesh>(c.mesh);
  const auto space = space::FunctionSpace::make(std::make_shared<const space::Discretisation>(mesh), {.degree = 1});
  const std::shared_ptr<const form::FieldSpace> field = space;
  form::Scope scope(3);
  scope.add_arguments({&field, 1});
  scope.add("k", form::by_tag("k", {{"1", 2.0}, {"2", 5.0}}));
  c.form = form::lower(form::parse_form("k*u*v*dx", scope));
  const auto rows = c.rows();
  EXPECT_GE(rows.count(), 2);
  const op::CellCoefficients coefficients(c.mesh, c.form);
  const auto cells = c.cells();
  const auto all = coefficients.values(cells), of_rows = coefficients.values(rows.representatives(cells));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
    ASSERT_EQ(
        all[i],
        of_rows[static_cast<std::size_t>(rows.of_batch[i / cells_per_batch]) * cells_per_batch + i % cells_per_batch]);
  }
}

} // namespace

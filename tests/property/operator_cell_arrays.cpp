// SPDX-License-Identifier: BSD-3-Clause
// Matrices and vectors of cells in the order of the mesh: their sums are the matrix and the vector of the form, on
// every shape, of several fields, with facets, of rectangular forms, by kernels and by unit vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/form/language.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/mesh_laws.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// The matrices of all cells of a group.
struct OfGroup {
  std::size_t num_cells = 0, num_rows = 0, num_columns = 0;
  std::vector<std::int32_t> rows, columns; ///< entries of vectors, shape (cell, local unknown)
  std::vector<double> values;              ///< shape (cell, row, column)
};

/// `fill` computes what arrays are to hold.
template <class Fill> std::vector<OfGroup> matrices_of(const op::Systems& systems, const Fill& fill) {
  std::vector<OfGroup> result;
  const auto& groups = systems.test.mesh->groups;
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    auto& of = result.emplace_back();
    of.num_cells = static_cast<std::size_t>(groups[static_cast<std::size_t>(g)].num_cells());
    of.num_rows = static_cast<std::size_t>(op::num_local_unknowns(systems.test, g));
    of.num_columns = static_cast<std::size_t>(op::num_local_unknowns(systems.trial, g));
    of.rows = op::local_unknowns(systems.test, g);
    of.columns = op::local_unknowns(systems.trial, g);
    of.values.assign(of.num_cells * of.num_rows * of.num_columns, 7e77); // everything is to be overwritten
  }
  std::vector<op::CellArray<double>> arrays;
  for (int g = 0; g < static_cast<int>(groups.size()); ++g)
    arrays.push_back({.group = g, .values = result[static_cast<std::size_t>(g)].values});
  fill(arrays);
  return result;
}

std::vector<OfGroup> matrices_of(const op::Operator& A) {
  return matrices_of({A.system(), A.trial_system()}, [&](const auto& arrays) { A.cell_matrices(arrays); });
}

/// Multiplies cell by cell.
std::vector<double> times(const op::Operator& A, const std::vector<OfGroup>& matrices, std::span<const double> x) {
  std::vector<double> y(static_cast<std::size_t>(A.rows()), 0.0);
  for (const auto& of : matrices)
    for (std::size_t cell = 0; cell < of.num_cells; ++cell)
      for (std::size_t i = 0; i < of.num_rows; ++i)
        for (std::size_t j = 0; j < of.num_columns; ++j)
          y[static_cast<std::size_t>(of.rows[cell * of.num_rows + i])] +=
              of.values[(cell * of.num_rows + i) * of.num_columns + j] *
              x[static_cast<std::size_t>(of.columns[cell * of.num_columns + j])];
  return y;
}

/// Compares with the action of the form without conditions.
void expect_matrices(const op::Operator& A, const std::vector<OfGroup>& matrices, double bound) {
  Vector x = A.make_column_vector(), y = A.make_row_vector();
  fill_random(x, 3);
  A.apply_free(x, y);
  const auto expected = values_of(y);
  EXPECT_GT(largest(expected), 0);
  EXPECT_LE(distance(times(A, matrices, x.host_read()), expected), bound * largest(expected));
}

void expect_matrices_of(const op::Operator& A, double bound) { expect_matrices(A, matrices_of(A), bound); }

/// Does the same for matrices that are found column by column, whatever their size.
void expect_columns_of(const op::Operator& A, double bound) {
  const op::Systems systems(A.system(), A.trial_system());
  const auto kernels = op::compiled(op::build_cell_action(A.form(), systems, A.options()));
  const op::CellMatrixArrays arrays(systems, kernels, nullptr);
  expect_matrices(A, matrices_of(systems, [&](const auto& of) { arrays.run(of); }), bound);
}

class CellArrays : public ::testing::TestWithParam<std::string> {
protected:
  op::OperatorOptions options_ =
      planned({.shared_device = std::make_shared<InterpreterDevice>(), .quadrature = {.degree = 4}});
  static std::string divergence(int dim, const std::string& w) { return dim == 1 ? w + "[0].dx(0)" : "div(" + w + ")"; }
};

TEST_P(CellArrays, HoldTheFormWithItsFacetsAndWithoutItsConditions) {
  for (auto& mesh : {box(GetParam(), 2), scrambled(curved_box(GetParam(), 1), 5)}) {
    Problem problem(mesh, 2);
    SCOPED_TRACE(problem.mesh().source);
    auto options = options_;
    options.dirichlet = {dirichlet(problem.space(), [](auto, auto) { return 0.0; }, {1})};
    expect_matrices_of(
        op::Operator(problem.with("kappa", 0.7)
                         .form("((1 + x[0])*inner(grad(u), grad(v)) + u.dx(0)*v)*dx + kappa*u*v*ds((1, 2))"),
                     options),
        1e-12);
    expect_matrices_of(op::Operator(problem.form("u*v*ds(2)"), options_), 1e-12);
  }
}

TEST_P(CellArrays, HoldFieldsOfDifferentDegreesAndRectangularForms) {
  mesh::Mesh mesh = scrambled(curved_box(GetParam(), 1), 4);
  const int dim = mesh.gdim;
  const Problem problem(mesh, {{.degree = 2, .components = dim, .name = "w"}, {.degree = 1, .name = "p"}});
  const auto div_w = divergence(dim, "w"), div_v = divergence(dim, "v_w");
  for (const std::string& text : {"((2 + x[0])*inner(grad(w), grad(v_w)) - p*" + div_v + " - 2*v_p*" + div_w + ")*dx",
                                  "v_p*" + div_w + "*dx", "(p*" + div_v + " + p.dx(0)*v_w[0])*dx + p*v_w[0]*ds(1)"}) {
    SCOPED_TRACE(text);
    const op::Operator A(problem.form(text), options_);
    expect_matrices_of(A, 1e-12);
    expect_columns_of(A, 1e-12);
  }
}

TEST_P(CellArrays, FollowTheOrderOfTheMeshAndOfLists) {
  const Problem problem(scrambled(curved_box(GetParam(), 1, 3), 5), 1);
  const op::Operator A(problem.form("u*v*dx"), options_);
  const op::LinearForm L(problem.form("v*dx"), problem.system(), options_);
  const auto all = matrices_of(A);
  for (std::size_t g = 0; g < all.size(); ++g) {
    const auto& of = all[g];
    const auto size = of.num_rows * of.num_columns;
    // Basis functions sum to one, so that sums over a cell are its volume.
    const auto volumes = mesh_laws::volumes(problem.mesh(), problem.mesh().groups[g]).cells;
    std::vector<double> vectors(of.num_cells * of.num_rows);
    L.cell_vectors(std::vector<op::CellArray<double>>{{.group = static_cast<int>(g), .values = vectors}});
    for (std::size_t cell = 0; cell < of.num_cells; ++cell) {
      const auto* matrix = of.values.data() + cell * size;
      EXPECT_NEAR(std::accumulate(matrix, matrix + size, 0.0), volumes[cell], 1e-12 * volumes[cell]);
      for (std::size_t i = 0; i < of.num_rows; ++i) // the row sums of the mass matrix
        EXPECT_NEAR(std::accumulate(matrix + i * of.num_columns, matrix + (i + 1) * of.num_columns, 0.0),
                    vectors[cell * of.num_rows + i], 1e-12 * volumes[cell]);
    }
    std::vector<std::int32_t> cells;
    for (std::size_t cell = of.num_cells; cell-- > 0;)
      if (cell % 3 != 1) cells.push_back(static_cast<std::int32_t>(cell));
    std::vector<double> some(cells.size() * size, 7e77);
    std::vector<float> rounded(some.size());
    A.cell_matrices(std::vector<op::CellArray<double>>{{.group = static_cast<int>(g), .values = some, .cells = cells}});
    A.cell_matrices(
        std::vector<op::CellArray<float>>{{.group = static_cast<int>(g), .values = rounded, .cells = cells}});
    std::vector<float> rounded_vectors(cells.size() * of.num_rows);
    L.cell_vectors(
        std::vector<op::CellArray<float>>{{.group = static_cast<int>(g), .values = rounded_vectors, .cells = cells}});
    const auto rows = op::local_unknowns(A.system(), static_cast<int>(g), cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto cell = static_cast<std::size_t>(cells[i]);
      for (std::size_t k = 0; k < size; ++k) {
        EXPECT_EQ(some[i * size + k], of.values[cell * size + k]);
        EXPECT_EQ(rounded[i * size + k], static_cast<float>(of.values[cell * size + k]));
      }
      for (std::size_t k = 0; k < of.num_rows; ++k) {
        EXPECT_EQ(rows[i * of.num_rows + k], of.rows[cell * of.num_rows + k]);
        EXPECT_EQ(rounded_vectors[i * of.num_rows + k], static_cast<float>(vectors[cell * of.num_rows + k]));
      }
    }
  }
}

TEST_P(CellArrays, OfLinearFormsSumToTheirVectors) {
  mesh::Mesh mesh = scrambled(curved_box(GetParam(), 1), 5);
  const int dim = mesh.gdim;
  const Problem problem(mesh, {{.degree = 2, .components = dim, .name = "w"}, {.degree = 1, .name = "p"}});
  const op::LinearForm L(problem.form("(x[0]*v_w[0] + " + divergence(dim, "v_w") + " + 3*v_p)*dx + v_p*ds(2)"),
                         problem.system(), options_);
  const auto system = problem.system();
  Vector expected(options_.shared_device, static_cast<std::size_t>(system.size()));
  L.assemble(expected);
  std::vector<double> sum(static_cast<std::size_t>(system.size()), 0.0);
  for (int g = 0; g < static_cast<int>(system.mesh->groups.size()); ++g) {
    const auto unknowns = op::local_unknowns(system, g);
    std::vector<double> values(unknowns.size(), 7e77);
    L.cell_vectors(std::vector<op::CellArray<double>>{{.group = g, .values = values}});
    for (std::size_t i = 0; i < values.size(); ++i) sum[static_cast<std::size_t>(unknowns[i])] += values[i];
  }
  EXPECT_GT(largest(sum), 0);
  EXPECT_LE(distance(sum, values_of(expected)), 1e-12 * largest(sum));
}

INSTANTIATE_TEST_SUITE_P(every_shape, CellArrays, ::testing::Values("interval", "triangle", "quadrilateral", "mixed"),
                         [](const auto& shape) { return shape.param; });
INSTANTIATE_TEST_SUITE_P(every_solid_shape, CellArrays,
                         ::testing::Values("tetrahedron", "hexahedron", "prism", "pyramid"),
                         [](const auto& shape) { return shape.param; });

class CellArraysOf : public ::testing::Test {
protected:
  op::OperatorOptions options_ = planned({.shared_device = std::make_shared<InterpreterDevice>()});
};

TEST_F(CellArraysOf, HighDegreesAreFoundColumnByColumn) {
  const Problem problem(box("tetrahedron", 1), 7);
  const op::Operator A(problem.form("(1 + x[0])*inner(grad(u), grad(v))*dx"),
                       planned({.device = "host", .threads = 1}));
  EXPECT_EQ(op::cell_matrix_kernels(A.built())->purpose, op::Purpose::action);
  expect_matrices_of(A, 1e-11);
}

TEST_F(CellArraysOf, CellsWithoutIntegralsAreZero) {
  const Problem problem(two_material_box("hexahedron"), 1);
  const op::Operator A(problem.form("u*v*dx(2)"), options_);
  const auto all = matrices_of(A).front();
  const auto& tags = problem.mesh().groups.front().tags;
  for (std::size_t cell = 0; cell < all.num_cells; ++cell)
    EXPECT_EQ(all.values[cell * 64] != 0, tags[cell] == 2) << cell;
}

TEST_F(CellArraysOf, ValuesFollowParameters) {
  Problem problem(box("triangle", 2), 1);
  problem.with("k", form::parameter("k"));
  op::Operator A(problem.form("(k + x[0])*u*v*dx"), options_);
  EXPECT_THROW(matrices_of(A), base::InputError) << "a parameter without a value";
  A.set("k", 2.0);
  expect_matrices_of(A, 1e-12);
  A.set("k", -1.5);
  expect_matrices_of(A, 1e-12);
}

TEST_F(CellArraysOf, VectorsFollowParametersAsAssemblyDoes) {
  Problem problem(box("triangle", 2), 1);
  problem.with("k", form::parameter("k"));
  op::LinearForm L(problem.form("(k + x[0])*v*dx"), problem.system(), options_);
  const auto unknowns = op::local_unknowns(problem.system(), 0);
  std::vector<double> values(unknowns.size());
  Vector b(options_.shared_device, static_cast<std::size_t>(problem.system().size()));
  for (const double k : {2.0, -1.5}) {
    L.set("k", k);
    L.cell_vectors(std::vector<op::CellArray<double>>{{.group = 0, .values = values}});
    L.assemble(b);
    std::vector<double> sum(b.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) sum[static_cast<std::size_t>(unknowns[i])] += values[i];
    EXPECT_LE(distance(sum, values_of(b)), 1e-13 * largest(sum)) << k;
  }
}

TEST_F(CellArraysOf, ListsWithoutCellsFillNothing) {
  const Problem problem(box("triangle", 2), 1);
  const op::Operator A(problem.form("u*v*dx"), options_);
  const std::span<const std::int32_t> none;
  A.cell_matrices(std::vector<op::CellArray<double>>{{.group = 0, .values = {}, .cells = none}});
  EXPECT_TRUE(op::local_unknowns(A.system(), 0, none).empty());
}

TEST_F(CellArraysOf, WrongArraysAreRefused) {
  const Problem problem(box("triangle", 2), 1);
  const op::Operator A(problem.form("u*v*dx"), options_);
  const auto num_cells = static_cast<std::size_t>(problem.mesh().groups.front().num_cells());
  std::vector<double> values(num_cells * 9);
  using Arrays = std::vector<op::CellArray<double>>;
  const auto message = [&](const Arrays& arrays) {
    try {
      A.cell_matrices(arrays);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::vector<std::int32_t> twice{1, 2, 1}, outside{0, static_cast<std::int32_t>(num_cells)};
  EXPECT_EQ(message({{.group = 1, .values = values}}), "the mesh has no group 1 of cells; it has 1");
  EXPECT_EQ(message({{.group = 0, .values = std::span(values).first(9)}}),
            fmt::format("the array for group 0 of the mesh has 9 numbers instead of {} cells times 9", num_cells));
  EXPECT_EQ(message({{.group = 0, .values = std::span(values).first(27), .cells = twice}}), "cell 1 is named twice");
  EXPECT_NE(
      message({{.group = 0, .values = std::span(values).first(18), .cells = outside}}).find("the mesh has no cell"),
      std::string::npos);
  EXPECT_EQ(message({{.group = 0, .values = values}, {.group = 0, .values = values}}),
            "two arrays are for group 0 of the mesh");
}

} // namespace
} // namespace rafter::test

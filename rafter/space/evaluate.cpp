// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/evaluate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::space {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

/// Returns the inverse of the leading dim x dim part, by the adjugate; the rest of `a` must be that of the identity.
/// Throws InputError where the determinant is 0.
Matrix inverse(const Matrix& a, const mesh::CellGroup& group, std::int32_t cell) {
  Matrix adjugate;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      adjugate[j][i] = a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1];
    }
  const double det = a[0][0] * adjugate[0][0] + a[0][1] * adjugate[1][0] + a[0][2] * adjugate[2][0];
  if (!(std::abs(det) > 0))
    throw base::InputError(fmt::format("gradient in {} {}: the cell map is singular there (det J = {})",
                                       element::name(group.shape), cell, det));
  for (auto& row : adjugate)
    for (double& x : row) x /= det;
  return adjugate;
}

/// Computes at every point the sum over k of table(derivative, point, k) * coefficients[row * num_dofs + k]; shape
/// (point). `functions` is the table with points last, along which the sums are vectorised.
std::vector<double> contract(const element::Table& table, const std::vector<double>& functions, int derivative,
                             const std::vector<double>& coefficients, int row) {
  const auto num_points = static_cast<std::size_t>(table.num_points),
             num_dofs = static_cast<std::size_t>(table.num_dofs);
  const double* x = coefficients.data() + static_cast<std::size_t>(row) * num_dofs;
  const double* f = functions.data() + static_cast<std::size_t>(derivative) * num_points * num_dofs;
  std::vector<double> sums(num_points);
  for (std::size_t k = 0; k < num_dofs; ++k)
    for (std::size_t q = 0; q < num_points; ++q) sums[q] += f[k * num_points + q] * x[k];
  return sums;
}

/// Puts numbers of all points into column `column` of rows of length `width`.
void spread(const std::vector<double>& numbers, int column, int width, std::vector<double>& rows) {
  for (std::size_t q = 0; q < numbers.size(); ++q)
    rows[q * static_cast<std::size_t>(width) + static_cast<std::size_t>(column)] = numbers[q];
}

/// Returns the entries of a table in the order (derivative, dof, point).
std::vector<double> points_last(const element::Table& table) {
  std::vector<double> result;
  result.reserve(table.values.size());
  for (int derivative = 0; derivative <= table.dim; ++derivative)
    for (int dof = 0; dof < table.num_dofs; ++dof)
      for (int point = 0; point < table.num_points; ++point) result.push_back(table(derivative, point, dof));
  return result;
}

} // namespace

FieldEvaluator::FieldEvaluator(std::shared_ptr<const FunctionSpace> space, std::int32_t group,
                               std::span<const double> points)
    : space_(std::move(space)), group_(group) {
  const auto& cells = space_->mesh().groups.at(static_cast<std::size_t>(group));
  field_ = space_->element(cells.shape)->tabulate(points);
  geometry_ = mesh::geometry_element(cells)->tabulate(points);
  field_functions_ = points_last(field_);
  geometry_functions_ = points_last(geometry_);
}

std::vector<double> FieldEvaluator::cell_coefficients(std::span<const double> vector, std::int32_t cell) const {
  if (vector.size() != static_cast<std::size_t>(space_->num_local()))
    throw base::InputError(fmt::format("evaluation of field '{}': the vector has {} entries, the space {}",
                                       space_->name, vector.size(), space_->num_local()));
  const auto position = space_->position(group_, cell);
  std::vector<std::int32_t> entries(static_cast<std::size_t>(field_.num_dofs * space_->num_components()));
  space_->cell_dofs(position.block, position.batch, position.cell, entries);
  std::vector<double> coefficients;
  coefficients.reserve(entries.size());
  for (const std::int32_t entry : entries) coefficients.push_back(vector[static_cast<std::size_t>(entry)]);
  return coefficients;
}

std::vector<double> FieldEvaluator::cell_geometry(std::int32_t cell) const {
  const mesh::Mesh& mesh = space_->mesh();
  const auto num_nodes = static_cast<std::size_t>(geometry_.num_dofs), dim = static_cast<std::size_t>(mesh.gdim);
  const auto nodes = mesh.groups[static_cast<std::size_t>(group_)].nodes();
  std::vector<double> coordinates(dim * num_nodes);
  for (std::size_t n = 0; n < num_nodes; ++n)
    for (std::size_t d = 0; d < dim; ++d)
      coordinates[d * num_nodes + n] =
          mesh.points[static_cast<std::size_t>(nodes[static_cast<std::size_t>(cell) * num_nodes + n]) * dim + d];
  return coordinates;
}

std::vector<double> FieldEvaluator::points(std::int32_t cell) const {
  const auto coordinates = cell_geometry(cell);
  std::vector<double> result(static_cast<std::size_t>(num_points() * space_->gdim));
  for (int d = 0; d < space_->gdim; ++d)
    spread(contract(geometry_, geometry_functions_, 0, coordinates, d), d, space_->gdim, result);
  return result;
}

std::vector<double> FieldEvaluator::values(std::span<const double> vector, std::int32_t cell) const {
  const auto coefficients = cell_coefficients(vector, cell);
  const int num_components = space_->num_components();
  std::vector<double> result(static_cast<std::size_t>(num_points() * num_components));
  for (int c = 0; c < num_components; ++c)
    spread(contract(field_, field_functions_, 0, coefficients, c), c, num_components, result);
  return result;
}

std::vector<double> FieldEvaluator::jacobians(std::int32_t cell) const {
  const auto coordinates = cell_geometry(cell);
  const int gdim = space_->gdim, tdim = geometry_.dim;
  std::vector<double> result(static_cast<std::size_t>(num_points() * gdim * tdim));
  for (int a = 0; a < gdim; ++a)
    for (int b = 0; b < tdim; ++b)
      spread(contract(geometry_, geometry_functions_, 1 + b, coordinates, a), a * tdim + b, gdim * tdim, result);
  return result;
}

std::vector<double> FieldEvaluator::gradients(std::span<const double> vector, std::int32_t cell) const {
  const auto coefficients = cell_coefficients(vector, cell);
  const auto jacobian = jacobians(cell);
  const auto dim = static_cast<std::size_t>(geometry_.dim);
  const auto num_components = static_cast<std::size_t>(space_->num_components());
  std::vector<double> result(static_cast<std::size_t>(num_points()) * num_components * dim);
  for (std::size_t c = 0; c < num_components; ++c)
    for (std::size_t b = 0; b < dim; ++b)
      spread(contract(field_, field_functions_, 1 + static_cast<int>(b), coefficients, static_cast<int>(c)),
             static_cast<int>(c * dim + b), static_cast<int>(num_components * dim), result);
  for (std::size_t q = 0; q < static_cast<std::size_t>(num_points()); ++q) {
    Matrix J{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (std::size_t a = 0; a < dim; ++a)
      for (std::size_t b = 0; b < dim; ++b) J[a][b] = jacobian[(q * dim + a) * dim + b];
    const Matrix K = inverse(J, space_->mesh().groups[static_cast<std::size_t>(group_)], cell);
    for (std::size_t c = 0; c < num_components; ++c) {
      double* gradient = result.data() + (q * num_components + c) * dim;
      std::array<double, 3> reference{};
      std::copy_n(gradient, dim, reference.begin());
      for (std::size_t a = 0; a < dim; ++a) // du/dx_a = sum_b du/dX_b K_ba
        gradient[a] = reference[0] * K[0][a] + reference[1] * K[1][a] + reference[2] * K[2][a];
    }
  }
  return result;
}

std::vector<double> tabulate_field(const FunctionSpace& space, std::span<const double> vector, std::int32_t group,
                                   std::int32_t cell, std::span<const double> points) {
  return FieldEvaluator(space.shared_from_this(), group, points).values(vector, cell);
}

} // namespace rafter::space

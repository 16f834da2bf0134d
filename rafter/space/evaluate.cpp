// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/evaluate.hpp>

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::space {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

/// Inverse of the leading dim x dim part by the adjugate; the rest of `a` must be that of the identity.
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

/// sum over k of table(derivative, point, k) * coefficients[row * num_dofs + k].
double contract(const element::Table& table, int derivative, int point, const std::vector<double>& coefficients,
                std::size_t row) {
  const double* x = coefficients.data() + row * static_cast<std::size_t>(table.num_dofs);
  double sum = 0;
  for (int k = 0; k < table.num_dofs; ++k) sum += table(derivative, point, k) * x[k];
  return sum;
}

} // namespace

FieldEvaluator::FieldEvaluator(std::shared_ptr<const FunctionSpace> space, std::int32_t group,
                               std::span<const double> points)
    : space_(std::move(space)), group_(group) {
  const auto& cells = space_->mesh().groups.at(static_cast<std::size_t>(group));
  field_ = space_->element(cells.shape)->tabulate(points);
  geometry_ = mesh::geometry_element(cells)->tabulate(points);
}

std::vector<double> FieldEvaluator::cell_coefficients(std::span<const double> vector, std::int32_t cell) const {
  if (vector.size() != static_cast<std::size_t>(space_->num_local()))
    throw base::InputError(fmt::format("evaluation of field '{}': the vector has {} entries, the space {}",
                                       space_->name, vector.size(), space_->num_local()));
  const auto position = space_->position(group_, cell);
  std::vector<std::int32_t> entries(static_cast<std::size_t>(field_.num_dofs * space_->num_components()));
  space_->cell_dofs(position.block, position.batch, position.lane, entries);
  std::vector<double> coefficients;
  coefficients.reserve(entries.size());
  for (const std::int32_t entry : entries) coefficients.push_back(vector[static_cast<std::size_t>(entry)]);
  return coefficients;
}

std::vector<double> FieldEvaluator::cell_geometry(std::int32_t cell) const {
  const mesh::Mesh& mesh = space_->mesh();
  const auto num_nodes = static_cast<std::size_t>(geometry_.num_dofs), dim = static_cast<std::size_t>(mesh.gdim);
  const auto& nodes = mesh.groups[static_cast<std::size_t>(group_)].nodes;
  std::vector<double> coordinates(dim * num_nodes);
  for (std::size_t n = 0; n < num_nodes; ++n)
    for (std::size_t d = 0; d < dim; ++d)
      coordinates[d * num_nodes + n] =
          mesh.points[static_cast<std::size_t>(nodes[static_cast<std::size_t>(cell) * num_nodes + n]) * dim + d];
  return coordinates;
}

std::vector<double> FieldEvaluator::points(std::int32_t cell) const {
  const auto coordinates = cell_geometry(cell);
  std::vector<double> result;
  for (int q = 0; q < num_points(); ++q)
    for (int d = 0; d < space_->gdim; ++d)
      result.push_back(contract(geometry_, 0, q, coordinates, static_cast<std::size_t>(d)));
  return result;
}

std::vector<double> FieldEvaluator::values(std::span<const double> vector, std::int32_t cell) const {
  const auto coefficients = cell_coefficients(vector, cell);
  std::vector<double> result;
  for (int q = 0; q < num_points(); ++q)
    for (int c = 0; c < space_->num_components(); ++c)
      result.push_back(contract(field_, 0, q, coefficients, static_cast<std::size_t>(c)));
  return result;
}

std::vector<double> FieldEvaluator::jacobians(std::int32_t cell) const {
  const auto coordinates = cell_geometry(cell);
  std::vector<double> result;
  for (int q = 0; q < num_points(); ++q)
    for (int a = 0; a < space_->gdim; ++a)
      for (int b = 0; b < geometry_.dim; ++b)
        result.push_back(contract(geometry_, 1 + b, q, coordinates, static_cast<std::size_t>(a)));
  return result;
}

std::vector<double> FieldEvaluator::gradients(std::span<const double> vector, std::int32_t cell) const {
  const auto coefficients = cell_coefficients(vector, cell);
  const auto jacobian = jacobians(cell);
  const auto dim = static_cast<std::size_t>(geometry_.dim);
  std::vector<double> result;
  for (int q = 0; q < num_points(); ++q) {
    Matrix J{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (std::size_t a = 0; a < dim; ++a)
      for (std::size_t b = 0; b < dim; ++b) J[a][b] = jacobian[(static_cast<std::size_t>(q) * dim + a) * dim + b];
    const Matrix K = inverse(J, space_->mesh().groups[static_cast<std::size_t>(group_)], cell);
    for (int c = 0; c < space_->num_components(); ++c) {
      std::array<double, 3> reference{};
      for (std::size_t b = 0; b < dim; ++b)
        reference[b] = contract(field_, 1 + static_cast<int>(b), q, coefficients, static_cast<std::size_t>(c));
      for (std::size_t a = 0; a < dim; ++a) // du/dx_a = sum_b du/dX_b K_ba
        result.push_back(reference[0] * K[0][a] + reference[1] * K[1][a] + reference[2] * K[2][a]);
    }
  }
  return result;
}

std::vector<double> tabulate_field(const FunctionSpace& space, std::span<const double> vector, std::int32_t group,
                                   std::int32_t cell, std::span<const double> points) {
  return FieldEvaluator(space.shared_from_this(), group, points).values(vector, cell);
}

} // namespace rafter::space

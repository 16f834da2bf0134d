// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/derived_field.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/projection.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/lattice.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::io {
namespace {

/// This evaluates an expression at the quadrature points of the cells of one group.
class CellQuadrature {
public:
  CellQuadrature(const DerivedField& field, std::span<const space::FieldValues> fields, std::int32_t group, int order)
      : field_(field), mesh_(fields[0].space->mesh()),
        rule_(element::make_quadrature(mesh_.groups[static_cast<std::size_t>(group)].shape, 2 * order + 1)),
        evaluator_(field.expression, fields, group, rule_.points) {}

  std::size_t num_points() const { return rule_.weights.size(); }
  std::size_t num_components() const { return static_cast<std::size_t>(evaluator_.num_components()); }
  const element::Quadrature& rule() const { return rule_; }

  /// The values have shape (component, point).
  std::vector<double> values(std::int32_t cell) const {
    auto result = evaluator_.values(cell);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!std::isfinite(result[i])) refuse(cell, i % num_points(), result[i]);
    return result;
  }

  /// The weights of the rule are multiplied by |det J|; they have shape (point).
  std::vector<double> weights(std::int32_t cell) const {
    auto result = evaluator_.measures(cell);
    for (std::size_t q = 0; q < result.size(); ++q) result[q] *= rule_.weights[q];
    return result;
  }

private:
  [[noreturn]] void refuse(std::int32_t cell, std::size_t point, double value) const {
    const auto gdim = static_cast<std::size_t>(mesh_.gdim);
    const auto x = evaluator_.points(cell);
    throw base::InputError(
        fmt::format("{}: its value is {} at x = {}: check for divisions by zero, roots and logarithms",
                    field_.origin.empty() ? field_.name : field_.origin, base::number_text(value),
                    mesh::describe_point(std::span(x).subspan(point * gdim, gdim))));
  }
  const DerivedField& field_;
  const mesh::Mesh& mesh_;
  element::Quadrature rule_;
  space::ExpressionEvaluator evaluator_;
};

/// The sums at every point, over cells, are of the projected values times the volume of the cell, and of these volumes.
class PointSums {
public:
  PointSums(const OutputPoints& points, std::size_t num_components)
      : points_(points), sums_(static_cast<std::size_t>(points.size()) * num_components),
        volumes_(static_cast<std::size_t>(points.size())), num_components_(num_components) {}

  void add_group(const CellQuadrature& quadrature, std::size_t group, std::span<const double> matrix) {
    const std::size_t num_points = quadrature.num_points(), num_places = matrix.size() / num_points;
    const auto& numbers = points_.cells[group];
    std::vector<double> projected(num_places);
    for (std::size_t cell = 0; cell < numbers.size() / num_places; ++cell) {
      const auto values = quadrature.values(static_cast<std::int32_t>(cell));
      double volume = 0;
      for (const double weight : quadrature.weights(static_cast<std::int32_t>(cell))) volume += weight;
      for (std::size_t p = 0; p < num_places; ++p)
        volumes_[static_cast<std::size_t>(numbers[cell * num_places + p])] += volume;
      for (std::size_t c = 0; c < num_components_; ++c) {
        std::ranges::fill(projected, 0.0);
        for (std::size_t q = 0; q < num_points; ++q)
          for (std::size_t p = 0; p < num_places; ++p)
            projected[p] += matrix[q * num_places + p] * values[c * num_points + q];
        for (std::size_t p = 0; p < num_places; ++p)
          sums_[static_cast<std::size_t>(numbers[cell * num_places + p]) * num_components_ + c] +=
              volume * projected[p];
      }
    }
  }

  std::vector<double> means() {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] /= volumes_[i / num_components_];
    return std::move(sums_);
  }

private:
  const OutputPoints& points_;
  std::vector<double> sums_, volumes_; ///< shape (point, component), (point)
  std::size_t num_components_;
};

} // namespace

std::vector<double> point_values(const DerivedField& field, std::span<const space::FieldValues> fields,
                                 const OutputPoints& points, std::span<const std::vector<LatticePoint>> lattices,
                                 int order) {
  PointSums sums(points, field.expression->components.size());
  const auto& groups = fields[0].space->mesh().groups;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const CellQuadrature quadrature(field, fields, static_cast<std::int32_t>(g), order);
    const auto shape = groups[g].shape;
    const auto positions = mesh::lattice_positions(shape, order, lattices[g], mesh::Spacing::equispaced);
    sums.add_group(quadrature, g, element::projection_matrix(shape, order, quadrature.rule(), positions));
  }
  return sums.means();
}

std::vector<double> cell_means(const DerivedField& field, std::span<const space::FieldValues> fields,
                               std::int32_t group, int order) {
  const CellQuadrature quadrature(field, fields, group, order);
  const std::size_t num_points = quadrature.num_points(), num_components = quadrature.num_components();
  std::vector<double> result;
  const auto num_cells = fields[0].space->mesh().groups[static_cast<std::size_t>(group)].num_cells();
  for (std::int32_t cell = 0; cell < num_cells; ++cell) {
    const auto values = quadrature.values(cell), weights = quadrature.weights(cell);
    for (std::size_t c = 0; c < num_components; ++c) {
      double sum = 0, volume = 0;
      for (std::size_t q = 0; q < num_points; ++q) {
        sum += weights[q] * values[c * num_points + q];
        volume += weights[q];
      }
      result.push_back(sum / volume);
    }
  }
  return result;
}

} // namespace rafter::io

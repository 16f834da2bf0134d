// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/form/lowering.hpp>
#include <rafter/io/output_points.hpp>
#include <rafter/space/expression_evaluator.hpp>

/// Fields of an output file that are computed from solved ones.
namespace rafter::io {

struct DerivedField {
  std::string name;
  std::shared_ptr<const form::LoweredExpression> expression; ///< scalar, vector, or matrix up to 3 x 3
  bool is_per_cell = false;                                  ///< means of the cells; else values at the points
  std::string origin = {};                                   ///< where messages say that it comes from
};

/// Values at the points of the file, shape (point, component). In every cell the expression is projected onto the
/// polynomials of the order of the file (least squares in the reference cell); where cells share a point, what they
/// have there is averaged, weighted by their volumes. What cells of different points have is never mixed. Throws
/// InputError that names the point where a value is not finite.
std::vector<double> point_values(const DerivedField& field, std::span<const space::FieldValues> fields,
                                 const OutputPoints& points, std::span<const std::vector<LatticePoint>> lattices,
                                 int order);

/// Means over the cells of a group, shape (cell, component). Throws as point_values.
std::vector<double> cell_means(const DerivedField& field, std::span<const space::FieldValues> fields,
                               std::int32_t group, int order);

} // namespace rafter::io

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/form/lowering.hpp>
#include <rafter/io/output_points.hpp>
#include <rafter/space/expression_evaluator.hpp>

/// A derived field of an output file is computed from the fields that were solved for.
namespace rafter::io {

struct DerivedField {
  std::string name;
  std::shared_ptr<const form::LoweredExpression> expression; ///< scalar, vector, or matrix up to 3 x 3
  bool is_per_cell = false; ///< true: the values are means over the cells; false: they are values at the points
  std::string origin = {};  ///< source of the expression, for messages
};

/// Returns the values at the points of the file, shape (point, component). In every cell the expression is projected
/// onto the polynomials of the order of the file (least squares in the reference cell). If cells share a point, the
/// value there is the mean of theirs, weighted by the volumes of the cells; points that cells do not share are
/// independent of each other. Throws InputError that names the point where a value is not finite.
std::vector<double> point_values(const DerivedField& field, std::span<const space::FieldValues> fields,
                                 const OutputPoints& points, std::span<const std::vector<LatticePoint>> lattices,
                                 int order);

/// Returns the means over the cells of a group, shape (cell, component). Throws as point_values() does.
std::vector<double> cell_means(const DerivedField& field, std::span<const space::FieldValues> fields,
                               std::int32_t group, int order);

} // namespace rafter::io

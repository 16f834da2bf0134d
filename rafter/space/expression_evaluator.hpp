// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <rafter/form/lowering.hpp>
#include <rafter/mesh/values_by_tag.hpp>
#include <rafter/space/evaluate.hpp>

namespace rafter::space {

/// A function of a space on the mesh.
struct FieldValues {
  std::shared_ptr<const FunctionSpace> space;
  std::span<const double> values; ///< local vector of num_local entries
};

/// Evaluates an expression of fields, coefficients and x at the same reference points of any cell of one group. It is
/// for output, not for kernels.
class ExpressionEvaluator {
public:
  /// `points` are in the reference cell of the group, shape (point, tdim); `fields` holds at least one function, and
  /// all that the expression has. Throws InputError for coefficients by tag that name tags which the mesh lacks.
  ExpressionEvaluator(std::shared_ptr<const form::LoweredExpression> expression, std::span<const FieldValues> fields,
                      std::int32_t group, std::span<const double> points);

  int num_points() const { return geometry_.num_points(); }
  int num_components() const { return static_cast<int>(expression_->components.size()); }
  /// Physical points, shape (point, gdim).
  std::vector<double> points(std::int32_t cell) const { return geometry_.points(cell); }
  /// |det J| at the points, shape (point).
  std::vector<double> measures(std::int32_t cell) const;
  /// Values, shape (component, point). Throws InputError for cells whose tag has no value of a coefficient by tag.
  std::vector<double> values(std::int32_t cell) const;

private:
  struct Field {
    FieldEvaluator evaluator;
    std::span<const double> vector;
    bool has_values = false, has_gradients = false;
  };
  /// The data in one cell of which the atoms of an expression are made: fields at all points, points, and the cell's
  /// tag.
  struct Cell {
    std::vector<std::vector<double>> values, gradients; ///< shape (field), each as FieldEvaluator returns it
    std::vector<double> points;
    std::int32_t tag = 0;
  };
  void fill_atom(const form::Atom& atom, const Cell& cell, std::span<double> values) const;
  double cell_coefficient(int index, std::int32_t tag) const;

  std::shared_ptr<const form::LoweredExpression> expression_;
  FieldEvaluator geometry_;
  const mesh::Mesh& mesh_;
  std::int32_t group_;
  std::vector<Field> fields_;             ///< fields in the order of LoweredExpression::fields
  std::vector<mesh::ValuesByTag> by_tag_; ///< values in the order of LoweredExpression::cell_coefficients
  bool has_points_ = false;
};

/// Computes the coefficients of an expression in a space, into a local vector of num_local entries. In every cell the
/// expression is projected onto the polynomials of the element (least squares in the reference cell); a node that
/// several cells have gets the mean of their values there, weighted by their volumes. This is exact for continuous
/// functions of the space. `fields` is as for ExpressionEvaluator. Throws InputError that names the point where a value
/// is not finite, and for expressions and vectors of another size.
void project(const FunctionSpace& space, const std::shared_ptr<const form::LoweredExpression>& expression,
             std::span<const FieldValues> fields, std::span<double> vector);

} // namespace rafter::space

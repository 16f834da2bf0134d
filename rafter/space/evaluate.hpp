// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rafter/element/element.hpp>

/// Evaluates finite element functions at points, cell by cell. It is for output, checks and tests, not for kernels.
namespace rafter::space {

class FunctionSpace;

/// Evaluates fields of a space at the same reference points of any cell of one group.
class FieldEvaluator {
public:
  /// `points` are in the reference cell of the group, shape (point, tdim).
  FieldEvaluator(std::shared_ptr<const FunctionSpace> space, std::int32_t group, std::span<const double> points);

  int num_points() const { return field_.num_points; }
  /// Physical points, shape (point, gdim).
  std::vector<double> points(std::int32_t cell) const;
  /// Values, shape (point, component). Throws InputError unless `vector` has num_local() entries, as gradients() does.
  std::vector<double> values(std::span<const double> vector, std::int32_t cell) const;
  /// Physical gradients, shape (point, component, gdim). Throws InputError where det J = 0.
  std::vector<double> gradients(std::span<const double> vector, std::int32_t cell) const;
  /// J_ab = dx_a / dX_b, shape (point, gdim, tdim).
  std::vector<double> jacobians(std::int32_t cell) const;

private:
  std::vector<double> cell_coefficients(std::span<const double> vector, std::int32_t cell) const;
  std::vector<double> cell_geometry(std::int32_t cell) const;
  std::shared_ptr<const FunctionSpace> space_;
  std::int32_t group_;
  element::Table field_, geometry_;
  std::vector<double> field_functions_, geometry_functions_; ///< entries of both tables, shape (derivative, dof, point)
};

/// Returns the values of the function with these coefficients (num_local entries) at reference points of a cell, shape
/// (point, component). It tabulates on every call: for many cells keep a FieldEvaluator.
std::vector<double> tabulate_field(const FunctionSpace& space, std::span<const double> vector, std::int32_t group,
                                   std::int32_t cell, std::span<const double> points);

} // namespace rafter::space

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

/// Estimates how many digits of a solution are to be trusted. Rounding errors decide that where an operator is ill
/// conditioned (decision 0063).
namespace rafter::solvers {

using device::Vector;

/// Computes r = b - A x as if in twice the precision of doubles, and rounds it (Ogita, Rump, Oishi, Accurate sum and
/// dot product, SIAM J. Sci. Comput. 26 (2005) 1955-1988, algorithm Dot2). All have shape (row).
void subtract_product(const op::SparseMatrix& A, std::span<const double> x, std::span<const double> b,
                      std::span<double> r);

/// Returns the largest |d_i| relative to the largest |x_i| of the same field, of all fields and processes; infinite
/// where an entry of d is not finite, or where a field of x is zero and that of d is not. `field_offsets` are those of
/// IterationControl. Fields with a positive entry of `scales`, shape (field) or empty, are measured by that instead.
double relative_size(const op::LinearOperator& A, const Vector& d, const Vector& x,
                     std::span<const std::int64_t> field_offsets, std::span<const double> scales = {});

/// A system with its solution, and how to solve it for other right-hand sides.
struct SolvedSystem {
  const op::LinearOperator& A;
  const Vector &b, &x;
  std::span<const std::int64_t> field_offsets; ///< see IterationControl
  /// Computes d = A^-1 w, roughly. Returns false where it cannot. It may change w.
  std::function<bool(Vector& w, Vector& d)> inverse;
  const op::SparseMatrix* matrix = nullptr; ///< matrix of A; null: it is not known
  std::span<const double> scales = {};      ///< see scales_of_vanishing_fields()
};

/// Scales of fields of x that vanish up to rounding errors, as pressures do in a channel whose ends are open: their
/// values are noise, and what is relative to noise says nothing. The scale of a field is what forces as large as |A|
/// |x| and b, with random signs, would make of it; a field vanishes that is as small as roundings of those. Shape
/// (field), 0 for fields that do not vanish. Empty where there is one field, where the matrix is not known, and where
/// it is ill conditioned: a field may then be small because no digit of it is right.
std::vector<double> scales_of_vanishing_fields(const SolvedSystem& system);

/// Estimates the largest error of the solution, relative to the largest value of each field, that rounding errors of
/// the operator and of b make; 1e-12 at least. What a product with x, and b, lose by rounding is measured, and solved
/// for. So is what the operator makes of constants and rotations as large as x, where the form maps them to zero:
/// rounding errors that are alike in all cells, as those of their matrices are, let a body rest on a bed of springs.
/// Operators whose form does not, and those of no form, are taken to make errors of a rounding of their diagonal.
/// Infinite: one of the systems cannot be solved.
double estimate_error(const SolvedSystem& system);

/// Says whether A is singular as far as doubles show, whatever b is: whether the solution for a random right-hand side,
/// in which the smallest eigenvalues prevail, is not the same up to a half when it is corrected, or to a tenth when
/// products round otherwise.
bool is_singular_to_rounding(const SolvedSystem& system);

/// Says whether A d = x can be solved. It cannot where A is singular and x has grown along its null space.
bool has_inverse_image(const SolvedSystem& system);

inline constexpr double least_reported_error = 1e-8; ///< estimates of errors above this are reported
inline constexpr double useless_error = 0.1;         ///< above this no digit is to be trusted, and nothing was solved

/// Returns a sentence for Result::warning about the solution, such as "about 5 digits ... are to be trusted".
std::string describe_trust(double relative_error);

} // namespace rafter::solvers

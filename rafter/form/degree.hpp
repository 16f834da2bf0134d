// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/form/expr.hpp>

namespace rafter::form {

/// Polynomial degree of an expression on a cell with affine geometry (per direction on quadrilaterals and hexahedra).
struct DegreeEstimate {
  int degree = 0;
  bool is_exact = true; ///< false where a non-polynomial operation forced a guess
};

/// Estimates the degree of an expression: fields and arguments have their own, x has degree 1, constants 0. Degrees of
/// factors add; powers multiply. A derivative lowers the degree by one where every cell is a simplex and the degree is
/// no guess. A quotient or elementary function of something that is not constant adds 2 and is a guess.
DegreeEstimate estimate_degree(const Expr& e);

/// Highest degree among the fields and arguments in an expression.
int max_field_degree(const Expr& e);

struct QuadratureChoice {
  int degree = 0;
  bool is_capped = false;
  std::string explanation; ///< one line for reports that says where the degree comes from
};

/// Highest quadrature degree that is chosen unless a cap is given: 2 m + 4 for m = LoweredIntegral::max_field_degree,
/// 12 without fields. Products of two fields of full degree with coefficients of degree 4 are then exact, and
/// non-linear laws are integrated as accurately as is worth while.
int default_degree_cap(const LoweredIntegral& integral);

/// The quadrature degree: the one that the form asks for, else the estimated one up to the cap; cap < 0 means
/// default_degree_cap. A guess is at least 2 m for m = LoweredIntegral::max_field_degree: a load that is no polynomial
/// is then integrated as if it had the fields' degree, and the error of the rule does not spoil the order of
/// convergence (Ciarlet, The Finite Element Method for Elliptic Problems, section 4.1).
QuadratureChoice choose_quadrature_degree(const LoweredIntegral& integral, int cap = -1);

} // namespace rafter::form

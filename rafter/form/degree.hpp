// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/form/expr.hpp>

namespace rafter::form {

/// Polynomial degree of an expression on a cell (per direction on quadrilaterals and hexahedra), with affine geometry.
struct DegreeEstimate {
  int degree = 0;
  bool is_exact = true; ///< false where a non-polynomial operation forced a guess
};

/// Fields and arguments have their degree, x has degree 1, constants 0; products add; powers multiply; a derivative
/// lowers by one where every cell is a simplex and the degree is no guess; a quotient or elementary function of
/// something not constant adds 2 and is a guess.
DegreeEstimate estimate_degree(const Expr& e);

/// Highest degree of the fields and arguments in an expression.
int max_field_degree(const Expr& e);

struct QuadratureChoice {
  int degree = 0;
  bool is_capped = false;
  std::string explanation; ///< one line for reports
};

/// Cap used when none is given: 2 m + 4 for m = LoweredIntegral::max_field_degree (products of two fields of full
/// degree with coefficients of degree 4 are exact; non-linear laws are integrated as accurately as is worth while), 12
/// without fields.
int default_degree_cap(const LoweredIntegral& integral);

/// The degree that the author of the form asked for, else the estimated one up to the cap; cap < 0: default_degree_cap.
/// A guess is at least 2 m for m = LoweredIntegral::max_field_degree: a load that is no polynomial is then integrated
/// as if it were one of the fields' degree, and the error of the rule does not spoil the order of convergence (Ciarlet,
/// The Finite Element Method for Elliptic Problems, section 4.1).
QuadratureChoice choose_quadrature_degree(const LoweredIntegral& integral, int cap = -1);

} // namespace rafter::form

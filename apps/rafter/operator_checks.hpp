// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/io/problem.hpp>
#include <rafter/operator/operator.hpp>

#include "problem_forms.hpp"

/// What can be known about a problem's operator before it is solved. All throw InputError that says what to change.
namespace rafter::app {

/// Random entries in [-1, 1], zero where conditions fix the unknowns.
op::Vector random_vector(const op::Operator& A, unsigned seed);

/// A random vector and what the operator makes of it: several checks look at the same one.
struct Probe {
  op::Vector vector, image;
};
Probe make_probe(const op::Operator& A, unsigned seed);

/// The operator must be finite: else names the coefficient and the point that are not.
void require_finite(const op::Operator& A, const Probe& probe, const io::Problem& problem, const ProblemForms& forms);

/// |<A u, v> - <u, A v>| of the probe and another random vector, relative to their size; 0 where that is rounding.
/// Throws InputError for an operator whose values are too small to tell.
double asymmetry(const op::Operator& A, const Probe& probe, const io::Problem& problem);

/// For the methods cg and minres: the operator is symmetric.
void require_symmetric(const op::Operator& A, const Probe& probe, const io::Problem& problem,
                       const std::string& method);

/// The message of `require_finite` and for right-hand sides: which coefficient is not finite where, or "".
std::string describe_non_finite(const io::Problem& problem, const ProblemForms& forms, const mesh::Mesh& mesh);

} // namespace rafter::app

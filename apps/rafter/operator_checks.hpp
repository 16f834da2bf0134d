// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/io/problem.hpp>
#include <rafter/operator/operator.hpp>

#include "problem_forms.hpp"

/// These checks find errors of a problem's operator before it is solved. All throw InputError that says what to change.
namespace rafter::app {

/// Returns random entries in [-1, 1], which are zero where conditions fix the unknowns.
op::Vector random_vector(const op::Operator& A, unsigned seed);

/// Several checks use the same random vector with its image, so that the operator is applied only once for them.
struct Probe {
  op::Vector vector, image;
};
Probe make_probe(const op::Operator& A, unsigned seed);

/// Throws InputError if the image is not finite; the message names the coefficient and the point where it is not.
void require_finite(const op::Operator& A, const Probe& probe, const io::Problem& problem, const ProblemForms& forms);

/// Returns |<A u, v> - <u, A v>| for the probe u and another random vector v, relative to their size, and 0 if it is in
/// the range of rounding errors. Throws InputError for an operator whose values are too small to tell.
double asymmetry(const op::Operator& A, const Probe& probe, const io::Problem& problem);

/// Throws InputError unless the operator is symmetric, as the methods cg and minres need it.
void require_symmetric(const op::Operator& A, const Probe& probe, const io::Problem& problem,
                       const std::string& method);

/// Returns a message that tells which coefficient is not finite and where, or "" if there is none.
std::string describe_non_finite(const io::Problem& problem, const ProblemForms& forms, const mesh::Mesh& mesh);

} // namespace rafter::app

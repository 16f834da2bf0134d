// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/io/problem.hpp>
#include <rafter/problem/problem.hpp>

/// States what a problem file asks of a solve for the driver, whose messages name places in the file.
namespace rafter::app {

class ProblemForms;
struct RunEvents;

problem::Places places_of(const io::Problem& problem);

/// Refers to the problem, which must outlive the result.
problem::Problem state(const io::Problem& problem, const RunEvents& events);

/// Returns a message that tells which coefficient is not finite and where, or "" if there is none.
std::string describe_non_finite(const io::Problem& problem, const ProblemForms& forms, const mesh::Mesh& mesh);

} // namespace rafter::app

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <rafter/io/problem.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/report/report.hpp>

#include "problem_forms.hpp"

/// What is computed from solved fields.
namespace rafter::app {

/// Relative L2 and H1-seminorm errors of every field with an exact solution, by quadrature of a degree well above that
/// of the fields. Absolute where the exact solution (or its gradient) is zero.
std::vector<std::pair<std::string, report::FieldErrors>>
compute_errors(const io::Problem& problem, const ProblemForms& forms, const op::System& system,
               const op::OperatorOptions& options, const op::Vector& solution);

/// Which errors exceed what the problem allows, as sentences.
std::vector<std::string> failed_checks(const io::Check& check,
                                       const std::vector<std::pair<std::string, report::FieldErrors>>& errors);

/// Values of the functionals in the order of the file. Throws InputError where one is not finite.
std::vector<std::pair<std::string, double>> evaluate_functionals(const io::Problem& problem, const ProblemForms& forms,
                                                                 const op::System& system,
                                                                 const op::OperatorOptions& options,
                                                                 const op::Vector& solution);

} // namespace rafter::app

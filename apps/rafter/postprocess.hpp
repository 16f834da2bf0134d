// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/io/derived_field.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/report/report.hpp>

#include "problem_forms.hpp"

/// What is computed from solved fields.
namespace rafter::app {

/// Functionals and errors of a problem: their kernels are built with those of the operator and compiled together with
/// them, their data exist only while they are evaluated.
class Postprocess {
public:
  /// Throws InputError for functionals and fields of the output that are none. Problem and data must outlive the
  /// object.
  Postprocess(const io::Problem& problem, const ProblemForms& forms, const ProblemData& data, const op::System& system,
              const op::OperatorOptions& options);

  /// What must be compiled before the calls below.
  std::vector<std::shared_ptr<op::GeneratedForm>> kernels() const;

  /// Before the solve, whose result they are compared with: throws InputError where an exact solution or its gradient
  /// is not finite. `any`: a vector of the system; its values do not matter.
  void require_finite_solutions(const op::Vector& any) const;

  /// Relative L2 and H1-seminorm errors of every field with an exact solution, by quadrature of a degree well above
  /// that of the fields. Absolute where the exact solution (or its gradient) is zero.
  std::vector<std::pair<std::string, report::FieldErrors>> errors(const op::Vector& solution) const;

  /// Fields of the output beside those of the problem.
  const std::vector<io::DerivedField>& output_fields() const { return output_fields_; }

  /// Values of the functionals in the order of the file. Throws InputError where one is not finite.
  std::vector<std::pair<std::string, double>> functionals(const op::Vector& solution) const;

private:
  using Kernels = std::shared_ptr<op::GeneratedForm>;
  struct FieldNorms {
    std::string field;
    io::Location place;                             ///< of the exact solution
    Kernels l2_error, l2_exact, h1_error, h1_exact; ///< squares of the norms
  };
  /// The value of a functional of the solution and the known fields.
  double evaluate(const Kernels& kernels, const op::Vector& solution) const;
  const io::Problem& problem_;
  const ProblemData& data_;
  std::vector<FieldNorms> norms_;
  std::vector<io::DerivedField> output_fields_;
  struct Functional {
    form::FunctionalText text;
    std::vector<Kernels> kernels; ///< of its integrals
  };
  double value_of(std::size_t functional, const op::Vector& solution) const;
  std::vector<Functional> functionals_; ///< as in the problem
  /// Their values, which those that use them read; shape (functional).
  std::vector<std::shared_ptr<form::CoefficientData>> numbers_;
};

/// Which errors exceed what the problem allows, as sentences.
std::vector<std::string> failed_checks(const io::Check& check,
                                       const std::vector<std::pair<std::string, report::FieldErrors>>& errors);

} // namespace rafter::app

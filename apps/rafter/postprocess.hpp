// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/io/derived_field.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/report/report.hpp>

#include "problem_forms.hpp"

/// Functionals, errors and fields of the output are computed from solved fields.
namespace rafter::app {

/// Kernels of functionals and errors are built with those of the operator and compiled together with them. Their data
/// exist only while they are evaluated.
class Postprocess {
public:
  /// Throws InputError for functionals and fields of the output whose texts are wrong. Problem, forms and data must
  /// outlive the object.
  Postprocess(const io::Problem& problem, const ProblemForms& forms, const ProblemData& data, const op::System& system,
              const op::OperatorOptions& options);

  /// Returns the kernels that must be compiled before the calls below.
  std::vector<std::shared_ptr<op::GeneratedForm>> kernels() const;

  /// Throws InputError where an exact solution is not finite, at the nodes of the mesh and the points of quadrature, or
  /// its gradient at these points, which is known before the solve. `any` is a vector of the system, whose values do
  /// not matter.
  void require_finite_solutions(const op::Vector& any) const;

  /// Returns relative errors in the L2 norm and the H1 seminorm of every field with an exact solution, by quadrature of
  /// a degree well above that of the fields. If the exact solution (or its gradient) is zero, the error is absolute.
  std::vector<std::pair<std::string, report::FieldErrors>> errors(const op::Vector& solution) const;

  /// Returns the fields of the output beside those of the problem.
  const std::vector<io::DerivedField>& output_fields() const { return output_fields_; }

  /// Returns the values of the functionals in the order of the file. Throws InputError where one is not finite.
  std::vector<std::pair<std::string, double>> functionals(const op::Vector& solution) const;

private:
  using Kernels = std::shared_ptr<op::GeneratedForm>;
  /// Norms of the error and of the exact solution, by their numbers among the values of one functional.
  enum Norm : std::uint8_t { l2_error, l2_exact, h1_error, h1_exact };
  struct FieldNorms {
    std::string field;
    io::Location place; ///< place of the exact solution in the file
    Kernels squares;    ///< kernels of the squares of the norms
  };
  /// Evaluates a functional of the solution and the known fields: all its values.
  std::vector<double> evaluate(const Kernels& kernels, const op::Vector& solution) const;
  /// Largest size of an exact solution at the nodes of the mesh, 0 where it holds known fields or coefficients by tag.
  /// Throws InputError where one of its values there is not finite. `index` is that of the entry in
  /// problem.check.exact.
  double largest_at_nodes(std::size_t index) const;
  const io::Problem& problem_;
  const ProblemForms& forms_;
  const ProblemData& data_;
  std::shared_ptr<const mesh::Mesh> mesh_;
  std::vector<FieldNorms> norms_;
  std::vector<io::DerivedField> output_fields_;
  struct Functional {
    form::FunctionalText text;
    std::vector<Kernels> kernels; ///< kernels of its integrals
  };
  double value_of(std::size_t functional, const op::Vector& solution) const;
  std::vector<Functional> functionals_; ///< functionals in the order of the problem
  /// The values of the functionals, shape (functional), are here for those that use them.
  std::vector<std::shared_ptr<form::CoefficientData>> numbers_;
};

/// Returns sentences about the errors that exceed what the problem allows.
std::vector<std::string> failed_checks(const io::Check& check,
                                       const std::vector<std::pair<std::string, report::FieldErrors>>& errors);

} // namespace rafter::app

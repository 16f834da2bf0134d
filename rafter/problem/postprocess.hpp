// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/operator/operator.hpp>
#include <rafter/problem/problem.hpp>
#include <rafter/report/report.hpp>

/// Functionals, errors and fields of the output are computed from solved fields.
namespace rafter::problem {

/// Kernels of functionals and errors are built with those of the operator and compiled together with them. Their data
/// exist only while they are evaluated.
class Postprocess {
public:
  /// Throws InputError for functionals and exact solutions that do not fit the unknowns. The problem must outlive the
  /// object.
  Postprocess(const Problem& problem, const op::System& system, const op::OperatorOptions& options);

  /// Returns the kernels that must be compiled before the calls below.
  std::vector<std::shared_ptr<op::GeneratedForm>> kernels() const;

  /// Sets the time that functionals, exact solutions and fields of the output are evaluated at.
  void set_time(double time);

  /// Throws InputError where an exact solution is not finite at a node of the mesh, and where doubles do not hold its
  /// square there, which is known before the solve.
  void require_numbers_at_nodes() const;

  /// Returns relative errors in the L2 norm and the H1 seminorm of every field with an exact solution, by quadrature of
  /// a degree well above that of the fields. If the exact solution (or its gradient) is zero, the error is absolute.
  /// Throws InputError where it is not finite at a point of quadrature, and where its square vanishes in doubles.
  std::vector<std::pair<std::string, report::FieldErrors>> errors(const op::Vector& solution) const;

  /// Returns the fields of the output beside those of the problem.
  const std::vector<io::DerivedField>& output_fields() const { return output_fields_; }

  /// Returns the values of the functionals in their order. Throws InputError where one is not finite.
  std::vector<std::pair<std::string, double>> functionals(const op::Vector& solution) const;

private:
  using Kernels = std::shared_ptr<op::GeneratedForm>;
  /// Norms of the error and of the exact solution, by their numbers among the values of one functional.
  enum Norm : std::uint8_t { l2_error, l2_exact, h1_error, h1_exact };
  struct FieldNorms {
    const ExactSolution* exact = nullptr;
    std::string field;
    Kernels squares; ///< kernels of the squares of the norms
  };
  /// Evaluates a functional of the solution and the known fields: all its values.
  std::vector<double> evaluate(const Kernels& kernels, const op::Vector& solution) const;
  /// Largest size of an exact solution at the nodes of the mesh, 0 where it holds known fields or coefficients by tag
  /// and on a part of a mesh.
  /// Throws InputError where one of its values there is not finite.
  double largest_at_nodes(const ExactSolution& exact) const;
  /// Throws InputError unless the squares of the norms of an exact solution are numbers that errors can be relative to.
  void require_measurable(const FieldNorms& norms, std::span<const double> squares) const;
  [[noreturn]] static void refuse_not_finite(const FieldNorms& norms, const std::string& what);
  [[noreturn]] static void refuse_small(const FieldNorms& norms, double largest);
  double value_of(std::size_t functional, const op::Vector& solution) const;
  /// Returns a field whose parameters have the values of the problem and the present time.
  io::DerivedField with_parameters(const io::DerivedField& field);

  const Problem& problem_;
  std::shared_ptr<const mesh::Mesh> mesh_;
  std::vector<FieldNorms> norms_;
  std::vector<io::DerivedField> output_fields_;
  std::shared_ptr<form::CoefficientData> time_; ///< time in fields of the output, which follow it
  std::vector<std::vector<Kernels>> integrals_; ///< kernels of each functional's integrals
};

/// Returns sentences about the errors that exceed what the problem allows.
std::vector<std::string> failed_checks(const Check& check,
                                       const std::vector<std::pair<std::string, report::FieldErrors>>& errors);

} // namespace rafter::problem

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/form/form.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/scope.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/space/function_space.hpp>

#include "problem_data.hpp"

/// The texts of a problem file become forms and expressions. Errors name the place in the file.
namespace rafter::app {

/// Throws InputError "file:line:column: key: message".
[[noreturn]] void refuse(const io::Location& location, const std::string& key, const std::string& message);

class ProblemForms {
public:
  using Spaces = std::vector<std::shared_ptr<const form::FieldSpace>>;

  /// `spaces` are in the order of Problem::fields. Coefficients that are functions of a space are added to `data`.
  /// Throws InputError for coefficients that are wrong or name tags that the mesh lacks. Problem and mesh must outlive
  /// the object.
  ProblemForms(const io::Problem& problem, const mesh::Mesh& mesh, Spaces spaces, ProblemData& data);

  /// Returns forms.a. Throws InputError unless every term is bilinear (linear in the test functions).
  form::Form bilinear() const;
  /// Returns forms.preconditioner, whose diagonal blocks preconditioners are made of.
  form::Form preconditioner() const;
  /// Returns forms.L, or nothing when it is absent or zero.
  std::optional<form::Form> linear() const;
  /// Returns forms.F, a linear form with the fields as data.
  form::Form residual() const;
  /// Returns forms.F, or forms.a less forms.L with the fields as data. Throws InputError if forms.a is not linear in
  /// the fields.
  form::Form residual_in_time() const;
  /// Returns what the fields are in residual forms and functionals: known functions.
  std::vector<form::Expr> fields() const;
  /// Sets the time for expressions. It counts for those that are bound to data or made into functions of x afterwards.
  void set_time(double time) { time_->values = {time}; }
  /// Returns a functional of the fields, which may use by name those before it in the file.
  form::FunctionalText functional(const io::Functional& functional) const;
  /// Returns, in the order of the file, the numbers that stand for the values of functionals in those that use them.
  const std::vector<std::shared_ptr<form::CoefficientData>>& functional_numbers() const { return functional_numbers_; }
  /// Returns a field of the output, a function of the fields. Throws InputError unless it is a scalar, a vector or a
  /// matrix up to 3 x 3 that has a value at every point of a cell.
  std::shared_ptr<const form::LoweredExpression> output_field(const io::OutputExpression& field) const;

  /// Runs an operation on a text, and adds the place in the file to its InputErrors.
  template <class Operation>
  auto located(const io::Expression& text, const std::string& key, const Operation& operation) const {
    try {
      return operation();
    } catch (const base::InputError& error) {
      throw base::InputError(located_message(text, key, error.what()));
    }
  }

  /// Returns a scalar expression of x and constants.
  form::Expr point_expression(const io::Expression& text, const std::string& key) const;
  /// Returns `count` scalar expressions, from one text each or from one text that is a vector.
  std::vector<form::Expr> point_components(std::span<const io::Expression> texts, std::size_t count,
                                           const std::string& key) const;
  /// Returns whether the values depend on the time.
  bool depends_on_time(std::span<const io::Expression> texts, std::size_t count, const std::string& key) const;
  /// Returns a function of x that sets those of num_components values that `components` lists (all if it is empty), and
  /// the others to 0. It throws InputError where a value is not finite.
  space::SpatialFunction qfunction(std::span<const io::Expression> texts, std::span<const int> components,
                                   int num_components, const std::string& key) const;

  /// Returns, with their coefficients, the expressions in x that hold no known field.
  const std::vector<std::pair<const io::Coefficient*, form::Expr>>& point_coefficients() const {
    return point_coefficients_;
  }

private:
  void add_coefficients(ProblemData& known);
  form::Expr coefficient(const io::Coefficient& coefficient) const;
  form::Expr tensor(const io::TensorExpression& value, const std::string& key) const;
  /// Does the same, but one text may be a vector.
  form::Expr field_value(const io::TensorExpression& value, const std::string& key) const;
  void require_tags_of(const io::Coefficient& coefficient) const;
  void require_no_time_derivative(bool is_found, const io::Expression& text, const std::string& key) const;
  /// Returns a scope with the fields and their test functions.
  form::Scope residual_scope() const;
  form::Scope with_everything(form::Scope scope) const;
  form::Form parse_form(const io::Expression& text, const std::string& key, const form::Scope& scope) const;

  std::string located_message(const io::Expression& text, const std::string& key, std::string message) const;

  const io::Problem& problem_;
  const mesh::Mesh& mesh_;
  Spaces spaces_;
  std::shared_ptr<form::CoefficientData> time_; ///< the parameter t, which only problems with [time] use
  form::Scope point_scope_;                     ///< x, coefficients, definitions, and the time where there is one
  std::vector<std::pair<const io::Coefficient*, form::Expr>> coefficients_, point_coefficients_;
  std::vector<std::shared_ptr<form::CoefficientData>> functional_numbers_;
};

} // namespace rafter::app

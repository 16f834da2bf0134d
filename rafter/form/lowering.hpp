// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <rafter/form/form.hpp>

namespace rafter::form {

/// Form -> scalar integrands in physical atoms (see lowered.hpp). Integrals that vanish identically are left out; the
/// tables still list every argument and field that the form mentions. Throws InputError on forms that need more than
/// the language has.
LoweredForm lower(const Form& form);

/// Functionals as one form, whose values are theirs in order: its kernels evaluate the fields once for all of them.
/// Throws InputError for forms that are no functionals.
LoweredForm lower(std::span<const Form> functionals);

/// The form with test and trial functions of other spaces: lowered anew, so that degrees of quadrature follow. Forms
/// without a source keep their degrees, and the other spaces must be of the same (else InternalError).
LoweredForm arguments_on(const LoweredForm& form, const std::vector<SpacePair>& spaces);

/// Content of an integral as text: equal ones have equal texts, whatever the values of constants.
std::string content_of(const LoweredIntegral& integral);

/// LoweredForm::signature of the content of a form, for those that are not made by lower().
std::string signature_of(const LoweredForm& form);

/// An expression of fields, coefficients and x as scalars; atoms as in LoweredIntegral.
struct LoweredExpression {
  std::vector<int> shape;
  std::shared_ptr<const ScalarGraph> graph;
  std::vector<NodeId> components; ///< row-major
  std::vector<NodeId> order;      ///< nodes that the components need, in an order of evaluation
  std::vector<CoefficientComponent> parameters, cell_coefficients;
  std::vector<std::shared_ptr<const FieldSpace>> fields;
};
/// Throws InputError for conditions, test and trial functions, normals (a point inside a cell has none), and what needs
/// more than first derivatives of fields.
LoweredExpression lower(const Expr& e);

/// An expression of x and constants (boundary data, exact solutions, sources), ready to be evaluated at points.
class PointEvaluator {
public:
  /// Throws InputError when the expression holds arguments, fields, normals or coefficients by tag.
  explicit PointEvaluator(const Expr& e);
  int num_components() const { return static_cast<int>(components_.size()); }
  /// Says whether a constant or parameter of this name occurs.
  bool has_parameter(const std::string& name) const;
  /// Its components, row-major. Throws InputError for another number of them; other names are left alone.
  void set(const std::string& name, std::span<const double> values);
  /// Names of the parameters without values, with which no value is finite.
  std::vector<std::string> missing() const;
  /// x of shape (gdim); values of shape (component), row-major.
  void operator()(std::span<const double> x, std::span<double> values) const;

private:
  std::shared_ptr<const ScalarGraph> graph_;
  std::vector<NodeId> components_, order_;
  std::vector<CoefficientComponent> names_; ///< names of the parameters
  std::vector<double> parameters_;
  int num_axes_ = 0; ///< coordinates that are used
};

} // namespace rafter::form

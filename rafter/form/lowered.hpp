// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/form/scalar_graph.hpp>

/// Lowered forms, which kernels are made of: integrals whose integrands are scalar expressions in physical atoms.
namespace rafter::form {

/// The properties of a function space that the form language must know; space::FunctionSpace derives from it.
struct FieldSpace {
  std::string name = "u";
  std::string family = "Lagrange";
  int degree = 1;
  int components = 0;      ///< 0: scalar; n: vector with n components
  int gdim = 3;            ///< dimension of physical space
  bool is_simplex = false; ///< every cell is a simplex: a derivative lowers the polynomial degree (degree estimation)
  virtual ~FieldSpace() = default;
  int num_components() const { return components == 0 ? 1 : components; }
};

enum class MeasureKind : std::uint8_t { cell, exterior_facet };

struct Measure {
  MeasureKind kind = MeasureKind::cell;
  std::vector<std::string> tags; ///< numbers or names, sorted; empty: everywhere
  int degree = -1;               ///< quadrature degree asked for with dx(degree=n); -1: chosen from the integrand
  bool operator==(const Measure&) const = default;
};

/// Data of a coefficient that is constant (one set of components) or constant per cell tag.
struct CoefficientData {
  std::string name;
  std::vector<int> shape; ///< {} scalar, {n} vector, {n, m} matrix
  bool is_by_tag = false;
  std::vector<double> values; ///< row-major components (constant); NaN: bound later
  std::vector<std::pair<std::string, std::vector<double>>> by_tag; ///< tag (number or name) -> components
};

/// One component of a coefficient.
struct CoefficientComponent {
  std::shared_ptr<const CoefficientData> coefficient;
  int component = 0;
};

/// One integral of a form after algebra lowering. Atoms in `graph`: parameter(a) = parameters[a], cell_coefficient(a) =
/// cell_coefficients[a], coordinate, normal, field(a, b, c) = component b (derivative c) of coefficient field
/// fields[a], trial(a, b, c) and test(a, b, c) of trial_spaces[a] / test_spaces[a].
///
/// Rank 1 and 2: the integrand is sum_t test_terms[t].coefficient * test(field, component, derivative); the test atoms
/// do not occur in the coefficients. Rank 0: `integrand`.
struct LoweredIntegral {
  Measure measure;
  int rank = 0;
  std::shared_ptr<ScalarGraph> graph;
  struct TestTerm {
    int field = 0, component = 0, derivative = -1; ///< derivative: physical axis, -1 the value
    NodeId coefficient = -1;
  };
  std::vector<TestTerm> test_terms;
  NodeId integrand = -1;
  int value = 0;               ///< rank 0: number of the value of the form that the integral adds to
  int degree = 0;              ///< estimated polynomial degree of the integrand (0-degree geometry), before any cap
  bool is_degree_exact = true; ///< false where non-polynomial operations forced a guess
  int max_field_degree = 0;    ///< highest degree of the arguments and fields in the integrand
};

class Form;

/// A whole form: its integrals share the tables of parameters, coefficients and fields.
struct LoweredForm {
  std::shared_ptr<const Form> source;     ///< the form before it was lowered; null: it was made as it is
  int rank = 0;                           ///< 0 functional, 1 linear form, 2 bilinear form
  int num_values = 1;                     ///< number of functionals, which are computed together
  std::vector<LoweredIntegral> integrals; ///< one per measure and value, in order of first appearance
  std::vector<CoefficientComponent> parameters, cell_coefficients;
  /// Spaces in order of first appearance; trial spaces that are test spaces, too, in the order of those.
  std::vector<std::shared_ptr<const FieldSpace>> fields, test_spaces, trial_spaces;
  std::vector<std::string> field_names; ///< names of the coefficient fields
  std::string signature;                ///< content hash: equal for equal forms whatever the values of constants
};

} // namespace rafter::form

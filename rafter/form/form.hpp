// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/form/expr.hpp>
#include <rafter/form/language.hpp>

namespace rafter::form {

/// Name of a set of cells or facets: a number or a name.
struct Tag {
  Tag(int number) : text(std::to_string(number)) {}
  Tag(std::string name) : text(std::move(name)) {}
  Tag(const char* name) : text(name) {}
  std::string text;
};

/// dx, ds, dx(1), ds("wall"), ds({1, 2}), ds({"wall"}), ds(1) + ds(2).
class MeasureSum {
public:
  explicit MeasureSum(std::vector<Measure> measures) : measures_(std::move(measures)) {}
  /// The same measure restricted to tags; throws InputError when it already is.
  MeasureSum operator()(Tag tag) const { return restricted({std::move(tag)}); }
  MeasureSum operator()(std::vector<Tag> tags) const { return restricted(std::move(tags)); }
  MeasureSum operator()(std::initializer_list<Tag> tags) const { return restricted(tags); }
  /// The same measures with a quadrature degree of the author's choice.
  MeasureSum with_degree(int degree) const;
  const std::vector<Measure>& measures() const { return measures_; }
  friend MeasureSum operator+(MeasureSum a, const MeasureSum& b);

private:
  MeasureSum restricted(std::vector<Tag> tags) const;
  std::vector<Measure> measures_;
};

inline const MeasureSum dx{{Measure{MeasureKind::cell}}};           ///< measure of cells
inline const MeasureSum ds{{Measure{MeasureKind::exterior_facet}}}; ///< measure of boundary facets

struct Integral {
  Expr integrand; ///< scalar
  Measure measure;
  bool operator==(const Integral&) const = default;
};

/// A form that is not linear where it must be; `offending` is the sub-expression that breaks it.
class LinearityError : public base::InputError {
public:
  LinearityError(const std::string& message, Expr offending) : InputError(message), offending_(std::move(offending)) {}
  const Expr& offending() const { return offending_; }

private:
  Expr offending_;
};

/// Sum of integrals, one per measure. Linear in the test function (rank 1), or in test and trial function (rank 2), or
/// free of both (rank 0); anything else throws LinearityError.
class Form {
public:
  Form() = default;
  explicit Form(std::vector<Integral> integrals);
  const std::vector<Integral>& integrals() const { return integrals_; }
  int rank() const { return rank_.value_or(0); }
  bool operator==(const Form&) const = default;
  friend Form operator+(const Form& a, const Form& b);

private:
  void add(Integral integral);
  std::vector<Integral> integrals_;
  std::optional<int> rank_; ///< unknown while every integrand is the number 0
};

Form operator*(const Expr& integrand, const MeasureSum& measure);
Form operator+(const Form& a, const Form& b);
Form operator-(const Form& a, const Form& b);
Form operator-(const Form& a);
/// The factor must be the same everywhere: numbers and constant coefficients.
Form operator*(const Expr& factor, const Form& form);
Form operator/(const Form& form, const Expr& divisor);

/// Arguments that the expression is linear in, as bits (1 test, 2 trial); nullopt for the number 0, which fits any.
/// Throws LinearityError where it is not linear.
std::optional<int> linear_arguments(const Expr& e);

/// Bilinear form applied to a field: the trial function of the field's space is replaced by the field.
Form action(const Form& form, const Expr& field);
Form action(const Form& form, const std::vector<Expr>& fields); ///< mixed problems: one field per trial space
/// The form with test functions, trial functions and data fields of other spaces: (old, new), all of whose names are
/// kept. Degrees of quadrature that are chosen from the integrand follow the new spaces, and so does the signature.
/// Throws InputError where the components of a pair differ.
using SpacePair = std::pair<std::shared_ptr<const FieldSpace>, std::shared_ptr<const FieldSpace>>;
Form on(const Form& form, const std::vector<SpacePair>& spaces);
/// The same for test and trial functions alone: data fields stay on their spaces, also on those that are replaced.
Form arguments_on(const Form& form, const std::vector<SpacePair>& spaces);
/// Test and trial function exchanged.
Form adjoint(const Form& form);
/// Gateaux derivative by a coefficient field. The direction is by default the test function of its space for a
/// functional and the trial function, called "d<name of the field>", for a residual.
Form derivative(const Form& form, const Expr& field);
Form derivative(const Form& form, const Expr& field, const Expr& direction);
Form derivative(const Form& form, const std::vector<Expr>& fields); ///< takes all fields of a mixed problem at once

} // namespace rafter::form

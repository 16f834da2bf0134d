// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/language.hpp>

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/printer.hpp>

namespace rafter::form {

namespace {

void check_values(const CoefficientData& data, const std::vector<double>& values, const std::string& where) {
  if (static_cast<int>(values.size()) != num_components(data.shape))
    throw base::InputError(fmt::format("coefficient '{}'{}: {} values given for {}", data.name, where, values.size(),
                                       shape_text(data.shape)));
  for (const double value : values)
    if (!std::isfinite(value))
      throw base::InputError(fmt::format("coefficient '{}'{}: the value {} is not finite", data.name, where, value));
}

void check_shape(const CoefficientData& data) {
  for (const int n : data.shape)
    if (n < 1)
      throw base::InputError(fmt::format("coefficient '{}': {} has an empty axis", data.name, shape_text(data.shape)));
}

Expr coefficient_node(std::shared_ptr<const CoefficientData> data) {
  ExprNode draft;
  draft.kind = NodeKind::coefficient;
  draft.name = data->name;
  draft.coefficient = std::move(data);
  return make_expr(std::move(draft));
}

void check_gdim(int gdim) {
  if (gdim < 1 || gdim > 3) throw base::InputError(fmt::format("space has 1, 2 or 3 dimensions, not {}", gdim));
}

Expr argument(std::shared_ptr<const FieldSpace> space, int number, std::string name) {
  if (!space) throw base::InputError("an argument needs a function space");
  if (name.empty()) name = number == 1 ? space->name : space->name == "u" ? "v" : "v_" + space->name;
  ExprNode draft;
  draft.kind = NodeKind::argument;
  draft.indices = {number};
  draft.space = std::move(space);
  draft.name = std::move(name);
  return make_expr(std::move(draft));
}

Expr dimensional(NodeKind kind, int n) {
  ExprNode draft;
  draft.kind = kind;
  draft.indices = {n};
  return make_expr(std::move(draft));
}

Expr spatial_derivative(NodeKind kind, const Expr& a, int gdim, int implied_gdim) {
  if (gdim == 0) gdim = a.node().gdim;
  if (gdim == 0) gdim = implied_gdim;
  if (gdim == 0)
    throw base::InputError(
        fmt::format("{}({}): the dimension of space is not known from '{}'", info(kind).name, summary(a), summary(a)));
  check_gdim(gdim);
  ExprNode draft;
  draft.kind = kind;
  draft.operands = {a};
  draft.indices = {gdim};
  return make_expr(std::move(draft));
}

Expr unary(NodeKind kind, const Expr& a) { return make_expr(kind, {a}); }
Expr binary(NodeKind kind, const Expr& a, const Expr& b) { return make_expr(kind, {a, b}); }

} // namespace

Expr constant(std::string name, double value) { return constant(std::move(name), {}, {value}); }

Expr constant(std::string name, std::vector<int> shape, std::vector<double> values) {
  auto data = std::make_shared<CoefficientData>();
  data->name = std::move(name);
  data->shape = std::move(shape);
  data->values = std::move(values);
  return coefficient(std::move(data));
}

Expr parameter(std::string name) { return parameter(std::move(name), {}); }

Expr parameter(std::string name, std::vector<int> shape) {
  auto data = std::make_shared<CoefficientData>();
  data->name = std::move(name);
  data->shape = std::move(shape);
  check_shape(*data);
  data->values.assign(static_cast<std::size_t>(num_components(data->shape)), std::numeric_limits<double>::quiet_NaN());
  return coefficient_node(std::move(data));
}

Expr by_tag(std::string name, std::vector<std::pair<std::string, double>> values) {
  auto data = std::make_shared<CoefficientData>();
  data->name = std::move(name);
  data->is_by_tag = true;
  for (auto& [tag, value] : values) data->by_tag.emplace_back(std::move(tag), std::vector{value});
  return coefficient(std::move(data));
}

Expr coefficient(std::shared_ptr<const CoefficientData> data) {
  check_shape(*data);
  if (!data->is_by_tag) check_values(*data, data->values, "");
  if (data->is_by_tag && data->by_tag.empty())
    throw base::InputError(fmt::format("coefficient '{}': no tag has a value", data->name));
  for (const auto& [tag, values] : data->by_tag) check_values(*data, values, fmt::format(", tag {}", tag));
  return coefficient_node(std::move(data));
}

Expr field(std::shared_ptr<const FieldSpace> space, std::string name) {
  if (!space) throw base::InputError(fmt::format("field '{}' needs a function space", name));
  ExprNode draft;
  draft.kind = NodeKind::field;
  draft.space = std::move(space);
  draft.name = std::move(name);
  return make_expr(std::move(draft));
}

Expr test_function(std::shared_ptr<const FieldSpace> space, std::string name) {
  return argument(std::move(space), 0, std::move(name));
}
Expr trial_function(std::shared_ptr<const FieldSpace> space, std::string name) {
  return argument(std::move(space), 1, std::move(name));
}
std::pair<Expr, Expr> arguments(const std::shared_ptr<const FieldSpace>& space) {
  return {trial_function(space), test_function(space)};
}

Expr spatial_coordinate(int gdim) {
  check_gdim(gdim);
  return dimensional(NodeKind::coordinate, gdim);
}
Expr facet_normal(int gdim) {
  check_gdim(gdim);
  return dimensional(NodeKind::normal, gdim);
}
Expr identity(int n) {
  constexpr int max_size = 32; // its square stays within max_components
  if (n < 1 || n > max_size)
    throw base::InputError(fmt::format("Identity({}): the size must lie between 1 and {}", n, max_size));
  return dimensional(NodeKind::identity, n);
}

Expr as_tensor(std::vector<Expr> entries) { return make_expr(NodeKind::list, std::move(entries)); }

Expr as_vector(std::vector<Expr> entries) {
  for (const auto& entry : entries)
    if (entry.rank() != 0)
      throw base::InputError(
          fmt::format("as_vector takes scalars, but '{}' has {}", summary(entry), shape_text(entry.shape())));
  return as_tensor(std::move(entries));
}

Expr as_matrix(const std::vector<std::vector<Expr>>& rows) {
  std::vector<Expr> entries;
  for (const auto& row : rows) entries.push_back(as_vector(row));
  return as_tensor(std::move(entries));
}

Expr operator+(const Expr& a, const Expr& b) { return binary(NodeKind::add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return binary(NodeKind::sub, a, b); }

Expr operator-(const Expr& a) {
  if (a.kind() == NodeKind::literal) return -a.node().value;
  if (a.kind() == NodeKind::neg) return a.operand(0);
  return unary(NodeKind::neg, a);
}

Expr operator*(const Expr& a, const Expr& b) {
  if (b.rank() == 0 && a.rank() > 0) return binary(NodeKind::mul, b, a);
  if (a.rank() == 2 && (b.rank() == 1 || b.rank() == 2)) return binary(NodeKind::dot, a, b);
  if (a.rank() > 0)
    throw base::InputError(fmt::format("'*' does not multiply '{}' ({}) with '{}' ({}): use inner, dot or outer",
                                       summary(a), shape_text(a.shape()), summary(b), shape_text(b.shape())));
  return binary(NodeKind::mul, a, b);
}

Expr operator/(const Expr& a, const Expr& b) { return binary(NodeKind::div, a, b); }
Expr pow(const Expr& base, const Expr& exponent) { return binary(NodeKind::pow, base, exponent); }

Expr inner(const Expr& a, const Expr& b) {
  return a.rank() == 0 && b.rank() == 0 ? binary(NodeKind::mul, a, b) : binary(NodeKind::inner, a, b);
}
Expr dot(const Expr& a, const Expr& b) {
  return a.rank() == 0 && b.rank() == 0 ? binary(NodeKind::mul, a, b) : binary(NodeKind::dot, a, b);
}
Expr outer(const Expr& a, const Expr& b) {
  return a.rank() == 0 || b.rank() == 0 ? a * b : binary(NodeKind::outer, a, b);
}
Expr cross(const Expr& a, const Expr& b) { return binary(NodeKind::cross, a, b); }

Expr perp(const Expr& v) {
  if (v.shape() != std::vector{2})
    throw base::InputError(
        fmt::format("perp takes a vector with 2 components, but '{}' has {}", summary(v), shape_text(v.shape())));
  return as_vector({-v[1], v[0]});
}

Expr transpose(const Expr& a) {
  if (a.kind() == NodeKind::transpose) return a.operand(0);
  return unary(NodeKind::transpose, a);
}
Expr tr(const Expr& a) { return unary(NodeKind::tr, a); }
Expr det(const Expr& a) { return a.rank() == 0 ? a : unary(NodeKind::det, a); }
Expr inv(const Expr& a) { return a.rank() == 0 ? 1.0 / a : unary(NodeKind::inv, a); }
Expr cofac(const Expr& a) { return unary(NodeKind::cofac, a); }
Expr dev(const Expr& a) { return unary(NodeKind::dev, a); }
Expr sym(const Expr& a) { return unary(NodeKind::sym, a); }
Expr skew(const Expr& a) { return unary(NodeKind::skew, a); }

Expr elem_mult(const Expr& a, const Expr& b) {
  if (a.shape() != b.shape())
    throw base::InputError(fmt::format("elem_mult takes equal shapes, but '{}' has {} and '{}' has {}", summary(a),
                                       shape_text(a.shape()), summary(b), shape_text(b.shape())));
  if (a.rank() == 0) return a * b;
  std::vector<Expr> entries;
  for (int i = 0; i < a.shape()[0]; ++i) entries.push_back(elem_mult(a[i], b[i]));
  return as_tensor(std::move(entries));
}

Expr grad(const Expr& a, int gdim) { return spatial_derivative(NodeKind::grad, a, gdim, 0); }

Expr div(const Expr& a, int gdim) {
  return spatial_derivative(NodeKind::divergence, a, gdim,
                            a.rank() > 0 && a.shape().back() <= 3 ? a.shape().back() : 0);
}

Expr curl(const Expr& a, int gdim) {
  const int implied = a.rank() == 0 ? 2 : a.rank() == 1 && (a.shape()[0] == 2 || a.shape()[0] == 3) ? a.shape()[0] : 0;
  return spatial_derivative(NodeKind::curl, a, gdim, implied);
}

Expr nabla_grad(const Expr& a, int gdim) {
  const Expr gradient = grad(a, gdim);
  return a.rank() == 0 ? gradient : transpose(gradient);
}

Expr nabla_div(const Expr& a, int gdim) { return a.rank() == 2 ? div(transpose(a), gdim) : div(a, gdim); }

Expr partial(const Expr& a, int axis, int gdim) {
  const Expr gradient = grad(a, gdim);
  if (axis < 0 || axis >= gradient.shape().back())
    throw base::InputError(fmt::format("the derivative of '{}' along axis {}: axes count from 0 to {}", summary(a),
                                       axis, gradient.shape().back() - 1));
  std::vector<int> indices(gradient.shape().size(), -1);
  indices.back() = axis;
  return gradient.at(std::move(indices));
}

Expr derivative(const Expr& a, const Expr& field, const Expr& direction) {
  return make_expr(NodeKind::derivative, {a, field, direction});
}

Expr abs(const Expr& a) { return unary(NodeKind::abs, a); }
Expr sign(const Expr& a) { return unary(NodeKind::sign, a); }
Expr sqrt(const Expr& a) { return unary(NodeKind::sqrt, a); }
Expr exp(const Expr& a) { return unary(NodeKind::exp, a); }
Expr ln(const Expr& a) { return unary(NodeKind::ln, a); }
Expr sin(const Expr& a) { return unary(NodeKind::sin, a); }
Expr cos(const Expr& a) { return unary(NodeKind::cos, a); }
Expr tan(const Expr& a) { return unary(NodeKind::tan, a); }
Expr asin(const Expr& a) { return unary(NodeKind::asin, a); }
Expr acos(const Expr& a) { return unary(NodeKind::acos, a); }
Expr atan(const Expr& a) { return unary(NodeKind::atan, a); }
Expr atan2(const Expr& y, const Expr& x) { return binary(NodeKind::atan2, y, x); }
Expr sinh(const Expr& a) { return unary(NodeKind::sinh, a); }
Expr cosh(const Expr& a) { return unary(NodeKind::cosh, a); }
Expr tanh(const Expr& a) { return unary(NodeKind::tanh, a); }
Expr min_value(const Expr& a, const Expr& b) { return binary(NodeKind::min_value, a, b); }
Expr max_value(const Expr& a, const Expr& b) { return binary(NodeKind::max_value, a, b); }

Expr lt(const Expr& a, const Expr& b) { return binary(NodeKind::lt, a, b); }
Expr le(const Expr& a, const Expr& b) { return binary(NodeKind::le, a, b); }
Expr gt(const Expr& a, const Expr& b) { return lt(b, a); }
Expr ge(const Expr& a, const Expr& b) { return le(b, a); }
Expr eq(const Expr& a, const Expr& b) { return binary(NodeKind::eq, a, b); }
Expr ne(const Expr& a, const Expr& b) { return binary(NodeKind::ne, a, b); }
Expr logical_and(const Expr& a, const Expr& b) { return binary(NodeKind::logical_and, a, b); }
Expr logical_or(const Expr& a, const Expr& b) { return binary(NodeKind::logical_or, a, b); }
Expr logical_not(const Expr& a) { return unary(NodeKind::logical_not, a); }
Expr conditional(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  return make_expr(NodeKind::conditional, {condition, if_true, if_false});
}

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/time_derivative.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <rafter/form/printer.hpp>
#include <rafter/form/walk.hpp>

namespace rafter::form {
namespace {

bool is_time_derivative(const Expr& e) { return e.kind() == NodeKind::field && e.node().name.starts_with("dt("); }

/// The fields of an expression, each once. Throws InputError for what has no derivative in time.
std::vector<Expr> fields_of(const Expr& e) {
  std::vector<Expr> fields;
  walk({e}, [&](const Expr& node) {
    if (node.kind() == NodeKind::argument)
      throw base::InputError(fmt::format(
          "dt({}): '{}' is a test or trial function; accepted are expressions of the fields themselves, which problem "
          "files have in [forms] with [time]",
          summary(e), summary(node)));
    if (is_time_derivative(node))
      throw base::InputError(
          fmt::format("dt({}) is a second derivative in time: take dt of a field as a further field, "
                      "which makes a system of first order",
                      summary(e)));
    if (node.kind() == NodeKind::coefficient && node.node().coefficient->name == time_name)
      throw base::InputError(fmt::format("dt({}): the expression holds the time {} itself: write its derivative by the "
                                         "product rule",
                                         summary(e), time_name));
    if (node.kind() == NodeKind::field) fields.push_back(node);
    return true;
  });
  if (fields.empty())
    throw base::InputError(
        fmt::format("dt({}): the expression holds no field, so it does not change in time", summary(e)));
  return fields;
}

Expr derivative_of_field(const Expr& field) {
  return form::field(field.node().space, time_derivative_name(field.node().name));
}

} // namespace

std::string time_derivative_name(const std::string& field) { return "dt(" + field + ")"; }

Expr dt(const Expr& e) {
  const auto fields = fields_of(e);
  if (e.kind() == NodeKind::field) return derivative_of_field(e);
  std::optional<Expr> sum;
  for (const auto& field : fields) {
    const Expr part = derivative(e, field, derivative_of_field(field));
    sum = sum ? *sum + part : part;
  }
  return *sum;
}

bool has_time_derivative(const Expr& e) { return any_node(e, is_time_derivative); }

bool has_time_derivative(const Form& form) {
  return std::ranges::any_of(form.integrals(),
                             [](const Integral& integral) { return has_time_derivative(integral.integrand); });
}

} // namespace rafter::form

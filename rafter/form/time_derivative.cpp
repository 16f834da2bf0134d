// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/time_derivative.hpp>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>
#include <rafter/form/printer.hpp>

namespace rafter::form {
namespace {

/// Calls `visit` once for each node of an expression.
void for_nodes(const Expr& e, std::unordered_set<const ExprNode*>& is_seen,
               const std::function<void(const Expr&)>& visit) {
  if (!is_seen.insert(&e.node()).second) return;
  visit(e);
  for (const auto& operand : e.operands()) for_nodes(operand, is_seen, visit);
}

bool is_time_derivative(const Expr& e) { return e.kind() == NodeKind::field && e.node().name.starts_with("dt("); }

/// The fields of an expression, each once. Throws InputError for what has no derivative in time.
std::vector<Expr> fields_of(const Expr& e) {
  std::vector<Expr> fields;
  std::unordered_set<const ExprNode*> is_seen;
  for_nodes(e, is_seen, [&](const Expr& node) {
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

bool has_time_derivative(const Expr& e) {
  bool is_found = false;
  std::unordered_set<const ExprNode*> is_seen;
  for_nodes(e, is_seen, [&](const Expr& node) { is_found = is_found || is_time_derivative(node); });
  return is_found;
}

bool has_time_derivative(const Form& form) {
  return std::ranges::any_of(form.integrals(),
                             [](const Integral& integral) { return has_time_derivative(integral.integrand); });
}

} // namespace rafter::form

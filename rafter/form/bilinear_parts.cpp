// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/bilinear_parts.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include <rafter/form/lowering.hpp>
#include <rafter/form/printer.hpp>

namespace rafter::form {
namespace {

void require_bilinear(const Form& form, const char* who) {
  if (form.rank() != 2)
    throw base::InputError(
        fmt::format("{}: a bilinear form is expected, but '{}' has rank {}", who, to_text(form, 80), form.rank()));
}

Expr zero(const std::vector<int>& shape, std::size_t axis = 0) {
  if (axis == shape.size()) return {0.0};
  return as_tensor(std::vector<Expr>(static_cast<std::size_t>(shape[axis]), zero(shape, axis + 1)));
}

/// Rebuilds expressions with the arguments of all spaces but one set to zero. Zeros are not written into the result:
/// they vanish from sums, and take the products that they are in with them.
class OtherFieldsRemoved {
public:
  explicit OtherFieldsRemoved(std::shared_ptr<const FieldSpace> space) : space_(std::move(space)) {}

  /// Returns what is left of an expression, or nothing where it vanishes.
  std::optional<Expr> operator()(const Expr& e) {
    const auto known = memo_.find(&e.node());
    if (known != memo_.end()) return known->second;
    auto result = rebuilt(e);
    memo_.emplace(&e.node(), result);
    return result;
  }

private:
  std::optional<Expr> rebuilt(const Expr& e) {
    if (e.kind() == NodeKind::argument) return e.node().space == space_ ? std::optional(e) : std::nullopt;
    if (e.operands().empty()) return e;
    std::vector<std::optional<Expr>> operands;
    for (const auto& operand : e.operands()) operands.push_back((*this)(operand));
    if (std::ranges::all_of(operands, [](const auto& operand) { return operand.has_value(); }))
      return with_operands(e, operands);
    switch (info(e.kind()).linearity) {
    case Linearity::sum:
      return sum(e, operands);
    case Linearity::branch:
      if (!operands[1] && !operands[2]) return std::nullopt;
      return with_operands(e, operands);
    default: // functions that are linear in their operand, and products and quotients
      return std::nullopt;
    }
  }

  static std::optional<Expr> sum(const Expr& e, const std::vector<std::optional<Expr>>& operands) {
    if (std::ranges::none_of(operands, [](const auto& operand) { return operand.has_value(); })) return std::nullopt;
    if (e.kind() == NodeKind::list) return with_operands(e, operands);
    if (operands[0]) return operands[0];
    return e.kind() == NodeKind::sub ? -*operands[1] : *operands[1];
  }

  /// Returns the same node with other operands, of which those that vanish are zeros of their shapes.
  static Expr with_operands(const Expr& e, const std::vector<std::optional<Expr>>& operands) {
    ExprNode draft = e.node();
    draft.gdim = 0;
    draft.derivative_order = -1;
    draft.has_normal = false;
    for (std::size_t i = 0; i < operands.size(); ++i)
      draft.operands[i] = operands[i] ? *operands[i] : zero(e.operand(i).shape());
    return make_expr(std::move(draft));
  }

  std::shared_ptr<const FieldSpace> space_;
  std::unordered_map<const ExprNode*, std::optional<Expr>> memo_;
};

/// A component of an argument, or of one of its derivatives.
using Slot = std::tuple<const FieldSpace*, int, int>;
using PairCoefficients = std::map<std::pair<Slot, Slot>, NodeId>; ///< by test and trial slot

/// Finds the coefficients of all pairs of slots in an integrand; nothing where it is not linear in the trial functions.
std::optional<PairCoefficients> pair_coefficients(const LoweredForm& form, const LoweredIntegral& integral) {
  const auto is_trial = [](const Atom& atom) { return atom.kind == AtomKind::trial; };
  const auto space = [](const auto& spaces, int number) { return spaces[static_cast<std::size_t>(number)].get(); };
  PairCoefficients result;
  for (const auto& term : integral.test_terms) {
    std::map<Atom, NodeId> of_trial;
    if (!integral.graph->linear_coefficients(term.coefficient, is_trial, of_trial)) return std::nullopt;
    const Slot test{space(form.test_spaces, term.field), term.component, term.derivative};
    for (const auto& [atom, coefficient] : of_trial)
      if (!integral.graph->is_constant(coefficient, 0))
        result[{test, Slot{space(form.trial_spaces, atom.a), atom.b, atom.c}}] = coefficient;
  }
  return result;
}

} // namespace

Form diagonal_block(const Form& form, const std::shared_ptr<const FieldSpace>& space) {
  require_bilinear(form, "diagonal_block");
  OtherFieldsRemoved remove(space);
  std::vector<Integral> integrals;
  for (const auto& [integrand, measure] : form.integrals())
    if (const auto left = remove(integrand)) integrals.push_back({*left, measure});
  return Form(std::move(integrals));
}

bool is_symmetric(const LoweredForm& form) {
  return std::ranges::all_of(form.integrals, [&](const LoweredIntegral& integral) {
    const auto coefficients = pair_coefficients(form, integral);
    return coefficients && std::ranges::all_of(*coefficients, [&](const auto& entry) {
             const auto transposed = coefficients->find({entry.first.second, entry.first.first});
             return transposed != coefficients->end() && transposed->second == entry.second;
           });
  });
}

Form symmetric_part(const Form& form) {
  require_bilinear(form, "symmetric_part");
  return is_symmetric(lower(form)) ? form : Expr(0.5) * (form + adjoint(form));
}

} // namespace rafter::form

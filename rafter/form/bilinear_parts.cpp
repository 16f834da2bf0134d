// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/bilinear_parts.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
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
using PairCoefficients = std::map<std::pair<Slot, Slot>, NodeId>; ///< coefficients by test and trial slot

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

/// Says whether two expressions of each pair have equal values, up to rounding, wherever they are evaluated: at points
/// whose coordinates, the values of all atoms, are drawn at random from an interval in which logarithms and roots of
/// deformations have values. Expressions with branches are not compared, as samples may miss one of them.
bool are_equal_at_samples(const ScalarGraph& graph, const std::vector<std::pair<NodeId, NodeId>>& pairs) {
  constexpr int num_samples = 3;
  constexpr double least = 0.1, length = 0.3, tolerance = 1e-10;
  std::vector<NodeId> roots;
  for (const auto& [a, b] : pairs) roots.insert(roots.end(), {a, b});
  if (std::ranges::any_of(graph.reachable(roots), [&](NodeId id) { return graph[id].op >= ScalarOp::abs; }))
    return false;
  std::mt19937 generator(1); // NOLINT(cert-msc32-c,cert-msc51-cpp): every run has to decide alike
  for (int sample = 0; sample < num_samples; ++sample) {
    std::map<Atom, double> drawn;
    const auto values = graph.evaluate(roots, [&](const Atom& atom) {
      const auto [entry, is_new] = drawn.try_emplace(atom, 0.0);
      if (is_new) entry->second = least + length * static_cast<double>(generator()) / 0x1p32;
      return entry->second;
    });
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < values.size(); i += 2)
      if (!(std::abs(values[i] - values[i + 1]) <= tolerance * largest)) return false; // also where one is not finite
  }
  return true;
}

/// The number of a space in a table, where it is put if it is missing.
int number_in(std::vector<std::shared_ptr<const FieldSpace>>& spaces, const FieldSpace* space,
              const std::vector<std::shared_ptr<const FieldSpace>>& known) {
  const auto is_it = [&](const auto& entry) { return entry.get() == space; };
  const auto found = std::ranges::find_if(spaces, is_it);
  if (found != spaces.end()) return static_cast<int>(found - spaces.begin());
  spaces.push_back(*std::ranges::find_if(known, is_it));
  return static_cast<int>(spaces.size()) - 1;
}

/// Replaces the coefficient of each pair of slots in an integrand of `form` by the mean of both ways round.
void make_symmetric(LoweredForm& form, LoweredIntegral& integral) {
  const auto of_pairs = pair_coefficients(form, integral);
  if (!of_pairs) throw base::InputError("symmetric_part: the form is not linear in the trial functions");
  auto graph = std::make_shared<ScalarGraph>(*integral.graph);
  const auto atoms = [&form](const Slot& test, const Slot& trial) {
    const int row = number_in(form.test_spaces, std::get<0>(test), form.trial_spaces);
    const int column = number_in(form.trial_spaces, std::get<0>(trial), form.test_spaces);
    return std::pair(Atom{AtomKind::test, row, std::get<1>(test), std::get<2>(test)},
                     Atom{AtomKind::trial, column, std::get<1>(trial), std::get<2>(trial)});
  };
  // Nodes are made in the order of atoms, since that of slots is one of addresses, which differ from run to run.
  std::map<std::pair<Atom, Atom>, std::vector<NodeId>> either_way;
  for (const auto& [slots, coefficient] : *of_pairs) {
    either_way[atoms(slots.first, slots.second)].push_back(coefficient);
    either_way[atoms(slots.second, slots.first)].push_back(coefficient);
  }
  std::map<Atom, NodeId> of_tests;
  for (auto& [slots, coefficients] : either_way) {
    std::ranges::sort(coefficients);
    const NodeId sum = coefficients.size() == 1 ? coefficients[0] : graph->add(coefficients[0], coefficients[1]);
    const NodeId trial = graph->atom(slots.second);
    const NodeId product = graph->mul(graph->mul(graph->constant(0.5), sum), trial);
    const auto [entry, is_new] = of_tests.try_emplace(slots.first, product);
    if (!is_new) entry->second = graph->add(entry->second, product);
  }
  integral.test_terms.clear();
  for (const auto& [test, coefficient] : of_tests)
    if (!graph->is_constant(coefficient, 0)) integral.test_terms.push_back({test.a, test.b, test.c, coefficient});
  integral.graph = std::move(graph);
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
    if (!coefficients) return false;
    std::vector<std::pair<NodeId, NodeId>> different;
    for (const auto& [slots, coefficient] : *coefficients) {
      const auto transposed = coefficients->find({slots.second, slots.first});
      if (transposed == coefficients->end()) return false;
      if (transposed->second != coefficient) different.emplace_back(coefficient, transposed->second);
    }
    return different.empty() || are_equal_at_samples(*integral.graph, different);
  });
}

Form symmetric_part(const Form& form) {
  require_bilinear(form, "symmetric_part");
  return is_symmetric(lower(form)) ? form : Expr(0.5) * (form + adjoint(form));
}

LoweredForm symmetric_part(const LoweredForm& form) {
  if (is_symmetric(form)) return form;
  if (form.source != nullptr) return lower(symmetric_part(*form.source));
  auto result = form;
  for (auto& integral : result.integrals) make_symmetric(result, integral);
  std::erase_if(result.integrals, [](const auto& integral) { return integral.test_terms.empty(); });
  result.signature = signature_of(result);
  return result;
}

} // namespace rafter::form

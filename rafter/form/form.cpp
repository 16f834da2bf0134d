// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/form.hpp>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include <fmt/format.h>
#include <rafter/form/printer.hpp>
#include <rafter/form/walk.hpp>

namespace rafter::form {

namespace {

/// A sum of measures has at most so many: definitions of sums that use each other twice double them each time.
constexpr std::size_t max_measures = 4096;

const char* rank_text(int rank) {
  return rank == 0   ? "a functional (no test function)"
         : rank == 1 ? "linear (a test function)"
                     : "bilinear (test and trial function)";
}

void check_integrand(const Integral& integral) {
  const auto& [integrand, measure] = integral;
  if (integrand.rank() != 0)
    throw base::InputError(fmt::format("an integrand must be a scalar, but '{}' has {}", summary(integrand),
                                       shape_text(integrand.shape())));
  if (is_condition(integrand.kind()))
    throw base::InputError(fmt::format("an integrand must be a number, but '{}' is a condition", summary(integrand)));
  if (measure.kind == MeasureKind::cell && integrand.node().has_normal)
    throw base::InputError(
        fmt::format("the facet normal n in '{}' has no meaning inside cells: integrate over ds", summary(integrand)));
}

/// nullopt: the integrand is the number 0
std::optional<int> integral_rank(const Integral& integral) {
  const auto arguments = linear_arguments(integral.integrand);
  if (!arguments) return std::nullopt;
  if (*arguments == 2)
    throw LinearityError(
        fmt::format("'{}' contains a trial function but no test function", summary(integral.integrand)),
        integral.integrand);
  return *arguments == 3 ? 2 : *arguments;
}

using Replacement = std::function<std::optional<Expr>(const Expr&)>;

/// Rebuilds an expression with some terminals replaced; shared parts are rebuilt once.
class Replacer {
public:
  explicit Replacer(Replacement replacement) : replacement_(std::move(replacement)) {}

  Expr operator()(const Expr& e) {
    const auto known = memo_.find(&e.node());
    if (known != memo_.end()) return known->second;
    Expr result = rebuilt(e);
    memo_.emplace(&e.node(), result);
    return result;
  }

private:
  Expr rebuilt(const Expr& e) {
    if (auto replaced = replacement_(e)) return *replaced;
    if (e.operands().empty()) return e;
    ExprNode draft = e.node();
    draft.gdim = 0;
    draft.derivative_order = -1;
    draft.has_normal = false;
    for (auto& operand : draft.operands) operand = (*this)(operand);
    return make_expr(std::move(draft));
  }

  Replacement replacement_;
  std::unordered_map<const ExprNode*, Expr> memo_;
};

Form map_integrands(const Form& form, const std::function<Expr(const Expr&)>& change) {
  std::vector<Integral> integrals;
  for (const auto& [integrand, measure] : form.integrals()) integrals.push_back({change(integrand), measure});
  return Form(std::move(integrals));
}

bool varies(const Expr& e) {
  return e.kind() == NodeKind::field || e.kind() == NodeKind::argument || e.kind() == NodeKind::coordinate ||
         e.kind() == NodeKind::normal || (e.kind() == NodeKind::coefficient && e.node().coefficient->is_by_tag);
}

void check_factor(const Expr& factor) {
  if (factor.rank() != 0 || any_node(factor, varies))
    throw base::InputError(
        fmt::format("a form can be multiplied by a constant scalar only, not by '{}': write it inside the integral",
                    summary(factor)));
}

void check_field(const Expr& field) {
  if (field.kind() != NodeKind::field)
    throw base::InputError(fmt::format("'{}' is not a coefficient field", summary(field)));
}

} // namespace

MeasureSum MeasureSum::restricted(std::vector<Tag> tags) const {
  if (tags.empty()) throw base::InputError("a measure restricted to no tags is empty");
  std::vector<std::string> names;
  for (auto& tag : tags) {
    if (tag.text.empty() || tag.text.find_first_of("\"\n") != std::string::npos)
      throw base::InputError(fmt::format("'{}' is not a tag: give a number or a name without quotes", tag.text));
    names.push_back(std::move(tag.text));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  MeasureSum result = *this;
  for (auto& measure : result.measures_) {
    if (!measure.tags.empty()) throw base::InputError(fmt::format("the measure {} has tags already", to_text(measure)));
    measure.tags = names;
  }
  return result;
}

MeasureSum MeasureSum::with_degree(int degree) const {
  constexpr int max_rule_degree = 60; // element::max_quadrature_degree: no rule of a cell goes further
  if (degree < 0 || degree > max_rule_degree)
    throw base::InputError(fmt::format("quadrature degree {} is out of range (0 to {})", degree, max_rule_degree));
  MeasureSum result = *this;
  for (auto& measure : result.measures_) measure.degree = degree;
  return result;
}

MeasureSum operator+(MeasureSum a, const MeasureSum& b) {
  if (a.measures_.size() + b.measures_.size() > max_measures)
    throw base::InputError(fmt::format("a sum of {} and {} measures: a sum has at most {}", a.measures_.size(),
                                       b.measures_.size(), max_measures));
  a.measures_.insert(a.measures_.end(), b.measures_.begin(), b.measures_.end());
  return a;
}

Form::Form(std::vector<Integral> integrals) {
  for (auto& integral : integrals) add(std::move(integral));
}

void Form::add(Integral integral) {
  check_integrand(integral);
  const auto rank = integral_rank(integral);
  if (rank && rank_ && *rank != *rank_)
    throw LinearityError(
        fmt::format("the terms of a form must have the same arguments: '{}*{}' is {}, the terms before it are {}",
                    summary(integral.integrand), to_text(integral.measure), rank_text(*rank), rank_text(*rank_)),
        integral.integrand);
  if (rank) rank_ = rank;
  const auto same =
      std::find_if(integrals_.begin(), integrals_.end(), [&](const auto& i) { return i.measure == integral.measure; });
  if (same == integrals_.end() && integrals_.size() == max_measures)
    throw base::InputError(fmt::format("a form has integrals over at most {} different measures", max_measures));
  if (same == integrals_.end())
    integrals_.push_back(std::move(integral));
  else if (is_literal(same->integrand, 0))
    same->integrand = integral.integrand;
  else if (!is_literal(integral.integrand, 0))
    same->integrand = same->integrand + integral.integrand;
}

Form operator*(const Expr& integrand, const MeasureSum& measure) {
  std::vector<Integral> integrals;
  for (const auto& one : measure.measures()) integrals.push_back({integrand, one});
  return Form(std::move(integrals));
}

Form operator+(const Form& a, const Form& b) {
  Form result = a;
  for (const auto& integral : b.integrals()) result.add(integral);
  return result;
}

Form operator-(const Form& a) {
  return map_integrands(a, [](const Expr& e) { return -e; });
}
Form operator-(const Form& a, const Form& b) { return a + -b; }

Form operator*(const Expr& factor, const Form& form) {
  check_factor(factor);
  return map_integrands(form, [&factor](const Expr& e) { return factor * e; });
}
Form operator/(const Form& form, const Expr& divisor) {
  check_factor(divisor);
  return map_integrands(form, [&divisor](const Expr& e) { return e / divisor; });
}

Form action(const Form& form, const Expr& field) { return action(form, std::vector{field}); }

Form action(const Form& form, const std::vector<Expr>& fields) {
  for (const auto& field : fields) check_field(field);
  if (form.rank() != 2)
    throw base::InputError(
        fmt::format("action takes a bilinear form, but '{}' is {}", to_text(form, 80), rank_text(form.rank())));
  Replacer replace([&fields](const Expr& e) -> std::optional<Expr> {
    if (e.kind() != NodeKind::argument || e.node().indices[0] != 1) return std::nullopt;
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&e](const Expr& f) { return f.node().space == e.node().space; });
    if (field == fields.end())
      throw base::InputError(fmt::format("action: no field is given for the trial function '{}' of space '{}'",
                                         e.node().name, e.node().space->name));
    return *field;
  });
  return map_integrands(form, [&replace](const Expr& e) { return replace(e); });
}

namespace {

/// Returns the form with the nodes of these kinds on the other spaces.
Form on(const Form& form, const std::vector<SpacePair>& spaces, const std::vector<NodeKind>& kinds) {
  for (const auto& [old, other] : spaces) {
    if (!old || !other) throw base::InputError("on: a pair of spaces is incomplete");
    if (old->components != other->components || old->gdim != other->gdim)
      throw base::InputError(fmt::format("on: '{}' has {} components in {} dimensions, '{}' has {} in {}", old->name,
                                         old->num_components(), old->gdim, other->name, other->num_components(),
                                         other->gdim));
  }
  Replacer replace([&](const Expr& e) -> std::optional<Expr> {
    if (std::ranges::find(kinds, e.kind()) == kinds.end()) return std::nullopt;
    for (const auto& pair : spaces)
      if (pair.first == e.node().space) {
        ExprNode draft = e.node();
        draft.space = pair.second;
        return make_expr(std::move(draft));
      }
    return std::nullopt;
  });
  return map_integrands(form, [&replace](const Expr& e) { return replace(e); });
}

} // namespace

Form on(const Form& form, const std::vector<SpacePair>& spaces) {
  return on(form, spaces, {NodeKind::argument, NodeKind::field});
}

Form arguments_on(const Form& form, const std::vector<SpacePair>& spaces) {
  return on(form, spaces, {NodeKind::argument});
}

Form adjoint(const Form& form) {
  if (form.rank() != 2)
    throw base::InputError(
        fmt::format("adjoint takes a bilinear form, but '{}' is {}", to_text(form, 80), rank_text(form.rank())));
  Replacer replace([](const Expr& e) -> std::optional<Expr> {
    if (e.kind() != NodeKind::argument) return std::nullopt;
    return e.node().indices[0] == 1 ? test_function(e.node().space) : trial_function(e.node().space);
  });
  return map_integrands(form, [&replace](const Expr& e) { return replace(e); });
}

Form derivative(const Form& form, const Expr& field) {
  check_field(field);
  if (form.rank() == 2)
    throw base::InputError("the derivative of a bilinear form needs a direction: derivative(a, u, w)");
  const auto& space = field.node().space;
  return derivative(form, field,
                    form.rank() == 0 ? test_function(space) : trial_function(space, "d" + field.node().name));
}

Form derivative(const Form& form, const Expr& field, const Expr& direction) {
  check_field(field);
  return map_integrands(form, [&](const Expr& e) { return derivative(e, field, direction); });
}

Form derivative(const Form& form, const std::vector<Expr>& fields) {
  Form result;
  for (const auto& field : fields) result = result + derivative(form, field);
  return result;
}

} // namespace rafter::form

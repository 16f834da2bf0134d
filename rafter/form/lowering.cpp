// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/lowering.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/form/components.hpp>
#include <rafter/form/degree.hpp>
#include <rafter/form/printer.hpp>
#include <rafter/form/walk.hpp>

namespace rafter::form {

namespace {

void extract_test_terms(LoweredIntegral& integral, NodeId root) {
  std::map<Atom, NodeId> coefficients;
  NodeId offending = -1;
  const auto is_test = [](const Atom& atom) { return atom.kind == AtomKind::test; };
  if (!integral.graph->linear_coefficients(root, is_test, coefficients, &offending))
    throw base::InternalError("lowering: a form that passed the linearity check is not linear in its test function");
  for (const auto& [atom, coefficient] : coefficients)
    if (!integral.graph->is_constant(coefficient, 0))
      integral.test_terms.push_back({atom.a, atom.b, atom.c, coefficient});
}

LoweredIntegral lower_integral(const Integral& integral, int rank, AtomTables& tables) {
  LoweredIntegral result;
  result.measure = integral.measure;
  result.rank = rank;
  result.graph = std::make_shared<ScalarGraph>();
  ComponentEvaluator evaluate(*result.graph, tables);
  const NodeId root = evaluate(integral.integrand, 0);
  if (rank == 0)
    result.integrand = root;
  else
    extract_test_terms(result, root);
  const DegreeEstimate estimate = estimate_degree(integral.integrand);
  result.degree = estimate.degree;
  result.is_degree_exact = estimate.is_exact;
  result.max_field_degree = max_field_degree(integral.integrand);
  return result;
}

bool vanishes(const LoweredIntegral& integral) {
  return integral.rank == 0 ? integral.graph->is_constant(integral.integrand, 0) : integral.test_terms.empty();
}

/// Registers arguments and fields that simplification may remove from every integrand.
void register_spaces(const std::vector<Expr>& integrands, AtomTables& tables) {
  walk(integrands, [&tables](const Expr& e) {
    if (e.kind() == NodeKind::argument) tables.argument_atom(e.node().space, e.node().indices[0], 0);
    if (e.kind() == NodeKind::field) tables.field_atom(e.node().space, e.node().name, 0);
    return true;
  });
}

/// Content of a form without names and values, as text.
class Signature {
public:
  explicit Signature(const LoweredForm& form) {
    put("rank", form.rank);
    put_coefficients(form.parameters);
    put_coefficients(form.cell_coefficients);
    put_spaces(form.fields);
    put_spaces(form.test_spaces);
    put_spaces(form.trial_spaces);
    for (const auto& integral : form.integrals) put_integral(integral);
  }
  explicit Signature(const LoweredIntegral& integral) { put_integral(integral); }
  std::string hash() const { return base::content_hash(text_); }
  const std::string& text() const { return text_; }

private:
  template <class... T> void put(const char* what, const T&... values) {
    text_ += what;
    ((text_ += fmt::format(" {}", values)), ...);
    text_ += '\n';
  }

  void put_coefficients(const std::vector<CoefficientComponent>& components) {
    std::vector<const CoefficientData*> known;
    put("coefficients", components.size());
    for (const auto& [data, component] : components) {
      const auto found = std::find(known.begin(), known.end(), data.get());
      put("coefficient", found - known.begin(), component, shape_text(data->shape));
      if (found == known.end()) known.push_back(data.get());
    }
  }

  void put_spaces(const std::vector<std::shared_ptr<const FieldSpace>>& spaces) {
    put("spaces", spaces.size());
    for (const auto& s : spaces) put("space", s->family, s->degree, s->components, s->gdim, s->is_simplex);
  }

  void put_integral(const LoweredIntegral& integral) {
    put("integral", static_cast<int>(integral.measure.kind), integral.measure.degree, integral.degree,
        integral.is_degree_exact);
    for (const auto& tag : integral.measure.tags) put("tag", tag.size(), tag);
    std::vector<NodeId> roots;
    for (const auto& term : integral.test_terms) roots.push_back(term.coefficient);
    if (integral.integrand >= 0) roots.push_back(integral.integrand);
    std::unordered_map<NodeId, int> number{{-1, -1}};
    for (const NodeId id : integral.graph->reachable(roots)) {
      const ScalarNode& node = (*integral.graph)[id];
      const int next = static_cast<int>(number.size()) - 1;
      number[id] = next;
      put("node", static_cast<int>(node.op), number.at(node.operands[0]), number.at(node.operands[1]),
          number.at(node.operands[2]), std::bit_cast<std::uint64_t>(node.value), to_string(node.atom));
    }
    for (const auto& term : integral.test_terms)
      put("term", term.field, term.component, term.derivative, number.at(term.coefficient));
    put("integrand", number.at(integral.integrand), integral.value);
  }

  std::string text_;
};

/// Brings the trial spaces into the order of the test spaces, whichever term comes first in the text: diagonals pair
/// them by number.
void align(std::vector<std::shared_ptr<const FieldSpace>>& trial,
           const std::vector<std::shared_ptr<const FieldSpace>>& test) {
  const auto rank = [&](const auto& space) { return std::find(test.begin(), test.end(), space) - test.begin(); };
  std::stable_sort(trial.begin(), trial.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

} // namespace

std::string content_of(const LoweredIntegral& integral) { return Signature(integral).text(); }

std::string signature_of(const LoweredForm& form) { return Signature(form).hash(); }

LoweredForm arguments_on(const LoweredForm& form, const std::vector<SpacePair>& spaces) {
  if (form.source != nullptr) return lower(arguments_on(*form.source, spaces));
  LoweredForm result = form;
  for (auto* arguments : {&result.test_spaces, &result.trial_spaces})
    for (auto& space : *arguments)
      for (const auto& [old, other] : spaces)
        if (space == old) {
          if (old->degree != other->degree || old->components != other->components)
            throw base::InternalError("a form without a source is put on spaces of other degrees");
          space = other;
          break;
        }
  result.signature = signature_of(result);
  return result;
}

namespace {

/// Forms of one rank, with tables that they share; form i is value i.
LoweredForm lower_together(std::span<const Form> forms, int rank) {
  LoweredForm result;
  result.rank = rank;
  result.num_values = static_cast<int>(forms.size());
  AtomTables tables;
  std::vector<Expr> integrands;
  for (const auto& form : forms)
    for (const auto& integral : form.integrals()) integrands.push_back(integral.integrand);
  register_spaces(integrands, tables);
  align(tables.trial_spaces, tables.test_spaces);
  for (std::size_t i = 0; i < forms.size(); ++i)
    for (const auto& integral : forms[i].integrals()) {
      LoweredIntegral lowered = lower_integral(integral, rank, tables);
      lowered.value = static_cast<int>(i);
      if (!vanishes(lowered)) result.integrals.push_back(std::move(lowered));
    }
  result.parameters = std::move(tables.parameters);
  result.cell_coefficients = std::move(tables.cell_coefficients);
  result.fields = std::move(tables.fields);
  result.test_spaces = std::move(tables.test_spaces);
  result.trial_spaces = std::move(tables.trial_spaces);
  result.field_names = std::move(tables.field_names);
  result.signature = signature_of(result);
  return result;
}

} // namespace

LoweredForm lower(const Form& form) {
  auto result = lower_together({&form, 1}, form.rank());
  result.source = std::make_shared<const Form>(form);
  return result;
}

LoweredForm lower(std::span<const Form> functionals) {
  for (const auto& form : functionals)
    if (form.rank() != 0) throw base::InputError("functionals are expected, found a form with a test function");
  return lower_together(functionals, 0);
}

namespace {

LoweredExpression lower_components(const Expr& e) {
  if (is_condition(e.kind())) throw base::InputError(fmt::format("'{}' is a condition, not a number", summary(e)));
  auto graph = std::make_shared<ScalarGraph>();
  LoweredExpression result;
  result.shape = e.shape();
  result.graph = graph;
  AtomTables tables;
  ComponentEvaluator evaluate(*graph, tables);
  for (int i = 0; i < rafter::form::num_components(e.shape()); ++i) result.components.push_back(evaluate(e, i));
  result.order = graph->reachable(result.components);
  result.parameters = std::move(tables.parameters);
  result.cell_coefficients = std::move(tables.cell_coefficients);
  result.fields = std::move(tables.fields);
  return result;
}

} // namespace

LoweredExpression lower(const Expr& e) {
  LoweredExpression result = lower_components(e);
  for (const NodeId id : result.order) {
    const ScalarNode& node = (*result.graph)[id];
    if (node.op != ScalarOp::atom) continue;
    if (node.atom.kind == AtomKind::test || node.atom.kind == AtomKind::trial)
      throw base::InputError(
          fmt::format("'{}' has a test or trial function, which has no values at points", summary(e)));
    if (node.atom.kind == AtomKind::normal)
      throw base::InputError(fmt::format("'{}' has the normal n, which only the boundary has", summary(e)));
  }
  return result;
}

PointEvaluator::PointEvaluator(const Expr& e) {
  LoweredExpression lowered = lower_components(e);
  for (const NodeId id : lowered.order) {
    const ScalarNode& node = (*lowered.graph)[id];
    if (node.op != ScalarOp::atom) continue;
    if (node.atom.kind == AtomKind::coordinate)
      num_axes_ = std::max(num_axes_, node.atom.a + 1);
    else if (node.atom.kind != AtomKind::parameter)
      throw base::InputError(
          fmt::format("'{}' must depend on x and constants only (no fields, test or trial functions, normals, "
                      "or coefficients by tag)",
                      summary(e)));
  }
  for (const auto& [data, component] : lowered.parameters)
    parameters_.push_back(data->values[static_cast<std::size_t>(component)]);
  names_ = std::move(lowered.parameters);
  graph_ = std::move(lowered.graph);
  components_ = std::move(lowered.components);
  order_ = std::move(lowered.order);
}

bool PointEvaluator::has_parameter(const std::string& name) const {
  return std::ranges::any_of(names_, [&](const auto& parameter) { return parameter.coefficient->name == name; });
}

void PointEvaluator::set(const std::string& name, std::span<const double> values) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto& [data, component] = names_[i];
    if (data->name != name) continue;
    if (values.size() != data->values.size())
      throw base::InputError(
          fmt::format("parameter '{}' has {} components, found {} values", name, data->values.size(), values.size()));
    parameters_[i] = values[static_cast<std::size_t>(component)];
  }
}

std::vector<std::string> PointEvaluator::missing() const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (std::isnan(parameters_[i])) result.push_back(names_[i].coefficient->name);
  return result;
}

void PointEvaluator::operator()(std::span<const double> x, std::span<double> values) const {
  if (static_cast<int>(x.size()) < num_axes_ || values.size() != components_.size())
    throw base::InternalError(
        fmt::format("PointEvaluator: {} coordinates and {} values given", x.size(), values.size()));
  thread_local std::vector<double> scratch; // evaluation runs over millions of points
  scratch.resize(static_cast<std::size_t>(graph_->size()));
  const auto at = [](NodeId id) { return id < 0 ? 0.0 : scratch[static_cast<std::size_t>(id)]; };
  for (const NodeId id : order_) {
    const ScalarNode& node = (*graph_)[id];
    auto& value = scratch[static_cast<std::size_t>(id)];
    if (node.op == ScalarOp::constant)
      value = node.value;
    else if (node.op == ScalarOp::atom)
      value = node.atom.kind == AtomKind::coordinate ? x[static_cast<std::size_t>(node.atom.a)]
                                                     : parameters_[static_cast<std::size_t>(node.atom.a)];
    else
      value = apply(node.op, at(node.operands[0]), at(node.operands[1]), at(node.operands[2]));
  }
  std::transform(components_.begin(), components_.end(), values.begin(), at);
}

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/theta_scheme.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/components.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/printer.hpp>
#include <rafter/form/time_derivative.hpp>

namespace rafter::form {
namespace {

using TestTerm = LoweredIntegral::TestTerm;

/// A summand of the form, lowered by itself, so that each has a degree of its own.
struct Summand {
  LoweredIntegral integral; ///< atoms refer to the tables of the builder
  Expr integrand;           ///< expression for messages
};

/// The summands of an integrand with their signs. A summand that several sums share is taken once, times its number.
std::vector<Expr> split_sum(const Expr& integrand) {
  const auto is_sum = [](const Expr& e) {
    return e.kind() == NodeKind::add || e.kind() == NodeKind::sub || e.kind() == NodeKind::neg;
  };
  const auto sign = [](const Expr& e, std::size_t operand) {
    return e.kind() == NodeKind::neg || (e.kind() == NodeKind::sub && operand == 1) ? -1.0 : 1.0;
  };
  std::vector<Expr> nodes;
  std::unordered_map<const ExprNode*, int> num_users; ///< sums that have not passed on their weight
  std::vector<Expr> left{integrand};
  while (!left.empty()) {
    const Expr e = std::move(left.back());
    left.pop_back();
    if (num_users[&e.node()]++ > 0) continue;
    nodes.push_back(e);
    if (is_sum(e)) left.insert(left.end(), e.operands().rbegin(), e.operands().rend());
  }
  std::unordered_map<const ExprNode*, double> weights{{&integrand.node(), 1.0}};
  left.push_back(integrand);
  while (!left.empty()) {
    const Expr e = std::move(left.back());
    left.pop_back();
    if (--num_users.at(&e.node()) > 0 || !is_sum(e)) continue;
    for (std::size_t i = 0; i < e.operands().size(); ++i) {
      weights[&e.operand(i).node()] += sign(e, i) * weights.at(&e.node());
      left.push_back(e.operand(i));
    }
  }
  std::vector<Expr> summands;
  for (const auto& e : nodes) {
    const double weight = weights.at(&e.node());
    if (is_sum(e) || weight == 0) continue;
    summands.push_back(weight == 1 ? e : weight == -1 ? -e : weight * e);
  }
  return summands;
}

/// An integral with what its atoms refer to.
struct Tabled {
  const std::vector<CoefficientComponent>&parameters, &cell_coefficients;
  const std::vector<std::shared_ptr<const FieldSpace>>&fields, &test_spaces, &trial_spaces;
  const std::vector<std::string>& field_names;
};
template <class Tables> Tabled tabled(const Tables& t) {
  return {t.parameters, t.cell_coefficients, t.fields, t.test_spaces, t.trial_spaces, t.field_names};
}

/// The atom of other tables that stands for the same.
Atom in_tables(const Atom& atom, const Tabled& from, AtomTables& to) {
  const auto i = static_cast<std::size_t>(atom.a);
  Atom result = atom;
  switch (atom.kind) {
  case AtomKind::parameter:
    return to.coefficient_atom(from.parameters[i].coefficient, from.parameters[i].component);
  case AtomKind::cell_coefficient:
    return to.coefficient_atom(from.cell_coefficients[i].coefficient, from.cell_coefficients[i].component);
  case AtomKind::field:
    result.a = to.field_atom(from.fields[i], from.field_names[i], atom.b).a;
    return result;
  case AtomKind::test:
    result.a = to.argument_atom(from.test_spaces[i], 0, atom.b).a;
    return result;
  case AtomKind::trial:
    result.a = to.argument_atom(from.trial_spaces[i], 1, atom.b).a;
    return result;
  default:
    return atom;
  }
}

using Leaf = std::function<NodeId(const Atom&)>;
using Predicate = std::function<bool(const Atom&)>;

NodeId import(const ScalarGraph& from, NodeId root, ScalarGraph& to, const Leaf& leaf) {
  std::unordered_map<NodeId, NodeId> memo;
  return to.import(from, root, memo, leaf);
}

bool depends(const ScalarGraph& graph, NodeId root, const Predicate& is_meant) {
  const std::array roots{root};
  return std::ranges::any_of(graph.reachable(roots),
                             [&](NodeId id) { return graph[id].op == ScalarOp::atom && is_meant(graph[id].atom); });
}

/// Says whether some atoms decide where an expression jumps: they stand in a sign or in a condition. Its derivatives do
/// not show them there.
bool jumps_with(const ScalarGraph& graph, NodeId root, const Predicate& is_meant) {
  const std::array roots{root};
  return std::ranges::any_of(graph.reachable(roots), [&](NodeId id) {
    const bool is_jump = graph[id].op == ScalarOp::sign || graph[id].op == ScalarOp::select;
    return is_jump && depends(graph, graph[id].operands[0], is_meant);
  });
}

/// The part of an expression that is linear in some atoms: its derivative in the direction of these atoms themselves.
NodeId linear_part(ScalarGraph& graph, NodeId root, const Predicate& is_meant) {
  Differentiator part(graph, [&](const Atom& atom) { return is_meant(atom) ? graph.atom(atom) : graph.constant(0); });
  return part(root);
}

bool is_homogeneous(ScalarGraph& graph, NodeId root, const Predicate& is_meant) {
  std::map<Atom, NodeId> coefficients;
  return graph.is_constant(root, 0) || graph.linear_coefficients(root, is_meant, coefficients);
}

/// A form that is put together from integrals of one test term each.
class FormSum {
public:
  explicit FormSum(int rank) { result_.rank = rank; }

  /// Spaces that terms may have, in the order in which they shall stand.
  void add_arguments(const std::vector<std::shared_ptr<const FieldSpace>>& spaces) {
    for (const auto& space : spaces) {
      tables_.argument_atom(space, 0, 0);
      if (result_.rank == 2) tables_.argument_atom(space, 1, 0);
    }
  }

  void add(const LoweredIntegral& like, const TestTerm& term, const ScalarGraph& graph, NodeId coefficient,
           const AtomTables& tables) {
    if (graph.is_constant(coefficient, 0)) return;
    auto& to = integral_of(like);
    const auto from = tabled(tables);
    const NodeId imported = import(graph, coefficient, *to.integral.graph, [&](const Atom& atom) {
      return to.integral.graph->atom(in_tables(atom, from, tables_));
    });
    const Atom test = in_tables({AtomKind::test, term.field, term.component, term.derivative}, from, tables_);
    const auto known = to.sums.try_emplace(test, imported);
    if (!known.second) known.first->second = to.integral.graph->add(known.first->second, imported);
    to.integral.degree = std::max(to.integral.degree, like.degree);
    to.integral.is_degree_exact = to.integral.is_degree_exact && like.is_degree_exact;
    to.integral.max_field_degree = std::max(to.integral.max_field_degree, like.max_field_degree);
  }

  LoweredForm form() {
    for (auto& [integral, sums] : integrals_) {
      for (const auto& [test, coefficient] : sums)
        if (!integral.graph->is_constant(coefficient, 0))
          integral.test_terms.push_back({test.a, test.b, test.c, coefficient});
      if (!integral.test_terms.empty()) result_.integrals.push_back(std::move(integral));
    }
    result_.parameters = std::move(tables_.parameters);
    result_.cell_coefficients = std::move(tables_.cell_coefficients);
    result_.fields = std::move(tables_.fields);
    result_.test_spaces = std::move(tables_.test_spaces);
    result_.trial_spaces = std::move(tables_.trial_spaces);
    result_.field_names = std::move(tables_.field_names);
    result_.signature = signature_of(result_);
    return std::move(result_);
  }

private:
  struct OfMeasure {
    LoweredIntegral integral;
    std::map<Atom, NodeId> sums; ///< coefficient of each test slot
  };

  OfMeasure& integral_of(const LoweredIntegral& like) {
    const auto found = std::ranges::find_if(
        integrals_, [&](const OfMeasure& known) { return known.integral.measure == like.measure; });
    if (found != integrals_.end()) return *found;
    auto& made = integrals_.emplace_back();
    made.integral.measure = like.measure;
    made.integral.rank = result_.rank;
    made.integral.graph = std::make_shared<ScalarGraph>();
    return made;
  }

  LoweredForm result_;
  AtomTables tables_;
  std::vector<OfMeasure> integrals_;
};

[[noreturn]] void refuse_stationary() {
  throw base::InputError("the form holds no derivative in time: a term such as dt(u)*v*dx is expected");
}

void require_residual(const Form& F) {
  if (F.rank() != 1)
    throw base::InputError("a step in time needs a residual form: every term with a test function, and the fields as "
                           "known functions");
  if (!has_time_derivative(F)) refuse_stationary();
}

/// Position of an atom's field in a list, or -1.
int position(const Atom& atom, const std::vector<int>& fields) {
  if (atom.kind != AtomKind::field) return -1;
  const auto found = std::ranges::find(fields, atom.a);
  return found == fields.end() ? -1 : static_cast<int>(found - fields.begin());
}

class ThetaBuilder {
public:
  ThetaBuilder(const Form& F, const std::vector<Expr>& unknowns, const std::vector<std::string>& constant_fields,
               double theta)
      : unknowns_(unknowns), constant_fields_(constant_fields) {
    require_residual(F);
    for (const auto& unknown : unknowns_) {
      const auto& node = unknown.node();
      spaces_.push_back(node.space);
      new_fields_.push_back(field_number(node.space, node.name));
      rate_fields_.push_back(field_number(node.space, time_derivative_name(node.name)));
      old_fields_.push_back(field_number(node.space, old_field_name(node.name)));
    }
    old_time_ = parameter_atom(old_time_name);
    theta_ = parameter_atom(theta_name);
    new_weight_ = parameter_atom(new_weight_name);
    old_weight_ = parameter_atom(old_weight_name);
    constraint_weight_ = parameter_atom(constraint_weight_name);
    for (const auto& integral : F.integrals()) add_summands(integral);
    find_roles();
    if (std::ranges::find(roles_, FieldRole::differential) == roles_.end()) refuse_stationary();
    const auto has_no_rate = [](FieldRole role) { return role != FieldRole::differential; };
    if (theta != 1 && std::ranges::any_of(roles_, has_no_rate)) add_intermediates();
  }

  ThetaForms build() {
    struct StepTerm {
      const LoweredIntegral* like;
      TestTerm test; ///< its coefficient is in `graph`
      std::shared_ptr<ScalarGraph> graph;
      NodeId derivative;
    };
    std::vector<StepTerm> terms;
    ThetaForms result;
    result.is_linear = true;
    for (const auto& summand : summands_)
      for (const auto& term : summand.integral.test_terms) {
        auto graph = std::make_shared<ScalarGraph>();
        TestTerm test = term;
        test.coefficient = step(summand, term, *graph);
        const NodeId derivative = derivative_by_unknowns(*graph, test.coefficient);
        const auto unknown = [this](const Atom& atom) { return is_unknown(atom); };
        result.is_linear =
            result.is_linear && !depends(*graph, derivative, unknown) && !jumps_with(*graph, test.coefficient, unknown);
        terms.push_back({&summand.integral, test, std::move(graph), derivative});
      }
    require_all_unknowns();
    FormSum tangent(2), load(1);
    for (auto* sum : {&tangent, &load}) sum->add_arguments(spaces_);
    for (const auto& term : terms) {
      tangent.add(*term.like, term.test, *term.graph, term.derivative, tables_);
      NodeId coefficient = term.test.coefficient;
      if (result.is_linear) coefficient = right_hand_side(*term.graph, coefficient);
      load.add(*term.like, term.test, *term.graph, coefficient, tables_);
    }
    result.tangent = tangent.form();
    result.load = load.form();
    result.roles = roles_;
    result.has_intermediates = has_intermediates();
    return result;
  }

private:
  /// Says whether a field is the derivative in time of one that is constant.
  bool is_zero(const std::string& field) const {
    if (!field.starts_with("dt(")) return false;
    const auto is_rate = [&field](const std::string& of) { return time_derivative_name(of) == field; };
    if (std::ranges::any_of(unknowns_, is_rate, [](const Expr& unknown) { return unknown.node().name; })) return false;
    if (std::ranges::any_of(constant_fields_, is_rate)) return true;
    throw base::InputError(fmt::format("{}: the field is none of the unknowns that the steps solve for", field));
  }

  int field_number(const std::shared_ptr<const FieldSpace>& space, const std::string& name) {
    return tables_.field_atom(space, name, 0).a;
  }
  void add_intermediates() {
    for (const auto& unknown : unknowns_)
      intermediate_fields_.push_back(field_number(unknown.node().space, intermediate_name(unknown.node().name)));
    algebraic_share_ = parameter_atom(algebraic_share_name);
    multiplier_share_ = parameter_atom(multiplier_share_name);
  }
  bool has_intermediates() const { return !intermediate_fields_.empty(); }
  Atom parameter_atom(const char* name) { return tables_.coefficient_atom(parameter(name).node().coefficient, 0); }

  void add_summands(const Integral& integral) {
    for (const auto& part : split_sum(integral.integrand)) {
      auto lowered = lower(Form(std::vector<Integral>{{part, integral.measure}}));
      if (lowered.integrals.empty()) continue;
      auto& from = lowered.integrals.front();
      Summand summand{std::move(from), part};
      auto graph = std::make_shared<ScalarGraph>();
      const auto tables = tabled(lowered);
      for (auto& term : summand.integral.test_terms) {
        term.coefficient = import(*summand.integral.graph, term.coefficient, *graph, [&](const Atom& atom) {
          if (atom.kind == AtomKind::field && is_zero(lowered.field_names[static_cast<std::size_t>(atom.a)]))
            return graph->constant(0);
          return graph->atom(in_tables(atom, tables, tables_));
        });
        term.field = in_tables({AtomKind::test, term.field, term.component, -1}, tables, tables_).a;
      }
      summand.integral.graph = std::move(graph);
      summands_.push_back(std::move(summand));
    }
  }

  bool is_unknown(const Atom& atom) const { return position(atom, new_fields_) >= 0; }
  bool is_rate(const Atom& atom) const { return position(atom, rate_fields_) >= 0; }
  bool has_role(const Atom& atom, FieldRole role) const {
    const int i = position(atom, new_fields_);
    return i >= 0 && roles_[static_cast<std::size_t>(i)] == role;
  }
  bool is_multiplier(const Atom& atom) const { return has_role(atom, FieldRole::multiplier); }
  bool is_time(const Atom& atom) const {
    return atom.kind == AtomKind::parameter &&
           tables_.parameters[static_cast<std::size_t>(atom.a)].coefficient->name == time_name;
  }
  /// Says whether an atom has another value at the beginning of a step.
  bool varies(const Atom& atom) const { return is_time(atom) || has_role(atom, FieldRole::differential); }
  bool is_differential_test(int test_space) const { return differential_tests_[static_cast<std::size_t>(test_space)]; }

  void find_roles() {
    differential_tests_.assign(tables_.test_spaces.size(), false);
    roles_.assign(unknowns_.size(), FieldRole::multiplier);
    for_atoms([&](const TestTerm& term, const Atom& atom) {
      const int rate = position(atom, rate_fields_);
      if (rate < 0) return;
      differential_tests_[static_cast<std::size_t>(term.field)] = true;
      roles_[static_cast<std::size_t>(rate)] = FieldRole::differential;
    });
    for_atoms([&](const TestTerm& term, const Atom& atom) {
      const int field = position(atom, new_fields_);
      if (field < 0 || is_differential_test(term.field)) return;
      auto& role = roles_[static_cast<std::size_t>(field)];
      if (role == FieldRole::multiplier) role = FieldRole::algebraic;
    });
  }

  /// Every unknown occurs, and so does its test function.
  void require_all_unknowns() const {
    std::vector<bool> occurs(unknowns_.size(), false), is_tested(unknowns_.size(), false);
    for_atoms([&](const TestTerm&, const Atom& atom) {
      for (const auto* fields : {&new_fields_, &rate_fields_})
        if (const int i = position(atom, *fields); i >= 0) occurs[static_cast<std::size_t>(i)] = true;
    });
    for (const auto& summand : summands_)
      for (const auto& term : summand.integral.test_terms)
        for (std::size_t i = 0; i < spaces_.size(); ++i)
          if (tables_.test_spaces[static_cast<std::size_t>(term.field)] == spaces_[i]) is_tested[i] = true;
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      const auto& name = unknowns_[i].node().name;
      if (!occurs[i])
        throw base::InputError(fmt::format("no term holds the unknown '{}': the problem does not determine it", name));
      if (!is_tested[i])
        throw base::InputError(
            fmt::format("no term holds the test function of '{}': there are fewer equations than unknowns", name));
    }
  }

  void for_atoms(const std::function<void(const TestTerm&, const Atom&)>& visit) const {
    for (const auto& summand : summands_)
      for (const auto& term : summand.integral.test_terms) {
        const auto& graph = *summand.integral.graph;
        const std::array roots{term.coefficient};
        for (const NodeId id : graph.reachable(roots))
          if (graph[id].op == ScalarOp::atom) visit(term, graph[id].atom);
      }
  }

  /// The coefficient of a test slot in the step, in `to`. Nodes are made one after the other, here and below, because
  /// the order in which compilers take the arguments of a call would be that of the nodes, by which kernels are known.
  NodeId step(const Summand& summand, const TestTerm& term, ScalarGraph& to) const {
    ScalarGraph from = *summand.integral.graph;
    if (!is_differential_test(term.field)) {
      const NodeId end = import(from, term.coefficient, to, [](const Atom&) { return NodeId{-1}; });
      return to.mul(weight_of_equation(term.field, to), end);
    }
    const auto rate = [this](const Atom& atom) { return is_rate(atom); };
    const auto multiplier = [this](const Atom& atom) { return is_multiplier(atom); };
    const NodeId mass = linear_part(from, term.coefficient, rate);
    if (!is_homogeneous(from, mass, rate) || jumps_with(from, term.coefficient, rate))
      throw base::InputError(fmt::format("'{}' is not linear in derivatives in time", summary(summand.integrand)));
    ScalarGraph rest;
    const NodeId all = import(from, term.coefficient, rest,
                              [&](const Atom& atom) { return is_rate(atom) ? rest.constant(0) : NodeId{-1}; });
    const NodeId multiplied = linear_part(rest, all, multiplier);
    if (!is_homogeneous(rest, multiplied, multiplier) || jumps_with(rest, all, multiplier))
      throw base::InputError(
          fmt::format("'{}' is not linear in a field that no equation without a derivative in time holds (of the kind "
                      "of a pressure): such a field must occur linearly",
                      summary(summand.integrand)));
    ScalarGraph free;
    const NodeId others =
        import(rest, all, free, [&](const Atom& atom) { return is_multiplier(atom) ? free.constant(0) : NodeId{-1}; });
    const NodeId held = between(rest, multiplied, to), constrained = to.mul(to.atom(constraint_weight_), held);
    const NodeId mean = weighted(free, others, to), rates = between(from, mass, to);
    return to.add(to.add(rates, constrained), mean);
  }

  /// The value at the end of the step, or the mean of those at both ends where they differ.
  NodeId between(const ScalarGraph& from, NodeId root, ScalarGraph& to) const {
    const NodeId end = at_new(from, root, to);
    if (!depends(from, root, [this](const Atom& atom) { return varies(atom); })) return end;
    const NodeId theta = to.atom(theta_), others = to.sub(to.constant(1), theta);
    const NodeId begin = at_old(from, root, to), of_begin = to.mul(others, begin);
    return to.add(to.mul(theta, end), of_begin);
  }

  /// The mean of the values at both ends, times the length of the step.
  NodeId weighted(const ScalarGraph& from, NodeId root, ScalarGraph& to) const {
    const NodeId first = to.atom(old_weight_), last = to.atom(new_weight_), end = at_new(from, root, to);
    if (!depends(from, root, [this](const Atom& atom) { return varies(atom); }))
      return to.mul(to.add(first, last), end);
    const NodeId begin = at_old(from, root, to), of_begin = to.mul(first, begin);
    return to.add(to.mul(last, end), of_begin);
  }

  /// The factor of an equation without a derivative in time.
  NodeId weight_of_equation(int test_space, ScalarGraph& to) const {
    const NodeId weight = to.atom(constraint_weight_);
    const auto of = std::ranges::find(spaces_, tables_.test_spaces[static_cast<std::size_t>(test_space)]);
    if (!has_intermediates() || of == spaces_.end()) return weight;
    const auto role = roles_[static_cast<std::size_t>(of - spaces_.begin())];
    return role == FieldRole::differential ? weight : to.mul(weight, share_of(role, to));
  }

  NodeId share_of(FieldRole role, ScalarGraph& to) const {
    return to.atom(role == FieldRole::multiplier ? multiplier_share_ : algebraic_share_);
  }

  /// The intermediate value of a field without a derivative in time, -1 for other atoms, which stay as they are.
  NodeId intermediate(const Atom& atom, ScalarGraph& to) const {
    const int unknown = position(atom, new_fields_);
    if (unknown < 0 || !has_intermediates()) return -1;
    const auto i = static_cast<std::size_t>(unknown);
    if (roles_[i] == FieldRole::differential) return -1;
    const NodeId share = share_of(roles_[i], to), others = to.sub(to.constant(1), share);
    const NodeId end = to.mul(share, to.atom(atom));
    const NodeId before = to.mul(others, to.atom({atom.kind, intermediate_fields_[i], atom.b, atom.c}));
    return to.add(end, before);
  }

  NodeId increment(const Atom& atom, int unknown, ScalarGraph& to) const {
    const auto i = static_cast<std::size_t>(unknown);
    const NodeId old = to.atom({atom.kind, old_fields_[i], atom.b, atom.c});
    return to.sub(to.atom({atom.kind, new_fields_[i], atom.b, atom.c}), old);
  }

  /// The expression at the end of the step, with derivatives in time times the length of the step.
  NodeId at_new(const ScalarGraph& from, NodeId root, ScalarGraph& to) const {
    return import(from, root, to, [&](const Atom& atom) {
      const int rate = position(atom, rate_fields_);
      return rate >= 0 ? increment(atom, rate, to) : intermediate(atom, to);
    });
  }
  NodeId at_old(const ScalarGraph& from, NodeId root, ScalarGraph& to) const {
    return import(from, root, to, [&](const Atom& atom) {
      if (const int rate = position(atom, rate_fields_); rate >= 0) return increment(atom, rate, to);
      if (is_time(atom)) return to.atom(old_time_);
      if (!has_role(atom, FieldRole::differential)) return intermediate(atom, to);
      const auto i = static_cast<std::size_t>(position(atom, new_fields_));
      return to.atom({atom.kind, old_fields_[i], atom.b, atom.c});
    });
  }

  /// The derivative by the unknowns, in the direction of trial functions.
  NodeId derivative_by_unknowns(ScalarGraph& graph, NodeId root) {
    Differentiator derivative(graph, [&](const Atom& atom) {
      const int unknown = position(atom, new_fields_);
      if (unknown < 0) return graph.constant(0);
      Atom trial = tables_.argument_atom(spaces_[static_cast<std::size_t>(unknown)], 1, atom.b);
      trial.c = atom.c;
      return graph.atom(trial);
    });
    return derivative(root);
  }

  /// Minus the residual of fields that vanish at the end of the step.
  NodeId right_hand_side(ScalarGraph& graph, NodeId root) const {
    const ScalarGraph from = graph;
    return graph.neg(
        import(from, root, graph, [&](const Atom& atom) { return is_unknown(atom) ? graph.constant(0) : NodeId{-1}; }));
  }

  const std::vector<Expr>& unknowns_;
  const std::vector<std::string>& constant_fields_;
  std::vector<std::shared_ptr<const FieldSpace>> spaces_; ///< spaces of the unknowns
  AtomTables tables_;
  std::vector<Summand> summands_;
  std::vector<int> new_fields_, rate_fields_, old_fields_; ///< numbers in the tables, shape (unknown)
  std::vector<int> intermediate_fields_;                   ///< likewise; empty: there are no intermediate values
  Atom old_time_, theta_, new_weight_, old_weight_, constraint_weight_, algebraic_share_, multiplier_share_;
  std::vector<FieldRole> roles_;         ///< shape (unknown)
  std::vector<bool> differential_tests_; ///< says whether a term of a test function has a derivative in time
};

} // namespace

std::string old_field_name(const std::string& field) { return "old(" + field + ")"; }
std::string intermediate_name(const std::string& field) { return "intermediate(" + field + ")"; }

bool is_linear(const Form& form, const std::vector<Expr>& fields) {
  auto lowered = lower(form);
  const auto is_meant = [&](const Atom& atom) {
    if (atom.kind != AtomKind::field) return false;
    const auto& name = lowered.field_names[static_cast<std::size_t>(atom.a)];
    return std::ranges::any_of(fields, [&](const Expr& field) {
      return name == field.node().name || name == time_derivative_name(field.node().name);
    });
  };
  return std::ranges::all_of(lowered.integrals, [&](const LoweredIntegral& integral) {
    return std::ranges::all_of(integral.test_terms, [&](const TestTerm& term) {
      return is_homogeneous(*integral.graph, term.coefficient, is_meant);
    });
  });
}

ThetaForms make_theta_forms(const Form& F, const std::vector<Expr>& unknowns,
                            const std::vector<std::string>& constant_fields, double theta) {
  return ThetaBuilder(F, unknowns, constant_fields, theta).build();
}

void require_theta(const ThetaForms& forms, double theta) {
  const auto is_differential = [](FieldRole role) { return role == FieldRole::differential; };
  if (theta == 1 || std::ranges::all_of(forms.roles, is_differential)) return;
  if (theta == 0)
    throw base::InputError("a step with theta = 0 takes every field at its beginning, and so it does not determine the "
                           "fields without a derivative in time; accepted with such fields is a theta above 0");
  if (!forms.has_intermediates)
    throw base::InputError(fmt::format("theta = {}: the forms are made for theta = 1, with fields without a derivative "
                                       "in time at the end of each step",
                                       theta));
}

LoweredForm theta_tangent_on(const Form& F, const std::vector<Expr>& unknowns,
                             const std::vector<std::string>& constant_fields, double theta,
                             const std::vector<SpacePair>& spaces) {
  auto there = unknowns;
  for (auto& unknown : there) {
    const auto found = std::ranges::find(spaces, unknown.node().space, &SpacePair::first);
    if (found != spaces.end()) unknown = field(found->second, unknown.node().name);
  }
  return make_theta_forms(on(F, spaces), there, constant_fields, theta).tangent;
}

} // namespace rafter::form

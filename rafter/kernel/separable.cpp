// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/separable.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <rafter/kernel/program_steps.hpp>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {

namespace {

/// Says whether all fields have one element, whose functions are products.
bool have_equal_factors(const ProgramInput& input) {
  if (input.fields.inputs.empty() || input.fields.outputs.empty()) return false;
  const auto& first = *input.fields.inputs.front().element;
  const auto is_like = [content = content_of(first)](const FieldUse& use) {
    return content_of(*use.element) == content;
  };
  return first.has_tensor_factors() && std::ranges::all_of(input.fields.inputs, is_like) &&
         std::ranges::all_of(input.fields.outputs, is_like);
}

class SeparableProgramBuilder {
public:
  /// Products along the first `num_forward` axes are taken before the coefficients.
  SeparableProgramBuilder(const ProgramInput& input, const SeparableForm& form, int num_forward)
      : form_(form), num_forward_(num_forward), dim_(form.function.tdim()), steps_(program_) {
    program_.function = form.function;
    program_.tdim = dim_;
    program_.contraction = Contraction::separable;
    program_.inputs = input.fields.inputs;
    program_.batches = input.fields.batches;
    program_.outputs = input.fields.outputs;
    const auto extents = input.fields.inputs.front().element->extents();
    program_.point_axes = steps_.add_axes(AxisKind::dof, extents, true);
    for (const int extent : extents) // the coordinates are never used
      program_.grid.emplace_back(static_cast<std::size_t>(extent), 0.0);
    make_factors(input);
  }

  TensorProgram build() {
    for (std::size_t f = 0; f < program_.inputs.size(); ++f) {
      const auto& use = program_.inputs[f];
      const bool is_used = std::ranges::any_of(
          form_.terms, [f](const SeparableTerm& term) { return term.input == static_cast<int>(f); });
      if (!is_used) continue;
      dofs_[static_cast<int>(f)] = steps_.add_array(fmt::format("u{}_dofs", f), use.components, program_.point_axes);
      steps_.read(steps_.add_access({.kind = AccessKind::input, .field = static_cast<int>(f)}),
                  dofs_[static_cast<int>(f)]);
    }
    make_sums();
    steps_.evaluate();
    for (std::size_t o = 0; o < program_.outputs.size(); ++o) integrate(static_cast<int>(o));
    program_.verify();
    return std::move(program_);
  }

private:
  /// Kinds of 1D matrices along successive axes.
  using Key = std::vector<int>;

  /// The four 1D matrices of an axis by kind: products of tabulated values or derivatives of test and trial functions,
  /// kind 0 being that of the values.
  struct AxisFactors {
    std::array<ReferenceMatrix, 4> matrices;
    std::vector<double> scale; ///< what was divided out of the rows
    bool is_lumped = false;    ///< the matrix of values is diagonal, so that scaled matrices have 1 in its place
  };
  static AxisFactors axis_factors(const element::Element& element, int axis, const element::Rule1D& rule) {
    AxisFactors result;
    const std::array<ReferenceMatrix, 2> tables{table_1d(element, axis, rule.points, 0),
                                                table_1d(element, axis, rule.points, 1)};
    const int n = tables[0].cols;
    result.scale.assign(static_cast<std::size_t>(n), 1.0);
    for (int kind = 0; kind < 4; ++kind) {
      const auto& test = tables[static_cast<std::size_t>(kind / 2)];
      const auto& trial = tables[static_cast<std::size_t>(kind % 2)];
      ReferenceMatrix product{names[static_cast<std::size_t>(kind)], n, n, {}, Symmetry::none, false};
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int q = 0; q < test.rows; ++q)
            sum += rule.weights[static_cast<std::size_t>(q)] * test(q, i) * trial(q, j);
          product.values.push_back(sum);
        }
      if (kind == 0 && is_diagonal(product))
        for (int i = 0; i < n; ++i) result.scale[static_cast<std::size_t>(i)] = product(i, i);
      for (std::size_t e = 0; e < product.values.size(); ++e)
        product.values[e] /= result.scale[e / static_cast<std::size_t>(n)];
      result.matrices[static_cast<std::size_t>(kind)] = with_symmetry(std::move(product));
    }
    result.is_lumped = is_identity(result.matrices[0]);
    return result;
  }
  void make_factors(const ProgramInput& input) {
    const auto& element = *input.fields.inputs.front().element;
    for (int axis = 0; axis < dim_; ++axis)
      factors_.push_back(axis_factors(element, axis, input.fields.quadrature.lines[static_cast<std::size_t>(axis)]));
    program_.weights.assign(static_cast<std::size_t>(program_.num_points()), 1.0);
    for (std::size_t q = 0; q < program_.weights.size(); ++q) {
      std::size_t rest = q;
      for (const auto& factors : factors_) {
        program_.weights[q] *= factors.scale[rest % factors.scale.size()];
        rest /= factors.scale.size();
      }
    }
  }
  /// Says whether a matrix is diagonal and its diagonal can be divided by. The row of a node without a point is 0.
  static bool is_diagonal(const ReferenceMatrix& matrix) {
    const double least = 1e-6 * *std::ranges::max_element(matrix.values);
    for (int r = 0; r < matrix.rows; ++r)
      for (int k = 0; k < matrix.cols; ++k)
        if (r == k ? matrix(r, r) < least : std::fabs(matrix(r, k)) > 1e-13 * matrix(r, r)) return false;
    return true;
  }

  bool is_skipped(int kind, int axis) const { return kind == 0 && factors_[static_cast<std::size_t>(axis)].is_lumped; }
  /// Index of the program's matrix of a kind along an axis; axes with equal matrices have one.
  int matrix_of(int kind, int axis) {
    const auto& factor = factors_[static_cast<std::size_t>(axis)].matrices[static_cast<std::size_t>(kind)];
    for (std::size_t m = 0; m < program_.matrices.size(); ++m)
      if (program_.matrices[m].name == factor.name && program_.matrices[m].values == factor.values)
        return static_cast<int>(m);
    program_.matrices.push_back(factor);
    return static_cast<int>(program_.matrices.size()) - 1;
  }
  void contract(int source, int target, int kind, int axis, bool accumulates) {
    const int along = steps_.axis_along(source, axis);
    steps_.contract(source, {.rows = {along}, .cols = {along}, .members = {matrix_of(kind, axis)}}, "", target,
                    accumulates);
  }

  /// The array of a field after products along the first axes, with a matrix of the given kind along each.
  int forward(int field, const Key& kinds) {
    if (kinds.empty()) return dofs_.at(field);
    const auto known = forward_.find({field, kinds});
    if (known != forward_.end()) return known->second;
    const int source = forward(field, Key(kinds.begin(), kinds.end() - 1));
    int target = source;
    const int axis = static_cast<int>(kinds.size()) - 1;
    if (!is_skipped(kinds.back(), axis)) {
      std::string name = fmt::format("u{}_", field);
      for (const int kind : kinds) name += names[static_cast<std::size_t>(kind)];
      target = steps_.add_array(name, program_.inputs[static_cast<std::size_t>(field)].components, program_.point_axes);
      contract(source, target, kinds.back(), axis, false);
    }
    forward_[{field, kinds}] = target;
    return target;
  }

  /// Makes the sums of coefficients times products, one per output, component and kinds along the remaining axes.
  void make_sums() {
    auto& graph = program_.function.graph;
    std::map<std::tuple<int, Key, int>, NodeId> sums;
    for (const auto& term : form_.terms) {
      const Key before(term.factors.begin(), term.factors.begin() + num_forward_);
      const Key after(term.factors.begin() + num_forward_, term.factors.begin() + dim_);
      const int array = forward(term.input, before);
      const auto& use = program_.inputs[static_cast<std::size_t>(term.input)];
      const Atom atom{AtomKind::reference_trial, use.index, term.trial_component, array};
      const bool is_known =
          std::ranges::any_of(program_.input_slots, [&](const InputSlot& s) { return s.atom == atom; });
      if (!is_known) program_.input_slots.push_back({atom, {array, term.trial_component, 0}});
      const NodeId product = graph.mul(term.coefficient, graph.atom(atom));
      const auto [sum, is_new] = sums.try_emplace({term.output, after, term.test_component}, product);
      if (!is_new) sum->second = graph.add(sum->second, product);
      sum_arrays_[term.output].try_emplace(after, -1);
    }
    for (auto& [o, arrays] : sum_arrays_)
      for (auto& [after, array] : arrays) {
        const auto& use = program_.outputs[static_cast<std::size_t>(o)];
        array =
            steps_.add_array(fmt::format("f{}_{}", o, after.empty() ? "" : names[static_cast<std::size_t>(after[0])]),
                             use.components, program_.point_axes);
        for (int c = 0; c < use.components; ++c) { // arrays must be written completely
          const auto sum = sums.find({o, after, c});
          program_.function.outputs.push_back(
              {OutputKind::test, use.index, c, array, -1, sum == sums.end() ? graph.constant(0) : sum->second});
          program_.output_slots.push_back({array, c, 0});
        }
      }
  }

  /// Adds up the products along the last axis, if that is left, and writes the sum.
  void integrate(int o) {
    const auto sums = sum_arrays_.find(o);
    if (sums == sum_arrays_.end()) return;
    int result = -1;
    for (const auto& [after, array] : sums->second) // values come first
      if (after.empty() || is_skipped(after.front(), dim_ - 1)) result = array;
    for (const auto& [after, array] : sums->second) {
      if (array == result) continue;
      const bool accumulates = result >= 0;
      if (!accumulates)
        result = steps_.add_array(fmt::format("r{}", o), program_.outputs[static_cast<std::size_t>(o)].components,
                                  program_.point_axes);
      contract(array, result, after.front(), dim_ - 1, accumulates);
    }
    if (std::ranges::any_of(factors_, &AxisFactors::is_lumped)) steps_.weigh(result);
    steps_.write(steps_.add_access({.kind = AccessKind::output, .field = o}), result);
  }

  static constexpr std::array names{"M", "C", "Ct", "K"};
  const SeparableForm& form_;
  int num_forward_, dim_;
  TensorProgram program_;
  ProgramSteps steps_;
  std::vector<AxisFactors> factors_; ///< by axis
  std::map<int, int> dofs_;          ///< array of dofs of each input
  std::map<std::pair<int, Key>, int> forward_;
  std::map<int, std::map<Key, int>> sum_arrays_; ///< arrays of sums for each output, by kinds along the remaining axes
};

} // namespace

std::optional<SeparableForm> separable_form(const ProgramInput& input) {
  if (input.function.is_facet || !have_equal_factors(input)) return std::nullopt;
  SeparableForm form{input.function, {}};
  const auto coefficients = constant_coefficients(form.function);
  if (!coefficients) return std::nullopt;
  const auto outputs = std::exchange(form.function.outputs, {});
  for (const auto& [o, trial, node] : *coefficients) {
    const auto& output = outputs[static_cast<std::size_t>(o)];
    SeparableTerm term{.output = static_cast<int>(position_of(input.fields.outputs, output.field)),
                       .test_component = output.component,
                       .input = static_cast<int>(position_of(input.fields.inputs, trial.a)),
                       .trial_component = trial.b,
                       .coefficient = node};
    for (int axis = 0; axis < form.function.tdim(); ++axis)
      term.factors[static_cast<std::size_t>(axis)] =
          2 * static_cast<int>(output.derivative == axis) + static_cast<int>(trial.c == axis);
    form.terms.push_back(term);
  }
  return form;
}

TensorProgram build_separable(const ProgramInput& input, const SeparableForm& form) {
  const int dim = form.function.tdim();
  auto all = SeparableProgramBuilder(input, form, dim).build(),
       all_but_last = SeparableProgramBuilder(input, form, dim - 1).build();
  return count_flops(all_but_last) < count_flops(all) ? std::move(all_but_last) : std::move(all);
}

} // namespace rafter::kernel

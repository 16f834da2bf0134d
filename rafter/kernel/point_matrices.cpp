// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/point_matrices.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/kernel/program_steps.hpp>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {

namespace {

using element::Element;

/// The tables of a program: of the weights, and of the functions of elements at the points. Tables have no axis of
/// points where all their numbers are the same at all of them.
class FunctionTables {
public:
  FunctionTables(TensorProgram& program, const BasisTables& tables)
      : program_(program), tables_(tables), steps_(program),
        frame_(differentiation_frame(program.function.shape, false)) {}

  /// Returns these axes, followed by that of the points for an array that has it.
  std::vector<int> with_points(std::vector<int> axes, bool has_points) const {
    if (has_points) axes.push_back(program_.point_axes.front());
    return axes;
  }
  /// Says whether values of functions, or derivatives, differ between points.
  bool differ(const Element& element, bool is_value) const {
    const auto found = element.tabulate(tables_.points());
    for (int slot = is_value ? -1 : 0; slot < (is_value ? 0 : program_.tdim); ++slot)
      for (int i = 0; i < found.num_dofs; ++i)
        for (int q = 1; q < found.num_points; ++q)
          if (std::abs(slot_value(found, frame_, slot, q, i) - slot_value(found, frame_, slot, 0, i)) > rounding)
            return true;
    return false;
  }

  // --- tables, by the numbers of their arrays -----------------------------------------------------------------------
  /// The weights, one number where they are equal.
  int weights() {
    if (weights_ >= 0) return weights_;
    const auto& of_points = program_.weights;
    const bool are_equal = std::ranges::all_of(
        of_points, [&](double weight) { return std::abs(weight - of_points.front()) <= rounding * of_points.front(); });
    return weights_ = steps_.add_table("w", 1, with_points({}, !are_equal),
                                       are_equal ? std::vector{of_points.front()} : of_points);
  }
  /// The sum of the weights.
  int volume() {
    if (volume_ >= 0) return volume_;
    return volume_ = steps_.add_table("volume", 1, {},
                                      {std::accumulate(program_.weights.begin(), program_.weights.end(), 0.0)});
  }
  /// The number 1.
  int one() {
    if (one_ < 0) one_ = steps_.add_table("one", 1, {}, {1.0});
    return one_;
  }
  /// Values or derivatives along directions of the frame, shape (slot, function, point), without points where all of
  /// them have the same numbers.
  int of_slots(const std::string& name, const Element& element, int dofs, std::span<const int> slots) {
    const auto found = element.tabulate(tables_.points());
    std::vector<double> values, of_first;
    for (const int slot : slots)
      for (int i = 0; i < found.num_dofs; ++i)
        for (int q = 0; q < found.num_points; ++q) {
          values.push_back(slot_value(found, frame_, slot, q, i));
          if (q == 0) of_first.push_back(values.back());
        }
    const auto num_points = static_cast<std::size_t>(found.num_points);
    bool has_points = false;
    for (std::size_t i = 0; i < values.size(); ++i)
      has_points = has_points || std::abs(values[i] - of_first[i / num_points]) > rounding;
    return steps_.add_table(name, static_cast<int>(slots.size()), with_points({dofs}, has_points),
                            has_points ? values : of_first);
  }
  /// The table of the values of an element, by its functions.
  int values_of(const Element& element, int dofs) {
    const auto [known, is_new] = values_.try_emplace(&element, -1);
    if (is_new) known->second = of_slots(fmt::format("v{}", values_.size() - 1), element, dofs, std::vector{-1});
    return known->second;
  }

private:
  static constexpr double rounding = 1e-13; ///< Tabulated numbers that differ by less are the same.
  TensorProgram& program_;
  const BasisTables& tables_;
  ProgramSteps steps_;
  std::vector<double> frame_;
  int weights_ = -1, volume_ = -1, one_ = -1; ///< arrays
  std::map<const Element*, int> values_;
};

/// Adds the steps from the map and the coefficients of a cell to its matrices.
class PointMatrices {
public:
  PointMatrices(TensorProgram& program, const ProgramInput& input, BasisTables& tables)
      : program_(program), input_(input), tables_(tables), steps_(program), functions_(program, tables),
        sets_(dependencies(input.function)) {}

  void run() {
    find_coefficients();
    place_outputs();
    if (has_outputs(false)) steps_.evaluate_cell();
    for (const bool has_points : {false, true}) {
      if (has_points && has_outputs(true)) {
        add_evaluation(program_, input_, tables_);
        steps_.evaluate();
      }
      for (auto& block : blocks_)
        if (block.has_points == has_points) weigh(block);
      make_derivatives(has_points);
    }
    for (auto& block : blocks_) integrate(block);
  }

private:
  /// A coefficient times values or derivatives of a test and a trial function.
  struct Pair {
    int coefficient = 0, component = 0; ///< numbers of the coefficient and of the pair of components
    int test = -1, trial = -1;          ///< physical axis of the derivative; -1: the value
  };
  /// The matrix of a pair of fields.
  struct Block {
    std::size_t output = 0;
    std::vector<Pair> pairs;
    std::vector<NodeId> coefficients;
    bool has_points = false; ///< some coefficient is not the same at all points
    int test_axis = -1, trial_axis = -1;
    int given = -1; ///< array of the coefficients
    /// Arrays of the coefficients times the volume of the reference cell, for pairs of functions that are the same at
    /// all points, and times the weights, for the others; -1: none needs it.
    int of_cell = -1, weighed = -1;
  };
  /// Physical derivatives of the functions of an element along the axis of its dofs.
  struct Derivatives {
    const Element* element = nullptr;
    int dofs = -1, array = -1;
  };

  bool is_constant(NodeId node) const { return is_per_cell(sets_[static_cast<std::size_t>(node)]); }
  std::vector<int> with_points(std::vector<int> axes, bool has_points) const {
    return functions_.with_points(std::move(axes), has_points);
  }

  // --- what there is ------------------------------------------------------------------------------------------------
  void find_coefficients() {
    const auto& outputs = program_.outputs;
    for (std::size_t f = 0; f < outputs.size(); ++f) {
      Block block{.output = f, .pairs = {}, .coefficients = {}};
      for (const auto& output : input_.function.outputs) {
        if (output.kind == OutputKind::inverse_map || output.field != outputs[f].index) continue;
        auto known = std::ranges::find(block.coefficients, output.node);
        if (known == block.coefficients.end()) known = block.coefficients.insert(known, output.node);
        block.pairs.push_back({static_cast<int>(known - block.coefficients.begin()), output.component,
                               output.derivative, output.derivative2});
        block.has_points = block.has_points || !is_constant(output.node);
      }
      block.test_axis = steps_.add_other_axis(AxisKind::dof, outputs[f].element->num_dofs());
      block.trial_axis = steps_.add_other_axis(AxisKind::dof, outputs[f].trial_element->num_dofs());
      blocks_.push_back(std::move(block));
    }
    for (const auto& output : input_.function.outputs)
      if (output.kind == OutputKind::inverse_map && uses_derivative(output.component)) {
        inverse_map_.push_back(output);
        map_has_points_ = map_has_points_ || !is_constant(output.node);
      }
  }
  bool uses_derivative(int axis) const {
    return std::ranges::any_of(blocks_, [axis](const Block& block) {
      return std::ranges::any_of(block.pairs,
                                 [axis](const Pair& pair) { return pair.test == axis || pair.trial == axis; });
    });
  }

  /// One output for each coefficient and each entry of the inverse map.
  void place_outputs() {
    std::vector<Output> outputs;
    const auto place = [&](const Output& output, int array, std::size_t component) {
      outputs.push_back(output);
      program_.output_slots.push_back({array, static_cast<int>(component), 0});
    };
    if (!inverse_map_.empty())
      map_ = steps_.add_array("k", static_cast<int>(inverse_map_.size()), with_points({}, map_has_points_));
    for (std::size_t i = 0; i < inverse_map_.size(); ++i) place(inverse_map_[i], map_, i);
    for (auto& block : blocks_) {
      if (block.coefficients.empty()) continue;
      block.given = steps_.add_array(fmt::format("c{}", block.output), static_cast<int>(block.coefficients.size()),
                                     with_points({}, block.has_points));
      for (std::size_t n = 0; n < block.coefficients.size(); ++n)
        place({.kind = OutputKind::test_pair,
               .field = program_.outputs[block.output].index,
               .component = static_cast<int>(n),
               .node = block.coefficients[n]},
              block.given, n);
    }
    program_.function.outputs = std::move(outputs);
  }
  bool has_outputs(bool with_points) const {
    return std::ranges::any_of(program_.output_slots,
                               [&](const Slot& slot) { return program_.has_points(slot.array) == with_points; });
  }

  // --- steps --------------------------------------------------------------------------------------------------------
  /// Multiplies the coefficients by the weights and, for pairs that no point changes, by their sum.
  void weigh(Block& block) {
    const auto add = [&](const char* name, int table, std::vector<int> axes) {
      const auto count = static_cast<int>(block.coefficients.size());
      const bool table_has_points = program_.has_points(table);
      const int array = steps_.add_array(fmt::format("{}{}", name, block.output), count, std::move(axes));
      Product product{.factor = table,
                      .terms = {},
                      .source_axes = with_points({}, block.has_points),
                      .factor_axes = with_points({}, table_has_points)};
      for (int n = 0; n < count; ++n) product.terms.push_back({n, n, 0});
      steps_.multiply(block.given, std::move(product), array);
      return array;
    };
    const auto has = [&](bool at_points) {
      return std::ranges::any_of(block.pairs, [&](const Pair& pair) { return has_points(block, pair) == at_points; });
    };
    if (has(false)) block.of_cell = add("e", functions_.volume(), {});
    if (!has(true)) return;
    const int weights = functions_.weights();
    block.weighed = add("d", weights, with_points({}, block.has_points || program_.has_points(weights)));
  }
  /// Says whether the integrand of a pair of functions differs between points.
  bool has_points(const Block& block, const Pair& pair) const {
    const auto& use = program_.outputs[block.output];
    const auto of = [&](const Element& element, int derivative) {
      return derivative < 0 ? functions_.differ(element, true) : map_has_points_ || functions_.differ(element, false);
    };
    return block.has_points || of(*use.element, pair.test) || of(*use.trial_element, pair.trial);
  }

  /// Makes the physical derivatives that depend on the point, or those that do not.
  void make_derivatives(bool at_points) {
    for (const auto& block : blocks_) {
      const auto& use = program_.outputs[block.output];
      const auto differentiates = [&](int Pair::*slot) {
        return std::ranges::any_of(block.pairs, [slot](const Pair& pair) { return pair.*slot >= 0; });
      };
      if (differentiates(&Pair::test)) add_derivatives(*use.element, block.test_axis, at_points);
      if (differentiates(&Pair::trial)) add_derivatives(*use.trial_element, block.trial_axis, at_points);
    }
  }
  void add_derivatives(const Element& element, int dofs, bool at_points) {
    const auto is_same = [&](const Derivatives& known) {
      return known.element == &element && (input_.shares_derivatives || known.dofs == dofs);
    };
    if (std::ranges::any_of(derivatives_, is_same)) return;
    if ((map_has_points_ || functions_.differ(element, false)) != at_points) return;
    std::vector<int> slots;
    for (int b = 0; b < program_.tdim; ++b) slots.push_back(b);
    const auto number = derivatives_.size();
    if (input_.shares_derivatives) dofs = steps_.add_other_axis(AxisKind::dof, element.num_dofs());
    Derivatives made{.element = &element, .dofs = dofs};
    const int table = functions_.of_slots(fmt::format("r{}", number), element, dofs, slots);
    made.array = steps_.add_array(fmt::format("g{}", number), program_.tdim, with_points({dofs}, at_points));
    Product product{.factor = table,
                    .terms = {},
                    .source_axes = with_points({}, map_has_points_),
                    .factor_axes = with_points({dofs}, program_.has_points(table))};
    for (std::size_t n = 0; n < inverse_map_.size(); ++n)
      product.terms.push_back({inverse_map_[n].component, static_cast<int>(n), inverse_map_[n].derivative});
    steps_.multiply(map_, std::move(product), made.array);
    derivatives_.push_back(made);
  }
  const Derivatives& derivatives_of(const Element& element, int dofs) const {
    const auto found = std::ranges::find_if(derivatives_, [&](const Derivatives& known) {
      return known.element == &element && (input_.shares_derivatives || known.dofs == dofs);
    });
    if (found == derivatives_.end()) throw base::InternalError("cell matrices by points: no derivatives");
    return *found;
  }

  /// The rows of test functions, then the matrix.
  void integrate(Block& block) {
    const auto& use = program_.outputs[block.output];
    const int matrix =
        steps_.add_array(fmt::format("m{}", block.output), use.components, {block.test_axis, block.trial_axis});
    bool is_begun = false;
    for (const bool of_points : {false, true})
      for (const bool of_values : {false, true})
        is_begun = add_to_matrix(block, of_points, of_values, matrix, is_begun) || is_begun;
    if (!is_begun) return; // The form has nothing for this pair of fields.
    steps_.write(steps_.add_access({.kind = AccessKind::output, .field = static_cast<int>(block.output)}), matrix);
  }
  /// Adds what multiplies values of trial functions, or their derivatives, of pairs that differ between points or do
  /// not. Says whether there is any.
  bool add_to_matrix(const Block& block, bool of_points, bool of_values, int matrix, bool accumulate) {
    const auto& use = program_.outputs[block.output];
    std::vector<Pair> pairs;
    for (const auto& pair : block.pairs)
      if ((pair.trial < 0) == of_values && has_points(block, pair) == of_points) pairs.push_back(pair);
    std::map<std::pair<int, int>, int> rows; ///< component of the row by pair of components and trial derivative
    for (const auto& pair : pairs) rows.try_emplace({pair.component, pair.trial}, 0);
    if (rows.empty()) return false;
    int count = 0;
    for (auto& [key, number] : rows) number = count++;
    std::vector<Product::Term> by_derivative, by_value;
    for (const auto& pair : pairs) {
      auto& terms = pair.test < 0 ? by_value : by_derivative;
      terms.push_back({rows.at({pair.component, pair.trial}), pair.coefficient, std::max(pair.test, 0)});
    }
    const int coefficients = of_points ? block.weighed : block.of_cell;
    const bool weighed_has_points = program_.has_points(coefficients);
    const auto factor_of = [&](const Element& element, int dofs, bool is_value) {
      return is_value ? functions_.values_of(element, dofs) : derivatives_of(element, dofs).array;
    };
    bool row_has_points = weighed_has_points;
    for (const bool is_value : {false, true})
      if (!(is_value ? by_value : by_derivative).empty())
        row_has_points = row_has_points || program_.has_points(factor_of(*use.element, block.test_axis, is_value));
    const int row =
        steps_.add_array(fmt::format("t{}_{}{}", block.output, of_values ? "v" : "g", of_points ? "" : "_cell"), count,
                         with_points({block.test_axis}, row_has_points));
    bool is_begun = false;
    for (const bool is_value : {false, true}) {
      auto& terms = is_value ? by_value : by_derivative;
      if (terms.empty()) continue;
      const int factor = factor_of(*use.element, block.test_axis, is_value);
      const bool is_of_cell = row_has_points && !weighed_has_points && !program_.has_points(factor);
      const int part = is_of_cell ? steps_.add_array(fmt::format("p{}_{}", block.output, of_values ? "v" : "g"), count,
                                                     {block.test_axis})
                                  : row;
      steps_.multiply(coefficients,
                      {.factor = factor,
                       .terms = std::move(terms),
                       .source_axes = with_points({}, weighed_has_points),
                       .factor_axes = with_points({block.test_axis}, program_.has_points(factor))},
                      part, is_begun && !is_of_cell);
      if (is_of_cell) add_part_of_cell(part, row, block.test_axis, is_begun);
      is_begun = true;
    }
    const int factor = factor_of(*use.trial_element, block.trial_axis, of_values);
    Product product{.factor = factor,
                    .terms = {},
                    .source_axes = with_points({block.test_axis}, row_has_points),
                    .factor_axes = with_points({block.trial_axis}, program_.has_points(factor))};
    for (const auto& [key, number] : rows) product.terms.push_back({key.first, number, std::max(key.second, 0)});
    steps_.multiply(row, std::move(product), matrix, accumulate);
    return true;
  }

  /// Takes a part of rows that no point changes, which is computed once, to the rows of all points.
  void add_part_of_cell(int part, int row, int test_axis, bool accumulate) {
    Product product{.factor = functions_.one(), .terms = {}, .source_axes = {test_axis}, .factor_axes = {}};
    for (int n = 0; n < program_.num_components(row); ++n) product.terms.push_back({n, n, 0});
    steps_.multiply(part, std::move(product), row, accumulate);
  }

  TensorProgram& program_;
  const ProgramInput& input_;
  BasisTables& tables_;
  ProgramSteps steps_;
  FunctionTables functions_;
  std::vector<unsigned> sets_;
  std::vector<Block> blocks_;
  std::vector<Output> inverse_map_; ///< the entries that derivatives need
  bool map_has_points_ = false;
  int map_ = -1; ///< array
  std::vector<Derivatives> derivatives_;
};

} // namespace

bool has_point_matrices(const std::vector<FieldUse>& uses, const element::Quadrature& quadrature) {
  constexpr int most_numbers = 4096; // A table in the text of a kernel has no more.
  const auto fits = [&](const Element& element) {
    return element.num_dofs() * quadrature.num_points() * element::dimension(element.shape()) <= most_numbers;
  };
  return !uses.empty() && std::ranges::all_of(uses, [&](const FieldUse& use) {
    return use.trial_element != nullptr && fits(*use.element) && fits(*use.trial_element);
  });
}

TensorProgram build_point_matrices(const ProgramInput& given) {
  ProgramInput input = given;
  input.contraction = Contraction::dense;
  BasisTables tables(input);
  auto program = empty_program(input, Contraction::pointwise);
  add_points(program, tables);
  PointMatrices(program, input, tables).run();
  program.verify();
  return program;
}

bool is_faster(const TensorProgram& by_points, const TensorProgram& by_tables) {
  constexpr double share = 0.7;
  return count_flops(by_points) < share * count_flops(by_tables);
}

} // namespace rafter::kernel

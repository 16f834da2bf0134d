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

class PointMatrices {
public:
  PointMatrices(TensorProgram& program, const ProgramInput& input, BasisTables& tables)
      : program_(program), input_(input), tables_(tables), steps_(program),
        frame_(differentiation_frame(input.function.shape, false)), sets_(dependencies(input.function)) {}

  void run() {
    find_coefficients();
    place_outputs();
    if (has_outputs(false)) steps_.evaluate_cell();
    for (auto& block : blocks_)
      if (!block.has_points) weigh(block);
    make_derivatives(false);
    if (has_outputs(true)) {
      add_evaluation(program_, input_, tables_);
      steps_.evaluate();
    }
    for (auto& block : blocks_)
      if (block.has_points) weigh(block);
    make_derivatives(true);
    for (auto& block : blocks_) integrate(block);
  }

private:
  /// The coefficients of a pair of fields.
  struct Pair {
    int coefficient = 0, component = 0; ///< numbers of the coefficient and of the pair of components
    int test = -1, trial = -1;          ///< physical axis of the derivative; -1: the value
  };
  struct Block {
    std::size_t output = 0;
    std::vector<Pair> pairs;
    std::vector<NodeId> coefficients;
    bool has_points = false; ///< some coefficient is not the same at all points
    int test_axis = -1, trial_axis = -1;
    int given = -1, weighed = -1; ///< arrays of the coefficients
  };
  /// Physical derivatives of the functions of an element along the axis of its dofs.
  struct Derivatives {
    const Element* element = nullptr;
    int dofs = -1, array = -1, table = -1;
    bool has_points = false;
  };

  bool is_constant(NodeId node) const { return is_per_cell(sets_[static_cast<std::size_t>(node)]); }
  int points() const { return program_.point_axes.front(); }
  std::vector<int> with_points(std::vector<int> axes, bool has_points) const {
    if (has_points) axes.push_back(points());
    return axes;
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

  // --- tables -------------------------------------------------------------------------------------------------------
  /// Values or derivatives along directions of the frame, shape (slot, function, point), without points where all of
  /// them have the same numbers.
  int table(const std::string& name, const Element& element, int dofs, std::span<const int> slots) {
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
    if (is_new) known->second = table(fmt::format("v{}", values_.size() - 1), element, dofs, std::vector{-1});
    return known->second;
  }

  // --- steps --------------------------------------------------------------------------------------------------------
  /// Multiplies the coefficients by the weights, or by their sum where nothing of a block depends on the point.
  void weigh(Block& block) {
    if (block.given < 0) return;
    const bool keeps_points = block.has_points || map_has_points_ || depends_on_points(block);
    const auto count = static_cast<int>(block.coefficients.size());
    const int weights = table_of_weights(keeps_points);
    block.weighed = steps_.add_array(fmt::format("d{}", block.output), count, with_points({}, keeps_points));
    Product product{.factor = weights,
                    .terms = {},
                    .source_axes = with_points({}, block.has_points),
                    .factor_axes = with_points({}, keeps_points)};
    for (int n = 0; n < count; ++n) product.terms.push_back({n, n, 0});
    steps_.multiply(block.given, std::move(product), block.weighed);
  }
  /// The weights, or their sum.
  int table_of_weights(bool has_points) {
    int& table = has_points ? weights_ : volume_;
    if (table >= 0) return table;
    const double sum = std::accumulate(program_.weights.begin(), program_.weights.end(), 0.0);
    table = steps_.add_table(has_points ? "w" : "volume", 1, with_points({}, has_points),
                             has_points ? program_.weights : std::vector{sum});
    return table;
  }
  /// Says whether functions or derivatives of a block differ between points.
  bool depends_on_points(const Block& block) const {
    const auto& use = program_.outputs[block.output];
    return std::ranges::any_of(block.pairs, [&](const Pair& pair) {
      return differs(*use.element, pair.test < 0) || differs(*use.trial_element, pair.trial < 0);
    });
  }
  bool differs(const Element& element, bool is_value) const {
    const auto found = element.tabulate(tables_.points());
    for (int slot = is_value ? -1 : 0; slot < (is_value ? 0 : program_.tdim); ++slot)
      for (int i = 0; i < found.num_dofs; ++i)
        for (int q = 1; q < found.num_points; ++q)
          if (std::abs(slot_value(found, frame_, slot, q, i) - slot_value(found, frame_, slot, 0, i)) > rounding)
            return true;
    return false;
  }

  /// Makes the physical derivatives that depend on the point, or those that do not.
  void make_derivatives(bool with_points_of) {
    for (const auto& block : blocks_) {
      const auto& use = program_.outputs[block.output];
      const auto differentiates = [&](int Pair::*slot) {
        return std::ranges::any_of(block.pairs, [slot](const Pair& pair) { return pair.*slot >= 0; });
      };
      if (differentiates(&Pair::test)) add_derivatives(*use.element, block.test_axis, with_points_of);
      if (differentiates(&Pair::trial)) add_derivatives(*use.trial_element, block.trial_axis, with_points_of);
    }
  }
  void add_derivatives(const Element& element, int dofs, bool with_points_of) {
    const auto is_same = [&](const Derivatives& known) {
      return known.element == &element && (input_.shares_derivatives || known.dofs == dofs);
    };
    if (std::ranges::any_of(derivatives_, is_same)) return;
    if ((map_has_points_ || differs(element, false)) != with_points_of) return;
    std::vector<int> slots;
    for (int b = 0; b < program_.tdim; ++b) slots.push_back(b);
    const auto number = derivatives_.size();
    if (input_.shares_derivatives) dofs = steps_.add_other_axis(AxisKind::dof, element.num_dofs());
    Derivatives made{.element = &element, .dofs = dofs, .has_points = with_points_of};
    made.table = table(fmt::format("r{}", number), element, dofs, slots);
    made.array = steps_.add_array(fmt::format("g{}", number), program_.tdim, with_points({dofs}, with_points_of));
    Product product{.factor = made.table,
                    .terms = {},
                    .source_axes = with_points({}, map_has_points_),
                    .factor_axes = with_points({dofs}, program_.has_points(made.table))};
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
    const int matrix = steps_.add_array(fmt::format("m{}", block.output), use.components,
                                        {block.test_axis, block.trial_axis});
    bool is_begun = false;
    for (const bool of_values : {false, true}) is_begun = add_to_matrix(block, of_values, matrix, is_begun) || is_begun;
    if (!is_begun) return; // The form has nothing for this pair of fields.
    steps_.write(steps_.add_access({.kind = AccessKind::output, .field = static_cast<int>(block.output)}), matrix);
  }
  /// Adds what multiplies values of trial functions, or their derivatives.
  bool add_to_matrix(const Block& block, bool of_values, int matrix, bool accumulate) {
    const auto& use = program_.outputs[block.output];
    std::map<std::pair<int, int>, int> rows; ///< component of the row by pair of components and trial derivative
    for (const auto& pair : block.pairs)
      if ((pair.trial < 0) == of_values) rows.try_emplace({pair.component, pair.trial}, 0);
    if (rows.empty()) return false;
    int count = 0;
    for (auto& [key, number] : rows) number = count++;
    std::vector<Product::Term> by_derivative, by_value;
    for (const auto& pair : block.pairs) {
      if ((pair.trial < 0) != of_values) continue;
      auto& terms = pair.test < 0 ? by_value : by_derivative;
      terms.push_back({rows.at({pair.component, pair.trial}), pair.coefficient, std::max(pair.test, 0)});
    }
    const bool weighed_has_points = program_.has_points(block.weighed);
    const auto factor_of = [&](const Element& element, int dofs, bool is_value) {
      return is_value ? values_of(element, dofs) : derivatives_of(element, dofs).array;
    };
    bool row_has_points = weighed_has_points;
    for (const bool is_value : {false, true})
      if (!(is_value ? by_value : by_derivative).empty())
        row_has_points = row_has_points ||
                         program_.has_points(factor_of(*use.element, block.test_axis, is_value));
    const int row = steps_.add_array(fmt::format("t{}_{}", block.output, of_values ? "v" : "g"), count,
                                     with_points({block.test_axis}, row_has_points));
    bool is_begun = false;
    for (const bool is_value : {false, true}) {
      auto& terms = is_value ? by_value : by_derivative;
      if (terms.empty()) continue;
      const int factor = factor_of(*use.element, block.test_axis, is_value);
      steps_.multiply(block.weighed,
                      {.factor = factor,
                       .terms = std::move(terms),
                       .source_axes = with_points({}, weighed_has_points),
                       .factor_axes = with_points({block.test_axis}, program_.has_points(factor))},
                      row, is_begun);
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

  static constexpr double rounding = 1e-13; ///< of tabulated derivatives that are the same at all points
  TensorProgram& program_;
  const ProgramInput& input_;
  BasisTables& tables_;
  ProgramSteps steps_;
  std::vector<double> frame_;
  std::vector<unsigned> sets_;
  std::vector<Block> blocks_;
  std::vector<Output> inverse_map_; ///< the entries that derivatives need
  bool map_has_points_ = false;
  int map_ = -1, weights_ = -1, volume_ = -1; ///< arrays
  std::vector<Derivatives> derivatives_;
  std::map<const Element*, int> values_;
};

} // namespace

bool has_point_matrices(const ProgramInput& input) {
  constexpr int most_numbers = 4096; // of a table in a text
  const auto fits = [&](const Element& element) {
    return element.num_dofs() * input.fields.quadrature.num_points() * element::dimension(element.shape()) <=
           most_numbers;
  };
  return !input.function.is_facet && !input.fields.outputs.empty() &&
         std::ranges::all_of(input.fields.outputs, [&](const FieldUse& use) {
           return use.trial_element != nullptr && fits(*use.element) && fits(*use.trial_element);
         });
}

TensorProgram build_point_matrices(const ProgramInput& given) {
  ProgramInput input = given;
  input.contraction = Contraction::dense;
  BasisTables tables(input);
  TensorProgram program;
  program.function = input.function;
  program.tdim = input.function.tdim();
  program.inputs = input.fields.inputs;
  program.batches = input.fields.batches;
  program.outputs = input.fields.outputs;
  program.contraction = Contraction::pointwise;
  add_points(program, tables);
  PointMatrices(program, input, tables).run();
  program.verify();
  return program;
}

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/cell_matrices.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <rafter/kernel/program_steps.hpp>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {
namespace {

using element::Element;

BasisSlot basis_slot(const Output& output) { return {output.derivative, output.derivative2}; }

std::set<BasisSlot> slots_of(const QFunction& function, int field) {
  std::set<BasisSlot> result;
  for (const auto& output : function.outputs)
    if (output.kind == OutputKind::test_pair && output.field == field) result.insert(basis_slot(output));
  return result;
}

/// Says whether every coefficient has one value per cell.
bool is_constant_on_cells(const QFunction& function) {
  const auto sets = dependencies(function);
  return std::ranges::all_of(
      function.outputs, [&](const Output& output) { return is_per_cell(sets[static_cast<std::size_t>(output.node)]); });
}

/// Weighed products of two tables, shape (pair of rows, column): entry (i * number of second rows + j, q) is weight q
/// times first(i, q) second(j, q).
std::vector<double> products(const std::vector<double>& first, const std::vector<double>& second,
                             std::span<const double> weights) {
  const std::size_t num_points = weights.size();
  std::vector<double> result;
  result.reserve(first.size() * second.size() / num_points);
  for (std::size_t i = 0; i < first.size(); i += num_points)
    for (std::size_t j = 0; j < second.size(); j += num_points)
      for (std::size_t q = 0; q < num_points; ++q) result.push_back(weights[q] * first[i + q] * second[j + q]);
  return result;
}

/// Adds the steps from the coefficients in the points to the cell matrices of each pair of fields.
class PairIntegration {
public:
  PairIntegration(TensorProgram& program, const ProgramInput& input, const BasisTables& tables, bool is_constant)
      : program_(program), tables_(tables), is_constant_(is_constant), steps_(program),
        frame_(differentiation_frame(input.function.shape, input.function.is_facet)) {}

  void run() {
    std::vector<std::map<BasisSlot, Slot>> places;
    for (std::size_t f = 0; f < program_.outputs.size(); ++f) places.push_back(make_arrays(f));
    for (const auto& output : program_.function.outputs) {
      Slot place = places[position_of(program_.outputs, output.field)].at(basis_slot(output));
      place.component = output.component;
      program_.output_slots.push_back(place);
    }
    steps_.evaluate();
    for (std::size_t f = 0; f < program_.outputs.size(); ++f)
      if (!places[f].empty())
        write(static_cast<int>(f), program_.is_grid() ? chains(places[f], f) : dense(places[f], f));
  }

private:
  void write(int field, int matrices) {
    steps_.write(steps_.add_access({.kind = AccessKind::output, .field = field}), matrices);
  }
  std::map<BasisSlot, Slot> make_arrays(std::size_t f) {
    const auto& use = program_.outputs[f];
    const auto slots = slots_of(program_.function, use.index);
    std::map<BasisSlot, Slot> result;
    if (program_.is_grid()) {
      for (const auto& slot : slots)
        result[slot] = {steps_.add_array(fmt::format("d{}_{}_{}", f, slot.first + 1, slot.second + 1), use.components,
                                         program_.point_axes),
                        0, 0};
      return result;
    }
    if (slots.empty()) return result;
    const int slot_axis = steps_.add_axis(AxisKind::slot, static_cast<int>(slots.size()));
    const int array = steps_.add_array(fmt::format("d{}", f), use.components, {slot_axis, program_.point_axes.front()});
    for (const auto& slot : slots) result.emplace(slot, Slot{array, 0, static_cast<int>(result.size())});
    return result;
  }

  /// Values (slot -1) or derivatives along direction `slot` of the basis functions, shape (function, point).
  std::vector<double> table(const Element& element, int slot, int facet) const {
    const auto found = element.tabulate(tables_.points_of(facet));
    std::vector<double> result;
    for (int i = 0; i < found.num_dofs; ++i)
      for (int q = 0; q < found.num_points; ++q) result.push_back(slot_value(found, frame_, slot, q, i));
    return result;
  }

  int dense(const std::map<BasisSlot, Slot>& places, std::size_t f) {
    std::vector<ReferenceMatrix> matrices;
    for (int facet = 0; facet < tables_.num_facets(); ++facet)
      matrices.push_back(dense_table(places, program_.outputs[f], facet));
    const int source = places.begin()->second.array;
    const auto& axes = program_.array(source).axes;
    std::vector<int> cols(axes.begin() + 1, axes.end());
    const int pairs = steps_.add_axis(AxisKind::pair, matrices.front().rows);
    return steps_.contract(source, steps_.family_by_facet({pairs}, std::move(cols), std::move(matrices)),
                           fmt::format("m{}", f));
  }
  /// Takes the coefficients in the points to cell matrices.
  ReferenceMatrix dense_table(const std::map<BasisSlot, Slot>& places, const FieldUse& use, int facet) const {
    const int rows = use.element->num_dofs() * use.trial_element->num_dofs();
    const auto points = static_cast<std::size_t>(program_.num_points());
    ReferenceMatrix matrix{"P", rows, static_cast<int>(places.size() * points), {}, Symmetry::none, true, {}};
    matrix.values.resize(static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.cols));
    for (const auto& [slot, place] : places) {
      const auto values = integrals(products(table(*use.element, slot.first, facet),
                                             table(*use.trial_element, slot.second, facet), tables_.weights_of(facet)));
      for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * points), points,
                    matrix.values.begin() + static_cast<std::ptrdiff_t>(row * static_cast<std::size_t>(matrix.cols) +
                                                                        static_cast<std::size_t>(place.slot) * points));
    }
    return matrix;
  }
  /// Sums the weighed products over the points where the coefficients are constant on the cell; returns them as they
  /// are elsewhere.
  std::vector<double> integrals(std::vector<double> weighed) const {
    if (!is_constant_) return weighed;
    const auto num_points = static_cast<std::size_t>(tables_.num_points());
    std::vector<double> result;
    for (std::size_t row = 0; row < weighed.size(); row += num_points) {
      double sum = 0;
      for (std::size_t q = 0; q < num_points; ++q) sum += weighed[row + q];
      result.push_back(sum);
    }
    return result;
  }

  int chains(const std::map<BasisSlot, Slot>& places, std::size_t f) {
    const auto& use = program_.outputs[f];
    auto pairs = use.element->extents();
    const auto of_trial = use.trial_element->extents();
    for (std::size_t axis = 0; axis < pairs.size(); ++axis) pairs[axis] *= of_trial[axis];
    const auto axes = steps_.add_axes(AxisKind::pair, pairs, true);
    const int result = steps_.add_array(fmt::format("m{}", f), use.components, axes);
    bool accumulate = false;
    for (const auto& [slot, place] : places) {
      steps_.chain(place.array, factors(use, slot), axes, fmt::format("m{}_{}_{}", f, slot.first + 1, slot.second + 1),
                   AxisOrder::first_to_last, result, accumulate);
      accumulate = true;
    }
    return result;
  }
  /// Tables of products of a test and a trial function in 1D, one per axis, shape ((test, trial), point).
  std::vector<ReferenceMatrix> factors(const FieldUse& use, const BasisSlot& slot) const {
    std::vector<ReferenceMatrix> result;
    for (int axis = 0; axis < program_.tdim; ++axis) {
      const auto& [points, weights] = tables_.lines()[static_cast<std::size_t>(axis)];
      const auto transposed = [&, &line = points](const Element& element, int derivative) {
        return weighted_transpose(table_1d(element, axis, line, derivative), std::vector<double>(line.size(), 1.0));
      };
      const auto test = transposed(*use.element, slot.first == axis ? 1 : 0),
                 trial = transposed(*use.trial_element, slot.second == axis ? 1 : 0);
      result.push_back(with_symmetry({"P",
                                      test.rows * trial.rows,
                                      test.cols,
                                      products(test.values, trial.values, weights),
                                      Symmetry::none,
                                      false,
                                      {}}));
    }
    return result;
  }

  TensorProgram& program_;
  const BasisTables& tables_;
  bool is_constant_;
  ProgramSteps steps_;
  std::vector<double> frame_;
};

} // namespace

QFunction pair_coefficients(const QFunction& function, std::span<const int> trial_components) {
  QFunction result = merged(function);
  auto& graph = result.graph;
  std::map<std::tuple<int, int, int, int>, Output> outputs;
  std::vector<Output> of_map;
  for (const auto& output : result.outputs) {
    if (output.kind == OutputKind::inverse_map) {
      of_map.push_back(output);
      continue;
    }
    for (const auto& [atom, coefficient] : trial_coefficients(graph, output.node)) {
      const Output pair{OutputKind::test_pair,
                        number_of_pair(output.field, atom.a, trial_components.size()),
                        output.component * trial_components[static_cast<std::size_t>(atom.a)] + atom.b,
                        output.derivative,
                        atom.c,
                        coefficient};
      const auto [place, is_new] =
          outputs.try_emplace({pair.field, pair.component, pair.derivative, pair.derivative2}, pair);
      if (!is_new) place->second.node = graph.add(place->second.node, coefficient);
    }
  }
  result.outputs = std::move(of_map);
  for (const auto& [key, output] : outputs)
    if (!graph.is_constant(output.node, 0)) result.outputs.push_back(output);
  return result;
}

CellMatrixSize cell_matrix_size(const ProgramInput& input) {
  const bool is_constant = is_constant_on_cells(input.function);
  const bool is_grid =
      !is_constant && !input.function.is_facet && has_tensor_factors(input.function.shape, input.fields);
  const auto num_facets = static_cast<double>(std::max<std::size_t>(1, input.fields.local_facets.size()));
  CellMatrixSize result;
  for (const auto& use : input.fields.outputs) {
    const double pairs = static_cast<double>(use.element->num_dofs()) * use.trial_element->num_dofs();
    const auto slots = static_cast<double>(slots_of(input.function, use.index).size());
    result.result_entries += pairs * use.components;
    if (!is_grid)
      result.table_entries = std::max(
          result.table_entries, num_facets * pairs * slots * (is_constant ? 1 : input.fields.quadrature.num_points()));
  }
  return result;
}

TensorProgram build_cell_matrices(const ProgramInput& given) {
  ProgramInput input = given;
  const bool is_constant = is_constant_on_cells(input.function);
  const bool is_grid =
      !is_constant && !input.function.is_facet && has_tensor_factors(input.function.shape, input.fields);
  input.contraction = is_grid ? Contraction::collocated : Contraction::dense;
  BasisTables tables(input);
  auto program = empty_program(input, tables.contraction());
  if (is_constant) { // and nothing is read at a point
    program.weights.assign(static_cast<std::size_t>(tables.num_facets()), 1.0);
    program.point_axes = {ProgramSteps(program).add_axis(AxisKind::point, 1)};
    add_facets(program, tables);
  } else
    add_points(program, tables);
  complete_outputs(program.function, program.outputs);
  if (!is_constant) add_evaluation(program, input, tables);
  PairIntegration(program, input, tables, is_constant).run();
  program.verify();
  return program;
}

std::vector<int> pair_places(const TensorProgram& program, const FieldUse& use) {
  std::vector<int> result;
  const int tests = use.element->num_dofs(), trials = use.trial_element->num_dofs();
  const auto n = use.element->extents(), m = use.trial_element->extents();
  const auto digit = [](int number, const std::vector<int>& extents, std::size_t axis) {
    for (std::size_t a = 0; a < axis; ++a) number /= extents[a];
    return number % extents[axis];
  };
  for (int i = 0; i < tests; ++i)
    for (int j = 0; j < trials; ++j) {
      int place = i * trials + j;
      if (program.is_grid()) {
        place = 0;
        for (std::size_t axis = n.size(); axis-- > 0;)
          place = place * n[axis] * m[axis] + digit(i, n, axis) * m[axis] + digit(j, m, axis);
      }
      result.push_back(place);
    }
  return result;
}

} // namespace rafter::kernel

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
  return std::ranges::all_of(function.outputs, [&](const Output& output) {
    return (sets[static_cast<std::size_t>(output.node)] & ~static_cast<unsigned>(on_cell)) == 0;
  });
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
        steps_.scatter(static_cast<int>(f), program_.is_tensor ? chains(places[f], f) : dense(places[f], f));
  }

private:
  std::map<BasisSlot, Slot> make_arrays(std::size_t f) {
    const auto& use = program_.outputs[f];
    const auto slots = slots_of(program_.function, use.index);
    std::map<BasisSlot, Slot> result;
    if (program_.is_tensor) {
      for (const auto& slot : slots)
        result[slot] = {steps_.add_array(fmt::format("d{}_{}_{}", f, slot.first + 1, slot.second + 1), use.components,
                                         program_.point_extents),
                        0, 0};
      return result;
    }
    const int array = slots.empty() ? -1
                                    : steps_.add_array(fmt::format("d{}", f), use.components,
                                                       {static_cast<int>(slots.size()) * program_.num_points});
    for (const auto& slot : slots)
      result.emplace(slot, Slot{array, 0, static_cast<int>(result.size()) * program_.num_points});
    return result;
  }

  /// Values (slot -1) or derivatives along direction `slot` of the basis functions, shape (function, point).
  std::vector<double> table(const Element& element, int slot) const {
    const auto found = element.tabulate(tables_.points());
    std::vector<double> result;
    for (int i = 0; i < found.num_dofs; ++i)
      for (int q = 0; q < found.num_points; ++q) result.push_back(slot_value(found, frame_, slot, q, i));
    return result;
  }

  int dense(const std::map<BasisSlot, Slot>& places, std::size_t f) {
    const auto& use = program_.outputs[f];
    const int rows = use.element->num_dofs() * use.trial_element->num_dofs();
    ReferenceMatrix matrix{"P",  rows, static_cast<int>(places.size()) * program_.num_points, {}, Symmetry::none,
                           true, {}};
    matrix.values.resize(static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.cols));
    const auto points = static_cast<std::size_t>(program_.num_points);
    for (const auto& [slot, place] : places) {
      const auto values = integrals(
          products(table(*use.element, slot.first), table(*use.trial_element, slot.second), tables_.weights()));
      for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * points), points,
                    matrix.values.begin() + static_cast<std::ptrdiff_t>(row * static_cast<std::size_t>(matrix.cols)) +
                        place.offset);
    }
    return steps_.contract(places.begin()->second.array, steps_.add_matrix(std::move(matrix)), 1,
                           fmt::format("m{}", f));
  }
  /// Sums the weighed products over the points where the coefficients are constant on the cell; returns them as they
  /// are elsewhere.
  std::vector<double> integrals(std::vector<double> weighed) const {
    if (!is_constant_) return weighed;
    const std::size_t num_points = tables_.weights().size();
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
    const int pairs = (use.element->degree() + 1) * (use.trial_element->degree() + 1);
    const int result = steps_.add_array(fmt::format("m{}", f), use.components,
                                        std::vector<int>(static_cast<std::size_t>(program_.tdim), pairs));
    bool accumulate = false;
    for (const auto& [slot, place] : places) {
      steps_.chain(place.array, factors(use, slot), fmt::format("m{}_{}_{}", f, slot.first + 1, slot.second + 1),
                   result, accumulate);
      accumulate = true;
    }
    return result;
  }
  /// Tables of products of a test and a trial function in 1D, one per axis, shape ((test, trial), point).
  std::vector<ReferenceMatrix> factors(const FieldUse& use, const BasisSlot& slot) const {
    const auto transposed = [&](const Element& element, int derivative) {
      const auto by_point = table_1d(element, tables_.points_1d(), derivative);
      return weighted_transpose(by_point, std::vector<double>(tables_.points_1d().size(), 1.0));
    };
    std::vector<ReferenceMatrix> result;
    for (int axis = 0; axis < program_.tdim; ++axis) {
      const auto test = transposed(*use.element, slot.first == axis ? 1 : 0),
                 trial = transposed(*use.trial_element, slot.second == axis ? 1 : 0);
      result.push_back(with_symmetry({"P",
                                      test.rows * trial.rows,
                                      test.cols,
                                      products(test.values, trial.values, tables_.weights_1d()),
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
  for (const auto& output : result.outputs)
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
  result.outputs.clear();
  for (const auto& [key, output] : outputs)
    if (!graph.is_constant(output.node, 0)) result.outputs.push_back(output);
  return result;
}

CellMatrixSize cell_matrix_size(const ProgramInput& input) {
  const bool is_constant = is_constant_on_cells(input.function);
  const bool is_grid = !is_constant && element::is_tensor(input.function.shape) && !input.function.is_facet;
  CellMatrixSize result;
  for (const auto& use : input.fields.outputs) {
    const double pairs = static_cast<double>(use.element->num_dofs()) * use.trial_element->num_dofs();
    const auto slots = static_cast<double>(slots_of(input.function, use.index).size());
    result.result_entries += pairs * use.components;
    if (!is_grid)
      result.table_entries =
          std::max(result.table_entries, pairs * slots * (is_constant ? 1 : input.fields.quadrature.num_points()));
  }
  return result;
}

TensorProgram build_cell_matrices(const ProgramInput& given) {
  ProgramInput input = given;
  const bool is_constant = is_constant_on_cells(input.function);
  const bool is_grid = !is_constant && element::is_tensor(input.function.shape) && !input.function.is_facet;
  input.contraction = is_grid ? Contraction::collocated : Contraction::dense;
  BasisTables tables(input);
  TensorProgram program;
  program.function = input.function;
  program.tdim = input.function.tdim();
  program.inputs = input.fields.inputs;
  program.outputs = input.fields.outputs;
  program.is_tensor = is_grid;
  program.point_extents = is_constant ? std::vector<int>{1} : tables.point_extents();
  program.points = tables.points();
  program.weights = is_constant ? std::vector<double>{1} : tables.weights();
  program.num_points = is_constant ? 1 : tables.num_points();
  complete_outputs(program.function, program.outputs);
  if (!is_constant) add_evaluation(program, input, tables);
  PairIntegration(program, input, tables, is_constant).run();
  program.evaluations.clear(); // mappings fuse no steps of these programs
  program.verify();
  return program;
}

std::vector<int> pair_places(const TensorProgram& program, const FieldUse& use) {
  std::vector<int> result;
  const int tests = use.element->num_dofs(), trials = use.trial_element->num_dofs();
  const int n = use.element->degree() + 1, m = use.trial_element->degree() + 1;
  for (int i = 0; i < tests; ++i)
    for (int j = 0; j < trials; ++j) {
      int place = i * trials + j;
      if (program.is_tensor) {
        place = 0;
        for (int axis = program.tdim - 1; axis >= 0; --axis) {
          const auto digit = [axis](int number, int base) {
            for (int a = 0; a < axis; ++a) number /= base;
            return number % base;
          };
          place = place * n * m + digit(i, n) * m + digit(j, m);
        }
      }
      result.push_back(place);
    }
  return result;
}

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/stored_matrices.hpp>

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/kernel/cell_matrices.hpp>
#include <rafter/kernel/point_matrices.hpp>
#include <rafter/kernel/program_steps.hpp>

namespace rafter::kernel {
namespace {

std::vector<FieldUse> trials_of(const CellFields& fields) {
  std::vector<FieldUse> result;
  for (const auto& use : fields.inputs)
    if (use.kind == AtomKind::reference_trial) result.push_back(use);
  return result;
}

int num_trials(const std::vector<FieldUse>& trials) {
  int result = 0;
  for (const auto& use : trials) result = std::max(result, use.index + 1);
  return result;
}

const FieldUse& field_of(const std::vector<FieldUse>& uses, int index) { return uses[position_of(uses, index)]; }

/// Says whether exchanging test and trial functions changes nothing: fields of one number have one element, and
/// coefficients of exchanged slots are the same node.
bool is_symmetric(const QFunction& pairs, const std::vector<FieldUse>& tests, const std::vector<FieldUse>& trials) {
  if (tests.size() != trials.size()) return false;
  for (const auto& test : tests) {
    const auto trial = std::ranges::find(trials, test.index, &FieldUse::index);
    if (trial == trials.end() || trial->element != test.element || trial->components != test.components) return false;
  }
  const int count = num_trials(trials);
  std::map<std::tuple<int, int, int, int>, NodeId> nodes;
  for (const auto& o : pairs.outputs) nodes[{o.field, o.component, o.derivative, o.derivative2}] = o.node;
  return std::ranges::all_of(pairs.outputs, [&](const Output& o) {
    const int test = o.field / count, trial = o.field % count;
    const int of_test = field_of(tests, test).components, of_trial = field_of(trials, trial).components;
    const int component = o.component % of_trial * of_test + o.component / of_trial;
    const auto found = nodes.find({trial * count + test, component, o.derivative2, o.derivative});
    return found != nodes.end() && found->second == o.node;
  });
}

} // namespace

double num_matrix_entries(const CellFields& fields) {
  double result = 0;
  for (const auto& test : fields.outputs)
    for (const auto& trial : trials_of(fields))
      result += static_cast<double>(test.components) * trial.components * test.num_dofs() * trial.num_dofs();
  return result;
}

StoredMatrices stored_matrices(const QFunction& function, const QFunction& of_derivatives, const CellFields& fields) {
  const auto trials = trials_of(fields);
  if (trials.empty() || !has_tests_alone(function) || function.outputs.empty()) return {};
  const int count = num_trials(trials);
  std::vector<int> trial_components(static_cast<std::size_t>(count), 1);
  for (const auto& trial : trials) trial_components[static_cast<std::size_t>(trial.index)] = trial.components;
  StoredMatrices result;
  result.function = pair_coefficients(function, trial_components);
  result.of_derivatives = pair_coefficients(of_derivatives, trial_components);
  const bool shares_halves = is_symmetric(result.function, fields.outputs, trials);
  std::map<std::pair<int, int>, int> places;    ///< by numbers of an unknown of the test side and of the trial side
  std::map<int, int> first_tests, first_trials; ///< number of the first unknown of a field
  int number = 0;
  for (const auto& test : fields.outputs) {
    first_tests[test.index] = number;
    number += test.components * test.num_dofs();
  }
  number = 0;
  for (const auto& trial : trials) {
    first_trials[trial.index] = shares_halves ? first_tests.at(trial.index) : number;
    number += trial.components * trial.num_dofs();
  }
  for (const auto& output : result.function.outputs) {
    const auto known = std::ranges::find(result.uses, output.field, &FieldUse::index);
    if (known != result.uses.end()) {
      auto& components = result.components[static_cast<std::size_t>(known - result.uses.begin())];
      if (std::ranges::find(components, output.component) == components.end()) components.push_back(output.component);
      continue;
    }
    const auto& [test, trial] = result.fields.emplace_back(output.field / count, output.field % count);
    const auto& of_trial = field_of(trials, trial);
    FieldUse use = field_of(fields.outputs, test);
    use.index = output.field;
    use.components *= of_trial.components;
    use.trial_element = of_trial.element;
    use.pattern = -1;
    result.uses.push_back(use);
    result.components.push_back({output.component});
  }
  for (std::size_t p = 0; p < result.uses.size(); ++p) {
    const auto& use = result.uses[p];
    const auto &test = field_of(fields.outputs, result.fields[p].first),
               &trial = field_of(trials, result.fields[p].second);
    auto& of_pair = result.places.emplace_back();
    for (int c = 0; c < use.components; ++c) {
      const bool is_used = std::ranges::find(result.components[p], c) != result.components[p].end();
      for (int i = 0; i < test.num_dofs(); ++i)
        for (int j = 0; j < trial.num_dofs(); ++j) {
          if (!is_used) {
            of_pair.push_back(-1);
            continue;
          }
          std::pair key{first_tests.at(test.index) + c / trial.components * test.num_dofs() + i,
                        first_trials.at(trial.index) + c % trial.components * trial.num_dofs() + j};
          if (shares_halves && key.first < key.second) std::swap(key.first, key.second);
          const auto [place, is_new] = places.try_emplace(key, result.num_stored);
          result.num_stored += is_new ? 1 : 0;
          of_pair.push_back(place->second);
        }
    }
  }
  return result;
}

TensorProgram build_stored_product(const StoredMatrices& matrices, const CellFields& fields) {
  TensorProgram program;
  program.contraction = Contraction::cell_matrices;
  program.function.shape = matrices.function.shape;
  program.function.map = matrices.function.map;
  program.tdim = program.function.tdim();
  program.inputs = trials_of(fields);
  program.outputs = fields.outputs;
  program.batches = fields.batches;
  program.num_stored = matrices.num_stored;
  ProgramSteps steps(program);
  program.weights = {1.0}; // Nothing is done at points.
  program.point_axes = {steps.add_axis(AxisKind::point, 1)};
  const auto axes_of = [&](const std::vector<FieldUse>& uses) {
    std::vector<int> result;
    for (const auto& use : uses) result.push_back(steps.add_other_axis(AxisKind::dof, use.num_dofs()));
    return result;
  };
  const auto rows = axes_of(program.outputs), columns = axes_of(program.inputs);
  std::vector<int> of_inputs;
  for (std::size_t g = 0; g < program.inputs.size(); ++g) {
    of_inputs.push_back(steps.add_array(fmt::format("u{}", g), program.inputs[g].components, {columns[g]}));
    steps.read(steps.add_access({.kind = AccessKind::input, .field = static_cast<int>(g)}), of_inputs.back());
  }
  for (std::size_t f = 0; f < program.outputs.size(); ++f) {
    const auto& test = program.outputs[f];
    const int result = steps.add_array(fmt::format("v{}", f), test.components, {rows[f]});
    bool is_begun = false;
    for (std::size_t p = 0; p < matrices.uses.size(); ++p) {
      if (matrices.fields[p].first != test.index) continue;
      const auto g = position_of(program.inputs, matrices.fields[p].second);
      const auto& trial = program.inputs[g];
      const auto& components = matrices.components[p];
      const int entries = test.num_dofs() * trial.num_dofs();
      const int matrix =
          steps.add_array(fmt::format("a{}", p), static_cast<int>(components.size()), {rows[f], columns[g]});
      Access access{.kind = AccessKind::stored, .places = {}};
      Product product{
          .factor = of_inputs[g], .terms = {}, .source_axes = {rows[f], columns[g]}, .factor_axes = {columns[g]}};
      for (std::size_t n = 0; n < components.size(); ++n) {
        const int c = components[n];
        const auto first = matrices.places[p].begin() + static_cast<std::ptrdiff_t>(c) * entries;
        access.places.insert(access.places.end(), first, first + entries);
        product.terms.push_back({c / trial.components, static_cast<int>(n), c % trial.components});
      }
      steps.read(steps.add_access(std::move(access)), matrix);
      steps.multiply(matrix, std::move(product), result, is_begun);
      is_begun = true;
    }
    if (!is_begun) throw base::InternalError("stored matrices: the form couples a test field to nothing");
    steps.write(steps.add_access({.kind = AccessKind::output, .field = static_cast<int>(f)}), result);
  }
  program.verify();
  return program;
}

TensorProgram build_stored_matrices(const StoredMatrices& matrices, const ProgramInput& given) {
  ProgramInput input = given;
  const bool is_pointwise = input.contraction == Contraction::pointwise;
  input.function = is_pointwise ? matrices.of_derivatives : matrices.function;
  input.fields.outputs = matrices.uses;
  auto program = is_pointwise ? build_point_matrices(input) : build_cell_matrices(input);
  program.num_stored = matrices.num_stored;
  for (auto& access : program.accesses) {
    if (access.kind != AccessKind::output) continue;
    const auto p = static_cast<std::size_t>(access.field);
    const auto& use = matrices.uses[p];
    const auto pair_at = pair_places(program, use);
    const auto entries = static_cast<std::size_t>(use.num_dofs());
    access.kind = AccessKind::stored;
    access.places.resize(static_cast<std::size_t>(use.components) * entries);
    for (std::size_t c = 0; c < static_cast<std::size_t>(use.components); ++c)
      for (std::size_t k = 0; k < entries; ++k)
        access.places[c * entries + static_cast<std::size_t>(pair_at[k])] = matrices.places[p][c * entries + k];
  }
  program.verify();
  return program;
}

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/program_steps.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {

int ProgramSteps::add_array(const std::string& name, int components, std::vector<int> extents) {
  extents.insert(extents.begin(), components);
  program_.arrays.push_back({name, std::move(extents)});
  return static_cast<int>(program_.arrays.size()) - 1;
}

int ProgramSteps::add_matrix(ReferenceMatrix matrix) {
  for (std::size_t i = 0; i < program_.matrices.size(); ++i)
    if (program_.matrices[i].rows == matrix.rows && program_.matrices[i].values == matrix.values)
      return static_cast<int>(i);
  matrix.name += std::to_string(program_.matrices.size());
  matrix.is_data = !program_.is_tensor;
  program_.matrices.push_back(std::move(matrix));
  return static_cast<int>(program_.matrices.size()) - 1;
}

int ProgramSteps::add_folding(const Folding& folding) {
  const auto found = std::find(program_.foldings.begin(), program_.foldings.end(), folding);
  if (found != program_.foldings.end()) return static_cast<int>(found - program_.foldings.begin());
  program_.foldings.push_back(folding);
  return static_cast<int>(program_.foldings.size()) - 1;
}

void ProgramSteps::load_nodes(int target) {
  program_.steps.push_back({.kind = StepKind::load_nodes, .target = target});
}
void ProgramSteps::gather(int field, int target) {
  program_.steps.push_back({.kind = StepKind::gather, .field = field, .target = target});
}
void ProgramSteps::scatter(int field, int source) {
  program_.steps.push_back({.kind = StepKind::scatter, .field = field, .source = source});
}
void ProgramSteps::evaluate() { program_.steps.push_back({.kind = StepKind::evaluate}); }
void ProgramSteps::weigh(int target) { program_.steps.push_back({.kind = StepKind::weigh, .target = target}); }
void ProgramSteps::mask(int number, int target) {
  program_.steps.push_back({.kind = StepKind::mask, .field = number, .target = target});
}
void ProgramSteps::butterfly(int array, const Folding& folding) {
  program_.steps.push_back({.kind = StepKind::butterfly, .field = add_folding(folding), .target = array});
}
void ProgramSteps::set_folding(int array, const Folding& folding) {
  program_.arrays[static_cast<std::size_t>(array)].folding = add_folding(folding);
}

int ProgramSteps::contract(int source, int matrix, int axis, const std::string& name, int target, bool accumulate) {
  if (target < 0) {
    TensorArray array = program_.arrays[static_cast<std::size_t>(source)];
    array.name = name;
    array.folding = -1; // only arrays of dofs are folded
    array.extents[static_cast<std::size_t>(axis)] = program_.matrices[static_cast<std::size_t>(matrix)].rows;
    program_.arrays.push_back(std::move(array));
    target = static_cast<int>(program_.arrays.size()) - 1;
  }
  program_.steps.push_back({.kind = StepKind::contract,
                            .source = source,
                            .target = target,
                            .matrix = matrix,
                            .axis = axis,
                            .accumulate = accumulate});
  return target;
}

int ProgramSteps::chain(int source, const std::vector<ReferenceMatrix>& factors, const std::string& name, int target,
                        bool accumulate, std::array<int, 3>* used) {
  for (int axis = 0; axis < program_.tdim; ++axis) {
    const auto& factor = factors[static_cast<std::size_t>(axis)];
    const bool is_last = axis + 1 == program_.tdim;
    if (is_identity(factor) && !(is_last && target >= 0)) continue;
    const int matrix = add_matrix(factor);
    if (used != nullptr) (*used)[static_cast<std::size_t>(axis)] = matrix;
    source = contract(source, matrix, position(axis), fmt::format("{}_{}", name, axis), is_last ? target : -1,
                      is_last && accumulate);
  }
  return source;
}

std::vector<int> dof_extents(const TensorProgram& program, const element::Element& element) {
  if (!program.is_tensor) return {element.num_dofs()};
  return std::vector<int>(static_cast<std::size_t>(program.tdim), element.degree() + 1);
}

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/cell_matrices.hpp>
#include <rafter/kernel/point_matrices.hpp>
#include <rafter/kernel/program_steps.hpp>
#include <rafter/kernel/separable.hpp>

namespace rafter::kernel {

namespace {

TensorProgram build_by_points(const ProgramInput& input) {
  BasisTables tables(input);
  auto program = empty_program(input, tables.contraction());
  add_points(program, tables);
  complete_outputs(program.function, program.outputs);
  add_evaluation(program, input, tables);
  add_integration(program, tables);
  program.verify();
  return program;
}

} // namespace

TensorProgram build_program(const ProgramInput& input) {
  if (!input.fields.outputs.empty() && input.fields.outputs.front().trial_element != nullptr)
    return input.contraction == Contraction::pointwise ? build_point_matrices(input) : build_cell_matrices(input);
  if (input.contraction == Contraction::separable)
    if (const auto form = separable_form(input)) return build_separable(input, *form);
  return build_by_points(input);
}

} // namespace rafter::kernel

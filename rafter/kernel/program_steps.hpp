// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string>
#include <vector>

#include <rafter/kernel/basis_tables.hpp>

namespace rafter::kernel {

/// Adds arrays, matrices and steps to a tensor program. Methods that return an int return the index of the array or
/// matrix.
class ProgramSteps {
public:
  explicit ProgramSteps(TensorProgram& program) : program_(program) {}

  int add_array(const std::string& name, int components, std::vector<int> extents);
  /// Adds a matrix unless the program has an equal one.
  int add_matrix(ReferenceMatrix matrix);
  void load_nodes(int target);
  void gather(int field, int target);
  void scatter(int field, int source);
  void evaluate();
  void weigh(int target);
  void mask(int number, int target);
  void butterfly(int array, const Folding& folding);
  /// Notes that the dofs in an array stand in the order of a folding.
  void set_folding(int array, const Folding& folding);
  /// Adds a contraction into array `target`, or into a new array if that is -1.
  int contract(int source, int matrix, int axis, const std::string& name, int target = -1, bool accumulate = false);
  /// Contracts axes 0, 1, .. one after the other; identities are skipped, and the last contraction may add to `target`.
  /// `used` receives the matrix index of each axis that is contracted.
  int chain(int source, const std::vector<ReferenceMatrix>& factors, const std::string& name, int target = -1,
            bool accumulate = false, std::array<int, 3>* used = nullptr);
  /// Position of a reference axis among the axes of an array: reference axis 0 comes last.
  int position(int axis) const { return program_.tdim - axis; }

private:
  int add_folding(const Folding& folding);

  TensorProgram& program_;
};

/// Extents of an array of the dofs of an element, without the leading extent of components.
std::vector<int> dof_extents(const TensorProgram& program, const element::Element& element);

/// Adds the steps that evaluate the input fields and the geometry in the points (B), and the slots where the QFunction
/// reads them.
void add_evaluation(TensorProgram& program, const ProgramInput& input, BasisTables& tables);

/// Adds zero outputs for components without one, where other components of the same test slot have one: arrays of
/// outputs must be written completely.
void complete_outputs(QFunction& function, const std::vector<FieldUse>& outputs);

/// Adds the arrays and slots of the outputs of the QFunction, its step, and the steps that integrate them (B^T).
void add_integration(TensorProgram& program, BasisTables& tables);

} // namespace rafter::kernel

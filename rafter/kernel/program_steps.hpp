// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string>
#include <vector>

#include <rafter/kernel/basis_tables.hpp>

namespace rafter::kernel {

/// Adds arrays, matrices and steps to a tensor program. Methods return the index of what they add.
class ProgramSteps {
public:
  explicit ProgramSteps(TensorProgram& program) : program_(program) {}

  int add_array(const std::string& name, int components, std::vector<int> extents);
  /// The index of an equal matrix, or of a new one.
  int add_matrix(ReferenceMatrix matrix);
  void load_nodes(int target);
  void gather(int field, int target);
  void scatter(int field, int source);
  void evaluate();
  void weigh(int target);
  void butterfly(int array, const Folding& folding);
  /// Marks an array of dofs as folded.
  void set_folding(int array, const Folding& folding);
  /// The array `target`, or a new one where it is -1.
  int contract(int source, int matrix, int axis, const std::string& name, int target = -1, bool accumulate = false);
  /// Contracts axis 0, 1, ..; the last contraction may add to `target`. Identities are skipped. `used`: matrix of each
  /// axis, where one is contracted.
  int chain(int source, const std::vector<ReferenceMatrix>& factors, const std::string& name, int target = -1,
            bool accumulate = false, std::array<int, 3>* used = nullptr);
  /// Array axis of a reference axis: the last one is reference axis 0.
  int position(int axis) const { return program_.tdim - axis; }

private:
  int add_folding(const Folding& folding);

  TensorProgram& program_;
};

/// Extents of the dofs of an element, without that of components.
std::vector<int> dof_extents(const TensorProgram& program, const element::Element& element);

/// Adds the steps that evaluate the input fields and the geometry in the points (B), and the slots where the point
/// function finds them.
void add_evaluation(TensorProgram& program, const ProgramInput& input, BasisTables& tables);

/// Gives every component of a slot that any component uses a value, zero if need be: arrays are written whole.
void complete_outputs(QFunction& function, const std::vector<FieldUse>& outputs);

/// Adds the arrays and slots of the outputs of the QFunction, its step, and the steps that integrate them (B^T).
void add_integration(TensorProgram& program, BasisTables& tables);

} // namespace rafter::kernel

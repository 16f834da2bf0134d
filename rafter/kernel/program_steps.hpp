// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <rafter/kernel/basis_tables.hpp>

namespace rafter::kernel {

/// Reference axes in turn.
enum class AxisOrder : std::uint8_t { first_to_last, last_to_first };

/// Adds axes, arrays, matrices and steps to a tensor program. Methods that return an int return the index of what they
/// added.
class ProgramSteps {
public:
  explicit ProgramSteps(TensorProgram& program) : program_(program) {}

  /// Adds an axis, with a name that says what it is, unless the program has an equal one.
  int add_axis(AxisKind kind, int extent, int direction = -1);
  /// Adds an axis also where the program has an equal one, for indices that differ from those along it.
  int add_other_axis(AxisKind kind, int extent);
  /// Adds an axis of each kind along all reference axes, the last reference axis first as arrays have them; of the cell
  /// alone where there is one extent without a direction.
  std::vector<int> add_axes(AxisKind kind, const std::vector<int>& extents, bool has_directions);
  /// Adds an array with these axes behind one of components.
  int add_array(const std::string& name, int components, std::vector<int> axes);
  /// Adds an array that holds a table, shape (component, axes...).
  int add_table(const std::string& name, int components, std::vector<int> axes, std::vector<double> values);
  /// Adds a matrix unless the program has an equal one.
  int add_matrix(ReferenceMatrix matrix);
  /// Adds matrices one after the other unless the program has equal ones that stand so; their numbers.
  std::vector<int> add_matrices(std::vector<ReferenceMatrix> added);
  /// A family of matrices, one for each facet (one alone for cells): it has an index where they differ.
  MatrixFamily family_by_facet(std::vector<int> rows, std::vector<int> cols, std::vector<ReferenceMatrix> matrices);
  int add_access(Access access);
  void read(int access, int target);  ///< Adds the step that fills array `target`.
  void write(int access, int source); ///< Adds the step that takes array `source` outside.
  void evaluate_cell();
  void evaluate();
  /// Adds a product of array `source` into array `target`.
  void multiply(int source, Product product, int target, bool accumulate = false);
  // In place:
  void weigh(int array); ///< by the quadrature weights
  void butterfly(int array, const Folding& folding);
  void mask(int array, const EntityMask& mask);
  /// Adds a contraction into array `target`, or into a new array if that is -1.
  int contract(int source, MatrixFamily family, const std::string& name, int target = -1, bool accumulate = false);
  /// Contracts a source along one reference axis after the other, whose indices become those of `rows`, in the order of
  /// an array; identities are skipped, and the last contraction may add to `target`.
  int chain(int source, const std::vector<ReferenceMatrix>& factors, const std::vector<int>& rows,
            const std::string& name, AxisOrder order, int target = -1, bool accumulate = false);
  /// The axis of an array that counts along a reference axis.
  int axis_along(int array, int direction) const;

private:
  int add_new_axis(AxisKind kind, int extent, int direction);
  int add_folding(const Folding& folding);
  void apply(FamilyKind kind, int member, std::vector<int> axes, int array);

  TensorProgram& program_;
};

/// A program without steps: function, fields and batches of the input, and its contraction.
TensorProgram empty_program(const ProgramInput& input, Contraction contraction);

/// Adds the points and weights of the tables, and their axes, with that of facets.
void add_points(TensorProgram& program, const BasisTables& tables);
/// Adds the axis of facets where the program is one of facets.
void add_facets(TensorProgram& program, const BasisTables& tables);

/// Axes of an array of the dofs of an element, behind that of components. They are those of the points where the nodes
/// are points.
std::vector<int> dof_axes(TensorProgram& program, const BasisTables& tables, const element::Element& element);

/// Adds the steps that evaluate the input fields and the geometry in the points (B), and the slots where the QFunction
/// reads them.
void add_evaluation(TensorProgram& program, const ProgramInput& input, BasisTables& tables);

/// Adds zero outputs for components without one, where other components of the same test slot have one: arrays of
/// outputs must be written completely.
void complete_outputs(QFunction& function, const std::vector<FieldUse>& outputs);

/// Adds the arrays and slots of the outputs of the QFunction, its step, and the steps that integrate them (B^T).
void add_integration(TensorProgram& program, BasisTables& tables);

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <optional>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

namespace rafter::schedule {

/// The steps that take a field, or the geometry, from its dofs to the points. Steps and arrays are given by their
/// numbers in the program; -1: there is none.
struct FieldSteps {
  int reading = -1;                           ///< step that gathers dofs or loads nodes
  int dofs = -1, values = -1;                 ///< arrays; the same one where nodes are points
  std::vector<int> interpolation;             ///< steps along axes 0, 1, ..; none where nodes are points
  std::array<int, 3> derivatives{-1, -1, -1}; ///< steps by axis, from the values to derivatives in the points
};
/// The steps that take what the QFunction leaves of an output to its dofs.
struct ResultSteps {
  int values = -1;                            ///< array of what multiplies the value of the test function
  std::array<int, 3> derivatives{-1, -1, -1}; ///< steps by axis: the transposed derivatives
  int total = -1;                             ///< array to which these add up, together with `values`
  int weighing = -1;                          ///< step where nodes are points
  std::vector<int> restriction;               ///< steps along the last axis first; none where nodes are points
  int writing = -1;                           ///< step that scatters dofs
};
/// A program that takes each field to the points once, its values or, where nothing else is read, one derivative, and
/// other derivatives there.
struct CollocatedStages {
  std::vector<FieldSteps> fields;
  int evaluation = -1;
  std::vector<ResultSteps> results;
};

/// Says whether a program works on a grid in two or three dimensions with as many dofs, and as many points, along each
/// axis.
bool has_equal_extents(const kernel::TensorProgram& program);

/// Finds these stages; nothing where a program has other steps or another order of them.
std::optional<CollocatedStages> collocated_stages(const kernel::TensorProgram& program);

} // namespace rafter::schedule

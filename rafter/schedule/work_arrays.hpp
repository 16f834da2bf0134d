// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// A work array of a program and how long its numbers are needed: from statement `first` to statement `last` of
/// `num_statements` in the innermost block that holds all statements which use it. That block is the body of `loop`, in
/// each of whose iterations the array holds other numbers, or a part of it.
struct WorkArray {
  std::string name;
  double bytes = 0; ///< of all lanes
  std::string loop; ///< its variable; "batch": of no loop
  int first = 0, last = 0, num_statements = 0;
  bool is_in_registers = false; ///< as in_registers(): takes no memory
};

/// In the order of the program's buffers; arrays that nothing uses are left out.
std::vector<WorkArray> work_arrays(const LoopProgram& program);

} // namespace rafter::schedule

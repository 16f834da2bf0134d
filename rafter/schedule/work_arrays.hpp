// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// A work array of a program and how long its contents are needed: from statement `first` to statement `last` of the
/// `num_statements` in the innermost block that holds all statements which use it. That block belongs to the body of
/// `loop`, and each iteration of that loop fills the array anew.
struct WorkArray {
  std::string name;
  double bytes = 0; ///< size for all lanes
  std::string loop; ///< variable of the loop; "batch" where there is no loop
  int first = 0, last = 0, num_statements = 0;
  bool is_in_registers = false; ///< the array is in registers and takes no memory
};

/// The work arrays in the order of the program's buffers, without those that nothing uses.
std::vector<WorkArray> work_arrays(const LoopProgram& program);

} // namespace rafter::schedule

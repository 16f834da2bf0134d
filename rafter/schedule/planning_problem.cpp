// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/planning_problem.hpp>

#include <algorithm>

namespace rafter::schedule {

int usual_width(int cells_per_batch, int register_width, Precision compute) {
  const int per_double = compute == Precision::single_precision ? 2 : 1;
  return std::min(cells_per_batch, std::max(per_double * register_width, 2));
}

bool is_split(const PlanningProblem& problem, int vector_width) {
  return vector_width > usual_width(problem.cells_per_batch, problem.register_width);
}

bool has_few_registers(const PlanningProblem& problem) { return problem.register_width == 4; }

bool has_large_arrays(const PlanningProblem& problem, int vector_width) {
  constexpr double large_bytes = 128 << 10;
  return 8.0 * problem.num_points * vector_width >= large_bytes;
}

} // namespace rafter::schedule

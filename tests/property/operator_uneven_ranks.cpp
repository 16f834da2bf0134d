// SPDX-License-Identifier: BSD-3-Clause
// Operators of virtual processes some of which have nothing of what the others have: no constrained unknowns, no facets of an
// integral, no cells with a tag.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>

#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/random_field.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

constexpr int num_cells = 12;

op::OperatorOptions interpreted(const std::string& plan = "") {
  return planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan});
}

/// Calls function(part of the row, process) on processes that have a row of intervals one after the other.
template <class Function> void in_a_row(const mesh::Mesh& row, int num_ranks, const Function& function) {
  (void)row.topology();
  mesh::CellRanks ranks(1);
  for (int cell = 0; cell < num_cells; ++cell) ranks[0].push_back(cell * num_ranks / num_cells);
  comm::run_in_process(num_ranks,
                       [&](const Process& process) { function(mesh::local_part(row, ranks, process), process); });
}
template <class Function> void in_a_row(int num_ranks, const Function& function) {
  in_a_row(box("interval", num_cells), num_ranks, function);
}

/// Values of owned entries by the place of their nodes.
std::map<double, double> by_place(const Problem& problem, const Vector& vector) {
  const auto& space = *problem.space();
  std::vector<double> places(static_cast<std::size_t>(space.num_local()));
  space::interpolate(
      space, [](std::span<const double> x, std::span<double> value) { value[0] = x[0]; }, places);
  std::map<double, double> result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(space.index_map().num_owned()); ++i)
    result[places[i]] = vector.host_read()[i];
  return result;
}
void expect_part_of(const std::map<double, double>& part, const std::map<double, double>& whole) {
  for (const auto& [place, value] : part) EXPECT_NEAR(value, whole.at(place), 1e-12) << "at " << place;
}

/// Right-hand side and initial guess with boundary values that hold a parameter.
std::pair<std::map<double, double>, std::map<double, double>> lifted(const Problem& problem) {
  const auto [u, v] = form::arguments(problem.space());
  auto options = interpreted();
  options.dirichlet = {
      op::make_condition(problem.space(), {}, form::parameter("t") * (1 + form::spatial_coordinate(1)[0]))};
  op::Operator A(form::inner(form::grad(u), form::grad(v)) * form::dx, options);
  A.set("t", 3.0);
  Vector b = A.make_vector(), x = A.make_vector();
  space::fill_random(*problem.space(), 1, b.host_overwrite());
  space::fill_random(*problem.space(), 2, x.host_overwrite());
  A.apply_boundary_values(b, x);
  return {by_place(problem, b), by_place(problem, x)};
}

TEST(UnevenRanks, LiftBoundaryValuesWhereAProcessHasNone) {
  const auto whole = lifted(Problem(box("interval", num_cells), 2));
  for (const int num_ranks : {2, 3, 6})
    in_a_row(num_ranks, [&](const mesh::Mesh& part, const Process&) {
      const auto found = lifted(Problem(part, 2));
      expect_part_of(found.first, whole.first);
      expect_part_of(found.second, whole.second);
    });
}

TEST(UnevenRanks, JudgePrecisionTogetherWhereAProcessHasNoKernels) {
  in_a_row(3, [](const mesh::Mesh& part, const Process& process) {
    const Problem problem(part, 2);
    const op::Operator A(problem.form("u*v*ds(1)"), interpreted("compute=float"));
    std::vector<double> errors{A.precision_error(), -A.precision_error()};
    process->max(errors);
    EXPECT_EQ(errors[0], -errors[1]) << "one verdict";
  });
}

} // namespace
} // namespace rafter::test

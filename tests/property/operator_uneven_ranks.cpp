// SPDX-License-Identifier: BSD-3-Clause
// Operators of virtual processes some of which have nothing of what the others have: no constrained unknowns, no facets
// of an integral, no cells with a tag.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>

#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/chebyshev.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/random_field.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

constexpr int num_cells = 12;

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
std::map<double, double> by_place(const Problem& problem, const Vector& vector, std::size_t field = 0) {
  const auto& space = *problem.space(field);
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

/// The row with tag 2 on the cells of its last quarter, which the last of 3 processes has.
mesh::Mesh tagged_row() {
  auto row = box("interval", num_cells);
  for (int cell = 9; cell < num_cells; ++cell) row.groups[0].tags.set(static_cast<std::size_t>(cell), 2);
  return row;
}

/// The error that `use` throws is the same on all processes, although it is wrong on one alone.
template <class Error, class Use> void expect_thrown_together(const std::string& message, const Use& use) {
  std::atomic<int> num_thrown = 0;
  in_a_row(tagged_row(), 3, [&](const mesh::Mesh& part, const Process& process) {
    Problem problem(part, 2);
    try {
      use(problem);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
      ++num_thrown;
    }
    EXPECT_EQ(process->gather(1).size(), 3U) << "they go on together";
  });
  EXPECT_EQ(num_thrown, 3);
}

TEST(UnevenRanks, FailTogetherWhereADiagonalHasNoInverse) {
  expect_thrown_together<base::SolverError>("has no inverse", [](Problem& problem) {
    const op::Operator A(problem.form("u*v*dx(2)"), interpreted());
    const solvers::Jacobi jacobi(A);
  });
  expect_thrown_together<base::SolverError>("has positive ones", [](Problem& problem) {
    problem.with("c", form::by_tag("c", {{"1", 1.0}, {"2", -2.0}}));
    const op::Operator A(problem.form("c*u*v*dx"), interpreted());
    const solvers::Chebyshev chebyshev(A);
  });
}

TEST(UnevenRanks, FailTogetherWhereABoundaryValueIsNotFinite) {
  expect_thrown_together<base::InputError>("is inf", [](Problem& problem) {
    auto options = interpreted();
    options.dirichlet = {
        dirichlet(problem.space(), [](std::span<const double> x, std::size_t) { return 1 / (1 - x[0]); })};
    const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), options);
  });
}

TEST(UnevenRanks, FailTogetherWhereACoefficientHasNoValue) {
  expect_thrown_together<base::InputError>("has no value for cells with tag 2", [](Problem& problem) {
    problem.with("c", form::by_tag("c", {{"1", 1.0}}));
    const op::Operator A(problem.form("c*u*v*dx"), interpreted());
  });
}

TEST(UnevenRanks, StopTogetherWhenTheMonitorOfOneAsksTo) {
  for (const auto* method : {"cg", "gmres", "minres"})
    in_a_row(3, [&](const mesh::Mesh& part, const Process& process) {
      const Problem problem(part, 2);
      auto options = interpreted();
      options.dirichlet = {dirichlet(problem.space(), [](auto, std::size_t) { return 0.0; })};
      const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), options);
      const op::LinearForm L(problem.form("x[0]*v*dx"), problem.system(), options);
      Vector b = A.make_vector(), x = A.make_vector();
      L.assemble(b);
      A.apply_boundary_values(b, x);
      solvers::SolverOptions solver{.method = method, .preconditioner = "none"};
      solver.control.rtol = 1e-12;
      if (process->rank() == 1) solver.control.monitor = [](int iteration, double) { return iteration < 3; };
      const auto result = solvers::solve(A, b, x, solver);
      EXPECT_EQ(result.failure, solvers::Failure::stopped) << method << ": " << result.message;
      EXPECT_EQ(result.iterations, 3) << method;
    });
}

/// A x of the free operator by the place of the unknowns, from vectors whose ghosts are not numbers.
template <class Vectors>
std::map<double, double> free_action(const Problem& problem, const op::OperatorOptions& given) {
  auto options = given;
  options.dirichlet = {dirichlet(problem.space(), [](auto, std::size_t) { return 1.0; }, {1})};
  const op::Operator A(problem.form("(x[0]*u*v + 0.1*inner(grad(u), grad(v)))*dx + u*v*ds(1)"), options);
  Vector x = A.make_vector(), y = A.make_vector();
  space::fill_random(*problem.space(), 5, x.host_overwrite());
  for (auto i = static_cast<std::size_t>(problem.space()->index_map().num_owned()); i < x.size(); ++i)
    x.host_write()[i] = NAN;
  if constexpr (std::is_same_v<Vectors, float>) {
    auto single_x = A.make_single_vector(), single_y = A.make_single_vector();
    std::ranges::copy(x.host_read(), single_x.host_overwrite().begin());
    A.apply(single_x, single_y);
    std::ranges::copy(std::as_const(single_y).host_read(), y.host_overwrite().begin());
  } else
    A.apply_free(x, y);
  return by_place(problem, y);
}

TEST(UnevenRanks, ApplyFreeOperatorsAndThoseOnFloats) {
  const std::string floats = "compute=float accumulate=float vector_width=4";
  const Problem row(box("interval", num_cells), 2);
  const auto whole = free_action<double>(row, interpreted());
  const auto whole_of_floats = free_action<float>(row, interpreted(floats));
  in_a_row(3, [&](const mesh::Mesh& part, const Process&) {
    const Problem problem(part, 2);
    expect_part_of(free_action<double>(problem, interpreted()), whole);
    for (const auto& [place, value] : free_action<float>(problem, interpreted(floats)))
      EXPECT_NEAR(value, whole_of_floats.at(place), 1e-6);
  });
}

TEST(UnevenRanks, ApplyRectangularOperators) {
  const auto action = [](mesh::Mesh mesh) {
    const Problem problem(std::move(mesh), {{.degree = 2, .name = "p"}, {.degree = 1, .name = "q"}});
    const auto p = form::arguments(problem.space(0)).first, v = form::arguments(problem.space(1)).second;
    const op::Systems systems(op::make_system({problem.space(1)}), op::make_system({problem.space(0)}));
    const op::Operator A(p * v * form::dx + p * v * form::ds(2), systems, interpreted());
    Vector x = A.make_column_vector(), y = A.make_row_vector();
    space::fill_random(*problem.space(0), 5, x.host_overwrite());
    A.apply(x, y);
    return by_place(problem, y, 1);
  };
  const auto whole = action(box("interval", num_cells));
  in_a_row(3, [&](const mesh::Mesh& part, const Process&) { expect_part_of(action(part), whole); });
}

TEST(UnevenRanks, SayOnWhichProcessARightHandSideIsNotFinite) {
  in_a_row(3, [&](const mesh::Mesh& part, const Process& process) {
    const Problem problem(part, 2);
    const op::Operator A(problem.form("u*v*dx"), interpreted());
    Vector b = A.make_vector(), x = A.make_vector();
    std::ranges::fill(b.host_overwrite(), process->rank() == 1 ? NAN : 1.0);
    const auto result = solvers::solve(A, b, x, {.preconditioner = "none"});
    EXPECT_EQ(result.failure, solvers::Failure::non_finite);
    const auto expected = process->rank() == 1 ? "first at entry 0" : "on another process";
    EXPECT_NE(result.message.find(expected), std::string::npos) << result.message;
  });
}

} // namespace
} // namespace rafter::test

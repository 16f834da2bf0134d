// SPDX-License-Identifier: BSD-3-Clause
// Solves on parts of a mesh: virtual processes together find the solution of the whole mesh.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/force_norm.hpp>
#include <rafter/solve/solver.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/opencl.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

/// The solution has values by cell of the whole mesh, and says how the solve went.
struct Solution {
  std::map<std::pair<std::size_t, std::int32_t>, std::vector<double>> cells;
  int iterations = 0;
  double residual = 0, energy = 0;
};

/// Solves an elasticity problem that is clamped on one side and pulled at another one.
Solution solved(const mesh::Mesh& mesh, const solvers::SolverOptions& solver, const op::OperatorOptions& device) {
  Problem problem(mesh, 2, mesh.gdim);
  problem.with("kappa", 1.3);
  auto options = device;
  options.dirichlet = {dirichlet(problem.space(), [](auto, std::size_t) { return 0.0; }, {1}),
                       dirichlet(problem.space(),
                                 [](auto x, std::size_t c) { return 0.1 * x[0] + 0.05 * static_cast<double>(c); },
                                 {2})};
  const op::Operator A(problem.form(elasticity_form(mesh.gdim)), options);
  const op::LinearForm L(problem.form("x[0]*v[0]*dx + v[0]*ds(3)"), problem.system(), options);
  Vector b = A.make_vector(), x = A.make_vector();
  L.assemble(b);
  Vector load = A.make_vector();
  const solvers::VectorOps ops(A);
  ops.copy(b, load);
  A.apply_boundary_values(b, x);
  auto with_reference = solver;
  with_reference.control.reference = solvers::force_norm(A, load);
  const auto result = solvers::solve(A, b, x, with_reference);
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  Solution solution{.cells = {}, .iterations = result.iterations, .residual = result.relative_residual};
  Vector image = A.make_vector();
  A.apply_free(x, image);
  solution.energy = ops.dot(x, image);
  const auto& space = *problem.space();
  // Ghosts get their values from their owners.
  std::vector<double> values = values_of(x);
  if (space.exchange() != nullptr) {
    for (auto i = static_cast<std::size_t>(space.index_map().num_owned()); i < values.size(); ++i)
      values[i] = std::nan("");
    space.exchange()->finish_forward(space.exchange()->start_forward(std::span(values)));
  }
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    for (std::int32_t cell = 0; cell < mesh.groups[g].num_cells(); ++cell) {
      const auto at = space.position(static_cast<std::int32_t>(g), cell);
      std::vector<std::int32_t> entries(
          static_cast<std::size_t>(space.element(mesh.groups[g].shape)->num_dofs() * space.num_components()));
      space.cell_dofs(at.block, at.batch, at.cell, entries);
      const auto number =
          mesh.distribution == nullptr ? cell : mesh.distribution->global_cells[g][static_cast<std::size_t>(cell)];
      auto& of_cell = solution.cells[{g, number}];
      for (const auto entry : entries) of_cell.push_back(values[static_cast<std::size_t>(entry)]);
    }
  return solution;
}

void expect_same(const mesh::Mesh& mesh, int num_ranks, Parts parts, const solvers::SolverOptions& solver,
                 const std::function<op::OperatorOptions()>& device,
                 const std::function<op::OperatorOptions()>& device_of_whole = {}) {
  SCOPED_TRACE(mesh.source + ", " + solver.method + ", " + solver.preconditioner + ", processes " +
               std::to_string(num_ranks));
  const auto expected = solved(mesh, solver, device_of_whole ? device_of_whole() : device());
  const auto ranks = cell_ranks(mesh, num_ranks, parts);
  std::mutex mutex;
  std::size_t num_cells = 0;
  comm::run_in_process(num_ranks, [&](const Process& process) {
    const auto found = solved(mesh::local_part(mesh, ranks, process), solver, device());
    const std::lock_guard lock(mutex);
    EXPECT_NEAR(found.iterations, expected.iterations, 1 + expected.iterations / 20);
    EXPECT_NEAR(found.energy, expected.energy, 1e-9 * std::fabs(expected.energy));
    for (const auto& [cell, values] : found.cells) {
      EXPECT_LE(distance(values, expected.cells.at(cell)), 1e-9);
      ++num_cells;
    }
  });
  EXPECT_EQ(num_cells, expected.cells.size());
}

TEST(SolvesOfRanks, FindTheSolutionOfOneProcess) {
  const solvers::IterationControl control{.rtol = 1e-12};
  for (const auto& [method, preconditioner] :
       {std::pair("cg", "jacobi"), std::pair("cg", "none"), std::pair("cg", "chebyshev"), std::pair("gmres", "jacobi"),
        std::pair("minres", "jacobi")})
    expect_same(scrambled(box("triangle", 3), 3), 3, Parts::clusters,
                {.method = method, .preconditioner = preconditioner, .control = control}, [] { return interpreted(); });
}

TEST(SolvesOfRanks, FindItOnMixedMeshes) {
  expect_same(rank_box("mixed"), 4, Parts::shuffled, {.control = {.rtol = 1e-12}},
              [] { return planned({.threads = 1, .plan = "vector_width=4"}); });
}

TEST(CgOfRanks, FindsTheSolutionOfOneProcessOnThreads) {
  expect_same(scrambled(box("quadrilateral", 3), 3), 3, Parts::shuffled, {.control = {.rtol = 1e-12}},
              [] { return planned({.threads = 2, .plan = "vector_width=2"}); });
}

/// Processes on devices with memory of their own find what the host finds on the whole mesh.
void expect_same_on(const std::string& device) {
  const auto on = [&](const std::string& name) { return planned({.device = name, .threads = 1}); };
  for (const auto* preconditioner : {"jacobi", "chebyshev"})
    expect_same(
        scrambled(box("quadrilateral", 3), 3), 3, Parts::clusters,
        {.method = "cg", .preconditioner = preconditioner, .control = {.rtol = 1e-12}}, [&] { return on(device); },
        [&] { return on("host"); });
}

TEST(SolvesOfRanksOnDevices, FindWhatTheHostFindsOnTheCheckedDevice) { expect_same_on("checked"); }

TEST(SolvesOfRanksOnDevices, FindWhatTheHostFindsOnOpenCl) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_same_on("opencl");
}

} // namespace
} // namespace rafter::test

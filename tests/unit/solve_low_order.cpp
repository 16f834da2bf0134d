// SPDX-License-Identifier: BSD-3-Clause
// Low-order-refined levels as preconditioners: iterations are bounded in the degree, also where cells are stretched.
#include <cmath>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <tests/support/multigrid_problems.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

op::Coarsening low_order() { return {.steps = op::parse_coarsening_steps("lor"), .enough_unknowns = 1}; }

mesh::Generations stretched_box(const std::string& shape, int cells, double length) {
  const auto dim = static_cast<std::size_t>(box_dimension(shape));
  std::vector<double> size(dim, 1.0);
  size.front() = length;
  return refined(mesh::make_box({.cells = std::vector<int>(dim, cells), .size = size, .shape = shape}), 0);
}

int iterations(const std::string& shape, int cells, double length, LevelledOptions options) {
  options.coarsening = low_order();
  const LevelledProblem problem(stretched_box(shape, cells, length), options);
  return problem.iterations({.coarse = solvers::CoarseSolver::amg});
}

} // namespace

TEST(low_order_refined, iterations_are_bounded_in_the_degree_and_the_stretching_on_tensor_products) {
  for (const auto& [shape, cells] : {std::pair{"quadrilateral", 8}, {"hexahedron", 4}})
    for (const double length : {1.0, 10.0, 100.0})
      for (const int degree : {2, 4, 8}) {
        if (degree == 8 && box_dimension(shape) == 3) continue; // as many unknowns as the rest together
        EXPECT_LE(iterations(shape, cells, length, {.degree = degree}), 16) << shape << " " << length << " " << degree;
      }
}

TEST(low_order_refined, serves_simplices_and_prisms_that_are_not_stretched) {
  for (const auto* shape : {"triangle", "tetrahedron", "prism"})
    for (const int degree : {2, 4})
      EXPECT_LE(iterations(shape, 3, 1, {.degree = degree}), 14) << shape << " " << degree;
}

TEST(low_order_refined, serves_elasticity_on_stretched_cells) {
  for (const int degree : {2, 4}) {
    LevelledOptions options{.form = "inner(div(u)*Identity(3) + 2*sym(grad(u)), sym(grad(v)))*dx", .degree = degree};
    options.components = 3;
    EXPECT_LE(iterations("hexahedron", 3, 100, options), 16) << degree;
  }
}

TEST(low_order_refined, cycle_is_symmetric_and_positive) {
  for (const auto* shape : {"interval", "triangle", "quadrilateral", "hexahedron", "prism"})
    for (const auto coarse : {solvers::CoarseSolver::direct, solvers::CoarseSolver::amg}) {
      const LevelledProblem problem(refined(curved_box(shape, 2), 0), {.degree = 3, .coarsening = low_order()});
      const auto M = solvers::make_preconditioner(problem.A(), problem.solver({.coarse = coarse}));
      const Vector r = random_residual(problem.A(), 1), s = random_residual(problem.A(), 2);
      Vector Mr = problem.A().make_vector(), Ms = problem.A().make_vector();
      M->apply(r, Mr);
      M->apply(s, Ms);
      const double scale = std::sqrt(dot(Mr, r) * dot(Ms, s));
      EXPECT_GT(dot(Mr, r), 0) << shape;
      EXPECT_NEAR(dot(Mr, s), dot(r, Ms), 1e-12 * scale) << shape;
    }
}

TEST(low_order_refined, singular_operators_have_constants_on_the_level) {
  const LevelledProblem problem(stretched_box("quadrilateral", 6, 30),
                                {.degree = 4, .has_dirichlet = false, .coarsening = low_order()});
  const solvers::NullSpaceCondition condition{.space = problem.system().spaces[0], .values = {0.0}};
  auto options = problem.solver({.coarse = solvers::CoarseSolver::amg}, std::span(&condition, 1));
  options.null_space = solvers::make_null_space(problem.A(), std::span(&condition, 1)).null_space();
  Vector b = random_residual(problem.A(), 3), x = problem.A().make_vector();
  std::ranges::fill(x.host_overwrite(), 0.0);
  const auto result = solvers::solve(problem.A(), b, x, options);
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  EXPECT_LE(result.iterations, 20);
}

TEST(low_order_refined, may_follow_steps_of_degrees_and_is_the_last_level) {
  using Places = std::vector<op::LevelPlace>;
  auto once = low_order();
  once.repeats_steps = false;
  once.steps = op::parse_coarsening_steps("p,lor");
  const op::LevelPlace last{.generation = 1, .degrees = {1}, .is_low_order_refined = true};
  EXPECT_EQ(op::coarser_places({1, {4}}, once), (Places{{1, {2}}, last}));
  EXPECT_EQ(op::coarser_places({1, {4}}, low_order()), (Places{last}));
  once.steps = op::parse_coarsening_steps("lor,p");
  EXPECT_THROW(op::coarser_places({1, {4}}, once), base::InputError);
  EXPECT_THROW(op::coarser_places({1, {1}}, low_order()), base::InputError) << "degree 1 is its own refinement";
  EXPECT_THROW(op::coarser_places({1, {2, 1}}, low_order()), base::InputError) << "two fields with other nodes";
}

TEST(low_order_refined, meshes_with_pyramids_are_refused) {
  EXPECT_THROW(LevelledProblem(refined(box("mixed"), 0), {.degree = 2, .coarsening = low_order()}), base::InputError);
}

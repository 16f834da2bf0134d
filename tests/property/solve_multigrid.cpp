// SPDX-License-Identifier: BSD-3-Clause
// Laws of the cycle and of its transfers on problems that are drawn at random, the same ones in every run: cells of any
// shape, scrambled, curved or straight, degrees, components, boundary conditions and orders of the levels.
#include <gtest/gtest.h>

#include <random>

#include <tests/support/multigrid_problems.hpp>

namespace rafter::test {
namespace {

/// A problem is made of these.
struct Draw {
  std::string shape, steps;
  int degree = 1, components = 0, geometry_degree = 1;
  bool is_clamped = false; ///< one side of the boundary is fixed instead of all of it
  solvers::MultigridParameters parameters;
  unsigned seed = 0;
};

class Drawer {
public:
  explicit Drawer(unsigned seed) : seed_(seed), generator_(seed) {}
  Draw operator()() {
    Draw draw;
    const auto shapes = box_shapes();
    draw.shape = shapes[static_cast<std::size_t>(number(0, static_cast<int>(shapes.size()) - 1))];
    const int dim = box_dimension(draw.shape);
    draw.steps = number(0, 1) == 0 ? "p,h" : "h,p";
    draw.degree = number(2, dim == 3 ? 3 : 6);
    draw.components = number(0, 1) == 0 ? 0 : dim;
    draw.geometry_degree = number(1, 2);
    draw.is_clamped = number(0, 1) == 1;
    draw.parameters.smoother.degree = number(1, 3);
    draw.parameters.smoothing_steps = number(1, 2);
    draw.seed = seed_;
    return draw;
  }

private:
  int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(generator_); }
  unsigned seed_;
  std::mt19937 generator_;
};

LevelledProblem make_problem(const Draw& draw) {
  const auto mesh = draw.geometry_degree == 1 ? box(draw.shape) : curved_box(draw.shape, draw.geometry_degree);
  auto coarsening = op::Coarsening{.steps = op::parse_coarsening_steps(draw.steps)};
  coarsening.enough_unknowns = 1;
  return {refined(scrambled(mesh, draw.seed), 1),
          {.form = "inner(grad(u), grad(v))*dx + 0.3*inner(u, v)*dx",
           .degree = draw.degree,
           .components = draw.components,
           .dirichlet_tags = draw.is_clamped ? std::vector<std::int32_t>{1} : std::vector<std::int32_t>{},
           .coarsening = coarsening},
          {}};
}

class RandomMultigrid : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomMultigrid, KeepsItsLaws) {
  const Draw draw = Drawer(GetParam())();
  SCOPED_TRACE(draw.shape + " " + draw.steps + " degree " + std::to_string(draw.degree));
  const auto problem = make_problem(draw);
  const auto& A = problem.A();
  for (std::size_t l = 0; l < problem.levels().size(); ++l) {
    const auto& level = problem.levels()[l];
    const auto& finer = l + 1 < problem.levels().size() ? *problem.levels()[l + 1].A : A;
    const Vector x = random_residual(*level.A, 1), y = random_residual(finer, 2);
    Vector Px = finer.make_vector(), Py = level.A->make_vector();
    level.to_finer->prolongate(x, Px);
    level.to_finer->restrict_to(y, Py);
    const solvers::VectorOps fine(finer), coarse(*level.A);
    EXPECT_NEAR(fine.dot(Px, y), coarse.dot(x, Py), 1e-13 * fine.norm(Px) * fine.norm(y)) << "level " << l;
    for (const auto entry : finer.constraints().entries) EXPECT_EQ(Px.host_read()[static_cast<std::size_t>(entry)], 0);
  }
  const auto M = solvers::make_preconditioner(A, problem.solver(draw.parameters));
  const Vector r = random_residual(A, 3), s = random_residual(A, 4);
  Vector Mr = A.make_vector(), Ms = A.make_vector();
  M->apply(r, Mr);
  M->apply(s, Ms);
  const solvers::VectorOps ops(A);
  const double rr = ops.dot(Mr, r), ss = ops.dot(Ms, s);
  EXPECT_GT(rr, 0);
  EXPECT_GT(ss, 0);
  EXPECT_NEAR(ops.dot(Mr, s), ops.dot(r, Ms), 1e-12 * std::sqrt(rr * ss));
  EXPECT_LE(problem.iterations(draw.parameters), 30);
}

INSTANTIATE_TEST_SUITE_P(seeds, RandomMultigrid, ::testing::Range(1u, 17u));

} // namespace
} // namespace rafter::test

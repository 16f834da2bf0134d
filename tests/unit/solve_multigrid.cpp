// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/space/discretisation.hpp>
#include <tests/support/multigrid_problems.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

op::Coarsening all_the_way(const std::string& steps) {
  return {.steps = op::parse_coarsening_steps(steps), .enough_unknowns = 1};
}

double product(const op::Operator& A, const Vector& x, const Vector& y) { return solvers::VectorOps(A).dot(x, y); }

/// Checks <M r, s> = <r, M s> up to rounding and <M r, r> > 0.
void expect_symmetric_positive(const op::Operator& A, const solvers::Preconditioner& M) {
  const Vector r = random_residual(A, 1), s = random_residual(A, 2);
  Vector Mr = A.make_vector(), Ms = A.make_vector();
  M.apply(r, Mr);
  M.apply(s, Ms);
  const double scale = std::sqrt(product(A, Mr, r) * product(A, Ms, s));
  EXPECT_GT(product(A, Mr, r), 0);
  EXPECT_NEAR(product(A, Mr, s), product(A, r, Ms), 1e-12 * scale);
}

} // namespace

TEST(coarser_places, follow_the_steps) {
  const op::LevelPlace finest{2, {8}};
  using Places = std::vector<op::LevelPlace>;
  EXPECT_EQ(op::coarser_places(finest, {}), (Places{{2, {4}}, {2, {2}}, {2, {1}}, {1, {1}}, {0, {1}}}));
  EXPECT_EQ(op::coarser_places(finest, all_the_way("h,p")), (Places{{1, {8}}, {0, {8}}, {0, {4}}, {0, {2}}, {0, {1}}}));
  EXPECT_EQ(op::coarser_places(finest, all_the_way("h")), (Places{{1, {8}}, {0, {8}}}));
  auto once = all_the_way("p,h,p");
  once.repeats_steps = false;
  EXPECT_EQ(op::coarser_places(finest, once), (Places{{2, {4}}, {1, {4}}, {1, {2}}}));
  EXPECT_THROW(op::coarser_places({2, {1}}, once), base::InputError) << "there is no degree below 1";
  EXPECT_THROW(op::coarser_places({0, {8}}, once), base::InputError) << "there is no coarser mesh";
}

TEST(coarser_places, lose_the_stretch_first) {
  const auto meshes = mesh::box_generations({.cells = {8, 8}, .size = {4, 1}, .shape = "quadrilateral"});
  ASSERT_EQ(meshes.meshes.size(), 5u); // 2 x 1, 4 x 1, 8 x 2, 8 x 4 and 8 x 8 cells
  const op::LevelPlace finest{4, {4}};
  using Places = std::vector<op::LevelPlace>;
  const auto steps = [&](const char* text, bool repeats_steps = true) {
    auto coarsening = all_the_way(text);
    coarsening.repeats_steps = repeats_steps;
    return op::coarser_places(finest, coarsening, meshes.refinements);
  };
  EXPECT_EQ(steps("p,h"), (Places{{3, {4}}, {2, {4}}, {2, {2}}, {2, {1}}, {1, {1}}, {0, {1}}}));
  EXPECT_EQ(steps("h,p"), (Places{{3, {4}}, {2, {4}}, {1, {4}}, {0, {4}}, {0, {2}}, {0, {1}}}));
  EXPECT_EQ(steps("p"), (Places{{4, {2}}, {4, {1}}})) << "on the mesh as it is";
  EXPECT_EQ(steps("p,h", false), (Places{{4, {2}}, {3, {2}}})) << "a list is taken as it is";
}

TEST(coarser_places, halve_every_degree_or_take_those_of_a_list) {
  using Places = std::vector<op::LevelPlace>;
  EXPECT_EQ(op::coarser_places({0, {5, 2}}, all_the_way("p")), (Places{{0, {2, 1}}, {0, {1, 1}}}));
  auto listed = all_the_way("p");
  listed.degrees = {3, 2};
  EXPECT_EQ(op::coarser_places({0, {4, 3}}, listed), (Places{{0, {3, 2}}, {0, {2, 1}}}));
  listed.degrees = {2, 2};
  EXPECT_THROW(op::coarser_places({0, {4}}, listed), base::InputError);
  EXPECT_THROW(op::parse_coarsening_steps("p,q"), base::InputError);
}

TEST(levels, of_one_mesh_share_its_discretisation) {
  const LevelledProblem problem(refined(box("quadrilateral"), 1), {.degree = 4, .coarsening = all_the_way("p,h")});
  ASSERT_EQ(problem.levels().size(), 3u);
  EXPECT_EQ(problem.levels()[2].system.discretisation, problem.system().discretisation);
  EXPECT_EQ(problem.levels()[1].system.discretisation, problem.system().discretisation);
  EXPECT_NE(problem.levels()[0].system.discretisation, problem.system().discretisation);
  EXPECT_EQ(problem.levels()[0].A->num_free(), 2); // inner vertices of 3 x 2 squares
}

TEST(levels, in_floats_fill_registers_where_cells_make_no_patches) {
  const auto cells = [](schedule::Precision precision, int degree) {
    return op::level_cells_per_batch(precision, degree);
  };
  EXPECT_EQ(cells(schedule::Precision::single_precision, 3), 16);
  EXPECT_EQ(cells(schedule::Precision::single_precision, 2), 8);
  EXPECT_EQ(cells(schedule::Precision::double_precision, 3), 8);
  for (const auto precision : {schedule::Precision::single_precision, schedule::Precision::double_precision}) {
    const LevelledProblem problem(refined(box("quadrilateral"), 1),
                                  {.degree = 4, .coarsening = all_the_way("h"), .precision = precision});
    ASSERT_EQ(problem.levels().size(), 1u);
    EXPECT_EQ(problem.levels()[0].system.discretisation->batches().cells_per_batch, cells(precision, 4));
  }
}

TEST(levels, lower_degrees_by_two_at_most_unless_all_cells_are_tensor_products) {
  const auto degrees = [](const std::string& shape, const op::Coarsening& coarsening) {
    const LevelledProblem problem(refined(box(shape, 1), 0), {.degree = 7, .coarsening = coarsening});
    std::vector<int> result;
    for (const auto& level : problem.levels()) result.push_back(level.place.degrees.front());
    return result;
  };
  EXPECT_EQ(degrees("quadrilateral", all_the_way("p")), (std::vector{1, 3}));
  EXPECT_EQ(degrees("triangle", all_the_way("p")), (std::vector{1, 3, 5}));
  auto far = all_the_way("p");
  far.largest_step = 7;
  EXPECT_EQ(degrees("triangle", far), (std::vector{1, 3}));
  far.degrees = {2, 1};
  EXPECT_EQ(degrees("triangle", far), (std::vector{1, 2})) << "a list is taken as it is";
}

TEST(levels, end_where_few_unknowns_are_left) {
  auto coarsening = all_the_way("p,h");
  coarsening.enough_unknowns = 12; // the coarsest has 12 vertices, 6 of 3 x 2 squares on a side
  const LevelledProblem problem(refined(box("quadrilateral"), 2), {.degree = 1, .coarsening = coarsening});
  EXPECT_EQ(problem.levels().size(), 2u);
  coarsening.enough_unknowns = 35; // 7 x 5 vertices
  EXPECT_EQ(LevelledProblem(refined(box("quadrilateral"), 2), {.degree = 1, .coarsening = coarsening}).levels().size(),
            1u);
}

TEST(levels, end_with_more_unknowns_where_cells_are_still_stretched) {
  const auto meshes = mesh::box_generations({.cells = {8, 2}, .size = {100, 1}, .shape = "quadrilateral"});
  ASSERT_EQ(meshes.meshes[0]->num_cells(), 8); // in one row, with 33 x 5 nodes
  for (const auto& [enough, degree] : {std::pair{17, 4}, {16, 2}}) {
    auto coarsening = all_the_way("p,h");
    coarsening.enough_unknowns = enough;
    const LevelledProblem problem(meshes, {.degree = 4, .coarsening = coarsening});
    EXPECT_EQ(problem.levels().front().place, (op::LevelPlace{0, {degree}})) << enough;
  }
}

TEST(multigrid, is_symmetric_and_positive) {
  for (const auto& [shape, degree] : {std::pair{"triangle", 3}, {"mixed", 2}})
    for (const auto* steps : {"p,h", "h,p"}) {
      const LevelledProblem problem(refined(box(shape), 1), {.degree = degree, .coarsening = all_the_way(steps)});
      for (const auto cycle : {solvers::Cycle::v, solvers::Cycle::w})
        for (const auto coarse : {solvers::CoarseSolver::direct, solvers::CoarseSolver::chebyshev}) {
          const auto M = solvers::make_preconditioner(
              problem.A(), problem.solver({.cycle = cycle, .smoothing_steps = 2, .coarse = coarse}));
          expect_symmetric_positive(problem.A(), *M);
        }
    }
}

TEST(multigrid, damps_a_longer_interval_at_high_degrees) {
  const auto cycle = [](int degree, double ratio) {
    const LevelledProblem problem(refined(box("quadrilateral"), 0), {.degree = degree, .coarsening = all_the_way("p")});
    const auto M = solvers::make_preconditioner(
        problem.A(), problem.solver({.smoother = {.degree = 2, .eigenvalue_ratio = ratio, .safety_factor = 1.05}}));
    Vector z = problem.A().make_vector();
    M->apply(random_residual(problem.A(), 1), z);
    const auto values = z.host_read();
    return std::vector<double>(values.begin(), values.end());
  };
  EXPECT_EQ(cycle(3, 0), cycle(3, 8));
  EXPECT_NE(cycle(6, 0), cycle(6, 8));
  EXPECT_NE(cycle(6, 0), cycle(6, 12)) << "that of degree 3 below stays";
}

TEST(multigrid, on_one_level_solves) {
  const LevelledProblem problem(refined(box("quadrilateral"), 0), {.degree = 1, .coarsening = all_the_way("p,h")});
  EXPECT_TRUE(problem.levels().empty());
  EXPECT_EQ(problem.iterations(), 1);
}

TEST(multigrid, needs_few_iterations_on_every_shape) {
  for (const auto* shape :
       {"interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism", "pyramid", "mixed"}) {
    const auto dim = box_dimension(shape);
    for (const int degree : {1, 4}) {
      const LevelledProblem problem(refined(box(shape), dim == 3 ? 1 : 3),
                                    {.degree = degree, .coarsening = all_the_way("p,h")});
      EXPECT_LE(problem.iterations(), 15) << shape << " " << degree;
    }
  }
}

TEST(multigrid, needs_few_iterations_on_stretched_cells) {
  struct Case {
    const char* shape;
    std::vector<double> size;
    int degree;
  };
  const std::vector<double> needles{100, 1, 1}, plates{100, 100, 1};
  for (const auto& of :
       {Case{"quadrilateral", {100, 1}, 4}, Case{"quadrilateral", {1, 100}, 1}, Case{"hexahedron", needles, 2},
        Case{"hexahedron", plates, 2}, Case{"prism", plates, 2}, Case{"prism", {1, 1, 100}, 2}}) {
    const auto iterations = [&](mesh::BoxCoarsening coarsening) {
      mesh::BoxOptions box{.cells = {16, 16}, .size = of.size, .shape = of.shape};
      if (of.size.size() == 3) box.cells = {8, 8, 8};
      return LevelledProblem(mesh::box_generations(box, 0, coarsening),
                             {.degree = of.degree, .coarsening = all_the_way("p,h")})
          .iterations();
    };
    EXPECT_LE(iterations(mesh::BoxCoarsening::short_edges), 10) << of.shape << " " << of.degree;
    EXPECT_GE(iterations(mesh::BoxCoarsening::all_axes), 15)
        << of.shape << " " << of.degree << ": why there are others";
  }
}

TEST(multigrid, needs_few_iterations_on_curved_cells) {
  for (const auto* shape : {"triangle", "hexahedron"}) {
    const LevelledProblem problem(refined(curved_box(shape, 2), 1), {.degree = 3, .coarsening = all_the_way("p,h")});
    EXPECT_LE(problem.iterations(), 15) << shape;
  }
}

TEST(multigrid, needs_few_iterations_whatever_the_coefficients) {
  const std::string elasticity = "inner(9*div(u)*Identity(2) + 2*sym(grad(u)), sym(grad(v)))*dx"; // Poisson ratio 0.45
  for (const auto& [form, components] :
       {std::pair<std::string, int>{"inner(dot([[5.5, 4.5], [4.5, 5.5]], grad(u)), grad(v))*dx", 0}, // ten to one
        {"conditional((x[0] - 0.5)*(x[1] - 0.5) > 0, 1e6, 1)*inner(grad(u), grad(v))*dx", 0},
        {"(inner(grad(u), grad(v)) + 1e4*u*v)*dx", 0},
        {elasticity, 2}})
    for (const int degree : {2, 4}) {
      const auto meshes = mesh::box_generations({.cells = {16, 16}, .size = {1, 1}, .shape = "quadrilateral"});
      const LevelledProblem problem(
          meshes, {.form = form, .degree = degree, .components = components, .coarsening = all_the_way("p,h")});
      EXPECT_LE(problem.iterations(), 15) << form << " " << degree;
    }
}

TEST(multigrid, needs_as_many_iterations_on_finer_meshes) {
  std::vector<int> counts;
  for (const int times : {2, 3, 4})
    counts.push_back(
        LevelledProblem(refined(box("quadrilateral"), times), {.degree = 2, .coarsening = all_the_way("p,h")})
            .iterations());
  EXPECT_LE(counts[2], counts[0] + 1);
}

TEST(multigrid, needs_few_iterations_on_periodic_meshes) {
  for (const auto* shape : {"quadrilateral", "triangle"}) {
    const auto torus = mesh::periodic_generations(mesh::box_generations({.cells = {16, 16}, .shape = shape}),
                                                  {{.from = {"xmin"}, .to = {"xmax"}}});
    ASSERT_GE(torus.meshes.size(), 3u);
    const LevelledProblem problem(torus, {.degree = 3, .dirichlet_tags = {3, 4}, .coarsening = all_the_way("p,h")});
    EXPECT_LE(problem.iterations(), 12) << shape;
  }
}

TEST(multigrid, starts_with_a_small_error) {
  const LevelledProblem problem(refined(box("quadrilateral"), 3), {.degree = 2, .coarsening = all_the_way("p,h")});
  const auto& A = problem.A();
  const auto M = std::dynamic_pointer_cast<const solvers::Multigrid>(solvers::make_preconditioner(A, problem.solver()));
  ASSERT_NE(M, nullptr);
  Vector b = A.make_vector(), x = A.make_vector(), z = A.make_vector();
  std::ranges::fill(b.host_overwrite(), 1.0);
  for (const auto entry : A.constraints().entries) b.host_write()[static_cast<std::size_t>(entry)] = 0;
  std::ranges::fill(x.host_overwrite(), 0.0);
  auto options = problem.solver();
  options.control.rtol = 1e-12;
  ASSERT_EQ(solvers::solve(A, b, x, options).status, solvers::Status::converged);
  const solvers::VectorOps ops(A);
  const auto error = [&](const Vector& of) {
    Vector e = A.make_vector();
    ops.copy(of, e);
    ops.axpy(-1, x, e);
    const Vector Ae = applied(A, e);
    return std::sqrt(ops.dot(e, Ae));
  };
  M->apply(b, z);
  const double of_cycle = error(z);
  M->start(b, z);
  EXPECT_LT(error(z), 0.5 * of_cycle);
}

TEST(multigrid, serves_singular_operators) {
  const LevelledProblem problem(refined(box("quadrilateral"), 2),
                                {.degree = 2, .has_dirichlet = false, .coarsening = all_the_way("p,h")});
  EXPECT_LE(singular_iterations(problem), 15);
}

TEST(multigrid, refuses_what_it_cannot_serve) {
  const LevelledProblem problem(refined(box("quadrilateral"), 1), {.degree = 1, .coarsening = all_the_way("p,h")});
  EXPECT_THROW(solvers::Multigrid({}), base::InputError);
  EXPECT_THROW(solvers::make_preconditioner(problem.A(), problem.solver({.smoothing_steps = 0})), base::InputError);
  auto options = problem.solver();
  options.hierarchy = nullptr;
  EXPECT_THROW(solvers::make_preconditioner(problem.A(), options), base::InputError);
  auto unfit = std::make_shared<solvers::MultigridHierarchy>(*problem.solver().hierarchy);
  unfit->coarser.back().to_finer = nullptr;
  options.hierarchy = unfit;
  EXPECT_THROW(solvers::make_preconditioner(problem.A(), options), base::InputError);
}

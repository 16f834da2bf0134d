// SPDX-License-Identifier: BSD-3-Clause
// Laws of multigrid in single precision: cycles are those in double precision up to roundings of floats, symmetric and
// positive, and linear in residuals of any size.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/precision.hpp>
#include <tests/support/multigrid_problems.hpp>

namespace rafter::test {
namespace {

constexpr auto single = schedule::Precision::single_precision;

op::Coarsening all_the_way(const std::string& steps = "p,h") {
  return {.steps = op::parse_coarsening_steps(steps), .enough_unknowns = 1};
}

LevelledOptions in_single(LevelledOptions options) {
  options.precision = single;
  return options;
}

double dot_product(const op::Operator& A, const Vector& x, const Vector& y) { return solvers::VectorOps(A).dot(x, y); }

/// The rounding errors of levels, which are those of operators, add up over the levels.
double rounding_of(const LevelledProblem& problem) {
  return op::max_precision_error * static_cast<double>(problem.levels().size() + 1);
}

Vector cycle_of(const LevelledProblem& problem, const solvers::Preconditioner& M, const Vector& r) {
  Vector z = problem.A().make_vector();
  M.apply(r, z);
  return z;
}

/// A preconditioner that says that it changes from one application to the next, so that methods are flexible.
class Variable final : public solvers::Preconditioner {
public:
  explicit Variable(std::shared_ptr<const solvers::Preconditioner> M) : M_(std::move(M)) {}
  void apply(const Vector& r, Vector& z) const override { M_->apply(r, z); }
  bool is_variable() const override { return true; }

private:
  std::shared_ptr<const solvers::Preconditioner> M_;
};

/// A problem that every shape and kind of map makes kernels of its own for.
mesh::Generations meshes_of(const std::string& shape, bool is_curved = false) {
  const int times = box_dimension(shape) == 3 ? 1 : 3;
  return refined(is_curved ? curved_box(shape, 2) : box(shape), times);
}

void expect_as_in_double(const mesh::Generations& meshes, const LevelledOptions& options,
                         const solvers::MultigridParameters& parameters = {}) {
  const LevelledProblem in_double(meshes, options), in_floats(meshes, in_single(options));
  EXPECT_NEAR(in_floats.iterations(parameters), in_double.iterations(parameters), 1);
}

} // namespace

TEST(single_levels, are_all_but_the_operator_itself_and_the_coarsest_level) {
  const LevelledProblem problem(meshes_of("hexahedron"), in_single({.degree = 4, .coarsening = all_the_way()}));
  ASSERT_EQ(problem.levels().size(), 3u);
  EXPECT_FALSE(problem.A().is_single());
  EXPECT_FALSE(problem.levels()[0].A->is_single());
  EXPECT_TRUE(problem.levels()[1].A->is_single());
  EXPECT_TRUE(problem.levels()[2].A->is_single());
  const auto hierarchy = problem.solver().hierarchy;
  ASSERT_NE(hierarchy->finest, nullptr);
  EXPECT_TRUE(hierarchy->finest->is_single());
  const auto M = solvers::make_preconditioner(problem.A(), problem.solver());
  EXPECT_NE(M->description().find("single precision"), std::string::npos) << M->description();
}

TEST(single_levels, without_a_coarser_one_stay_in_double) {
  const LevelledProblem problem(refined(box("quadrilateral"), 0),
                                in_single({.degree = 1, .coarsening = all_the_way()}));
  EXPECT_EQ(problem.solver().hierarchy->finest, nullptr);
  EXPECT_EQ(problem.iterations(), 1);
}

TEST(single_levels, are_none_where_a_plan_asks_for_floats_in_the_operator_alone) {
  const auto meshes = meshes_of("quadrilateral");
  LevelledOptions options{.degree = 3, .coarsening = all_the_way()};
  const LevelledProblem in_double(meshes, options);
  options.plan = "vector_width=8 storage=float compute=float accumulate=float";
  const LevelledProblem planned(meshes, options, op::TransferFactory());
  ASSERT_GE(planned.levels().size(), 2u);
  EXPECT_TRUE(planned.A().is_single());
  const auto M = solvers::make_preconditioner(planned.A(), planned.solver());
  EXPECT_FALSE(M->is_single());
  const Vector r = random_residual(planned.A(), 1);
  const auto of_double = solvers::make_preconditioner(in_double.A(), in_double.solver());
  const auto expected = values_of(cycle_of(in_double, *of_double, r));
  EXPECT_LE(distance(values_of(cycle_of(planned, *M, r)), expected), rounding_of(planned) * largest(expected));
}

TEST(single_levels, make_cycles_that_are_symmetric_and_positive) {
  for (const auto& [shape, degree] : {std::pair{"triangle", 3}, {"mixed", 2}, {"hexahedron", 4}})
    for (const auto* steps : {"p,h", "h,p"}) {
      const LevelledProblem problem(refined(box(shape), 1),
                                    in_single({.degree = degree, .coarsening = all_the_way(steps)}));
      for (const auto cycle : {solvers::Cycle::v, solvers::Cycle::w})
        for (const bool is_fused : {true, false}) {
          solvers::MultigridParameters parameters{.cycle = cycle, .smoothing_steps = 2};
          parameters.smoother.is_fused = is_fused;
          const auto& A = problem.A();
          const auto M = solvers::make_preconditioner(A, problem.solver(parameters));
          const Vector r = random_residual(A, 1), s = random_residual(A, 2);
          const Vector Mr = cycle_of(problem, *M, r), Ms = cycle_of(problem, *M, s);
          const double size = std::sqrt(dot_product(A, Mr, r) * dot_product(A, Ms, s));
          EXPECT_GT(dot_product(A, Mr, r), 0);
          EXPECT_NEAR(dot_product(A, Mr, s), dot_product(A, r, Ms), rounding_of(problem) * size)
              << shape << " " << steps;
        }
    }
}

TEST(single_levels, make_the_cycles_of_levels_in_double_up_to_rounding) {
  const LevelledOptions options{.degree = 3,
                                .components = 2,
                                .coarsening = all_the_way(),
                                .cells_per_batch = 16}; // unknowns are numbered in the order of batches
  const auto meshes = meshes_of("quadrilateral");
  const LevelledProblem in_double(meshes, options), in_floats(meshes, in_single(options));
  for (const bool has_full_start : {false, true}) {
    const auto applied_to = [&](const LevelledProblem& problem) {
      const auto M = solvers::make_preconditioner(problem.A(), problem.solver());
      const Vector r = random_residual(problem.A(), 1);
      if (!has_full_start) return values_of(cycle_of(problem, *M, r));
      Vector z = problem.A().make_vector();
      M->start(r, z);
      return values_of(z);
    };
    const auto expected = applied_to(in_double), found = applied_to(in_floats);
    EXPECT_LE(distance(found, expected), rounding_of(in_floats) * largest(expected));
    EXPECT_GT(distance(found, expected), 0) << "something is in floats";
  }
}

class single_levels_on_shape : public ::testing::TestWithParam<std::string> {};

TEST_P(single_levels_on_shape, need_as_many_iterations) {
  expect_as_in_double(meshes_of(GetParam()), {.degree = 3, .coarsening = all_the_way()});
}

INSTANTIATE_TEST_SUITE_P(every_shape, single_levels_on_shape, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(single_levels, need_as_many_iterations_for_vectors_on_curved_cells) {
  for (const std::string shape : {"triangle", "hexahedron"}) {
    SCOPED_TRACE(shape);
    const int dim = box_dimension(shape);
    expect_as_in_double(meshes_of(shape, true), {.form = "inner(div(u)*Identity(" + std::to_string(dim) +
                                                         ") + 2*sym(grad(u)), sym(grad(v)))*dx",
                                                 .degree = 2,
                                                 .components = dim,
                                                 .coarsening = all_the_way()});
  }
}

TEST(single_levels, need_as_many_iterations_with_every_coarse_solver) {
  for (const auto coarse :
       {solvers::CoarseSolver::direct, solvers::CoarseSolver::amg, solvers::CoarseSolver::chebyshev}) {
    SCOPED_TRACE(solvers::name(coarse));
    expect_as_in_double(meshes_of("triangle"), {.degree = 2, .coarsening = {.steps = op::parse_coarsening_steps("p")}},
                        {.coarse = coarse});
  }
  expect_as_in_double(meshes_of("triangle"), {.degree = 2, .coarsening = {.steps = op::parse_coarsening_steps("p")}},
                      {.coarse = solvers::CoarseSolver::amg, .coarse_rtol = 0.01});
}

TEST(single_levels, need_as_many_iterations_above_a_low_order_refined_one) {
  for (const std::string shape : {"quadrilateral", "prism"})
    for (const auto coarse : {solvers::CoarseSolver::direct, solvers::CoarseSolver::amg}) {
      SCOPED_TRACE(shape + " " + std::string(solvers::name(coarse)));
      const LevelledOptions options{.degree = 4, .coarsening = all_the_way("lor")};
      expect_as_in_double(refined(box(shape), 1), options, {.coarse = coarse});
      EXPECT_FALSE(LevelledProblem(refined(box(shape), 1), in_single(options)).levels().front().A->is_single());
    }
}

TEST(single_levels, reach_tolerances_that_floats_do_not) {
  const LevelledProblem problem(meshes_of("quadrilateral"), in_single({.degree = 3, .coarsening = all_the_way()}));
  auto options = problem.solver();
  options.control.norm = solvers::Norm::residual;
  options.control.rtol = 1e-12;
  Vector x = problem.A().make_vector(), exact = problem.A().make_vector();
  problem.solve(options, x);
  problem.solve({.method = "direct", .control = options.control}, exact);
  EXPECT_LE(distance(values_of(x), values_of(exact)), 1e-10 * largest(values_of(exact)));
}

TEST(single_levels, need_no_flexible_conjugate_gradients) {
  for (const auto* form : {"inner(grad(u), grad(v))*dx", "inner(dot([[5.5, 4.5], [4.5, 5.5]], grad(u)), grad(v))*dx"}) {
    const LevelledProblem problem(meshes_of("quadrilateral"),
                                  in_single({.form = form, .degree = 4, .coarsening = all_the_way()}));
    auto options = problem.solver();
    for (const double rtol : {1e-6, 1e-12}) {
      options.control.rtol = rtol;
      const auto M = solvers::make_preconditioner(problem.A(), options);
      const auto iterations = [&](const solvers::Preconditioner& of) {
        const Vector b = random_residual(problem.A(), 1);
        Vector x = problem.A().make_vector();
        return solvers::cg(problem.A(), b, x, of, {.control = options.control}).iterations;
      };
      EXPECT_NEAR(iterations(*M), iterations(Variable(M)), 1) << form << " " << rtol;
    }
  }
}

TEST(single_levels, are_linear_to_the_last_bit_in_powers_of_two) {
  const LevelledProblem problem(meshes_of("quadrilateral"), in_single({.degree = 2, .coarsening = all_the_way()}));
  const auto& A = problem.A();
  const auto M = solvers::make_preconditioner(A, problem.solver());
  const Vector r = random_residual(A, 1);
  const auto expected = values_of(cycle_of(problem, *M, r));
  for (const int exponent : {-900, -300, -3, 5, 20, 300, 900, 0}) {
    Vector scaled = A.make_vector();
    const auto from = r.host_read();
    const auto to = scaled.host_overwrite();
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::ldexp(from[i], exponent);
    const auto found = values_of(cycle_of(problem, *M, scaled));
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], std::ldexp(expected[i], exponent)) << exponent;
  }
}

TEST(single_levels, of_a_residual_of_zero_or_without_a_value_give_the_same) {
  const LevelledProblem problem(meshes_of("quadrilateral"), in_single({.degree = 2, .coarsening = all_the_way()}));
  const auto M = solvers::make_preconditioner(problem.A(), problem.solver());
  Vector r = problem.A().make_vector();
  EXPECT_EQ(largest(values_of(cycle_of(problem, *M, r))), 0);
  r.host_write()[static_cast<std::size_t>(problem.A().owned_ranges().front().begin)] = NAN;
  EXPECT_GE(solvers::VectorOps(problem.A()).first_non_finite(cycle_of(problem, *M, r)), 0);
}

TEST(single_levels, need_as_many_iterations_for_loads_and_coefficients_of_any_size) {
  const auto meshes = meshes_of("quadrilateral");
  const LevelledOptions options{.degree = 3, .coarsening = all_the_way()};
  const LevelledProblem problem(meshes, in_single(options));
  const int expected = problem.iterations();
  for (const double load : {1e-30, 1e30}) EXPECT_EQ(problem.iterations({}, load), expected) << load;
  for (const auto* factor : {"1e-12", "1e12"}) {
    auto own = in_single(options);
    own.form = std::string(factor) + "*inner(grad(u), grad(v))*dx";
    EXPECT_NEAR(LevelledProblem(meshes, own).iterations(), expected, 1) << factor;
  }
}

TEST(single_levels, serve_singular_operators) {
  const LevelledProblem problem(refined(box("quadrilateral"), 2),
                                in_single({.degree = 2, .has_dirichlet = false, .coarsening = all_the_way()}));
  EXPECT_LE(singular_iterations(problem), 15);
}

TEST(single_levels, serve_operators_that_are_not_symmetric) {
  LevelledOptions options{.form = "(inner(grad(u), grad(v)) + 3*u.dx(0)*v)*dx", .degree = 3};
  options.coarsening = all_the_way();
  const auto iterations = [&](const LevelledOptions& of) {
    const LevelledProblem problem(meshes_of("quadrilateral"), of);
    auto solver = problem.solver();
    solver.method = "gmres";
    solver.control.norm = solvers::Norm::residual;
    Vector x = problem.A().make_vector();
    return problem.solve(solver, x).iterations;
  };
  EXPECT_NEAR(iterations(in_single(options)), iterations(options), 1);
}

void expect_refused(const LevelledProblem& problem, const solvers::SolverOptions& options, const std::string& what) {
  try {
    (void)solvers::make_preconditioner(problem.A(), options);
    FAIL() << what << " is accepted";
  } catch (const base::Error& error) {
    EXPECT_NE(std::string(error.what()).find("precision = \"double\""), std::string::npos) << error.what();
  }
}

TEST(single_levels, of_coefficients_that_floats_do_not_hold_are_refused) {
  for (const std::string factor : {"1e-42", "1e39", "1e42"}) {
    const LevelledProblem problem(
        meshes_of("quadrilateral"),
        in_single({.form = factor + "*inner(grad(u), grad(v))*dx", .degree = 2, .coarsening = all_the_way()}));
    expect_refused(problem, problem.solver(), factor);
  }
}

TEST(single_levels, of_cells_whose_coordinates_floats_do_not_hold_are_refused) {
  for (const double distance : {1.0, 1e4}) {
    mesh::Mesh mesh = curved_box("quadrilateral", 2);
    for (auto& x : mesh.points) x += distance;
    const LevelledProblem problem(refined(mesh, 1), in_single({.degree = 2, .coarsening = all_the_way()}));
    // A level that computes its factors where they are needed, from coordinates that are rounded to floats.
    auto kernels = problem.A().built().options;
    kernels.plan =
        std::make_shared<const schedule::Plan>(schedule::in_single(schedule::parse_plan("factors=recompute")));
    auto built = op::build_form(problem.A().form(), problem.system(), op::Purpose::action, kernels);
    built->options.plan.reset(); // levels are made without one, and not compared with a plan in double
    built->options.precision = single;
    op::compile(std::span(&built, 1));
    auto hierarchy = std::make_shared<solvers::MultigridHierarchy>(*problem.solver().hierarchy);
    hierarchy->finest = std::make_shared<const op::Operator>(std::move(built), problem.A().constraints());
    auto options = problem.solver();
    options.hierarchy = hierarchy;
    if (distance > 1) {
      expect_refused(problem, options, "a distance of 10 000");
    } else {
      Vector x = problem.A().make_vector();
      EXPECT_LE(problem.solve(options, x).iterations, 12);
    }
  }
}

TEST(single_levels, of_a_matrix_that_floats_do_not_hold_are_refused) {
  try {
    (void)op::require_precision(std::numeric_limits<double>::infinity(), "");
    FAIL() << "it is accepted";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("precision = \"double\""), std::string::npos) << error.what();
  }
}

} // namespace rafter::test

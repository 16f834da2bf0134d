// SPDX-License-Identifier: BSD-3-Clause
// Results are the same bit by bit for any number of threads and in every run. They agree up to rounding for any
// numbering of vertices and cells, vector width, plan and quadrature.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <tuple>

#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/weighed_plans.hpp>

namespace rafter::test {
namespace {

namespace key = schedule::key;

mesh::Mesh larger_box(const std::string& shape) {
  return box(shape, shape == "interval" ? 400 : box_dimension(shape) == 2 ? 14 : 5);
}

class Invariance : public ::testing::TestWithParam<std::string> {};

TEST_P(Invariance, ResultsAreTheSameBitsForEveryNumberOfThreadsAndEveryRun) {
  Problem problem(scrambled(larger_box(GetParam()), 3), 2);
  problem.with("kappa", 0.7);
  std::vector<double> expected, expected_sum;
  for (const int threads : {1, 2, 3, 2}) {
    const op::Operator A(problem.form(std::string(helmholtz_form()) + " + kappa*u*v*ds(1)"),
                         planned({.threads = threads}));
    const Vector x = random_vector(A, 4);
    for (int run = 0; run < 2; ++run) {
      const auto y = values_of(applied(A, x));
      if (expected.empty()) expected = y;
      EXPECT_EQ(y, expected) << threads << " threads, run " << run;
    }
    const op::Functional energy(problem.functional("(inner(grad(u), grad(u)) + exp(u))*dx"), problem.system(),
                                planned({.threads = threads}));
    expected_sum.push_back(energy(x));
    expected_sum.push_back(energy(x));
  }
  for (const double value : expected_sum) EXPECT_EQ(value, expected_sum.front());
}

/// Returns u^T A u and a functional of an interpolated polynomial.
std::vector<double> numbers_of(mesh::Mesh mesh, int degree, int cells_per_batch) {
  Problem problem(std::move(mesh), degree, 0, {.cells_per_batch = cells_per_batch});
  problem.with("kappa", 0.7);
  const op::OperatorOptions options =
      planned({.shared_device = std::make_shared<InterpreterDevice>(), .quadrature = {.degree = 2 * degree + 1}});
  const op::Operator A(problem.form("((1 + x[0])*inner(grad(u), grad(v)) + kappa*u*v)*dx + x[0]*u*v*ds((1, 2))"),
                       options);
  const Vector u = problem.interpolated(
      A.make_vector(), [degree](std::span<const double> x, std::size_t) { return polynomial(x, degree); });
  Vector b = A.make_vector();
  op::LinearForm(problem.form("(1 + x[0])*v*dx"), problem.system(), options).assemble(b);
  return {dot(u, applied(A, u)), dot(u, b),
          op::Functional(problem.functional("u*u*x[0]*dx"), problem.system(), options)(u)};
}

void expect_same_numbers(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12 * std::fabs(expected[i]));
}

TEST_P(Invariance, RenumberedVerticesAndTurnedCellsGiveTheSameEnergies) {
  for (const int geometry_degree : {1, 2}) {
    const auto mesh = curved_box(GetParam(), geometry_degree);
    const auto expected = numbers_of(mesh, 2, 8);
    expect_same_numbers(numbers_of(scrambled(mesh, 1), 2, 8), expected);
  }
}

TEST_P(Invariance, RenumberedVerticesAndTurnedCellsGiveTheSameEnergiesAtDegreeThree) {
  const auto mesh = box(GetParam());
  expect_same_numbers(numbers_of(scrambled(mesh, 7), 3, 8), numbers_of(mesh, 3, 8));
}

TEST_P(Invariance, BatchesOfFewerCellsGiveTheSameEnergies) {
  const auto mesh = scrambled(box(GetParam()), 7);
  const auto expected = numbers_of(mesh, 2, 8);
  expect_same_numbers(numbers_of(mesh, 2, 4), expected);
  if (box_dimension(GetParam()) < 3) expect_same_numbers(numbers_of(mesh, 2, 1), expected);
}

TEST_P(Invariance, BatchesRunInGroupsOfLanesGiveTheSameResults) {
  const auto mesh = scrambled(box(GetParam()), 7);
  Problem problem(mesh, 3);
  problem.with("kappa", 0.7);
  const auto device = std::make_shared<InterpreterDevice>();
  const auto results = [&](const std::string& plan) {
    const op::OperatorOptions options = planned({.shared_device = device, .plan = plan});
    const op::Operator A(problem.form("((1 + x[0])*inner(grad(u), grad(v)) + kappa*u*v)*dx + u*v*ds(1)"), options);
    const Vector x = random_vector(A, 3);
    auto y = values_of(applied(A, x));
    y.push_back(op::Functional(problem.functional("u*u*x[0]*dx"), problem.system(), options)(x));
    return y;
  };
  for (const char* factors : {"factors=store", "factors=recompute contraction=dense"}) {
    const auto expected = results(factors);
    for (const char* width : {" vector_width=4", " vector_width=2"})
      EXPECT_LE(distance(results(factors + std::string(width)), expected),
                1e-14 * 16 * largest(expected)) // sums have another order
          << factors << width;
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, Invariance, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

/// Compares compiled kernels with the interpreter on the same random vector.
void expect_compiled_equals_interpreted(const std::string& shape, int degree, int components, const std::string& text,
                                        op::OperatorOptions options) {
  SCOPED_TRACE(shape + " degree " + std::to_string(degree) + " " + options.plan);
  Problem problem(curved_box(shape, 1), degree, components);
  problem.with("kappa", 0.7);
  options.threads = 2;
  const op::Operator compiled(problem.form(text), planned(options));
  options.shared_device = std::make_shared<InterpreterDevice>();
  const op::Operator interpreted(problem.form(text), planned(options));
  const Vector x = random_vector(compiled, 3), same = random_vector(interpreted, 3);
  const auto expected = values_of(applied(interpreted, same));
  // The compiler may fuse multiplications and additions; the mapping is the same.
  EXPECT_LE(distance(applied(compiled, x).host_read(), expected),
            1e-14 * (degree + 1) * (degree + 1) * largest(expected));
}

TEST(Plans, CompiledKernelsEqualTheirMeaningAtHigherDegrees) {
  for (const int degree : {4, 6}) expect_compiled_equals_interpreted("quadrilateral", degree, 0, helmholtz_form(), {});
  expect_compiled_equals_interpreted("hexahedron", 4, 0, helmholtz_form(), {.plan = "factors=recompute"});
  expect_compiled_equals_interpreted("tetrahedron", 4, 0, helmholtz_form(), {});
  expect_compiled_equals_interpreted("triangle", 5, 2, elasticity_form(2), {});
}

/// The hexahedra share no vertex. They are on a line in pairs, far from each other; both of a pair have the same order
/// of vertex numbers, and each pair has its own order.
mesh::Mesh pairs_of_cubes(int num_pairs) {
  std::mt19937 random(5);
  std::array<std::int32_t, 8> order{0, 1, 2, 3, 4, 5, 6, 7};
  mesh::Mesh result;
  result.num_vertices = 16 * num_pairs;
  result.points.resize(3 * static_cast<std::size_t>(result.num_vertices));
  auto& group = result.groups.emplace_back();
  for (int cell = 0; cell < 2 * num_pairs; ++cell) {
    if (cell % 2 == 0) std::shuffle(order.begin(), order.end(), random);
    for (int v = 0; v < 8; ++v) {
      const auto vertex = 8 * cell + order[static_cast<std::size_t>(v)];
      group.vertices.push_back(vertex);
      double* x = &result.points[3 * static_cast<std::size_t>(vertex)];
      x[0] = 100 * (cell / 2) + 1.5 * (cell % 2) + (v & 1);
      x[1] = v >> 1 & 1;
      x[2] = v >> 2;
    }
    group.tags.push_back(1);
  }
  return result;
}

/// Counts batches whose cells have equal orientations but no pattern, since only a limited number of patterns is
/// numbered.
std::size_t num_batches_without_pattern(const space::BlockDofs& dofs, std::size_t cells_per_batch) {
  const auto num_runs = dofs.layout.run_lengths.size();
  std::size_t count = 0;
  for (std::size_t batch = 0; batch < dofs.pattern_numbers.size(); ++batch) {
    if (dofs.pattern_numbers[batch] != 0) continue;
    const auto* permutations = dofs.run_permutations.data() + batch * num_runs * cells_per_batch;
    bool is_uniform = true;
    for (std::size_t i = 0; i < num_runs * cells_per_batch; ++i)
      is_uniform = is_uniform && permutations[i] == permutations[i / cells_per_batch * cells_per_batch];
    if (is_uniform) ++count;
  }
  return count;
}

TEST(Plans, BatchesBeyondThePatternsThatAreNumberedGiveTheSameResult) {
  Problem problem(pairs_of_cubes(400), 3, 0, {.cells_per_batch = 2});
  problem.with("kappa", 0.7);
  const auto& dofs = problem.space()->block(0);
  const auto num_patterns = dofs.patterns.size() / dofs.layout.run_lengths.size();
  EXPECT_GT(num_patterns, 100U);
  EXPECT_GT(num_batches_without_pattern(dofs, 2), 20U) << num_patterns << " patterns";
  const auto result = [&](const char* plan) {
    const op::Operator A(problem.form(helmholtz_form()), planned({.threads = 2, .plan = plan}));
    return values_of(applied(A, random_vector(A, 3)));
  };
  const auto expected = result("mapping=plain vector_width=2");
  EXPECT_LE(distance(result("mapping=simd_cells vector_width=2"), expected), 1e-13 * largest(expected));
}

constexpr std::array contractions{"dense", "per-derivative", "collocated"};

TEST(Plans, EveryRecipeAndContractionGivesTheSameResult) {
  const auto device = std::make_shared<InterpreterDevice>();
  std::set<kernel::FactorStorage::Kind> kinds;
  for (const int geometry_degree : {1, 2})
    for (const bool is_rich : {false, true}) {
      Problem problem(curved_box("hexahedron", geometry_degree), 2, is_rich ? 3 : 0);
      problem.with("kappa", 0.7);
      const std::string form = is_rich ? rich_form : helmholtz_form();
      std::vector<double> expected;
      for (const auto& factors : recipe_names_of(weighed(problem, form)))
        for (const char* contraction : contractions) {
          const std::string plan = "contraction=" + std::string(contraction) + " factors=" + factors;
          const op::Operator A(problem.form(form), planned({.shared_device = device, .plan = plan}));
          const auto y = values_of(applied(A, random_vector(A, 3)));
          if (expected.empty()) expected = y;
          EXPECT_LE(distance(y, expected), 1e-13 * largest(expected)) << plan;
          EXPECT_EQ(A.kernels().info()[0].plan, schedule::parse_plan(plan)) << plan;
          kinds.insert(A.kernels().info()[0].plan[key::factors].kind);
        }
    }
  EXPECT_EQ(kinds.size(), 3U) << "something is recomputed, something stored, and something in between";
}

TEST(Plans, ARecipeIsTheSameCutWithEveryContraction) {
  const Problem problem(curved_box("hexahedron", 2), 2, 3);
  std::set<std::string> names = recipe_names_of(weighed(problem, rich_form));
  const std::size_t num_weighed = names.size();
  for (int n = 1; n <= 20; ++n) { // numbers above those offered are read as the best storage
    names.insert(kernel::name({.kind = kernel::FactorStorage::Kind::partial, .num_stored = n}));
    names.insert(kernel::name({.kind = kernel::FactorStorage::Kind::partial, .is_merged = true, .num_stored = n}));
  }
  std::size_t num_replayed = 0;
  for (const auto& name : names) {
    std::set<std::tuple<std::string, int, int>> cuts;
    for (const char* contraction : contractions) {
      const auto kernel = weighed(problem, rich_form, "contraction=" + std::string(contraction) + " factors=" + name);
      cuts.insert({kernel::name(kernel.info.plan[key::factors]), kernel.programs.stored_point_slots,
                   kernel.programs.stored_cell_slots});
      EXPECT_EQ(kernel::name(kernel.info.plan[key::contraction]), contraction);
    }
    EXPECT_EQ(cuts.size(), 1U) << name;
    if (std::get<0>(*cuts.begin()) == name) ++num_replayed;
  }
  EXPECT_GE(num_replayed, num_weighed);
  EXPECT_GE(num_replayed, 3U) << "what is stored, what is recomputed, and a part";
}

TEST(Plans, TheReportedPlanReplaysTheKernel) {
  Problem problem(box("hexahedron"), 2);
  problem.with("kappa", 0.7);
  const op::OperatorOptions chosen = interpreted();
  const op::Operator A(problem.form(helmholtz_form()), chosen);
  auto replayed = chosen;
  replayed.plan = schedule::to_string(A.kernels().info()[0].plan);
  const op::Operator B(problem.form(helmholtz_form()), replayed);
  EXPECT_EQ(A.kernels().info()[0].source, B.kernels().info()[0].source);
}

TEST(Plans, TheShortNameOfTheReportedPlanMakesTheSameKernel) {
  const auto device = std::make_shared<InterpreterDevice>();
  for (const char* shape : {"hexahedron", "tetrahedron"}) {
    Problem problem(box(shape), 2);
    problem.with("kappa", 0.7);
    const auto built = [&](const std::string& plan) {
      const op::Operator A(problem.form(helmholtz_form()), planned({.shared_device = device, .plan = plan}));
      return A.kernels().info()[0];
    };
    for (const char* plan : // these keys matter only to some contractions and mappings
         {"rows=3 subbatches=2 unroll=0 even_odd=0", "contraction=dense even_odd=0 rows=4 unroll=0",
          "contraction=modal even_odd=0 rows=4", "contraction=separable rows=3 even_odd=2",
          "mapping=plain patches=0 prefetch=0 stores=streaming",
          "contraction=dense mapping=plain even_odd=0 prefetch=0 vector_width=4"}) {
      const auto reported = built(plan);
      const auto name = schedule::short_name(reported.plan);
      EXPECT_LT(name.size(), schedule::to_string(reported.plan).size());
      EXPECT_EQ(built(name).loop_program, reported.loop_program) << shape << ": " << plan << ": " << name;
    }
  }
}

TEST(Quadrature, GaussLobattoPointsIntegrateWhatTheyAreExactFor) {
  // n Gauss-Lobatto points are exact to degree 2n - 3, so that the mass matrix of degree p needs p + 2.
  const auto device = std::make_shared<InterpreterDevice>();
  for (const char* shape : {"interval", "quadrilateral", "hexahedron"}) {
    Problem problem(box(shape), 2);
    const auto gll = [&](int points) {
      const op::Operator M(
          problem.form("u*v*dx"),
          planned({.shared_device = device, .quadrature = {.kind = element::QuadratureKind::gll, .points = points}}));
      return values_of(applied(M, random_vector(M, 3)));
    };
    const op::Operator exact(problem.form("u*v*dx"), planned({.shared_device = device}));
    const auto expected = values_of(applied(exact, random_vector(exact, 3)));
    EXPECT_LE(distance(gll(4), expected), 1e-14 * largest(expected)) << shape;
    EXPECT_GT(distance(gll(3), expected), 1e-3 * largest(expected)) << shape;
  }
}

TEST(Quadrature, GaussLobattoPointsInTheNodesLumpTheMassMatrix) {
  const auto device = std::make_shared<InterpreterDevice>();
  for (const char* shape : {"interval", "quadrilateral", "hexahedron"}) {
    Problem problem(box(shape), 3);
    const op::Operator M(
        problem.form("u*v*dx"),
        planned({.shared_device = device, .quadrature = {.kind = element::QuadratureKind::gll, .points = 4}}));
    const Vector one = problem.interpolated(M.make_vector(), [](auto, auto) { return 1.0; });
    const auto lumped = values_of(applied(M, one));
    const Vector x = random_vector(M, 3);
    const auto y = values_of(applied(M, x));
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], lumped[i] * x.host_read()[i], 1e-15);
    for (const double weight : lumped) EXPECT_GT(weight, 0);
  }
}

TEST(Quadrature, TheRuleAndItsReasonAreReported) {
  Problem problem(box("hexahedron"), 2);
  problem.with("kappa", 0.7);
  const auto info = [&](op::QuadratureOptions quadrature) {
    return op::Operator(problem.form(helmholtz_form()),
                        planned({.shared_device = std::make_shared<InterpreterDevice>(), .quadrature = quadrature}))
        .kernels()
        .info()[0];
  };
  EXPECT_EQ(info({}).num_points, 27); // degree 4 needs three Gauss points per direction
  EXPECT_EQ(info({.points = 5}).num_points, 125);
  EXPECT_EQ(info({.degree = 7}).num_points, 64);
  EXPECT_NE(info({.points = 5}).quadrature.find("as asked"), std::string::npos);
  EXPECT_NE(info({.kind = element::QuadratureKind::gll, .points = 4}).quadrature.find("Lobatto"), std::string::npos);
  EXPECT_NE(info({}).quadrature.find("degree 4"), std::string::npos) << info({}).quadrature;
}

} // namespace
} // namespace rafter::test

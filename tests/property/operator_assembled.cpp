// SPDX-License-Identifier: BSD-3-Clause
// An assembled matrix is the same operator as the matrix-free one: on every shape and map, for coupled fields, facets
// and conditions.
#include <gtest/gtest.h>

#include <numbers>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/generate/sliced_pattern.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/tune/unweighed_plans.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_laws.hpp>
#include <tests/support/text_device.hpp>

namespace rafter::test {
namespace {

namespace key = schedule::key;

constexpr const char* assembled = "mapping=assembled";

/// A pair has two operators of the same form: one is matrix-free with the simplest plan, one is assembled with these
/// options.
struct Pair {
  Pair(const Problem& problem, const std::string& form, op::OperatorOptions options,
       std::vector<op::FieldCondition> dirichlet = {})
      : free(make(problem, form, interpreted(), dirichlet)), matrix(make(problem, form, options, dirichlet)) {}
  static op::Operator make(const Problem& problem, const std::string& form, op::OperatorOptions options,
                           const std::vector<op::FieldCondition>& dirichlet) {
    options.dirichlet = dirichlet;
    return {problem.form(form), problem.system(), planned(options)};
  }
  op::Operator free, matrix;
};

/// Returns the difference of two vectors relative to the size of the first.
double difference(const Vector& expected, const Vector& found) {
  return distance(found.host_read(), expected.host_read()) / largest(expected.host_read());
}

void expect_equal(const Pair& operators, double bound) {
  const auto &A = operators.free, &M = operators.matrix;
  ASSERT_NE(M.matrix(), nullptr);
  const Vector x = random_vector(A, 5), x_matrix = random_vector(M, 5); // both vectors have the same entries
  EXPECT_LE(difference(applied(A, x), applied(M, x_matrix)), bound);
  Vector expected = random_vector(A, 6), found = random_vector(M, 6);
  A.apply_add(x, expected);
  M.apply_add(x_matrix, found);
  EXPECT_LE(difference(expected, found), bound);
  A.diagonal(expected);
  M.diagonal(found);
  EXPECT_LE(difference(expected, found), bound);
  A.apply_free(x, expected);
  M.apply_free(x_matrix, found);
  EXPECT_LE(difference(expected, found), bound);
}

/// Checks that boundary values and right-hand sides agree with those of the matrix-free operator.
void expect_equal_boundary_values(const Pair& operators, double bound) {
  Vector b = random_vector(operators.free, 1), x = random_vector(operators.free, 2);
  Vector b_matrix = random_vector(operators.free, 1), x_matrix = random_vector(operators.free, 2);
  operators.free.apply_boundary_values(b, x);
  operators.matrix.apply_boundary_values(b_matrix, x_matrix);
  EXPECT_LE(difference(b, b_matrix), bound);
  EXPECT_EQ(values_of(x), values_of(x_matrix));
}

class Assembled : public ::testing::TestWithParam<std::string> {};

TEST_P(Assembled, EqualsTheKernelsOfCellsAndFacets) {
  const auto check = [](mesh::Mesh mesh, int degree) {
    Problem problem(std::move(mesh), degree);
    SCOPED_TRACE(fmt::format("{} degree {}", problem.mesh().source, degree));
    problem.with("kappa", 0.7);
    auto options = interpreted();
    options.plan = assembled;
    expect_equal({problem, "((1 + x[0])*inner(grad(u), grad(v)) + u.dx(0)*v)*dx + kappa*u*v*ds((1, 2))", options},
                 rounding(degree));
  };
  check(scrambled(box(GetParam()), 3), 1);
  check(scrambled(box(GetParam()), 3), box_dimension(GetParam()) == 3 ? 2 : 3);
  check(curved_box(GetParam(), 1), 2);
  check(curved_box(GetParam(), 2), 1);
}

TEST_P(Assembled, HoldsWholeBlocksOfVectorsAndTheOwnComponentsOfOthers) {
  for (const int degree : {1, 2}) {
    Problem problem(scrambled(box(GetParam()), 3), degree, 3);
    SCOPED_TRACE(degree);
    problem.with("kappa", 1.3);
    auto options = interpreted();
    options.plan = assembled;
    const Pair apart(problem, "inner(grad(u), grad(v))*dx", options);
    expect_equal(apart, rounding(degree));
    const Pair coupled(problem, "(inner(grad(u), grad(v)) + (u[0] + u[1] + u[2])*(v[0] + 2*v[1] + 3*v[2]))*dx",
                       options);
    expect_equal(coupled, rounding(degree));
    // There are three times as many entries; nine of them share a column number where components are neighbours.
    EXPECT_DOUBLE_EQ(coupled.matrix.counts().effective_flops, 3 * apart.matrix.counts().effective_flops);
    EXPECT_EQ(apart.matrix.built().matrix->coupling.block_size(), 1);
    bool has_interior = false; // whose components are not neighbours in the vector
    for (std::size_t b = 0; b < problem.space()->batches().blocks.size(); ++b)
      has_interior = has_interior || !problem.space()->block(static_cast<int>(b)).layout.interior_dofs.empty();
    EXPECT_EQ(coupled.matrix.built().matrix->coupling.block_size(), has_interior ? 1 : 3);
  }
}

TEST_P(Assembled, EqualsTheKernelsOfCoupledFieldsWithConditions) {
  for (auto& mesh : {scrambled(box(GetParam()), 3), curved_box(GetParam(), 1)}) {
    const int dim = mesh.gdim;
    SCOPED_TRACE(mesh.source);
    Problem problem(mesh, {{.degree = 2, .components = dim, .name = "w"}, {.degree = 1, .name = "p"}});
    const std::string div = dim == 1 ? "[0].dx(0)" : "", head = dim == 1 ? "" : "div(", tail = dim == 1 ? "" : ")";
    const auto divergence = [&](const std::string& w) { return dim == 1 ? w + div : head + w + tail; };
    auto options = interpreted();
    options.plan = assembled;
    options.quadrature.degree = 4;
    const auto one = [](std::span<const double> x, std::size_t c) { return 1 + x[0] + static_cast<double>(c); };
    const std::string stokes =
        "(inner(grad(w), grad(v_w)) - p*" + divergence("v_w") + " - 2*v_p*" + divergence("w") + ")*dx";
    auto free_options = interpreted();
    free_options.quadrature.degree = 4;
    for (const auto& conditions : {std::vector<op::FieldCondition>{},
                                   {dirichlet(problem.space(0), one, {1}), dirichlet(problem.space(1), one, {2})}}) {
      Pair operators(problem, stokes, options, conditions);
      operators.free = Pair::make(problem, stokes, free_options, conditions);
      expect_equal(operators, rounding(2));
      expect_equal_boundary_values(operators, rounding(2));
    }
    // Rows belong to one field and columns to the other.
    Pair rectangular(problem, "v_p*" + divergence("w") + "*dx", options);
    rectangular.free = Pair::make(problem, "v_p*" + divergence("w") + "*dx", free_options, {});
    const Vector x = random_vector(rectangular.free, 1);
    EXPECT_LE(difference(applied(rectangular.free, x), applied(rectangular.matrix, x)), rounding(2));
  }
}

TEST_P(Assembled, CompiledProductsEqualTheirMeaningForAnyLanesAndThreads) {
  for (const int components : {0, 2}) {
    Problem problem(scrambled(curved_box(GetParam(), 1, 5), 5), 2, components);
    problem.with("kappa", 0.7);
    const std::string form = "(inner(grad(u), grad(v)) + kappa*" +
                             std::string(components == 0 ? "u*v" : "(u[0] + u[1])*(v[0] - v[1])") + ")*dx";
    std::vector<double> expected, bits;
    for (const char* keys : {"vector_width=4", "vector_width=8", "vector_width=8 gathers=scalar"})
      for (const int threads : {1, 3}) {
        const auto plan = fmt::format("mapping=assembled {}", keys);
        const op::Operator A(problem.form(form), planned({.threads = threads, .plan = plan}));
        const auto y = values_of(applied(A, random_vector(A, 3)));
        if (expected.empty())
          expected = values_of(applied(op::Operator(problem.form(form), interpreted()), random_vector(A, 3)));
        EXPECT_LE(distance(y, expected), rounding(2) * largest(expected)) << plan;
        if (threads == 1) bits = y;
        EXPECT_EQ(y, bits) << plan << " " << threads << " threads";
      }
  }
}

TEST_P(Assembled, FloatsAreRoundedDoubles) {
  Problem problem(scrambled(box(GetParam()), 3), 2);
  problem.with("kappa", 0.7);
  const op::Operator in_double(problem.form(helmholtz_form()), planned({.threads = 2, .plan = assembled}));
  const op::Operator in_float(problem.form(helmholtz_form()),
                              planned({.threads = 2, .plan = "mapping=assembled storage=float"}));
  auto options = interpreted();
  options.plan = "mapping=assembled storage=float";
  const op::Operator meant(problem.form(helmholtz_form()), options);
  const Vector x = random_vector(in_double, 3);
  EXPECT_EQ(in_double.precision_error(), 0);
  EXPECT_GT(in_float.precision_error(), 0);
  EXPECT_LE(in_float.precision_error(), 6e-8);
  const double error = difference(applied(in_double, x), applied(in_float, x));
  EXPECT_GT(error, 0);
  EXPECT_LE(error, 1e-6);
  EXPECT_LE(difference(applied(meant, x), applied(in_float, x)), rounding(2));
  EXPECT_LT(in_float.counts().global_bytes_read, 0.8 * in_double.counts().global_bytes_read);
}

/// Returns the kernels of a form with the first plan, as text that is not compiled.
std::shared_ptr<const op::GeneratedForm> in_text(const Problem& problem, const std::string& text,
                                                 const op::QuadratureOptions& quadrature = {}) {
  op::KernelOptions options{.device = std::make_shared<TextDevice>(),
                            .quadrature = quadrature,
                            .plan = std::make_shared<const schedule::Plan>(),
                            .planner = planner()};
  return op::build_form(form::lower(problem.form(text)), problem.system(), op::Purpose::action, options);
}

TEST_P(Assembled, EntriesAreCountedBeforeTheyAreFound) {
  InterpreterDevice host;
  for (const int degree : {1, 2, 3}) {
    const Problem problem(scrambled(box(GetParam(), 4), 3),
                          {{.degree = degree, .components = 2, .name = "a"}, {.degree = 1, .name = "b"}});
    const auto system = problem.system();
    for (const char* text : {"inner(grad(a), grad(v_a))*dx + b*v_b*dx", "(a[0] + b)*(v_a[1] + v_b)*dx"}) {
      const op::Coupling coupling(*in_text(problem, text), system);
      const op::CellUnknowns unknowns(system, host, coupling.block_size());
      const op::SlicedPattern pattern(unknowns, coupling, system.size(), 8, host);
      EXPECT_EQ(op::count_entries(system, coupling), static_cast<double>(pattern.num_blocks)) << degree << " " << text;
      EXPECT_GT(op::count_cell_entries(system, coupling), op::count_entries(system, coupling));
    }
  }
}

/// Triangles around one vertex, which shares an entry with all others.
mesh::Mesh fan(int num_triangles) {
  mesh::Mesh mesh;
  mesh.tdim = mesh.gdim = 2;
  mesh.num_vertices = num_triangles + 1;
  mesh.points = {0, 0};
  auto& group = mesh.groups.emplace_back();
  group.shape = element::Shape::triangle;
  for (int i = 0; i < num_triangles; ++i) {
    const double angle = 2 * std::numbers::pi * i / num_triangles;
    mesh.points.insert(mesh.points.end(), {std::cos(angle), std::sin(angle)});
    group.vertices.insert(group.vertices.end(), {0, 1 + i, 1 + (i + 1) % num_triangles});
    group.tags.push_back(1);
  }
  return mesh;
}

/// The numbers of columns take a byte each while a matrix is added, unless a row has more than 255.
TEST(AssembledMatrix, CountsColumnsInBytesWhereThatIsEnough) {
  InterpreterDevice host;
  for (const int num_columns : {5, 255, 256, 300}) {
    Problem problem(fan(num_columns - 1), 1);
    const auto system = problem.system();
    const std::string text = "(inner(grad(u), grad(v)) + u.dx(0)*v + 3*u*v)*dx";
    const op::Coupling coupling(*in_text(problem, text), system);
    const op::CellUnknowns unknowns(system, host, coupling.block_size());
    for (const int height : {1, 8}) {
      const op::SlicedPattern pattern(unknowns, coupling, system.size(), height, host);
      EXPECT_EQ(pattern.has_short_slots(), num_columns <= 255) << num_columns;
      EXPECT_EQ(op::count_entries(system, coupling), static_cast<double>(pattern.num_blocks)) << num_columns;
    }
    auto options = interpreted();
    options.plan = assembled;
    expect_equal({problem, text, options}, rounding(1));
  }
}

/// Counts the entries of the matrix that are not zero, by applying the kernels to every unit vector.
double count_nonzeros(const op::Operator& A) {
  Vector x = A.make_vector(), y = A.make_vector();
  std::ranges::fill(x.host_overwrite(), 0.0);
  std::vector<double> entries;
  for (auto& unit : x.host_write()) {
    unit = 1;
    A.apply(x, y);
    entries.insert(entries.end(), y.host_read().begin(), y.host_read().end());
    unit = 0;
  }
  const double bound = 1e-12 * largest(entries);
  return static_cast<double>(std::ranges::count_if(entries, [=](double a) { return std::fabs(a) > bound; }));
}

TEST(AssembledMatrix, HoldsNoEntriesThatAreZeroByStructure) {
  InterpreterDevice host;
  for (const char* shape : {"quadrilateral", "hexahedron"})
    for (const int degree : {1, 2})
      for (auto& mesh : {box(shape, 2), scrambled(curved_box(shape, 1), 3)}) {
        Problem problem(mesh, degree);
        SCOPED_TRACE(fmt::format("{} degree {}", problem.mesh().source, degree));
        op::OperatorOptions options = interpreted();
        options.quadrature = {.kind = element::QuadratureKind::gll, .points = degree + 1, .degree = {}};
        const auto system = problem.system();
        for (const char* text : {"inner(grad(u), grad(v))*dx", "u*v*dx", "u.dx(0)*v*dx + 3.1*u*v*dx"}) {
          const op::Coupling coupling(*in_text(problem, text, options.quadrature), system);
          const op::CellUnknowns unknowns(system, host, coupling.block_size());
          const op::SlicedPattern pattern(unknowns, coupling, system.size(), 8, host);
          EXPECT_EQ(static_cast<double>(pattern.num_blocks), count_nonzeros(Pair::make(problem, text, options, {})))
              << text;
          EXPECT_EQ(op::count_entries(system, coupling), static_cast<double>(pattern.num_blocks)) << text;
        }
        auto with_matrix = options;
        with_matrix.plan = assembled;
        for (const char* text : {"(inner(grad(u), grad(v)) + u.dx(0)*v)*dx + u*v*ds(1)", "u*v*dx + u.dx(1)*v*ds(2)"}) {
          Pair operators(problem, text, with_matrix);
          operators.free = Pair::make(problem, text, options, {});
          expect_equal(operators, rounding(degree));
        }
      }
}

TEST_P(Assembled, ConjugateGradientsTakeIt) {
  Problem problem(scrambled(box(GetParam()), 3), 2);
  problem.with("kappa", 0.7);
  auto options = interpreted();
  options.dirichlet = {dirichlet(problem.space(), zero, {1})};
  const op::Operator free(problem.form(helmholtz_form()), options);
  options.plan = assembled;
  const op::Operator A(problem.form(helmholtz_form()), options);
  for (const bool is_fused : {false, true}) {
    Vector b = random_vector(A, 1), x = A.make_vector();
    for (const auto entry : A.constraints().entries) b.host_write()[static_cast<std::size_t>(entry)] = 0;
    std::ranges::fill(x.host_overwrite(), 0.0);
    const auto result = solvers::cg(A, b, x, solvers::Jacobi(A), {.control = {.rtol = 1e-12}, .is_fused = is_fused});
    EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
    EXPECT_LE(distance(applied(free, x).host_read(), b.host_read()), 1e-10 * largest(b.host_read()));
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, Assembled, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(AssembledMatrix, WorksInMemoryOfItsOwn) {
  Problem problem(scrambled(box("tetrahedron"), 3), 2);
  problem.with("kappa", 0.7);
  expect_equal({problem, helmholtz_form(), {.device = "checked", .plan = assembled}}, rounding(2));
}

/// Returns the kernels of a form of a degree on tetrahedra, planned for this many applications on this device.
std::shared_ptr<const op::GeneratedForm> weighed(int degree, double num_applications,
                                                 std::shared_ptr<device::Device> device) {
  Problem problem(mesh::make_box({.cells = {6, 6, 6}, .shape = "tetrahedron"}), degree);
  op::KernelOptions options;
  options.device = std::move(device);
  options.planner = planner();
  options.num_applications = num_applications;
  return op::build_form(form::lower(problem.form("inner(grad(u), grad(v))*dx")), problem.system(), op::Purpose::action,
                        options);
}

std::shared_ptr<const op::GeneratedForm> weighed(int degree, double num_applications) {
  return weighed(degree, num_applications, std::make_shared<TextDevice>());
}

TEST(AssembledMatrix, IsChosenWhereItsSetUpPays) {
  const auto never = weighed(1, 0), once = weighed(1, 1), often = weighed(1, 1e7), high = weighed(4, 1e7);
  EXPECT_FALSE(never->forecast.has_value()) << "nobody knows how often it will be applied";
  EXPECT_EQ(never->matrix, nullptr);
  ASSERT_TRUE(once->forecast.has_value());
  EXPECT_FALSE(once->forecast->pays());
  EXPECT_EQ(once->matrix, nullptr);
  ASSERT_TRUE(often->forecast.has_value());
  EXPECT_LT(often->forecast->seconds, often->forecast->kernel_seconds);
  EXPECT_NE(often->matrix, nullptr);
  ASSERT_TRUE(high->forecast.has_value());
  EXPECT_GT(high->forecast->seconds, high->forecast->kernel_seconds);
  EXPECT_EQ(high->matrix, nullptr);
}

TEST(AssembledMatrix, ItsProductIsCompiledForManyRunsWhateverItsCellsAre) {
  const auto built = weighed(1, 1e7, device::make_device("host", 1));
  ASSERT_NE(built->matrix, nullptr);
  EXPECT_EQ(built->matrix->cells->blocks.front().kernel.info.plan[key::flags], schedule::quick_flags);
  EXPECT_EQ(built->matrix->info.plan[key::flags], schedule::Plan()[key::flags]);
}

TEST(AssembledMatrix, ItsProductGathersTheWayThatIsFasterOnThisMachine) {
  const auto product_on = [](double by_instruction, double by_lane) {
    Problem problem(mesh::make_box({.cells = {6, 6, 6}, .shape = "tetrahedron"}), 1);
    op::KernelOptions options;
    options.device = std::make_shared<TextDevice>();
    auto of_machine = planner()->options();
    of_machine.machine.vector_gather.one_core = by_instruction;
    of_machine.machine.scalar_gather.one_core = by_lane;
    options.planner = std::make_shared<const tune::Planner>(of_machine);
    options.num_applications = 1e7;
    return op::build_form(form::lower(problem.form("inner(grad(u), grad(v))*dx")), problem.system(),
                          op::Purpose::action, options);
  };
  const auto fast = product_on(8e9, 4e9), slow = product_on(2e9, 4e9);
  ASSERT_NE(fast->matrix, nullptr);
  ASSERT_NE(slow->matrix, nullptr);
  EXPECT_FALSE(fast->matrix->info.plan[key::gathers] == schedule::Gathers::scalar);
  EXPECT_TRUE(slow->matrix->info.plan[key::gathers] == schedule::Gathers::scalar);
  EXPECT_NE(slow->matrix->info.source, fast->matrix->info.source);
  // A plan that is asked for says itself how it gathers.
  for (const char* gathers : {"vector", "scalar"}) {
    const auto plan = schedule::parse_plan(fmt::format("mapping=assembled gathers={}", gathers));
    EXPECT_EQ(tune::plan_product(schedule::Plan(), &plan, *planner()).plan[key::gathers] == schedule::Gathers::scalar,
              plan[key::gathers] == schedule::Gathers::scalar);
  }
}

TEST(AssembledMatrix, WithoutMemoryForItKernelsAreTaken) {
  auto forecast = *weighed(1, 1e7)->forecast;
  EXPECT_TRUE(forecast.pays());
  forecast.fits = false;
  EXPECT_FALSE(forecast.pays());
}

TEST(AssembledMatrix, PrintsAsAPlanThatGivesItBack) {
  Problem problem(box("tetrahedron"), 2);
  problem.with("kappa", 0.7);
  const op::Operator A(problem.form(helmholtz_form()),
                       planned({.threads = 1, .plan = "vector_width=4 mapping=assembled"}));
  ASSERT_EQ(A.info().size(), 1U);
  const auto plan = schedule::to_string(A.info()[0].plan);
  EXPECT_NE(plan.find("mapping=assembled vector_width=4"), std::string::npos) << plan;
  const op::Operator B(problem.form(helmholtz_form()), planned({.threads = 1, .plan = plan}));
  EXPECT_EQ(schedule::to_string(B.info()[0].plan), plan);
  EXPECT_EQ(B.info()[0].source, A.info()[0].source);
  EXPECT_EQ(values_of(applied(B, random_vector(B, 2))), values_of(applied(A, random_vector(A, 2))));
}

TEST(AssembledMatrix, MisuseIsRefused) {
  Problem problem(box("tetrahedron"), 1);
  problem.with("kappa", 0.7);
  const op::Operator A(problem.form(helmholtz_form()), planned({.threads = 1, .plan = assembled}));
  Vector x = A.make_vector(), longer(A.device(), x.size() + 1);
  EXPECT_THROW(A.apply(x, x), base::InputError);
  EXPECT_THROW(A.apply(longer, x), base::InputError);
  EXPECT_THROW(A.apply(x, longer), base::InputError);
  EXPECT_THROW(A.diagonal(longer), base::InputError);
  EXPECT_THROW(A.kernels(), base::InternalError);
  const auto built =
      op::build(problem.form(helmholtz_form()), 2, problem.system(), planned({.threads = 1, .plan = assembled}));
  EXPECT_THROW(op::Operator(built, space::Constraints{}), base::InternalError) << "nothing is compiled";
  EXPECT_THROW(op::FormKernels{built}, base::InternalError);
}

} // namespace
} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
// Dense products over several sub-batches (key `subbatches` of plans) compute what the simplest program means, compiled
// and interpreted, whatever the number of cells in a batch.
#include <gtest/gtest.h>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/space/discretisation.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

namespace key = schedule::key;

const std::string varying = "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[1])*kappa*u*v)*dx + kappa*u*v*ds";

struct SubbatchCase {
  int degree = 1, components = 0;
  std::string form, plan;
};

class Groups : public ::testing::TestWithParam<std::string> {
protected:
  int dim() const { return box_dimension(GetParam()); }
  std::vector<mesh::Mesh> meshes() const {
    return {scrambled(box(GetParam()), 2), curved_box(GetParam(), 1), curved_box(GetParam(), 2)};
  }
  /// The cases have tables in the text and outside, sub-batches that are a whole batch or a part of it, few rows and
  /// many, modes and points, one component and several, stored factors and floats.
  std::vector<SubbatchCase> cases() const {
    const std::string elasticity = elasticity_form(dim());
    return {{1, 0, varying, "subbatches=2 vector_width=8 unroll=0"},
            {2, 0, varying, "subbatches=4 vector_width=2 unroll=0 factors=recompute"},
            {3, 0, varying, "subbatches=2 vector_width=4 rows=5 factors=store"},
            {2, 0, varying, "subbatches=8 vector_width=2 rows=7 unroll=0"},
            {2, 0, helmholtz_form(), "contraction=modal subbatches=2 vector_width=4 unroll=0"},
            {3, 0, helmholtz_form(), "contraction=modal subbatches=2 vector_width=8 rows=24"},
            {2, 0, helmholtz_form(), "contraction=modal subbatches=2 vector_width=2 unroll=4096"},
            {2, dim(), elasticity, "subbatches=2 vector_width=8 unroll=0 factors=recompute"},
            {2, dim(), elasticity, "subbatches=4 vector_width=4 factors=store storage=float"},
            {2, dim(), elasticity, "subbatches=2 vector_width=16 rows=28 compute=float unroll=0"}};
  }
  static std::string full_plan(const SubbatchCase& wanted) {
    const bool has_contraction = wanted.plan.find("contraction") != std::string::npos;
    return wanted.plan + (has_contraction ? "" : " contraction=dense");
  }
  static op::Operator make(const Problem& problem, const SubbatchCase& wanted, op::OperatorOptions options,
                           const std::string& plan) {
    options.plan = plan;
    options.quadrature.points = wanted.degree + 1;
    return {problem.form(wanted.form), planned(options)};
  }
  /// Returns the plan that is interpreted for comparison; floats are compared with floats.
  static std::string meaning(const schedule::Plan& plan) {
    const std::string floats = schedule::single_keys(plan);
    if (floats.empty()) return simplest;
    return "mapping=plain contraction=dense factors=" + std::string(kernel::name(plan[key::factors])) + " " + floats;
  }
  /// Checks a case on every device of `all`.
  static void check(const mesh::Mesh& mesh, const SubbatchCase& wanted, int cells_per_batch,
                    const std::vector<op::OperatorOptions>& all) {
    const auto plan = schedule::parse_plan(full_plan(wanted));
    SCOPED_TRACE(mesh.source + " degree " + std::to_string(wanted.degree) + " " + full_plan(wanted) + " batches of " +
                 std::to_string(cells_per_batch));
    Problem problem(mesh, wanted.degree, wanted.components, {.cells_per_batch = cells_per_batch});
    problem.with("kappa", 0.7);
    const auto B = make(problem, wanted, {.shared_device = std::make_shared<InterpreterDevice>()}, meaning(plan));
    const auto expected = values_of(applied(B, random_vector(B, 3)));
    const double rounding = plan[key::compute] == schedule::Precision::double_precision ? 1e-13 : 0x1p-23;
    const double tolerance = rounding * (wanted.degree + 1) * (wanted.degree + 1) * largest(expected);
    for (const auto& options : all) {
      const auto A = make(problem, wanted, options, full_plan(wanted));
      const auto& used = A.kernels().info().front().plan;
      EXPECT_EQ(used[key::subbatches], std::min(plan[key::subbatches], cells_per_batch / used[key::vector_width]));
      expect_action(A, 3, expected, tolerance);
    }
  }
};

TEST_P(Groups, GiveWhatTheSimplestProgramMeans) {
  const auto on = meshes();
  std::size_t turn = 0;
  for (const auto& wanted : cases()) {
    const auto plan = schedule::parse_plan(wanted.plan);
    std::vector<op::OperatorOptions> devices{{.threads = 2}};
    if (turn % 2 == 0)
      devices.push_back({.shared_device = std::make_shared<InterpreterDevice>()});
    else
      devices.push_back({.device = "checked"}); // the device finds stale and foreign accesses
    // A batch is taken in one pass or in two.
    check(on[turn % on.size()], wanted, plan[key::vector_width] * plan[key::subbatches] * (turn % 2 == 0 ? 1 : 2),
          devices);
    ++turn;
  }
}

TEST_P(Groups, HighDegrees) {
  const op::OperatorOptions compiled = planned({.threads = 1});
  check(scrambled(box(GetParam(), 1), 2), {5, 0, helmholtz_form(), "contraction=modal subbatches=2 rows=24"}, 16,
        {compiled});
}

TEST_P(Groups, BatchesOfFewerTakeWhatTheyHave) {
  const op::OperatorOptions compiled = planned({.threads = 1});
  check(box(GetParam()), {2, 0, varying, "subbatches=8 vector_width=4 unroll=0"}, 8, {compiled});
  check(box(GetParam()), {2, 0, varying, "subbatches=4 vector_width=8 unroll=0"}, 8, {compiled});
}

TEST_P(Groups, RightHandSidesAndFunctionals) {
  Problem problem(curved_box(GetParam(), 2), 3, 0, {.cells_per_batch = 16});
  const auto result = [&](const std::string& plan, std::shared_ptr<device::Device> device) {
    const op::OperatorOptions options = planned({.shared_device = std::move(device), .plan = plan});
    const op::LinearForm b(problem.form("exp(x[0])*v*dx"), problem.system(), options);
    Vector f(options.shared_device, static_cast<std::size_t>(problem.system().size()));
    b.assemble(f);
    auto values = values_of(f);
    values.push_back(op::Functional(problem.functional("(u*u + exp(x[0]))*dx"), problem.system(), options)(f));
    return values;
  };
  const auto expected = result(simplest, std::make_shared<InterpreterDevice>());
  EXPECT_LE(distance(result("contraction=dense subbatches=2 vector_width=8 unroll=0", device::make_device("host", 1)),
                     expected),
            1e-12 * largest(expected));
}

INSTANTIATE_TEST_SUITE_P(every_shape, Groups, ::testing::Values("triangle", "tetrahedron", "prism", "pyramid"),
                         [](const auto& shape) { return shape.param; });

TEST(GroupsOfLanes, AreForDenseProductsAlone) {
  const auto subbatches = [](const std::string& shape, const std::string& plan) {
    Problem problem(box(shape), 2, 0, {.cells_per_batch = 16});
    const op::Operator A(problem.form("u*v*dx"), planned({.shared_device = std::make_shared<InterpreterDevice>(),
                                                          .plan = "subbatches=2 " + plan}));
    return A.kernels().info().front().plan[key::subbatches];
  };
  EXPECT_EQ(subbatches("hexahedron", ""), 1);
  EXPECT_EQ(subbatches("hexahedron", "contraction=per-derivative"), 1);
  EXPECT_EQ(subbatches("hexahedron", "contraction=dense"), 2);
  EXPECT_EQ(subbatches("tetrahedron", ""), 2);
  EXPECT_EQ(subbatches("tetrahedron", "vector_width=16"), 1);
}

/// Returns the loads and operations of the kernel of a Laplacian.
schedule::LoopCounts counts(const std::string& plan) {
  Problem problem(box("tetrahedron"), 4, 0, {.cells_per_batch = 16});
  const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"),
                       planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan}));
  return schedule::count(schedule::read(A.kernels().info().front().loop_program));
}

TEST(GroupsOfLanes, ShareWhatIsLoadedOfTables) {
  const auto one = counts("subbatches=1 rows=8 unroll=0"), two = counts("subbatches=2 rows=16 unroll=0");
  EXPECT_EQ(one.flops, two.flops);
  // Each entry is loaded once instead of twice; forward and back, a quarter of 3 x 20 rows of 35 remains.
  const double entries = 2 * 3 * 20 * 35 / 4.0;
  EXPECT_NEAR(one.instructions.broadcasts - two.instructions.broadcasts, entries, 0.1 * entries);
}

TEST(GroupsOfLanes, BatchesHaveTwoOnesOfHighDegreeOnCellsWithDenseProducts) {
  const auto cells_per_batch = [](const std::string& shape, int degree, int wanted = 8) {
    return space::batch_options(box(shape), {.degree = degree, .cells_per_batch = wanted}).cells_per_batch;
  };
  for (const char* shape : {"triangle", "tetrahedron", "prism", "pyramid"}) {
    EXPECT_EQ(cells_per_batch(shape, 4), 8) << shape;
    EXPECT_EQ(cells_per_batch(shape, 5), 16) << shape;
    EXPECT_EQ(cells_per_batch(shape, 5, 32), 32) << shape;
  }
  EXPECT_EQ(cells_per_batch("hexahedron", 8), 8);
  EXPECT_EQ(cells_per_batch("mixed", 8), 8);
  EXPECT_FALSE(space::batch_options(box("tetrahedron"), {.degree = 2}).has_orientation_buckets);
  EXPECT_TRUE(space::batch_options(box("tetrahedron"), {.degree = 3}).has_orientation_buckets);
}

TEST(GroupsOfLanes, BatchesAreLargeEnough) {
  EXPECT_EQ(op::cells_per_batch("subbatches=2"), 16);
  EXPECT_EQ(op::cells_per_batch("subbatches=4 vector_width=2"), 8);
  EXPECT_EQ(op::cells_per_batch("subbatches=8 vector_width=16"), 128);
}

} // namespace
} // namespace rafter::test

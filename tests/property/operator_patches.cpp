// SPDX-License-Identifier: BSD-3-Clause
// Kernels that gather patches of cells compute what the simplest program on plain batches means, compiled and
// interpreted, on structured, refined, rotated and curved cells, also where cells belong to no patch.
#include <gtest/gtest.h>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/space/discretisation.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

constexpr const char* without_patches = "mapping=plain contraction=dense factors=recompute patches=0";
const std::string varying_in_patches =
    "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[1])*kappa*u*v)*dx + kappa*u*v*ds";

struct PatchCase {
  int degree = 1, components = 0, width = 2;
  std::string form, plan;
};

class Patches : public ::testing::TestWithParam<std::string> {
protected:
  int dim() const { return box_dimension(GetParam()); }
  int cells_per_batch(const PatchCase& wanted) const {
    const int of_plan = schedule::parse_plan(wanted.plan)[schedule::key::vector_width];
    return of_plan * mesh::cells_per_patch(wanted.width, dim());
  }
  /// The meshes have full patches; patches and other cells; children of cells that are rotated relative to each other;
  /// and curved cells.
  std::vector<mesh::Mesh> meshes(int width) const {
    const int n = dim() == 2 ? 4 * width : 2 * width;
    const int refinements = (width == 4 ? 2 : 1) + (dim() == 2 ? 1 : 0);
    return {box(GetParam(), n), sheared(box(GetParam(), n + 1)), scrambled(box(GetParam()), 3).refined(refinements),
            curved_box(GetParam(), 2, n)};
  }
  std::vector<PatchCase> cases() const {
    const std::string elasticity = elasticity_form(dim());
    return {{1, 0, 2, varying_in_patches, "vector_width=2"},
            {1, 0, 4, helmholtz_form(), "vector_width=2 contraction=separable factors=store"},
            {2, 0, 2, varying_in_patches, "vector_width=4 factors=recompute"},
            {2, 0, 2, helmholtz_form(), "vector_width=2 contraction=separable factors=store"},
            {2, dim(), 2, elasticity, "vector_width=2 factors=store"},
            {1, dim(), 2, elasticity, "vector_width=8 prefetch=0"},
            {3, 0, 2, varying_in_patches, "vector_width=2 stores=streaming"},
            {2, 0, 2, varying_in_patches, "vector_width=2 contraction=per-derivative"},
            {2, 0, 2, varying_in_patches, "vector_width=2 contraction=dense factors=recompute"},
            {1, 0, 2, varying_in_patches, "vector_width=4 compute=float"},
            {1, 0, 2, varying_in_patches, "vector_width=16 compute=float factors=store"}, // set-up runs with 8 lanes
            {1, 0, 2, varying_in_patches, "vector_width=4 mapping=assembled"}};
  }
  static op::Operator make(const Problem& problem, const PatchCase& wanted, op::OperatorOptions options,
                           const std::string& plan) {
    options.plan = plan;
    options.quadrature.points = wanted.degree + 1;
    return {problem.form(wanted.form), planned(options)};
  }
  /// Returns whether some block gathers patches; rotated cells have other kinds of maps.
  static bool gathers_patches(const op::Operator& A) {
    return std::ranges::any_of(A.kernels().info(), [](const auto& kernel) {
      return kernel.loop_program.find("patch_starts") != std::string::npos;
    });
  }
  void check(const mesh::Mesh& mesh, const PatchCase& wanted, const std::vector<op::OperatorOptions>& all) const {
    SCOPED_TRACE(mesh.source + " degree " + std::to_string(wanted.degree) + " " + wanted.plan);
    Problem problem(mesh, wanted.degree, wanted.components,
                    {.cells_per_batch = cells_per_batch(wanted), .patch_width = wanted.width});
    problem.with("kappa", 0.7);
    const auto plan = schedule::parse_plan(wanted.plan);
    const std::string floats = schedule::single_keys(plan);
    const auto B = make(problem, wanted, {.shared_device = std::make_shared<InterpreterDevice>()},
                        floats.empty() ? without_patches : "mapping=plain patches=0 " + floats);
    const auto expected = values_of(applied(B, random_vector(B, 3)));
    const double rounding = floats.empty() ? 1e-13 : 0x1p-23;
    const double tolerance = rounding * (wanted.degree + 1) * (wanted.degree + 1) * largest(expected);
    for (const auto& options : all) {
      const auto A = make(problem, wanted, options, wanted.plan);
      const bool has_few_patches =
          plan[schedule::key::vector_width] > 8; // a batch would take more patches than there are
      EXPECT_TRUE(schedule::is_assembled(plan) || has_few_patches || gathers_patches(A));
      expect_action(A, 3, expected, tolerance);
    }
  }
};

TEST_P(Patches, GiveWhatTheSimplestProgramMeans) {
  std::size_t turn = 0;
  for (const auto& wanted : cases()) {
    const auto on = meshes(wanted.width);
    for (const std::size_t mesh : {turn, turn + 2}) {
      std::vector<op::OperatorOptions> devices{{.threads = 2}};
      if (turn % 2 == 0)
        devices.push_back({.shared_device = std::make_shared<InterpreterDevice>()});
      else
        devices.push_back({.device = "checked"}); // the device finds stale and foreign accesses
      check(on[mesh % on.size()], wanted, devices);
    }
    ++turn;
  }
}

/// The fields have several degrees on the same batches, and are coupled.
TEST_P(Patches, OfSeveralFields) {
  for (const auto& mesh : meshes(2)) {
    Problem problem(mesh, {{.degree = 2, .components = dim(), .name = "w"}, {.degree = 1, .name = "p"}},
                    {.cells_per_batch = 4 << dim(), .patch_width = 2});
    const auto form = problem.form("(inner(grad(w), grad(v_w)) - p*div(v_w) - v_p*div(w))*dx");
    const op::Operator A(form, planned({.threads = 2, .plan = "vector_width=4"}));
    const op::Operator B(form,
                         planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = without_patches}));
    EXPECT_TRUE(gathers_patches(A));
    const auto expected = values_of(applied(B, random_vector(B, 5)));
    expect_action(A, 5, expected, 1e-12 * largest(expected));
  }
}

TEST_P(Patches, DiagonalsRightHandSidesAndFunctionals) {
  for (const auto& mesh : meshes(2)) {
    Problem problem(mesh, 2, 0, {.cells_per_batch = 4 << dim(), .patch_width = 2});
    const auto result = [&](const std::string& plan, std::shared_ptr<device::Device> device) {
      const auto options = planned({.shared_device = std::move(device), .plan = plan});
      const op::LinearForm b(problem.form("exp(x[0])*v*dx"), problem.system(), options);
      Vector f(options.shared_device, static_cast<std::size_t>(problem.system().size()));
      b.assemble(f);
      auto values = values_of(f);
      values.push_back(op::Functional(problem.functional("(u*u + exp(x[0]))*dx"), problem.system(), options)(f));
      const op::Operator A(problem.form("(1 + x[0])*u*v*dx"), options);
      auto diagonal = A.make_vector();
      A.diagonal(diagonal);
      for (const double value : diagonal.host_read()) values.push_back(value);
      return values;
    };
    const auto expected = result(without_patches, std::make_shared<InterpreterDevice>());
    EXPECT_LE(distance(result("vector_width=4", device::make_device("host", 2)), expected), 1e-12 * largest(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(tensor_shapes, Patches, ::testing::Values("quadrilateral", "hexahedron"),
                         [](const auto& shape) { return shape.param; });

TEST(PatchesOfCells, AreGatheredOnceInsteadOfCellByCell) {
  const auto reads = [](const std::string& plan) {
    Problem problem(box("hexahedron", 8), 1, 0, {.cells_per_batch = 512, .patch_width = 4});
    const op::Operator A(problem.form("u*v*dx"),
                         planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan}));
    const auto counts = schedule::count(schedule::read(A.kernels().info().front().loop_program)).instructions;
    return counts.gathers + counts.scatters;
  };
  // A patch has 125 unknowns, its 64 cells have 8 each.
  EXPECT_LE(reads("patches=1"), 0.25 * reads("patches=0"));
}

TEST(PatchesOfCells, GiveTheSameBitsForAnyNumberOfThreads) {
  Problem problem(sheared(box("hexahedron", 13)), 2, 0, {.cells_per_batch = 16, .patch_width = 2});
  problem.with("kappa", 0.7);
  const auto result = [&](int threads) {
    const op::Operator A(problem.form(varying_in_patches), planned({.threads = threads, .plan = "vector_width=2"}));
    return values_of(applied(A, random_vector(A, 3)));
  };
  const auto expected = result(1);
  for (const int threads : {2, 3, 4}) EXPECT_EQ(result(threads), expected) << threads;
}

TEST(PatchesOfCells, AreForLowDegreesOnLargeMeshesOfTensorCells) {
  const auto width = [](const mesh::Mesh& mesh, int degree) {
    return space::batch_options(mesh, {.degree = degree}).patch_width;
  };
  const auto cubes = box("hexahedron", 32), squares = mesh::make_box({.cells = {128, 64}, .size = {1, 1}, .shape = ""});
  EXPECT_EQ(width(cubes, 1), 4);
  EXPECT_EQ(width(cubes, 2), 2);
  EXPECT_EQ(width(cubes, 3), 1);
  EXPECT_EQ(width(squares, 1), 4);
  EXPECT_EQ(width(box("hexahedron", 16), 1), 2); // there are too few cells for batches of 512
  EXPECT_EQ(width(box("hexahedron", 8), 1), 1);
  EXPECT_EQ(width(box("tetrahedron", 16), 1), 1);
  EXPECT_EQ(space::batch_options(cubes, {.degree = 1}).cells_per_batch, 512);
  EXPECT_EQ(space::batch_options(cubes, {.degree = 2, .cells_per_batch = 16}).cells_per_batch, 128);
  EXPECT_EQ(space::batch_options(cubes, {.degree = 1, .cells_per_batch = 32}).cells_per_batch,
            256); // patches of width 4 would make batches of 2048
  EXPECT_EQ(space::batch_options(cubes, {.degree = 1, .cells_per_batch = 256}).cells_per_batch, 256);
}

} // namespace
} // namespace rafter::test

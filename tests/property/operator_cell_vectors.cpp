// SPDX-License-Identifier: BSD-3-Clause
// Operators on broken spaces act on cell vectors without index tables, and G^T A_cells G = A.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/machine/typical.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/space/cell_vectors.hpp>
#include <rafter/tune/planner.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// The twins are a field u and the broken field e on the same batches.
class Twins {
public:
  Twins(mesh::Mesh mesh, int degree, int components)
      : problem_(std::move(mesh), {{.degree = degree, .components = components, .name = "u"},
                                   {.degree = degree, .components = components, .name = "e", .is_broken = true}}),
        bound_(1e-14 * (degree + 1) * (degree + 1)) {
    problem_.with("kappa", 0.7);
  }

  op::Operator operator_on(const std::string& field, const op::OperatorOptions& options,
                           bool has_facets = false) const {
    const std::string v = "v_" + field, product = "inner(" + field + ", " + v + ")";
    std::string text = "((1 + x[0])*inner(grad(" + field + "), grad(" + v + ")) + kappa*" + product + ")*dx";
    if (has_facets) text += " + " + product + "*ds";
    return op::Operator(problem_.form(text), planned(options));
  }
  void expect_same_action(const op::OperatorOptions& options, bool has_facets) const {
    SCOPED_TRACE(problem_.mesh().source + " degree " + std::to_string(space().degree) + " " + options.plan);
    const auto A = operator_on("u", options, has_facets), A_cells = operator_on("e", options, has_facets);
    const Vector x = random_vector(A, 5), expected = applied(A, x);
    Vector x_cells = A_cells.make_vector(), y = A.make_vector();
    space::gather_cells(space(), broken(), x.host_read(), x_cells.host_overwrite());
    std::ranges::fill(y.host_overwrite(), 0.0);
    space::add_cells(space(), broken(), applied(A_cells, x_cells).host_read(), y.host_write());
    EXPECT_LE(distance(y.host_read(), expected.host_read()), bound_ * largest(expected.host_read()));
  }
  const space::FunctionSpace& space() const { return *problem_.space(0); }
  const space::FunctionSpace& broken() const { return *problem_.space(1); }

private:
  Problem problem_;
  double bound_;
};

class CellVectors : public ::testing::TestWithParam<std::string> {};

TEST_P(CellVectors, HoldTheActionOfTheGlobalOperatorAfterItsGatherAndBeforeItsScatter) {
  const op::OperatorOptions options = interpreted();
  for (const int components : {0, 3}) {
    for (const int degree : {1, 2, 3})
      Twins(scrambled(box(GetParam()), 3), degree, components).expect_same_action(options, true);
    Twins(curved_box(GetParam(), 1), 2, components).expect_same_action(options, true);
    Twins(curved_box(GetParam(), 2), 2, components).expect_same_action(options, true);
  }
}

/// Tables in the text and in memory, sub-batches of batches, and batches that are not full.
TEST_P(CellVectors, DoNotDependOnWhereTablesStand) {
  for (const std::string keys : {"unroll=4096", "unroll=4096 vector_width=4 stores=streaming", "unroll=0"})
    for (const int components : {0, 3})
      for (const std::string contraction : {"dense", "modal"}) {
        Twins(scrambled(box(GetParam()), 3), 2, components)
            .expect_same_action(interpreted("contraction=" + contraction + " " + keys), true);
      }
}

TEST_P(CellVectors, AreWhatCompiledKernelsTakeAndGive) {
  Twins(scrambled(box(GetParam()), 3), 2, 0).expect_same_action({.threads = 2}, false);
  Twins(curved_box(GetParam(), 1), 3, 0).expect_same_action({.threads = 2, .plan = "mapping=plain"}, false);
  Twins(curved_box(GetParam(), 2), 1, 3).expect_same_action({.threads = 2}, true);
  Twins(scrambled(box(GetParam()), 3), 2, 0).expect_same_action({.threads = 2, .plan = "stores=streaming"}, false);
}

TEST_P(CellVectors, HaveAnEntryPerDofOfEveryCellAndKernelsReadEachOnce) {
  const Twins twins(box(GetParam()), 3, 3);
  std::int64_t num_entries = 0;
  for (const auto& block : twins.broken().batches().blocks)
    num_entries += std::int64_t{3} * block.num_cells * twins.broken().element(block.shape)->num_dofs();
  EXPECT_EQ(twins.broken().num_local(), num_entries);
  const auto A = twins.operator_on("e", {.shared_device = std::make_shared<InterpreterDevice>()});
  for (const auto& info : A.kernels().info())
    EXPECT_EQ(info.loop_program.find("run_starts"), std::string::npos) << info.loop_program;
  EXPECT_EQ(A.kernels().counts().global_bytes_written, 8.0 * static_cast<double>(num_entries));
}

TEST(CellVectorPlans, StreamWhatTheCachesDoNotHoldAndNobodyShares) {
  machine::Machine small = machine::typical_machine();
  for (auto& level : small.levels) level.bytes = 1;
  const auto stores = [](const op::Operator& A) {
    return A.kernels().info().front().plan[schedule::key::stores] == schedule::Stores::streaming;
  };
  const Twins twins(box("hexahedron"), 2, 0);
  const op::OperatorOptions usual = interpreted();
  auto tiny_caches = usual;
  tiny_caches.planner = std::make_shared<const tune::Planner>(tune::PlannerOptions{.machine = small, .store = nullptr});
  EXPECT_FALSE(stores(twins.operator_on("e", usual)));
  EXPECT_TRUE(stores(twins.operator_on("e", tiny_caches)));
  EXPECT_FALSE(stores(twins.operator_on("u", tiny_caches)));
}

INSTANTIATE_TEST_SUITE_P(every_shape, CellVectors, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(CellVectors, OfAnotherSpaceAreRefused) {
  const Problem a(box("hexahedron"), 2), b(box("hexahedron"), 2);
  const auto broken = space::make_broken(*a.space());
  std::vector<double> x(static_cast<std::size_t>(a.space()->num_local()));
  std::vector<double> cells(static_cast<std::size_t>(broken->num_local()));
  EXPECT_NO_THROW(space::gather_cells(*a.space(), *broken, x, cells));
  EXPECT_THROW(space::gather_cells(*b.space(), *broken, x, cells), base::InputError); // the batches are different
  EXPECT_THROW(space::add_cells(*a.space(), *a.space(), x, x), base::InputError);
  cells.pop_back();
  EXPECT_THROW(space::gather_cells(*a.space(), *broken, x, cells), base::InputError);
  EXPECT_THROW(space::add_cells(*a.space(), *broken, cells, x), base::InputError);
}

} // namespace
} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
// The interpreter sees a kernel move as many bytes of the nearest cache as are counted for it, and reports name that
// cache if it is the bound.
#include <gtest/gtest.h>

#include <rafter/machine/typical.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// Counts of interpreted kernels are compared with the bytes that they move.
class Interpreted {
public:
  const std::shared_ptr<InterpreterDevice>& device() const { return device_; }
  /// Checks `counts`, which belong to one call of `run`.
  template <class Run> void expect_counted(const machine::Counts& counts, const Run& run) const {
    const auto before = device_->traffic(); // traffic of set-up and of checks of the precision
    run();
    EXPECT_GT(counts.local_bytes_read + counts.local_bytes_written, 0);
    EXPECT_EQ(counts.local_bytes_read, device_->traffic().read_bytes - before.read_bytes);
    EXPECT_EQ(counts.local_bytes_written, device_->traffic().written_bytes - before.written_bytes);
    EXPECT_LE(counts.least_local_bytes_read, counts.local_bytes_read);
    EXPECT_LE(counts.least_local_bytes_written, counts.local_bytes_written);
    EXPECT_GT(counts.least_local_bytes_read + counts.least_local_bytes_written, 0);
  }
  /// Counts assume batches that are full and whose cells see all shared entities in the same orientation.
  machine::Counts expect_counted(const Problem& problem, const std::string& form, const std::string& plan) const {
    const op::Operator A(problem.form(form), planned({.shared_device = device_, .plan = plan}));
    expect_counted(A.counts(), [&] { (void)applied(A, random_vector(A, 3)); });
    return A.counts();
  }

private:
  std::shared_ptr<InterpreterDevice> device_ = std::make_shared<InterpreterDevice>();
};

/// Returns boxes with full batches: the number of cells of each kind is a multiple of eight.
mesh::Mesh full_batches(const std::string& shape, bool is_curved) {
  const int n = box_dimension(shape) == 1 ? 8 : box_dimension(shape) == 2 ? 4 : 2;
  return is_curved ? curved_box(shape, 2, n) : box(shape, n);
}

class LocalTraffic : public ::testing::TestWithParam<std::string> {};

TEST_P(LocalTraffic, IsThatOfTheInterpretedProgram) {
  for (const bool is_curved : {false, true})
    for (const std::string plan : {"mapping=simd_cells", "vector_width=4 prefetch=0",
                                   "contraction=dense unroll=0 rows=5", "contraction=per-derivative factors=recompute",
                                   "factors=store storage=float", "compute=float accumulate=float vector_width=2",
                                   "mapping=simd_points", "subbatches=2 vector_width=4 unroll=0"})
      for (const int degree : {1, 2}) {
        SCOPED_TRACE(plan + (is_curved ? " curved" : "") + " degree " + std::to_string(degree));
        Problem problem(full_batches(GetParam(), is_curved), degree);
        Interpreted().expect_counted(problem.with("kappa", 0.7), "((1 + x[0])*inner(grad(u), grad(v)) + kappa*u*v)*dx",
                                     plan);
      }
}

TEST_P(LocalTraffic, OfVectorFieldsIsThatOfTheInterpretedProgram) {
  const int dim = box_dimension(GetParam());
  for (const std::string plan : {"", "mapping=simd_points vector_width=4", "factors=recompute-merged even_odd=2"}) {
    SCOPED_TRACE(plan);
    Problem problem(full_batches(GetParam(), false), 2, dim);
    Interpreted().expect_counted(problem.with("kappa", 0.7), elasticity_form(dim), plan);
  }
}

TEST_P(LocalTraffic, OfConstantCoefficientsIsThatOfTheInterpretedProgram) {
  for (const bool is_sheared : {false, true}) // boxes and parallelepipeds
    for (const std::string plan :
         {"contraction=separable factors=store", "contraction=separable vector_width=4 even_odd=2"}) {
      SCOPED_TRACE(plan + (is_sheared ? " sheared" : ""));
      const auto mesh = full_batches(GetParam(), false);
      Problem problem(is_sheared ? sheared(mesh) : mesh, 2);
      Interpreted().expect_counted(problem.with("kappa", 0.7), helmholtz_form(), plan);
    }
}

INSTANTIATE_TEST_SUITE_P(every_shape, LocalTraffic,
                         ::testing::Values("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron",
                                           "prism", "pyramid"),
                         [](const auto& shape) { return shape.param; });

class LocalTrafficOfLanes : public ::testing::TestWithParam<std::string> {};

/// Kernels of facets and of integrals have no separate code for batches that are not full: their lanes without a cell
/// compute but write nothing.
TEST_P(LocalTrafficOfLanes, WithoutACellIsWhatTheyExecute) {
  Problem problem(box(GetParam(), 3), 2);
  problem.with("kappa", 0.7);
  const auto& blocks = problem.system().batches->blocks;
  EXPECT_TRUE(std::ranges::any_of(blocks, [](const auto& block) { return block.num_cells % 8 != 0; }));
  for (const char* plan : {"", "vector_width=4"}) {
    SCOPED_TRACE(plan);
    Interpreted().expect_counted(problem, "kappa*u*v*ds", plan);
    const Interpreted of_integral;
    const auto built = op::build(problem.functional("(1 + x[0])*dx"), 0, problem.system(),
                                 planned({.shared_device = of_integral.device(), .plan = plan}));
    op::compile({&built, 1});
    const op::FormKernels volume(built);
    of_integral.expect_counted(volume.counts(), [&] { (void)volume.integrals(); });
  }
}
INSTANTIATE_TEST_SUITE_P(every_shape, LocalTrafficOfLanes, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(LocalTraffic, OfCellVectorsThatAreStreamedDoesNotHoldTheStreams) {
  const Problem problem(box("hexahedron", 2), {{.degree = 2, .is_broken = true}});
  const auto cached = Interpreted().expect_counted(problem, "u*v*dx", "stores=cached"),
             streamed = Interpreted().expect_counted(problem, "u*v*dx", "stores=streaming");
  EXPECT_EQ(cached.local_bytes_written - streamed.local_bytes_written, 8 * 8 * 27);
  EXPECT_EQ(cached.local_bytes_read, streamed.local_bytes_read);
}

TEST(LocalTraffic, OfPatchesIsThatOfTheInterpretedProgram) {
  for (const std::string shape : {"quadrilateral", "hexahedron"})
    for (const int degree : {1, 2})
      for (const int components : {0, 3}) {
        SCOPED_TRACE(shape + " degree " + std::to_string(degree) + " components " + std::to_string(components));
        const Problem problem(box(shape, 8), degree, components,
                              {.cells_per_batch = 4 << box_dimension(shape), .patch_width = 2});
        Interpreted().expect_counted(problem, "inner(grad(u), grad(v))*dx", "vector_width=4");
      }
}

TEST(LocalTraffic, BoundsWhereNothingElseDoes) {
  const Problem problem(box("hexahedron", 2), 3);
  const op::Operator A(problem.form("u*v*dx"), interpreted());
  auto machine = machine::typical_machine(512);
  for (auto* rate :
       {&machine.levels[0].read, &machine.levels[0].triad, &machine.levels[0].copy, &machine.levels[0].streaming_copy})
    rate->one_core = rate->all_cores = 1e9;
  const auto bound = machine::bound(A.counts(), machine, 1);
  EXPECT_EQ(bound.limited_by, "local memory");
  EXPECT_DOUBLE_EQ(bound.seconds,
                   1e-9 * std::max(A.counts().least_local_bytes_read, 2 * A.counts().least_local_bytes_written));
}

} // namespace
} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
// Plans are lowered without an operator and without a mesh.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/space/layout.hpp>
#include <rafter/tune/kernel_lowering.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::tune {
namespace {

/// The kernel is the action of a form on hexahedra, from cell vector to cell vector.
struct Action {
  explicit Action(const std::string& text, int points = 4, int components = 1) {
    const auto shape = element::Shape::hexahedron;
    const auto element = element::make_element(element::Family::lagrange, shape, 3);
    layout = space::make_broken_layout(element);
    kernel.cell.fields.quadrature = element::make_quadrature_with_points(shape, points, element::QuadratureKind::gauss);
    kernel.cell.fields.inputs = {{kernel::AtomKind::reference_trial, 0, components, element}};
    kernel.cell.fields.outputs = {{kernel::AtomKind::reference_test, 0, components, element}};
    kernel.cell.fields.geometry = element::make_element(element::Family::lagrange, shape, 1);
    kernel.cell.map = mesh::MapKind::multilinear;
    const auto function = test::qfunction(text, shape, kernel.cell.map, components > 1 ? components : 0);
    kernel.choices =
        kernel::factor_storages(function, kernel::point_loops(function, kernel.cell.fields.quadrature), {});
    kernel.cell.fields.batches.patterns = {&layout};
    kernel.cell.num_trials = 1;
  }
  space::ElementLayout layout;
  CellKernel kernel;
};

schedule::Plan plan_of(const std::string& text) { return schedule::parse_plan(text); }

TEST(KernelLowering, GivesTheProgramsOfPlansAndWhatTheyRead) {
  const Action action(test::laplace());
  KernelLowering lowering(action.kernel);
  const auto stored = lowering.lower(plan_of("factors=store-merged")),
             recomputed = lowering.lower(plan_of("factors=recompute"));
  EXPECT_GT(schedule::count(recomputed.loops).flops, schedule::count(stored.loops).flops);
  // The symmetric matrix has 6 numbers per point, the map has 8 corners.
  EXPECT_EQ(stored.data_bytes, 8.0 * 8 * 6 * 64);
  EXPECT_EQ(recomputed.data_bytes, 8.0 * 8 * 3 * 8);
  EXPECT_GT(lowering.estimate(plan_of("factors=recompute")).flops,
            lowering.estimate(plan_of("factors=store-merged")).flops);
}

/// A target whose groups have items, 32 of which run in step.
schedule::Target graphics() {
  return {.language = "opencl",
          .has_lanes = false,
          .has_groups = true,
          .is_processor = false,
          .most_group_work_bytes = 0,
          .matrix_shapes = {}};
}

/// Groups of graphics processors have 128 items, or as many as are accepted; those of processors what runs in step.
TEST(KernelLowering, GroupsAreAsLargeAsDevicesWantUnlessAStackHoldsTheirWorkArrays) {
  const auto plan = plan_of("mapping=cell_per_item vector_width=1 contraction=collocated");
  Action action(test::laplace());
  action.kernel.target = graphics();
  EXPECT_EQ(KernelLowering(action.kernel).lower(plan).loops.launch.batches, 128 / 8);
  action.kernel.target.most_items = 64;
  EXPECT_EQ(KernelLowering(action.kernel).lower(plan).loops.launch.batches, 64 / 8);
  action.kernel.target.is_processor = true;
  EXPECT_EQ(KernelLowering(action.kernel).lower(plan).loops.launch.batches, 32 / 8);
  const double item_bytes = schedule::work_bytes(KernelLowering(action.kernel).lower(plan).loops);
  action.kernel.target.most_group_work_bytes = static_cast<std::int64_t>(2.5 * 8 * item_bytes);
  EXPECT_EQ(KernelLowering(action.kernel).lower(plan).loops.launch.batches, 2);
  action.kernel.target.most_group_work_bytes = 1;
  EXPECT_EQ(KernelLowering(action.kernel).lower(plan).loops.launch.batches, 1);
}

TEST(KernelLowering, WorkArraysBeyondTheLimitOfTheTargetAreRefused) {
  const auto plan = plan_of("mapping=cell_per_item vector_width=1 contraction=collocated");
  Action action(test::laplace());
  action.kernel.target = graphics();
  action.kernel.target.most_work_bytes = 100;
  try {
    KernelLowering(action.kernel).lower(plan);
    ADD_FAILURE() << "accepted";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("working memory per item"), std::string::npos) << error.what();
  }
}

TEST(KernelLowering, RowsThatBatchesShareCountOnce) {
  Action action(test::laplace());
  const auto alone = KernelLowering(action.kernel).lower(plan_of("factors=store"));
  action.kernel.data_rows_per_batch = 0.25;
  KernelLowering lowering(action.kernel);
  EXPECT_EQ(lowering.lower(plan_of("factors=store")).data_bytes, alone.data_bytes / 4);
}

TEST(KernelLowering, BatchesWithoutAPatternReadListsOfTheirDofs) {
  const auto shape = element::Shape::tetrahedron;
  const auto element = element::make_element(element::Family::lagrange, shape, 3);
  const auto layout = space::make_layout(element);
  CellKernel kernel;
  kernel.cell.fields.quadrature = element::make_quadrature(shape, 4);
  kernel.cell.fields.inputs = {{kernel::AtomKind::reference_trial, 0, 1, element}};
  kernel.cell.fields.outputs = {{kernel::AtomKind::reference_test, 0, 1, element}};
  kernel.cell.fields.geometry = element::make_element(element::Family::lagrange, shape, 1);
  kernel.cell.map = mesh::MapKind::affine;
  const auto function = test::qfunction(test::laplace(), shape, kernel.cell.map, 0);
  kernel.choices = kernel::factor_storages(function, kernel::point_loops(function, kernel.cell.fields.quadrature), {});
  kernel.cell.fields.batches.patterns = {&layout};
  kernel.cell.num_trials = 1;
  const auto index_bytes = [&](const std::string& indices, double whole_runs_share) {
    kernel.cell.whole_runs_share = whole_runs_share;
    const auto plan = plan_of("contraction=dense factors=recompute indices=" + indices);
    return KernelLowering(kernel).lower(plan).data_bytes - 8.0 * 8 * 4 * 3; // less what the maps of 8 cells take
  };
  // 4 vertices, 6 edges with 2 dofs and 4 faces with 1: 14 runs of 20 dofs; a batch also finds its number in the list.
  EXPECT_EQ(index_bytes("runs", 1), 4.0 * 8 * 14);
  EXPECT_EQ(index_bytes("runs", 0), 4.0 * (8 * 20 + 1));
  EXPECT_EQ(index_bytes("runs", 0.75), 4.0 * (0.75 * 8 * 14 + 0.25 * (8 * 20 + 1)));
  EXPECT_EQ(index_bytes("dofs", 0.75), 4.0 * 8 * 20);
}

TEST(KernelLowering, EqualValuesGiveEqualPrograms) {
  const Action action(test::variable_helmholtz()), again(test::variable_helmholtz());
  for (const auto* text :
       {"factors=store", "contraction=dense factors=recompute", "mapping=plain", "compute=float vector_width=8"}) {
    KernelLowering first(action.kernel), second(again.kernel);
    (void)second.lower(plan_of("contraction=per-derivative")); // plans that were lowered before must not matter
    EXPECT_EQ(schedule::print(first.lower(plan_of(text)).loops), schedule::print(second.lower(plan_of(text)).loops))
        << text;
  }
}

TEST(KernelLowering, WhatIsTakenIsWhatWasWeighed) {
  const Action action(test::laplace());
  KernelLowering lowering(action.kernel);
  const auto plan = plan_of("factors=store");
  const auto weighed = schedule::print(lowering.lower(plan).loops);
  const auto main = lowering.take(plan);
  EXPECT_EQ(schedule::print(main.loops), weighed);
  EXPECT_EQ(main.mapping, "simd_cells");
  const auto setup = lowering.setup(plan, plan, main);
  EXPECT_EQ(setup.stored, main.stored);
  EXPECT_EQ(main.stored.cells, plan[schedule::key::vector_width]);
  EXPECT_TRUE(setup.program.outputs.empty());
}

TEST(KernelLowering, PlansThatTheKernelDoesNotOfferAreItsUsualChoice) {
  const Action action(test::mass());
  const auto& usual = action.kernel.choices.front();
  EXPECT_EQ(action.kernel.choice_of(plan_of("factors=partial-99")).factors, usual.factors);
}

TEST(KernelLowering, RefusesWorkArraysBeyondUse) {
  Action action(test::elasticity(3), 31, 3);
  action.kernel.cell.fields.batches.cells_per_batch = 16;
  KernelLowering lowering(action.kernel);
  EXPECT_THROW((void)lowering.lower(plan_of("contraction=per-derivative factors=recompute vector_width=16")),
               base::InputError);
}

} // namespace
} // namespace rafter::tune

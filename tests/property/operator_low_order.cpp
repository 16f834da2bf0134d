// SPDX-License-Identifier: BSD-3-Clause
// Laws of low-order-refined levels on every shape that has them: the mesh between the nodes of a space has the same
// unknowns, tags, volume and boundary, its form the same energy of linear functions, and data have their values there.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include <rafter/operator/levels/injection.hpp>
#include <rafter/operator/levels/node_transfer.hpp>
#include <rafter/operator/linear_form.hpp>
#include <tests/support/multigrid_problems.hpp>
#include <tests/support/operator_laws.hpp>
#include <tests/support/periodic_meshes.hpp>
#include <tests/support/solve_matrices.hpp>
#include <tests/support/transfer_problems.hpp>

namespace rafter::test {
namespace {

op::Coarsening low_order() { return {.steps = op::parse_coarsening_steps("lor"), .enough_unknowns = 1}; }

LevelledOptions free_problem(int degree, int components = 0) {
  return {.degree = degree, .components = components, .has_dirichlet = false, .coarsening = low_order()};
}

/// A function that no low degree has.
double wave(std::span<const double> x, std::size_t component) {
  double phase = 1 + static_cast<double>(component);
  for (std::size_t d = 0; d < x.size(); ++d) phase += (2 + static_cast<double>(d)) * x[d];
  return std::sin(phase);
}

double linear(std::span<const double> x, std::size_t component) {
  double value = 0.5;
  for (std::size_t d = 0; d < x.size(); ++d) value += (1 + static_cast<double>((d + component) % 3)) * x[d];
  return value;
}

std::vector<double> coarse_values(const op::Level& level, const Vector& fine) {
  Vector coarse = level.A->make_vector();
  level.to_finer->restrict_to(fine, coarse);
  return values_of(coarse);
}

std::vector<double> fine_values(const op::Level& level, const op::Operator& A, const Vector& coarse) {
  Vector fine = A.make_vector();
  fill_random(fine, 9);
  level.to_finer->prolongate(coarse, fine);
  return values_of(fine);
}

double energy(const op::Operator& A, const Vector& x) { return dot(x, applied(A, x)); }

class LowOrder : public ::testing::TestWithParam<std::string> {
protected:
  std::string shape() const { return GetParam(); }
  int dim() const { return box_dimension(shape()); }
};

TEST_P(LowOrder, LevelsHaveTheSameUnknowns) {
  for (const int degree : {2, 5}) {
    const LevelledProblem problem(refined(scrambled(curved_box(shape(), 2), 3), 0), free_problem(degree, 2));
    const auto& level = problem.levels().front();
    EXPECT_EQ(level.A->num_unknowns(), problem.A().num_unknowns());
    const auto fine = interpolated_on(problem.system(), problem.A().device(), wave);
    const auto coarse = interpolated_on(level.system, problem.A().device(), wave);
    EXPECT_EQ(coarse_values(level, fine), values_of(coarse)) << "degree " << degree;
    EXPECT_EQ(fine_values(level, problem.A(), coarse), values_of(fine)) << "degree " << degree;
  }
}

TEST_P(LowOrder, TransfersMoveFloatsAsTheyAre) {
  const LevelledProblem problem(refined(box(shape()), 0), free_problem(3, 2));
  const auto& system = problem.system();
  const auto nodes = space::low_order_refinement(*system.spaces.front());
  const auto coarse = op::make_system({space::FunctionSpace::make(
      std::make_shared<const space::Discretisation>(nodes->mesh), {.degree = 1, .components = 2})});
  const op::TransferSpecification of{.coarse = coarse, .fine = system};
  const auto device = device::make_device("checked", 2);
  const op::NodeTransfer transfer(of, *nodes, device, schedule::Precision::single_precision),
      in_double(of, *nodes, device);
  const auto floats = [&](std::int64_t size, unsigned seed) {
    const auto values = random_values(static_cast<std::size_t>(size), seed);
    return device::SingleVector(device, base::AlignedVector<float>(values.begin(), values.end()));
  };
  const auto x = floats(of.coarse.size(), 1);
  auto fine = floats(of.fine.size(), 2), back = floats(of.coarse.size(), 3);
  const auto before = fine.host_read();
  const std::vector<float> start(before.begin(), before.end());
  transfer.prolongate_and_add(x, fine);
  auto prolongated = floats(of.fine.size(), 4);
  transfer.prolongate(x, prolongated);
  for (std::size_t i = 0; i < start.size(); ++i)
    ASSERT_EQ(fine.host_read()[i], static_cast<float>(double{start[i]} + double{prolongated.host_read()[i]}));
  transfer.restrict_to(prolongated, back);
  EXPECT_TRUE(std::ranges::equal(back.host_read(), x.host_read()));
  Vector wide(device, x.size()), wide_fine(device, fine.size());
  EXPECT_THROW(transfer.prolongate(wide, wide_fine), base::InternalError);
  EXPECT_THROW(in_double.restrict_to(fine, back), base::InternalError);
}

TEST_P(LowOrder, UnknownsStayOneWherePeriodicFacetsIdentifyThem) {
  const LevelledProblem problem(refined(periodic_box(shape(), 2, periodic_axes(shape()), 1, 5), 0), free_problem(3));
  const auto& level = problem.levels().front();
  EXPECT_EQ(level.A->num_unknowns(), problem.A().num_unknowns());
  const Vector r = random_residual(problem.A(), 1);
  Vector coarse = level.A->make_vector();
  level.to_finer->restrict_to(r, coarse);
  EXPECT_EQ(fine_values(level, problem.A(), coarse), values_of(r));
}

TEST_P(LowOrder, LinearFunctionsHaveTheSameEnergy) {
  for (const int components : {0, dim()}) {
    auto options = free_problem(4, components);
    if (components > 0) options.form = "(inner(sym(grad(u)), sym(grad(v))) + 2*div(u)*div(v))*dx";
    if (components == 1) continue; // vectors of one component have no symmetric gradient
    const LevelledProblem problem(refined(sheared(box(shape())), 0), options);
    const auto& level = problem.levels().front();
    const double expected = energy(problem.A(), interpolated_on(problem.system(), problem.A().device(), linear));
    const double found = energy(*level.A, interpolated_on(level.system, problem.A().device(), linear));
    EXPECT_GT(expected, 0);
    EXPECT_NEAR(found, expected, rounding(4) * expected) << components << " components";
  }
}

TEST_P(LowOrder, ConstantsAreInTheKernelOnCurvedCells) {
  const LevelledProblem problem(refined(curved_box(shape(), 3), 0), free_problem(3));
  const auto& level = problem.levels().front();
  const auto one = interpolated_on(level.system, problem.A().device(), [](auto, std::size_t) { return 1.0; });
  expect_in_null_space(*level.A, one, rounding(3));
}

TEST_P(LowOrder, MatricesAreSpectrallyEquivalent) {
  // Random functions have their energy at the nodes, where both matrices are most different.
  for (const int degree : {2, 4}) {
    const LevelledProblem problem(refined(box(shape(), 2), 0), free_problem(degree));
    const auto& level = problem.levels().front();
    for (unsigned seed = 1; seed < 4; ++seed) {
      const Vector fine = random_residual(problem.A(), seed);
      Vector coarse = level.A->make_vector();
      level.to_finer->restrict_to(fine, coarse);
      const double ratio = energy(problem.A(), fine) / energy(*level.A, coarse);
      EXPECT_GT(ratio, 0.2) << degree;
      EXPECT_LT(ratio, 5) << degree;
    }
  }
}

TEST_P(LowOrder, ConditionsFixTheSameUnknowns) {
  auto options = free_problem(3, 2);
  options.has_dirichlet = true;
  options.dirichlet_tags = {1};
  const LevelledProblem problem(refined(box(shape()), 0), options);
  const auto& level = problem.levels().front();
  EXPECT_EQ(level.A->constraints().entries.size(), problem.A().constraints().entries.size());
  EXPECT_EQ(level.A->num_free(), problem.A().num_free());
  // P has zero columns and rows where a condition holds on either side, and nowhere else.
  Vector ones = problem.A().make_vector(), of_level = level.A->make_vector();
  std::ranges::fill(ones.host_overwrite(), 1.0);
  level.to_finer->restrict_to(ones, of_level);
  level.to_finer->prolongate(of_level, ones);
  const auto count = [](const Vector& x) { return std::ranges::count(x.host_read(), 1.0); };
  EXPECT_EQ(count(of_level), problem.A().num_free());
  EXPECT_EQ(count(ones), problem.A().num_free());
  for (const auto entry : problem.A().constraints().entries)
    EXPECT_EQ(ones.host_read()[static_cast<std::size_t>(entry)], 0);
  for (const auto entry : level.A->constraints().entries)
    EXPECT_EQ(of_level.host_read()[static_cast<std::size_t>(entry)], 0);
}

TEST_P(LowOrder, TagsCoverTheSameVolumeAndBoundary) {
  auto mesh = scrambled(two_material_box(shape()), 3);
  // Cells and facets with tag 2 are in a second group, too, 9 of cells and 8 of facets.
  for (auto& group : mesh.groups)
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell)
      if (group.tags[cell] == 2)
        group.tags.set(cell, mesh.physical_groups.tag_of(dim(), std::vector<std::int32_t>{2, 9}));
  for (auto& facet : mesh.tagged_facets)
    if (facet.tag == 2) facet.tag = mesh.physical_groups.tag_of(dim() - 1, std::vector<std::int32_t>{2, 8});
  const Problem fine(mesh, 3);
  const auto nodes = space::low_order_refinement(*fine.space());
  const Problem coarse(*nodes->mesh, 1);
  std::vector<std::string> texts{"1*dx(1)", "1*dx(2)", "1*dx(9)", "1*ds(8)"};
  for (int tag = 1; tag <= 2 * dim(); ++tag) texts.push_back(fmt::format("1*ds({})", tag));
  for (const auto& text : texts) {
    const auto value = [&](const Problem& of) {
      return op::Functional(of.functional(text), of.system(), planned({.threads = 1}))();
    };
    EXPECT_NEAR(value(coarse), value(fine), 1e-12) << text;
    EXPECT_GT(value(fine), 0) << text;
  }
}

TEST_P(LowOrder, DataHaveTheirValuesAtTheNodes) {
  // Data of a lower degree are interpolated, those of a broken space keep the values of each cell.
  const auto device = device::make_device("host", 2);
  const Problem fine(scrambled(box(shape()), 2), {{.degree = 4}, {.degree = 2}, {.degree = 1, .is_broken = true}});
  const auto nodes = space::low_order_refinement(*fine.space());
  const auto discretisation = std::make_shared<const space::Discretisation>(nodes->mesh);
  const std::array coarse{space::FunctionSpace::make(discretisation, {.degree = 1}),
                          space::FunctionSpace::make(discretisation, {.degree = 1, .is_broken = true})};
  for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{0, 0}, {1, 0}, {2, 1}}) {
    const auto field = [&](const space::FunctionSpace& space) {
      Vector result(device, static_cast<std::size_t>(space.num_local()));
      space::interpolate(
          space, [](std::span<const double> x, std::span<double> out) { out[0] = linear(x, 0); },
          result.host_overwrite());
      return result;
    };
    const auto expected = field(*coarse[to]);
    Vector found(device, expected.size());
    op::Injection({.fine = fine.space(from), .coarse = coarse[to], .nodes = nodes})
        .apply(field(*fine.space(from)), found);
    EXPECT_LE(distance(values_of(found), values_of(expected)), 1e-13) << from;
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, LowOrder,
                         ::testing::Values("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron",
                                           "prism"),
                         [](const auto& of) { return of.param; });

TEST(LowOrderRefinement, OfPyramidsAndBrokenSpacesIsRefused) {
  const Problem pyramids(box("pyramid"), 2), mixed(box("mixed"), 2),
      broken(box("triangle"), {{.degree = 2, .is_broken = true}});
  for (const auto* problem : {&pyramids, &mixed, &broken})
    EXPECT_THROW(space::low_order_refinement(*problem->space()), base::InputError);
}

TEST(NodeTransfer, OfSpacesWithOtherNodesIsRefused) {
  const Problem fine(box("quadrilateral"), 3), other(box("quadrilateral"), 2);
  const auto nodes = space::low_order_refinement(*fine.space());
  const auto coarse =
      op::make_system({space::FunctionSpace::make(std::make_shared<const space::Discretisation>(nodes->mesh), {})});
  const auto device = device::make_device("host", 1);
  EXPECT_NO_THROW(op::NodeTransfer({.coarse = coarse, .fine = fine.system()}, *nodes, device));
  EXPECT_THROW(op::NodeTransfer({.coarse = coarse, .fine = other.system()}, *nodes, device), base::InputError);
  EXPECT_THROW(op::NodeTransfer({.coarse = other.system(), .fine = fine.system()}, *nodes, device), base::InputError);
}

} // namespace
} // namespace rafter::test

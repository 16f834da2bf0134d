// SPDX-License-Identifier: BSD-3-Clause
// A cut decides what is stored and what is recomputed: it changes when values are computed, but never the values. What
// is stored agrees with published methods.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include <tests/support/kernel_forms.hpp>

namespace rafter::kernel {
namespace {

using element::Shape;
using mesh::MapKind;

/// The same atom has the same random value in every graph.
class AtomValues {
public:
  explicit AtomValues(unsigned seed) : random_(seed) {}
  double operator()(const Atom& atom) {
    const auto [entry, is_new] = values_.try_emplace(atom, 0.0);
    if (is_new) entry->second = std::uniform_real_distribution<double>(0.5, 1.5)(random_);
    return entry->second;
  }
  double& of(const Atom& atom) { return values_[atom]; }

private:
  std::mt19937 random_;
  std::map<Atom, double> values_;
};

std::vector<double> values(const QFunction& function, AtomValues& atoms) {
  return function.graph.evaluate(function.roots(), [&](const Atom& atom) { return atoms(atom); });
}

std::vector<double> values_after_setup(const CutFunction& functions, AtomValues& atoms) {
  const auto stored = values(functions.setup, atoms);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto& output = functions.setup.outputs[i];
    const auto kind = output.kind == OutputKind::stored_cell ? AtomKind::stored_cell : AtomKind::stored_point;
    atoms.of({kind, output.component, 0, 0}) = stored[i];
  }
  return values(functions.main, atoms);
}

std::set<AtomKind> atom_kinds(const QFunction& function) {
  std::set<AtomKind> kinds;
  for (const auto id : function.graph.reachable(function.roots()))
    if (function.graph[id].op == form::ScalarOp::atom) kinds.insert(function.graph[id].atom.kind);
  return kinds;
}

int count(const QFunction& setup, OutputKind kind) {
  return static_cast<int>(
      std::count_if(setup.outputs.begin(), setup.outputs.end(), [&](const Output& o) { return o.kind == kind; }));
}

std::vector<std::pair<std::string, int>> forms(int dim) { // pairs of text and components
  return {{test::mass(), 0},
          {test::laplace(), 0},
          {test::variable_helmholtz(), 0},
          {"(inner(grad(u), grad(v)) + (1 + x[0])*u.dx(0)*v)*dx", 0},
          {test::elasticity(dim), dim}};
}

class Cuts : public ::testing::TestWithParam<Shape> {};

std::vector<Choice> all_choices(const QFunction& function) {
  return factor_storages(function, test::loops_of(function, 3), {});
}

TEST_P(Cuts, MainAfterSetupEqualsTheUncutFunction) {
  const Shape shape = GetParam();
  const int dim = element::dimension(shape);
  for (const auto& [text, components] : forms(dim))
    for (const auto map : {MapKind::affine, MapKind::multilinear, MapKind::isoparametric}) {
      SCOPED_TRACE(text + " " + std::string(mesh::name(map)));
      const auto function = test::qfunction(text, shape, map, components);
      AtomValues atoms(1);
      // The same operations on the same numbers agree bit by bit.
      for (const double rate : {0.001, 1.0, 10.0, 100.0, std::numeric_limits<double>::infinity()}) {
        const auto cut = cheapest_cut(function, test::loops_of(function, 5), rate);
        EXPECT_EQ(values_after_setup(apply_cut(function, cut), atoms), values(function, atoms)) << rate;
      }
    }
}

TEST_P(Cuts, EveryRecipeHasTheSameValues) {
  const Shape shape = GetParam();
  const int dim = element::dimension(shape);
  for (const auto& [text, components] : forms(dim))
    for (const auto map : {MapKind::affine, MapKind::multilinear, MapKind::isoparametric}) {
      const auto function = test::qfunction(text, shape, map, components);
      AtomValues atoms(2);
      const auto expected = values(function, atoms);
      std::set<FactorStorage> seen;
      for (const auto& choice : all_choices(function)) {
        SCOPED_TRACE(text + " " + std::string(mesh::name(map)) + " " + name(choice.factors));
        EXPECT_TRUE(seen.insert(choice.factors).second) << "offered twice";
        const auto found = values_after_setup(choice.functions, atoms);
        ASSERT_EQ(found.size(), expected.size());
        // Merging reorders sums of products of a 3 x 3 inverse, which makes a few dozen rounding errors of terms near
        // 1, divided by the determinant.
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_NEAR(found[i], expected[i], 1e-11 * (1 + std::fabs(expected[i])));
      }
      EXPECT_GE(seen.size(), 3U);
    }
}

TEST_P(Cuts, StoredMainsHoldNothingThatASetupCouldHaveDone) {
  const Shape shape = GetParam();
  const int dim = element::dimension(shape);
  for (const auto& [text, components] : forms(dim))
    for (const auto map : {MapKind::affine, MapKind::multilinear, MapKind::isoparametric}) {
      const auto function = test::qfunction(text, shape, map, components);
      const auto kinds = atom_kinds(test::choice_of(function, FactorStorage::store_merged).functions.main);
      SCOPED_TRACE(text);
      for (const auto kind : kinds)
        EXPECT_TRUE(kind == AtomKind::reference_trial || kind == AtomKind::stored_point ||
                    kind == AtomKind::stored_cell || kind == AtomKind::parameter || kind == AtomKind::map_coefficient)
            << static_cast<int>(kind);
      const auto main = test::choice_of(function, FactorStorage::store_merged).functions.main;
      const auto deps = dependencies(main);
      for (const auto id : main.graph.reachable(main.roots())) // only work on fields is left to compute
        EXPECT_TRUE((deps[static_cast<std::size_t>(id)] & on_field) != 0 || form::info(main.graph[id].op).arity == 0 ||
                    (deps[static_cast<std::size_t>(id)] & ~static_cast<unsigned>(on_parameter)) == 0)
            << main.graph.to_string(id);
    }
}

TEST_P(Cuts, OnAffineCellsWithConstantCoefficientsOnlyFieldsVaryFromPointToPoint) {
  const Shape shape = GetParam();
  const int dim = element::dimension(shape);
  const std::vector<std::pair<std::string, int>> constant{
      {test::mass(), 0}, {test::laplace(), 0}, {test::helmholtz(), 0}, {test::elasticity(dim), dim}};
  for (const auto& [text, components] : constant)
    for (const auto& choice : all_choices(test::qfunction(text, shape, MapKind::affine, components))) {
      SCOPED_TRACE(text + " " + name(choice.factors));
      const auto& main = choice.functions.main;
      const auto kinds = atom_kinds(main);
      EXPECT_FALSE(kinds.contains(AtomKind::stored_point));
      EXPECT_FALSE(kinds.contains(AtomKind::reference_coordinate));
      EXPECT_EQ(count(choice.functions.setup, OutputKind::stored_point), 0);
      const auto deps = dependencies(main);
      for (const auto id : main.graph.reachable(main.roots())) {
        const unsigned set = deps[static_cast<std::size_t>(id)];
        EXPECT_TRUE((set & on_field) != 0 || is_per_cell(set)) << main.graph.to_string(id);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(every_shape, Cuts, ::testing::ValuesIn(element::all_cell_shapes),
                         [](const auto& shape) { return std::string(element::name(shape.param)); });

/// Returns the numbers of slots per cell and per point that the full cut of the merged function stores.
std::pair<int, int> slots(const std::string& text, Shape shape, MapKind map, int components = 0) {
  const auto choice = test::choice_of(test::qfunction(text, shape, map, components), FactorStorage::store_merged);
  const auto& setup = choice.functions.setup;
  return {count(setup, OutputKind::stored_cell), count(setup, OutputKind::stored_point)};
}

using Slots = std::pair<int, int>;

TEST(StoredSlots, LaplaceStoresTheSymmetricTensorOfItsFactors) {
  for (const Shape shape : {Shape::hexahedron, Shape::tetrahedron, Shape::prism, Shape::pyramid}) {
    EXPECT_EQ(slots(test::laplace(), shape, MapKind::affine), Slots(6, 0));
    EXPECT_EQ(slots(test::laplace(), shape, MapKind::isoparametric), Slots(0, 6));
  }
  for (const Shape shape : {Shape::quadrilateral, Shape::triangle}) {
    EXPECT_EQ(slots(test::laplace(), shape, MapKind::affine), Slots(3, 0));
    EXPECT_EQ(slots(test::laplace(), shape, MapKind::isoparametric), Slots(0, 3));
  }
  EXPECT_EQ(slots(test::laplace(), Shape::hexahedron, MapKind::multilinear), Slots(0, 6));
  EXPECT_EQ(slots(test::laplace(), Shape::interval, MapKind::affine), Slots(1, 0));
}

TEST(StoredSlots, HelmholtzStoresOneMore) {
  EXPECT_EQ(slots(test::helmholtz(), Shape::hexahedron, MapKind::affine), Slots(7, 0));
  EXPECT_EQ(slots(test::helmholtz(), Shape::hexahedron, MapKind::isoparametric), Slots(0, 7));
  EXPECT_EQ(slots(test::variable_helmholtz(), Shape::hexahedron, MapKind::isoparametric), Slots(0, 7));
  EXPECT_EQ(slots(test::variable_helmholtz(), Shape::hexahedron, MapKind::affine), Slots(0, 7));
  EXPECT_EQ(slots(test::helmholtz(), Shape::quadrilateral, MapKind::affine), Slots(4, 0));
}

TEST(StoredSlots, MassStoresOneNumber) {
  for (const Shape shape : element::all_cell_shapes) {
    // The length of an interval is a coefficient of its map, so that it need not be stored.
    EXPECT_EQ(slots(test::mass(), shape, MapKind::affine), Slots(shape == Shape::interval ? 0 : 1, 0));
    EXPECT_EQ(slots(test::mass(), shape, MapKind::isoparametric), Slots(0, 1));
  }
}

TEST(StoredSlots, ComponentsOfAVectorLaplaceShareTheirFactors) {
  EXPECT_EQ(slots(test::laplace(), Shape::hexahedron, MapKind::affine, 3), Slots(6, 0));
  EXPECT_EQ(slots(test::laplace(), Shape::hexahedron, MapKind::isoparametric, 3), Slots(0, 6));
}

TEST(StoredSlots, FunctionsWithoutFieldsAreRecomputed) {
  const auto function = test::qfunction("exp(x[0])*v*dx", Shape::hexahedron, MapKind::multilinear);
  const auto choices = all_choices(function);
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].factors, FactorStorage::recompute);
  EXPECT_TRUE(choices[0].functions.setup.outputs.empty());
}

TEST(Ranking, FollowsTheBalanceOfTheMachine) {
  const auto function = test::qfunction(test::laplace(), Shape::hexahedron, MapKind::multilinear);
  const auto best = [&](const Balance& balance) {
    return factor_storages(function, test::loops_of(function, 5), balance).front().factors;
  };
  const auto stores = [](FactorStorage factors) {
    return factors == FactorStorage::store || factors == FactorStorage::store_merged;
  };
  EXPECT_TRUE(stores(best({.flops_per_second = 1e9, .bytes_per_second = 1e12})));
  EXPECT_FALSE(stores(best({.flops_per_second = 1e13, .bytes_per_second = 1e9})));
}

TEST(Cost, CountsOfTheMergedLaplaceAreThoseOfThePaper) {
  const auto choice = test::choice_of(test::qfunction(test::laplace(), Shape::hexahedron, MapKind::isoparametric),
                                      FactorStorage::store_merged);
  EXPECT_EQ(choice.cost.point_flops, 15); // the product of a symmetric 3 x 3 matrix and a vector
  EXPECT_EQ(choice.cost.point_words, 6);
  EXPECT_EQ(choice.cost.cell_words, 0);
  const auto affine = test::choice_of(test::qfunction(test::laplace(), Shape::hexahedron, MapKind::affine),
                                      FactorStorage::store_merged);
  EXPECT_EQ(affine.cost.point_words, 0);
  EXPECT_EQ(affine.cost.cell_words, 6);
  const auto trilinear = test::choice_of(test::qfunction(test::laplace(), Shape::hexahedron, MapKind::multilinear),
                                         FactorStorage::recompute);
  // The constant modes are not needed, which leaves 21 of the 24 vertex coordinates.
  EXPECT_EQ(trilinear.cost.cell_words, 21);
}

/// Returns how a map of degree 2 is evaluated with `points` Gauss points per direction.
CurvedMap quadratic_map(Shape shape, int points) {
  CurvedMap map;
  map.input.fields.quadrature = element::is_tensor(shape) ? element::make_quadrature_with_points(shape, points)
                                                          : element::make_quadrature(shape, 2 * points - 1);
  map.input.fields.geometry = element::make_element(element::Family::lagrange, shape, 2);
  map.input.contraction = element::is_tensor(shape) ? Contraction::collocated : Contraction::dense;
  return map;
}

Choice choice_on(const CurvedMap& map, const QFunction& function, FactorStorage factors) {
  for (auto& choice : factor_storages(function, point_loops(function, map.input.fields.quadrature), {}, &map))
    if (choice.factors == factors) return choice;
  throw std::logic_error("the recipe is not among the choices");
}

TEST(Cost, CurvedMapsCostTheirContractionsWhereTheyAreRecomputed) {
  const auto laplace = test::qfunction(test::laplace(), Shape::hexahedron, MapKind::isoparametric);
  for (const int q : {3, 4, 6}) {
    const auto map = quadratic_map(Shape::hexahedron, q);
    const double n = 3, lines = n * n + n * q + q * q; // contractions along x, y, z for every component of x
    const double values = 3 * lines * q * (2 * n - 1);
    // There are collocated derivatives of three components along three axes.
    const double derivatives = 9 * q * q * q * (2 * q - 1);
    const auto recomputed = choice_on(map, laplace, FactorStorage::recompute);
    EXPECT_EQ(recomputed.cost.geometry_flops, values + derivatives) << q;
    EXPECT_EQ(recomputed.cost.cell_words, 27 * 3);
    EXPECT_EQ(choice_on(map, laplace, FactorStorage::store).cost.geometry_flops, 0);
    EXPECT_EQ(choice_on(map, laplace, FactorStorage::store).cost.cell_words, 0);
  }
}

TEST(Cost, CurvedMapsOfSimplicesAreDenseProducts) {
  const auto map = quadratic_map(Shape::tetrahedron, 3);
  const double points = map.input.fields.quadrature.num_points(), nodes = 10;
  const auto laplace = test::qfunction(test::laplace(), Shape::tetrahedron, MapKind::isoparametric);
  const auto recomputed = choice_on(map, laplace, FactorStorage::recompute);
  // One table has three derivatives; the reflections of the cell leave a quarter of its products at best.
  const auto expect_products = [&](double flops, double rows) {
    EXPECT_LE(flops, rows * points * (2 * nodes - 1));
    EXPECT_GE(flops, rows * points * (2 * nodes - 1) / 4);
  };
  expect_products(recomputed.cost.geometry_flops, 9);
  // The coordinates are evaluated, too, if the form reads them.
  const auto load = test::qfunction("x[0]*inner(grad(u), grad(v))*dx", Shape::tetrahedron, MapKind::isoparametric);
  expect_products(choice_on(map, load, FactorStorage::recompute).cost.geometry_flops, 12);
}

TEST(Ranking, CountsTheEvaluationOfCurvedMaps) {
  const auto map = quadratic_map(Shape::hexahedron, 4);
  const auto laplace = test::qfunction(test::laplace(), Shape::hexahedron, MapKind::isoparametric);
  const auto seconds = [&](const CurvedMap* curved) {
    for (const auto& choice : factor_storages(laplace, test::loops_of(laplace, 4),
                                              {.flops_per_second = 1e9, .bytes_per_second = 1e15}, curved))
      if (choice.factors == FactorStorage::recompute) return choice.seconds_per_cell;
    return 0.0;
  };
  const double flops = choice_on(map, laplace, FactorStorage::recompute).cost.geometry_flops;
  EXPECT_NEAR(seconds(&map) - seconds(nullptr), 1e-9 * flops / contraction_share, 1e-12 * flops);
  const auto best = [&](const Balance& balance) {
    return factor_storages(laplace, test::loops_of(laplace, 4), balance, &map).front().factors;
  };
  EXPECT_NE(best({.flops_per_second = 1e9, .bytes_per_second = 1e12}), FactorStorage::recompute);
  EXPECT_EQ(best({.flops_per_second = 1e13, .bytes_per_second = 1e9}), FactorStorage::recompute);
}

} // namespace
} // namespace rafter::kernel

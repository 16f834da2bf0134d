// SPDX-License-Identifier: BSD-3-Clause
// Cuts are found that need at most the operations and words of the methods by Cao, Sun, Zhang, Li ("Towards a higher
// roofline for matrix-vector multiplication in matrix-free HOSFEM", tables 2 and 3), which were derived by hand. There
// are N points per direction, which are Gauss-Lobatto points and nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include <bench/published_axlocal.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::kernel {
namespace {

using element::QuadratureKind;
using element::Shape;
using mesh::MapKind;

struct Equation {
  const char* name;
  const char* scalar;
  const char* vector;
  bench::PublishedEquation published;
};
const std::array equations{
    Equation{"Poisson", "inner(grad(u), grad(v))*dx", "inner(grad(u), grad(v))*dx", bench::published_poisson},
    Equation{"Helmholtz", "(kappa*inner(grad(u), grad(v)) + 0.3*u*v)*dx",
             "(kappa*inner(grad(u), grad(v)) + 0.3*inner(u, v))*dx", bench::published_helmholtz},
};

struct FactorsCase {
  Equation equation;
  int components, N;
  std::string name() const {
    return std::string(equation.name) + " with " + std::to_string(components) + " components, N = " + std::to_string(N);
  }
  double paper(bench::PublishedFactors (*factors)(const bench::PublishedEquation&)) const {
    return equation.published.algorithm_flops(components, N) + factors(equation.published).flops(N);
  }
};

std::vector<FactorsCase> cases() {
  std::vector<FactorsCase> result;
  for (const auto& equation : equations)
    for (const int components : {1, 3})
      for (const int degree : {3, 5, 7, 9}) result.push_back({equation, components, degree + 1});
  return result;
}

std::vector<Choice> storages(const QFunction& function, int points_per_axis) {
  return factor_storages(function, test::loops_of(function, points_per_axis), {});
}

std::vector<Choice> choices(const FactorsCase& c, MapKind map) {
  const auto function = test::qfunction(c.components == 1 ? c.equation.scalar : c.equation.vector, Shape::hexahedron,
                                        map, c.components == 1 ? 0 : c.components);
  return storages(function, c.N);
}
const Choice& find(const std::vector<Choice>& all, const FactorStorage& factors) {
  const auto found = std::ranges::find(all, factors, &Choice::factors);
  if (found == all.end()) throw std::logic_error(name(factors) + " is not among the choices");
  return *found;
}
double flops(const FactorsCase& c, const Choice& choice) {
  return count_flops(
      test::tensor_program(choice.on_grid, c.N - 1, c.N, Contraction::collocated, c.components, QuadratureKind::gll));
}

TEST(PublishedRecipes, FullAccess) {
  for (const auto& c : cases()) {
    const auto all = choices(c, MapKind::isoparametric);
    const auto& choice = find(all, FactorStorage::store_merged);
    EXPECT_LE(flops(c, choice), c.paper(bench::published_full_access)) << c.name();
    EXPECT_EQ(choice.cost.point_words, c.equation.published.factors) << c.name();
    EXPECT_EQ(choice.cost.cell_words, 0) << c.name();
  }
}

TEST(PublishedRecipes, Parallelepipeds) {
  for (const auto& c : cases()) {
    const auto all = choices(c, MapKind::affine);
    const auto& choice = find(all, FactorStorage::store_merged);
    EXPECT_LE(flops(c, choice), c.paper(bench::published_parallelepiped)) << c.name();
    EXPECT_EQ(choice.cost.point_words, 0) << c.name();
    EXPECT_EQ(choice.cost.cell_words, c.equation.published.factors) << c.name();
  }
}

TEST(PublishedRecipes, TrilinearRecomputation) {
  for (const auto& c : cases()) {
    const auto all = choices(c, MapKind::multilinear);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& factors : {FactorStorage::recompute, FactorStorage::recompute_merged}) {
      const auto& choice = find(all, factors);
      least = std::min(least, flops(c, choice));
      EXPECT_EQ(choice.cost.point_words, 0) << c.name();
      EXPECT_LE(choice.cost.cell_words, 24) << c.name();
    }
    EXPECT_LE(least, c.paper(bench::published_trilinear)) << c.name();
    EXPECT_LE(flops(c, find(all, FactorStorage::recompute_merged)), c.paper(bench::published_trilinear)) << c.name();
  }
}

TEST(PublishedRecipes, PartialRecomputationStoresTheFactorOfTheGeometry) {
  for (const auto& c : cases()) {
    if (c.equation.published.factors != 6) continue;
    const auto all = choices(c, MapKind::multilinear);
    const auto& choice = find(all, {FactorStorage::Kind::partial, true, 1});
    EXPECT_LE(flops(c, choice), c.paper(bench::published_partial)) << c.name();
    EXPECT_EQ(choice.cost.point_words, 1) << c.name();
    EXPECT_LE(choice.cost.cell_words, 24) << c.name();
    for (const auto id : choice.functions.main.graph.reachable(choice.functions.main.roots()))
      EXPECT_NE(choice.functions.main.graph[id].op, form::ScalarOp::div) << "no division is left";
  }
}

TEST(PublishedRecipes, MergedScalarFactors) {
  // Coefficients that vary from point to point need two numbers per point, as many as the coefficients themselves.
  const std::array texts{test::variable_helmholtz(),
                         std::string("((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[0])*kappa*inner(u, v))*dx")};
  for (FactorsCase c : cases()) {
    if (c.equation.published.factors != 7) continue;
    c.equation.scalar = texts[0].c_str();
    c.equation.vector = texts[1].c_str();
    const auto all = choices(c, MapKind::multilinear);
    const auto& choice = find(all, {FactorStorage::Kind::partial, true, 2});
    EXPECT_LE(flops(c, choice), c.paper(bench::published_partial)) << c.name();
    EXPECT_LE(choice.cost.cell_words, 24) << c.name();
    EXPECT_FALSE(choice.is_dominated) << c.name();
  }
}

TEST(OtherForms, KeepAFewCandidatesThatNoOtherOneBeats) {
  const std::array forms{
      std::pair{test::elasticity(3), 3}, std::pair{test::mass(), 0}, std::pair{test::variable_helmholtz(), 0},
      std::pair{std::string("(0.1*inner(grad(u), grad(v)) + (1 + x[0])*u.dx(0)*v + kappa*u*v)*dx"), 0}};
  for (const auto& [text, components] : forms)
    for (const auto map : {MapKind::affine, MapKind::multilinear, MapKind::isoparametric}) {
      const auto all = storages(test::qfunction(text, Shape::hexahedron, map, components), 6);
      const auto kept = std::ranges::count(all, false, &Choice::is_dominated);
      EXPECT_GE(kept, 1) << text;
      EXPECT_LE(kept, 6) << text;
      EXPECT_FALSE(all.front().is_dominated) << text;
      for (const auto& choice : all) EXPECT_EQ(parse_factor_storage(name(choice.factors)), choice.factors);
    }
}

TEST(OtherForms, MassOnTrilinearCellsIsAPolynomialPerPoint) {
  // The determinant det J has degree 2 along a line: two products, two sums, and the product with the field.
  for (const int q : {4, 6, 10}) {
    const auto all = storages(test::qfunction(test::mass(), Shape::hexahedron, MapKind::multilinear), q);
    const auto& choice = find(all, FactorStorage::recompute);
    const auto deps = dependencies(choice.on_grid);
    int inner = 0;
    for (const auto id : choice.on_grid.graph.reachable(choice.on_grid.roots()))
      if ((deps[static_cast<std::size_t>(id)] & (on_axis_0 | on_field)) != 0)
        inner += form::info(choice.on_grid.graph[id].op).flops;
    EXPECT_EQ(inner, 5) << q;
  }
}

TEST(OtherForms, PowersOfPowersStayProducts) {
  // The 16^8th power has 33 products; written out as a product of its factors it would have 4 10^9.
  std::string power = "(1 + x[0])";
  for (int i = 0; i < 8; ++i) power = "(" + power + ")**16";
  const auto function = test::qfunction(power + "*" + test::mass(), Shape::quadrilateral, MapKind::affine);
  for (const bool has_factors_outside : {false, true}) {
    const auto written = merged(function, has_factors_outside);
    EXPECT_LT(written.graph.reachable(written.roots()).size(), 100u);
  }
  for (const auto& choice : storages(function, 4)) EXPECT_LT(choice.cost.point_flops, 100) << name(choice.factors);
}

TEST(OtherForms, StressOfElasticityIsSixValues) {
  // Two 3 x 3 products have 45 operations each. Between them are 2 for the trace, 3 sums of shear, three products with
  // lambda tr, six with mu that symmetry shares, and three sums. Nine stresses would need six more.
  const std::string text = "inner(kappa*div(u)*Identity(3) + 2*kappa*sym(grad(u)), sym(grad(v)))*dx";
  const auto function = test::qfunction(text, Shape::hexahedron, MapKind::affine, 3);
  const auto all = storages(function, 6);
  EXPECT_LE(find(all, FactorStorage::recompute).cost.point_flops, 105);
  const auto general = test::qfunction("inner(grad(u), grad(v))*dx", Shape::hexahedron, MapKind::affine, 3);
  EXPECT_LT(find(all, FactorStorage::recompute).cost.point_flops,
            find(storages(general, 6), FactorStorage::recompute).cost.point_flops + 18);
}

} // namespace
} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
// Hoisting changes where and how values are computed, but never the values, and never takes more operations.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>

#include <rafter/kernel/coefficients.hpp>
#include <rafter/kernel/hoisting.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::kernel {
namespace {

using element::Shape;
using mesh::MapKind;

std::vector<double> values(const QFunction& function, unsigned seed) {
  std::mt19937 random(seed);
  std::map<Atom, double> known;
  // Atoms have the same values in whichever order they are read.
  for (int kind = 0; kind <= static_cast<int>(AtomKind::stored_cell); ++kind)
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 3; ++b)
        for (int c = -1; c < 3; ++c)
          known[{static_cast<AtomKind>(kind), a, b, c}] = std::uniform_real_distribution<double>(-1, 1)(random);
  return function.graph.evaluate(function.roots(), [&](const Atom& atom) { return known.at(atom); });
}

const std::array texts{test::mass(), test::laplace(), test::helmholtz(), test::variable_helmholtz(),
                       std::string("((1 + x[0]**4)*u.dx(0)*v.dx(0) + sin(x[0])*u*v)*dx")};

TEST(Hoisting, KeepsValuesAndSavesOperations) {
  for (const auto shape : {Shape::interval, Shape::quadrilateral, Shape::hexahedron})
    for (const auto map : {MapKind::affine, MapKind::multilinear, MapKind::isoparametric})
      for (const auto& text : texts)
        for (const bool is_merged : {false, true})
          for (const int q : {2, 5, 9}) {
            SCOPED_TRACE(text + " " + std::string(element::name(shape)) + " " + std::string(mesh::name(map)));
            auto function = test::qfunction(text, shape, map);
            if (is_merged) function = merged(function, true);
            const auto loops = test::loops_of(function, q);
            const auto result = hoisted(function, loops);
            EXPECT_LE(count_flops(result, loops), count_flops(function, loops));
            const auto expected = values(function, 7), found = values(result, 7);
            // Sums of some hundred terms near 1 are divided by a determinant.
            for (std::size_t i = 0; i < expected.size(); ++i)
              EXPECT_NEAR(found[i], expected[i], 1e-9 * (1 + std::fabs(expected[i])));
          }
}

TEST(Hoisting, LeavesFunctionsWithoutAGridAlone) {
  const auto function = test::qfunction(test::laplace(), Shape::hexahedron, MapKind::multilinear);
  EXPECT_EQ(to_string(hoisted(function, {27, {}})), to_string(function));
}

TEST(Gathering, CarriesFactorsWithoutFieldsToTheFront) {
  form::ScalarGraph graph;
  const auto d = graph.atom({AtomKind::cell_coefficient, 0, 0, 0}), c = graph.atom({AtomKind::parameter, 0, 0, 0});
  const auto f = graph.atom({AtomKind::reference_field, 0, 0, -1}),
             g = graph.atom({AtomKind::reference_trial, 0, 0, -1});
  const auto written = graph.mul(c, graph.add(graph.mul(d, f), graph.mul(d, g)));
  const auto product = graph.mul(graph.mul(d, f), g);
  EXPECT_EQ(CoefficientGatherer(graph, Gathering::linear)(written), graph.mul(graph.mul(d, c), graph.add(f, g)));
  EXPECT_EQ(CoefficientGatherer(graph, Gathering::none)(written), written);
  EXPECT_EQ(CoefficientGatherer(graph, Gathering::linear)(product), product);
  EXPECT_EQ(CoefficientGatherer(graph, Gathering::products)(product), graph.mul(d, graph.mul(f, g)));
}

} // namespace
} // namespace rafter::kernel

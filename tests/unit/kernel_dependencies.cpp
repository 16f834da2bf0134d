// SPDX-License-Identifier: BSD-3-Clause
// The dependencies of a QFunction's nodes decide in which loop they are computed.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include <tests/support/kernel_forms.hpp>

namespace rafter::kernel {
namespace {

using element::Shape;
using mesh::MapKind;

/// Map coefficients and the reference point are random.
class MapValues {
public:
  explicit MapValues(unsigned seed) : random_(seed) {}
  double operator()(const Atom& atom) {
    const auto [entry, is_new] = values_.try_emplace(atom, 0.0);
    if (is_new) entry->second = std::uniform_real_distribution<double>(0.5, 1.5)(random_);
    return entry->second;
  }
  /// Returns dx_a / dX_b of the multilinear map with these coefficients.
  double jacobian(int a, int b, int dim) {
    double sum = 0;
    for (int mask = 0; mask < 1 << dim; ++mask) {
      if ((mask >> b & 1) == 0) continue;
      double term = (*this)({AtomKind::map_coefficient, mask, a, 0});
      for (int axis = 0; axis < dim; ++axis)
        if (axis != b && (mask >> axis & 1) != 0) term *= (*this)({AtomKind::reference_coordinate, axis, 0, 0});
      sum += term;
    }
    return sum;
  }

private:
  std::mt19937 random_;
  std::map<Atom, double> values_;
};

void expect_columns_without_their_axis(Shape shape) {
  const auto function = test::qfunction(test::laplace(), shape, MapKind::multilinear);
  const int dim = element::dimension(shape);
  const auto& graph = function.graph;
  const auto deps = dependencies(function);
  const auto nodes = graph.reachable(function.roots());
  MapValues atoms(3);
  const auto found = graph.evaluate(nodes, [&](const Atom& atom) { return atoms(atom); });
  for (int a = 0; a < dim; ++a)
    for (int b = 0; b < dim; ++b) {
      const double expected = atoms.jacobian(a, b, dim);
      const auto at = std::find_if(found.begin(), found.end(), [&](double value) {
        return std::fabs(value - expected) < 1e-14 * std::fabs(expected);
      });
      ASSERT_NE(at, found.end()) << "J_" << a << b << " is not among the nodes";
      const unsigned all_axes = ((1U << dim) - 1) * on_axis_0;
      EXPECT_EQ(deps[static_cast<std::size_t>(nodes[static_cast<std::size_t>(at - found.begin())])],
                on_cell | (all_axes & ~(on_axis_0 << b)))
          << "J_" << a << b;
    }
}

TEST(Dependencies, JacobianColumnsOfMultilinearCellsDoNotDependOnTheirOwnAxis) {
  expect_columns_without_their_axis(Shape::quadrilateral);
  expect_columns_without_their_axis(Shape::hexahedron);
}

TEST(Dependencies, SlowAxesComeFirstSoThatPartsLeaveTheInnerLoops) {
  // The factor of X_0 in the last two columns is a node of its own that does not depend on axis 0.
  const auto function = test::qfunction(test::laplace(), Shape::hexahedron, MapKind::multilinear);
  const auto deps = dependencies(function);
  std::map<unsigned, int> flops;
  for (const auto id : function.graph.reachable(function.roots()))
    if ((deps[static_cast<std::size_t>(id)] & on_field) == 0)
      flops[deps[static_cast<std::size_t>(id)]] += form::info(function.graph[id].op).flops;
  const int slow = flops[on_cell | on_axis_0 << 1 | on_axis_0 << 2] + flops[on_cell | on_axis_0 << 2];
  EXPECT_GE(slow, 18); // all of column 0 (3 x (2 + 2 + 2)), and parts of the others
}

TEST(Dependencies, AffineMapsDependOnTheCellAlone) {
  for (const Shape shape : element::all_cell_shapes) {
    const auto function = test::qfunction(test::laplace(), shape, MapKind::affine);
    const auto deps = dependencies(function);
    for (const auto id : function.graph.reachable(function.roots()))
      EXPECT_TRUE(is_per_cell(deps[static_cast<std::size_t>(id)]) ||
                  (deps[static_cast<std::size_t>(id)] & on_field) != 0);
  }
}

TEST(Dependencies, ParametersDataFieldsAndTrialFunctionsAreClassesOfTheirOwn) {
  QFunction function;
  auto& graph = function.graph;
  const auto parameter = graph.atom({AtomKind::parameter, 0, 0, 0}), data = graph.atom({AtomKind::reference_field, 0}),
             trial = graph.atom({AtomKind::reference_trial, 0}), cell = graph.atom({AtomKind::cell_coefficient, 0});
  const auto load = graph.mul(parameter, cell), law = graph.mul(parameter, data), all = graph.mul(law, trial);
  const auto deps = dependencies(function);
  const auto of = [&](form::NodeId id) { return deps[static_cast<std::size_t>(id)]; };
  EXPECT_EQ(of(parameter), on_parameter);
  EXPECT_EQ(of(load), on_parameter | on_cell);
  EXPECT_EQ(of(law), on_parameter | on_cell | on_point | on_data);
  EXPECT_EQ(of(all), on_parameter | on_cell | on_point | on_field);
  EXPECT_TRUE(is_per_cell(of(load)) && !is_per_cell(of(law)));
}

TEST(Dependencies, CurvedMapsVaryPerPoint) {
  const auto function = test::qfunction(test::laplace(), Shape::prism, MapKind::isoparametric);
  const auto deps = dependencies(function);
  for (const auto id : function.graph.reachable(function.roots()))
    if (function.graph[id].op == form::ScalarOp::atom && function.graph[id].atom.kind == AtomKind::jacobian) {
      EXPECT_EQ(deps[static_cast<std::size_t>(id)], on_cell | on_point);
    }
}

TEST(Dependencies, NodesVaryWithWhatTheirOperandsVaryWith) {
  for (const auto map : {MapKind::affine, MapKind::multilinear, MapKind::isoparametric}) {
    const auto function = test::qfunction(test::variable_helmholtz(), Shape::hexahedron, map);
    const auto deps = dependencies(function);
    ASSERT_EQ(deps.size(), static_cast<std::size_t>(function.graph.size()));
    for (NodeId id = 0; id < function.graph.size(); ++id) {
      unsigned all = 0;
      for (const auto operand : function.graph[id].operands)
        if (operand >= 0) all |= deps[static_cast<std::size_t>(operand)];
      if (function.graph[id].op != form::ScalarOp::atom) {
        EXPECT_EQ(deps[static_cast<std::size_t>(id)], all);
      }
    }
  }
}

TEST(MapModes, AreTheMonomialsOfTheMap) {
  EXPECT_EQ(map_modes(MapKind::affine, 3), (std::vector<int>{0, 1, 2, 4}));
  EXPECT_EQ(map_modes(MapKind::multilinear, 2), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(map_modes(MapKind::multilinear, 3), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(map_modes(MapKind::isoparametric, 3).empty());
}

} // namespace
} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
// Tangents of hyperelastic materials that are found by differentiation cost as much as those whose factors are written
// by hand. Operations per point and divisions are counted before and after factors are rewritten.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/kernel/cut.hpp>
#include <tests/property/form_corpus.hpp>

namespace rafter::kernel {
namespace {

constexpr int num_points = 64;
const PointLoops loops{.num_points = num_points, .extents = {4, 4, 4}};

QFunction qfunction(const std::string& text, mesh::MapKind map) {
  const auto form = form::lower(form::parse_form(text, form::test::make_scope(3)));
  const IntegralPart part{&form.integrals[0], -1};
  return pull_back({&part, 1}, element::Shape::hexahedron, map, false);
}

/// Returns the operations per point of the form after its pull-back.
double flops(const QFunction& function) { return count_flops(function, loops) / num_points; }
/// Returns the fewest operations per point of a cut that stores nothing. Such cuts may merge the coefficients of the
/// trial function, if that pays.
double rewritten_flops(const QFunction& function) {
  double fewest = std::numeric_limits<double>::infinity();
  for (const auto& choice : factor_storages(function, loops, {}))
    if (choice.factors.kind == FactorStorage::Kind::recompute)
      fewest = std::min(fewest, choice.cost.flops / num_points);
  return fewest;
}
std::ptrdiff_t num_divisions(const QFunction& function) {
  const auto nodes = function.graph.reachable(function.roots());
  return std::ranges::count_if(nodes, [&](NodeId id) { return function.graph[id].op == form::ScalarOp::div; });
}

struct Tangent {
  const char *name, *derived, *by_hand;
  double most; ///< accepted number of operations, relative to that by hand
};
/// The tangent by hand is the derivative of the first Piola-Kirchhoff stress in direction dw, written with the inverse
/// of F. The energy is differentiated through the cofactors of F, which takes a few operations more in one place than
/// it saves in another.
constexpr Tangent tangents[] = {
    {"neo-hookean", "derivative(derivative(neo_hookean_energy, w, v), w, dw)",
     "inner(mu*grad(dw) + (mu - lmbda*ln(det(F)))*inv(F).T*grad(dw).T*inv(F).T + lmbda*tr(inv(F)*grad(dw))*inv(F).T, "
     "grad(v))*dx",
     1.03},
    {"st venant-kirchhoff", "derivative(svk, w, dw)",
     "inner(grad(dw)*S + F*(lmbda*tr(sym(F.T*grad(dw)))*Identity(3) + 2*mu*sym(F.T*grad(dw))), grad(v))*dx", 1},
    {"st venant-kirchhoff energy", "derivative(derivative(svk_energy, w, v), w, dw)",
     "inner(grad(dw)*S + F*(lmbda*tr(sym(F.T*grad(dw)))*Identity(3) + 2*mu*sym(F.T*grad(dw))), grad(v))*dx", 1}};

TEST(Tangents, CostWhatTheirFactorsCostByHand) {
  for (const auto& tangent : tangents)
    for (const auto map : {mesh::MapKind::affine, mesh::MapKind::multilinear}) {
      const std::string name = std::string(tangent.name) + "_" + std::string(mesh::name(map));
      SCOPED_TRACE(name);
      const auto derived = qfunction(tangent.derived, map), by_hand = qfunction(tangent.by_hand, map);
      EXPECT_LE(rewritten_flops(derived), flops(derived)) << "factors are rewritten where that pays alone";
      EXPECT_LE(rewritten_flops(derived), tangent.most * rewritten_flops(by_hand));
      EXPECT_LE(num_divisions(derived), num_divisions(by_hand));
      RecordProperty(name + "_flops", std::to_string(flops(derived)));
      RecordProperty(name + "_rewritten_flops", std::to_string(rewritten_flops(derived)));
      RecordProperty(name + "_by_hand_flops", std::to_string(rewritten_flops(by_hand)));
    }
}

TEST(Tangents, DivideOnceByEveryDivisor) {
  const auto function = qfunction("inner(u, v)/(1 + dot(w, w))*dx", mesh::MapKind::affine);
  EXPECT_EQ(num_divisions(function), 1);
  const auto two =
      qfunction("(u[0]*v[0]/(1 + r**2) + u[1]*v[1]/(1 + r**2) + u[2]*v[2]/(2 + r**2))*dx", mesh::MapKind::affine);
  EXPECT_EQ(num_divisions(two), 2);
}

} // namespace
} // namespace rafter::kernel

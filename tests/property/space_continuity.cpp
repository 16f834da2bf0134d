// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include <rafter/element/quadrature.hpp>
#include <rafter/space/evaluate.hpp>
#include <rafter/space/interpolate.hpp>

#include <tests/support/space_meshes.hpp>

/// Functions of the space are continuous across facets, and the space contains the polynomials of its degree.
namespace rafter {
namespace {

constexpr std::array degrees{1, 2, 3, 4, 5, 8};

/// The parameter is the shape of a box.
class Continuity : public testing::TestWithParam<std::string> {};

/// Returns the mesh numbers of the vertices of a facet.
std::vector<std::int32_t> facet_vertices(const mesh::Mesh& mesh, const mesh::FacetRef& facet) {
  const auto& group = mesh.groups[static_cast<std::size_t>(facet.group)];
  std::vector<std::int32_t> vertices;
  for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, facet.facet))
    vertices.push_back(group.vertices[static_cast<std::size_t>(facet.cell * element::num_vertices(group.shape) + v)]);
  return vertices;
}

/// Returns points in the reference coordinates of the facet's cell: sums over the facet's vertices (mesh numbers in the
/// order of `order`) with weights (point, vertex).
std::vector<double> points_on(const mesh::Mesh& mesh, const mesh::FacetRef& facet,
                              const std::vector<std::int32_t>& order, const element::Table& weights) {
  const auto shape = mesh.groups[static_cast<std::size_t>(facet.group)].shape;
  const auto own = facet_vertices(mesh, facet);
  const auto local = element::entity_vertices(shape, mesh.tdim - 1, facet.facet);
  const auto dim = static_cast<std::size_t>(mesh.tdim);
  std::vector<double> points(static_cast<std::size_t>(weights.num_points) * dim);
  for (int q = 0; q < weights.num_points; ++q)
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto at = static_cast<std::size_t>(std::ranges::find(own, order[k]) - own.begin());
      for (std::size_t d = 0; d < dim; ++d)
        points[static_cast<std::size_t>(q) * dim + d] +=
            weights(0, q, static_cast<int>(k)) *
            element::reference_vertices(shape)[static_cast<std::size_t>(local[at]) * dim + d];
    }
  return points;
}

element::Table facet_weights(element::Shape facet) {
  if (facet == element::Shape::point) return {.dim = 0, .num_points = 1, .num_dofs = 1, .values = {1.0}};
  return element::make_element(element::Family::lagrange, facet, 1)
      ->tabulate(element::make_quadrature_with_points(facet, 3).points);
}

void expect_continuous(const space::FunctionSpace& space) {
  const auto& mesh = space.mesh();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> vector(static_cast<std::size_t>(space.num_local()));
  for (double& x : vector) x = uniform(random);
  std::map<std::vector<std::int32_t>, mesh::FacetRef> seen;
  int num_interior = 0;
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(mesh.groups.size()); ++g) {
    const auto& group = mesh.groups[static_cast<std::size_t>(g)];
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell)
      for (int f = 0; f < element::num_facets(group.shape); ++f) {
        const mesh::FacetRef facet{g, cell, f};
        const auto order = facet_vertices(mesh, facet);
        auto key = order;
        std::ranges::sort(key);
        const auto [other, is_new] = seen.try_emplace(key, facet);
        if (is_new) continue;
        ++num_interior;
        const auto weights = facet_weights(element::facet_shape(group.shape, f));
        const auto here = space::tabulate_field(space, vector, g, cell, points_on(mesh, facet, order, weights));
        const auto there = space::tabulate_field(space, vector, other->second.group, other->second.cell,
                                                 points_on(mesh, other->second, order, weights));
        ASSERT_EQ(here.size(), there.size());
        for (std::size_t i = 0; i < here.size(); ++i) ASSERT_NEAR(here[i], there[i], 1e-11);
      }
  }
  EXPECT_GT(num_interior, 0);
}

TEST_P(Continuity, ArbitraryVectorsAreContinuousAcrossFacets) {
  for (const int degree : degrees) {
    SCOPED_TRACE(degree);
    expect_continuous(*test::make_space(test::scrambled(test::box(GetParam()), 11), degree, 2));
    expect_continuous(*test::make_space(test::scrambled(test::curved_box(GetParam(), 2), 12), degree, 2));
  }
}

void expect_reproduces_polynomials(const space::FunctionSpace& space) {
  const int degree = space.degree;
  std::vector<double> vector(static_cast<std::size_t>(space.num_local()));
  space::interpolate(
      space,
      [&](std::span<const double> x, std::span<double> values) {
        for (std::size_t c = 0; c < values.size(); ++c) values[c] = test::polynomial(x, degree, c);
      },
      vector);
  const auto& groups = space.mesh().groups;
  const auto dim = static_cast<std::size_t>(space.gdim);
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(groups.size()); ++g) {
    const auto rule = element::make_quadrature_with_points(groups[static_cast<std::size_t>(g)].shape, 3);
    const space::FieldEvaluator evaluator(space.shared_from_this(), g, rule.points);
    for (std::int32_t cell = 0; cell < groups[static_cast<std::size_t>(g)].num_cells(); ++cell) {
      const auto points = evaluator.points(cell);
      const auto values = evaluator.values(vector, cell);
      const auto gradients = evaluator.gradients(vector, cell);
      for (std::size_t q = 0; q * dim < points.size(); ++q)
        for (std::size_t c = 0; c < 2; ++c) {
          const auto x = std::span(points).subspan(q * dim, dim);
          ASSERT_NEAR(values[q * 2 + c], test::polynomial(x, degree, c), 1e-11);
          for (std::size_t d = 0; d < dim; ++d) {
            const double slope = 0.5 - 0.3 * static_cast<double>(d + c);
            ASSERT_NEAR(gradients[(q * 2 + c) * dim + d], degree * slope * test::polynomial(x, degree - 1, c), 1e-9);
          }
        }
    }
  }
}

TEST_P(Continuity, PolynomialsOfTheDegreeAreReproduced) {
  for (const int degree : degrees) {
    SCOPED_TRACE(degree);
    expect_reproduces_polynomials(*test::make_space(test::scrambled(test::box(GetParam()), 11), degree, 2));
  }
}

INSTANTIATE_TEST_SUITE_P(AllShapes, Continuity, testing::ValuesIn(test::box_shapes()),
                         [](const auto& tested) { return tested.param; });

} // namespace
} // namespace rafter

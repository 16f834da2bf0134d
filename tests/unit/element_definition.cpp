// SPDX-License-Identifier: BSD-3-Clause
// What elements promise to those who use them: Lagrange elements of the registry, and elements of other families that
// are made from a definition.
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>

#include <tests/support/custom_elements.hpp>
#include <tests/support/shape_names.hpp>

namespace {

using namespace rafter;
using namespace rafter::element;

constexpr double unit_roundoff = std::numeric_limits<double>::epsilon();
constexpr std::array entity_shapes{Shape::point, Shape::interval, Shape::triangle, Shape::quadrilateral};

/// Returns functional i of basis function j, shape (functional, function).
std::vector<double> functionals_of_basis(const Element& element) {
  const auto& functionals = element.functionals();
  const auto table = element.tabulate(functionals.points);
  std::vector<double> values;
  for (int c = 0; c < table.num_components; ++c)
    for (int q = 0; q < table.num_points; ++q)
      for (int dof = 0; dof < table.num_dofs; ++dof) values.push_back(table(0, q, dof, c));
  return functionals.applied(values, element.num_dofs());
}

void expect_dual(const Element& element) {
  const int n = element.num_dofs();
  const auto dual = functionals_of_basis(element);
  const double bound = 8 * unit_roundoff * element.condition_number() * n;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      ASSERT_NEAR(dual[static_cast<std::size_t>(i * n + j)], i == j ? 1 : 0, bound) << i << " " << j;
}

class LagrangeContract : public testing::TestWithParam<Shape> {};

TEST_P(LagrangeContract, FunctionalsAreDualToTheBasis) {
  for (int degree = 1; degree <= 4; ++degree) {
    SCOPED_TRACE(degree);
    expect_dual(*make_element(Family::lagrange, GetParam(), degree));
  }
}

TEST_P(LagrangeContract, DofsAreValuesOfScalarsAtNodes) {
  const auto element = make_element(Family::lagrange, GetParam(), 3);
  EXPECT_TRUE(element->value_shape().empty());
  EXPECT_EQ(element->value_size(), 1);
  EXPECT_EQ(element->map(), Map::identity);
  EXPECT_TRUE(element->is_nodal());
  EXPECT_EQ(element->nodes().data(), element->functionals().points.data());
  EXPECT_EQ(element->has_tensor_factors(), is_tensor(GetParam()));
  std::vector<double> values(static_cast<std::size_t>(element->num_dofs()), -0.0);
  values.front() = 0.1;
  const auto dofs = element->functionals().applied(values);
  for (std::size_t i = 0; i < dofs.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(dofs[i]), std::bit_cast<std::uint64_t>(values[i])) << i;
}

TEST_P(LagrangeContract, TransformsArePermutations) {
  const auto element = make_element(Family::lagrange, GetParam(), 4);
  for (const auto entity : entity_shapes)
    for (int code = 0; code < num_orientations(entity); ++code) {
      const auto& transform = element->entity_transform(entity, code);
      ASSERT_EQ(transform.kind(), EntityTransform::Kind::permutation);
      EXPECT_EQ(&transform.permutation, &element->entity_permutation(entity, code));
      EXPECT_EQ(transform.is_identity(), std::ranges::is_sorted(transform.permutation));
      EXPECT_TRUE(code > 0 || transform.is_identity());
      for (int i = 0; i < transform.size; ++i)
        for (int k = 0; k < transform.size; ++k)
          EXPECT_EQ(transform(i, k), transform.permutation[static_cast<std::size_t>(i)] == k ? 1 : 0);
    }
}

/// A definition alone makes the functions that the registry makes from factors, but does not know of these.
TEST_P(LagrangeContract, DefinitionMakesTheSameFunctionsWithoutFactors) {
  const auto lagrange = make_element(Family::lagrange, GetParam(), 2);
  const auto element = make_element(test::without_factors(*lagrange));
  EXPECT_EQ(element->has_tensor_factors(), GetParam() == Shape::interval);
  if (!element->has_tensor_factors()) {
    EXPECT_THROW(element->tabulate_1d(0, {}), base::InternalError);
    EXPECT_EQ(element->extents(), std::vector{element->num_dofs()});
  }
  const auto points = make_quadrature_with_points(GetParam(), 3).points;
  const auto table = element->tabulate(points), expected = lagrange->tabulate(points);
  ASSERT_EQ(table.values.size(), expected.values.size());
  for (std::size_t i = 0; i < table.values.size(); ++i) EXPECT_NEAR(table.values[i], expected.values[i], 1e-13);
}

INSTANTIATE_TEST_SUITE_P(All, LagrangeContract, testing::ValuesIn(all_cell_shapes), test::shape_name);

TEST(TensorElement, HasNoTransforms) {
  const auto element = make_tensor_element(Shape::quadrilateral, std::vector{1, 3});
  EXPECT_TRUE(element->has_tensor_factors());
  EXPECT_TRUE(element->is_nodal());
  EXPECT_THROW(element->entity_permutation(Shape::interval, 0), base::InternalError);
}

class RaviartThomas : public testing::TestWithParam<Shape> {
protected:
  int dim_ = dimension(GetParam());
  std::shared_ptr<const Element> element_ = make_element(test::raviart_thomas(GetParam()));
};

TEST_P(RaviartThomas, FluxesAreDualToTheBasis) {
  EXPECT_EQ(element_->num_dofs(), dim_ + 1);
  expect_dual(*element_);
}

TEST_P(RaviartThomas, ValuesAreVectorsThatKeepFluxes) {
  EXPECT_TRUE(std::ranges::equal(element_->value_shape(), std::vector{dim_}));
  EXPECT_EQ(element_->value_size(), dim_);
  EXPECT_EQ(element_->map(), Map::contravariant_piola);
  EXPECT_FALSE(element_->is_nodal());
  EXPECT_THROW(element_->nodes(), base::InternalError);
  EXPECT_FALSE(element_->has_tensor_factors());
}

/// The divergence of a function is constant, and its integral is the flux out of the cell, which is 1 or -1.
TEST_P(RaviartThomas, DivergenceIsTheFluxThroughTheBoundary) {
  const auto table = element_->tabulate(make_quadrature(GetParam(), 2).points);
  for (int q = 0; q < table.num_points; ++q)
    for (int facet = 0; facet < table.num_dofs; ++facet) {
      double divergence = 0, outwards = 0;
      for (int c = 0; c < dim_; ++c) {
        divergence += table(1 + c, q, facet, c);
        outwards += test::frame_normal(GetParam(), facet)[static_cast<std::size_t>(c)] *
                    reference_normal(GetParam(), facet)[static_cast<std::size_t>(c)];
      }
      EXPECT_NEAR(divergence * reference_volume(GetParam()), outwards > 0 ? 1 : -1, 1e-14);
    }
}

TEST_P(RaviartThomas, NormalComponentsVanishOnOtherFacets) {
  for (int f = 0; f < num_facets(GetParam()); ++f) {
    const auto rule = make_quadrature(facet_shape(GetParam(), f), 2);
    const auto table = element_->tabulate(map_to_cell(GetParam(), dim_ - 1, f, rule.points));
    const auto normal = test::frame_normal(GetParam(), f);
    for (int q = 0; q < table.num_points; ++q)
      for (int dof = 0; dof < table.num_dofs; ++dof) {
        double flux = 0;
        for (int c = 0; c < dim_; ++c) flux += normal[static_cast<std::size_t>(c)] * table(0, q, dof, c);
        EXPECT_NEAR(flux, dof == f ? 1 / reference_volume(facet_shape(GetParam(), f)) : 0, 1e-14);
      }
  }
}

TEST_P(RaviartThomas, OrientationsChangeSigns) {
  const auto facet = facet_shape(GetParam(), 0);
  int num_turned = 0;
  for (int code = 0; code < num_orientations(facet); ++code) {
    const auto& transform = element_->entity_transform(facet, code);
    const bool is_turned = transform(0, 0) < 0;
    num_turned += is_turned ? 1 : 0;
    EXPECT_EQ(transform.kind(),
              is_turned ? EntityTransform::Kind::signed_permutation : EntityTransform::Kind::permutation);
    EXPECT_EQ(transform.is_identity(), !is_turned);
    if (is_turned)
      EXPECT_THROW(element_->entity_permutation(facet, code), base::InternalError);
    else
      EXPECT_EQ(element_->entity_permutation(facet, code), std::vector{0});
  }
  EXPECT_EQ(num_turned, num_orientations(facet) / 2);
  EXPECT_THROW(element_->entity_transform(Shape::point, 0), base::InternalError);
}

INSTANTIATE_TEST_SUITE_P(All, RaviartThomas, testing::Values(Shape::triangle, Shape::tetrahedron), test::shape_name);

TEST(ElementDefinition, BubblesAndDiscontinuousElementsAreElements) {
  const auto mini = make_element(test::mini());
  expect_dual(*mini);
  EXPECT_TRUE(mini->is_nodal());
  EXPECT_EQ(mini->closure_dofs(1, 0), (std::vector{1, 2}));
  for (const auto shape : all_cell_shapes) {
    const auto element = make_element(test::discontinuous(shape, 2));
    expect_dual(*element);
    EXPECT_FALSE(element->is_nodal());
    EXPECT_EQ(element->entity_dofs(dimension(shape), 0).size(), static_cast<std::size_t>(element->num_dofs()));
  }
}

TEST(ElementDefinition, HasAContentOfItsOwn) {
  const auto triangle = test::raviart_thomas(Shape::triangle);
  const auto content = content_of(*make_element(triangle));
  EXPECT_EQ(content, content_of(*make_element(test::raviart_thomas(Shape::triangle))));
  auto scaled = triangle;
  for (auto& term : scaled.functionals.terms) term.weight *= 2;
  EXPECT_NE(content, content_of(*make_element(scaled)));
  auto turned = triangle;
  turned.transforms[static_cast<std::size_t>(Shape::interval)][1] = EntityTransform::identity(1);
  EXPECT_NE(content, content_of(*make_element(turned)));
  EXPECT_EQ(content_of(*make_element(Family::lagrange, Shape::triangle, 2)), "Lagrange triangle 2");
}

TEST(ElementDefinition, PartsThatDoNotFitAreRefused) {
  const auto refused = [](const auto& change) {
    auto definition = test::raviart_thomas(Shape::triangle);
    change(definition);
    EXPECT_THROW(make_element(definition), base::InternalError);
  };
  refused([](auto& d) { d.span.resize(d.span.size() / 3); });
  refused([](auto& d) { d.value_shape = {}; });
  refused([](auto& d) { d.functionals.terms[0].point = d.functionals.num_points(); });
  refused([](auto& d) { d.entity_dofs[1][0] = {1}; });
  refused([](auto& d) { d.entity_dofs[1].pop_back(); });
  refused([](auto& d) { d.transforms[1].pop_back(); });
  refused([](auto& d) { std::swap(d.transforms[1][0], d.transforms[1][1]); });
  refused([](auto& d) { d.transforms[1][1].signs = {0.5}; });
  refused([](auto& d) { d.functionals.terms[2] = d.functionals.terms[0] = d.functionals.terms[1]; });
  EXPECT_THROW(make_element(Family::custom, Shape::triangle, 1), base::InternalError);
}

/// Moments of a function on an edge are taken against 1 and the coordinate s from one end, 0 to 1; seen from the other
/// end, the second one is that against 1 - s.
TEST(EntityTransform, MayMixDofs) {
  const auto mixing = EntityTransform::of_matrix({1, 0, 1, -1}, 2);
  mixing.verify();
  EXPECT_EQ(mixing.kind(), EntityTransform::Kind::matrix);
  EXPECT_FALSE(mixing.is_identity());
  EXPECT_TRUE(EntityTransform::of_matrix({1, 0, 0, 1}, 2).is_identity());
  EXPECT_EQ(mixing(1, 0), 1);
  EXPECT_EQ(mixing(1, 1), -1);
  EXPECT_THROW(EntityTransform::of_matrix({1, 0, 1}, 2).verify(), base::InternalError);
  EXPECT_THROW(EntityTransform::of_permutation({0, 0}).verify(), base::InternalError);
}

} // namespace

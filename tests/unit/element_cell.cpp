// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/element/cell.hpp>
#include <rafter/element/orientation.hpp>

#include <tests/support/shape_names.hpp>

using namespace rafter::element;

namespace {
class CellTest : public testing::TestWithParam<Shape> {};
} // namespace

TEST_P(CellTest, EulerCharacteristicIsOne) {
  int sum = 0;
  for (int dim = 0; dim <= dimension(GetParam()); ++dim) sum += (dim % 2 == 0 ? 1 : -1) * num_entities(GetParam(), dim);
  EXPECT_EQ(sum, 1);
}

TEST_P(CellTest, EntityVerticesAscendAndAreDistinctSets) {
  const Shape shape = GetParam();
  for (int dim = 0; dim <= dimension(shape); ++dim) {
    std::set<std::vector<int>> seen;
    for (int e = 0; e < num_entities(shape, dim); ++e) {
      const auto vertices = entity_vertices(shape, dim, e);
      EXPECT_TRUE(std::ranges::is_sorted(vertices));
      EXPECT_EQ(static_cast<int>(vertices.size()), num_vertices(entity_shape(shape, dim, e)));
      EXPECT_EQ(dimension(entity_shape(shape, dim, e)), dim);
      seen.insert({vertices.begin(), vertices.end()});
    }
    EXPECT_EQ(static_cast<int>(seen.size()), num_entities(shape, dim));
  }
}

TEST_P(CellTest, EntitiesOfFacetsAreEntitiesOfTheCell) {
  const Shape shape = GetParam();
  const int facet_dim = dimension(shape) - 1;
  for (int f = 0; f < num_facets(shape); ++f) {
    const auto corners = entity_vertices(shape, facet_dim, f);
    for (int e = 0; facet_dim > 1 && e < num_entities(facet_shape(shape, f), 1); ++e) {
      const auto local = entity_vertices(facet_shape(shape, f), 1, e);
      const std::array edge{corners[local[0]], corners[local[1]]};
      int matches = 0;
      for (int k = 0; k < num_entities(shape, 1); ++k)
        matches += std::ranges::equal(edge, entity_vertices(shape, 1, k));
      EXPECT_EQ(matches, 1) << "facet " << f << " edge " << e;
    }
  }
}

TEST_P(CellTest, EveryRidgeLiesOnTwoFacets) {
  const Shape shape = GetParam();
  const int dim = dimension(shape);
  for (int r = 0; dim > 1 && r < num_entities(shape, dim - 2); ++r) {
    int facets = 0;
    for (int f = 0; f < num_facets(shape); ++f)
      facets += std::ranges::includes(entity_vertices(shape, dim - 1, f), entity_vertices(shape, dim - 2, r));
    EXPECT_EQ(facets, 2);
  }
}

TEST_P(CellTest, NormalsAreUnitOutwardAndOrthogonalToTheirFacet) {
  const Shape shape = GetParam();
  const int dim = dimension(shape);
  const auto vertices = reference_vertices(shape);
  for (int f = 0; f < num_facets(shape); ++f) {
    const auto normal = reference_normal(shape, f);
    const auto on_facet = entity_vertices(shape, dim - 1, f);
    EXPECT_NEAR(std::hypot(normal[0], normal[1], normal[2]), 1, 1e-15);
    for (int v = 0; v < num_vertices(shape); ++v) {
      double height = 0;
      for (int i = 0; i < dim; ++i) height += normal[i] * (vertices[v * dim + i] - vertices[on_facet[0] * dim + i]);
      if (std::ranges::count(on_facet, v) > 0) {
        EXPECT_NEAR(height, 0, 1e-15);
      } else
        EXPECT_LT(height, -0.1);
    }
  }
}

TEST_P(CellTest, VolumeIsThatOfTheFacetCones) {
  // The divergence theorem for the field x says that d * volume = sum over facets of (x.n) * area.
  const Shape shape = GetParam();
  const int dim = dimension(shape);
  double sum = 0;
  for (int f = 0; f < num_facets(shape); ++f) {
    const Shape facet = facet_shape(shape, f);
    const auto normal = reference_normal(shape, f);
    const auto corners = entity_vertices(shape, dim - 1, f);
    const auto v = reference_vertices(shape);
    double height = 0, area = 1;
    for (int i = 0; i < dim; ++i) height += normal[i] * v[corners[0] * dim + i];
    if (dim > 1) {
      std::array<std::array<double, 3>, 2> t{};
      for (int k = 0; k < dim - 1; ++k)
        for (int i = 0; i < dim; ++i) t[k][i] = v[corners[k + 1] * dim + i] - v[corners[0] * dim + i];
      const double a = std::inner_product(t[0].begin(), t[0].end(), t[0].begin(), 0.);
      const double b = std::inner_product(t[1].begin(), t[1].end(), t[1].begin(), 0.);
      const double c = std::inner_product(t[0].begin(), t[0].end(), t[1].begin(), 0.);
      area = dim == 2 ? std::sqrt(a) : std::sqrt(a * b - c * c) * (facet == Shape::triangle ? 0.5 : 1);
    }
    sum += height * area;
  }
  EXPECT_NEAR(sum, dim * reference_volume(shape), 1e-13);
}

TEST_P(CellTest, MapToCellSendsEntityVerticesToCellVertices) {
  const Shape shape = GetParam();
  const int cell_dim = dimension(shape);
  const auto vertices = reference_vertices(shape);
  for (int dim = 0; dim <= cell_dim; ++dim)
    for (int e = 0; e < num_entities(shape, dim); ++e) {
      const auto mapped = map_to_cell(shape, dim, e, reference_vertices(entity_shape(shape, dim, e)));
      const auto expected = entity_vertices(shape, dim, e);
      ASSERT_EQ(mapped.size(), expected.size() * static_cast<std::size_t>(cell_dim));
      for (std::size_t k = 0; k < expected.size(); ++k)
        for (int i = 0; i < cell_dim; ++i) EXPECT_EQ(mapped[k * cell_dim + i], vertices[expected[k] * cell_dim + i]);
    }
}

TEST_P(CellTest, NameRoundTrips) { EXPECT_EQ(shape_from_name(name(GetParam())), GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, CellTest, testing::ValuesIn(all_cell_shapes), rafter::test::shape_name);

TEST(Cell, RegistryHoldsEveryShapeOfPositiveDimension) {
  std::set<Shape> listed(all_cell_shapes.begin(), all_cell_shapes.end());
  EXPECT_EQ(listed.size(), all_cell_shapes.size());
  EXPECT_EQ(listed.size(), 1 + static_cast<std::size_t>(Shape::pyramid) - static_cast<std::size_t>(Shape::interval));
  EXPECT_EQ(num_vertices(Shape::point), 1);
}

TEST(Cell, MisspeltNameIsRefusedWithTheNearest) {
  try {
    shape_from_name("hexahedrn");
    FAIL();
  } catch (const rafter::base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("hexahedron"), std::string::npos);
  }
}

TEST(Cell, EntitiesOutOfRangeAreRefused) {
  EXPECT_THROW(num_entities(Shape::triangle, 3), rafter::base::InternalError);
  EXPECT_THROW(entity_vertices(Shape::triangle, 1, 3), rafter::base::InternalError);
}

TEST(Orientation, CodeZeroIsTheIdentity) {
  for (const Shape shape : {Shape::point, Shape::interval, Shape::triangle, Shape::quadrilateral}) {
    const auto permutation = vertex_permutation(shape, 0);
    for (std::size_t k = 0; k < permutation.size(); ++k) EXPECT_EQ(permutation[k], static_cast<int>(k));
  }
}

TEST(Orientation, PermutationSortsTheVerticesIntoTheCanonicalFrame) {
  for (const Shape shape : {Shape::interval, Shape::triangle, Shape::quadrilateral}) {
    std::vector<std::int64_t> global(static_cast<std::size_t>(num_vertices(shape)));
    std::iota(global.begin(), global.end(), std::int64_t{1} << 40);
    std::set<int> codes;
    do {
      const int code = orientation(shape, global);
      codes.insert(code);
      const auto permutation = vertex_permutation(shape, code);
      std::vector<std::int64_t> canonical(global.size());
      for (std::size_t k = 0; k < global.size(); ++k) canonical[permutation[k]] = global[k];
      EXPECT_EQ(canonical[0], *std::ranges::min_element(global));
      if (global.size() > 2) {
        EXPECT_LT(canonical[1], canonical[2]);
      }
      if (shape == Shape::triangle) {
        EXPECT_TRUE(std::ranges::is_sorted(canonical));
      }
      EXPECT_EQ(orientation(shape, canonical), 0);
    } while (std::ranges::next_permutation(global).found);
    EXPECT_EQ(static_cast<int>(codes.size()), num_orientations(shape));
  }
}

TEST(Orientation, PermutationsOfAQuadrilateralKeepItsEdges) {
  for (int code = 0; code < 8; ++code) {
    const auto permutation = vertex_permutation(Shape::quadrilateral, code);
    EXPECT_EQ(permutation[0] ^ permutation[3], 3);
    EXPECT_EQ(permutation[1] ^ permutation[2], 3);
  }
}

TEST(Orientation, RepeatedGlobalNumbersAreRefused) {
  const std::array<std::int64_t, 3> global{4, 4, 5};
  EXPECT_THROW(orientation(Shape::triangle, global), rafter::base::InternalError);
}

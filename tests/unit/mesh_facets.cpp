// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <rafter/element/orientation.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/facets.hpp>

#include <tests/support/custom_elements.hpp>
#include <tests/support/mesh_laws.hpp>
#include <tests/support/periodic_meshes.hpp>
#include <tests/support/rank_meshes.hpp>
#include <tests/support/sample_meshes.hpp>

namespace rafter::test {
namespace {

/// Returns the global vertices of a facet in its canonical order, as one of its cells sees it.
std::vector<std::int64_t> canonical_vertices(const mesh::Mesh& mesh, const mesh::FacetRef& side, int code) {
  const auto& group = mesh.groups[static_cast<std::size_t>(side.group)];
  const auto local = element::entity_vertices(group.shape, mesh.tdim - 1, side.facet);
  const auto order = element::vertex_permutation(element::facet_shape(group.shape, side.facet), code);
  std::vector<std::int64_t> result(local.size());
  for (std::size_t k = 0; k < local.size(); ++k)
    result[static_cast<std::size_t>(order[k])] = mesh.global_vertex(
        group.vertices[static_cast<std::size_t>(side.cell * element::num_vertices(group.shape) + local[k])]);
  return result;
}

/// Checks that every side of a cell is that of one facet, and that its cells see the same vertices in the same
/// canonical order.
mesh::Facets expect_facets(const mesh::Mesh& mesh) {
  auto facets = mesh::make_facets(mesh);
  std::size_t num_sides = 0;
  EXPECT_EQ(facets.of_groups.size(), mesh.groups.size());
  for (std::int32_t g = 0; g < std::ssize(mesh.groups); ++g) {
    const auto& group = mesh.groups[static_cast<std::size_t>(g)];
    const auto& numbers = facets.of_groups[static_cast<std::size_t>(g)];
    const int per_cell = element::num_facets(group.shape);
    EXPECT_EQ(std::ssize(numbers), std::int64_t{group.num_cells()} * per_cell);
    for (std::int32_t i = 0; i < std::ssize(numbers); ++i, ++num_sides) {
      const mesh::FacetRef side{g, i / per_cell, i % per_cell};
      const auto& facet =
          facets.facets.at(static_cast<std::size_t>(numbers[static_cast<std::size_t>(i)])); // of the side
      EXPECT_TRUE((facet.first == side) != (facet.has_second() && facet.second == side)) << g << " " << i;
    }
  }
  std::size_t num_with_two = 0;
  for (const auto& facet : facets.facets) {
    if (!facet.has_second()) continue;
    ++num_with_two;
    EXPECT_LT(facet.first, facet.second);
    const auto vertices = canonical_vertices(mesh, facet.first, facet.orientations[0]);
    EXPECT_EQ(vertices, canonical_vertices(mesh, facet.second, facet.orientations[1]));
    EXPECT_EQ(vertices.front(), std::ranges::min(vertices));
  }
  EXPECT_EQ(num_sides, facets.facets.size() + num_with_two);
  EXPECT_TRUE(std::ranges::is_sorted(facets.facets, {}, &mesh::Facet::first));
  return facets;
}

std::vector<mesh::FacetRef> sides_without_another(const mesh::Facets& facets) {
  std::vector<mesh::FacetRef> result;
  for (const auto& facet : facets.facets)
    if (!facet.has_second()) result.push_back(facet.first);
  return result;
}

void expect_boundary(const mesh::Mesh& mesh) {
  const auto facets = expect_facets(mesh);
  EXPECT_EQ(sides_without_another(facets), mesh.surface().exterior_facets);
}

TEST(Facets, OfBoxesHaveTheirCellsOnBothSides) {
  for (const auto& shape : box_shapes())
    for (const unsigned seed : {0U, 3U}) {
      SCOPED_TRACE(shape + " " + std::to_string(seed));
      const auto mesh = box(shape, 3);
      expect_boundary(seed == 0 ? mesh : scrambled(mesh, seed));
    }
  for (const auto& box : mesh_laws::box_cases()) {
    SCOPED_TRACE(box.shape);
    expect_boundary(mesh_laws::make_case(box));
  }
}

TEST(Facets, OfFilesHaveTheirCellsOnBothSides) {
  for (const auto* name : {"beam-hex.mesh", "fichera-mixed.mesh", "mixed-four-shapes.msh", "escher.mesh",
                           "star-mixed.mesh", "toroid-hex.mesh"}) {
    SCOPED_TRACE(name);
    expect_boundary(sample_mesh(name));
  }
}

TEST(Facets, ThatAreIdentifiedAreOne) {
  for (const auto& shape : box_shapes()) {
    SCOPED_TRACE(shape);
    const auto axes = periodic_axes(shape);
    const auto mesh = periodic_box(shape, 3, axes, 1, 5);
    expect_boundary(mesh);
    if (shape != "mixed") {
      EXPECT_TRUE(mesh.surface().exterior_facets.empty());
    }
  }
}

TEST(Facets, OfAPartHaveOneCellWhereAnotherProcessHasTheOther) {
  const auto whole = mesh::make_box({.cells = {3, 2, 2}, .shape = "tetrahedron"});
  (void)whole.topology(); // the topology is made before several threads ask for it
  mesh::CellRanks ranks(1);
  for (std::int32_t cell = 0; cell < whole.num_cells(); ++cell)
    ranks[0].push_back(cell < whole.num_cells() / 2 ? 0 : 1);
  comm::run_in_process(2, [&](const Process& process) {
    const auto part = mesh::local_part(whole, ranks, process);
    auto expected = part.surface().exterior_facets;
    const auto& shared = part.distribution->interface_facets;
    EXPECT_FALSE(shared.empty());
    expected.insert(expected.end(), shared.begin(), shared.end());
    std::ranges::sort(expected);
    EXPECT_EQ(sides_without_another(expect_facets(part)), expected);
  });
}

/// Returns the flux through a facet of a Raviart-Thomas function with canonical dof 1 there, per area of the reference
/// facet, and the point at which it was computed. The contravariant Piola map is J f / det J.
struct Flux {
  std::array<double, 3> x{}, normal_part{};
};

Flux flux_of(const mesh::Mesh& mesh, const mesh::FacetRef& side, int code, const element::Element& element) {
  const auto& group = mesh.groups[static_cast<std::size_t>(side.group)];
  const auto facet = element::facet_shape(group.shape, side.facet);
  const auto centre = element::make_quadrature(facet, 1).points;
  const auto at = element::map_to_cell(group.shape, mesh.tdim - 1, side.facet, centre);
  const auto mapped = mesh_laws::mapped(mesh, group, side.cell, mesh::geometry_element(group)->tabulate(at), 0);
  const double det = mesh_laws::determinant(mapped.columns, mesh.tdim);
  const auto table = element.tabulate(at);
  const auto dof = element.entity_dofs(mesh.tdim - 1, side.facet).front();
  const double value = element.entity_transform(facet, code)(0, 0);
  // The part along the normal n of the facet in space; n det J = K^T N of the reference normal, up to its length.
  const auto normal = element::reference_normal(group.shape, side.facet);
  std::array<double, 3> n{}, f{};
  const auto& j = mapped.columns;
  for (std::size_t i = 0; i < 3; ++i)
    for (int a = 0; a < mesh.tdim; ++a) f[i] += j[static_cast<std::size_t>(a)][i] * table(0, 0, dof, a) * value / det;
  const auto cofactor = [&](std::size_t i, std::size_t a) {
    if (mesh.tdim == 2) return (i == a ? 1 : -1) * j[1 - a][1 - i];
    const auto& s = j[(a + 1) % 3];
    const auto& t = j[(a + 2) % 3];
    return s[(i + 1) % 3] * t[(i + 2) % 3] - s[(i + 2) % 3] * t[(i + 1) % 3];
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(mesh.tdim); ++i)
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.tdim); ++a) n[i] += cofactor(i, a) * normal[a];
  double length = 0, product = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    length += n[i] * n[i];
    product += n[i] * f[i];
  }
  Flux result{.x = mapped.x};
  for (std::size_t i = 0; i < 3; ++i) result.normal_part[i] = product / length * n[i];
  return result;
}

/// Facets, their orientations, and the signs of a family whose dofs are fluxes: normal components are continuous.
TEST(Facets, NormalComponentsOfRaviartThomasFunctionsAreContinuous) {
  for (const auto* shape : {"triangle", "tetrahedron"}) {
    const auto element = element::make_element(raviart_thomas(element::shape_from_name(shape)));
    const auto mesh = scrambled(sheared(box(shape, 3)), 7);
    std::set<std::array<std::uint8_t, 2>> seen;
    for (const auto& facet : expect_facets(mesh).facets) {
      if (!facet.has_second()) continue;
      seen.insert(facet.orientations);
      const auto one = flux_of(mesh, facet.first, facet.orientations[0], *element),
                 other = flux_of(mesh, facet.second, facet.orientations[1], *element);
      for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_NEAR(one.x[i], other.x[i], 1e-14);
        EXPECT_NEAR(one.normal_part[i], other.normal_part[i], 1e-13);
      }
      EXPECT_GT(std::hypot(one.normal_part[0], one.normal_part[1], one.normal_part[2]), 1e-3);
    }
    EXPECT_GT(seen.size(), 3U) << "pairs of orientations";
  }
}

} // namespace
} // namespace rafter::test

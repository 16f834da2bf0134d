// SPDX-License-Identifier: BSD-3-Clause
// Parts of the boundary that cannot be identified are refused with their tags and the place.
#include <gtest/gtest.h>

#include <algorithm>

#include <rafter/base/error.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/space/constraints.hpp>

#include <tests/support/periodic_meshes.hpp>

namespace rafter::test {
namespace {

using Pairs = std::vector<mesh::PeriodicPair>;

const Pairs along_x{{.from = {"xmin"}, .to = {"xmax"}}};

template <class Operation> void expect_error(const Operation& operation, const std::vector<std::string>& words) {
  try {
    operation();
    ADD_FAILURE() << "no error; expected " << words[0];
  } catch (const base::InputError& error) {
    for (const auto& word : words) EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

void expect_refused(const mesh::Mesh& mesh, const Pairs& pairs, const std::vector<std::string>& words) {
  expect_error([&] { static_cast<void>(mesh.periodic(pairs)); }, words);
}

/// Returns the mesh with its points moved by a function of the point.
template <class Move> mesh::Mesh moved(mesh::Mesh mesh, const Move& move) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t i = 0; i < mesh.points.size(); i += dim) move(std::span(mesh.points).subspan(i, dim));
  return mesh;
}

TEST(PeriodicErrors, UnknownTagsNameTheNearest) {
  expect_refused(box("quadrilateral"), {{.from = {"xmin"}, .to = {"xmay"}}}, {"'xmay'", "did you mean 'xmax'"});
  expect_refused(box("quadrilateral"), {{.from = {"xmin"}, .to = {}}}, {"needs tags of facets on both sides"});
  expect_refused(box("quadrilateral"), {{.from = {"xmin"}, .to = {"xmax"}, .tolerance = 0}}, {"tolerance 0"});
}

TEST(PeriodicErrors, SidesThatAreNoTranslates) {
  expect_refused(box("quadrilateral"), {{.from = {"xmin"}, .to = {"ymin"}}},
                 {"'ymin' is no translate of 'xmin'", "(0, 0.75)", "(1, 0)"});
  expect_refused(box("quadrilateral"), {{.from = {"xmin", "xmax"}, .to = {"ymin", "ymax"}}},
                 {"'xmin', 'xmax' and 'ymin', 'ymax' lie at the same place"});
}

TEST(PeriodicErrors, TheFirstFacetThatDoesNotMatch) {
  const auto skewed = moved(box("quadrilateral", 4), [](std::span<double> x) {
    if (x[0] > 0.9 && x[1] > 0.3 && x[1] < 0.4) x[1] += 0.01;
  });
  expect_refused(skewed, along_x,
                 {"the facet at (0, 0.28125) of quadrilateral 4 at", "on 'xmin' does not match 'xmax'", "(1, 0) away",
                  "no vertex of 'xmax' lies within 1.25e-08 of (1, 0.375)"});
  EXPECT_NO_THROW(static_cast<void>(skewed.periodic({{.from = {"xmin"}, .to = {"xmax"}, .tolerance = 0.01}})));
}

TEST(PeriodicErrors, FacetsThatAreCutOtherwise) {
  // One side has triangles, the other quadrilaterals.
  expect_refused(box("mixed"), along_x, {"'xmin' does not match 'xmax'", "has vertices there, but no facet of them"});
  // The facet in the middle of one side has no tag, so that the bounding boxes of both sides are still equal.
  auto incomplete = box("quadrilateral", 3);
  incomplete.tagged_facets.erase(std::ranges::find_if(incomplete.tagged_facets, [&](const auto& facet) {
    return facet.tag == 3 && facet.vertices[0] != 0 && facet.vertices[1] != 3;
  }));
  expect_refused(incomplete, {{.from = {"ymin"}, .to = {"ymax"}}},
                 {"the facet at (0.5, 0.75) of quadrilateral 7", "on 'ymax' has no facet of 'ymin' opposite",
                  "of 2 and 3 facets, 2 match"});
  // The other direction is refused, too.
  expect_refused(incomplete, {{.from = {"ymax"}, .to = {"ymin"}}},
                 {"the facet at (0.5, 0.75) of quadrilateral 7", "'ymin' has vertices there, but no facet of them"});
}

TEST(PeriodicErrors, NodesOfCurvedFacets) {
  auto bent = box("quadrilateral", 2, 3);
  auto& group = bent.groups[0];
  const auto element = mesh::geometry_element(group);
  // The node is in the middle of the edge from vertex 1 to 3 of the last cell of the first row.
  const auto node = group.nodes()[static_cast<std::size_t>(element->num_dofs() + element->entity_dofs(1, 2)[0])];
  bent.points[2 * static_cast<std::size_t>(node)] += 0.001;
  expect_refused(bent, along_x, {"the vertices match", "nodes of the curved facets", "0.001 off"});
}

TEST(PeriodicErrors, OneCellFromSideToSide) {
  for (const auto& shape : box_shapes()) {
    if (shape == "mixed") continue;
    const auto words = {std::string("reaches from one side of the period to the other"),
                        std::string("at least two cells")};
    expect_refused(box(shape, 1), along_x, words);
    EXPECT_NO_THROW(static_cast<void>(box(shape, 1).refined(1).periodic(along_x))) << shape;
  }
}

TEST(PeriodicErrors, FacetsThatAreIdentifiedTwice) {
  const auto mesh = box("quadrilateral", 3);
  expect_refused(mesh, {along_x[0], along_x[0]}, {"'xmin' are given twice"});
  expect_refused(mesh, {{.from = {"xmin"}, .to = {"xmin"}}}, {"'xmin' are given twice"});
  expect_refused(mesh.periodic(along_x), along_x, {"tag 1 (xmin) are periodic"});
}

TEST(PeriodicErrors, ConditionsAndIntegralsOnIdentifiedFacets) {
  const auto mesh = box("quadrilateral", 3).periodic(along_x);
  const auto space = make_space(mesh, 2);
  const space::SpatialFunction zero = [](auto, std::span<double> values) { values[0] = 0; };
  const auto constrain = [&](std::vector<std::int32_t> tags) {
    const std::vector<space::DirichletCondition> conditions{{.tags = std::move(tags), .value = zero}};
    return space::make_constraints(*space, conditions);
  };
  expect_error([&] { constrain({1}); }, {"tag 1 (xmin) are periodic", "no part of its boundary"});
  EXPECT_EQ(constrain({}).entries.size(), 2U * 6U) << "two sides of three cells of degree two, closed";
  const form::Measure on_side{.kind = form::MeasureKind::exterior_facet, .tags = {"xmax"}};
  expect_error([&] { op::measure_tags(mesh, on_side); }, {"tag 2 (xmax) are periodic"});
}

TEST(PeriodicErrors, ConditionsOnAMeshWithoutABoundary) {
  const auto space = make_space(periodic_box("quadrilateral", 3, std::array{0, 1}), 2);
  const std::vector<space::DirichletCondition> conditions{
      {.is_all = true, .value = [](auto, std::span<double> values) { values[0] = 0; }}};
  expect_error([&] { space::make_constraints(*space, conditions); }, {"has no boundary", "periodic"});
}

TEST(PeriodicErrors, WrongGlobalNumbersAndPeriodicFacets) {
  const auto fresh = [] {
    mesh::Mesh result;
    const auto from = box("quadrilateral", 3);
    result.tdim = result.gdim = 2;
    result.num_vertices = from.num_vertices;
    result.points = from.points;
    result.groups = from.groups;
    return result;
  };
  auto mesh = fresh();
  mesh.global_vertices = {3, 4, 5};
  expect_error([&] { mesh.topology(); }, {"3 global vertex numbers for 16 vertices"});
  mesh = fresh();
  mesh.periodic_facets = {{.from = {0, 5, -1, -1}, .to = {3, 7, -1, -1}}};
  expect_error([&] { mesh.topology(); }, {"vertices 0, 5 is not a facet of any cell"});
  mesh.periodic_facets = {{.from = {1, 5, -1, -1}, .to = {3, 7, -1, -1}}};
  expect_error([&] { mesh.topology(); }, {"vertices 1, 5 lies between two cells"});
}

} // namespace
} // namespace rafter::test

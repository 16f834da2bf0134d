// SPDX-License-Identifier: BSD-3-Clause
// Tags that do not serve a use are refused with what they are instead.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/operator/generate/domain.hpp>

#include <tests/support/inner_facets.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

using mesh::TagUse;

void expect_refused(const mesh::Mesh& mesh, const std::string& tag, TagUse use, const std::vector<std::string>& parts) {
  try {
    mesh::tags_for(mesh, tag, use);
    ADD_FAILURE() << tag << " is accepted";
  } catch (const base::InputError& error) {
    for (const auto& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
  }
}

/// Eight cubes: cells with tag 1 and the name `body`, `wall` inside with tag 7, and groups without members.
mesh::Mesh cubes() {
  auto mesh = fresh_copy(box("hexahedron", 2));
  mesh.source = "cubes.msh";
  mesh = with_tag(mesh, some_inner_facets(mesh), 7);
  mesh.physical_groups.names.insert({.dim = 2, .name = "wall", .number = 7});
  mesh.physical_groups.names.insert({.dim = 3, .name = "body", .number = 1});
  mesh.physical_groups.names.insert({.dim = 2, .name = "nothing", .number = 20});
  mesh.physical_groups.names.insert({.dim = 3, .name = "empty", .number = 21});
  mesh.physical_groups.names.insert({.dim = 1, .name = "edge", .number = 5});
  mesh.physical_groups.names.insert({.dim = 0, .name = "corner", .number = 5});
  return mesh;
}

TEST(TagUseErrors, GroupsOfAnotherDimension) {
  const auto mesh = cubes();
  for (const auto use : {TagUse::ds, TagUse::dirichlet, TagUse::periodic}) {
    expect_refused(mesh, "body", use, {"cubes.msh: 'body' is a group of cells (dimension 3)", "facets (dimension 2)"});
    expect_refused(mesh, "edge", use, {"'edge' is a group of edges (dimension 1)", "facets (dimension 2)"});
    expect_refused(mesh, "corner", use, {"'corner' is a group of points (dimension 0)"});
  }
  for (const auto use : {TagUse::dx, TagUse::by_tag}) {
    expect_refused(mesh, "wall", use, {"'wall' is a group of facets (dimension 2)", "cells (dimension 3)"});
    expect_refused(mesh, "7", use, {"'7' is a group of facets (dimension 2)"});
    expect_refused(mesh, "corner", use, {"'corner' is a group of points (dimension 0)"});
  }
}

TEST(TagUseErrors, GroupsWithoutMembers) {
  const auto mesh = cubes();
  for (const auto use : {TagUse::ds, TagUse::dirichlet, TagUse::periodic})
    expect_refused(mesh, "nothing", use, {"cubes.msh: the group 'nothing' has no facets", "1, 2, 3, 4, 5, 6"});
  for (const auto use : {TagUse::dx, TagUse::by_tag})
    expect_refused(mesh, "empty", use, {"the group 'empty' has no cells", "the mesh has tags 1"});
}

TEST(TagUseErrors, UnknownNamesNameTheNearest) {
  expect_refused(cubes(), "wal", TagUse::dirichlet, {"'wal'", "wall"});
  expect_refused(cubes(), "99", TagUse::ds, {"'99'", "1, 2, 3, 4, 5, 6"});
}

TEST(TagUseErrors, FacetsInsideTheDomain) {
  const auto mesh = cubes();
  expect_refused(mesh, "wall", TagUse::ds,
                 {"'wall' lies inside the domain: all its 4 facets lie between two cells",
                  "ds integrates over facets of the "
                  "boundary",
                  "boundary facets have tags 1, 2, 3, 4, 5, 6"});
  expect_refused(mesh, "7", TagUse::periodic,
                 {"'7' lies inside the domain", "periodic pairs identify facets of the boundary"});
  const form::Measure inside{.kind = form::MeasureKind::exterior_facet, .tags = {"wall"}};
  EXPECT_THROW(op::measure_tags(mesh, inside), base::InputError);
}

TEST(TagUseErrors, PeriodicPairsNeedAllFacetsOnTheBoundary) {
  const auto plain = box("quadrilateral", 3);
  const auto mesh = with_tag(plain, some_inner_facets(plain), 1); // xmin
  const auto text = "4 of the 7 facets of 'xmin' lie inside the domain";
  expect_refused(mesh, "xmin", TagUse::periodic, {text});
  try {
    mesh.periodic({{.from = {"xmin"}, .to = {"xmax"}}});
    ADD_FAILURE() << "accepted";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

} // namespace
} // namespace rafter::test

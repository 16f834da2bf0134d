// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>

#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/mesh/readers.hpp>
#include <rafter/mesh/repeats.hpp>
#include <rafter/mesh/values_by_tag.hpp>

namespace rafter::test {
namespace {

using Tags = std::vector<std::int32_t>;

std::string gmsh_2(const std::vector<std::string>& elements, const std::string& nodes, const std::string& names = "") {
  std::string text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + names + nodes;
  text += "$Elements\n" + std::to_string(elements.size()) + "\n";
  for (std::size_t i = 0; i < elements.size(); ++i) text += std::to_string(i + 1) + " " + elements[i] + "\n";
  return text + "$EndElements\n";
}

/// Two unit squares side by side: cell 1 in group 1 alone, cell 2 in groups 1 and 2. Of the facets below, the first is
/// in groups 1 and 2, the second in group 2.
const std::string nodes = "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n$EndNodes\n";
const std::string names = "$PhysicalNames\n5\n2 1 \"all_cells\"\n2 2 \"insert\"\n1 1 \"left\"\n1 2 \"rim\"\n"
                          "1 7 \"insert\"\n$EndPhysicalNames\n";
const std::vector<std::string> listed{"1 2 1 1 1 2",     "1 2 2 1 1 2",     "1 2 2 1 2 3",
                                      "3 2 1 1 1 2 5 4", "3 2 1 2 2 3 6 5", "3 2 2 2 2 3 6 5"};

/// Calls run() and returns the warnings that it gave.
template <class Run> std::vector<std::string> warnings_of(const Run& run) {
  std::vector<std::string> warnings;
  const auto before = base::set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  run();
  base::set_warning_handler(before);
  return warnings;
}

/// Number of cells, or facets of the boundary, in the group that the text names.
std::int64_t count(const mesh::Mesh& mesh, const std::string& group, int dim) {
  std::int64_t result = 0;
  for (const auto tag : mesh.tags_of(group, dim)) {
    if (dim == mesh.tdim)
      for (const auto& cells : mesh.groups) result += std::count(cells.tags.begin(), cells.tags.end(), tag);
    else
      result += std::ranges::count(mesh.surface().exterior_tags, tag);
  }
  return result;
}

void expect_memberships(const mesh::Mesh& mesh, std::int64_t per_cell, std::int64_t per_facet) {
  EXPECT_EQ(count(mesh, "all_cells", 2), 2 * per_cell);
  EXPECT_EQ(count(mesh, "1", 2), 2 * per_cell);
  EXPECT_EQ(count(mesh, "insert", 2), per_cell);
  EXPECT_EQ(count(mesh, "left", 1), per_facet);
  EXPECT_EQ(count(mesh, "rim", 1), 2 * per_facet);
  EXPECT_EQ(count(mesh, "0", 1), 4 * per_facet);
  EXPECT_EQ(mesh.physical_groups.classes(2), (mesh::PhysicalGroups::Classes{{-1, {1, 2}}}));
  EXPECT_EQ(mesh.physical_groups.classes(1), (mesh::PhysicalGroups::Classes{{-1, {1, 2}}}));
}

TEST(PhysicalGroups, TagsOfSingleGroupsAreTheirNumbersAndThoseOfSeveralAreNegative) {
  mesh::PhysicalGroups groups;
  EXPECT_EQ(groups.tag_of(3, {}), 0);
  EXPECT_EQ(groups.tag_of(3, Tags{0}), 0);
  EXPECT_EQ(groups.tag_of(3, Tags{5}), 5);
  EXPECT_EQ(groups.tag_of(3, Tags{5, 0, 5}), 5);
  EXPECT_EQ(groups.tag_of(3, Tags{7, 5}), -1);
  EXPECT_EQ(groups.tag_of(3, Tags{7, 1, 5}), -2);
  EXPECT_EQ(groups.tag_of(3, Tags{5, 7, 7}), -1);
  EXPECT_EQ(groups.tag_of(2, Tags{1, 2}), -1) << "each dimension has its own";
  EXPECT_EQ(groups.groups_of(3, -1), (Tags{5, 7}));
  EXPECT_EQ(groups.groups_of(2, -1), (Tags{1, 2}));
  EXPECT_EQ(groups.groups_of(3, 4), Tags{4});
  EXPECT_EQ(groups.groups_of(3, 0), Tags{});
  EXPECT_TRUE(groups.is_in(3, -1, 7));
  EXPECT_FALSE(groups.is_in(3, -1, 1));
  EXPECT_FALSE(groups.is_in(3, -1, -1));
  EXPECT_TRUE(groups.is_in(3, 0, 0));
  EXPECT_FALSE(groups.is_in(3, -1, 0));
  groups.names = {{3, "steel", 5}, {3, "body", 5}, {2, "steel", 7}};
  EXPECT_EQ(groups.text(3, -1), "5 (body, steel) + 7");
  EXPECT_EQ(groups.text(2, 7), "7 (steel)");
  EXPECT_EQ(groups.text(2, 0), "0");
}

TEST(PhysicalGroups, NumbersOfClassesDependOnTheirGroupsAlone) {
  mesh::PhysicalGroups a, b;
  EXPECT_EQ(a.tag_of(2, Tags{8, 9}), -1);
  EXPECT_EQ(a.tag_of(2, Tags{1, 9}), -2);
  EXPECT_EQ(a.tag_of(2, Tags{1, 2}), -3);
  EXPECT_EQ(b.tag_of(2, Tags{1, 9}), -1);
  EXPECT_EQ(b.tag_of(2, Tags{8, 9}), -2);
  EXPECT_EQ(a.renumber(2, {-1, -2}), (std::map<std::int32_t, std::int32_t>{{-1, -2}, {-2, -1}}));
  EXPECT_EQ(b.renumber(2, {-1, -2}), (std::map<std::int32_t, std::int32_t>{{-1, -1}, {-2, -2}}));
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.groups_of(2, -1), (Tags{1, 9}));
  EXPECT_EQ(a.tag_of(2, Tags{8, 9}), -2);
  EXPECT_EQ(a.tag_of(2, Tags{1, 2}), -3);
}

TEST(PhysicalGroups, ElementsBelongToAllGroupsWhateverTheirOrderInTheFile) {
  auto elements = listed;
  std::ranges::sort(elements);
  int number = 0;
  do {
    if (++number % 29 != 0) continue; // 24 of the 720 orders, far from each other
    const auto warnings = warnings_of([&] {
      const auto mesh = mesh::read_gmsh("m", gmsh_2(elements, nodes, names));
      EXPECT_EQ(mesh.num_cells(), 2);
      EXPECT_EQ(mesh.tagged_facets.size(), 2U);
      expect_memberships(mesh, 1, 1);
    });
    EXPECT_EQ(warnings, std::vector<std::string>{});
  } while (std::ranges::next_permutation(elements).found);
  EXPECT_EQ(number, 720);
}

TEST(PhysicalGroups, RepeatsInOneGroupCountOnceAndAreWarnedOf) {
  auto elements = listed;
  elements.insert(elements.begin(), "1 2 2 1 3 2"); // turned
  elements.push_back("3 2 2 9 3 6 5 2");            // begins at another corner, in another entity
  elements.push_back("3 2 0 9 2 3 6 5");            // in no group, which says nothing new
  const auto warnings = warnings_of([&] {
    const auto mesh = mesh::read_gmsh("m", gmsh_2(elements, nodes, names));
    expect_memberships(mesh, 1, 1);
    EXPECT_TRUE(mesh::check_validity(mesh).inverted_cells.empty());
  });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings.front(), "m: 2 of the cells and 1 of the facets that are listed repeat others with the same nodes "
                              "and the same physical group: they count once");
}

TEST(PhysicalGroups, CurvedCellsAreOneIfAllOfTheirNodesAre) {
  const std::string curved = "$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0.5 -0.1 0\n5 0.5 0.5 0\n6 0 0.5 0\n"
                             "7 0.5 0.1 0\n$EndNodes\n";
  const auto mesh = mesh::read_gmsh("m", gmsh_2({"9 2 1 1 1 2 3 4 5 6", "9 2 2 1 2 3 1 5 6 4"}, curved));
  EXPECT_EQ(mesh.num_cells(), 1);
  EXPECT_EQ(mesh.tags_of("2", 2), Tags{-1});
  EXPECT_THROW(mesh::read_gmsh("m", gmsh_2({"9 2 1 1 1 2 3 4 5 6", "9 2 2 1 1 2 3 7 5 6"}, curved)), base::InputError)
      << "two cells with the same corners";
}

TEST(PhysicalGroups, SurfacesThatAreReversedInOneGroupKeepTheirOrientation) {
  // A group with the surface reversed has a negative number in the file, and its elements are listed the other way
  // round.
  const auto mesh = mesh::read_gmsh("m", gmsh_2({"3 2 -2 1 1 4 5 2", "3 2 1 1 1 2 5 4"}, nodes));
  EXPECT_EQ(mesh.num_cells(), 1);
  EXPECT_TRUE(mesh::check_validity(mesh).inverted_cells.empty());
  EXPECT_EQ(mesh.tags_of("1", 2), mesh.tags_of("2", 2));
}

TEST(PhysicalGroups, EntitiesOfVersion4HaveSeveralGroups) {
  const std::string entities = "$Entities\n0 2 2 0\n1 0 0 0 1 0 0 2 2 1 0\n2 1 0 0 2 0 0 1 2 0\n"
                               "1 0 0 0 1 1 0 1 1 0\n2 1 0 0 2 1 0 2 1 2 0\n$EndEntities\n";
  const std::string elements = "$Elements\n4 4 1 4\n1 1 1 1\n1 1 2\n1 2 1 1\n2 2 3\n2 1 3 1\n3 1 2 5 4\n"
                               "2 2 3 1\n4 2 3 6 5\n$EndElements\n";
  const std::string nodes_4 = "$Nodes\n1 6 1 6\n2 1 0 6\n1\n2\n3\n4\n5\n6\n0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n2 1 0\n"
                              "$EndNodes\n";
  const auto mesh =
      mesh::read_gmsh("m", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + names + entities + nodes_4 + elements);
  expect_memberships(mesh, 1, 1);
}

TEST(PhysicalGroups, MfemBoundariesMayListAFacetForEachOfItsAttributes) {
  const auto mesh = mesh::read_mfem("m", "MFEM mesh v1.0\n\ndimension\n2\nelements\n1\n4 3 0 1 2 3\nboundary\n3\n"
                                         "2 1 0 1\n1 1 1 0\n2 1 1 2\nvertices\n4\n2\n0 0\n1 0\n1 1\n0 1\n");
  EXPECT_EQ(count(mesh, "1", 1), 1);
  EXPECT_EQ(count(mesh, "2", 1), 2);
  EXPECT_EQ(count(mesh, "4", 2), 1);
}

TEST(PhysicalGroups, AreFoundByNameAndDimension) {
  const auto mesh = mesh::read_gmsh(
      "m", gmsh_2({"1 2 8 1 1 2", "3 2 9 1 1 2 5 4"}, nodes,
                  "$PhysicalNames\n3\n1 8 \"steel\"\n2 9 \"steel\"\n2 4 \"void\"\n$EndPhysicalNames\n"));
  EXPECT_EQ(mesh.tags_of("steel", 1), Tags{8});
  EXPECT_EQ(mesh.tags_of("steel", 2), Tags{9});
  EXPECT_THROW(mesh.tags_of("void", 2), base::InputError) << "a group without cells";
  EXPECT_THROW(mesh.tags_of("4", 2), base::InputError);
  EXPECT_THROW(mesh.tags_of("void", 1), base::InputError);
}

TEST(PhysicalGroups, OneNameMayBeThatOfTwoGroups) {
  const auto mesh =
      mesh::read_gmsh("m", gmsh_2({"3 2 5 1 1 2 5 4", "3 2 6 2 2 3 6 5"}, nodes,
                                  "$PhysicalNames\n2\n2 5 \"steel\"\n2 6 \"steel\"\n$EndPhysicalNames\n"));
  EXPECT_EQ(mesh.tags_of("steel", 2), (Tags{5, 6}));
}

TEST(PhysicalGroups, ZeroNamesWhatIsInNone) {
  auto mesh = mesh::read_gmsh("m", gmsh_2({"3 2 0 1 1 2 5 4", "3 2 2 2 2 3 6 5", "1 2 3 1 1 2"}, nodes));
  EXPECT_EQ(mesh.tags_of("0", 2), Tags{0});
  EXPECT_EQ(mesh.tags_of("0", 1), Tags{0});
  mesh.groups[0].tags.set(0, 2);
  EXPECT_THROW(mesh.tags_of("0", 2), base::InputError);
  const auto box = mesh::make_box({.cells = {2, 2}, .shape = "quadrilateral"});
  EXPECT_THROW(box.tags_of("0", 1), base::InputError);
}

TEST(PhysicalGroups, NumbersOfClassesAreNoTagsForUsers) {
  const auto mesh = mesh::read_gmsh("m", gmsh_2(listed, nodes, names));
  EXPECT_EQ(mesh.tags_of("insert", 2), Tags{-1});
  EXPECT_EQ(mesh.tags_of("1", 2), (Tags{-1, 1}));
  EXPECT_THROW(mesh.tags_of("-1", 2), base::InputError);
  EXPECT_EQ(mesh.tags_of_groups(Tags{2}, 1), (Tags{-1, 2}));
  EXPECT_EQ(mesh.tags_of_groups(Tags{-1}, 1), Tags{-1});
  EXPECT_EQ(mesh.tags_of_groups(Tags{1, 9, 0}, 1), (Tags{-1, 0, 9}));
}

TEST(PhysicalGroups, StayOnRefinedMeshes) {
  const auto mesh = mesh::read_gmsh("m", gmsh_2(listed, nodes, names));
  expect_memberships(mesh.refined(), 4, 2);
  expect_memberships(mesh.refined(2), 16, 4);
}

TEST(PhysicalGroups, FilesKeepAllMemberships) {
  const auto mesh = mesh::read_gmsh("m", gmsh_2(listed, nodes, names));
  const auto path =
      (std::filesystem::temp_directory_path() / ("rafter-groups-" + std::to_string(std::random_device{}()))).string();
  for (const auto* format : {"msh22", "msh41"})
    for (const bool is_binary : {false, true}) {
      SCOPED_TRACE(std::string(format) + (is_binary ? " binary" : ""));
      mesh::write_mesh(mesh, path, {.name = format, .is_binary = is_binary});
      const auto warnings = warnings_of([&] {
        const auto copy = mesh::read_mesh(path);
        expect_memberships(copy, 1, 1);
        EXPECT_EQ(copy.physical_groups, mesh.physical_groups);
      });
      EXPECT_EQ(warnings, std::vector<std::string>{});
    }
  std::filesystem::remove(path);
}

TEST(PhysicalGroups, FormatsWithOneAttributeAreRefused) {
  const auto message = [](const mesh::Mesh& mesh) {
    try {
      mesh::write_mesh(mesh, "refused.mesh");
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  auto mesh = mesh::read_gmsh("m", gmsh_2(listed, nodes, names));
  EXPECT_NE(message(mesh).find("m: cells belong to several physical groups, 1 (all_cells) + 2 (insert)"),
            std::string::npos)
      << message(mesh);
  mesh.groups[0].tags.assign(2, 1);
  EXPECT_NE(message(mesh).find("facets belong to several physical groups, 1 (left) + 2 (rim)"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists("refused.mesh"));
}

TEST(ValuesByTag, GiveEveryCellOneValue) {
  const auto mesh = mesh::read_gmsh("m", gmsh_2(listed, nodes, names));
  mesh::ValuesByTag values(mesh);
  values.add("all_cells", std::array{2.0});
  ASSERT_NE(values.find(-1), nullptr);
  EXPECT_EQ(*values.find(-1), std::vector{2.0});
  EXPECT_EQ(*values.find(1), std::vector{2.0});
  values.add("insert", std::array{2.0}); // says the same
  EXPECT_THROW(values.add("2", std::array{3.0}), base::InputError);
  mesh::ValuesByTag others(mesh);
  others.add("insert", std::array{3.0});
  EXPECT_EQ(others.missing(), Tags{1});
  EXPECT_EQ(others.find(1), nullptr);
  EXPECT_THROW(others.add("1", std::array{2.0}), base::InputError);
}

TEST(Repeats, AreFoundWhateverTheOrderOfTheNodes) {
  EXPECT_EQ(mesh::first_with_same_nodes(Tags{1, 2, 3, 2, 3, 4, 3, 4, 5}, 3), Tags{});
  EXPECT_EQ(mesh::first_with_same_nodes(Tags{1, 2, 3, 2, 3, 4, 3, 1, 2, 4, 2, 3, 2, 1, 3}, 3), (Tags{0, 1, 0, 1, 0}));
  EXPECT_EQ(mesh::first_with_same_nodes(Tags{1, 1, 2, 1, 2, 2}, 3), Tags{}) << "as often, too";
  EXPECT_EQ(mesh::first_with_same_nodes(Tags{}, 3), Tags{});
  EXPECT_EQ(mesh::first_with_same_nodes(Tags{}, 0), Tags{});
}

} // namespace
} // namespace rafter::test

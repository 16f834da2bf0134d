// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include <rafter/mesh/cell_batches.hpp>
#include <tests/support/mesh_laws.hpp>
#include <tests/support/source_directory.hpp>

using namespace rafter;

namespace {

std::vector<std::string> mesh_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() + "/tests/data/meshes"))
    if (entry.path().extension() != ".md") files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(std::string file) {
  std::replace_if(
      file.begin(), file.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return file;
}

} // namespace

class EveryFile : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(meshes, EveryFile, ::testing::ValuesIn(mesh_files()),
                         [](const auto& file) { return test_name(file.param); });

TEST_P(EveryFile, refined_keeps_volume_surface_tags_and_topology) {
  const auto coarse = mesh::read_mesh(test::source_directory() + "/tests/data/meshes/" + GetParam());
  const auto fine = coarse.refined();
  const double expected = mesh_laws::volume(coarse);
  EXPECT_GT(expected, 0);
  const auto refined = mesh_laws::volume_of(fine);
  EXPECT_NEAR(refined.volume, expected, 1e-11 * expected);
  EXPECT_GT(refined.smallest_det_j, 0);
  const std::size_t factor = std::size_t{1} << (coarse.tdim - 1);
  EXPECT_EQ(fine.topology().exterior_facets.size(), factor * coarse.topology().exterior_facets.size());
  for (const auto tag : std::array{0, 1, 2}) {
    const auto& before = coarse.topology().exterior_tags;
    const auto& after = fine.topology().exterior_tags;
    EXPECT_EQ(std::count(after.begin(), after.end(), tag),
              static_cast<std::ptrdiff_t>(factor) * std::count(before.begin(), before.end(), tag));
  }
  EXPECT_EQ(mesh_laws::euler_characteristic(fine), mesh_laws::euler_characteristic(coarse));
  EXPECT_NO_THROW(mesh::require_valid(fine));
}

TEST_P(EveryFile, refinement_of_an_affine_cell_is_affine) {
  const auto coarse = mesh::read_mesh(test::source_directory() + "/tests/data/meshes/" + GetParam());
  const auto fine = coarse.refined();
  std::vector<std::vector<mesh::MapKind>> kinds;
  for (const auto& group : coarse.groups) kinds.emplace_back(group.tags.size());
  for (const auto& block : mesh::make_cell_batches(coarse).blocks)
    for (const auto cell : block.cells) kinds[block.group][cell] = block.map;
  // The second differences of a cell, relative to its size, stay or become smaller when it is halved; rounding needs
  // some room.
  for (const auto& block : mesh::make_cell_batches(fine, {.affine_tolerance = 1e-11}).blocks) {
    const auto& group = fine.groups[block.group];
    for (const auto cell : block.cells) {
      const auto parent = group.parents.of(cell);
      EXPECT_LE(block.map, kinds[parent.group][parent.cell]);
    }
  }
}

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <map>

#include <tests/support/source_directory.hpp>
#include <tests/support/space_meshes.hpp>

/// Spaces are conforming on meshes that other programs wrote (unstructured, curved, mixed) and on refined ones.
namespace rafter {
namespace {

using Point = std::array<double, 3>;

/// Nodes with the same entry must have the same place, and nodes at the same place the same entry.
void expect_conforming(const space::FunctionSpace& space) {
  const auto dim = static_cast<std::size_t>(space.gdim);
  double extent = 0;
  for (const double x : space.mesh().points) extent = std::max(extent, std::abs(x));
  std::map<std::array<std::int64_t, 3>, std::int32_t> entry_at;
  std::map<std::int32_t, Point> place_of;
  test::for_each_cell(space, [&](auto, auto, const auto& entries, const auto& points) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Point x{};
      std::array<std::int64_t, 3> key{};
      for (std::size_t d = 0; d < dim; ++d) {
        x[d] = points[i * dim + d] / extent;
        key[d] = std::llround(x[d] * 1e9 + 0.1234567);
      }
      const auto place = place_of.try_emplace(entries[i], x).first->second;
      for (std::size_t d = 0; d < dim; ++d) ASSERT_NEAR(place[d], x[d], 1e-12);
      ASSERT_EQ(entry_at.try_emplace(key, entries[i]).first->second, entries[i]);
    }
  });
  ASSERT_EQ(static_cast<std::int64_t>(place_of.size()), space.num_local());
  EXPECT_EQ(place_of.begin()->first, 0);
  EXPECT_EQ(place_of.rbegin()->first, space.num_local() - 1);
}

void expect_conforming_spaces(const mesh::Mesh& mesh) {
  for (const int degree : {1, 3, 4}) {
    SCOPED_TRACE(mesh.source + ", degree " + std::to_string(degree));
    expect_conforming(*test::make_space(mesh, degree));
    expect_conforming(*test::make_space(test::scrambled(mesh, 3), degree));
  }
}

TEST(MeshFiles, SpacesConform) {
  int num_files = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::source_directory() + "/tests/data/meshes")) {
    if (file.path().extension() != ".mesh" && file.path().extension() != ".msh") continue;
    ++num_files;
    expect_conforming_spaces(mesh::read_mesh(file.path().string()));
  }
  EXPECT_GT(num_files, 0);
}

TEST(RefinedMeshes, SpacesConform) {
  for (const auto& shape : test::box_shapes()) {
    expect_conforming_spaces(test::scrambled(test::box(shape), 4).refined());
    expect_conforming_spaces(test::curved_box(shape, 2).refined());
  }
}

} // namespace
} // namespace rafter

// SPDX-License-Identifier: BSD-3-Clause
// The lines that kernels ask for ahead are those which a batch shares with batches that ran long before, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <rafter/base/parallel.hpp>
#include <rafter/space/distant_lines.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter {
namespace {

constexpr std::int32_t entries_per_line = 8;

std::shared_ptr<const space::FunctionSpace> space_on(const std::string& shape, int degree, int components) {
  const bool is_plane = shape == "triangle" || shape == "quadrilateral";
  return test::make_space(test::box(shape, is_plane ? 24 : 8), degree, components);
}

/// Entries of the shared dofs of a batch.
std::set<std::int32_t> shared_entries(const space::FunctionSpace& space, std::int32_t batch) {
  const auto& layout = space.block(0).layout;
  const auto components = static_cast<std::size_t>(space.num_components());
  const std::size_t num_dofs = layout.run_dofs.size() + layout.interior_dofs.size();
  std::set<std::int32_t> result;
  std::vector<std::int32_t> entries(num_dofs * components);
  for (int cell = 0; cell < space.batches().num_active(0, batch); ++cell) {
    space.cell_dofs(0, batch, cell, entries);
    for (std::size_t c = 0; c < components; ++c)
      for (const int dof : layout.run_dofs) result.insert(entries[c * num_dofs + static_cast<std::size_t>(dof)]);
  }
  return result;
}

class DistantLines : public ::testing::TestWithParam<std::tuple<std::string, int, int>> {};

TEST_P(DistantLines, AreThoseThatNoRecentBatchHasTouched) {
  const auto [shape, degree, components] = GetParam();
  const auto space = space_on(shape, degree, components);
  const auto& dofs = space->block(0);
  const auto num_batches = static_cast<std::int32_t>(dofs.interior_starts.size());
  ASSERT_GT(num_batches, 8);
  // Not even the batch before is recent: all is distant that a batch does not touch first, or that it has asked for.
  const auto lines = space::distant_lines(dofs, std::max(1, components), {.recent_entries = 0, .cached_entries = 0});
  ASSERT_EQ(lines.begins.size(), static_cast<std::size_t>(num_batches) + 1);
  std::size_t num_lines = 0;
  std::set<std::int32_t> expected_before;
  for (std::int32_t b = 0; b < num_batches; ++b) {
    const auto i = static_cast<std::size_t>(b);
    const bool follows = b > 0 && dofs.first_touch[2 * i] == dofs.first_touch[2 * i - 1];
    const std::int32_t begin = dofs.first_touch[2 * (follows ? i - 1 : i)], end = dofs.first_touch[2 * i + 1];
    std::set<std::int32_t> touched, expected;
    for (const auto entry : shared_entries(*space, b)) {
      touched.insert(entry / entries_per_line);
      if (entry < begin || entry >= end) expected.insert(entry / entries_per_line);
    }
    std::set<std::int32_t> found;
    for (auto k = lines.begins[i]; k < lines.begins[i + 1]; ++k) {
      const auto entry = lines.entries[static_cast<std::size_t>(k)];
      EXPECT_EQ(entry % entries_per_line, 0);
      EXPECT_TRUE(found.insert(entry / entries_per_line).second) << "batch " << b << " asks twice for " << entry;
    }
    num_lines += found.size();
    // Lines that the batch before asked for are left out.
    for (const auto line : expected)
      EXPECT_TRUE(found.contains(line) || (follows && expected_before.contains(line))) << "batch " << b << ": " << line;
    EXPECT_TRUE(std::ranges::includes(touched, found)) << "batch " << b;
    expected_before = std::move(expected);
  }
  EXPECT_GT(num_lines, 0U);
}

INSTANTIATE_TEST_SUITE_P(every_shape, DistantLines,
                         ::testing::Values(std::tuple("triangle", 2, 0), std::tuple("quadrilateral", 3, 2),
                                           std::tuple("tetrahedron", 2, 0), std::tuple("tetrahedron", 3, 3),
                                           std::tuple("hexahedron", 1, 0), std::tuple("hexahedron", 4, 0),
                                           std::tuple("prism", 2, 3), std::tuple("pyramid", 3, 0)));

TEST(DistantLinesOfVectors, ThatStayInACacheAreNone) {
  const auto space = space_on("hexahedron", 2, 0);
  const auto lines = space::distant_lines(space->block(0), 1);
  EXPECT_TRUE(lines.entries.empty());
  EXPECT_EQ(lines.begins.back(), 0);
}

TEST(DistantLinesOfVectors, AreFewerWhereMoreIsRecent) {
  const auto space = space_on("tetrahedron", 2, 0);
  const auto count = [&](std::int64_t recent) {
    return space::distant_lines(space->block(0), 1, {.recent_entries = recent, .cached_entries = 0}).entries.size();
  };
  EXPECT_LT(count(64), count(0));
}

TEST(DistantLinesOfVectors, AreTheSameForAnyNumberOfThreads) {
  const auto space = test::make_space(test::box("hexahedron", 36), 1, 0);
  const space::DistantLineOptions options{.recent_entries = 64, .cached_entries = 0};
  const auto of = [&](int threads) {
    const base::ThreadLimit limit(threads);
    return space::distant_lines(space->block(0), 1, options);
  };
  const auto one = of(1), four = of(4);
  EXPECT_EQ(one.begins, four.begins);
  EXPECT_EQ(one.entries, four.entries);
}

} // namespace
} // namespace rafter

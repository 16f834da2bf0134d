// SPDX-License-Identifier: BSD-3-Clause
// A mapping brings keys of its own by its row alone: plans print, read, compare and vary them.
#include <gtest/gtest.h>

#include <array>

#include <rafter/base/error.hpp>
#include <rafter/schedule/key_registry.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/tune/candidates.hpp>

namespace rafter::tune {

/// The way through the layers of a cell, a decision of the mapping below.
enum class March : std::uint8_t { upwards, downwards };
std::string_view name(March march) { return march == March::upwards ? "upwards" : "downwards"; }

namespace {

using schedule::Plan;

constexpr schedule::KeyOf<int> layers{{.name = "layers",
                                       .place = 45,
                                       .values = schedule::PowersOfTwo{8},
                                       .initial = 2,
                                       .shared = 0.25,
                                       .tried = [](const schedule::PlanningProblem&, const Plan&) {
                                         return std::vector<std::string>{"2", "4"};
                                       }}};
constexpr schedule::KeyOf<March> march{{.name = "march",
                                        .place = 46,
                                        .values = schedule::names_up_to<March::downwards>(),
                                        .matters = [](const Plan& plan) { return plan[layers] > 1; }}};
constexpr std::array<const schedule::Key*, 3> own_keys{&schedule::key::vector_width, &layers, &march};

/// The mappings, of which "simd_points" has these keys.
const schedule::KeyRegistry& registry() {
  static const auto rows = [] {
    std::vector<schedule::Mapping> result(schedule::named_mappings().begin(), schedule::named_mappings().end());
    for (auto& row : result)
      if (row.name == "simd_points") row.keys = own_keys;
    return result;
  }();
  static const schedule::KeyRegistry keys(rows);
  return keys;
}

Plan parsed(const std::string& text) { return schedule::parse_plan(text, {}, registry()); }

std::string refusal(const std::string& text) {
  try {
    (void)parsed(text);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(OwnKey, IsPrintedAndReadWithItsMappingAlone) {
  const auto plan = parsed("mapping=simd_points layers=4 march=downwards");
  EXPECT_EQ(plan[layers], 4);
  EXPECT_EQ(plan[march], March::downwards);
  const auto text = to_string(plan, registry());
  EXPECT_NE(text.find(" vector_width=8 layers=4 march=downwards even_odd=4 "), std::string::npos) << text;
  EXPECT_EQ(text.find("prefetch"), std::string::npos) << text;
  EXPECT_EQ(parsed(text), plan);
  EXPECT_EQ(to_string(parsed("layers=4"), registry()), to_string(Plan()));
}

TEST(OwnKey, HasAShortName) {
  EXPECT_EQ(short_name(parsed("march=downwards layers=4 mapping=simd_points"), registry()),
            "mapping=simd_points layers=4 march=downwards");
  EXPECT_EQ(short_name(parsed("mapping=simd_points layers=1 march=downwards"), registry()),
            "mapping=simd_points layers=1");
}

TEST(OwnKey, IsRefusedWithTheNearestNameAndTheRange) {
  EXPECT_NE(refusal("layer=4").find("did you mean 'layers'?"), std::string::npos) << refusal("layer=4");
  EXPECT_NE(refusal("march=upward").find("did you mean 'upwards'?"), std::string::npos) << refusal("march=upward");
  EXPECT_NE(refusal("layers=3").find("layers = 3 is no power of two"), std::string::npos) << refusal("layers=3");
  EXPECT_THROW((void)schedule::parse_plan("layers=4"), base::InputError); // no row of the program has it
}

TEST(OwnKey, CountsInSimilarity) {
  const auto two = parsed("mapping=simd_points"), four = parsed("mapping=simd_points layers=4");
  EXPECT_DOUBLE_EQ(similarity(two, four, registry()), layers.shared);
  EXPECT_EQ(similarity(two, parsed("mapping=simd_points march=downwards"), registry()), 0);
  EXPECT_EQ(similarity(Plan(), parsed("layers=4"), registry()), 1); // its mapping has no such key
}

TEST(OwnKey, IsVariedWithItsMappingAlone) {
  schedule::PlanningProblem problem;
  problem.is_tensor = true;
  problem.num_dofs = problem.num_points = 24 * 24 * 24;
  problem.nodes_per_axis = problem.points_per_axis = 24;
  problem.output_bytes = 1;
  problem.factor_storages = {kernel::FactorStorage::store};
  int num_own = 0;
  for (const auto& plan : candidates(problem, registry())) {
    const bool has_key = plan[schedule::key::mapping].name == "simd_points";
    EXPECT_TRUE(has_key || plan[layers] == layers.initial);
    num_own += plan[layers] == 4 ? 1 : 0;
  }
  EXPECT_GT(num_own, 0);
}

} // namespace
} // namespace rafter::tune

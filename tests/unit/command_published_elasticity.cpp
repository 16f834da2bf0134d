// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include <bench/published_elasticity.hpp>

namespace rafter::bench {
namespace {

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

TEST(PublishedElasticity, FlopsAreThoseOfTable5) {
  EXPECT_EQ(published_elasticity_flops(1), 7107);
  EXPECT_EQ(published_elasticity_flops(2), 22892);
  EXPECT_EQ(published_elasticity_flops(4), 119688);
  EXPECT_EQ(published_elasticity_flops(8), 956048);
}

TEST(PublishedElasticity, FlopsPerUnknownAreLeastAtDegree6) {
  constexpr std::array per_dof{2369.0, 953.8, 702.4, 623.4, 598.1, 596.0, 605.8, 622.4};
  for (int p = 1; p <= 8; ++p) EXPECT_NEAR(published_elasticity_flops_per_dof(p), per_dof[p - 1], 0.05) << p;
}

TEST(PublishedElasticity, IntensityIsThatOfTable5) {
  EXPECT_NEAR(rounded(published_elasticity_intensity(1), 0.1), 6.6, 1e-9);
  EXPECT_NEAR(rounded(published_elasticity_intensity(2), 0.1), 7.5, 1e-9);
  EXPECT_NEAR(rounded(published_elasticity_intensity(4), 0.1), 9.6, 1e-9);
  EXPECT_NEAR(rounded(published_elasticity_intensity(8), 0.1), 13.9, 1e-9);
}

TEST(PublishedElasticity, SpeedUpsAreThoseOfTable7) {
  constexpr std::array marginal{12.74, 1.01, 2.15, 1.96};
  for (std::size_t i = 0; i < marginal.size(); ++i) {
    const auto& [before, after] = std::pair(published_elasticity_steps[i], published_elasticity_steps[i + 1]);
    EXPECT_NEAR(rounded(before.seconds / after.seconds, 0.01), marginal[i], 1e-9) << after.name;
    EXPECT_EQ(published_elasticity_marginal_speed_up(after.name), before.seconds / after.seconds) << after.name;
  }
  EXPECT_NEAR(rounded(published_elasticity_speed_up("+ slice-wise").value(), 0.01), 54.19, 1e-9);
  EXPECT_FALSE(published_elasticity_speed_up("none").has_value());
  EXPECT_FALSE(published_elasticity_marginal_speed_up("baseline").has_value());
}

TEST(PublishedElasticity, WorkArraysAreThoseOfTable1) {
  constexpr std::array kilobytes{1.4, 1.4, 21.6, 72.0, 48.0, 24.0, 2.4, 2.2};
  ASSERT_EQ(kilobytes.size(), published_elasticity_arrays.size());
  for (std::size_t i = 0; i < kilobytes.size(); ++i)
    EXPECT_NEAR(rounded(published_elasticity_arrays[i].bytes(8) / 1000, 0.1), kilobytes[i], 1e-9)
        << published_elasticity_arrays[i].name;
}

} // namespace
} // namespace rafter::bench

// SPDX-License-Identifier: BSD-3-Clause
// The formulas of the suite axlocal give the numbers that the paper prints.
#include <gtest/gtest.h>

#include <bench/published_axlocal.hpp>

namespace rafter::bench {
namespace {

TEST(PublishedAxlocal, TableTwo) {
  struct Row {
    PublishedEquation equation;
    int components;
    // Operations are for 4 and 8 points per direction; words are per point, without the matrix of derivatives.
    double flops4, flops8, words;
  };
  for (const auto& row :
       {Row{published_poisson, 1, 4032, 56832, 8}, Row{published_helmholtz, 1, 4352, 59392, 11},
        Row{published_poisson, 3, 12096, 170496, 12}, Row{published_helmholtz, 3, 13056, 178176, 15}}) {
    EXPECT_EQ(row.equation.algorithm_flops(row.components, 4), row.flops4);
    EXPECT_EQ(row.equation.algorithm_flops(row.components, 8), row.flops8);
    for (const double N : {4.0, 8.0}) {
      const double bytes = 8 * (row.words * N * N * N + N * N);
      EXPECT_EQ(row.equation.full_access_bytes(row.components, N), bytes);
      EXPECT_EQ(published_full_access(row.equation).bytes(row.components, N), bytes);
    }
  }
}

TEST(PublishedAxlocal, FigureFive) {
  // The machine has 9.7 TFLOP/s and 1360 GB/s. Three components of Poisson's equation reach this balance at 18 points.
  constexpr double balance = 9700.0 / 1360;
  EXPECT_LT(published_poisson.intensity(3, 17), balance);
  EXPECT_GE(published_poisson.intensity(3, 18), balance);
  for (const double N : {4.0, 8.0, 18.0}) {
    EXPECT_LT(published_poisson.intensity(1, N), published_poisson.intensity(3, N));
    EXPECT_LT(published_helmholtz.intensity(1, N), published_helmholtz.intensity(3, N));
  }
}

TEST(PublishedAxlocal, TableThree) {
  EXPECT_EQ(published_parallelepiped(published_poisson).flops(8), 3584);
  EXPECT_EQ(published_parallelepiped(published_helmholtz).flops(4), 512);
  EXPECT_EQ(published_trilinear(published_poisson).flops(4), 6128);
  EXPECT_EQ(published_trilinear(published_poisson).flops(8), 44416);
  EXPECT_EQ(published_partial(published_helmholtz).flops(8), 34176);
  EXPECT_EQ(published_trilinear(published_helmholtz).words(4), 24 + 2 * 64);
  const auto& [remacle, nekrs, karp] = published_approaches;
  EXPECT_EQ(remacle.factors(published_poisson).flops(4), 242 * 64);
  EXPECT_EQ(nekrs.factors(published_poisson).flops(8), 296 * 512);
  EXPECT_EQ(karp.factors(published_poisson).flops(8), 81 * 512 + 18 * 4096);
  EXPECT_EQ(remacle.factors(published_poisson).words(8), 24);
  EXPECT_EQ(karp.factors(published_poisson).words(8), 24 + 512);
  EXPECT_EQ(nekrs.factors(published_helmholtz).words(8), 24 + 2 * 512);
}

} // namespace
} // namespace rafter::bench

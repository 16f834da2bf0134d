// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>

/// Figures of K. Banas, F. Kruzel, J. Bielanski, "Finite element numerical integration for first order approximations
/// on multi- and many-core architectures", Computer Methods in Applied Mechanics and Engineering 305 (2016), 827-848.
namespace rafter::bench {

/// Tables 4 and 7, for the orders qss, sqs, ssq.
struct PublishedIntegration {
  const char* problem;
  int accesses;                    ///< numbers read and written per cell
  std::array<int, 3> operations;   ///< per cell
  std::array<double, 3> xeon_ns;   ///< per cell, two Xeon E5-2620 of six cores each
  std::array<double, 3> phi_ns;    ///< Xeon Phi 5110P
  std::array<double, 3> kepler_ns; ///< Tesla K20m
};
constexpr int published_xeon_cores = 12;
constexpr std::array published_integration{
    PublishedIntegration{
        "tetrahedron-poisson", 36, {290, 290, 290}, {19.31, 18.77, 17.76}, {8.77, 11.35, 11.43}, {2.02, 2.02, 2.02}},
    PublishedIntegration{"prism-poisson",
                         66,
                         {2700, 10416, 54876},
                         {49.74, 128.07, 385.33},
                         {25.09, 41.20, 101.20},
                         {12.80, 38.39, 94.99}},
    PublishedIntegration{"tetrahedron-convection",
                         52,
                         {986, 986, 1623},
                         {26.74, 24.86, 26.11},
                         {17.11, 15.97, 16.53},
                         {4.46, 6.05, 6.13}},
    PublishedIntegration{"prism-convection",
                         80,
                         {4806, 12492, 65232},
                         {64.27, 133.14, 475.41},
                         {33.29, 60.18, 132.46},
                         {15.58, 64.81, 194.93}}};

} // namespace rafter::bench

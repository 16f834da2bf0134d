// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string_view>

/// Holds the solves of the two-material beam that are published in Chang et al., "Shifting the sweet spot",
/// arXiv:2601.08374, tables 3, 4 and 7: 64 processes on a Kunpeng 920, relative tolerance 1e-6 in the preconditioned
/// norm.
namespace rafter::bench {

/// Seconds of table 4 have the assembly as `preconditioner`, and no `form`; table 7 has the total alone, of operators
/// after a step of the ablation (published_elasticity_steps).
struct PublishedSolve {
  std::string_view solver;
  int degree;
  double dofs;
  int iterations;                            ///< 0: not published, nor the seconds of the phases
  double preconditioner, form, solve, total; ///< seconds
  double gigabytes = 0;                      ///< most memory of all processes; 0: not published
};

inline constexpr double small_beam = 839'619, medium_beam = 6'502'275, large_beam = 51'171'075;
inline constexpr std::array published_solves{
    // Table 3.
    PublishedSolve{"fa_amg", 1, small_beam, 65, .15, .13, 2.16, 2.50},
    PublishedSolve{"fa_gmg", 1, small_beam, 6, .35, 0, .16, .57},
    PublishedSolve{"pa_jac", 1, small_beam, 915, .08, .03, 35.89, 36.07},
    PublishedSolve{"pa_gmg", 1, small_beam, 6, .52, .03, 1.47, 2.08},
    PublishedSolve{"fa_amg", 2, small_beam, 47, .35, .26, 3.45, 4.07},
    PublishedSolve{"fa_gmg", 2, small_beam, 7, .71, 0, .32, 1.05},
    PublishedSolve{"pa_jac", 2, small_beam, 1195, .04, .02, 19.41, 19.49},
    PublishedSolve{"pa_gmg", 2, small_beam, 7, .27, .02, .85, 1.15},
    PublishedSolve{"fa_amg", 4, small_beam, 52, 3.53, .89, 13.50, 17.92},
    PublishedSolve{"fa_gmg", 4, small_beam, 9, 4.88, 0, 1.20, 6.09},
    PublishedSolve{"pa_jac", 4, small_beam, 1548, .07, .02, 34.37, 34.47},
    PublishedSolve{"pa_gmg", 4, small_beam, 9, .32, .02, 1.23, 1.58},
    PublishedSolve{"fa_amg", 8, small_beam, 57, 457.5, 5.48, 60.29, 523.32},
    PublishedSolve{"fa_gmg", 8, small_beam, 12, 464.99, .01, 6.82, 471.87},
    PublishedSolve{"pa_jac", 8, small_beam, 1937, .27, .07, 127.27, 127.66},
    PublishedSolve{"pa_gmg", 8, small_beam, 12, .97, .07, 4.49, 5.58},
    PublishedSolve{"fa_amg", 1, medium_beam, 63, 1.22, 1.58, 19.17, 22.47},
    PublishedSolve{"fa_gmg", 1, medium_beam, 7, 3.39, 0, 1.34, 5.23},
    PublishedSolve{"pa_jac", 1, medium_beam, 1829, .67, .31, 564.25, 565.75},
    PublishedSolve{"pa_gmg", 1, medium_beam, 7, 4.22, .28, 13.10, 18.09},
    PublishedSolve{"fa_amg", 2, medium_beam, 60, 2.78, 2.52, 35.74, 41.13},
    PublishedSolve{"fa_gmg", 2, medium_beam, 7, 6.21, 0, 2.42, 8.72},
    PublishedSolve{"pa_jac", 2, medium_beam, 2387, .35, .13, 336.77, 337.33},
    PublishedSolve{"pa_gmg", 2, medium_beam, 7, 2.26, .13, 6.76, 9.24},
    PublishedSolve{"fa_amg", 4, medium_beam, 56, 29.76, 5.13, 116.09, 151.01},
    PublishedSolve{"fa_gmg", 4, medium_beam, 8, 39.14, .01, 8.54, 47.73},
    PublishedSolve{"pa_jac", 4, medium_beam, 3097, .50, .18, 551.35, 552.06},
    PublishedSolve{"pa_gmg", 4, medium_beam, 8, 2.52, .17, 8.72, 11.45},
    PublishedSolve{"fa_amg", 8, medium_beam, 61, 3652.73, 58.52, 1122.78, 4834.10},
    PublishedSolve{"fa_gmg", 8, medium_beam, 12, 3734.54, .05, 53.79, 3788.44},
    PublishedSolve{"pa_jac", 8, medium_beam, 3864, 1.63, .52, 2031.02, 2033.24},
    PublishedSolve{"pa_gmg", 8, medium_beam, 12, 7.19, .52, 35.69, 43.47},
    // Table 4.
    PublishedSolve{"fa_gmg", 1, large_beam, 6, 45.12, 0, 9.47, 59.78, 141.36},
    PublishedSolve{"pa_gmg", 1, large_beam, 6, 21.98, 0, 59.66, 88.30, 196.03},
    PublishedSolve{"paop_gmg", 1, large_beam, 6, 6.87, 0, 14.04, 26.28, 196.01},
    PublishedSolve{"fa_gmg", 2, large_beam, 7, 93.43, 0, 24.33, 118.58, 321.56},
    PublishedSolve{"pa_gmg", 2, large_beam, 7, 10.01, 0, 31.51, 42.94, 78.55},
    PublishedSolve{"paop_gmg", 2, large_beam, 7, 3.10, 0, 8.06, 12.10, 78.55},
    PublishedSolve{"pa_gmg", 4, large_beam, 8, 8.74, 0, 30.60, 40.24, 39.82},
    PublishedSolve{"paop_gmg", 4, large_beam, 8, 1.79, 0, 6.19, 8.38, 39.82},
    PublishedSolve{"pa_gmg", 8, large_beam, 11, 27.06, 0, 131.56, 161.00, 33.45},
    PublishedSolve{"paop_gmg", 8, large_beam, 11, 1.54, 0, 8.43, 10.35, 33.44},
    // Table 7.
    PublishedSolve{"baseline", 8, large_beam, 0, 0, 0, 0, 161.70},
    PublishedSolve{"C1", 8, large_beam, 0, 0, 0, 0, 24.24}, PublishedSolve{"C2", 8, large_beam, 0, 0, 0, 0, 19.20},
    PublishedSolve{"C3", 8, large_beam, 0, 0, 0, 0, 13.00}};

} // namespace rafter::bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>

/// Holds the operations and words per cell that are published in Cao, Sun, Zhang, Li, "Towards a higher roofline for
/// matrix-vector multiplication in matrix-free HOSFEM", tables 2 and 3. N is the number of points per direction, which
/// are the nodes.
namespace rafter::bench {

struct PublishedEquation {
  int flops_per_point; ///< operations per component besides contractions
  int factors;         ///< number of geometric factors
  int coefficients;    ///< numbers per point that the kernel reads besides the factors
  /// Operations that compute geometric factors are not counted here.
  double algorithm_flops(int components, double N) const {
    return components * (12 * N * N * N * N + flops_per_point * N * N * N);
  }
  /// Returns the bytes of the kernel that reads all factors (table 2): input and output, factors and coefficients, and
  /// the matrix of derivatives.
  double full_access_bytes(int components, double N) const {
    return 8 * ((2 * components + factors + coefficients) * N * N * N + N * N);
  }
  /// Returns the operations per byte of that kernel (figure 5).
  double intensity(int components, double N) const {
    return algorithm_flops(components, N) / full_access_bytes(components, N);
  }
};
inline constexpr PublishedEquation published_poisson{15, 6, 0}, published_helmholtz{20, 7, 2};

/// Geometric factors of a cell take operations and words, from which they and the coefficients are read. The numbers
/// are per cell, per coordinate of a point, per pair of coordinates, and per point.
struct PublishedFactors {
  /// The last one is multiplied by N^4.
  double flops_per_axis = 0, flops_per_line = 0, flops_per_point = 0, flops_per_contraction = 0;
  double cell_words = 0, point_words = 0;
  /// If set, bytes include the matrix of derivatives, which section 5.3 leaves out for other kernels.
  bool has_matrix = false;
  double flops(double N) const {
    return flops_per_axis * N + flops_per_line * N * N + flops_per_point * N * N * N +
           flops_per_contraction * N * N * N * N;
  }
  double words(double N) const { return cell_words + point_words * N * N * N; }
  double bytes(int components, double N) const {
    return 8 * (2 * components * N * N * N + words(N) + (has_matrix ? N * N : 0));
  }
};
constexpr PublishedFactors published_full_access(const PublishedEquation& equation) {
  return {.point_words = static_cast<double>(equation.factors + equation.coefficients), .has_matrix = true};
}
constexpr PublishedFactors published_parallelepiped(const PublishedEquation& equation) {
  return {.flops_per_point = equation.factors + 1.0,
          .cell_words = static_cast<double>(equation.factors),
          .point_words = static_cast<double>(equation.coefficients)};
}
constexpr PublishedFactors published_trilinear(const PublishedEquation& equation) {
  return {.flops_per_axis = 72,
          .flops_per_line = 45,
          .flops_per_point = 80,
          .cell_words = 24,
          .point_words = static_cast<double>(equation.coefficients)};
}
/// Section 4.2 merges scalar factors into the coefficients; without coefficients one number is stored per point.
constexpr PublishedFactors published_partial(const PublishedEquation& equation) {
  auto factors = published_trilinear(equation);
  factors.flops_per_point = 60;
  if (equation.coefficients == 0) factors.point_words = 1;
  return factors;
}

/// Others have these approaches for trilinear cells (table 3, last columns), and read coefficients besides.
struct PublishedApproach {
  const char *name, *source;
  PublishedFactors geometry;
  PublishedFactors factors(const PublishedEquation& equation) const {
    auto result = geometry;
    result.point_words += equation.coefficients;
    return result;
  }
};
inline constexpr std::array published_approaches{
    PublishedApproach{
        "remacle", "Remacle et al., doi:10.1016/j.jcp.2016.08.005", {.flops_per_point = 242, .cell_words = 24}},
    PublishedApproach{"nekrs", "NekRS, github.com/Nek5000/nekRS", {.flops_per_point = 296, .cell_words = 24}},
    PublishedApproach{"karp",
                      "Karp et al., doi:10.1145/3492805.3492808",
                      {.flops_per_point = 81, .flops_per_contraction = 18, .cell_words = 24, .point_words = 1}}};

} // namespace rafter::bench

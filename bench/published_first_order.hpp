// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <optional>
#include <string_view>

#include <bench/integration_rates.hpp>

/// Figures of K. Banas, F. Kruzel, J. Bielanski, "Finite element numerical integration for first order approximations
/// on multi- and many-core architectures", Computer Methods in Applied Mechanics and Engineering 305 (2016), 827-848.
namespace rafter::bench {

inline constexpr std::array<std::string_view, 3> published_orders{"qss", "sqs", "ssq"};

/// Tables 3 and 4: numbers and operations of a cell.
struct PublishedIntegration {
  const char* problem;
  int geometry_words, coefficient_words; ///< input
  int matrix_words, vector_words;        ///< output
  /// Numbers in arrays while a cell is computed, without its geometry: qss with what belongs to one point, qss with all
  /// points, ssq with all points. The paper has none for sqs.
  int point_words, all_points_words, entry_words;
  /// Accesses of qss to shared memory, where the geometry, the coefficients, the shape functions, or matrix and vector
  /// stand there.
  int shared_geometry, shared_coefficients, shared_functions, shared_matrix;
  std::array<int, 3> operations; ///< operations of a cell, shape (order)

  constexpr int input_words() const { return geometry_words + coefficient_words; }
  constexpr int output_words() const { return matrix_words + vector_words; }
  constexpr IntegrationCounts counts(std::size_t order) const {
    return {.operations = static_cast<double>(operations[order]),
            .input_words = static_cast<double>(input_words()),
            .output_words = static_cast<double>(output_words())};
  }
};
inline constexpr std::array published_integration{
    PublishedIntegration{"tetrahedron-poisson", 12, 4, 16, 4, 37, 52, 14, 12, 4, 60, 180, {290, 290, 290}},
    PublishedIntegration{"prism-poisson", 18, 6, 36, 6, 67, 192, 16, 108, 6, 210, 546, {2700, 10416, 54876}},
    PublishedIntegration{"tetrahedron-convection", 12, 20, 16, 4, 56, 68, 30, 12, 80, 60, 180, {986, 986, 1623}},
    PublishedIntegration{"prism-convection", 18, 20, 36, 6, 86, 206, 30, 108, 120, 210, 546, {4806, 12492, 65232}}};

/// Nanoseconds of a cell, shape (problem, order).
using PublishedTimes = std::array<std::array<double, 3>, published_integration.size()>;

/// A platform of the paper: cores of table 1 (those that were used), the rates of STREAM and DGEMM of table 5, the
/// estimates of table 6 as they are printed, and the times of table 7.
struct PublishedPlatform {
  const char *key, *label, *name; ///< its names in keys of rows, in heads of columns and in legends
  IntegrationRates rates;
  PublishedTimes estimates, times;

  /// The share that table 7 prints: the estimate of tables 4 and 5 over the time.
  constexpr double share(std::size_t problem, std::size_t order) const {
    return estimated_ns(published_integration[problem].counts(order), rates).value() / times[problem][order];
  }
  /// The order of loops that is fastest for a problem.
  constexpr std::size_t best_order(std::size_t problem) const {
    std::size_t best = 0;
    for (std::size_t order = 1; order < published_orders.size(); ++order)
      if (times[problem][order] < times[problem][best]) best = order;
    return best;
  }
};
/// The estimates of ssq on prisms for the Xeon Phi contradict tables 4 and 5, from which 65.33 and 77.66 follow. The
/// paper prints the numbers of sqs on the two Xeons there. The shares that table 7 prints belong to the right ones.
inline constexpr std::array published_platforms{
    PublishedPlatform{
        "xeon",
        "Xeon",
        "2 x Xeon E5-2620",
        {.stream_bytes = 67e9, .product_flops = 0.18e12, .cores = 12},
        {{{4.30, 4.30, 4.30}, {15.00, 57.87, 304.87}, {6.21, 6.21, 9.02}, {26.70, 69.40, 362.40}}},
        {{{19.31, 18.77, 17.76}, {49.74, 128.07, 385.33}, {26.74, 24.86, 26.11}, {64.27, 133.14, 475.41}}}},
    PublishedPlatform{"phi",
                      "Phi",
                      "Xeon Phi 5110P",
                      {.stream_bytes = 171e9, .product_flops = 0.84e12, .cores = 59},
                      {{{1.68, 1.68, 1.68}, {3.21, 12.40, 57.87}, {2.43, 2.43, 2.43}, {5.72, 14.87, 69.40}}},
                      {{{8.77, 11.35, 11.43}, {25.09, 41.20, 101.20}, {17.11, 15.97, 16.53}, {33.29, 60.18, 132.46}}}},
    PublishedPlatform{"kepler",
                      "K20m",
                      "Tesla K20m",
                      {.stream_bytes = 144e9, .product_flops = 1.10e12, .cores = 13},
                      {{{2.00, 2.00, 2.00}, {3.67, 9.47, 49.89}, {2.89, 2.89, 2.89}, {4.44, 11.36, 59.30}}},
                      {{{2.02, 2.02, 2.02}, {12.80, 38.39, 94.99}, {4.46, 6.05, 6.13}, {15.58, 64.81, 194.93}}}}};

/// Position in `published_integration`, for cells of degree 1; nothing for problems that the paper does not have.
constexpr std::optional<std::size_t> published_problem(std::string_view problem, int degree) {
  for (std::size_t i = 0; i < published_integration.size() && degree == 1; ++i)
    if (published_integration[i].problem == problem) return i;
  return std::nullopt;
}
/// Position in `published_orders`.
constexpr std::optional<std::size_t> published_order(std::string_view order) {
  for (std::size_t i = 0; i < published_orders.size(); ++i)
    if (published_orders[i] == order) return i;
  return std::nullopt;
}

} // namespace rafter::bench

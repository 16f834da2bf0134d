// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

/// Holds the operations, bytes and work arrays per cell that are published in Chang et al., "Shifting the sweet spot",
/// arXiv:2601.08374, for elasticity on affine hexahedra of degree p with D = p + 1 nodes and Q = p + 2 points along
/// each axis.
namespace rafter::bench {

/// The paper's kernel PAop (table 5) contracts three components along x, y, z forward (2, 3, 3 outputs) and z, y, x
/// backward. It takes 45 operations at a point for the gradient, 23 for the weighted stress and 45 for its
/// transformation, and at a node the sum of three channels and its addition.
constexpr double published_elasticity_flops(int degree) {
  const double D = degree + 1, Q = degree + 2;
  return 30 * D * D * D * Q + 36 * D * D * Q * Q + 36 * D * Q * Q * Q + 113 * Q * Q * Q + 12 * D * D * D;
}
/// Returns the compulsory bytes of its theoretical intensity: the argument is read, the result is read and written, and
/// there are two Lame parameters at each point and the inverse Jacobian of the cell.
constexpr double published_elasticity_bytes(int degree) {
  const double D = degree + 1, Q = degree + 2;
  return 8 * (9 * D * D * D + 2 * Q * Q * Q + 9);
}
/// Returns operations per unknown of a large mesh, where p^3 nodes with three components belong to a cell.
constexpr double published_elasticity_flops_per_dof(int degree) {
  return published_elasticity_flops(degree) / (3.0 * degree * degree * degree);
}
constexpr double published_elasticity_intensity(int degree) {
  return published_elasticity_flops(degree) / published_elasticity_bytes(degree);
}

/// This is the ratio of the operations of MFEM's partial assembly to those of PAop, by degree, as table 5 prints it.
inline const std::map<int, int> published_elasticity_ratios{{1, 2}, {2, 2}, {4, 5}, {8, 14}};

/// The kernel takes so many seconds after a step of the ablation (table 7: degree 8, 51.17 million unknowns, 64
/// processes on a Kunpeng 920); the last step makes it PAop.
struct PublishedStep {
  std::string_view name;
  double seconds;
};
inline constexpr int published_elasticity_steps_degree = 8;
inline constexpr std::array published_elasticity_steps{
    PublishedStep{"baseline", 148.47}, PublishedStep{"+ sum factorisation", 11.65}, PublishedStep{"+ Voigt", 11.55},
    PublishedStep{"+ fusion", 5.38}, PublishedStep{"+ slice-wise", 2.74}};
/// Returns how many times faster than the baseline the kernel is after a step; nothing for other names.
constexpr std::optional<double> published_elasticity_speed_up(std::string_view step) {
  for (const auto& [name, seconds] : published_elasticity_steps)
    if (name == step) return published_elasticity_steps.front().seconds / seconds;
  return std::nullopt;
}

/// Returns how many times faster the kernel is than after the step before; nothing for the baseline and other names.
constexpr std::optional<double> published_elasticity_marginal_speed_up(std::string_view step) {
  for (std::size_t i = 1; i < published_elasticity_steps.size(); ++i)
    if (published_elasticity_steps[i].name == step)
      return published_elasticity_steps[i - 1].seconds / published_elasticity_steps[i].seconds;
  return std::nullopt;
}

/// A work array of PAop holds `factor` D^nodes Q^points doubles of a cell (table 1).
struct PublishedWorkArray {
  const char* name;
  int factor, nodes, points;
  const char* lifetime;
  constexpr double bytes(int degree) const {
    double words = factor;
    for (int i = 0; i < nodes; ++i) words *= degree + 1;
    for (int i = 0; i < points; ++i) words *= degree + 2;
    return 8 * words;
  }
};
inline constexpr std::array published_elasticity_arrays{PublishedWorkArray{"BG", 2, 1, 1, "cell"},
                                                        PublishedWorkArray{"sm0", 2, 1, 1, "layer of nodes"},
                                                        PublishedWorkArray{"sm1", 3, 1, 2, "cell"},
                                                        PublishedWorkArray{"grad_vec", 9, 0, 3, "cell"},
                                                        PublishedWorkArray{"stress", 6, 0, 3, "cell"},
                                                        PublishedWorkArray{"Q_vec_q", 3, 0, 3, "component"},
                                                        PublishedWorkArray{"tmpZ", 3, 0, 2, "layer of nodes"},
                                                        PublishedWorkArray{"tmpY", 3, 1, 1, "layer of nodes"}};

} // namespace rafter::bench

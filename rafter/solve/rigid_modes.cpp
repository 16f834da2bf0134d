// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/rigid_modes.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {

std::vector<Mode> constant_modes(const op::System& system, std::size_t field) {
  const auto& space = *system.spaces[field];
  std::vector<Mode> modes;
  for (int c = 0; c < space.num_components(); ++c)
    modes.push_back({space.components == 0 ? "constants of " + space.name
                                           : fmt::format("constants of component {} of {}", c, space.name),
                     field, c});
  return modes;
}

std::vector<Mode> rotation_modes(const op::System& system, std::size_t field) {
  const auto& space = *system.spaces[field];
  std::vector<Mode> modes;
  if (space.components != system.mesh->gdim) return modes;
  for (int i = 0; i < space.components; ++i)
    for (int j = 0; j < i; ++j) modes.push_back({"rotations of " + space.name, field, i, j});
  return modes;
}

std::vector<double> centres_for(const Unknowns& unknowns, std::int32_t num_pieces, const Mode& mode) {
  if (mode.other < 0) return {};
  const auto dim = static_cast<std::size_t>(unknowns.gdim), count = static_cast<std::size_t>(num_pieces);
  std::vector<double> sums(count * dim, 0.0);
  PerPiece counts(count, 0.0);
  const auto begin = static_cast<std::size_t>(unknowns.field_offsets[mode.field]),
             end = static_cast<std::size_t>(unknowns.field_offsets[mode.field + 1]);
  for (std::size_t i = begin; i < end; ++i) {
    if (unknowns.piece[i] < 0) continue;
    const auto piece = static_cast<std::size_t>(unknowns.piece[i]);
    counts[piece] += 1;
    for (std::size_t a = 0; a < dim; ++a) sums[piece * dim + a] += unknowns.point(i)[a];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= std::max(counts[i / dim], 1.0);
  return sums;
}

double mode_value(const Unknowns& unknowns, const Mode& mode, std::span<const double> centres, std::size_t entry) {
  if (unknowns.piece[entry] < 0 || unknowns.field_of(entry) != mode.field) return 0;
  const auto from_centre = [&](int axis) {
    const auto a = static_cast<std::size_t>(axis), dim = static_cast<std::size_t>(unknowns.gdim);
    return unknowns.point(entry)[a] - centres[static_cast<std::size_t>(unknowns.piece[entry]) * dim + a];
  };
  const int component = unknowns.component[entry];
  if (component == mode.component) return mode.other < 0 ? 1.0 : from_centre(mode.other);
  return component == mode.other ? -from_centre(mode.component) : 0;
}

PerPiece piece_norms(const Unknowns& unknowns, std::int32_t num_pieces, std::span<const double> values,
                     std::span<const std::uint8_t> is_free) {
  PerPiece squares(static_cast<std::size_t>(num_pieces), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (unknowns.piece[i] >= 0 && (is_free.empty() || is_free[i] != 0))
      squares[static_cast<std::size_t>(unknowns.piece[i])] += values[i] * values[i];
  for (double& square : squares) square = std::sqrt(square);
  return squares;
}

PerPiece magnitudes(const op::LinearOperator& A, const Unknowns& unknowns, std::int32_t num_pieces, std::size_t field,
                    std::span<const std::uint8_t> is_free) {
  const auto size = static_cast<std::size_t>(A.size());
  Vector probe(A.device(), size), image(A.device(), size);
  VectorOps(A.device()).fill_random(1, probe);
  const auto entries = probe.host_write();
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (is_free[i] == 0 || unknowns.field_of(i) != field) entries[i] = 0;
  A.apply(probe, image);
  const auto of_probe = piece_norms(unknowns, num_pieces, probe.host_read(), is_free);
  auto result = piece_norms(unknowns, num_pieces, image.host_read(), is_free);
  for (std::size_t p = 0; p < result.size(); ++p) result[p] /= of_probe[p] > 0 ? of_probe[p] : 1;
  return result;
}

} // namespace rafter::solvers

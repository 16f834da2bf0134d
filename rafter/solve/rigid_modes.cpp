// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/rigid_modes.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/element/dense.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/function_space.hpp>

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

std::vector<double> centres_for(const Unknowns& unknowns, std::int32_t num_connected_components, const Mode& mode) {
  if (mode.other < 0) return {};
  const auto dim = static_cast<std::size_t>(unknowns.gdim), count = static_cast<std::size_t>(num_connected_components);
  std::vector<double> sums(count * dim, 0.0);
  PerConnectedComponent counts(count, 0.0);
  const auto begin = static_cast<std::size_t>(unknowns.field_offsets[mode.field]),
             end = static_cast<std::size_t>(unknowns.field_offsets[mode.field + 1]);
  for (std::size_t i = begin; i < end; ++i) {
    if (unknowns.connected_component[i] < 0) continue;
    const auto connected_component = static_cast<std::size_t>(unknowns.connected_component[i]);
    counts[connected_component] += 1;
    for (std::size_t a = 0; a < dim; ++a) sums[connected_component * dim + a] += unknowns.point(i)[a];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= std::max(counts[i / dim], 1.0);
  return sums;
}

double mode_value(const Unknowns& unknowns, const Mode& mode, std::span<const double> centres, std::size_t entry) {
  if (unknowns.connected_component[entry] < 0 || unknowns.field_of(entry) != mode.field) return 0;
  const auto from_centre = [&](int axis) {
    const auto a = static_cast<std::size_t>(axis), dim = static_cast<std::size_t>(unknowns.gdim);
    return unknowns.point(entry)[a] - centres[static_cast<std::size_t>(unknowns.connected_component[entry]) * dim + a];
  };
  const int component = unknowns.component[entry];
  if (component == mode.component) return mode.other < 0 ? 1.0 : from_centre(mode.other);
  return component == mode.other ? -from_centre(mode.component) : 0;
}

double mode_jump(const Mode& mode, const std::array<double, 3>& translation, int component) {
  if (mode.other < 0) return 0;
  if (component == mode.component) return translation[static_cast<std::size_t>(mode.other)];
  return component == mode.other ? -translation[static_cast<std::size_t>(mode.component)] : 0;
}

namespace {

/// Computes y -= a x.
void subtract(double a, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] -= a * x[i];
}

} // namespace

FreeModes::FreeModes(const Unknowns& unknowns, std::int32_t num_connected_components, std::vector<Mode> modes,
                     std::span<const std::int32_t> constrained)
    : unknowns_(unknowns), modes_(std::move(modes)), entries_(static_cast<std::size_t>(num_connected_components)),
      constrained_(static_cast<std::size_t>(num_connected_components)) {
  for (const auto& mode : modes_) centres_.push_back(centres_for(unknowns_, num_connected_components, mode));
  if (modes_.empty()) return;
  const auto field = modes_[0].field;
  for (auto i = unknowns_.field_offsets[field]; i < unknowns_.field_offsets[field + 1]; ++i)
    if (const auto connected_component = unknowns_.connected_component[static_cast<std::size_t>(i)];
        connected_component >= 0)
      entries_[static_cast<std::size_t>(connected_component)].push_back(i);
  for (const auto i : constrained)
    if (const auto entry = static_cast<std::size_t>(i);
        unknowns_.field_of(entry) == field && unknowns_.connected_component[entry] >= 0)
      constrained_[static_cast<std::size_t>(unknowns_.connected_component[entry])].push_back(i);
}

std::vector<double> FreeModes::values(std::size_t mode, std::span<const std::int32_t> entries) const {
  std::vector<double> result;
  for (const auto entry : entries)
    result.push_back(mode_value(unknowns_, modes_[mode], centres_[mode], static_cast<std::size_t>(entry)));
  return result;
}

std::vector<double> FreeModes::constrained_values(std::size_t mode, std::size_t connected_component) const {
  auto result = values(mode, constrained_[connected_component]);
  if (connected_component < unknowns_.translations.size())
    for (const auto& translation : unknowns_.translations[connected_component])
      for (int c = 0; c < unknowns_.gdim; ++c) result.push_back(mode_jump(modes_[mode], translation, c));
  return result;
}

std::vector<FreeModes::Combination> FreeModes::on(std::int32_t connected_component) const {
  constexpr double rounding = 1e-10; // relative to a mode; one held entry in a million makes a thousandth of it
  struct Row {
    Combination combination;
    std::vector<double> constrained; ///< see constrained_values(), for the mode scaled to norm 1
    double norm = 0;                 ///< norm of the mode there
  };
  const auto p = static_cast<std::size_t>(connected_component);
  std::vector<Row> rows;
  for (std::size_t m = 0; m < modes_.size(); ++m) {
    const auto everywhere = values(m, entries_[p]);
    Row row{{m, modes_[m].name, std::vector<double>(modes_.size(), 0.0)}, constrained_values(m, p), 0};
    row.norm = std::sqrt(element::dot(everywhere, everywhere));
    if (!(row.norm > 0)) continue;
    row.combination.coefficients[m] = 1;
    for (double& value : row.constrained) value /= row.norm;
    rows.push_back(std::move(row));
  }
  while (!rows.empty()) {
    const auto pivot = std::ranges::max_element(
        rows, {}, [](const Row& row) { return element::dot(row.constrained, row.constrained); });
    const double square = element::dot(pivot->constrained, pivot->constrained);
    if (std::sqrt(square) <= rounding) break;
    const Row direction = std::move(*pivot);
    rows.erase(pivot);
    for (auto& row : rows) {
      const double factor = element::dot(row.constrained, direction.constrained) / square;
      subtract(factor, direction.constrained, row.constrained);
      subtract(factor * row.norm / direction.norm, direction.combination.coefficients, row.combination.coefficients);
    }
  }
  std::vector<Combination> result;
  for (auto& row : rows) result.push_back(std::move(row.combination));
  return result;
}

void FreeModes::evaluate(const Combination& combination, std::int32_t connected_component,
                         std::span<double> vector) const {
  const auto& entries = entries_[static_cast<std::size_t>(connected_component)];
  std::vector<double> sum(entries.size(), 0.0);
  for (std::size_t m = 0; m < modes_.size(); ++m)
    if (combination.coefficients[m] != 0) subtract(-combination.coefficients[m], values(m, entries), sum);
  for (std::size_t i = 0; i < entries.size(); ++i) vector[static_cast<std::size_t>(entries[i])] = sum[i];
}

PerConnectedComponent connected_component_norms(const Unknowns& unknowns, std::int32_t num_connected_components,
                                                std::span<const double> values, std::span<const std::uint8_t> is_free) {
  PerConnectedComponent squares(static_cast<std::size_t>(num_connected_components), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (unknowns.connected_component[i] >= 0 && (is_free.empty() || is_free[i] != 0))
      squares[static_cast<std::size_t>(unknowns.connected_component[i])] += values[i] * values[i];
  for (double& square : squares) square = std::sqrt(square);
  return squares;
}

PerConnectedComponent magnitudes(const op::LinearOperator& A, const Unknowns& unknowns,
                                 std::int32_t num_connected_components, std::size_t field,
                                 std::span<const std::uint8_t> is_free) {
  const auto size = static_cast<std::size_t>(A.size());
  Vector probe(A.device(), size), image(A.device(), size);
  VectorOps(A.device()).fill_random(1, probe);
  const auto entries = probe.host_write();
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (is_free[i] == 0 || unknowns.field_of(i) != field) entries[i] = 0;
  A.apply(probe, image);
  const auto of_probe = connected_component_norms(unknowns, num_connected_components, probe.host_read(), is_free);
  auto result = connected_component_norms(unknowns, num_connected_components, image.host_read(), is_free);
  for (std::size_t p = 0; p < result.size(); ++p) result[p] /= of_probe[p] > 0 ? of_probe[p] : 1;
  return result;
}

} // namespace rafter::solvers

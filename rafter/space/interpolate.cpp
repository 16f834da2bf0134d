// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <rafter/base/error.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/point_evaluation.hpp>

namespace rafter::space {

void evaluate_checked(const SpatialFunction& function, std::span<const double> x, std::span<double> values,
                      std::string_view what) {
  function(x, values);
  for (std::size_t c = 0; c < values.size(); ++c)
    if (!std::isfinite(values[c]))
      throw base::InputError(
          fmt::format("{} is {} in component {} at the point ({})", what, values[c], c, fmt::join(x, ", ")));
}

void interpolate(const FunctionSpace& space, const SpatialFunction& function, std::span<double> vector) {
  if (vector.size() != static_cast<std::size_t>(space.num_local()))
    throw base::InputError(fmt::format("interpolation into field '{}': the vector has {} entries, the space {}",
                                       space.name, vector.size(), space.num_local()));
  if (!function) throw base::InputError(fmt::format("interpolation into field '{}': no function given", space.name));
  const auto dim = static_cast<std::size_t>(space.gdim);
  const std::string what = fmt::format("the function interpolated into field '{}'", space.name);
  std::vector<double> values(static_cast<std::size_t>(space.num_components())), points;
  std::vector<std::uint8_t> is_done(vector.size());
  std::vector<std::int32_t> entries;
  std::vector<int> dofs; // dofs of a cell that no earlier cell has
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(space.mesh().groups.size()); ++g) {
    const auto& group = space.mesh().groups[static_cast<std::size_t>(g)];
    const auto num_dofs = static_cast<std::size_t>(space.element(group.shape)->num_dofs());
    entries.resize(num_dofs * values.size());
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto position = space.position(g, cell);
      space.cell_dofs(position.block, position.batch, position.lane, entries);
      dofs.clear();
      for (std::size_t i = 0; i < num_dofs; ++i)
        if (!std::exchange(is_done[static_cast<std::size_t>(entries[i])], std::uint8_t{1}))
          dofs.push_back(static_cast<int>(i));
      points.resize(dofs.size() * dim);
      space.node_points(g, cell, dofs, points);
      for (std::size_t i = 0; i < dofs.size(); ++i) {
        evaluate_checked(function, std::span(points).subspan(i * dim, dim), values, what);
        for (std::size_t c = 0; c < values.size(); ++c)
          vector[static_cast<std::size_t>(entries[c * num_dofs + static_cast<std::size_t>(dofs[i])])] = values[c];
      }
    }
  }
}

} // namespace rafter::space

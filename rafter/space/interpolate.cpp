// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <rafter/base/error.hpp>
#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/interpolate.hpp>
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

std::int64_t global_cell(const mesh::Mesh& mesh, std::int32_t group, std::int32_t cell) {
  if (mesh.distribution != nullptr)
    cell = mesh.distribution->global_cells[static_cast<std::size_t>(group)][static_cast<std::size_t>(cell)];
  return std::int64_t{group} << 32 | cell;
}

namespace {

/// Values of the entries of a vector at nodes of the cells of this process.
class Interpolation {
public:
  Interpolation(const FunctionSpace& space, const SpatialFunction& function, std::span<double> vector)
      : space_(space), function_(function), vector_(vector), cells_(vector.size(), -1),
        what_(fmt::format("the function interpolated into field '{}'", space.name)) {}

  void run() {
    for (std::int32_t g = 0; g < static_cast<std::int32_t>(space_.mesh().groups.size()); ++g)
      for (std::int32_t cell = 0; cell < space_.mesh().groups[static_cast<std::size_t>(g)].num_cells(); ++cell)
        add_cell(g, cell);
  }
  /// Entries have the values at their images in the lowest cell of the whole mesh. Only where x jumps are there
  /// several.
  void agree() {
    const auto* exchange = space_.exchange();
    if (exchange == nullptr || space_.mesh().surface().periodic_tags().empty()) return;
    struct Image {
      double value;
      std::int64_t cell;
    };
    std::vector<Image> images;
    for (std::size_t i = 0; i < vector_.size(); ++i) images.push_back({vector_[i], cells_[i]});
    const std::span<Image> all(images);
    exchange->finish_reverse(
        exchange->start_reverse(std::span<const Image>(images)), all,
        [](const Image& mine, const Image& theirs) { return theirs.cell < mine.cell ? theirs : mine; });
    exchange->finish_forward(exchange->start_forward(all));
    for (std::size_t i = 0; i < vector_.size(); ++i) vector_[i] = images[i].value;
  }

private:
  /// Nodes that no cell before has.
  void add_cell(std::int32_t group, std::int32_t cell) {
    const auto dim = static_cast<std::size_t>(space_.gdim);
    const auto shape = space_.mesh().groups[static_cast<std::size_t>(group)].shape;
    const auto num_dofs = static_cast<std::size_t>(space_.element(shape)->num_dofs()),
               num_components = static_cast<std::size_t>(space_.num_components());
    const auto position = space_.position(group, cell);
    entries_.resize(num_dofs * num_components);
    values_.resize(num_components);
    space_.cell_dofs(position.block, position.batch, position.cell, entries_);
    const auto entry = [&](std::size_t dof, std::size_t component) {
      return static_cast<std::size_t>(entries_[component * num_dofs + dof]);
    };
    const auto number = global_cell(space_.mesh(), group, cell);
    dofs_.clear();
    for (std::size_t i = 0; i < num_dofs; ++i)
      if (cells_[entry(i, 0)] < 0) {
        for (std::size_t c = 0; c < num_components; ++c) cells_[entry(i, c)] = number;
        dofs_.push_back(static_cast<int>(i));
      }
    points_.resize(dofs_.size() * dim);
    space_.node_points(group, cell, dofs_, points_);
    for (std::size_t i = 0; i < dofs_.size(); ++i) {
      evaluate_checked(function_, std::span(points_).subspan(i * dim, dim), values_, what_);
      for (std::size_t c = 0; c < num_components; ++c)
        vector_[entry(static_cast<std::size_t>(dofs_[i]), c)] = values_[c];
    }
  }

  const FunctionSpace& space_;
  const SpatialFunction& function_;
  std::span<double> vector_;
  std::vector<std::int64_t> cells_; ///< global_cell() where each entry was evaluated, -1: not yet
  std::string what_;                ///< name for messages
  std::vector<double> values_, points_;
  std::vector<std::int32_t> entries_;
  std::vector<int> dofs_;
};

} // namespace

void interpolate(const FunctionSpace& space, const SpatialFunction& function, std::span<double> vector) {
  if (vector.size() != static_cast<std::size_t>(space.num_local()))
    throw base::InputError(fmt::format("interpolation into field '{}': the vector has {} entries, the space {}",
                                       space.name, vector.size(), space.num_local()));
  if (!function) throw base::InputError(fmt::format("interpolation into field '{}': no function given", space.name));
  Interpolation interpolation(space, function, vector);
  comm::agree(*space.mesh().communicator(), [&] { interpolation.run(); });
  interpolation.agree();
}

} // namespace rafter::space

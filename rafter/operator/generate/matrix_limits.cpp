// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/matrix_limits.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/sliced_pattern.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

constexpr double most_places = std::numeric_limits<std::int32_t>::max();

/// Counts the unknowns of the cells around each vertex and returns the largest number. It bounds the unknowns that any
/// unknown shares a cell with.
double most_around_a_vertex(const System& system) {
  const auto& mesh = *system.mesh;
  std::vector<double> around(static_cast<std::size_t>(mesh.num_vertices), 0);
  const auto& surface = mesh.surface(); // the topology would number edges and faces, which degree 1 does without
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const int per_cell = num_local_unknowns(system, static_cast<int>(g));
    for (const auto vertex : mesh.groups[g].vertices)
      around[static_cast<std::size_t>(surface.vertex_representative(vertex))] += per_cell;
  }
  return around.empty() ? 0 : *std::ranges::max_element(around);
}

std::string too_many(const char* what, double found, double accepted) {
  return found <= accepted ? std::string() : fmt::format("{} are {:.4g}; accepted are {:.0f}", what, found, accepted);
}

} // namespace

MatrixSizes matrix_sizes(const System& system, const Coupling& coupling, double num_entries, int slice_height) {
  constexpr double filled_up = 1.1; // because rows have the length of their slice
  const double block = coupling.block_size();
  MatrixSizes result{.slice_columns = filled_up * num_entries / (block * block * slice_height),
                     .row_columns = most_around_a_vertex(system) / block};
  for (const auto& of : system.batches->blocks)
    result.cell_unknowns += static_cast<double>(of.num_cells) * num_local_unknowns(system, of.group);
  return result;
}

std::string lack_of_places(const MatrixSizes& sizes) {
  return too_many("the unknowns of all cells, of each of the cells that share one,", sizes.cell_unknowns, most_places);
}

std::string lack_of_columns(const MatrixSizes& sizes) {
  const auto lack = too_many("the columns of all slices of an assembled matrix", sizes.slice_columns, most_places);
  if (!lack.empty()) return lack;
  return too_many("the columns of a row of an assembled matrix", sizes.row_columns, SlicedPattern::not_coupled - 1);
}

} // namespace rafter::op

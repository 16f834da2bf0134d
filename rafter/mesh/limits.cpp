// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/limits.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/element/lagrange.hpp>

namespace rafter::mesh {

namespace {

/// Bytes that a cell takes in the mesh (vertices, nodes, tag, parent), in its topology, and while the topology is made
/// (about 50 bytes for each sub-entity of one dimension at a time).
double bytes_per_cell(const PlannedCells& cells) {
  const int dim = element::dimension(cells.shape);
  double entities = 0, most = 0;
  for (int d = 1; d < dim; ++d) {
    const double n = element::num_entities(cells.shape, d);
    entities += n;
    most = std::max(most, n);
  }
  const double nodes = cells.degree == 1 ? 0 : element::num_lagrange_nodes(cells.shape, cells.degree);
  const double points = nodes * dim * sizeof(double);
  return 4 * (element::num_vertices(cells.shape) + nodes + 3) + 5 * entities + 50 * most + points;
}

} // namespace

double available_memory_bytes() {
  double bytes = std::numeric_limits<double>::max();
  struct sysinfo info {};
  if (sysinfo(&info) == 0) bytes = static_cast<double>(info.totalram) * info.mem_unit;
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  unsigned long long value = 0;
  if (limit >> value && value > 0) bytes = std::min(bytes, static_cast<double>(value));
  struct rlimit addresses {};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<double>(addresses.rlim_cur));
  return bytes;
}

double estimate_mesh_bytes(double num_vertices, std::span<const PlannedCells> cells) {
  double bytes = 24 * num_vertices;
  for (const auto& planned : cells) bytes += planned.count * bytes_per_cell(planned);
  return bytes;
}

void require_mesh_fits(const std::string& what, double num_vertices, std::span<const PlannedCells> cells) {
  constexpr double limit = std::numeric_limits<std::int32_t>::max();
  double count = 0, entities = num_vertices, nodes = num_vertices;
  for (const auto& planned : cells) {
    count += planned.count;
    if (planned.degree > 1) nodes += planned.count * element::num_lagrange_nodes(planned.shape, planned.degree);
    const int dim = element::dimension(planned.shape);
    if (dim > 1) entities = std::max(entities, planned.count * element::num_facets(planned.shape));
  }
  if (std::max({count, entities, nodes}) > limit)
    throw base::InputError(fmt::format("{} would have {:.4g} cells, {:.4g} vertices and {:.4g} geometry nodes; local "
                                       "numbers have 32 bits: at most {:.4g} cells, cell facets and nodes",
                                       what, count, num_vertices, nodes, limit));
  const double bytes = estimate_mesh_bytes(num_vertices, cells);
  const double memory = available_memory_bytes();
  if (bytes > memory)
    throw base::EnvironmentError(
        fmt::format("{} would have {:.4g} cells and take about {:.3g} GB; this machine has {:.3g} GB", what, count,
                    1e-9 * bytes, 1e-9 * memory));
}

} // namespace rafter::mesh

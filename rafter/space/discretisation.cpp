// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/discretisation.hpp>

#include <algorithm>

#include <rafter/base/parallel.hpp>
#include <rafter/device/device.hpp>

#include <rafter/device/host/cpu.hpp>

namespace rafter::space {
namespace {

/// Number of cells along each axis of a patch; 1: there are no patches. Neighbours of degree 1 and 2 share most of
/// their unknowns, which patches gather once. A patch counts as one cell of degree 4: it shares few unknowns, and they
/// fit the nearest cache. Batches become larger by the cells of a patch, and fewer than 64 batches leave too few chunks
/// for several threads.
int patch_width(const mesh::Mesh& mesh, int degree, int cells_per_batch) {
  constexpr int degree_of_patch = 4, fewest_batches = 64;
  const bool has_patches = mesh.tdim > 1 && std::ranges::all_of(mesh.groups, [](const auto& group) {
                             return element::is_tensor(group.shape);
                           });
  for (int width = degree_of_patch / std::max(degree, 1); has_patches && width > 1; width /= 2) {
    const int of_batch = cells_per_batch * mesh::cells_per_patch(width, mesh.tdim);
    if (of_batch <= mesh::BatchOptions::most_cells_per_batch &&
        mesh.num_cells() >= std::int64_t{fewest_batches} * of_batch)
      return width;
  }
  return 1;
}

} // namespace

mesh::BatchOptions batch_options(const mesh::Mesh& mesh, const DiscretisationOptions& options) {
  constexpr int several_per_edge = 3, long_products = 5;
  const bool is_dense =
      std::ranges::none_of(mesh.groups, [](const auto& group) { return element::is_tensor(group.shape); });
  int cells_per_batch = options.cells_per_batch;
  if (is_dense && options.degree >= long_products)
    cells_per_batch = std::max(cells_per_batch, 2 * mesh::CellBatches().cells_per_batch);
  const int width = patch_width(mesh, options.degree, cells_per_batch);
  return {.cells_per_batch = cells_per_batch * mesh::cells_per_patch(width, mesh.tdim),
          .has_orientation_buckets = options.degree >= several_per_edge,
          .patch_width = width};
}

Discretisation::Discretisation(std::shared_ptr<const mesh::Mesh> mesh, const DiscretisationOptions& options)
    : mesh_(std::move(mesh)), batches_(mesh::make_cell_batches(*mesh_, batch_options(*mesh_, options))) {}

Discretisation::Discretisation(std::shared_ptr<const mesh::Mesh> mesh, mesh::CellBatches batches)
    : mesh_(std::move(mesh)), batches_(std::move(batches)) {}

const mesh::FacetBatches& Discretisation::facets(std::vector<std::int32_t> tags) const {
  std::ranges::sort(tags);
  const std::lock_guard lock(mutex_);
  if (const auto known = facets_.find(tags); known != facets_.end()) return known->second;
  auto facets = mesh::make_facet_batches(*mesh_, tags, {.cells_per_batch = batches_.patches_per_batch(mesh_->tdim)});
  return facets_.emplace(std::move(tags), std::move(facets)).first->second;
}

std::shared_ptr<device::Device> Discretisation::device(const std::string& name, int num_threads) const {
  if (num_threads == 0) num_threads = base::num_available_cores(); // those who count cores get the same device
  const std::lock_guard lock(mutex_);
  auto& known = devices_[{name, num_threads}];
  if (known == nullptr) known = device::make_device(name, num_threads);
  return known;
}

} // namespace rafter::space

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <rafter/base/shared_values.hpp>
#include <rafter/device/device.hpp>
#include <rafter/mesh/cell_batches.hpp>

/// What all spaces and operators on one mesh share.
namespace rafter::space {

struct DiscretisationOptions {
  int degree = 1; ///< the highest degree of the fields that will live on the mesh
  /// Fewest cells of a batch, as plans of kernels ask for (op::cells_per_batch).
  int cells_per_batch = mesh::CellBatches().cells_per_batch;
};

/// How cells are batched for fields of these degrees: `cells_per_batch` of them, or twice as many as usual where dense
/// products are long enough to take several sub-batches; simplices with their like where an edge has several unknowns.
/// Of quadrilaterals and hexahedra of degree 1 and 2, where there are enough of them, `cells_per_batch` patches.
mesh::BatchOptions batch_options(const mesh::Mesh& mesh, const DiscretisationOptions& options);

/// A mesh with the order in which kernels visit its cells and facets, and the devices on which they run. Spaces of any
/// degrees that are made on one discretisation may occur in one form; those on two may not. The command and C++ make it
/// alike, so that both get the same kernels. Immutable but for what is made on first use, which any thread may ask for.
class Discretisation {
public:
  /// Batches of cells as `batch_options` says.
  explicit Discretisation(std::shared_ptr<const mesh::Mesh> mesh, const DiscretisationOptions& options = {});
  /// Batches of cells of one's own, which hold every cell of the mesh once.
  Discretisation(std::shared_ptr<const mesh::Mesh> mesh, mesh::CellBatches batches);

  const mesh::Mesh& mesh() const { return *mesh_; }
  const std::shared_ptr<const mesh::Mesh>& mesh_ptr() const { return mesh_; }
  const mesh::CellBatches& batches() const { return batches_; }

  /// The exterior facets with one of these tags (none: all of them) in batches, made when they are first asked for.
  const mesh::FacetBatches& facets(std::vector<std::int32_t> tags) const;

  /// The device of this name with so many threads (0: all cores that the process may use), the same one whenever it is
  /// asked for. Throws as device::make_device.
  std::shared_ptr<device::Device> device(const std::string& name, int num_threads = 0) const;

  /// Data that several operators read: cell data, tables of rules and elements. Keys name what they are made of.
  base::SharedValues& shared() const { return shared_; }

private:
  std::shared_ptr<const mesh::Mesh> mesh_;
  mesh::CellBatches batches_;
  mutable base::SharedValues shared_;
  mutable std::mutex mutex_;                                               ///< of what follows
  mutable std::map<std::vector<std::int32_t>, mesh::FacetBatches> facets_; ///< by tags, ascending
  mutable std::map<std::pair<std::string, int>, std::shared_ptr<device::Device>> devices_;
};

} // namespace rafter::space

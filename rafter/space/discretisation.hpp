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
#include <rafter/mesh/cell_batches.hpp>

namespace rafter::device {
class Device;
} // namespace rafter::device

/// Holds what all spaces and operators on one mesh share.
namespace rafter::space {

/// Options for the batches of a discretisation.
struct DiscretisationOptions {
  int degree = 1; ///< highest degree of the fields that will live on the mesh
  /// Least number of cells of a batch, as plans of kernels ask for it (op::cells_per_batch).
  int cells_per_batch = mesh::CellBatches().cells_per_batch;
};

/// Says how cells are batched for fields of these degrees. A batch has `cells_per_batch` cells, or twice as many as
/// usual where dense products are long enough to take several sub-batches. Simplices are grouped by orientation where
/// an edge has several unknowns. Quadrilaterals and hexahedra of degree 1 and 2 make batches of `cells_per_batch`
/// patches, where there are enough of them.
mesh::BatchOptions batch_options(const mesh::Mesh& mesh, const DiscretisationOptions& options);

/// A mesh with the order in which kernels visit its cells and facets, and the devices on which they run. Spaces of any
/// degrees that are made on one discretisation may occur in one form; those on two may not. The command and C++ make it
/// alike, so that both get the same kernels. It does not change but for what is made on first use, which any thread may
/// ask for.
class Discretisation {
public:
  /// Makes batches of cells as batch_options() says.
  explicit Discretisation(std::shared_ptr<const mesh::Mesh> mesh, const DiscretisationOptions& options = {});
  /// Takes batches of cells, which must hold every cell of the mesh once.
  Discretisation(std::shared_ptr<const mesh::Mesh> mesh, mesh::CellBatches batches);

  const mesh::Mesh& mesh() const { return *mesh_; }
  const std::shared_ptr<const mesh::Mesh>& mesh_ptr() const { return mesh_; }
  const mesh::CellBatches& batches() const { return batches_; }

  /// The exterior facets with one of these tags (none: all of them) in batches, made when they are first asked for.
  const mesh::FacetBatches& facets(std::vector<std::int32_t> tags) const;

  /// The device of this name with so many threads (0: all cores that the process may use), the same one whenever it is
  /// asked for. Throws the errors of device::make_device.
  std::shared_ptr<device::Device> device(const std::string& name, int num_threads = 0) const;

  /// Data that several operators read: cell data, tables of rules and elements. Keys name what they are made of.
  base::SharedValues& shared() const { return shared_; }

private:
  std::shared_ptr<const mesh::Mesh> mesh_;
  mesh::CellBatches batches_;
  mutable base::SharedValues shared_;
  mutable std::mutex mutex_;                                               ///< guards the members that follow
  mutable std::map<std::vector<std::int32_t>, mesh::FacetBatches> facets_; ///< facets by tags, which ascend
  mutable std::map<std::pair<std::string, int>, std::shared_ptr<device::Device>> devices_;
};

} // namespace rafter::space

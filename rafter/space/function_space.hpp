// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rafter/comm/index_map.hpp>
#include <rafter/element/element.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/space/block_dofs.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/space/space_options.hpp>

namespace rafter::comm {
class GhostExchange;
} // namespace rafter::comm
namespace rafter::device {
class Device;
} // namespace rafter::device
namespace rafter::mesh {
class PointPlacement;
} // namespace rafter::mesh

/// Defines function spaces, whose degrees of freedom are numbered for the kernels.
///
/// The dofs of an entity are one *run* of the local vector. Shared entities (vertices, edges, faces between cells): a
/// run holds (dof, component), component fastest, dofs in the entity's canonical frame. Cell interiors: one run per
/// batch, (interior dof, component, active cell), cell fastest, so that a full batch loads them as whole vectors.
/// Entities are numbered in the order in which the batches first touch them (batch order: stage by stage), so the dofs
/// that a batch touches first are one contiguous range and are zeroed or stored there instead of in a pass of their
/// own. Of several processes each has its owned dofs first, those of entities that it shares with others behind the
/// rest, and then its ghosts by owner; the entries that it shares are in no batch's range.
namespace rafter::space {

struct IndexTables;
class IndexTableCache;

/// A space of finite element functions on a mesh, with the numbers of its unknowns. It does not change after
/// construction.
class FunctionSpace : public form::FieldSpace, public std::enable_shared_from_this<FunctionSpace> {
public:
  /// Makes a space. On a part of a mesh every process does so at the same time. Throws InputError for a negative number
  /// of components and when the local numbering would exceed 32 bits or memory.
  static std::shared_ptr<const FunctionSpace> make(std::shared_ptr<const Discretisation> discretisation,
                                                   const SpaceOptions& options);
  ~FunctionSpace() override;

  const std::shared_ptr<const Discretisation>& discretisation() const { return discretisation_; }
  const mesh::Mesh& mesh() const { return discretisation_->mesh(); }
  const mesh::CellBatches& batches() const { return discretisation_->batches(); }
  element::Family element_family() const { return element_family_; }
  const comm::IndexMap& index_map() const { return index_map_; }
  /// Number of scalar unknowns of all processes, components included.
  std::int64_t num_dofs() const { return index_map_.num_global(); }
  /// Number of entries of the local vector: owned unknowns and ghosts.
  std::int64_t num_local() const { return index_map_.num_local(); }
  /// First of the owned entries that other processes have as ghosts. This process alone has those before it, and cells
  /// outside of the interface stages touch no others.
  std::int64_t interface_begin() const { return interface_begin_; }
  /// Exchanges values between the owned entries and the ghosts of the processes; null where the mesh is whole.
  const comm::GhostExchange* exchange() const { return exchange_.get(); }
  bool is_broken() const { return is_broken_; } ///< see SpaceOptions::is_broken
  const BlockDofs& block(int block) const { return blocks_[static_cast<std::size_t>(block)]; }
  std::shared_ptr<const element::Element> element(element::Shape shape) const;

  /// Writes the entries of the local vector of one cell of a batch, shape (component, local dof). It is for set-up,
  /// output and tests.
  void cell_dofs(int block, std::int32_t batch, int cell, std::span<std::int32_t> entries) const;
  /// The place of a cell of the mesh in the batches.
  struct Position {
    std::int32_t block = 0, batch = 0;
    int cell = 0; ///< number of the cell in its batch
  };
  Position position(std::int32_t group, std::int32_t cell) const;

  /// The dofs of any cells of a group, `cells` of shape (batch, cell), which may occur several times. They are made on
  /// first use; all who ask for an equal list get the same while one of them holds it.
  std::shared_ptr<const ListDofs> list_dofs(std::int32_t group, std::span<const std::int32_t> cells,
                                            int cells_per_batch) const;

  /// The tables of a block, or of a list of cells of this space, as kernels on this device take them. They are made on
  /// first use and are the same for all who hold them at the same time: operators, their diagonals, linear forms and
  /// functionals.
  std::shared_ptr<const IndexTables> index_tables(int block, const std::shared_ptr<device::Device>& device) const;
  std::shared_ptr<const IndexTables> index_tables(const std::shared_ptr<const ListDofs>& list,
                                                  const std::shared_ptr<device::Device>& device) const;

  /// Physical coordinates of the nodes of a cell, shape (local dof, gdim). All cells that share a node agree on them to
  /// the last bit (mesh/point_placement.hpp).
  std::vector<double> cell_node_points(std::int32_t group, std::int32_t cell) const;
  /// Writes the coordinates of some local dofs alone into `points`, shape (dof of `dofs`, gdim); it allocates nothing.
  void node_points(std::int32_t group, std::int32_t cell, std::span<const int> dofs, std::span<double> points) const;

  /// Bytes of the index tables that kernels read: starts and permutation offsets of all blocks.
  std::size_t index_bytes() const;

private:
  FunctionSpace();
  ListDofs make_list_dofs(std::int32_t group, std::span<const std::int32_t> cells, int cells_per_batch) const;

  element::Family element_family_ = element::Family::lagrange;
  bool is_broken_ = false;
  std::shared_ptr<const Discretisation> discretisation_;
  comm::IndexMap index_map_;
  std::int64_t interface_begin_ = 0;
  std::unique_ptr<const comm::GhostExchange> exchange_;
  std::vector<BlockDofs> blocks_;
  std::vector<base::RawVector<std::uint32_t>> places_; ///< place of a cell in the batches, shape (group, cell)
  std::vector<mesh::PointPlacement> node_placements_;  ///< places the element's nodes in cells, shape (group)
  std::shared_ptr<IndexTableCache> index_tables_;
};

} // namespace rafter::space

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/base/aligned.hpp>
#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/comm/index_map.hpp>
#include <rafter/device/device.hpp>
#include <rafter/element/element.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/mesh/point_placement.hpp>
#include <rafter/space/discretisation.hpp>

/// Defines function spaces, whose degrees of freedom are numbered for the kernels.
///
/// The dofs of an entity are one *run* of the local vector. Shared entities (vertices, edges, faces between cells): a
/// run holds (dof, component), component fastest, dofs in the entity's canonical frame. Cell interiors: one run per
/// batch, (interior dof, component, active lane), lane fastest, so that a full batch loads them as whole vectors.
/// Entities are numbered in the order in which the batches first touch them (batch order: stage by stage), so the dofs
/// that a batch touches first are one contiguous range and are zeroed or stored there instead of in a pass of their
/// own. Of several processes each has its owned dofs first, those of entities that it shares with others behind the
/// rest, and then its ghosts by owner; the entries that it shares are in no batch's range.
namespace rafter::space {

struct PatchLayout;
struct IndexTables;
class IndexTableCache;

/// The gather pattern of an element on a shape, which is the same for every batch.
struct ElementLayout {
  std::shared_ptr<const element::Element> element;
  int num_runs = 0;          ///< number of shared entities with dofs (vertices, then edges, then faces; not the cell)
  std::vector<int> run_dims; ///< dimension of the entity, shape (run)
  std::vector<int> run_entities;  ///< local number of the entity, shape (run)
  std::vector<int> run_lengths;   ///< number of dofs (without components), shape (run)
  std::vector<int> run_dofs;      ///< local dofs of the runs one after the other, each in the cell's order
  std::vector<int> interior_dofs; ///< local dofs of the cell interior
  /// permutations[offset + k] is the canonical position of the k-th dof of a run. The offset comes from a batch's
  /// permutation table; permutation_offsets[r][o] is that of run r in orientation o. The identity of each run length
  /// has an offset, too.
  std::vector<std::int32_t> permutations;
  std::vector<std::vector<std::int32_t>> permutation_offsets; ///< shape (run, orientation code)
  /// arrangements[offset + i] is the local dof at canonical position i, the inverse of permutations. Runs follow each
  /// other, each with its different permutations; arrangement_offsets[r][o] is the offset of run r in orientation o.
  std::vector<int> arrangements;
  std::vector<std::vector<std::int32_t>> arrangement_offsets; ///< shape (run, orientation code)
  /// Gather pattern of batches of patches; null: there are none, or they are not used.
  std::shared_ptr<const PatchLayout> patch;
};

/// The gather pattern of a patch (mesh/patches.hpp), for the dofs that its cells share with one another or with other
/// cells. The dofs on a corner, an edge, a face and in the interior of the patch are runs like those of one large cell,
/// and each such run consists of pieces, which are runs of its cells. Dofs are numbered on the lattice of all nodes of
/// the patch, first axis fastest.
struct PatchLayout {
  struct PatchRun {
    int child = 0, run = 0; ///< a cell of the patch that has the dofs, and the number of the run in that cell
  };
  int num_nodes = 0;        ///< number of nodes of the lattice
  std::vector<int> corners; ///< node at which each child begins, shape (child)
  /// Node of each dof of a cell, counted from the node where the cell begins, in the order of ElementLayout::run_dofs.
  std::vector<int> places;
  std::vector<int> run_lengths; ///< number of dofs (without components), shape (run)
  std::vector<int> num_pieces;  ///< number of runs of cells that make up each run, shape (run)
  std::vector<PatchRun> pieces; ///< pieces of the runs, one run after the other
  /// Nodes, in the way of ElementLayout::arrangements; those of the pieces as cells see them come first.
  std::vector<int> arrangements;
};

/// Says where the dofs of the batches of one block are in the local vector.
struct BlockDofs {
  ElementLayout layout;
  /// First entry of each run, shape (batch, run, lane); padded lanes repeat the last active lane.
  base::RawVector<std::int32_t> run_starts;
  /// Offsets into layout.permutations, shape (batch, run, lane); empty where runs have one dof each.
  base::RawVector<std::int32_t> run_permutations;
  /// First entry of the interior run, shape (batch).
  base::AlignedVector<std::int32_t> interior_starts;
  /// Number of the batch's pattern, from 1, where all lanes are active and see the entities of each run in the same
  /// orientation, so that its runs are gathered whole; 0 where lanes differ or the block has too many patterns. Shape
  /// (batch).
  base::AlignedVector<std::int32_t> pattern_numbers;
  /// Offsets into layout.arrangements, shape (pattern, run).
  std::vector<std::int32_t> patterns;
  /// The entries first .. last - 1 of the local vector that this batch touches first, shape (batch, 2); the interior
  /// run is the last part of the range.
  base::AlignedVector<std::int32_t> first_touch;
  /// First entry of each run of a patch, shape (batch, run, patch); 0 in batches without patches.
  base::AlignedVector<std::int32_t> patch_starts;
  /// Number of the pattern of a batch of patches, from 1, shape (batch); 0: it is gathered cell by cell. Offsets of the
  /// patterns into PatchLayout::arrangements, shape (pattern, run).
  std::vector<std::int32_t> patch_numbers, patch_patterns;
};

/// Says where the dofs of any cells of one group are in the local vector. Their batches and their order need not be
/// those of the discretisation; they are the cells behind facets, for instance. Cells of a batch may then lie in
/// several interior runs.
struct ListDofs {
  std::int32_t group = 0;
  int cells_per_batch = 8;
  std::vector<std::int32_t> cells; ///< numbers in the group, shape (batch, lane)
  ElementLayout layout;
  /// As in BlockDofs, shape (batch, run, lane).
  base::AlignedVector<std::int32_t> run_starts, run_permutations;
  /// First entry of a cell's interior dofs, and the distance from one to the next; shape (batch, lane), empty without.
  base::AlignedVector<std::int32_t> interior_starts, interior_strides;
};

/// Says which function space is made on a discretisation.
struct SpaceOptions {
  element::Family family = element::Family::lagrange;
  int degree = 1;
  int components = 0; ///< 0: the field is a scalar
  std::string name = "u";
  /// Every cell has all its dofs for itself. The local vector is then the cell vector (E-vector) of the batches, shape
  /// (batch, local dof, component, active lane), and operators on it neither gather nor scatter.
  bool is_broken = false;
};

/// A space of finite element functions on a mesh, with the numbers of its unknowns. It does not change after
/// construction.
class FunctionSpace : public form::FieldSpace, public std::enable_shared_from_this<FunctionSpace> {
public:
  /// Makes a space. On a part of a mesh every process does so at the same time. Throws InputError for a negative number
  /// of components and when the local numbering would exceed 32 bits or memory.
  static std::shared_ptr<const FunctionSpace> make(std::shared_ptr<const Discretisation> discretisation,
                                                   const SpaceOptions& options);

  const std::shared_ptr<const Discretisation>& discretisation() const { return discretisation_; }
  const mesh::Mesh& mesh() const { return discretisation_->mesh(); }
  const mesh::CellBatches& batches() const { return discretisation_->batches(); }
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

  /// Writes the entries of the local vector of one cell, shape (component, local dof). It is for set-up, output and
  /// tests.
  void cell_dofs(int block, std::int32_t batch, int lane, std::span<std::int32_t> entries) const;
  /// The place of a cell of the mesh in the batches.
  struct Position {
    std::int32_t block = 0, batch = 0;
    int lane = 0;
  };
  Position position(std::int32_t group, std::int32_t cell) const;

  /// The dofs of any cells of a group, `cells` of shape (batch, lane), which may occur several times. They are made on
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

/// A function of x, shape (gdim), that fills in its values, shape (component): Dirichlet data and interpolation take
/// it.
using SpatialFunction = std::function<void(std::span<const double> x, std::span<double> values)>;

/// Interpolates in the nodes, into a local vector of num_local entries. Each node is evaluated once. Of identified
/// nodes the one in the first of their cells (groups and cells in order) is taken, which makes functions periodic that
/// are not. On a part of a mesh the call is collective, and ghosts get the values of their owners. Throws InputError
/// where the function is not finite (with the point), when there is no function, and when the vector has another size.
void interpolate(const FunctionSpace& space, const SpatialFunction& function, std::span<double> vector);

/// A Dirichlet condition on the facets with these tags, on the boundary and inside the domain (empty: on the whole
/// boundary).
struct DirichletCondition {
  std::vector<std::int32_t> tags; ///< numbers of physical groups of facets, or of classes of them; 0: those of no group
  bool is_all = false;            ///< the condition holds on the whole boundary
  SpatialFunction value;
  std::vector<int> components; ///< constrained components; empty: all
};

/// Constrained entries, ascending, and their values; later conditions win on shared nodes.
struct Constraints {
  std::vector<std::int32_t> entries;
  std::vector<double> values;
};
/// Finds the entries that conditions constrain, and their values. On a part of a mesh all processes call it together
/// and agree on the entries that they share. Throws InputError for a condition on the whole boundary of a mesh without
/// one, for tags that no facet has (the message lists those there are) or that periodic facets have, for components out
/// of range, for a missing value and for values that are not finite (with the point).
Constraints make_constraints(const FunctionSpace& space, std::span<const DirichletCondition> conditions);

} // namespace rafter::space

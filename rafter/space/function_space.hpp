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

/// Function spaces: numbering of degrees of freedom, made for the kernels.
///
/// The dofs of an entity are one *run* of the local vector. Shared entities (vertices, edges, faces between cells): a
/// run holds (dof, component), component fastest, dofs in the entity's canonical frame. Cell interiors: one run per
/// batch, (interior dof, component, active lane), lane fastest, so that a full batch loads them as whole vectors.
/// Entities are numbered in the order in which the batches first touch them (batch order: stage by stage), so the dofs
/// that a batch touches first are one contiguous range and are zeroed or stored there instead of in a pass of their
/// own. Of several processes each has its owned dofs first, those of entities that it shares with others behind the
/// rest, and then its ghosts by owner; what is shared is in no batch's range.
namespace rafter::space {

struct PatchLayout;
struct IndexTables;
class IndexTableCache;

/// Gather pattern of an element on a shape: the same for every batch.
struct ElementLayout {
  std::shared_ptr<const element::Element> element;
  int num_runs = 0;               ///< shared entities with dofs (vertices, then edges, then faces; not the cell)
  std::vector<int> run_dims;      ///< entity dimension, shape (run)
  std::vector<int> run_entities;  ///< local entity number, shape (run)
  std::vector<int> run_lengths;   ///< dofs (without components), shape (run)
  std::vector<int> run_dofs;      ///< local dofs of the runs one after the other, each in the cell's order
  std::vector<int> interior_dofs; ///< local dofs of the cell interior
  /// permutations[offset + k] with offset from a batch's permutation table: canonical position of the k-th dof. Offset
  /// of the identity of each run length is included; offsets of run r, code o: permutation_offsets[r][o].
  std::vector<std::int32_t> permutations;
  std::vector<std::vector<std::int32_t>> permutation_offsets; ///< shape (run, orientation code)
  /// The other way: arrangements[offset + i] = local dof at canonical position i, one run after the other, for each its
  /// different permutations. Offsets of run r, code o: arrangement_offsets[r][o].
  std::vector<int> arrangements;
  std::vector<std::vector<std::int32_t>> arrangement_offsets; ///< shape (run, orientation code)
  std::shared_ptr<const PatchLayout> patch; ///< of batches of patches; null: there are none, or they are not used
};

/// Gather pattern of a patch (mesh/patches.hpp): of the dofs that its cells share with one another or with other cells.
/// Those on a corner, an edge, a face and in the interior of the patch are runs like those of one large cell, each of
/// runs of its cells. Dofs stand on the lattice of all nodes of the patch, first axis fastest.
struct PatchLayout {
  struct PatchRun {
    int child = 0, run = 0; ///< a cell that has the dofs, and as which of its runs
  };
  int num_nodes = 0;             ///< of the lattice
  std::vector<int> corners;      ///< node at which each child begins, shape (child)
  std::vector<int> places;       ///< of the dofs of a cell behind that, as ElementLayout::run_dofs
  std::vector<int> run_lengths;  ///< dofs (without components), shape (run)
  std::vector<int> num_pieces;   ///< shape (run)
  std::vector<PatchRun> pieces;  ///< of the runs one after the other
  std::vector<int> arrangements; ///< as ElementLayout::arrangements: nodes; first those of the pieces as cells see them
};

/// Where the dofs of the batches of one block live.
struct BlockDofs {
  ElementLayout layout;
  /// First entry of each run, shape (batch, run, lane); padded lanes repeat the last active lane.
  base::AlignedVector<std::int32_t> run_starts;
  /// Offsets into layout.permutations, shape (batch, run, lane).
  base::AlignedVector<std::int32_t> run_permutations;
  /// First entry of the interior run, shape (batch).
  std::vector<std::int32_t> interior_starts;
  /// Number of the batch's pattern, from 1, where all lanes are active and see the entities of each run in the same
  /// orientation, so that its runs are gathered whole; 0 where lanes differ. Shape (batch).
  std::vector<std::int32_t> pattern_numbers;
  /// Offsets into layout.arrangements, shape (pattern, run).
  std::vector<std::int32_t> patterns;
  /// [first, last) entries of the local vector that this batch touches first, shape (batch, 2); the interior run is the
  /// last part of the range.
  std::vector<std::int32_t> first_touch;
  /// First entry of each run of a patch, shape (batch, run, patch); 0 in batches without patches.
  base::AlignedVector<std::int32_t> patch_starts;
  /// As pattern_numbers, of patches; 0: gathered cell by cell. And offsets into PatchLayout::arrangements.
  std::vector<std::int32_t> patch_numbers, patch_patterns;
};

/// Where the dofs of any cells of one group live, in batches and in an order that need not be those of the
/// discretisation: cells behind facets, for instance. Cells of a batch may then lie in several interior runs.
struct ListDofs {
  std::int32_t group = 0;
  int cells_per_batch = 8;
  std::vector<std::int32_t> cells; ///< of the group, shape (batch, lane)
  ElementLayout layout;
  /// As BlockDofs, shape (batch, run, lane).
  base::AlignedVector<std::int32_t> run_starts, run_permutations;
  /// First entry of the interior dofs of a cell, and the distance from one of them to the next; shape (batch, lane).
  base::AlignedVector<std::int32_t> interior_starts, interior_strides;
};

struct SpaceOptions {
  element::Family family = element::Family::lagrange;
  int degree = 1;
  int components = 0; ///< 0: scalar
  std::string name = "u";
  /// Every cell has all its dofs for itself. The local vector is then the cell vector (E-vector) of the batches, shape
  /// (batch, local dof, component, active lane), and operators on it neither gather nor scatter.
  bool is_broken = false;
};

class FunctionSpace : public form::FieldSpace, public std::enable_shared_from_this<FunctionSpace> {
public:
  /// On a part of a mesh every process makes the space, at the same time. Throws InputError when the local numbering
  /// would exceed 32 bits or memory.
  static std::shared_ptr<const FunctionSpace> make(std::shared_ptr<const Discretisation> discretisation,
                                                   const SpaceOptions& options);

  const std::shared_ptr<const Discretisation>& discretisation() const { return discretisation_; }
  const mesh::Mesh& mesh() const { return discretisation_->mesh(); }
  const mesh::CellBatches& batches() const { return discretisation_->batches(); }
  const comm::IndexMap& index_map() const { return index_map_; }
  std::int64_t num_dofs() const { return index_map_.num_global(); } ///< scalar unknowns, components included
  std::int64_t num_local() const { return index_map_.num_local(); }
  /// First of the owned entries that other processes have as ghosts; those before it this process has alone, and cells
  /// outside of the interface stages touch no others.
  std::int64_t interface_begin() const { return interface_begin_; }
  /// Between the owned entries and the ghosts of the processes; null where the mesh is whole.
  const comm::GhostExchange* exchange() const { return exchange_.get(); }
  bool is_broken() const { return is_broken_; } ///< as SpaceOptions
  const BlockDofs& block(int block) const { return blocks_[static_cast<std::size_t>(block)]; }
  std::shared_ptr<const element::Element> element(element::Shape shape) const;

  /// Entries of the local vector of one cell: shape (component, local dof). For set-up, output and tests.
  void cell_dofs(int block, std::int32_t batch, int lane, std::span<std::int32_t> entries) const;
  /// Position of a cell of the mesh in the batches.
  struct Position {
    std::int32_t block = 0, batch = 0;
    int lane = 0;
  };
  Position position(std::int32_t group, std::int32_t cell) const;

  /// The dofs of any cells of a group, `cells` of shape (batch, lane), which may occur several times. Made on first
  /// use; all who ask for an equal list get the same while one of them holds it.
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
  /// The same for some local dofs only, into `points`, shape (dof of `dofs`, gdim); allocates nothing.
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
  std::vector<std::vector<Position>> positions_;      ///< shape (group, cell)
  std::vector<mesh::PointPlacement> node_placements_; ///< of the element's nodes, shape (group)
  std::shared_ptr<IndexTableCache> index_tables_;
};

/// A function of (x[gdim]) -> components, as Dirichlet data and interpolation take it.
using SpatialFunction = std::function<void(std::span<const double> x, std::span<double> values)>;

/// Nodal interpolation into a local vector of num_local entries. Each node is evaluated once, one of identified nodes
/// where the first of their cells (groups and cells in order) has it: functions that are not periodic become so. On a
/// part of a mesh the call is collective, and ghosts are as their owners. Throws InputError where the function is not
/// finite (with the point) and when the vector has another size.
void interpolate(const FunctionSpace& space, const SpatialFunction& function, std::span<double> vector);

/// Dirichlet condition on the exterior facets with these tags (empty: whole boundary).
struct DirichletCondition {
  std::vector<std::int32_t> tags;
  bool is_all = false; ///< the whole boundary
  SpatialFunction value;
  std::vector<int> components; ///< constrained components; empty: all
};

/// Constrained entries, ascending, and their values; later conditions win on shared nodes.
struct Constraints {
  std::vector<std::int32_t> entries;
  std::vector<double> values;
};
/// On a part of a mesh the call is collective, and processes agree on the entries that they share. Throws InputError
/// for tags that no exterior facet has (the message lists those there are), components out of range, a missing value
/// and values that are not finite (with the point).
Constraints make_constraints(const FunctionSpace& space, std::span<const DirichletCondition> conditions);

} // namespace rafter::space

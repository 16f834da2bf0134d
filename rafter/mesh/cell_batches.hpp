// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// The order in which kernels visit cells: blocks of equal cells, batches of `cells_per_batch` cells side by side in
/// SIMD lanes, chunks of batches that one thread works on, and stages of chunks that share no vertex and so may run at
/// the same time.
namespace rafter::mesh {

/// cartesian: J constant on the cell and diagonal (quadrilaterals and hexahedra); affine: constant; multilinear: given
/// by the vertices of a tensor cell; isoparametric: everything else.
enum class MapKind : std::uint8_t { cartesian, affine, multilinear, isoparametric };
inline constexpr std::array map_kinds_in_order{MapKind::cartesian, MapKind::affine, MapKind::multilinear,
                                               MapKind::isoparametric};
/// Says whether J is constant on the cell.
inline bool is_constant(MapKind kind) { return kind == MapKind::cartesian || kind == MapKind::affine; }
std::string_view name(MapKind kind);

/// Cells with the same group and map kind, in visiting order.
struct CellBlock {
  std::int32_t group = 0;
  element::Shape shape = element::Shape::hexahedron;
  MapKind map = MapKind::affine;
  std::int32_t num_cells = 0, num_batches = 0;
  std::vector<std::int32_t> cells;       ///< cell of the group, shape (batch, cell); padding repeats the last cell
  std::vector<std::uint8_t> are_patches; ///< shape (batch): full and of patches, see patches.hpp; empty: none is
};

struct Chunk {
  std::int32_t block = 0, batch_begin = 0, batch_end = 0;
};

/// width^dim.
inline int cells_per_patch(int width, int dim) {
  int result = 1;
  for (; dim > 0; --dim) result *= width;
  return result;
}

struct CellBatches {
  int cells_per_batch = 8;
  int patch_width = 1; ///< cells along an axis of patches, see BatchOptions; 1 where batches would hold no whole patch
  std::vector<CellBlock> blocks;
  /// Patches of a batch, of cells of this dimension; without patches its cells.
  int patches_per_batch(int dim) const { return cells_per_batch / cells_per_patch(patch_width, dim); }
  std::vector<std::vector<Chunk>> stages; ///< run one after the other; the chunks of a stage touch disjoint vertices
  /// The first stages, whose cells share no vertex with other processes; the cells of the others, the interface stages,
  /// are blocks of their own. All stages of a whole mesh.
  std::size_t num_interior_stages = 0;
  int num_active(int block, std::int32_t batch) const {
    const auto& b = blocks[static_cast<std::size_t>(block)];
    return batch + 1 < b.num_batches ? cells_per_batch
                                     : static_cast<int>(b.num_cells - (b.num_batches - 1) * cells_per_batch);
  }
};

struct BatchOptions {
  static constexpr int most_cells_per_batch = 1024;
  int cells_per_batch = 8;             ///< a power of two up to most_cells_per_batch
  int batches_per_chunk = 0;           ///< 0: chosen from the number of batches, never from the number of threads
  double affine_tolerance = 1e-12;     ///< bound on |second differences| and on shears, relative to the cell size
  bool has_orientation_buckets = true; ///< simplices of a batch see their edges and faces in the same orientations
  int patch_width = 1; ///< cells along an axis of patches, of which batches consist where there are any; 1: no
};

/// Cells follow a Hilbert curve through their centroids, so that a batch is a compact cluster, or several where
/// simplices look for their like. The result depends on the mesh and the options alone: sums over cells are then the
/// same for every number of threads.
CellBatches make_cell_batches(const Mesh& mesh, const BatchOptions& options = {});

/// Exterior facets grouped like cells: one block per (group, shape of the facets, map kind of the cell). The facets of
/// a batch have one local number, and those with the lowest come first, so that batches are padded within the block,
/// too.
struct FacetBlock {
  std::int32_t group = 0;
  element::Shape shape = element::Shape::hexahedron; ///< shape of the cell
  std::vector<int> local_facets;                     ///< local numbers of all facets of their shape in the cell
  MapKind map = MapKind::affine;
  std::int32_t num_facets = 0, num_batches = 0;
  std::vector<std::int32_t> cells;      ///< cell of the group, shape (batch, cell); padded as CellBlock::cells
  std::vector<std::int32_t> facets;     ///< position in `local_facets`, shape (batch)
  std::vector<std::int32_t> num_active; ///< number of facets, shape (batch)
};

/// Facets with one of these tags (empty: all exterior facets). Stages as for cells: chunk.block indexes `blocks`.
struct FacetBatches {
  int cells_per_batch = 8;
  std::vector<FacetBlock> blocks;
  std::vector<std::vector<Chunk>> stages;
};
FacetBatches make_facet_batches(const Mesh& mesh, std::span<const std::int32_t> tags, const BatchOptions& options = {});

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/space/function_space.hpp>

/// Finds which process owns the dofs of a part of a mesh.
namespace rafter::space {

/// First entries of the entities, by the numbers of their representatives; -1: not numbered yet. Shape (dim, entity).
using EntityStarts = std::array<std::vector<std::int32_t>, 3>;

/// Divides the entries of a local vector into parts that follow each other: 0, entries that this process alone has; 1,
/// those that it owns and others have as ghosts; then its own ghosts, a part for each owner in ascending order. The
/// lowest of the processes whose cells have an entity owns its dofs.
class EntryParts {
public:
  /// Finds the parts. A whole mesh has part 0 alone, of which nothing is counted.
  EntryParts(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::span<const ElementLayout> layouts,
             int num_components);

  bool is_distributed() const { return distribution_ != nullptr; }
  /// First entry of each part, and the number of all; shape (part + 1). For a whole mesh it is {0}.
  std::span<const std::int64_t> begins() const { return begins_; }
  std::int64_t num_entries() const { return begins_.back(); }
  /// Part of each entity of a dimension, by the numbers of representatives; null: all are in part 0.
  const std::int32_t* parts_of(int dim) const {
    return is_distributed() ? parts_[static_cast<std::size_t>(dim)].data() : nullptr;
  }
  /// Returns the global numbers of the entries; those of ghosts come from their owners. All processes call it together.
  /// `num_local` is the number of entries of a whole mesh.
  comm::IndexMap index_map(const EntityStarts& starts, std::int64_t num_local) const;

private:
  /// The dofs of an entity that several processes have.
  struct SharedRun {
    int dim = 0;
    std::int64_t number = 0; ///< the same on all processes, which order the runs by it
    std::int32_t entity = 0; ///< number of its representative
    std::int32_t num_entries = 0;
    std::span<const int> ranks;
  };
  void find_runs(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::span<const ElementLayout> layouts,
                 int num_components);
  void find_parts();

  const mesh::Distribution* distribution_;
  std::vector<SharedRun> shared_;
  std::array<std::vector<std::int32_t>, 3> parts_; ///< part of each entity, shape (dim, entity); -1: no cell has it
  std::vector<int> owners_;                        ///< ranks that own parts 2 and following
  std::vector<std::int64_t> begins_{0};
};

} // namespace rafter::space

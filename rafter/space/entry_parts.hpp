// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/space/function_space.hpp>

/// Which process owns the dofs of a part of a mesh.
namespace rafter::space {

/// First entries of the entities, by the numbers of their representatives; -1: not numbered yet. Shape (dim)(entity).
using EntityStarts = std::array<std::vector<std::int32_t>, 3>;

/// How the entries of a local vector fall into parts that follow each other: 0, entries that this process alone has; 1,
/// those that it owns and others have as ghosts; then its own ghosts, a part for each owner in ascending order. The
/// lowest of the processes whose cells have an entity owns its dofs.
class EntryParts {
public:
  /// Of a whole mesh: there is part 0 alone, and nothing is counted.
  EntryParts(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::span<const ElementLayout> layouts,
             int num_components);

  bool is_distributed() const { return distribution_ != nullptr; }
  /// First entry of each part, and the number of all; shape (part + 1). {0} of a whole mesh.
  std::span<const std::int64_t> begins() const { return begins_; }
  std::int64_t num_entries() const { return begins_.back(); }
  /// Parts of the entities of a dimension, by their representatives; null: all are of part 0.
  const std::int32_t* parts_of(int dim) const {
    return is_distributed() ? parts_[static_cast<std::size_t>(dim)].data() : nullptr;
  }
  /// Collective: global numbers, with those of the ghosts from their owners. `num_local`: of a whole mesh.
  comm::IndexMap index_map(const EntityStarts& starts, std::int64_t num_local) const;

private:
  /// The dofs of an entity that several processes have.
  struct SharedRun {
    int dim = 0;
    std::int64_t number = 0; ///< the same on all processes, by which they order the runs
    std::int32_t entity = 0; ///< its representative
    std::int32_t num_entries = 0;
    std::span<const int> ranks;
  };
  void find_runs(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::span<const ElementLayout> layouts,
                 int num_components);
  void find_parts();

  const mesh::Distribution* distribution_;
  std::vector<SharedRun> shared_;
  std::array<std::vector<std::int32_t>, 3> parts_; ///< -1: not seen
  std::vector<int> owners_;                        ///< of parts 2 and following
  std::vector<std::int64_t> begins_{0};
};

} // namespace rafter::space

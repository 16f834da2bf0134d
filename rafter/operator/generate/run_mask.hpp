// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/base/aligned.hpp>

namespace rafter::space {
class FunctionSpace;
struct ElementLayout;
} // namespace rafter::space

/// Factors, 0 or 1, of the entities of cells, as kernels apply them (schedule::role::mask).
namespace rafter::op {

/// Says where the dofs of shared entities are for cells in batches.
struct BatchedRuns {
  const space::ElementLayout* layout = nullptr;
  std::span<const std::int32_t> starts; ///< first entry of each run, shape (batch, run, cell)
  int cells_per_batch = 8;
  std::int64_t num_cells = 0; ///< number of cells; places of the last batch behind them are padding
};

/// The factors of one list of cells.
struct RunMask {
  int components = 0;                 ///< 1: for all components; else as many as the field has; 0: all factors are 1
  base::AlignedVector<float> factors; ///< shape (batch, run, component, cell); 0 in padding
};

/// Makes masks of the cells of one space. Constrained entries have the factor 0, and so has, where a mask says who owns
/// an entity, every cell but the first that asks for it.
class RunMasks {
public:
  /// `constrained`: entries of the space, in any order. Throws InputError for one in the interior of a cell.
  RunMasks(const space::FunctionSpace& space, std::span<const std::int32_t> constrained);

  /// The mask of constraints alone. Throws InputError where some dofs of an entity are constrained and others are not.
  RunMask free(const BatchedRuns& cells) const;
  /// The mask of cells that own entities: of all cells that this is called for, the first one owns an entity. Throws
  /// the same.
  RunMask owned(const BatchedRuns& cells);

private:
  template <class IsOwned> RunMask mask(const BatchedRuns& cells, const IsOwned& is_owned) const;
  void require_free_interiors() const;
  bool is_free(std::int32_t start, int num_dofs, int component) const;

  const space::FunctionSpace& space_;
  std::vector<bool> is_constrained_, is_owned_; ///< shape (entry)
};

} // namespace rafter::op

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <rafter/device/array.hpp>
#include <rafter/space/function_space.hpp>

/// Index tables of function spaces in the memory of devices.
namespace rafter::space {

/// Where the degrees of freedom of one space stand on one list of cells, as kernels take it. Entries count from the
/// first one of the space, wherever that stands in a vector: tables hold no offsets, and all forms share them. Tables
/// of facets have no entries from `first_touch` on, those of cells no `interior_strides`. Shapes as in BlockDofs and
/// FunctionSpace::FacetDofs.
struct IndexTables {
  using Integers = device::Array<std::int32_t>;
  IndexTables(const BlockDofs& dofs, const std::shared_ptr<device::Device>& device);
  IndexTables(const FunctionSpace::FacetDofs& dofs, const std::shared_ptr<device::Device>& device);

  Integers run_starts, run_permutations, permutations, interior_starts, interior_strides;
  /// Entries that a batch is the first to touch, without its interior run: those are added to later. Shape (batch, 2).
  Integers first_touch;
  Integers patch_starts, patch_numbers, patch_patterns, pattern_numbers, patterns;
};

/// The tables of the blocks of one space. Those that someone holds are not made a second time.
class IndexTableCache {
public:
  std::shared_ptr<const IndexTables> get(const BlockDofs& dofs, const std::shared_ptr<device::Device>& device);

private:
  struct Entry {
    const BlockDofs* dofs;
    const device::Device* device;
    std::weak_ptr<const IndexTables> tables;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

} // namespace rafter::space

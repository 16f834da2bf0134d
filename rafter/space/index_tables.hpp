// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include <rafter/device/array.hpp>
#include <rafter/device/buffer_registry.hpp>
#include <rafter/space/block_dofs.hpp>

/// Holds index tables of function spaces in the memory of devices.
namespace rafter::space {

/// Roles of index tables in a device::BufferRegistry; their numbers are those of spaces.
namespace role {
inline constexpr const char* run_starts = "run_starts";
inline constexpr const char* run_permutations = "run_permutations";
inline constexpr const char* permutations = "permutations";
inline constexpr const char* interior_starts = "interior_starts";
inline constexpr const char* interior_strides = "interior_strides";
inline constexpr const char* first_touch = "first_touch";
inline constexpr const char* patch_starts = "patch_starts";
inline constexpr const char* patch_numbers = "patch_numbers";
inline constexpr const char* patch_patterns = "patch_patterns";
inline constexpr const char* pattern_numbers = "pattern_numbers";
inline constexpr const char* patterns = "patterns";
inline constexpr const char* dof_entries = "dof_entries";
inline constexpr const char* unpatterned_numbers = "unpatterned_numbers";
inline constexpr const char* unpatterned_entries = "unpatterned_entries";
inline constexpr const char* distant_begins = "distant_begins";
inline constexpr const char* distant_entries = "distant_entries";
} // namespace role

/// A constant table in the memory of a device: the host's own where the device shares that memory, else a copy.
class SharedTable {
public:
  SharedTable() = default; ///< an empty table without memory
  /// `values` live as long as the table, at an address that kernels take (base::AlignedAllocator).
  SharedTable(device::Device& device, std::span<const std::int32_t> values);
  device::Buffer* device_read() const { return buffer_.get(); }

private:
  std::shared_ptr<device::Buffer> buffer_;
};

/// Says which entries the dofs of one space have on one list of cells, as kernels take them. Entries count from the
/// first one of the space, wherever that is in a vector: tables hold no offsets, and all forms share them. Tables of a
/// list of cells are empty from `first_touch` on, and those of a block have no `interior_strides`. Shapes are as in
/// BlockDofs and ListDofs.
struct IndexTables {
  using Integers = device::Array<std::int32_t>;
  /// Tables of a block or of a list, whose long tables they share where the device shares the host's memory.
  IndexTables(std::shared_ptr<const BlockDofs> dofs, int components, const std::shared_ptr<device::Device>& device);
  IndexTables(std::shared_ptr<const ListDofs> dofs, const std::shared_ptr<device::Device>& device);
  /// Says whether a kernel reads the table of this role.
  using Reads = std::function<bool(std::string_view role)>;
  /// Registers all tables as those of space number `index`; those that are made on first use only where the kernel
  /// reads them.
  void add_to(device::BufferRegistry& registry, int index, const Reads& reads) const;

  SharedTable run_starts, run_permutations;
  Integers permutations;
  SharedTable interior_starts;
  SharedTable list_interior_starts, interior_strides; ///< tables of lists of cells
  /// Entries that a batch is the first to touch, without its interior run: kernels add to them later. Shape (batch, 2).
  SharedTable first_touch;
  std::span<const std::int32_t> touched; ///< the values of first_touch
  SharedTable patch_starts, pattern_numbers;
  Integers patch_numbers, patch_patterns, patterns;

  /// Entry of the first component of every dof that cells share, shape (batch, dof as in ElementLayout::run_dofs,
  /// cell); padding repeats the last active cell. Made on first use, since only some plans read this table, which is
  /// longer than that of the runs. They are equal if each run has one dof, and kernels get that one. Not of lists of
  /// cells.
  const Integers& dof_entries() const;

  /// The same entries of the batches without a pattern alone, whose runs no kernel moves whole.
  struct UnpatternedBatches {
    Integers numbers; ///< number of the batch among them, shape (batch); 0 for those with a pattern
    Integers entries; ///< shape (number, dof, cell)
  };
  /// Is made on first use, too. Not of lists of cells.
  const UnpatternedBatches& unpatterned() const;

  /// The tables of space::DistantLines.
  struct Distant {
    Integers begins, entries;
  };
  /// Is made on first use, too. Not of lists of cells.
  const Distant& distant() const;

private:
  void set_first_touch(device::Device& device);
  /// Is called before others share the tables, because their threads must only read.
  void bring_to_device() const;

  std::shared_ptr<const BlockDofs> dofs_;
  std::shared_ptr<const ListDofs> list_;
  int components_ = 1;
  std::shared_ptr<device::Device> device_;
  base::AlignedVector<std::int32_t> own_first_touch_; ///< values of first_touch where there are interiors
  mutable std::once_flag has_entries_, has_unpatterned_, has_distant_;
  mutable Integers dof_entries_;
  mutable UnpatternedBatches unpatterned_;
  mutable Distant distant_;
};

/// Keeps the tables of the blocks of one space and of lists of its cells while someone holds them, so that they are not
/// made a second time.
class IndexTableCache {
public:
  /// Returns the tables of a block or of a list of cells, which keep the dofs alive.
  std::shared_ptr<const IndexTables> get(const std::shared_ptr<const BlockDofs>& dofs, int components,
                                         const std::shared_ptr<device::Device>& device);
  std::shared_ptr<const IndexTables> get(const std::shared_ptr<const ListDofs>& list,
                                         const std::shared_ptr<device::Device>& device);
  /// Returns the dofs of a list of cells, from `make` where nobody holds those of an equal list.
  std::shared_ptr<const ListDofs> list(std::int32_t group, std::span<const std::int32_t> cells, int cells_per_batch,
                                       const std::function<ListDofs()>& make);

private:
  /// Tables on a device, known by the address of the dofs that they are made of.
  struct Entry {
    const void* dofs;
    const device::Device* device;
    std::weak_ptr<const IndexTables> tables;
  };
  template <class Make>
  std::shared_ptr<const IndexTables> get(const void* dofs, const device::Device* device, const Make& make);

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<std::weak_ptr<const ListDofs>> lists_;
};

} // namespace rafter::space

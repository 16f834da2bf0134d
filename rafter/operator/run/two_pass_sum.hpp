// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rafter/device/array.hpp>
#include <rafter/operator/run/cell_data.hpp>
#include <rafter/operator/run/free_list.hpp>
#include <rafter/operator/run/staged_kernels.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::op {

/// A cell vector is what the cells of a list contribute to one field.
struct CellVector {
  std::size_t kernel = 0; ///< number of the kernel that computes it
  int output = 0;         ///< number of the output vector in that kernel
  std::size_t size = 0;   ///< number of its entries
  /// Finds for all of them the entry of the vector that each is added to, or -1 for those without a cell, shape (batch,
  /// component, dof, cell of the batch).
  std::function<void(std::span<std::int32_t> entries)> find_entries;
};

/// Sums the cell vectors of kernels into a vector, each entry in the same order in every run: the second pass of plans
/// with Scatter::two_pass. Several threads may use it at the same time.
class TwoPassSum {
public:
  /// The vectors have `num_entries` entries. Throws InputError when cell vectors have more than 2147483647 entries.
  TwoPassSum(std::shared_ptr<device::Device> device, std::span<const CellVector> parts, std::int64_t num_entries,
             schedule::Precision precision);

  /// Memory of the cell vectors of a run.
  using Terms = FreeList<Numbers>::Loan;
  Terms take() const;
  /// Registers the cell vectors that a kernel writes.
  void add_to(device::BufferRegistry& registry, std::size_t kernel, Terms& terms) const;
  /// Computes y = the sum of all cell vectors, or y += that sum when `adds` is true. Entries that no cell has are 0, or
  /// stay.
  void run(Terms& terms, device::Buffer* y, bool adds) const;

private:
  struct Part {
    std::size_t kernel = 0;
    int output = 0;
    std::size_t begin = 0; ///< first entry in the memory of all
  };
  using Integers = device::Array<std::int32_t>;

  std::shared_ptr<device::Device> device_;
  std::vector<Part> parts_;
  std::size_t size_ = 0; ///< number of entries of all cell vectors
  schedule::Precision precision_;
  Integers starts_, places_;
  std::optional<const StagedKernels> sum_; ///< one stage of one kernel
  mutable FreeList<Numbers> free_terms_;
};

} // namespace rafter::op

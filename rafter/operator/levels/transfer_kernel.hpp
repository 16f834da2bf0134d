// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/operator/levels/transfer_cells.hpp>
#include <rafter/operator/run/cell_data.hpp>
#include <rafter/operator/run/kernel_arguments.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/tune/kernel_text_cache.hpp>

namespace rafter::op {

/// The kernel that moves a field between the cells of a list in one direction. It is text until a compiled program is
/// bound.
class TransferKernel {
public:
  /// `cells` must outlive the object.
  TransferKernel(const TransferCells& cells, kernel::TransferDirection direction, const schedule::Plan& plan,
                 const device::Device& device);

  const std::string& source() const { return program_.source; }
  const schedule::Plan& plan() const { return program_.plan; }
  /// Says whether the kernel adds to all entries also where it is to overwrite: they are cleared before.
  bool adds() const { return is_by_owners_ || cells_.has_lists() || way() != schedule::Way::first_touch; }
  schedule::Way way() const { return schedule::way_of(plan()); }
  /// Returns the kernel of a compiled program, which is that of source(), with the data that stay. They belong to this
  /// object.
  KernelArguments bind(const device::Program& compiled, const space::Discretisation& discretisation,
                       const std::shared_ptr<device::Device>& device);

private:
  /// Where the numbers of role::mask come from.
  struct MaskOfField {
    bool is_of_output = false;
    int field = 0;
  };
  void add_cells(device::BufferRegistry& registry, const std::shared_ptr<device::Device>& device);
  void add_masks(device::BufferRegistry& registry, const std::shared_ptr<device::Device>& device) const;

  const TransferCells& cells_;
  kernel::TransferDirection direction_;
  tune::GeneratedProgram program_;
  std::vector<MaskOfField> masks_;
  bool is_by_owners_ = false; ///< prolongation adds what cells own, by lists
  ProgramTables tables_;
  device::Array<std::int32_t> num_active_;
};

} // namespace rafter::op

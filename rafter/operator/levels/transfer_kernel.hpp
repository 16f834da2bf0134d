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

namespace rafter::op {

/// The kernel that moves a field between the cells of a list in one direction. It is text until a compiled program is
/// bound.
class TransferKernel {
public:
  /// `cells` must outlive the object.
  TransferKernel(const TransferCells& cells, kernel::TransferDirection direction, const schedule::Plan& plan,
                 const device::Device& device);

  const std::string& source() const { return source_; }
  const schedule::Plan& plan() const { return plan_; }
  /// Says whether the kernel adds to all entries also where it is told to overwrite: they are cleared before.
  bool adds() const { return cells_.has_lists() || !schedule::stores_first_touched(plan_); }
  bool may_run_in_any_order() const { return schedule::may_run_in_any_order(plan_); }
  bool reads_bounds() const { return reads(loop_arguments_, schedule::role::chunk_bounds, 0); }
  /// Operations of the tensor program for one coarse cell.
  double cell_flops() const { return cell_flops_; }

  /// Binds the data that stay. The program is that of source().
  void bind(std::shared_ptr<const device::Program> program, const space::Discretisation& discretisation,
            const std::shared_ptr<device::Device>& device);

  /// Returns the arguments that stay. A run binds its vectors in a copy of its own.
  const KernelArguments& arguments() const { return arguments_; }
  device::Task task(const KernelArguments& arguments, std::int64_t begin, std::int64_t end) const {
    return arguments.task(*kernel_, begin, end);
  }

private:
  using Integers = space::IndexTables::Integers;
  void add_tables(device::BufferRegistry& registry, const std::shared_ptr<device::Device>& device);
  void add_masks(device::BufferRegistry& registry) const;

  const TransferCells& cells_;
  kernel::TransferDirection direction_;
  schedule::Plan plan_;
  std::string source_, name_;
  double cell_flops_ = 0;
  std::vector<schedule::LoopBuffer> loop_arguments_;
  device::Launch launch_;
  std::vector<kernel::FieldMask> masks_;
  std::vector<std::vector<double>> packed_matrices_; ///< by number; empty where the numbers stand in the text
  std::shared_ptr<const device::Kernel> kernel_;
  KernelArguments arguments_; ///< only those that stay are bound
  std::vector<std::shared_ptr<const Numbers>> matrices_;
  std::vector<Integers> tables_;
  Integers num_active_;
};

} // namespace rafter::op

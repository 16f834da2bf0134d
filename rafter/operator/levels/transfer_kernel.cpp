// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/transfer_kernel.hpp>

#include <algorithm>

#include <rafter/emit/c_family.hpp>
#include <rafter/emit/recorder.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::op {
namespace {

using kernel::TransferDirection;

/// Returns the program of a transfer, whose fields know where they are in vectors. Pattern 0 is that of the coarse
/// field, and those of the children follow; the dofs of all children are in one vector.
kernel::TensorProgram transfer_program(const TransferCells& cells, TransferDirection direction) {
  auto result = kernel::build_transfer(cells.input(direction));
  auto& children = direction == TransferDirection::prolongation ? result.outputs : result.inputs;
  result.batches = {
      .cells_per_batch = cells.cells_per_batch, .patterns = {cells.coarse.layout}, .has_lists = cells.has_lists()};
  for (std::size_t k = 0; k < children.size(); ++k) {
    children[k].pattern = static_cast<int>(k) + 1;
    result.batches.patterns.push_back(cells.children[k].layout);
  }
  return result;
}

/// The plan with as many lanes and sub-batches as batches have.
schedule::Plan fitted(schedule::Plan plan, const TransferCells& cells) {
  using namespace schedule::key;
  plan.set(vector_width, std::min(plan[vector_width], cells.cells_per_batch));
  const bool is_dense = !cells.coarse.element->has_tensor_factors();
  plan.set(subbatches, is_dense ? std::min(plan[subbatches], cells.cells_per_batch / plan[vector_width]) : 1);
  return plan;
}

} // namespace

TransferKernel::TransferKernel(const TransferCells& cells, TransferDirection direction, const schedule::Plan& plan,
                               const device::Device& device)
    : cells_(cells), direction_(direction) {
  const auto program = transfer_program(cells, direction);
  program_.plan = fitted(plan, cells);
  const auto loops = schedule::lower({.program = &program, .stored = {}, .target = target_of(device)}, program_.plan);
  emit::record("tensors", loops.name, [&] { return program.to_string(); });
  program_.source = emit::emit(loops, device.language());
  program_.name = loops.name;
  program_.arguments = loops.arguments();
  program_.launch = loops.launch;
  program_.matrices = schedule::packed_tables(program, program_.plan);
  for (const auto& mask : program.masks) {
    const auto& access = program.access_of(mask);
    masks_.push_back({access.kind == kernel::AccessKind::output, access.field});
  }
  is_by_owners_ =
      direction == TransferDirection::prolongation && reads(program_.arguments, schedule::role::owned_begins, 0);
}

KernelArguments TransferKernel::bind(const device::Program& compiled, const space::Discretisation& discretisation,
                                     const std::shared_ptr<device::Device>& device) {
  tables_ = {discretisation, device, program_, program_.plan[schedule::key::compute]};
  device::BufferRegistry kept;
  tables_.add_to(kept);
  add_cells(kept, device);
  add_masks(kept, device);
  return {compiled, program_, kept};
}

void TransferKernel::add_cells(device::BufferRegistry& registry, const std::shared_ptr<device::Device>& device) {
  std::vector<const space::IndexTables*> spaces{cells_.coarse.tables.get()};
  for (const auto& child : cells_.children) spaces.push_back(child.tables.get());
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const int number = static_cast<int>(i);
    spaces[i]->add_to(registry, number, [&](std::string_view role) { return reads(program_.arguments, role, number); });
  }
  base::AlignedVector<std::int32_t> active(static_cast<std::size_t>(cells_.num_batches()), cells_.cells_per_batch);
  if (!active.empty())
    active.back() = static_cast<std::int32_t>(cells_.num_cells - (cells_.num_batches() - 1) * cells_.cells_per_batch);
  num_active_ = {device, std::move(active)};
  registry.add(schedule::role::num_active, 0, num_active_.device_read());
}

void TransferKernel::add_masks(device::BufferRegistry& registry, const std::shared_ptr<device::Device>& device) const {
  const bool prolongates = direction_ == TransferDirection::prolongation;
  for (std::size_t i = 0; i < masks_.size(); ++i) {
    if (!reads(program_.arguments, schedule::role::mask, static_cast<int>(i))) continue;
    const bool is_coarse = masks_[i].is_of_output != prolongates;
    const auto& field = is_coarse ? cells_.coarse : cells_.children[static_cast<std::size_t>(masks_[i].field)];
    registry.add(schedule::role::mask, static_cast<int>(i), field.factors_on(device).device_read());
  }
  if (!reads(program_.arguments, schedule::role::owned_begins, 0)) return;
  const auto& owned = cells_.owned(plan()[schedule::key::vector_width], device);
  registry.add(schedule::role::owned_begins, 0, owned.begins.device_read());
  registry.add(schedule::role::owned_places, 0, owned.places.device_read());
  registry.add(schedule::role::owned_entries, 0, owned.entries.device_read());
}

} // namespace rafter::op

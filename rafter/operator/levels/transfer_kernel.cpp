// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/transfer_kernel.hpp>

#include <algorithm>

#include <rafter/emit/c_family.hpp>
#include <rafter/emit/recorder.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::op {
namespace {

using kernel::TransferDirection;

/// How the fields of a transfer live in vectors: space 0 is the coarse one, then come those of the children, whose
/// dofs are in one vector.
schedule::LoweringInput lowering_input(const TransferCells& cells, TransferDirection direction,
                                       const kernel::TensorProgram& program, const schedule::Target& target) {
  schedule::LoweringInput result;
  result.program = &program;
  result.access.spaces.push_back(cells.coarse.layout);
  std::vector<int> children;
  for (const auto& child : cells.children) {
    children.push_back(static_cast<int>(result.access.spaces.size()));
    result.access.spaces.push_back(child.layout);
  }
  const bool prolongates = direction == TransferDirection::prolongation;
  (prolongates ? result.access.input_spaces : result.access.output_spaces) = {0};
  (prolongates ? result.access.output_spaces : result.access.input_spaces) = std::move(children);
  result.input_vectors.assign(program.inputs.size(), 0);
  result.output_vectors.assign(program.outputs.size(), 0);
  result.num_trial_vectors = 1;
  result.access.cells_per_batch = cells.cells_per_batch;
  result.has_lists = cells.has_lists();
  result.target = target;
  return result;
}

/// The plan with as many lanes and sub-batches as batches have.
schedule::Plan fitted(schedule::Plan plan, const TransferCells& cells) {
  plan.vector_width = std::min(plan.vector_width, cells.cells_per_batch);
  const bool is_dense = !element::is_tensor(cells.coarse.element->shape());
  plan.subbatches = is_dense ? std::min(plan.subbatches, cells.cells_per_batch / plan.vector_width) : 1;
  return plan;
}

} // namespace

TransferKernel::TransferKernel(const TransferCells& cells, TransferDirection direction, const schedule::Plan& plan,
                               const device::Device& device)
    : cells_(cells), direction_(direction), plan_(fitted(plan, cells)) {
  const auto program = kernel::build_transfer(cells.input(direction));
  const auto loops = schedule::lower(lowering_input(cells, direction, program, target_of(device)), plan_);
  emit::record("tensors", loops.name, [&] { return program.to_string(); });
  source_ = emit::emit(loops, device.language());
  name_ = loops.name;
  cell_flops_ = kernel::count_flops(program);
  loop_arguments_ = loops.arguments();
  launch_ = loops.launch;
  masks_ = program.masks;
  for (const auto& matrix : program.matrices)
    packed_matrices_.push_back(matrix.is_data ? schedule::packed_table(matrix, plan_) : std::vector<double>{});
}

void TransferKernel::bind(std::shared_ptr<const device::Program> program, const space::Discretisation& discretisation,
                          const std::shared_ptr<device::Device>& device) {
  kernel_ = program->kernel(name_);
  for (const auto& matrix : packed_matrices_)
    matrices_.push_back(shared_numbers(discretisation, device, matrix, plan_.compute));
  device::BufferRegistry kept;
  for (std::size_t i = 0; i < matrices_.size(); ++i)
    kept.add(schedule::role::matrix, static_cast<int>(i), matrices_[i]->device_read());
  add_tables(kept, device);
  add_masks(kept);
  arguments_ = {loop_arguments_, launch_, kept};
}

void TransferKernel::add_tables(device::BufferRegistry& registry, const std::shared_ptr<device::Device>& device) {
  std::vector<const space::IndexTables*> spaces{cells_.coarse.tables.get()};
  for (const auto& child : cells_.children) spaces.push_back(child.tables.get());
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const int number = static_cast<int>(i);
    spaces[i]->add_to(registry, number, [&](std::string_view role) { return reads(loop_arguments_, role, number); });
  }
  for (const auto& argument : loop_arguments_)
    if (argument.role == schedule::role::table)
      tables_.emplace_back(device, base::AlignedVector<std::int32_t>(argument.values.begin(), argument.values.end()));
  for (std::size_t i = 0; i < tables_.size(); ++i)
    registry.add(schedule::role::table, static_cast<int>(i), tables_[i].device_read());
  base::AlignedVector<std::int32_t> active(static_cast<std::size_t>(cells_.num_batches()), cells_.cells_per_batch);
  if (!active.empty())
    active.back() = static_cast<std::int32_t>(cells_.num_cells - (cells_.num_batches() - 1) * cells_.cells_per_batch);
  num_active_ = Integers(device, std::move(active));
  registry.add(schedule::role::num_active, 0, num_active_.device_read());
}

void TransferKernel::add_masks(device::BufferRegistry& registry) const {
  const bool prolongates = direction_ == TransferDirection::prolongation;
  for (std::size_t i = 0; i < masks_.size(); ++i) {
    const bool is_coarse = masks_[i].is_of_output != prolongates;
    const auto& field = is_coarse ? cells_.coarse : cells_.children[static_cast<std::size_t>(masks_[i].field)];
    registry.add(schedule::role::mask, static_cast<int>(i), field.factors.device_read());
  }
}

} // namespace rafter::op

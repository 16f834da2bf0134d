// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/vector_kernels.hpp>

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::op {

namespace {

/// Hosts take a register at a time, other devices groups of items.
schedule::VectorMapping mapping_of(const device::Device& device) {
  constexpr int num_items = 128, most_lanes = 8;
  if (!emit::target(device.language()).has_lanes)
    return {.vector_width = 1,
            .num_items = static_cast<int>(
                std::bit_floor(static_cast<unsigned>(std::clamp(device.capabilities().most_items, 2, num_items))))};
  return {.vector_width = std::min(most_lanes, device::register_bits(device::cpu()).back() / 64), .num_items = 1};
}

/// Memory is the limit of these loops: what longer compilation gains is lost beside it.
device::CompileOptions compile_options(const device::Device& device) {
  device::CompileOptions result{.language = device.language()};
  const auto known = device.flag_sets();
  if (std::ranges::find(known, schedule::quick_flags) != known.end()) result.flag_set = schedule::quick_flags;
  return result;
}

} // namespace

std::shared_ptr<const VectorKernels> VectorKernels::of(const std::shared_ptr<device::Device>& device, VectorLoops loops,
                                                       schedule::Type type) {
  return device->keep<VectorKernels>(loops.data(), static_cast<int>(type),
                                     [&] { return std::make_shared<const VectorKernels>(*device, loops, type); });
}

VectorKernels::VectorKernels(device::Device& device, VectorLoops loops, schedule::Type type) {
  const auto mapping = mapping_of(device);
  std::vector<schedule::LoopProgram> programs;
  std::vector<schedule::VectorPrograms> lowered;
  for (const auto& text : loops) {
    auto loop = schedule::parse_vector_loop(text, type);
    const std::size_t num_lists = loop.lists().size();
    if (loop.operands.size() + num_lists > most_operands || loop.scalars.size() > most_scalars)
      throw base::InternalError("loop over vectors " + loop.name + ": too many operands or scalars");
    lowered.push_back(schedule::lower(loop, mapping));
    programs.push_back(lowered.back().main);
    if (lowered.back().total) programs.push_back(*lowered.back().total);
    kernels_.push_back({.loop = std::move(loop), .num_lists = num_lists});
  }
  if (programs.empty()) return;
  const auto program = device.compile(emit::emit(programs, device.language()), compile_options(device));
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const auto& [main, total] = lowered[i];
    kernels_[i].main = program->kernel(main.name);
    kernels_[i].main_launch = main.launch;
    if (!total) continue;
    kernels_[i].total = program->kernel(total->name);
    kernels_[i].total_launch = total->launch;
  }
}

const VectorKernel& VectorKernels::find(std::string_view loop) const {
  const auto found = std::ranges::find_if(kernels_, [loop](const auto& kernel) { return kernel.loop.name == loop; });
  if (found == kernels_.end()) throw base::InternalError(fmt::format("there is no loop over vectors '{}'", loop));
  return *found;
}

void LoopOperand::use(const EntryRange& range) {
  if (range.begin < 0 || range.end < range.begin || static_cast<std::size_t>(range.end) > array_size())
    throw base::InternalError(
        fmt::format("entries {} to {} are asked for of a vector of {} entries", range.begin, range.end, array_size()));
  range_ = range;
}

std::size_t LoopOperand::array_size() const {
  return std::visit([](const auto* array) { return array->size(); }, array_);
}

std::size_t LoopOperand::offset() const {
  return range_ ? static_cast<std::size_t>(range_->begin) * sizeof(double) : 0;
}

device::Buffer* LoopOperand::bind(const schedule::VectorOperand& operand, bool is_whole) const {
  return std::visit(
      [&](auto* array) -> device::Buffer* {
        using Taken = std::remove_pointer_t<decltype(array)>;
        using Wanted = std::remove_const_t<Taken>;
        if (std::is_same_v<Wanted, IntegerArray> ||
            std::is_same_v<Wanted, Vector> != (operand.type == schedule::Type::real))
          throw base::InternalError("operand " + operand.name + " of a loop over vectors has another type");
        if (!operand.is_written) return array->device_read();
        if constexpr (std::is_const_v<Taken>)
          throw base::InternalError("operand " + operand.name + " of a loop over vectors is written");
        else
          return operand.is_read || !is_whole || range_ || !operand.list.empty() ? array->device_write()
                                                                                 : array->device_overwrite();
      },
      array_);
}

device::Buffer* LoopOperand::bind_list() const {
  const auto* const list = std::get_if<const IntegerArray*>(&array_);
  if (list == nullptr) throw base::InternalError("a list of entries of a loop over vectors holds no integers");
  return (*list)->device_read();
}

} // namespace rafter::op

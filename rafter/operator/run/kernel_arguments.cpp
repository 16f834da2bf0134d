// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/kernel_arguments.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/tune/kernel_text_cache.hpp>

namespace rafter::op {

bool reads(const std::vector<schedule::LoopBuffer>& arguments, std::string_view role, int index) {
  return std::ranges::any_of(arguments,
                             [&](const auto& argument) { return argument.role == role && argument.index == index; });
}

KernelArguments::KernelArguments(std::shared_ptr<const device::Kernel> kernel,
                                 const std::vector<schedule::LoopBuffer>& arguments, const device::Launch& launch,
                                 const device::BufferRegistry& kept)
    : kernel_(std::move(kernel)), launch_(launch), buffers_(arguments.size()), offsets_(arguments.size()) {
  std::vector<Open> open;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Open argument{i, arguments[i].name, arguments[i].role, arguments[i].index};
    if (const auto* binding = kept.find(argument.role, argument.index))
      set(argument, *binding);
    else
      open.push_back(argument);
  }
  open_ = std::make_shared<const std::vector<Open>>(std::move(open));
}

KernelArguments::KernelArguments(const device::Program& compiled, const tune::GeneratedProgram& program,
                                 const device::BufferRegistry& kept)
    : KernelArguments(compiled.kernel(program.name), program.arguments, program.launch, kept) {}

void KernelArguments::bind(const device::BufferRegistry& run, const device::BufferRegistry& own) {
  for (const auto& argument : *open_) {
    const auto* binding = run.find(argument.role, argument.index);
    if (binding == nullptr) binding = own.find(argument.role, argument.index);
    set(argument, binding == nullptr ? device::Binding() : *binding);
  }
}

bool KernelArguments::binds(std::string_view role) const {
  return std::ranges::any_of(*open_,
                             [role](const Open& argument) { return argument.role == role && argument.index == 0; });
}

void KernelArguments::set(const Open& argument, const device::Binding& binding) {
  if (binding.buffer == nullptr)
    throw base::InternalError(fmt::format("nothing is bound to the kernel argument {}, whose role is {} {}",
                                          argument.name, argument.role, argument.index));
  buffers_[argument.place] = binding.buffer;
  offsets_[argument.place] = binding.offset_bytes;
}

} // namespace rafter::op

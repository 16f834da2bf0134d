// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/kernel_target.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/device.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/space/discretisation.hpp>

namespace rafter::op {

schedule::Target target_of(const std::string& language, const device::Capabilities& capabilities) {
  auto result = emit::target(language);
  if (result.has_lanes) return result;
  if (capabilities.most_items > 0) result.most_items = std::min(result.most_items, capabilities.most_items);
  result.items_in_step = std::min(capabilities.sub_group_width, result.most_items);
  result.lanes_of_item = capabilities.vector_width;
  result.shared_bytes = static_cast<std::int64_t>(capabilities.shared_bytes);
  result.has_atomic_doubles = result.has_atomic_doubles && capabilities.has_atomic_doubles;
  result.matrix_shapes = capabilities.matrix_shapes;
  result.is_processor = capabilities.is_processor;
  if (result.is_processor) return result;
  constexpr std::int64_t register_bytes = 4;
  result.register_bytes = register_bytes * capabilities.registers_per_item;
  result.unit_register_bytes = register_bytes * capabilities.registers_per_unit;
  result.most_group_work_bytes = 0;
  if (capabilities.work_bytes_per_item > 0) result.most_work_bytes = capabilities.work_bytes_per_item;
  return result;
}

schedule::Target target_of(const device::Device& device) { return target_of(device.language(), device.capabilities()); }

KernelTarget kernel_target(const device::Device& device) {
  return {.name = device.name(),
          .target = target_of(device),
          .num_threads = device.num_threads(),
          .compilers = device.compilers(),
          .flag_sets = device.flag_sets()};
}

KernelTarget kernel_target(const device::Capabilities& capabilities) {
  const auto known = emit::languages();
  const auto found = std::ranges::find_first_of(capabilities.languages, known);
  if (found == capabilities.languages.end())
    throw base::InputError("kernels are written in " + base::join(known, " and ") + ", and the device '" +
                           capabilities.description + "' takes " +
                           (capabilities.languages.empty() ? "nothing" : base::join(capabilities.languages, " and ")));
  KernelTarget result{.name = capabilities.description, .target = target_of(*found, capabilities)};
  const auto most = result.target.most_items;
  const auto cells = space::DiscretisationOptions().cells_per_batch;
  if (result.target.has_groups && most < cells)
    throw base::InputError(fmt::format("the device '{}' has groups of at most {} items; kernels are made for {}, the "
                                       "cells of a batch, and more",
                                       capabilities.description, most, cells));
  return result;
}

} // namespace rafter::op

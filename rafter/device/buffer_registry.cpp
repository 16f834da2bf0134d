// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/buffer_registry.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::device {

void BufferRegistry::add(std::string_view role, int index, Buffer* buffer, std::size_t offset_bytes) {
  if (find(role, index) != nullptr)
    throw base::InternalError(fmt::format("two buffers are registered as {} {}", role, index));
  entries_.push_back({role, index, {buffer, offset_bytes}});
}

const Binding* BufferRegistry::find(std::string_view role, int index) const {
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.index == index && entry.role == role; });
  return found == entries_.end() ? nullptr : &found->binding;
}

} // namespace rafter::device

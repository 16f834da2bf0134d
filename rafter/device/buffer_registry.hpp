// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include <rafter/device/device.hpp>

namespace rafter::device {

/// A buffer as a kernel's argument.
struct Binding {
  Buffer* buffer = nullptr;
  std::size_t offset_bytes = 0; ///< bytes of the buffer before those that the kernel sees
};

/// Buffers by what they are to kernels: a role, "run_starts" say, and a number that distinguishes what several spaces,
/// fields or matrices have in it. The owner of data registers them, the program that reads them names the role; nothing
/// between the two knows it. Roles are constants, which outlive the registry.
class BufferRegistry {
public:
  /// Throws InternalError where something is registered there already.
  void add(std::string_view role, int index, Buffer* buffer, std::size_t offset_bytes = 0);
  /// Null: nothing is registered.
  const Binding* find(std::string_view role, int index) const;

private:
  struct Entry {
    std::string_view role;
    int index;
    Binding binding;
  };
  std::vector<Entry> entries_; ///< a few dozen
};

} // namespace rafter::device

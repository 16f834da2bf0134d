// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <rafter/device/device.hpp>

namespace rafter::schedule {

/// The target for which kernels are lowered: the axes that the language of a device has, of which mappings need one or
/// the other, and the limits of the device. It is a processor unless something else is known.
struct Target {
  std::string language = "c"; ///< language of the text, as emit::emit takes it
  /// Vectors with one number per lane, on a device that runs the batches of a task in ascending order.
  bool has_lanes = true;
  bool has_groups = false;  ///< groups of items
  bool is_processor = true; ///< items of a group, where there are any, run one after the other on a thread
  int items_in_step = 32;   ///< number of items that the device runs together: groups of fewer leave it idle
  int lanes_of_item = 1; ///< doubles that an item computes at a time, in vectors; 1: items are what computes together
  int most_items = 1024; ///< number of items that a group may have
  /// Bytes of the registers of a thread of a host, or of an item; 0: not known. Those of the largest register file of
  /// processors, 32 registers of 512 bits.
  std::int64_t register_bytes = 32 * 64;
  std::int64_t unit_register_bytes = 0; ///< those that the items on a compute unit have between them; 0: not known
  std::int64_t shared_bytes = 0;        ///< memory that the items of a group share; 0: none or not known
  /// Size of the largest work arrays of a thread or an item. Those of a processor may be larger, but are of no use.
  std::int64_t most_work_bytes = std::int64_t{64} << 20;
  /// Size of the work arrays of all items of a group; 0: no limit. A processor that runs the items keeps them on the
  /// stack of a thread: half of what the emitter leaves there of a kernel of a host.
  std::int64_t most_group_work_bytes = std::int64_t{1} << 19;
  bool has_atomic_doubles = false; ///< adds doubles atomically by an instruction, and the language can say so
  std::vector<device::MatrixShape> matrix_shapes; ///< products of doubles by matrix units
  bool operator==(const Target&) const = default;
};
inline auto members(const Target& value) {
  const auto& [language, has_lanes, has_groups, is_processor, items_in_step, lanes_of_item, most_in_group,
               register_bytes, unit_register_bytes, shared_bytes, most_work_bytes, most_group_work_bytes,
               has_atomic_doubles, matrix_shapes] = value;
  return std::tie(language, has_lanes, has_groups, is_processor, items_in_step, lanes_of_item, most_in_group,
                  register_bytes, unit_register_bytes, shared_bytes, most_work_bytes, most_group_work_bytes,
                  has_atomic_doubles, matrix_shapes);
}

} // namespace rafter::schedule

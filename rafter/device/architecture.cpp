// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/architecture.hpp>

#include <charconv>
#include <string_view>

namespace rafter::device {

Architecture architecture(const std::string& name) {
  // CDNA 2 and later: 256 vector registers of an item, and as many for matrix units and what is moved there.
  for (const char* of_amd : {"gfx90a", "gfx942", "gfx950"})
    if (name == of_amd) return {.registers_per_item = 256, .has_atomic_doubles = true};
  constexpr std::string_view of_nvidia = "sm_";
  int number = 0;
  if (!name.starts_with(of_nvidia) ||
      std::from_chars(name.data() + of_nvidia.size(), name.data() + name.size(), number).ec != std::errc())
    return {};
  constexpr int pascal = 60, ampere = 80, hopper = 90;
  Architecture result{.registers_per_item = 255,
                      .work_bytes_per_item = std::int64_t{512} << 10,
                      .has_atomic_doubles = number >= pascal,
                      .matrix_shapes = {}};
  if (number == ampere || number == hopper) result.matrix_shapes = {{.rows = 8, .columns = 8, .depth = 4}};
  if (number == hopper)
    for (const int depth : {4, 8, 16}) result.matrix_shapes.push_back({.rows = 16, .columns = 8, .depth = depth});
  return result;
}

Capabilities capabilities_of(const std::string& name, const std::string& language) {
  auto known = architecture(name);
  const bool is_of_amd = name.starts_with("gfx");
  return {.description = name,
          .architecture = name,
          .languages = {language},
          .most_items = 1024,
          .sub_group_width = is_of_amd ? 64 : 32,
          .registers_per_item = known.registers_per_item,
          .registers_per_unit = is_of_amd ? 131072 : 65536,
          .shared_bytes = std::size_t{is_of_amd ? 64U : 48U} << 10,
          .work_bytes_per_item = known.work_bytes_per_item,
          .matrix_shapes = std::move(known.matrix_shapes),
          .has_atomic_doubles = known.has_atomic_doubles};
}

} // namespace rafter::device

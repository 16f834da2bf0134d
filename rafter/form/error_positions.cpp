// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/error_positions.hpp>

#include <fmt/format.h>

namespace rafter::form {

/// Hint for errors about shapes in texts that use the point x where a coordinate x[i] may be meant.
std::string ErrorPositions::point_hint(std::string_view message) const {
  if (!has_whole_point_ || message.find("shape") == std::string_view::npos) return "";
  std::string coordinates = "x[0]";
  for (int axis = 1; axis < gdim_; ++axis) coordinates += fmt::format(", x[{}]", axis);
  return fmt::format("; 'x' is the whole point, its coordinates are {}", coordinates);
}

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/request.hpp>

#include <rafter/space/function_space.hpp>

namespace rafter::problem {

std::string at(const std::string& place, const std::string& message) {
  return place.empty() ? message : place + ": " + message;
}

std::string test_name(const op::System& system, std::size_t field) {
  return system.spaces.size() == 1 ? "v" : "v_" + system.spaces[field]->name;
}

} // namespace rafter::problem

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/generations.hpp>

#include <algorithm>

namespace rafter::mesh {

std::vector<std::shared_ptr<const Mesh>> generations(const std::shared_ptr<const Mesh>& mesh) {
  std::vector<std::shared_ptr<const Mesh>> result{mesh};
  while (result.back()->refinement != nullptr) result.push_back(result.back()->refinement->coarse);
  std::ranges::reverse(result);
  return result;
}

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include <rafter/mesh/mesh.hpp>

int main() {
  const auto box = rafter::mesh::make_box({.cells = {3, 2, 2}, .size = {2.5, 1.0, 1.0}, .shape = "tetrahedron"});
  std::printf("volume %.6f\n", rafter::mesh::check_validity(box.refined(1)).volume);
}

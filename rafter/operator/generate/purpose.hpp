// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace rafter::op {

/// Says what the kernels of a form compute.
enum class Purpose : std::uint8_t {
  action,   ///< y = A x of a bilinear form, the vector of a linear form, or the number of a functional
  diagonal, ///< the diagonal of a bilinear form
  matrix    ///< the matrices of the cells and facets of a bilinear form
};

} // namespace rafter::op

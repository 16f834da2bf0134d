// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <vector>

namespace rafter::element {

/// Values and first reference derivatives of all basis functions at some points, shape (value component, derivative,
/// point, dof), row-major: derivative 0 is the value and d = 1..dim the derivative along reference axis d-1. Scalar
/// functions have one value component, so that component comes last among the arguments and first in memory.
struct Table {
  int dim = 0, num_points = 0, num_dofs = 0;
  std::vector<double> values;
  int num_components = 1; ///< value components of the functions
  double operator()(int derivative, int point, int dof, int component = 0) const {
    return values[((static_cast<std::size_t>(component) * static_cast<std::size_t>(dim + 1) +
                    static_cast<std::size_t>(derivative)) *
                       static_cast<std::size_t>(num_points) +
                   static_cast<std::size_t>(point)) *
                      static_cast<std::size_t>(num_dofs) +
                  static_cast<std::size_t>(dof)];
  }
};

} // namespace rafter::element

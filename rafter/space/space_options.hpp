// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/element/element.hpp>

namespace rafter::space {

/// Says which function space is made on a discretisation.
struct SpaceOptions {
  element::Family family = element::Family::lagrange;
  int degree = 1;
  int components = 0; ///< 0: the field is a scalar
  std::string name = "u";
  /// Every cell has all its dofs for itself. The local vector is then the cell vector (E-vector) of the batches, shape
  /// (batch, local dof, component, active cell), and operators on it neither gather nor scatter.
  bool is_broken = false;
};

} // namespace rafter::space

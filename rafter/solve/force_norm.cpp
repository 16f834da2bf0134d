// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/force_norm.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::solvers {

ReferenceNorm force_norm(const op::Operator& A, const Vector& load) {
  double is_moved = 0; // 1 if some boundary value is not zero on any process
  for (const double value : A.constraints().values) is_moved = value == 0 ? is_moved : 1;
  A.communicator()->max(std::span(&is_moved, 1));
  if (is_moved == 0) return {};
  const VectorOps ops(A);
  const double loads = std::max(0.0, ops.dot(load, load) - A.constrained_square(load)); // the square of their norm
  return [&A, loads](const Vector& x) {
    Vector image = A.make_vector();
    A.apply_free(x, image);
    return std::sqrt(loads + A.constrained_square(image));
  };
}

} // namespace rafter::solvers

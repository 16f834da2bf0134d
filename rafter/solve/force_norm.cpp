// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/force_norm.hpp>

#include <cmath>

namespace rafter::solvers {

ReferenceNorm force_norm(const op::Operator& A, const Vector& load) {
  double is_moved = 0; // 1 if some boundary value is not zero on any process
  for (const double value : A.constraints().values) is_moved = value == 0 ? is_moved : 1;
  A.communicator()->max(std::span(&is_moved, 1));
  if (is_moved == 0) return {};
  return [&A, loads = load_norm(A, load)](const Vector& x) {
    Vector image = A.make_vector();
    A.apply_free(x, image);
    return std::hypot(loads, A.constrained_norm(image));
  };
}

double load_norm(const op::Operator& A, const Vector& load) {
  const double all = VectorOps(A).norm(load), fixed = A.constrained_norm(load);
  if (!(all > fixed)) return std::isfinite(all) ? 0 : all;
  const double share = fixed / all;
  return all * std::sqrt((1 - share) * (1 + share));
}

} // namespace rafter::solvers

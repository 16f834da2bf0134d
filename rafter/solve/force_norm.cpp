// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/force_norm.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::solvers {
namespace {

/// Sum of the squares of v's constrained entries, each counted by the process that owns it.
double constrained_square(const op::Operator& A, const Vector& v) {
  double sum = 0;
  const auto& entries = A.constraints().entries; // these ascend
  for (const auto& owned : A.owned_ranges())
    for (auto entry = std::ranges::lower_bound(entries, owned.begin); entry != entries.end() && *entry < owned.end;
         ++entry) {
      const double value = v.host_read()[static_cast<std::size_t>(*entry)];
      sum += value * value;
    }
  A.communicator()->sum(std::span(&sum, 1));
  return sum;
}

} // namespace

ReferenceNorm force_norm(const op::Operator& A, const Vector& load) {
  double is_moved = 0; // 1 if some boundary value is not zero on any process
  for (const double value : A.constraints().values) is_moved = value == 0 ? is_moved : 1;
  A.communicator()->max(std::span(&is_moved, 1));
  if (is_moved == 0) return {};
  const VectorOps ops(A);
  const double loads = std::max(0.0, ops.dot(load, load) - constrained_square(A, load)); // the square of their norm
  return [&A, loads](const Vector& x) {
    Vector image = A.make_vector();
    A.apply_free(x, image);
    return std::sqrt(loads + constrained_square(A, image));
  };
}

} // namespace rafter::solvers

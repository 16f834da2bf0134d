// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/force_norm.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::solvers {
namespace {

/// Sum of the squares of v's constrained entries.
double constrained_square(const op::Operator& A, const Vector& v) {
  double sum = 0;
  for (const auto entry : A.constraints().entries) {
    const double value = v.host_read()[static_cast<std::size_t>(entry)];
    sum += value * value;
  }
  return sum;
}

} // namespace

ReferenceNorm force_norm(const op::Operator& A, const Vector& load) {
  const auto& values = A.constraints().values;
  if (std::ranges::all_of(values, [](double value) { return value == 0; })) return {};
  const VectorOps ops(A.device());
  const double loads = std::max(0.0, ops.dot(load, load) - constrained_square(A, load)); // squared
  return [&A, loads](const Vector& x) {
    Vector image = A.make_vector();
    A.apply_free(x, image);
    return std::sqrt(loads + constrained_square(A, image));
  };
}

} // namespace rafter::solvers

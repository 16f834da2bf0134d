// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/null_space.hpp>

#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::solvers {

NullSpace::NullSpace(std::shared_ptr<device::Device> device, std::vector<Vector> vectors) {
  const VectorOps ops(std::move(device));
  constexpr double least_part = 1e-10; // least part of a vector that must be left when those before it are taken away
  for (auto& vector : vectors) {
    const double size = ops.norm(vector);
    // The second pass makes the vector orthogonal to machine precision.
    for (int pass = 0; pass < 2; ++pass) project(vector);
    const double left = ops.norm(vector);
    if (!(left > least_part * size))
      throw base::InputError(
          fmt::format("null space: vector {} is zero or depends linearly on those before it", basis_.size()));
    ops.scale(1 / left, vector);
    basis_.push_back(std::move(vector));
  }
}

std::vector<double> NullSpace::coefficients(const Vector& x) const {
  std::vector<double> result(basis_.size());
  VectorOps(x.device()).multi_dot(basis_, x, result);
  return result;
}

void NullSpace::project(Vector& x) const {
  if (!is_empty()) VectorOps(x.device()).multi_axpy(-1, coefficients(x), basis_, x);
}

Vector NullSpace::part(const Vector& x) const {
  Vector result(x.device(), x.size());
  const VectorOps ops(x.device());
  ops.fill(0, result);
  if (!is_empty()) ops.multi_axpy(1, coefficients(x), basis_, result);
  return result;
}

double NullSpace::norm_of_part(const Vector& x) const {
  if (is_empty()) return 0;
  double square = 0;
  for (const double c : coefficients(x)) square += c * c;
  return std::sqrt(square);
}

} // namespace rafter::solvers

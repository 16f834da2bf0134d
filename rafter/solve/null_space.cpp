// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/null_space.hpp>

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::solvers {
namespace {

/// Loops of a projection whose coefficients stay on the device, for one vector of the basis and for four of them.
constexpr std::array<std::string_view, 4> projection_loops{
    "coefficient(c | n, x): sum nx = n*x; then c = nx",
    "coefficients_four(ca, cb, cc, cd | na, nb, nc, nd, x):"
    " sum ax = na*x; sum bx = nb*x; sum cx = nc*x; sum dx = nd*x; then ca = ax; then cb = bx; then cc = cx; then cd = "
    "dx",
    "remove(c | n, x): x = x - c*n",
    "remove_four(ca, cb, cc, cd | na, nb, nc, nd, x): x = x - ca*na - cb*nb - cc*nc - cd*nd",
};

} // namespace

NullSpace::NullSpace(std::shared_ptr<device::Device> device, std::vector<Vector> vectors) {
  const VectorOps ops(device);
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
  if (device->shares_host_memory()) return;
  coefficients_ = Vector(device, basis_.size());
  queue_ = std::make_unique<op::VectorRunner>(device, projection_loops);
}

std::vector<double> NullSpace::coefficients(const Vector& x) const {
  std::vector<double> result(basis_.size());
  VectorOps(x.device()).multi_dot(basis_, x, result);
  return result;
}

void NullSpace::project(Vector& x) const {
  if (is_empty()) return;
  if (queue_ != nullptr) return queue_projection(x);
  VectorOps(x.device()).multi_axpy(-1, coefficients(x), basis_, x);
}

/// All coefficients are those of x as it comes, as on the host.
void NullSpace::queue_projection(Vector& x) const {
  const auto for_each = [&](const char* of_one, const char* of_four) {
    std::size_t k = 0;
    for (; k + 4 <= basis_.size(); k += 4)
      queue_->queue(of_four, coefficients_, k, {basis_[k], basis_[k + 1], basis_[k + 2], basis_[k + 3], x});
    for (; k < basis_.size(); ++k) queue_->queue(of_one, coefficients_, k, {basis_[k], x});
  };
  for_each("coefficient", "coefficients_four");
  for_each("remove", "remove_four");
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

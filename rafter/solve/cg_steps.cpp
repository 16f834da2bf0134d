// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/cg_steps.hpp>

namespace rafter::solvers {

PlainSteps::PlainSteps(const CgVectors& vectors)
    : CgSteps(vectors), z_(v_.A.device(), v_.x.size()), q_(v_.A.device(), v_.x.size()) {}

double PlainSteps::preconditioned_product() {
  v_.M.apply(v_.r, z_);
  return v_.ops.dot(v_.r, z_);
}

double PlainSteps::energy_with_direction() const { return v_.ops.dot(z_, q_); }

double PlainSteps::product_with_image(const Vector& y) const { return v_.ops.dot(y, z_); }

double PlainSteps::new_direction(double beta) {
  v_.ops.aypx(beta, z_, v_.p);
  v_.A.apply(v_.p, q_);
  return v_.ops.dot(v_.p, q_);
}

double PlainSteps::advance(double alpha, double /*exact_below*/) { return v_.ops.advance(alpha, v_.p, q_, v_.x, v_.r); }

} // namespace rafter::solvers

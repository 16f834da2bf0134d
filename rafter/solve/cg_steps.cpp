// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/cg_steps.hpp>

namespace rafter::solvers {
namespace {

class PlainSteps final : public CgSteps {
public:
  explicit PlainSteps(const CgVectors& vectors)
      : CgSteps(vectors), z_(v_.A.device(), v_.x.size()), q_(v_.A.device(), v_.x.size()) {}

  double preconditioned_product() override {
    v_.M.apply(v_.r, z_);
    return v_.ops.dot(v_.r, z_);
  }
  double energy_with_direction() const override { return v_.ops.dot(z_, q_); }
  double new_direction(double beta) override {
    v_.ops.aypx(beta, z_, v_.p);
    v_.A.apply(v_.p, q_);
    return v_.ops.dot(v_.p, q_);
  }
  double advance(double alpha, double /*exact_below*/) override { return v_.ops.advance(alpha, v_.p, q_, v_.x, v_.r); }

private:
  Vector z_, q_;
};

} // namespace

std::unique_ptr<CgSteps> make_plain_steps(const CgVectors& vectors) { return std::make_unique<PlainSteps>(vectors); }

} // namespace rafter::solvers

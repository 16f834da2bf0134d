// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/gmres_steps.hpp>

namespace rafter::solvers {
namespace {

/// Computes x = sum_k y_k basis_k.
void combine(const VectorOps& ops, std::span<const double> y, std::span<const Vector> basis, Vector& x) {
  ops.fill(0, x);
  ops.multi_axpy(1, y, basis.first(y.size()), x);
}

class RightSteps final : public GmresSteps {
public:
  RightSteps(const op::LinearOperator& A, const Preconditioner& M, const VectorOps& ops)
      : GmresSteps(A, M, ops), z_(A.device(), static_cast<std::size_t>(A.size())) {}

  void apply(std::size_t /*k*/, const Vector& v, Vector& w) override {
    M_.apply(v, z_);
    A_.apply(z_, w);
  }
  void add_correction(std::span<const double> y, std::span<const Vector> basis, Vector& work, Vector& x) override {
    combine(ops_, y, basis, work);
    M_.apply(work, z_);
    ops_.axpy(1, z_, x);
  }

private:
  Vector z_;
};

class LeftSteps final : public GmresSteps {
public:
  LeftSteps(const op::LinearOperator& A, const Preconditioner& M, const VectorOps& ops)
      : GmresSteps(A, M, ops), z_(A.device(), static_cast<std::size_t>(A.size())) {}

  void apply(std::size_t /*k*/, const Vector& v, Vector& w) override {
    A_.apply(v, z_);
    M_.apply(z_, w);
  }
  void add_correction(std::span<const double> y, std::span<const Vector> basis, Vector& work, Vector& x) override {
    combine(ops_, y, basis, work);
    ops_.axpy(1, work, x);
  }
  void precondition_residual(Vector& r) override {
    M_.apply(r, z_);
    ops_.copy(z_, r);
  }

private:
  Vector z_;
};

} // namespace

std::unique_ptr<GmresSteps> make_right_steps(const op::LinearOperator& A, const Preconditioner& M,
                                             const VectorOps& ops) {
  return std::make_unique<RightSteps>(A, M, ops);
}

std::unique_ptr<GmresSteps> make_left_steps(const op::LinearOperator& A, const Preconditioner& M,
                                            const VectorOps& ops) {
  return std::make_unique<LeftSteps>(A, M, ops);
}

} // namespace rafter::solvers

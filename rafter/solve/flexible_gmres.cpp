// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/gmres_steps.hpp>

#include <vector>

namespace rafter::solvers {
namespace {

class FlexibleSteps final : public GmresSteps {
public:
  using GmresSteps::GmresSteps;

  void apply(std::size_t k, const Vector& v, Vector& w) override {
    if (preconditioned_.size() == k) preconditioned_.emplace_back(A_.device(), v.size());
    M_.apply(v, preconditioned_[k]);
    A_.apply(preconditioned_[k], w);
  }
  void add_correction(std::span<const double> y, std::span<const Vector> /*basis*/, Vector& /*work*/,
                      Vector& x) override {
    ops_.multi_axpy(1, y, std::span<const Vector>(preconditioned_).first(y.size()), x);
  }

private:
  std::vector<Vector> preconditioned_; ///< M_k^-1 v_k; it grows as needed, so that memory follows the iterations made
};

} // namespace

std::unique_ptr<GmresSteps> make_flexible_steps(const op::LinearOperator& A, const Preconditioner& M,
                                                const VectorOps& ops) {
  return std::make_unique<FlexibleSteps>(A, M, ops);
}

} // namespace rafter::solvers

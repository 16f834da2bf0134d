// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/cg_steps.hpp>

#include <algorithm>
#include <array>

#include <rafter/base/error.hpp>

namespace rafter::solvers {
namespace {

using Ranges = std::span<const op::EntryRange>;

/// Holds the sums of each part of the work that is fused into an operator.
class PartSums {
public:
  explicit PartSums(const op::LinearOperator& A)
      : communicator_(A.communicator()),
        sums_(std::max<std::size_t>(1, static_cast<std::size_t>(A.num_parts())) * row_length, 0.0) {}
  double* row(std::int64_t part) {
    const std::int64_t row = part == op::VectorWork::all_parts ? 0 : part;
    return sums_.data() + static_cast<std::size_t>(row) * row_length;
  }
  /// Returns the sums over all parts of all processes since the last total.
  std::array<double, 8> total() {
    std::array<double, 8> result{};
    op::add_pairwise(sums_, row_length);
    std::copy_n(sums_.begin(), row_length, result.begin());
    std::ranges::fill(sums_, 0.0);
    communicator_->sum(result);
    return result;
  }

private:
  static constexpr std::size_t row_length = 8; ///< a cache line, so that threads share none
  std::shared_ptr<const comm::Communicator> communicator_;
  std::vector<double> sums_;
};

/// Makes steps where M is diagonal. x and r lag by a step of length lag_ along p until the new p is computed, in the
/// same pass.
class OnePassSteps final : public CgSteps {
public:
  /// `inverse_diagonal`: entries of M^-1; null: M is the identity.
  OnePassSteps(const CgVectors& vectors, const Vector* inverse_diagonal)
      : CgSteps(vectors), inverse_diagonal_(inverse_diagonal), sums_(v_.A), q_(v_.A.device(), v_.x.size()) {}

  double preconditioned_product() override {
    if (!is_known_) recompute();
    return rz_;
  }

  double energy_with_direction() const override { has_no_image(); }
  double product_with_image(const Vector& /*y*/) const override { has_no_image(); }

  double new_direction(double beta) override {
    const auto& runner = v_.ops.runner();
    const op::FusedLoop redirect =
        inverse_diagonal_ == nullptr
            ? op::FusedLoop(runner, "cg_redirect", {lag_, beta}, {v_.x, v_.r, v_.p, q_})
            : op::FusedLoop(runner, "cg_redirect_scaled", {lag_, beta}, {v_.x, v_.r, v_.p, q_, *inverse_diagonal_});
    const op::FusedLoop products =
        inverse_diagonal_ == nullptr
            ? op::FusedLoop(runner, "cg_products", {}, {v_.r, v_.p, q_})
            : op::FusedLoop(runner, "cg_products_scaled", {}, {v_.r, v_.p, q_, *inverse_diagonal_});
    v_.A.apply_with(v_.p, q_,
                    {.before = [&](std::int64_t part, Ranges ranges) { redirect(part, ranges, sums_.row(part)); },
                     .after = [&](std::int64_t part, Ranges ranges) { products(part, ranges, sums_.row(part) + 2); }});
    const auto [rr, rz, pq, rq, qq, r_Mq, q_Mq, unused] = sums_.total();
    lag_ = 0;
    rr_ = rr, rz_ = rz;
    rq_ = rq, qq_ = qq, r_Mq_ = r_Mq, q_Mq_ = q_Mq;
    return pq;
  }

  double advance(double alpha, double exact_below) override {
    lag_ = alpha;
    const double rr = rr_ + alpha * (alpha * qq_ - 2 * rq_), rz = rz_ + alpha * (alpha * q_Mq_ - 2 * r_Mq_);
    // Written so that NaN is not dependable.
    const bool is_dependable = rr > least_part * rr_ && rz > least_part * rz_ && rr > exact_below;
    if (!is_dependable) {
      recompute();
    } else {
      rr_ = rr;
      rz_ = rz;
    }
    return rr_;
  }

  void settle() override {
    if (lag_ != 0) recompute();
  }

  void residual_replaced() override { is_known_ = false; }

private:
  [[noreturn]] static void has_no_image() {
    throw base::InternalError("cg: steps with a diagonal preconditioner do not keep M^-1 r");
  }

  /// Least ratio of a predicted product to its old value: below it, cancellation costs more than two digits.
  static constexpr double least_part = 0.01;

  /// Brings x and r up to date and finds their products from the vectors.
  void recompute() {
    const auto sums = inverse_diagonal_ == nullptr
                          ? v_.ops.run("cg_advance", {lag_}, {v_.x, v_.r, v_.p, q_})
                          : v_.ops.run("cg_advance_scaled", {lag_}, {v_.x, v_.r, v_.p, q_, *inverse_diagonal_});
    rr_ = sums[0];
    rz_ = sums[1];
    lag_ = 0;
    is_known_ = true;
  }

  const Vector* inverse_diagonal_;
  PartSums sums_;
  Vector q_;
  double lag_ = 0;
  bool is_known_ = false;      ///< rr_ and rz_ are those of the present residual, up to rounding
  double rr_ = 0, rz_ = 0;     ///< r.r and r.z
  double rq_ = 0, qq_ = 0;     ///< r.q and q.q with q = A p
  double r_Mq_ = 0, q_Mq_ = 0; ///< r.M^-1 q and q.M^-1 q
};

/// Makes steps where M needs the whole residual, so that x alone lags.
class DeferredSteps final : public CgSteps {
public:
  explicit DeferredSteps(const CgVectors& vectors)
      : CgSteps(vectors), sums_(v_.A), z_(v_.A.device(), v_.x.size()), q_(v_.A.device(), v_.x.size()) {}

  double preconditioned_product() override {
    v_.M.apply(v_.r, z_);
    return v_.ops.dot(v_.r, z_);
  }

  double energy_with_direction() const override { return v_.ops.dot(z_, q_); }
  double product_with_image(const Vector& y) const override { return v_.ops.dot(y, z_); }

  double new_direction(double beta) override {
    const auto& runner = v_.ops.runner();
    const op::FusedLoop redirect(runner, "cg_deferred_redirect", {lag_, beta}, {v_.x, v_.p, z_}),
        energy(runner, "dot", {}, {v_.p, q_});
    v_.A.apply_with(v_.p, q_,
                    {.before = [&](std::int64_t part, Ranges ranges) { redirect(part, ranges); },
                     .after = [&](std::int64_t part, Ranges ranges) { energy(part, ranges, sums_.row(part)); }});
    lag_ = 0;
    return sums_.total()[0];
  }

  double advance(double alpha, double /*exact_below*/) override {
    lag_ = alpha;
    return v_.ops.run("cg_residual", {alpha}, {v_.r, q_})[0];
  }

  void settle() override {
    if (lag_ != 0) v_.ops.axpy(lag_, v_.p, v_.x);
    lag_ = 0;
  }

private:
  PartSums sums_;
  Vector z_, q_;
  double lag_ = 0;
};

} // namespace

std::unique_ptr<CgSteps> make_fused_steps(const CgVectors& vectors) {
  if (const auto diagonal = vectors.M.diagonal()) return std::make_unique<OnePassSteps>(vectors, *diagonal);
  return std::make_unique<DeferredSteps>(vectors);
}

} // namespace rafter::solvers

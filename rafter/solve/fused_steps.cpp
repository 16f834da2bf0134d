// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/cg_steps.hpp>

#include <algorithm>
#include <array>

#include <rafter/base/error.hpp>
#include <rafter/solve/fused_loops.hpp>

namespace rafter::solvers {
namespace {

op::EntryRange entry_range(std::size_t begin, std::size_t end) {
  return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)};
}

/// Holds the sums of each part of the work that is fused into an operator.
class PartSums {
public:
  explicit PartSums(const op::LinearOperator& A)
      : communicator_(A.communicator()), sums_(static_cast<std::size_t>(A.num_parts()) * row_length, 0.0) {}
  double* row(std::int64_t part) { return sums_.data() + static_cast<std::size_t>(part) * row_length; }
  /// Returns the sums over all parts of all processes since the last total.
  std::array<double, 8> total() {
    std::array<double, 8> result{};
    std::ranges::copy(pairwise_sum(sums_, row_length), result.begin());
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
  OnePassSteps(const CgVectors& vectors, std::span<const double> inverse_diagonal)
      : CgSteps(vectors), sums_(v_.A), q_(v_.A.device(), v_.x.size()) {
    operands_.inverse_diagonal = inverse_diagonal.empty() ? nullptr : inverse_diagonal.data();
  }

  double preconditioned_product() override {
    if (!is_known_) recompute();
    return rz_;
  }

  double energy_with_direction() const override {
    throw base::InternalError("cg: a diagonal preconditioner is the same at each application");
  }

  double new_direction(double beta) override {
    const CgOperands v = operands(beta);
    v_.A.apply_with(
        v_.p, q_,
        {.before = [&](std::int64_t part, Ranges ranges) { loops_.advance_and_redirect(v, ranges, sums_.row(part)); },
         .after = [&](std::int64_t part, Ranges ranges) { loops_.products(v, ranges, sums_.row(part) + 2); }});
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
  /// Least ratio of a predicted product to its old value: below it, cancellation costs more than two digits.
  static constexpr double least_part = 0.01;

  CgOperands operands(double beta) {
    CgOperands v = operands_;
    v.alpha = lag_;
    v.beta = beta;
    v.x = v_.x.host_write().data();
    v.r = v_.r.host_write().data();
    v.p = v_.p.host_write().data();
    v.q = q_.host_write().data();
    return v;
  }

  /// Brings x and r up to date and finds their products from the vectors.
  void recompute() {
    const CgOperands v = operands(0);
    const auto sums = v_.ops.reduce(v_.x.size(), 2, [&](std::size_t begin, std::size_t end, std::span<double> block) {
      const auto range = entry_range(begin, end);
      loops_.advance(v, {&range, 1}, block.data());
    });
    rr_ = sums[0];
    rz_ = sums[1];
    lag_ = 0;
    is_known_ = true;
  }

  const FusedLoops& loops_ = fused_loops();
  CgOperands operands_;
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

  double new_direction(double beta) override {
    const DeferredOperands v = operands(lag_, beta);
    v_.A.apply_with(v_.p, q_,
                    {.before = [&](std::int64_t, Ranges ranges) { loops_.redirect(v, ranges); },
                     .after = [&](std::int64_t part, Ranges ranges) { loops_.energy(v, ranges, sums_.row(part)); }});
    lag_ = 0;
    return sums_.total()[0];
  }

  double advance(double alpha, double /*exact_below*/) override {
    lag_ = alpha;
    const DeferredOperands v = operands(alpha, 0);
    return v_.ops.reduce(v_.x.size(), 1, [&](std::size_t begin, std::size_t end, std::span<double> block) {
      const auto range = entry_range(begin, end);
      loops_.residual(v, {&range, 1}, block.data());
    })[0];
  }

  void settle() override {
    if (lag_ != 0) v_.ops.axpy(lag_, v_.p, v_.x);
    lag_ = 0;
  }

private:
  DeferredOperands operands(double alpha, double beta) {
    return {.alpha = alpha,
            .beta = beta,
            .x = v_.x.host_write().data(),
            .r = v_.r.host_write().data(),
            .p = v_.p.host_write().data(),
            .q = q_.host_write().data(),
            .z = z_.host_read().data()};
  }

  const FusedLoops& loops_ = fused_loops();
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

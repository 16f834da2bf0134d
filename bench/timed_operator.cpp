// SPDX-License-Identifier: BSD-3-Clause
#include <bench/timed_operator.hpp>

#include <chrono>

#include <rafter/base/timing.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

namespace rafter::bench {

double seconds_now(const device::Device& device, int threads) {
  if (threads == 1 && device.shares_host_memory()) return base::cpu_seconds();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Application> void TimedOperator::timed(const Application& application) const {
  const auto& device = *A_->device();
  const double begin = seconds_now(device, threads_);
  application();
  seconds_ += seconds_now(device, threads_) - begin;
  ++num_applications_;
}

op::SparseMatrix TimedOperator::sparse_matrix() const { return A_->sparse_matrix(); }

void TimedOperator::apply(const op::Vector& x, op::Vector& y) const {
  timed([&] { A_->apply(x, y); });
}

void TimedOperator::apply(const op::SingleVector& x, op::SingleVector& y) const {
  timed([&] { A_->apply(x, y); });
}

void TimedOperator::apply_with(op::Vector& x, op::Vector& y, const op::VectorWork& work) const {
  timed([&] { A_->apply_with(x, y, work); });
}

void TimedOperator::apply_with(op::SingleVector& x, op::SingleVector& y, const op::VectorWork& work) const {
  timed([&] { A_->apply_with(x, y, work); });
}

void TimedOperator::restart() const {
  num_applications_ = 0;
  seconds_ = 0;
}

} // namespace rafter::bench

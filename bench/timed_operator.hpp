// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

namespace rafter::bench {

/// Returns the time in seconds that suites measure with this number of threads: that of the processor for one, which
/// leaves out what other processes take, and the elapsed time for several, which wait for each other, and for devices
/// with memory of their own, whose time is not that of the processor.
double seconds_now(const device::Device& device, int threads);

/// An operator counts its applications and the time that they take, with the work on vectors that is fused into them.
/// On devices with memory of their own applications are queued, so that their number alone means something.
class TimedOperator final : public op::LinearOperator {
public:
  TimedOperator(std::shared_ptr<const op::LinearOperator> A, int threads) : A_(std::move(A)), threads_(threads) {}

  std::int64_t rows() const override { return A_->rows(); }
  std::int64_t columns() const override { return A_->columns(); }
  std::int64_t size() const override { return A_->size(); }
  std::shared_ptr<const comm::Communicator> communicator() const override { return A_->communicator(); }
  std::vector<op::EntryRange> owned_ranges() const override { return A_->owned_ranges(); }
  std::int64_t num_unknowns() const override { return A_->num_unknowns(); }
  std::shared_ptr<device::Device> device() const override { return A_->device(); }
  bool is_single() const override { return A_->is_single(); }
  void diagonal(op::Vector& d) const override { A_->diagonal(d); }
  op::SparseMatrix sparse_matrix() const override;
  std::int64_t num_parts() const override { return A_->num_parts(); }
  void apply(const op::Vector& x, op::Vector& y) const override;
  void apply(const op::SingleVector& x, op::SingleVector& y) const override;
  void apply_with(op::Vector& x, op::Vector& y, const op::VectorWork& work) const override;
  void apply_with(op::SingleVector& x, op::SingleVector& y, const op::VectorWork& work) const override;

  std::int64_t num_applications() const { return num_applications_; }
  double seconds() const { return seconds_; }
  void restart() const; ///< begins to count anew

private:
  template <class Application> void timed(const Application& application) const;
  std::shared_ptr<const op::LinearOperator> A_;
  int threads_;
  mutable std::int64_t num_applications_ = 0;
  mutable double seconds_ = 0;
};

} // namespace rafter::bench

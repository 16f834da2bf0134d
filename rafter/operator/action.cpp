// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/action.hpp>

#include <mutex>
#include <string>
#include <utility>

#include <rafter/base/error.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/matrix/assembled_matrix.hpp>
#include <rafter/operator/precision.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::op {
namespace {

[[noreturn]] void refuse_fused_work() { throw base::InternalError("no work on vectors is fused into this action"); }

double required(double error, const GeneratedForm& built) {
  const auto& plan = built.options.plan;
  return require_precision(error, plan ? schedule::single_keys(*plan) : std::string());
}

class MatrixFreeAction final : public Action {
public:
  MatrixFreeAction(const std::shared_ptr<const GeneratedForm>& built, std::shared_ptr<FormData> data,
                   std::shared_ptr<const GeneratedForm> diagonal)
      : data_(std::move(data)), kernels_(built, data_), built_diagonal_(std::move(diagonal)),
        precision_error_(required(op::precision_error(built, kernels_), *built)) {}

  void run(const Vector& x, Vector& y, bool adds) const override { kernels_.run(&x, y, adds); }
  void run(const SingleVector& x, SingleVector& y, bool adds) const override { kernels_.run(x, y, adds); }
  void run_with(const Vector& x, Vector& y, const VectorWork& work) const override { kernels_.run(x, y, work); }
  void run_with(const SingleVector& x, SingleVector& y, const VectorWork& work) const override {
    kernels_.run(x, y, work);
  }
  const TouchedRanges* touched_ranges() const override {
    const auto& built = kernels_.built();
    const bool can_fuse =
        built.is_square() && kernels_.device()->shares_host_memory() && built.system.mesh->distribution == nullptr;
    return can_fuse ? &kernels_.touched_ranges() : nullptr;
  }
  void diagonal(Vector& d) const override { diagonal_kernels().run(nullptr, d, false); }

  void refresh() const override {
    kernels_.refresh();
    const std::lock_guard lock(mutex_);
    if (diagonal_ != nullptr) diagonal_->refresh();
  }
  int num_setups() const override { return kernels_.num_setups(); }
  double precision_error() const override { return precision_error_; }
  std::span<const KernelInfo> info() const override { return kernels_.info(); }
  machine::Counts counts() const override { return kernels_.counts(); }
  const FormKernels* kernels() const override { return &kernels_; }

private:
  const FormKernels& diagonal_kernels() const {
    const std::lock_guard lock(mutex_);
    if (diagonal_ == nullptr) {
      const auto& built = kernels_.built();
      if (built_diagonal_ == nullptr)
        built_diagonal_ = compiled(build_form(built.form, built.system, Purpose::diagonal, built.options));
      diagonal_ = std::make_unique<const FormKernels>(built_diagonal_, data_);
    }
    return *diagonal_;
  }

  std::shared_ptr<FormData> data_; ///< data of the action and its diagonal
  FormKernels kernels_;
  mutable std::shared_ptr<const GeneratedForm> built_diagonal_;
  mutable std::unique_ptr<const FormKernels> diagonal_; ///< made on first use
  double precision_error_ = 0;
  mutable std::mutex mutex_; ///< guards what is made on first use
};

class AssembledAction final : public Action {
public:
  AssembledAction(std::shared_ptr<const GeneratedForm> built, std::shared_ptr<FormData> data)
      : built_(std::move(built)), data_(std::move(data)) {
    if (data_->has_values()) (void)current();
  }

  void run(const Vector& x, Vector& y, bool adds) const override { current().run(x, y, adds); }
  void run(const SingleVector& x, SingleVector& y, bool adds) const override { current().run(x, y, adds); }
  void diagonal(Vector& d) const override { current().diagonal(d); }

  void refresh() const override { (void)current(); }
  double precision_error() const override {
    const std::lock_guard lock(mutex_);
    return precision_error_;
  }
  std::span<const KernelInfo> info() const override { return {&current().info(), 1}; }
  machine::Counts counts() const override { return current().counts(); }
  const AssembledMatrix* matrix() const override { return &current(); }

private:
  /// The matrix for the values that are bound now; it is assembled again where they have changed.
  const AssembledMatrix& current() const {
    const std::lock_guard lock(mutex_);
    if (matrix_ != nullptr && version_ == data_->version()) return *matrix_;
    data_->require_values();
    matrix_.reset(); // frees its memory before the next one takes some
    matrix_ = std::make_unique<const AssembledMatrix>(built_->matrix, data_);
    version_ = data_->version();
    precision_error_ = required(matrix_->storage_error(), *built_);
    return *matrix_;
  }

  std::shared_ptr<const GeneratedForm> built_;
  std::shared_ptr<FormData> data_;
  mutable std::unique_ptr<const AssembledMatrix> matrix_; ///< null: it is not assembled yet
  mutable std::uint64_t version_ = 0;                     ///< version of the data that it was assembled from
  mutable double precision_error_ = 0;
  mutable std::mutex mutex_; ///< guards what is assembled again
};

} // namespace

void Action::run_with(const Vector& /*x*/, Vector& /*y*/, const VectorWork& /*work*/) const { refuse_fused_work(); }
void Action::run_with(const SingleVector& /*x*/, SingleVector& /*y*/, const VectorWork& /*work*/) const {
  refuse_fused_work();
}

std::unique_ptr<const Action> make_action(std::shared_ptr<const GeneratedForm> built, std::shared_ptr<FormData> data,
                                          std::shared_ptr<const GeneratedForm> diagonal) {
  if (built->matrix != nullptr) return std::make_unique<const AssembledAction>(std::move(built), std::move(data));
  return std::make_unique<const MatrixFreeAction>(built, std::move(data), std::move(diagonal));
}

} // namespace rafter::op

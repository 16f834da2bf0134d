// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/operator/form_kernels.hpp>

/// A bilinear form as one matrix: the plan mapping=assembled.
namespace rafter::op {

struct GeneratedMatrix;

/// The matrix of a form on a system, without conditions. Immutable after construction: several
/// threads may run it at the same time.
class AssembledMatrix {
public:
  /// Kernels are compiled, else InternalError. Computes cell matrices and sums them, in the same order for any number
  /// of threads. Throws InputError when the memory of this machine does not hold the matrix and what its set-up takes.
  /// `data`: the values of the form's data fields and parameters; null: those that parameters have in the form.
  explicit AssembledMatrix(std::shared_ptr<const GeneratedMatrix> built, std::shared_ptr<FormData> data = nullptr);
  ~AssembledMatrix();
  AssembledMatrix(AssembledMatrix&&) noexcept;
  AssembledMatrix& operator=(AssembledMatrix&&) noexcept;

  /// y = A x, or y += A x when `adds`. Throws InputError for vectors of another size and when x is y.
  void run(const Vector& x, Vector& y, bool adds) const;
  void diagonal(Vector& d) const; ///< d_i = A_ii

  /// The kernel of the product; its cells are rows of blocks, its batches slices.
  const KernelInfo& info() const;
  /// Of a product: operations and bytes of what is stored, vectors once.
  machine::Counts counts() const;
  /// Of the entries as they are stored (Plan::storage) from those in double precision: Frobenius norm of the difference
  /// over that of the matrix.
  double storage_error() const;
  /// That the construction took.
  double setup_seconds() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace rafter::op

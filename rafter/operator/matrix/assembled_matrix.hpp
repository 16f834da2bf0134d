// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/linear_operator.hpp>

namespace rafter::machine {
struct Counts;
} // namespace rafter::machine

/// Holds a bilinear form as one matrix, which plans with mapping=assembled ask for.
namespace rafter::op {

class FormData;
class SlicedProduct;
struct GeneratedMatrix;
struct SlicedPattern;

/// The matrix of a form on a system, before Dirichlet conditions are applied. It does not change after construction,
/// and several threads may run it at the same time.
class AssembledMatrix {
public:
  /// Computes cell matrices and sums them, in the same order for any number of threads. `data` holds the values of the
  /// form's data fields and parameters; null stands for the values that parameters have in the form. Throws
  /// InternalError when the kernels are not compiled, and InputError when the memory of this machine does not hold the
  /// matrix and what its set-up takes.
  explicit AssembledMatrix(std::shared_ptr<const GeneratedMatrix> built, std::shared_ptr<FormData> data = nullptr);
  ~AssembledMatrix();

  /// Computes y = A x, or y += A x when `adds` is true. Throws InputError for vectors of another size and when x is y,
  /// InternalError for those of another precision than the plan's (key::accumulate).
  void run(const Vector& x, Vector& y, bool adds) const;
  void run(const SingleVector& x, SingleVector& y, bool adds) const; ///< does the same on vectors of floats
  void diagonal(Vector& d) const;                                    ///< d_i = A_ii

  /// Describes the kernel of the product. Its cells are rows of blocks, and its batches are slices of the matrix.
  const KernelInfo& info() const { return info_; }
  /// Operations and bytes of one product, in which vectors move once.
  machine::Counts counts() const;
  /// Returns the error of rounding to the precision of the stored entries (key::storage): the Frobenius norm of the
  /// difference from the entries in double precision, over the norm of the matrix.
  double storage_error() const { return storage_error_; }
  /// The time that the construction took.
  double setup_seconds() const { return setup_seconds_; }

private:
  template <class T> void multiply(const device::Array<T>& x, device::Array<T>& y, bool adds) const;
  std::size_t vector_word_bytes() const; ///< bytes of an entry of the vectors
  void set_up(std::shared_ptr<FormData> data);
  void count(const SlicedPattern& pattern);

  std::shared_ptr<const GeneratedMatrix> built_;
  KernelInfo info_;
  std::unique_ptr<const SlicedProduct> product_;
  std::vector<double> diagonal_;
  double storage_error_ = 0, setup_seconds_ = 0;
};

} // namespace rafter::op

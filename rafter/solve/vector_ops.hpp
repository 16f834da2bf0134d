// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rafter/operator/linear_operator.hpp>

namespace rafter::solvers {

using device::Vector;

/// Adds the rows of `sums`, shape (row, num_sums), pairwise into the first row, which it returns: 0 when there is none.
std::span<const double> pairwise_sum(std::vector<double>& sums, std::size_t num_sums);

/// Works on local vectors with the threads of a device. Sums go over blocks of fixed length and add the block sums
/// pairwise, so every result is bit-identical for any number of threads; those of several processes are added in the
/// order of ranks. All vectors of a call have one size (else InternalError) and are distinct unless said otherwise.
class VectorOps {
public:
  /// Works on whole vectors of this process alone.
  explicit VectorOps(std::shared_ptr<device::Device> device) : device_(std::move(device)) {}
  /// Works on the owned entries of an operator's vectors, with sums over all of its processes, which must call
  /// functions that return a sum together. Padding and ghosts are neither read nor written.
  explicit VectorOps(const op::LinearOperator& A)
      : device_(A.device()), ranges_(A.owned_ranges()), communicator_(A.communicator()) {}

  void fill(double value, Vector& x) const; ///< sets x_i = value
  /// Fills x with reproducible numbers in [-1, 1), which differ from stream to stream.
  void fill_random(std::uint32_t stream, Vector& x) const;
  void copy(const Vector& x, Vector& y) const;                      ///< y = x
  void scale(double a, Vector& x) const;                            ///< x = a x
  void axpy(double a, const Vector& x, Vector& y) const;            ///< y = y + a x
  void aypx(double a, const Vector& x, Vector& y) const;            ///< y = x + a y
  void subtract_from(const Vector& x, Vector& y) const;             ///< y = x - y
  void multiply(const Vector& d, const Vector& x, Vector& y) const; ///< y_i = d_i x_i
  /// Computes y = a y + b d .* x, which is one step of the Chebyshev iteration.
  void combine(double a, double b, const Vector& d, const Vector& x, Vector& y) const;

  double dot(const Vector& x, const Vector& y) const; ///< x and y may be the same vector
  double norm(const Vector& x) const;                 ///< returns the 2-norm
  /// Computes x += alpha p and r -= alpha q and returns r.r, in one pass.
  double advance(double alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) const;

  /// Computes h_j = basis_j . w for all j in one pass over w.
  void multi_dot(std::span<const Vector> basis, const Vector& w, std::span<double> h) const;
  /// Computes w += a sum_j h_j basis_j in one pass over w.
  void multi_axpy(double a, std::span<const double> h, std::span<const Vector> basis, Vector& w) const;

  /// Returns the index of the first entry of this process that is not finite, or -1.
  std::int64_t first_non_finite(const Vector& x) const;

  /// Adds the contributions of entries begin .. end - 1 to `sums`, which are 0 at first.
  using Range = std::function<void(std::size_t begin, std::size_t end, std::span<double> sums)>;
  /// Calls `range` on all blocks of vectors of this size, on any thread. Returns the sums over all of them and over all
  /// processes, which are valid until the next call.
  std::span<const double> reduce(std::size_t size, std::size_t num_sums, const Range& range) const;

private:
  /// The ranges of entries that operations work on: `whole` where no others were given.
  std::span<const op::EntryRange> owned(const op::EntryRange& whole) const;
  void for_blocks(std::size_t size, std::size_t num_sums, const Range& range) const;
  std::shared_ptr<device::Device> device_;
  std::optional<std::vector<op::EntryRange>> ranges_; ///< nothing: operations work on whole vectors
  std::shared_ptr<const comm::Communicator> communicator_ = comm::single_process();
  mutable std::vector<double> sums_; ///< shape (block, sum)
};

} // namespace rafter::solvers

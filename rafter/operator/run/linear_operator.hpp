// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <rafter/comm/communicator.hpp>
#include <rafter/device/array.hpp>
#include <rafter/operator/generate/entry_range.hpp>

/// Applies forms as linear operators. The namespace of module operator/ has another name because `operator` is a
/// keyword of C++.
namespace rafter::op {

using device::SingleVector;
using device::Vector;

/// Work on vectors that is fused into an application y = A x, while their entries are in cache (operation_before_loop
/// and operation_after_loop of deal.II). It is called part by part: both functions of a part one after the other on one
/// thread, those of different parts on any thread in any order. Every owned entry is in exactly one range of `before`
/// and, in the same part or another, in exactly one range of `after`. Parts and ranges depend on the operator alone,
/// never on the number of threads: sums by part, added in a fixed order, are the same bits always. Either function may
/// be empty.
struct VectorWork {
  /// Number that stands for all parts at once, with the ranges of all owned entries: operators on devices with memory
  /// of their own call both functions with it, once each.
  static constexpr std::int64_t all_parts = -1;
  using Function = std::function<void(std::int64_t part, std::span<const EntryRange> ranges)>;
  Function before; ///< A has neither read x nor written y there: both may be read and changed
  Function after;  ///< A will neither read x nor write y there again: y is final, and both may be changed
};

struct SparseMatrix;

/// A linear operator on local vectors, as solvers see it.
class LinearOperator {
public:
  virtual ~LinearOperator() = default;
  virtual std::int64_t rows() const { return size(); }    ///< number of entries of y in y = A x
  virtual std::int64_t columns() const { return size(); } ///< number of entries of x in y = A x
  /// Number of rows and of columns of a square operator, which solvers and preconditioners need. Throws InputError for
  /// other operators.
  virtual std::int64_t size() const = 0;
  /// The processes that apply the operator together, each on vectors of its own.
  virtual std::shared_ptr<const comm::Communicator> communicator() const { return comm::single_process(); }
  /// The entries of vectors of a square operator that are unknowns of this process, ascending. Padding and ghosts are
  /// none: they have no part in sums and need not be up to date.
  virtual std::vector<EntryRange> owned_ranges() const { return {{0, static_cast<std::int32_t>(size())}}; }
  /// The entries of this process whose rows and columns are those of the identity because conditions fix them,
  /// ascending; valid as long as the operator. They say nothing of the operator's size or of its eigenvalues.
  virtual std::span<const std::int32_t> constrained_entries() const { return {}; }
  /// Number of unknowns of a square operator, those of all processes together.
  virtual std::int64_t num_unknowns() const { return size(); }
  virtual std::shared_ptr<device::Device> device() const = 0;
  /// Computes y = A x. Operators of forms may be applied by several threads at the same time, each to vectors that
  /// nobody else writes; nobody sets their data meanwhile. On a part of a mesh one thread of each process applies, and
  /// the ghosts of x are written, which are no part of its value.
  virtual void apply(const Vector& x, Vector& y) const = 0;
  /// Says whether the operator computes on vectors of floats, and rounds those of doubles to them.
  virtual bool is_single() const { return false; }
  /// Does the same on vectors of floats. Throws InputError unless is_single().
  virtual void apply(const SingleVector& x, SingleVector& y) const;
  virtual void diagonal(Vector& d) const = 0; ///< computes d_i = A_ii of a square operator
  /// The matrix of apply(). Throws InputError for an operator that has none to give, as this one does.
  virtual SparseMatrix sparse_matrix() const;

  /// Computes y = A x with fused work on vectors (FusedLoop). If the device shares the host's memory, the work may use
  /// that of the vectors; spans taken before the call stay valid. The default implementation calls `before` on all
  /// owned entries, then apply(), then `after`: in blocks of fixed length where memory is shared, else at once.
  virtual void apply_with(Vector& x, Vector& y, const VectorWork& work) const;
  virtual void apply_with(SingleVector& x, SingleVector& y, const VectorWork& work) const; ///< does the same on floats
  /// Number of parts of apply_with(), which are numbered from 0.
  virtual std::int64_t num_parts() const;
};

} // namespace rafter::op

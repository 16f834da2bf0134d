// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include <rafter/operator/run/free_list.hpp>
#include <rafter/operator/run/vector_runner.hpp>

namespace rafter::op {

/// Some entries of vectors, such as the constrained unknowns of an operator, in the memory of its device, and what is
/// done to vectors there. Several threads may use it at the same time, each on vectors of its own.
class EntryList {
public:
  /// `entries` are distinct.
  EntryList(std::shared_ptr<device::Device> device, const std::vector<std::int32_t>& entries);

  bool is_empty() const { return entries_.size() == 0; }
  /// Says whether x is 0 at all entries.
  template <class T> bool are_zero(const device::Array<T>& x) const;
  template <class T> void copy_without(const device::Array<T>& x, device::Array<T>& y) const; ///< y = x, 0 at entries
  template <class T> void copy_at(const device::Array<T>& x, device::Array<T>& y) const;      ///< y = x at entries
  void clear_at(Vector& y) const;                                                             ///< y = 0 at entries
  void set_one_at(Vector& y) const;                                                           ///< y = 1 at entries
  void put_at(const Vector& values, Vector& y) const;  ///< y = values at entries, these in their order
  void take_at(const Vector& x, Vector& values) const; ///< values = x at entries, in their order
  /// Sets y = values - x at entries, the values in their order. Returns whether any of them is not 0.
  bool put_differences_at(const Vector& values, const Vector& x, Vector& y) const;
  double square_at(const Vector& x, double factor = 1) const; ///< sum of the squares of factor x at entries
  double norm_at(const Vector& x) const;                      ///< 2-norm of x at entries (scaled_root())
  using Values = FreeList<Vector>::Loan;
  Values sums_at(const Vector& x, const Vector& y) const; ///< x + y at entries, in their order

private:
  FreeList<VectorRunner>::Loan runner() const;       ///< runner for loops over the entries
  FreeList<VectorRunner>::Loan whole_runner() const; ///< runner for loops over whole vectors

  std::shared_ptr<device::Device> device_;
  IntegerArray entries_;
  mutable FreeList<VectorRunner> runners_, whole_runners_; ///< memory of a runner on its device depends on the lengths
  mutable FreeList<Vector> values_;
};

} // namespace rafter::op

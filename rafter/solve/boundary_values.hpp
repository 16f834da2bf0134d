// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/operator/run/entry_list.hpp>
#include <rafter/solve/newton.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {

/// The values that the constrained entries of a state are to have in a load step of Newton's method.
class BoundaryValues {
public:
  /// `u` is the state that the first load step starts from.
  BoundaryValues(const NonlinearProblem& problem, const Vector& u);

  /// Sets the values to this share of the way from the first ones to those of the constraints.
  void set_factor(double factor);
  /// Puts those values into u that it has up to rounding, so that rounding makes no increment. What rounding is depends
  /// on the field. Changes `work`.
  void settle(Vector& u, Vector& work) const;
  /// Sets step to the difference of the values from those of u, and to 0 at free entries. Returns whether there is any.
  bool find_increment(const Vector& u, Vector& step) const;

  void put_into(Vector& u) const { entries_.put_at(values_, u); }
  /// Copies the constrained entries of `from` to `to`.
  void copy_entries(const Vector& from, Vector& to) const { entries_.copy_at(from, to); }
  double norm(const Vector& v) const { return entries_.norm_at(v); } ///< 2-norm of the constrained entries
  void clear_entries(Vector& v) const { entries_.clear_at(v); }

private:
  const space::Constraints& constraints_;
  std::vector<std::int64_t> field_offsets_;
  VectorOps ops_;         ///< operations on vectors of constrained entries, and to fill others
  op::EntryList entries_; ///< the constrained ones
  Vector first_, values_; ///< shape (constrained entry)
};

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/boundary_values.hpp>

#include <algorithm>
#include <cmath>

#include <rafter/solve/force_scale.hpp>
#include <rafter/space/constraints.hpp>

namespace rafter::solvers {
namespace {

std::size_t index(std::int32_t entry) { return static_cast<std::size_t>(entry); }

} // namespace

BoundaryValues::BoundaryValues(const NonlinearProblem& problem, const Vector& u)
    : constraints_(problem.constraints()), field_offsets_(problem.field_offsets()), ops_(problem.device()),
      entries_(problem.device(), {constraints_.entries.begin(), constraints_.entries.end()}),
      first_(problem.device(), constraints_.entries.size()), values_(problem.device(), constraints_.entries.size()) {
  entries_.take_at(u, first_);
}

void BoundaryValues::set_factor(double factor) {
  if (entries_.is_empty()) return;
  const auto& given = constraints_.values;
  const Vector last(values_.device(), base::AlignedVector<double>(given.begin(), given.end()));
  if (factor == 1) return ops_.copy(last, values_);
  ops_.copy(first_, values_);
  ops_.subtract_from(last, values_);
  ops_.aypx(factor, first_, values_);
}

void BoundaryValues::settle(Vector& u, Vector& work) const {
  if (!entries_.put_differences_at(values_, u, work)) return;
  const auto state = u.host_write();
  const auto values = values_.host_read();
  std::size_t i = 0; // entries are ascending
  for (std::size_t f = 0; f < field_offsets_.size(); ++f) {
    const auto begin = static_cast<std::size_t>(field_offsets_[f]);
    const auto end = f + 1 < field_offsets_.size() ? static_cast<std::size_t>(field_offsets_[f + 1]) : state.size();
    double scale = 0;
    for (const double value : state.subspan(begin, end - begin)) scale = std::max(scale, std::abs(value));
    for (; i < values.size() && index(constraints_.entries[i]) < end; ++i) {
      double& entry = state[index(constraints_.entries[i])];
      if (std::abs(entry - values[i]) <= state_rounding * std::max(scale, std::abs(values[i]))) entry = values[i];
    }
  }
}

bool BoundaryValues::find_increment(const Vector& u, Vector& step) const {
  ops_.fill(0, step);
  return entries_.put_differences_at(values_, u, step);
}

} // namespace rafter::solvers

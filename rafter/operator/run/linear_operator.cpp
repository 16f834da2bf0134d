// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/linear_operator.hpp>

#include <algorithm>

#include <rafter/base/error.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

namespace rafter::op {
namespace {

/// Number of entries of a part: few enough that the operands of fused work stay in cache.
constexpr std::int32_t part_length = 4096;

/// Cuts the owned entries into ranges of at most part_length.
std::vector<EntryRange> make_parts(const LinearOperator& A) {
  std::vector<EntryRange> parts;
  for (const auto& owned : A.owned_ranges())
    for (std::int64_t begin = owned.begin; begin < owned.end; begin += part_length) // `begin` passes the last entry
      parts.push_back({static_cast<std::int32_t>(begin),
                       static_cast<std::int32_t>(std::min<std::int64_t>(owned.end, begin + part_length))});
  return parts;
}

void call_on_all(const LinearOperator& A, const VectorWork::Function& function) {
  if (!function) return;
  if (!A.device()->shares_host_memory()) return function(VectorWork::all_parts, A.owned_ranges());
  const auto parts = make_parts(A);
  A.device()->parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t part) {
    function(part, std::span(&parts[static_cast<std::size_t>(part)], 1));
  });
}

template <class T>
void apply_between(const LinearOperator& A, device::Array<T>& x, device::Array<T>& y, const VectorWork& work) {
  call_on_all(A, work.before);
  A.apply(x, y);
  call_on_all(A, work.after);
}

} // namespace

void LinearOperator::apply(const SingleVector& /*x*/, SingleVector& /*y*/) const {
  throw base::InputError("the operator is for vectors of doubles: a plan with compute=float accumulate=float makes one "
                         "for vectors of floats");
}

SparseMatrix LinearOperator::sparse_matrix() const {
  throw base::InputError("the operator has no sparse matrix, which a direct solver needs: use an iterative method");
}

std::int64_t LinearOperator::num_parts() const { return static_cast<std::int64_t>(make_parts(*this).size()); }

void LinearOperator::apply_with(Vector& x, Vector& y, const VectorWork& work) const {
  apply_between(*this, x, y, work);
}

void LinearOperator::apply_with(SingleVector& x, SingleVector& y, const VectorWork& work) const {
  apply_between(*this, x, y, work);
}

} // namespace rafter::op

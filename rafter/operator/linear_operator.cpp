// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/linear_operator.hpp>

#include <algorithm>

#include <rafter/base/error.hpp>
#include <rafter/operator/sparse_matrix.hpp>

namespace rafter::op {
namespace {

constexpr std::int64_t part_length = 4096; ///< entries; the operands of a part stay in cache

void call_on_all(const LinearOperator& A, const VectorWork::Function& function) {
  if (!function) return;
  A.device()->parallel_for(A.num_parts(), [&](std::int64_t part) {
    const EntryRange range{static_cast<std::int32_t>(part * part_length),
                           static_cast<std::int32_t>(std::min(A.size(), (part + 1) * part_length))};
    function(part, std::span(&range, 1));
  });
}

} // namespace

SparseMatrix LinearOperator::sparse_matrix() const {
  throw base::InputError("the operator has no sparse matrix, which a direct solver needs: use an iterative method");
}

std::int64_t LinearOperator::num_parts() const { return (size() + part_length - 1) / part_length; }

void LinearOperator::apply_with(Vector& x, Vector& y, const VectorWork& work) const {
  const auto to_host = [&] { // and out of date elsewhere, for the work may change them
    x.host_write();
    y.host_write();
  };
  to_host();
  call_on_all(*this, work.before);
  apply(x, y);
  to_host();
  call_on_all(*this, work.after);
}

} // namespace rafter::op

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/queued_steps.hpp>

#include <rafter/solve/queued_loops.hpp>

namespace rafter::solvers {
namespace {

/// Numbers that an iteration leaves for the next one and for the host. Loops see those of two iterations, the one
/// before and their own (queued_loops.hpp).
struct Row {
  double rz, beta;           ///< values of the residual after the iteration, and of the next direction
  double is_active;          ///< 1 while iterations change the vectors, then 0
  double alpha, pq, rr;      ///< values of the iteration
  double least_rr, least_rz; ///< copied from row to row
};
constexpr std::size_t row_length = sizeof(Row) / sizeof(double);

} // namespace

QueuedSteps::QueuedSteps(const CgVectors& vectors)
    : PlainSteps(vectors), is_diagonal_(v_.M.diagonal().has_value()),
      inverse_diagonal_(is_diagonal_ ? *v_.M.diagonal() : nullptr),
      runner_(v_.A.device(), queued_loops, v_.A.owned_ranges()),
      rows_(v_.A.device(), (most_iterations + 1) * row_length) {}

std::vector<CgIteration> QueuedSteps::run(int count, const Beginning& beginning) {
  const Row first{.rz = beginning.rz,
                  .beta = beginning.beta,
                  .is_active = 1,
                  .alpha = 0,
                  .pq = 0,
                  .rr = 0,
                  .least_rr = beginning.least_rr,
                  .least_rz = beginning.least_rz};
  rows_.device_write()->queue_from_host(&first, sizeof first);
  for (int i = 0; i < count; ++i) queue_iteration(static_cast<std::size_t>(i) * row_length);
  std::vector<Row> rows(static_cast<std::size_t>(count) + 1);
  rows_.device_read()->copy_to_host(rows.data(), rows.size() * sizeof(Row));
  std::vector<CgIteration> result;
  for (std::size_t i = 0; i + 1 < rows.size() && rows[i].is_active != 0; ++i)
    result.push_back({.alpha = rows[i + 1].alpha,
                      .beta = rows[i].beta,
                      .pq = rows[i + 1].pq,
                      .rr = rows[i + 1].rr,
                      .rz = rows[i + 1].rz});
  return result;
}

/// `row`: where the numbers of the iteration before begin.
void QueuedSteps::queue_iteration(std::size_t row) {
  const bool is_scaled = inverse_diagonal_ != nullptr;
  const Vector& z = is_diagonal_ ? v_.r : z_;
  if (is_scaled)
    runner_.queue("direction_scaled", rows_, row, {v_.r, v_.p, *inverse_diagonal_});
  else
    runner_.queue("direction", rows_, row, {z, v_.p});
  v_.A.apply(v_.p, q_);
  runner_.queue("energy", rows_, row, {v_.p, q_});
  if (is_scaled) {
    runner_.queue("step_scaled", rows_, row, {v_.x, v_.r, v_.p, q_, *inverse_diagonal_});
    return;
  }
  runner_.queue("step", rows_, row, {v_.x, v_.r, v_.p, q_});
  if (!is_diagonal_) v_.M.apply(v_.r, z_);
  runner_.queue("product", rows_, row, {v_.r, z});
}

bool can_be_queued(const CgVectors& vectors) {
  return !vectors.A.device()->shares_host_memory() && vectors.A.communicator()->size() == 1 && !vectors.M.is_variable();
}

} // namespace rafter::solvers

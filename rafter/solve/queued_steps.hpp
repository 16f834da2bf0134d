// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/solve/cg_steps.hpp>

namespace rafter::solvers {

/// An iteration of conjugate gradients finds the direction p = z + beta p with pq = p.Ap, the step of length alpha, and
/// rr = r.r and rz = r.z of the residual after it. alpha is 0 where pq is not positive and finite.
struct CgIteration {
  double alpha = 0, beta = 0, pq = 0, rr = 0, rz = 0;
};

/// Makes iterations on a device without a wait in between. Scalars stay on the device. An iteration is the products
/// with A and M and three loops over vectors: p; p.Ap, from which alpha follows; x, r and the sums from which beta
/// follows. As soon as an iteration reaches the least residual or fails, the vectors stay as they are, so that those
/// behind it change nothing: x, r and p are then those of the last iteration that is returned.
class QueuedSteps final : public PlainSteps {
public:
  /// Number of iterations that are queued at a time at most.
  static constexpr int most_iterations = 16;

  explicit QueuedSteps(const CgVectors& vectors);
  /// Says where iterations end, and holds what the first of them needs.
  struct Beginning {
    double rz = 0, beta = 0; ///< r.z of the present residual, and beta of the new direction
    double least_rr = -1, least_rz = -1;
  };
  /// Queues `count` iterations and returns those that took place once the last has ended; at least one.
  std::vector<CgIteration> run(int count, const Beginning& beginning);

private:
  void queue_iteration(std::size_t row);
  const bool is_diagonal_;
  const Vector* inverse_diagonal_; ///< null: M is the identity, or not diagonal
  op::VectorRunner runner_;
  Vector rows_; ///< shape (iteration + 1, number), see queued_steps.cpp
};

/// Says whether iterations can be queued: the device has memory of its own, and no other process has a part of sums.
bool can_be_queued(const CgVectors& vectors);

} // namespace rafter::solvers

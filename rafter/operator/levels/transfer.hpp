// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/run/linear_operator.hpp>

namespace rafter::mesh {
struct Refinement;
} // namespace rafter::mesh

/// Moves vectors between a coarse system of fields and a fine one.
namespace rafter::op {

/// A transfer is made of two systems with the same fields, of any degrees.
struct TransferSpecification {
  System coarse, fine;
  std::vector<std::int32_t> constrained_coarse, constrained_fine; ///< constrained entries of either side, ascending
  /// The refinement that makes the fine mesh of the coarse one; null: both systems are on one discretisation.
  const mesh::Refinement* refinement = nullptr;
};

/// Interpolation P from a coarse system into a fine one, and its exact transpose. P takes the
/// values of the coarse function at the nodes of the fine fields, in the reference coordinates of the coarse cells: on
/// nested spaces it is the identity of functions. Constrained entries of either side and padding are masked: P has zero
/// rows and columns there.
class Transfer {
public:
  virtual ~Transfer() = default;
  virtual std::int64_t rows() const = 0;                                 ///< number of entries of fine vectors
  virtual std::int64_t columns() const = 0;                              ///< number of entries of coarse vectors
  virtual void prolongate(const Vector& coarse, Vector& fine) const = 0; ///< computes fine = P coarse
  virtual void prolongate_and_add(const Vector& coarse, Vector& fine) const = 0; ///< computes fine += P coarse
  virtual void restrict_to(const Vector& fine, Vector& coarse) const = 0;        ///< computes coarse = P^T fine
  /// Do the same on vectors of floats. Throw InternalError in transfers of doubles, as those of floats do for doubles.
  virtual void prolongate(const SingleVector& coarse, SingleVector& fine) const;
  virtual void prolongate_and_add(const SingleVector& coarse, SingleVector& fine) const;
  virtual void restrict_to(const SingleVector& fine, SingleVector& coarse) const;
};

} // namespace rafter::op

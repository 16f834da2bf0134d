// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/operator/form_kernels.hpp>

/// Moves vectors between a coarse system of fields and a fine one.
namespace rafter::op {

/// One side of a transfer: a system of fields, and those of its entries that are constrained, ascending.
struct TransferSide {
  System system;
  std::vector<std::int32_t> constrained;
};

/// Interpolation P from a coarse system into a fine one, and its exact transpose. The fine mesh is the coarse one, or
/// was refined from it in one step (mesh::Refinement); the systems have the same fields, of any degrees. P takes the
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
};

} // namespace rafter::op

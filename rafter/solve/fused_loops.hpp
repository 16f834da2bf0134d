// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string_view>

#include <rafter/operator/linear_operator.hpp>

/// Compiles the loops over vectors that are fused into the application of an operator, each in one pass.
namespace rafter::solvers {

using Ranges = std::span<const op::EntryRange>;

/// Operands of conjugate gradients where M is diagonal and z = M^-1 r. Here and below, pointers are to the first
/// entries of distinct vectors.
struct CgOperands {
  double alpha = 0, beta = 0;
  const double* inverse_diagonal = nullptr; ///< entries of M^-1; null: M is the identity
  double *x = nullptr, *r = nullptr, *p = nullptr;
  const double* q = nullptr; ///< A p
};

/// Operands of conjugate gradients with any other preconditioner, with q = A p and z = M^-1 r.
struct DeferredOperands {
  double alpha = 0, beta = 0;
  double *x = nullptr, *r = nullptr, *p = nullptr;
  const double *q = nullptr, *z = nullptr;
};

/// Operands of the Chebyshev iteration, scaled by a diagonal matrix D.
struct ChebyshevOperands {
  double a = 0, b = 0;
  const double *inverse_diagonal = nullptr, *image = nullptr, *right = nullptr;
  double *residual = nullptr, *direction = nullptr, *x = nullptr;
};

/// The loops compiled for one instruction set. Each loop adds its sums to `sums`.
struct FusedLoops {
  std::string_view instruction_set; ///< "baseline" or "avx2"

  /// x += alpha p, r -= alpha q. The sums are r.r and r.z of the new r.
  void (*advance)(const CgOperands& v, Ranges ranges, double* sums);
  /// Does what advance does, then p = z + beta p.
  void (*advance_and_redirect)(const CgOperands& v, Ranges ranges, double* sums);
  /// The sums are p.q, r.q, q.q, r.M^-1 q and q.M^-1 q.
  void (*products)(const CgOperands& v, Ranges ranges, double* sums);

  /// x += alpha p, then p = z + beta p.
  void (*redirect)(const DeferredOperands& v, Ranges ranges);
  /// The sum is p.q.
  void (*energy)(const DeferredOperands& v, Ranges ranges, double* sums);
  /// r -= alpha q. The sum is r.r of the new r.
  void (*residual)(const DeferredOperands& v, Ranges ranges, double* sums);

  /// residual = right, direction = b D^-1 residual, x = direction.
  void (*chebyshev_start)(const ChebyshevOperands& v, Ranges ranges);
  /// residual = right - image, direction = b D^-1 residual, x += direction.
  void (*chebyshev_restart)(const ChebyshevOperands& v, Ranges ranges);
  /// residual -= image, direction = a direction + b D^-1 residual, x += direction.
  void (*chebyshev_step)(const ChebyshevOperands& v, Ranges ranges);
};

/// The loops that this processor runs, the fastest last. Registers wider than those of AVX2 gain nothing where memory
/// is the limit.
std::span<const FusedLoops> all_fused_loops();
inline const FusedLoops& fused_loops() { return all_fused_loops().back(); }

} // namespace rafter::solvers

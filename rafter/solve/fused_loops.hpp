// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string_view>

#include <rafter/operator/linear_operator.hpp>

/// The loops over vectors that are fused into the application of an operator, each in one pass.
namespace rafter::solvers {

using Ranges = std::span<const op::EntryRange>;

/// Conjugate gradients, z = M^-1 r with M diagonal. Here and below pointers are to the first entries of distinct
/// vectors.
struct CgOperands {
  double alpha = 0, beta = 0;
  const double* inverse_diagonal = nullptr; ///< of M; null: the identity
  double *x = nullptr, *r = nullptr, *p = nullptr;
  const double* q = nullptr; ///< A p
};

/// Conjugate gradients with any other preconditioner.
struct DeferredOperands {
  double alpha = 0, beta = 0;
  double *x = nullptr, *r = nullptr, *p = nullptr;
  const double *q = nullptr, *z = nullptr;
};

/// Chebyshev iteration, scaled by a diagonal matrix D.
struct ChebyshevOperands {
  double a = 0, b = 0;
  const double *inverse_diagonal = nullptr, *image = nullptr, *right = nullptr;
  double *residual = nullptr, *direction = nullptr, *x = nullptr;
};

/// The loops compiled for an instruction set. Sums are added to `sums`.
struct FusedLoops {
  std::string_view instruction_set; ///< "baseline", "avx2"

  /// x += alpha p, r -= alpha q; sums: r.r, r.z of the new r.
  void (*advance)(const CgOperands& v, Ranges ranges, double* sums);
  /// The same, then p = z + beta p.
  void (*advance_and_redirect)(const CgOperands& v, Ranges ranges, double* sums);
  /// sums: p.q, r.q, q.q, r.M^-1 q, q.M^-1 q.
  void (*products)(const CgOperands& v, Ranges ranges, double* sums);

  /// x += alpha p, p = z + beta p.
  void (*redirect)(const DeferredOperands& v, Ranges ranges);
  /// sums: p.q.
  void (*energy)(const DeferredOperands& v, Ranges ranges, double* sums);
  /// r -= alpha q; sums: r.r.
  void (*residual)(const DeferredOperands& v, Ranges ranges, double* sums);

  /// residual = right, direction = b D^-1 residual, x = direction.
  void (*chebyshev_start)(const ChebyshevOperands& v, Ranges ranges);
  /// residual = right - image, direction = b D^-1 residual, x += direction.
  void (*chebyshev_restart)(const ChebyshevOperands& v, Ranges ranges);
  /// residual -= image, direction = a direction + b D^-1 residual, x += direction.
  void (*chebyshev_step)(const ChebyshevOperands& v, Ranges ranges);
};

/// Those that this processor runs, the fastest last. Wider registers than those of AVX2 gain nothing where memory is
/// the limit.
std::span<const FusedLoops> all_fused_loops();
inline const FusedLoops& fused_loops() { return all_fused_loops().back(); }

} // namespace rafter::solvers

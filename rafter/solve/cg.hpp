// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/machine/roofline.hpp>
#include <rafter/solve/preconditioner.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// Parameters of cg().
struct CgParameters {
  IterationControl control;
  /// Updates and products are fused into the application of A; false: one operation is done after the other.
  bool is_fused = true;
};

/// Solves A x = b by preconditioned conjugate gradients (Hestenes and Stiefel 1952, doi:10.6028/jres.049.044), for a
/// symmetric positive definite operator and preconditioner. `x` holds the initial guess and receives the solution; b =
/// 0 gives x = 0 at once. For a preconditioner that changes from one application to the next
/// (Preconditioner::is_variable) directions are those of flexible conjugate gradients (flexible_beta). Convergence is
/// confirmed with the residual b - A x itself, not the recursive one. Numerical failures are reported in the result,
/// not thrown.
Result cg(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
          const CgParameters& parameters = {});

/// Bytes per unknown and iteration that vectors move between caches and memory.
struct VectorBytes {
  double read = 0, written = 0;
  double sum() const { return read + written; }
};

/// Counts the vectors of cg, when each operation reads and writes each of its vectors once: those of the product with A
/// are among them, and those of M where it is diagonal (with the entries d). Writing counts once, whether or not the
/// processor reads the vector before. In words of 8 bytes (read; written):
///
/// | version | q = A p | p.q | x, r, r.r | z = M^-1 r | r.z | p | words |
/// |---|---|---|---|---|---|---|---|
/// | plain | p; q | p q | p q x r; x r | r d; z (identity: r; z, other: M's own) | r z | z p; p | 18 (17, 15 + M's) |
/// | fused, M diagonal | x r p q d; x r p q, all in one pass | | | | | | 9 (identity: 8) |
/// | fused, other M | x p z; x p q, with x, p and p.q | | q r; r | M's own | r z | | 11 + M's |
VectorBytes cg_vector_bytes(const Preconditioner& M, bool is_fused);

/// Number of vectors that an iteration works on besides p and q = A p: x, r, and the entries of a diagonal M or z.
inline constexpr int cg_kept_vectors = 3;

/// Counts the cost of an iteration. `product` is what a product with A costs, its two vectors included; `size` is the
/// number of unknowns. M is left out unless it is diagonal.
machine::Counts cg_iteration_counts(const machine::Counts& product, std::int64_t size, const Preconditioner& M,
                                    bool is_fused);

} // namespace rafter::solvers

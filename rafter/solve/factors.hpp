// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/solve/null_space.hpp>

/// Factorises sparse matrices by the multifrontal solver MUMPS (Amestoy, Duff, L'Excellent, Koster, SIAM J. Matrix
/// Anal. Appl. 23 (2001) 15-41, doi:10.1137/S0895479899358194).
namespace rafter::solvers {

std::string factors_version(); ///< version of MUMPS

/// Says what kind of factorisation was made and what it took.
struct FactorInfo {
  bool is_symmetric = false;                        ///< L D L^T, else L U
  std::int64_t matrix_entries = 0, num_entries = 0; ///< entries of the matrix and of its factors
  std::int64_t bytes = 0;                           ///< most memory that the factorisation took
  std::int64_t num_negative_pivots = 0; ///< number of negative eigenvalues of the matrix for L D L^T; else 0

  /// Entries of the factors over those of the matrix (of one half where it is symmetric).
  double fill() const;
};

/// Applies A^-1 by the factors of a sparse matrix A.
class Factors final : public Preconditioner {
public:
  /// Factorises as L D L^T where |a_ij - a_ji| <= 1e-12 max |a_ij|, else as L U. For each vector of `null_space` (null:
  /// none) one unknown is held at zero; then A^-1 r is a solution for right-hand sides in the range. Throws SolverError
  /// for a singular matrix and one that is not finite, and EnvironmentError when the factors do not fit into the memory
  /// of this machine.
  explicit Factors(const op::SparseMatrix& matrix, const NullSpace* null_space = nullptr);
  ~Factors() override;

  void apply(const Vector& r, Vector& z) const override; ///< computes z = A^-1 r in the memory of the host
  void solve(std::span<double> values) const;            ///< replaces r by A^-1 r, shape (row)
  std::int64_t num_negative_eigenvalues() const override { return info_.num_negative_pivots; }
  const FactorInfo* factors() const override { return &info_; }

private:
  class Mumps;
  std::vector<std::int32_t> held_; ///< unknowns that are held at zero, one for each null vector
  std::unique_ptr<Mumps> mumps_;
  FactorInfo info_;
};

} // namespace rafter::solvers

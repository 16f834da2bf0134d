// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {

struct FactorInfo;

/// An approximate inverse. It may be applied by one thread at a time, because implementations keep work vectors.
class Preconditioner {
public:
  virtual ~Preconditioner() = default;
  virtual void apply(const Vector& r, Vector& z) const = 0; ///< computes z = M^-1 r; r and z must be distinct
  /// The entries of M^-1 where it is diagonal, or null for the identity; nothing where it is not diagonal.
  virtual std::optional<const Vector*> diagonal() const { return std::nullopt; }
  /// Says whether M^-1 changes from one application to the next, so that outer methods must be flexible.
  virtual bool is_variable() const { return false; }
  /// Says whether M^-1 computes in single precision, so that it is linear up to roundings of floats alone.
  virtual bool is_single() const { return false; }
  /// Follows the values of the operator, which have changed, with what was made once. False: it cannot, and another one
  /// must be made. It is for one thread at a time, as apply() is.
  virtual bool refresh() const { return false; }
  /// Computes an approximate solution z of A z = r for an iteration to start from, better than apply() does. False:
  /// there is no better one, and z stays as it is.
  virtual bool start(const Vector& /*r*/, Vector& /*z*/) const { return false; }
  /// Number of negative eigenvalues of A that set-up has found, as coarse factors give them; 0 says nothing.
  virtual std::int64_t num_negative_eigenvalues() const { return 0; }
  /// Describes the factors of the matrix, where M^-1 is A^-1 up to rounding; else null.
  virtual const FactorInfo* factors() const { return nullptr; }
  /// Says in words what was built; empty: the name says all.
  virtual std::string description() const { return {}; }
};

/// Sets z = r.
class Identity final : public Preconditioner {
public:
  explicit Identity(std::shared_ptr<device::Device> device) : ops_(std::move(device)) {} ///< copies whole vectors
  explicit Identity(const op::LinearOperator& A) : ops_(A) {} ///< copies the owned entries of A's vectors
  void apply(const Vector& r, Vector& z) const override { ops_.copy(r, z); }
  std::optional<const Vector*> diagonal() const override { return nullptr; }

private:
  VectorOps ops_;
};

/// Returns 1 / A_ii for the owned entries and 0 elsewhere. Throws SolverError that names the first row whose entry is
/// zero or not finite.
Vector inverse_diagonal(const op::LinearOperator& A);

/// Computes z_i = r_i / A_ii.
class Jacobi final : public Preconditioner {
public:
  /// Throws the SolverError of inverse_diagonal().
  explicit Jacobi(const op::LinearOperator& A) : ops_(A), inverse_diagonal_(inverse_diagonal(A)) {}
  void apply(const Vector& r, Vector& z) const override { ops_.multiply(inverse_diagonal_, r, z); }
  std::optional<const Vector*> diagonal() const override { return &inverse_diagonal_; }

private:
  VectorOps ops_;
  Vector inverse_diagonal_;
};

} // namespace rafter::solvers

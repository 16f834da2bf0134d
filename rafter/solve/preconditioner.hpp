// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>

#include <rafter/operator/linear_operator.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {

struct FactorInfo;

/// An approximate inverse. One application at a time: implementations keep work vectors.
class Preconditioner {
public:
  virtual ~Preconditioner() = default;
  virtual void apply(const Vector& r, Vector& z) const = 0; ///< z = M^-1 r; r and z distinct
  /// Where M^-1 is diagonal its entries, or no entry for the identity.
  virtual std::optional<std::span<const double>> diagonal() const { return std::nullopt; }
  /// What the factors of the matrix are, where M^-1 is A^-1 up to rounding; else null.
  virtual const FactorInfo* factors() const { return nullptr; }
};

/// z = r.
class Identity final : public Preconditioner {
public:
  explicit Identity(std::shared_ptr<device::Device> device) : ops_(std::move(device)) {} ///< of whole vectors
  explicit Identity(const op::LinearOperator& A) : ops_(A) {}                            ///< of its owned entries
  void apply(const Vector& r, Vector& z) const override { ops_.copy(r, z); }
  std::optional<std::span<const double>> diagonal() const override { return std::span<const double>{}; }

private:
  VectorOps ops_;
};

/// 1 / A_ii of the owned entries, 0 elsewhere. Throws SolverError naming the first row whose entry is zero or not
/// finite.
Vector inverse_diagonal(const op::LinearOperator& A);

/// z_i = r_i / A_ii.
class Jacobi final : public Preconditioner {
public:
  /// Throws as inverse_diagonal.
  explicit Jacobi(const op::LinearOperator& A) : ops_(A), inverse_diagonal_(inverse_diagonal(A)) {}
  void apply(const Vector& r, Vector& z) const override { ops_.multiply(inverse_diagonal_, r, z); }
  std::optional<std::span<const double>> diagonal() const override { return inverse_diagonal_.host_read(); }

private:
  VectorOps ops_;
  Vector inverse_diagonal_;
};

} // namespace rafter::solvers

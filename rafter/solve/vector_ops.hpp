// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include <rafter/operator/run/vector_runner.hpp>

namespace rafter::solvers {

using device::Vector;

/// Works on local vectors with kernels of their device (vector_loops.hpp). Every result is bit-identical for any number
/// of threads and in every run (op::VectorRunner); sums of several processes are added in the order of ranks. All
/// vectors of a call have one size (else InternalError) and are distinct unless said otherwise.
class VectorOps {
public:
  /// Works on whole vectors of this process alone.
  explicit VectorOps(std::shared_ptr<device::Device> device);
  /// Works on the owned entries of an operator's vectors, with sums over all of its processes, which must call
  /// functions that return a sum together. Padding and ghosts are neither read nor written.
  /// `type` is that of the vectors of run(); the other functions are for doubles.
  explicit VectorOps(const op::LinearOperator& A, schedule::Type type = schedule::Type::real);

  void fill(double value, Vector& x) const; ///< sets x_i = value
  /// Fills x with reproducible numbers in [-1, 1), which differ from stream to stream.
  void fill_random(std::uint32_t stream, Vector& x) const;
  void copy(const Vector& x, Vector& y) const; ///< y = x
  /// Sets entries of y to entries of x, in their order, on this process: copy_range({x, range}, y),
  /// copy_range(x, {y, range}) or copy_range({x, range}, {y, other}). The vectors are distinct.
  void copy_range(const op::LoopOperand& x, const op::LoopOperand& y) const;
  void scale(double a, Vector& x) const;                            ///< x = a x
  void axpy(double a, const Vector& x, Vector& y) const;            ///< y = y + a x
  void aypx(double a, const Vector& x, Vector& y) const;            ///< y = x + a y
  void subtract_from(const Vector& x, Vector& y) const;             ///< y = x - y
  void multiply(const Vector& d, const Vector& x, Vector& y) const; ///< y_i = d_i x_i
  /// Computes y = a y + b d .* x, which is one step of the Chebyshev iteration.
  void combine(double a, double b, const Vector& d, const Vector& x, Vector& y) const;

  double dot(const Vector& x, const Vector& y) const; ///< x and y may be the same vector
  /// Returns (a x).(b y), for products that overflow or vanish without the factors.
  double scaled_dot(double a, const Vector& x, double b, const Vector& y) const;
  double
  norm(const Vector& x) const; ///< returns the 2-norm, which neither overflows nor underflows (op::scaled_root())
  /// Returns |x.y|^1/2, the energy norm of x where y is its image, which neither overflows nor underflows either.
  double energy_norm(const Vector& x, const Vector& y) const;
  /// Computes x += alpha p and r -= alpha q and returns r.r, in one pass.
  double advance(double alpha, const Vector& p, const Vector& q, Vector& x, Vector& r) const;

  /// Computes h_j = basis_j . w for all j.
  void multi_dot(std::span<const Vector> basis, const Vector& w, std::span<double> h) const;
  /// Computes w += a sum_j h_j basis_j.
  void multi_axpy(double a, std::span<const double> h, std::span<const Vector> basis, Vector& w) const;

  /// Says whether an entry of any process is not finite.
  bool has_non_finite(const Vector& x) const { return run("spoil", {}, {x})[0] != 0; }
  /// Returns the index of the first entry of this process that is not finite, or -1.
  std::int64_t first_non_finite(const Vector& x) const;

  /// Runs a loop of vector_loops.hpp. Returns its sums over all processes, which are valid until the next call.
  std::span<const double> run(std::string_view loop, std::initializer_list<double> scalars,
                              std::initializer_list<op::LoopOperand> operands) const;
  /// Runs the loops; for work that is fused into an operator (op::FusedLoop) or queued.
  const op::VectorRunner& runner() const { return runner_; }

private:
  std::vector<op::EntryRange> owned(const Vector& x) const;
  std::optional<std::vector<op::EntryRange>> ranges_; ///< nothing: operations work on whole vectors
  std::shared_ptr<const comm::Communicator> communicator_;
  op::VectorRunner runner_;
};

/// Returns VectorOps::fill_random() of an operator's vectors with 0 at constrained unknowns, whose rows and columns of
/// the identity say nothing of the operator.
Vector random_free_vector(const op::LinearOperator& A, std::uint32_t stream);

} // namespace rafter::solvers

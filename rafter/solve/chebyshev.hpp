// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/solve/null_space.hpp>

namespace rafter::solvers {

/// Parameters of Chebyshev.
struct ChebyshevParameters {
  int degree = 4;   ///< degree of the error polynomial, 1 to 50: one application costs degree - 1 products with A
  double upper = 0; ///< bound of the eigenvalues of D^-1 A; 0: it is estimated
  double lower = 0; ///< lower end of the interval whose components are damped; 0: upper / eigenvalue_ratio
  double eigenvalue_ratio = 30; ///< upper / lower where lower is not given
  double safety_factor = 1.1;   ///< ratio of bound to estimate: Ritz values approach the largest eigenvalue from below
  int estimate_iterations = 20; ///< steps of CG for the estimate
  int check_iterations = 6;     ///< steps of CG that show whether an estimate still holds, see Chebyshev::update
  bool is_fused = true;         ///< updates are fused into the products with A; false: one operation after the other
  /// A may have negative eigenvalues, whose components grow a little, as long as its diagonal is positive: a smoother
  /// is for the large ones.
  bool accepts_indefinite = false;
  std::shared_ptr<const NullSpace> null_space; ///< null space of A, which the estimate leaves out; null: A is regular
};

/// The extreme Ritz values of D^-1 A, with D the diagonal of A.
struct EigenvalueEstimate {
  double smallest = 0, largest = 0;
  double checked = 0; ///< the largest Ritz value after `check_iterations` steps
};

/// Estimates eigenvalues from the Lanczos coefficients of `iterations` steps of Jacobi-preconditioned CG (Saad,
/// Iterative methods, 2nd ed., section 6.7.3). The right-hand side is a reproducible random vector without a part in
/// the null space, so that for singular operators the smallest eigenvalue that is not zero is approached. The
/// largest Ritz value after `check_iterations` steps is found, too, which a short run from the same vector can be held
/// against. `is_fused`: a step is one pass over the cells, else one operation after the other. Throws SolverError when
/// the operator is found to be not finite, or indefinite unless that is accepted.
EigenvalueEstimate estimate_eigenvalues(const op::LinearOperator& A, const Vector& inverse_diagonal, int iterations,
                                        const NullSpace& null_space = {}, int check_iterations = 1,
                                        bool accepts_indefinite = false, bool is_fused = true);

/// Chebyshev semi-iteration with Jacobi scaling, on vectors of doubles or floats (T). It is symmetric positive definite
/// as long as the eigenvalues of D^-1 A lie in (0, lower + upper). The components of the error with eigenvalue in
/// [lower, upper] shrink by at least 1 / T_degree((upper + lower) / (upper - lower)).
template <class T> class ChebyshevIteration {
public:
  using Entries = device::Array<T>;
  /// Throws InputError for parameters out of range, SolverError for diagonal entries that are not positive and finite,
  /// or whose inverse no T holds. Estimates are made on vectors of doubles. On vectors of floats A is an operator of
  /// floats (LinearOperator::is_single).
  ChebyshevIteration(const op::LinearOperator& A, const ChebyshevParameters& parameters);

  void apply(const Entries& r, Entries& z) const; ///< computes an approximate solution of A z = r, beginning with z = 0
  /// Improves x as an approximate solution of A x = b, with `degree` products with A.
  void smooth(const Entries& b, Entries& x) const;

  /// Follows the operator, whose values have changed: its diagonal is asked for again. The largest eigenvalue is
  /// estimated anew if a few steps of the estimate, from the same vector, give another value than they gave when it was
  /// made, by more than 5 %: then the smoother may amplify what it should damp, or damp too little. A given bound
  /// stays. Says whether there is a new estimate. Throws the SolverErrors of the constructor. An operator that was
  /// definite when its eigenvalues were estimated has to stay so, unless `accepts_indefinite` says otherwise.
  bool update(bool accepts_indefinite = false);

  double lower() const { return lower_; }
  double upper() const { return upper_; }
  /// Bound of the factor by which components of the error with eigenvalue in [lower, upper] shrink.
  double reduction() const;

private:
  EigenvalueEstimate estimate(const Vector& inverse_diagonal, int iterations, bool accepts_indefinite) const;
  void set_interval(const EigenvalueEstimate& found); ///< takes the estimate where no bound is given
  void set_coefficients();                            ///< follows the interval
  void iterate(Entries& x) const;                     ///< residual_ must be that of x
  /// Does the second one of two steps, fused into the product with A, before which `start` is done. x has not been
  /// moved by the first one; `is_from_zero`: x is zero.
  void second_of_two(Entries& x, const op::VectorWork::Function& start, bool is_from_zero) const;
  /// Makes the remaining steps with their updates fused into the products with A; `start` is done before the first of
  /// them. x lags by the direction; where `right` is given it is zero, and `right` the residual.
  void fused_steps(const Entries* right, Entries& x, const op::VectorWork::Function& start) const;
  const op::LinearOperator& A_;
  VectorOps ops_;
  ChebyshevParameters parameters_;
  int degree_;
  bool is_fused_;
  double lower_ = 0, upper_ = 0;
  double checked_ = 0;         ///< result of check_iterations steps of the estimate when it was made
  bool is_indefinite_ = false; ///< the estimate met negative curvature
  Entries inverse_diagonal_;
  /// Coefficients of the recurrence direction = a direction + b D^-1 residual, shape (step, 2): a and b. Behind them
  /// those by which two steps move x: a times the first direction less b D^-1 times its image.
  Vector coefficients_;
  mutable Entries residual_, direction_, image_; ///< fused iterations of two steps have no residual
};

/// A Chebyshev iteration that begins with zero, as a preconditioner.
class Chebyshev final : public Preconditioner {
public:
  /// Throws the errors of ChebyshevIteration.
  Chebyshev(const op::LinearOperator& A, const ChebyshevParameters& parameters = {}) : iteration_(A, parameters) {}
  void apply(const Vector& r, Vector& z) const override { iteration_.apply(r, z); }
  void smooth(const Vector& b, Vector& x) const { iteration_.smooth(b, x); } ///< see ChebyshevIteration::smooth
  bool update() { return iteration_.update(); }                              ///< see ChebyshevIteration::update
  double lower() const { return iteration_.lower(); }
  double upper() const { return iteration_.upper(); }
  double reduction() const { return iteration_.reduction(); }

private:
  ChebyshevIteration<double> iteration_;
};

} // namespace rafter::solvers

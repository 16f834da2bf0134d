// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/chebyshev.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/solve/cg_steps.hpp>
#include <rafter/solve/diagnosis.hpp>
#include <rafter/solve/tridiagonal.hpp>

namespace rafter::solvers {
namespace {

using Ranges = std::span<const op::EntryRange>;

const ChebyshevParameters& checked(const ChebyshevParameters& parameters) {
  const auto require = [](bool is_valid, const char* key, double value, const char* accepted) {
    if (!is_valid) throw base::InputError(fmt::format("chebyshev: {} = {} is not {}", key, value, accepted));
  };
  require(parameters.degree >= 1 && parameters.degree <= 50, "degree", parameters.degree, "in 1 .. 50");
  require(parameters.upper >= 0 && std::isfinite(parameters.upper), "upper", parameters.upper, "a finite number >= 0");
  require(parameters.lower >= 0 && std::isfinite(parameters.lower), "lower", parameters.lower, "a finite number >= 0");
  require(parameters.upper == 0 || parameters.lower < parameters.upper, "lower", parameters.lower, "below upper");
  require(parameters.eigenvalue_ratio > 1, "eigenvalue_ratio", parameters.eigenvalue_ratio, "above 1");
  require(parameters.safety_factor >= 1, "safety_factor", parameters.safety_factor, "at least 1");
  require(parameters.estimate_iterations >= 1, "estimate_iterations", parameters.estimate_iterations, "at least 1");
  require(parameters.check_iterations >= 1, "check_iterations", parameters.check_iterations, "at least 1");
  return parameters;
}

Vector positive_inverse_diagonal(const op::LinearOperator& A) {
  Vector inverse = inverse_diagonal(A);
  const bool is_positive = VectorOps(A).runner().run("negative", {}, {inverse})[0] == 0;
  comm::agree(*A.communicator(), [&] {
    if (is_positive) return;
    const auto entries = inverse.host_read();
    const auto found = std::find_if(entries.begin(), entries.end(), [](double entry) { return entry < 0; });
    if (found != entries.end())
      throw base::SolverError(
          fmt::format("preconditioner chebyshev: the diagonal entry of row {} is {:.3e}; a positive definite "
                      "operator has positive ones (check signs in the form)",
                      found - entries.begin(), 1 / *found));
  });
  return inverse;
}

/// The inverse diagonal in the precision of an iteration's vectors.
template <class T> device::Array<T> converted(Vector inverse) {
  if constexpr (std::is_same_v<T, double>) {
    return inverse;
  } else {
    device::Array<T> result(inverse.device(), inverse.size());
    const auto from = inverse.host_read();
    const auto to = result.host_overwrite();
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<T>(from[i]);
      if (from[i] != 0 && !std::isnormal(to[i]))
        throw base::SolverError(
            fmt::format("the diagonal entry of row {} is {:.3e}, whose inverse no number of single precision holds: "
                        "take levels in double precision",
                        i, 1 / from[i]));
    }
    return result;
  }
}

/// Scales by an inverse diagonal that somebody else keeps.
class Scaling final : public Preconditioner {
public:
  Scaling(const VectorOps& ops, const Vector& inverse_diagonal) : ops_(ops), inverse_diagonal_(inverse_diagonal) {}
  void apply(const Vector& r, Vector& z) const override { ops_.multiply(inverse_diagonal_, r, z); }
  std::optional<const Vector*> diagonal() const override { return &inverse_diagonal_; }

private:
  const VectorOps& ops_;
  const Vector& inverse_diagonal_;
};

/// Runs the iteration of conjugate gradients whose coefficients make the tridiagonal Lanczos matrix of the estimate,
/// fused into one pass over the cells for each step or one operation after the other.
struct Lanczos {
  const op::LinearOperator& A;
  const Vector& inverse_diagonal;
  VectorOps ops;
  bool is_fused;
  std::vector<double> diagonal, off_diagonal; ///< entries of the tridiagonal matrix

  Lanczos(const op::LinearOperator& operator_, const Vector& inverse, bool fused)
      : A(operator_), inverse_diagonal(inverse), ops(operator_), is_fused(fused) {}

  /// Gives z = D^-1 r the same share of energy at every free unknown, whatever the sizes of coefficients: rows of small
  /// diagonals would outweigh all others in the estimate.
  Vector first_residual() const {
    auto r = random_free_vector(A, 0);
    const auto entries = r.host_write();
    const auto inverse = inverse_diagonal.host_read();
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = inverse[i] == 0 ? 0 : entries[i] / std::sqrt(std::abs(inverse[i])); // 0: padding and ghosts
    return r;
  }

  void run(int iterations, const NullSpace& null_space, bool accepts_indefinite) {
    auto r = first_residual();
    null_space.project(r);
    Vector x(A.device(), r.size()), p(A.device(), r.size());
    const Scaling scaling(ops, inverse_diagonal);
    const CgVectors vectors{.A = A, .M = scaling, .ops = ops, .x = x, .r = r, .p = p};
    const auto steps = is_fused ? make_fused_steps(vectors) : std::make_unique<PlainSteps>(vectors);
    const double first = steps->preconditioned_product();
    double rz = first, previous_alpha = 0, beta = 0;
    for (int k = 0; k < iterations && rz > 1e-24 * first; ++k) {
      const double pq = steps->new_direction(beta);
      const double before = k > 0 ? beta / previous_alpha : 0;
      const double rounding = A.is_single() ? 0x1p-21 : 1e-13;
      if (!diagonal.empty() && std::abs(pq) <= rounding * largest_entry() * rz) { // p is in the null space
        diagonal.push_back(pq / rz + before);
        return;
      }
      const bool is_usable = accepts_indefinite && std::abs(pq) > 1e-10 * largest_entry() * rz;
      if (!std::isfinite(pq) || !(pq > 0 || is_usable)) return fail_unless_exhausted(pq, rz, first);
      const double alpha = rz / pq;
      diagonal.push_back(1 / alpha + before);
      steps->advance(alpha, 0);
      const double next = steps->preconditioned_product();
      beta = next / rz;
      off_diagonal.push_back(std::sqrt(std::max(beta, 0.0)) / alpha);
      rz = next;
      previous_alpha = alpha;
    }
  }

  double largest_entry() const { return diagonal.empty() ? 0 : *std::max_element(diagonal.begin(), diagonal.end()); }

  /// Decides about a direction without energy. It merely ends the estimate where the random vector had a part in the
  /// null space; else the operator is not positive definite, and SolverError is thrown.
  void fail_unless_exhausted(double pq, double rz, double first) const {
    if (std::isfinite(pq) && !diagonal.empty() && pq >= -1e-10 * largest_entry() * std::max(rz, 1e-12 * first)) return;
    throw base::SolverError(
        fmt::format("p.Ap = {:.2e} for a direction p of the estimate of eigenvalues, which needs a symmetric positive "
                    "definite operator with finite coefficients",
                    pq));
  }
};

} // namespace

EigenvalueEstimate estimate_eigenvalues(const op::LinearOperator& A, const Vector& inverse_diagonal, int iterations,
                                        const NullSpace& null_space, int check_iterations, bool accepts_indefinite,
                                        bool is_fused) {
  Lanczos lanczos(A, inverse_diagonal, is_fused);
  lanczos.run(iterations, null_space, accepts_indefinite);
  if (lanczos.diagonal.empty()) return {1, 1, 1}; // there are no unknowns
  const auto after = [&lanczos](int steps, int rank) {
    return tridiagonal_eigenvalue(std::span(lanczos.diagonal).first(static_cast<std::size_t>(steps)),
                                  lanczos.off_diagonal, rank);
  };
  const auto steps = static_cast<int>(lanczos.diagonal.size()), early = std::min(steps, check_iterations);
  return {after(steps, 0), after(steps, steps - 1), after(early, early - 1)};
}

template <class T>
ChebyshevIteration<T>::ChebyshevIteration(const op::LinearOperator& A, const ChebyshevParameters& parameters)
    : A_(A), ops_(A, op::entry_type<T>), parameters_(checked(parameters)), degree_(parameters.degree),
      is_fused_(parameters.is_fused), coefficients_(A.device(), 2 * static_cast<std::size_t>(degree_) + 2) {
  auto inverse = positive_inverse_diagonal(A);
  if (parameters_.upper > 0)
    set_interval({});
  else
    set_interval(estimate(inverse, parameters_.estimate_iterations, parameters_.accepts_indefinite));
  // The vectors of the estimate are gone before those of the iteration take memory.
  const auto size = inverse.size();
  inverse_diagonal_ = converted<T>(std::move(inverse));
  for (auto* vector : {&direction_, &image_}) *vector = Entries(A.device(), size);
  if (!is_fused_ || degree_ != 2) residual_ = Entries(A.device(), size);
}

template <class T>
EigenvalueEstimate ChebyshevIteration<T>::estimate(const Vector& inverse_diagonal, int iterations,
                                                   bool accepts_indefinite) const {
  const NullSpace none;
  return estimate_eigenvalues(A_, inverse_diagonal, iterations, parameters_.null_space ? *parameters_.null_space : none,
                              parameters_.check_iterations, accepts_indefinite, is_fused_);
}

template <class T> void ChebyshevIteration<T>::set_interval(const EigenvalueEstimate& found) {
  upper_ = parameters_.upper > 0 ? parameters_.upper : parameters_.safety_factor * found.largest;
  checked_ = found.checked;
  is_indefinite_ = found.smallest < 0;
  lower_ = parameters_.lower > 0 ? parameters_.lower : upper_ / parameters_.eigenvalue_ratio;
  if (!std::isfinite(upper_))
    throw base::SolverError(
        "preconditioner chebyshev: the estimated largest eigenvalue is not finite: the operator has "
        "coefficients that are not finite, or values that leave the range of doubles");
  if (lower_ >= upper_)
    throw base::InputError(
        fmt::format("chebyshev: lower = {} is not below the estimated largest eigenvalue {}", lower_, upper_));
  set_coefficients();
}

/// Three-term recurrence (Saad, Iterative methods, 2nd ed., algorithm 12.1) with D^-1 A in place of A.
template <class T> void ChebyshevIteration<T>::set_coefficients() {
  const double delta = 0.5 * (upper_ - lower_), sigma = (upper_ + lower_) / (upper_ - lower_);
  const auto values = coefficients_.host_overwrite();
  values[0] = 0;
  values[1] = 2 / (upper_ + lower_);
  double rho = 1 / sigma;
  for (std::size_t k = 1; k < static_cast<std::size_t>(degree_); ++k) {
    const double next = 1 / (2 * sigma - rho);
    values[2 * k] = next * rho;
    values[2 * k + 1] = 2 * next / delta;
    rho = next;
  }
  const std::size_t behind = 2 * static_cast<std::size_t>(degree_);
  values[behind] = degree_ == 2 ? 1 + values[2] + values[3] / values[1] : 0;
  values[behind + 1] = degree_ == 2 ? values[3] : 0;
}

template <class T> bool ChebyshevIteration<T>::update(bool accepts_indefinite) {
  constexpr double most_change = 0.05;
  auto inverse = positive_inverse_diagonal(A_);
  const bool accepts = accepts_indefinite || is_indefinite_;
  const int few = std::min(parameters_.check_iterations, parameters_.estimate_iterations);
  const auto is_new = [&] {
    if (parameters_.upper > 0) return false;
    if (std::abs(estimate(inverse, few, accepts).checked - checked_) <= most_change * checked_) return false;
    set_interval(estimate(inverse, parameters_.estimate_iterations, accepts));
    return true;
  };
  const bool result = is_new();
  inverse_diagonal_ = converted<T>(std::move(inverse));
  return result;
}

template <class T> double ChebyshevIteration<T>::reduction() const {
  const double sigma = (upper_ + lower_) / (upper_ - lower_);
  return 1 / std::cosh(degree_ * std::acosh(sigma));
}

template <class T> void ChebyshevIteration<T>::apply(const Entries& r, Entries& z) const {
  if (is_fused_ && degree_ > 1) {
    const op::FusedLoop start(ops_.runner(), "chebyshev_start", coefficients_, 0, {inverse_diagonal_, r, direction_});
    const auto before = [&start](std::int64_t part, Ranges ranges) { start(part, ranges); };
    return degree_ == 2 ? second_of_two(z, before, true) : fused_steps(&r, z, before);
  }
  ops_.run("copy", {}, {r, residual_});
  ops_.run("fill", {0}, {z});
  iterate(z);
}

template <class T> void ChebyshevIteration<T>::smooth(const Entries& b, Entries& x) const {
  if (is_fused_) {
    const auto begin = [&](Entries& image, const op::FusedLoop& loop) {
      A_.apply_with(x, image,
                    {.before = {}, .after = [&loop](std::int64_t part, Ranges ranges) { loop(part, ranges); }});
    };
    if (degree_ == 1)
      return begin(image_, {ops_.runner(), "chebyshev_correct", coefficients_, 0, {inverse_diagonal_, b, image_, x}});
    if (degree_ == 2) {
      begin(direction_,
            {ops_.runner(), "chebyshev_restart_of_two", coefficients_, 0, {inverse_diagonal_, b, direction_}});
      return second_of_two(x, {}, false);
    }
    begin(residual_,
          {ops_.runner(), "chebyshev_restart", coefficients_, 0, {inverse_diagonal_, b, residual_, direction_}});
    return fused_steps(nullptr, x, {});
  }
  A_.apply(x, residual_);
  ops_.run("subtract_from", {}, {b, residual_});
  iterate(x);
}

template <class T>
void ChebyshevIteration<T>::second_of_two(Entries& x, const op::VectorWork::Function& start, bool is_from_zero) const {
  const std::size_t behind = 2 * static_cast<std::size_t>(degree_);
  const op::FusedLoop step(ops_.runner(), is_from_zero ? "chebyshev_second_from_zero" : "chebyshev_second_of_two",
                           coefficients_, behind, {inverse_diagonal_, image_, direction_, x});
  A_.apply_with(direction_, image_,
                {.before = start, .after = [&step](std::int64_t part, Ranges ranges) { step(part, ranges); }});
}

template <class T>
void ChebyshevIteration<T>::fused_steps(const Entries* right, Entries& x, const op::VectorWork::Function& start) const {
  const auto last = static_cast<std::size_t>(degree_) - 1;
  for (std::size_t k = 1; k <= last; ++k) {
    const auto loop = [&](std::string_view name, std::initializer_list<op::LoopOperand> operands) {
      return op::FusedLoop(ops_.runner(), name, coefficients_, 2 * k, operands);
    };
    const auto step = k == 1 && right != nullptr
                          ? loop("chebyshev_first_step", {inverse_diagonal_, image_, *right, residual_, direction_, x})
                          : loop(k == last ? "chebyshev_last_step" : "chebyshev_step",
                                 {inverse_diagonal_, image_, residual_, direction_, x});
    A_.apply_with(direction_, image_,
                  {.before = k == 1 ? start : nullptr,
                   .after = [&step](std::int64_t part, Ranges ranges) { step(part, ranges); }});
  }
}

template <class T> void ChebyshevIteration<T>::iterate(Entries& x) const {
  const auto coefficients = coefficients_.host_read();
  ops_.run("fill", {0}, {direction_});
  for (std::size_t k = 0;; ++k) {
    ops_.run("combine", {coefficients[2 * k], coefficients[2 * k + 1]}, {inverse_diagonal_, residual_, direction_});
    ops_.run("axpy", {1}, {direction_, x});
    if (k + 1 == static_cast<std::size_t>(degree_)) return;
    A_.apply(direction_, image_);
    ops_.run("axpy", {-1}, {image_, residual_});
  }
}

template class ChebyshevIteration<double>;
template class ChebyshevIteration<float>;

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/degree.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>
#include <rafter/form/printer.hpp>
#include <rafter/form/walk.hpp>

namespace rafter::form {

namespace {

constexpr long long max_degree = 1000; // no form needs more; the bound keeps products of degrees small

DegreeEstimate bounded(long long degree, bool is_exact) {
  return {static_cast<int>(std::clamp(degree, 0LL, max_degree)), is_exact};
}

bool is_constant(DegreeEstimate estimate) { return estimate.degree == 0 && estimate.is_exact; }

class DegreeEstimator {
public:
  struct Entry {
    DegreeEstimate estimate;
    bool is_simplex = true; ///< all fields and arguments live on simplices
  };

  const Entry& operator()(const Expr& e) {
    const auto known = memo_.find(&e.node());
    if (known != memo_.end()) return known->second;
    Entry entry;
    for (const auto& operand : e.operands()) entry.is_simplex = (*this)(operand).is_simplex && entry.is_simplex;
    if (e.node().space) entry.is_simplex = e.node().space->is_simplex;
    entry.estimate = estimated(e, entry.is_simplex);
    return memo_[&e.node()] = entry;
  }

private:
  DegreeEstimate of(const Expr& e, std::size_t i) { return (*this)(e.operand(i)).estimate; }

  DegreeEstimate terminal(const Expr& e) {
    if (e.node().space) return {e.node().space->degree, true};
    return {e.kind() == NodeKind::coordinate ? 1 : 0, true};
  }

  DegreeEstimate largest(const Expr& e, std::size_t first, bool is_exact) {
    DegreeEstimate result{0, is_exact};
    for (std::size_t i = first; i < e.operands().size(); ++i) {
      const DegreeEstimate operand = of(e, i);
      result = {std::max(result.degree, operand.degree), result.is_exact && operand.is_exact};
    }
    return result;
  }

  DegreeEstimate sum(const Expr& e, int extra) {
    long long degree = extra;
    bool is_exact = extra == 0;
    for (std::size_t i = 0; i < e.operands().size(); ++i) {
      degree += of(e, i).degree;
      is_exact = is_exact && of(e, i).is_exact;
    }
    return bounded(degree, is_exact);
  }

  /// Degree of a function that is no polynomial: a guess, unless its operands are constant.
  DegreeEstimate guessed(const Expr& e) {
    const DegreeEstimate operands = sum(e, 0);
    return is_constant(operands) ? operands : sum(e, 2);
  }

  DegreeEstimate power(const Expr& e) {
    const Expr& exponent = e.operand(1);
    const double n = exponent.node().value;
    if (exponent.kind() != NodeKind::literal || n < 0 || n != std::floor(n)) return guessed(e);
    const long long factor = static_cast<long long>(std::min(n, static_cast<double>(max_degree)));
    return bounded(of(e, 0).degree * factor, of(e, 0).is_exact);
  }

  DegreeEstimate quotient(const Expr& e) {
    const DegreeEstimate divisor = of(e, 1);
    return is_constant(divisor) ? of(e, 0) : sum(e, 2);
  }

  /// Degree of a Gateaux derivative: in each product, one factor that is the field becomes the direction.
  DegreeEstimate gateaux(const Expr& e) {
    const DegreeEstimate value = of(e, 0);
    const int gain = std::max(0, of(e, 2).degree - of(e, 1).degree);
    return bounded(value.degree + gain, value.is_exact && of(e, 2).is_exact);
  }

  DegreeEstimate estimated(const Expr& e, bool is_simplex) {
    switch (e.kind()) {
    case NodeKind::list:
    case NodeKind::component:
    case NodeKind::add:
    case NodeKind::sub:
    case NodeKind::neg:
    case NodeKind::transpose:
    case NodeKind::tr:
    case NodeKind::dev:
    case NodeKind::sym:
    case NodeKind::skew:
      return largest(e, 0, true);
    case NodeKind::mul:
    case NodeKind::inner:
    case NodeKind::dot:
    case NodeKind::outer:
    case NodeKind::cross:
      return sum(e, 0);
    case NodeKind::div:
      return quotient(e);
    case NodeKind::pow:
      return power(e);
    case NodeKind::cofac:
      return bounded(static_cast<long long>(of(e, 0).degree) * (e.operand(0).shape()[0] - 1), of(e, 0).is_exact);
    case NodeKind::det:
      return bounded(static_cast<long long>(of(e, 0).degree) * e.operand(0).shape()[0], of(e, 0).is_exact);
    case NodeKind::grad:
    case NodeKind::divergence:
    case NodeKind::curl:
      // The derivative of a guessed function is no smoother than the function.
      return bounded(of(e, 0).degree - (is_simplex && of(e, 0).is_exact ? 1 : 0), of(e, 0).is_exact);
    case NodeKind::derivative:
      return gateaux(e);
    case NodeKind::conditional:
      return largest(e, 1, is_constant(of(e, 0))); // a constant condition picks a branch
    case NodeKind::abs:
    case NodeKind::min_value:
    case NodeKind::max_value:
      return largest(e, 0, is_constant(largest(e, 0, true)));
    default:
      return e.operands().empty() ? terminal(e) : guessed(e);
    }
  }

  std::unordered_map<const ExprNode*, Entry> memo_;
};

} // namespace

DegreeEstimate estimate_degree(const Expr& e) { return DegreeEstimator()(e).estimate; }

int max_field_degree(const Expr& e) {
  int highest = 0;
  walk({e}, [&highest](const Expr& node) {
    if (node.node().space) highest = std::max(highest, node.node().space->degree);
    return true;
  });
  return highest;
}

int default_degree_cap(const LoweredIntegral& integral) {
  constexpr int without_fields = 12;
  return integral.max_field_degree == 0 ? without_fields : 2 * integral.max_field_degree + 4;
}

QuadratureChoice choose_quadrature_degree(const LoweredIntegral& integral, int cap) {
  if (integral.measure.degree >= 0)
    return {integral.measure.degree, integral.measure.degree < integral.degree,
            fmt::format("degree {} asked for in the form (estimated {})", integral.measure.degree, integral.degree)};
  if (cap < 0) cap = default_degree_cap(integral);
  const char* kind = integral.is_degree_exact ? "exact for affine cells" : "a guess: not polynomial";
  int degree = integral.degree;
  auto explanation = fmt::format("degree {} estimated ({})", degree, kind);
  const int least = integral.is_degree_exact ? 0 : 2 * integral.max_field_degree;
  if (degree < least) {
    degree = least;
    explanation += fmt::format(", raised to {}: twice the degree of the fields", least);
  }
  if (degree <= cap) return {degree, false, explanation};
  return {cap, true, fmt::format("{}, capped at {}", explanation, cap)};
}

} // namespace rafter::form

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/quadrature.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/element/basis.hpp>
#include <rafter/element/symmetric_rules.hpp>

namespace rafter::element {
namespace {

/// Points and weights are computed in extended precision where the machine has it, and rounded once.
using Real = long double;

struct Jacobi {
  Real value, previous; ///< values of P_n and P_(n-1)
};

/// P_n^(alpha,0) at x by the three-term recurrence, n >= 1.
Jacobi jacobi(int degree, Real a, Real x) {
  Real previous = 1, value = ((a + 2) * x + a) / 2;
  for (int n = 1; n < degree; ++n) {
    const Real c = 2 * n + a;
    const Real next = ((c + 1) * ((c + 2) * c * x + a * a) * value - 2 * n * (n + a) * (c + 2) * previous) /
                      (2 * (n + 1) * (n + a + 1) * c);
    previous = value;
    value = next;
  }
  return {value, previous};
}

/// (1 - x^2) times the derivative of P_n^(alpha,0).
Real scaled_derivative(int n, Real a, Real x, const Jacobi& p) {
  return (n * (a - (2 * n + a) * x) * p.value + 2 * (n + a) * n * p.previous) / (2 * n + a);
}

/// Zeros of P_n^(alpha,0), ascending, by Newton's method from Chebyshev points, with zeros that are already known
/// divided out (Karniadakis and Sherwin, Spectral/hp Element Methods, appendix B).
std::vector<Real> jacobi_zeros(int n, Real a) {
  std::vector<Real> zeros;
  for (int i = 0; i < n; ++i) {
    Real x = -std::cos(std::numbers::pi_v<Real> * (2 * i + 1) / (2 * n));
    if (i > 0) x = (x + zeros.back()) / 2;
    for (int iteration = 0; iteration < 100; ++iteration) {
      const Jacobi p = jacobi(n, a, x);
      Real poles = 0;
      for (const Real zero : zeros) poles += 1 / (x - zero);
      const Real step = p.value / (scaled_derivative(n, a, x, p) / ((1 - x) * (1 + x)) - poles * p.value);
      x -= step;
      if (std::abs(step) < 1e-18L) break;
    }
    zeros.push_back(x);
  }
  std::ranges::sort(zeros);
  return zeros;
}

/// Makes a rule that is symmetric about 0 up to rounding exactly symmetric.
void symmetrise(Rule1D& rule) {
  const std::size_t n = rule.points.size();
  for (std::size_t i = 0; i < n / 2; ++i) {
    rule.points[i] = -rule.points[n - 1 - i];
    rule.weights[i] = rule.weights[n - 1 - i];
  }
  if (n % 2 == 1) rule.points[n / 2] = 0;
}

Quadrature tensor_rule(Shape shape, int degree, const Rule1D& line) {
  return product_quadrature(shape, degree, std::vector<Rule1D>(static_cast<std::size_t>(dimension(shape)), line));
}

/// Rule on the product of two shapes; points of the first run fastest.
Quadrature product_rule(Shape shape, const Quadrature& first, const Quadrature& second) {
  Quadrature result{shape, std::min(first.degree, second.degree), {}, {}, {}};
  const int first_dim = dimension(first.shape), second_dim = dimension(second.shape);
  for (int j = 0; j < second.num_points(); ++j)
    for (int i = 0; i < first.num_points(); ++i) {
      const auto a = first.points.begin() + i * first_dim, b = second.points.begin() + j * second_dim;
      result.points.insert(result.points.end(), a, a + first_dim);
      result.points.insert(result.points.end(), b, b + second_dim);
      result.weights.push_back(first.weights[i] * second.weights[j]);
    }
  return result;
}

/// Conical product rule (Stroud): Gauss-Jacobi rules in collapsed coordinates, where the Jacobi weight is the Jacobian
/// of the collapse. On simplices axis k shrinks with all later axes, on pyramids the first two shrink with the third.
Quadrature collapsed_rule(Shape shape, int n) {
  const int dim = dimension(shape);
  const bool is_pyramid = shape == Shape::pyramid;
  std::array<Rule1D, 3> lines;
  double scale = 1; // the Jacobian is a power of (1-x)/2, the Jacobi weight one of 1-x
  std::size_t total = 1;
  for (int k = 0; k < dim; ++k) {
    const int alpha = is_pyramid && k == 1 ? 0 : k;
    lines[k] = gauss_jacobi(n, alpha);
    scale = std::ldexp(scale, -alpha);
    total *= static_cast<std::size_t>(n);
  }
  Quadrature result{shape, 2 * n - 1, {}, {}, {}};
  for (std::size_t q = 0; q < total; ++q) {
    std::array<double, 3> point{};
    double weight = scale;
    std::size_t index = q;
    for (int k = 0; k < dim; ++k, index /= n) {
      point[k] = lines[k].points[index % n];
      weight *= lines[k].weights[index % n];
      const double section = 0.5 * (1 - point[k]);
      for (int earlier = is_pyramid && k == 1 ? k : 0; earlier < k; ++earlier)
        point[earlier] = (1 + point[earlier]) * section - 1;
    }
    result.points.insert(result.points.end(), point.begin(), point.begin() + dim);
    result.weights.push_back(weight);
  }
  return result;
}

void check_range(std::string_view what, int value, int lowest, int highest) {
  if (value < lowest || value > highest)
    throw base::InputError("quadrature: " + std::string(what) + " " + std::to_string(value) + " is not in " +
                           std::to_string(lowest) + " .. " + std::to_string(highest));
}

/// The rule on a point: one point of weight 1.
Quadrature point_rule(int degree) { return {Shape::point, degree, {}, {1.}, {}}; }

} // namespace

Rule1D gauss_jacobi(int num_points, double alpha) {
  if (num_points < 1 || alpha < 0) throw base::InternalError("quadrature: Gauss-Jacobi needs a point and alpha >= 0");
  Rule1D rule;
  const Real a = alpha;
  for (const Real x : jacobi_zeros(num_points, a)) {
    const Real derivative = scaled_derivative(num_points, a, x, jacobi(num_points, a, x));
    rule.points.push_back(static_cast<double>(x));
    rule.weights.push_back(
        static_cast<double>(std::pow(Real(2), a + 1) * (1 - x) * (1 + x) / (derivative * derivative)));
  }
  if (alpha == 0) symmetrise(rule);
  return rule;
}

Rule1D gauss_lobatto(int num_points) {
  if (num_points < 2) throw base::InternalError("quadrature: Gauss-Lobatto needs two points");
  const int n = num_points - 1;
  Rule1D rule;
  for (int i = 0; i <= n; ++i) {
    Real x = -std::cos(std::numbers::pi_v<Real> * i / n);
    Jacobi p = jacobi(n, 0, x);
    for (int iteration = 0; iteration < 100; ++iteration) { // Newton's method for (1-x^2) P_n'
      const Real step = (x * p.value - p.previous) / ((n + 1) * p.value);
      x -= step;
      p = jacobi(n, 0, x);
      if (std::abs(step) < 1e-18L) break;
    }
    rule.points.push_back(static_cast<double>(x));
    rule.weights.push_back(static_cast<double>(2 / (n * (n + 1) * p.value * p.value)));
  }
  symmetrise(rule);
  return rule;
}

Quadrature product_quadrature(Shape shape, int degree, std::vector<Rule1D> lines) {
  Quadrature result{shape, degree, {}, {}, {}};
  std::size_t total = 1;
  for (const auto& line : lines) total *= line.points.size();
  for (std::size_t q = 0; q < total; ++q) {
    double weight = 1;
    std::size_t index = q;
    for (const auto& line : lines) {
      const std::size_t n = line.points.size();
      result.points.push_back(line.points[index % n]);
      weight *= line.weights[index % n];
      index /= n;
    }
    result.weights.push_back(weight);
  }
  result.lines = std::move(lines);
  return result;
}

Quadrature make_quadrature_with_points(Shape shape, int num_points, QuadratureKind kind) {
  if (shape == Shape::point) return point_rule(max_quadrature_degree);
  const bool is_gll = kind == QuadratureKind::gll && is_tensor(shape);
  check_range("number of points per direction", num_points, is_gll ? 2 : 1,
              max_quadrature_degree / 2 + (is_gll ? 2 : 1));
  if (is_tensor(shape))
    return is_gll ? tensor_rule(shape, 2 * num_points - 3, gauss_lobatto(num_points))
                  : tensor_rule(shape, 2 * num_points - 1, gauss_jacobi(num_points, 0));
  if (shape == Shape::prism)
    return product_rule(shape, make_quadrature_with_points(Shape::triangle, num_points),
                        make_quadrature_with_points(Shape::interval, num_points));
  return collapsed_rule(shape, num_points);
}

Quadrature make_quadrature(Shape shape, int degree, QuadratureKind kind) {
  check_range("degree", degree, 0, max_quadrature_degree);
  if (shape == Shape::point) return point_rule(degree);
  if (is_tensor(shape) && kind == QuadratureKind::gll)
    return make_quadrature_with_points(shape, std::max(2, (degree + 4) / 2), kind);
  if (shape == Shape::prism)
    return product_rule(shape, make_quadrature(Shape::triangle, degree), make_quadrature(Shape::interval, degree));
  const auto size = std::pow(degree / 2 + 1, dimension(shape)); // number of points of the tensor or collapsed rule
  if (auto symmetric = symmetric_rule(shape, degree); symmetric && symmetric->num_points() <= size) return *symmetric;
  return make_quadrature_with_points(shape, degree / 2 + 1);
}

} // namespace rafter::element

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/basis.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::element {
namespace {

/// A value with its gradient; arithmetic on both differentiates the recurrences while they are evaluated.
struct Jet {
  double value = 0;
  std::array<double, 3> gradient{};
};

Jet operator*(const Jet& a, const Jet& b) {
  Jet result{a.value * b.value, {}};
  for (int i = 0; i < 3; ++i) result.gradient[i] = a.gradient[i] * b.value + a.value * b.gradient[i];
  return result;
}
Jet operator*(double s, const Jet& a) {
  return {s * a.value, {s * a.gradient[0], s * a.gradient[1], s * a.gradient[2]}};
}
Jet operator+(const Jet& a, const Jet& b) {
  Jet result{a.value + b.value, {}};
  for (int i = 0; i < 3; ++i) result.gradient[i] = a.gradient[i] + b.gradient[i];
  return result;
}

Jet constant(double value) { return {value, {}}; }
Jet coordinate(double value, int axis) {
  Jet result{value, {}};
  result.gradient[axis] = 1;
  return result;
}

/// Homogenised Jacobi polynomials t^n P_n^(alpha,0)(u/t), n = 0..degree, scaled to unit norm under the weight
/// ((1-x)/2)^alpha for t = 1.
std::vector<Jet> homogenised_jacobi(int degree, int alpha, const Jet& u, const Jet& t) {
  std::vector<Jet> result(static_cast<std::size_t>(degree) + 1);
  const double a = alpha;
  result[0] = constant(1);
  if (degree > 0) result[1] = (a / 2 + 1) * u + (a / 2) * t;
  const Jet t_squared = t * t;
  for (int n = 1; n < degree; ++n) {
    const double divisor = 2. * (n + 1) * (n + a + 1) * (2 * n + a), middle = 2 * n + a + 1;
    const Jet linear = (middle * (2 * n + a + 2) * (2 * n + a) / divisor) * u + (middle * a * a / divisor) * t;
    result[n + 1] = linear * result[n] + (-2. * n * (n + a) * (2 * n + a + 2) / divisor) * (t_squared * result[n - 1]);
  }
  for (int n = 0; n <= degree; ++n) result[n] = std::sqrt((2 * n + a + 1) / 2) * result[n];
  return result;
}

/// Number of monomials of total degree <= degree in dim variables.
int simplex_size(int dim, int degree) {
  int result = 1;
  for (int k = 1; k <= dim; ++k) result = result * (degree + k) / k;
  return degree < 0 ? 0 : result;
}

/// Position in the hierarchical basis of the function with these degrees per axis: functions are sorted by total
/// degree, then by the total of all axes but the first, and so on.
int simplex_index(std::span<const int> degrees) {
  int result = 0, tail = 0;
  for (std::size_t k = degrees.size(); k-- > 0;) {
    tail += degrees[k];
    result += simplex_size(static_cast<int>(degrees.size() - k), tail - 1);
  }
  return result;
}

/// Orthonormal basis on a simplex: products of one homogenised Jacobi polynomial per axis. The scale t of an axis is
/// the size of the simplex's section there, 1 - sum over later axes of (1+x)/2; alpha grows by the degrees of the axes
/// before.
struct SimplexBasis {
  int dim, degree;
  std::vector<Jet> u, t;
  std::vector<int> degrees;

  SimplexBasis(int d, int p, std::span<const double> point) : dim(d), degree(p), u(d), t(d), degrees(d) {
    Jet section = constant(1);
    for (int k = dim - 1; k >= 0; --k) {
      const Jet x = coordinate(point[k], k);
      t[k] = section;
      u[k] = x + constant(1) + (-1.) * section;
      section = section + (-0.5) * (x + constant(1));
    }
  }

  void evaluate(int axis, int used, const Jet& product, std::span<Jet> out) {
    if (axis == dim) {
      out[simplex_index(degrees)] = product;
      return;
    }
    const auto factor = homogenised_jacobi(degree - used, 2 * used + axis, u[axis], t[axis]);
    for (int n = 0; n <= degree - used; ++n) {
      degrees[axis] = n;
      evaluate(axis + 1, used + n, product * factor[n], out);
    }
  }
};

/// The factor t^max(i,j) P_i(a) P_j(b) of a pyramid's function, with t = (1-z)/2 and 1 + a = (1+x)/t. The derivatives
/// of a and b contain 1/t, which is cancelled against the power of t by hand, so that the apex is not singular.
Jet pyramid_section(const Jet& p, const Jet& q, int power, double a, double b, double t) {
  if (power == 0) return constant(p.value * q.value);
  const double scale = std::pow(t, power - 1);
  const double dx = p.gradient[0] * q.value, dy = p.value * q.gradient[0];
  const double dz = 0.5 * ((1 + a) * dx + (1 + b) * dy - power * p.value * q.value);
  return {scale * t * p.value * q.value, {scale * dx, scale * dy, scale * dz}};
}

void evaluate_pyramid(int degree, std::span<const double> point, std::span<Jet> out) {
  const double t = 0.5 * (1 - point[2]);
  const bool at_apex = std::abs(t) < 1e-14;
  const double a = at_apex ? 0 : (1 + point[0]) / t - 1, b = at_apex ? 0 : (1 + point[1]) / t - 1;
  const auto p = homogenised_jacobi(degree, 0, coordinate(a, 0), constant(1));
  const auto q = homogenised_jacobi(degree, 0, coordinate(b, 0), constant(1));
  for (int m = 0; m <= degree; ++m) {
    const auto r = homogenised_jacobi(degree - m, 2 * m + 2, coordinate(point[2], 2), constant(1));
    for (int n = 0; n <= 2 * m; ++n) { // the pairs (i,j) with max(i,j) = m
      const int i = n <= m ? m : n - m - 1, j = n <= m ? n : m;
      const Jet section = pyramid_section(p[i], q[j], m, a, b, t);
      for (int k = 0; k <= degree - m; ++k) {
        const int total = m + k, lower = total * (total + 1) * (2 * total + 1) / 6;
        out[lower + m * m + n] = section * r[k];
      }
    }
  }
}

Table tabulate_factor(Shape shape, int degree, std::span<const double> points) {
  const int dim = dimension(shape), num_functions = num_basis_functions(shape, degree);
  const int num_points = static_cast<int>(points.size()) / dim;
  Table table{dim, num_points, num_functions, {}};
  const auto stride = static_cast<std::size_t>(num_points) * num_functions;
  table.values.resize((dim + 1) * stride);
  std::vector<Jet> functions(num_functions);
  for (int q = 0; q < num_points; ++q) {
    const auto point = points.subspan(static_cast<std::size_t>(q) * dim, dim);
    if (shape == Shape::pyramid)
      evaluate_pyramid(degree, point, functions);
    else
      SimplexBasis(dim, degree, point).evaluate(0, 0, constant(1), functions);
    for (int i = 0; i < num_functions; ++i) {
      double* entry = &table.values[static_cast<std::size_t>(q) * num_functions + i];
      entry[0] = functions[i].value;
      for (int d = 0; d < dim; ++d) entry[(d + 1) * stride] = functions[i].gradient[d];
    }
  }
  return table;
}

} // namespace

std::vector<Shape> factors(Shape shape) {
  if (is_tensor(shape)) return std::vector<Shape>(dimension(shape), Shape::interval);
  if (shape == Shape::prism) return {Shape::triangle, Shape::interval};
  return {shape};
}

int num_basis_functions(Shape shape, int degree) {
  int result = 1;
  for (const Shape factor : factors(shape))
    result *= factor == Shape::pyramid ? (degree + 1) * (degree + 2) * (2 * degree + 3) / 6
                                       : simplex_size(dimension(factor), degree);
  return result;
}

Table tabulate_jacobi(int degree, int alpha, int power, std::span<const double> points) {
  const auto num_points = points.size(), num_functions = static_cast<std::size_t>(degree) + 1;
  Table table{1, static_cast<int>(num_points), degree + 1, {}};
  table.values.resize(2 * num_points * num_functions);
  for (std::size_t q = 0; q < num_points; ++q) {
    const Jet x = coordinate(points[q], 0);
    Jet scale = constant(1);
    for (int k = 0; k < power; ++k) scale = scale * (constant(0.5) + (-0.5) * x);
    const auto polynomials = homogenised_jacobi(degree, alpha, x, constant(1));
    for (std::size_t n = 0; n < num_functions; ++n) {
      const Jet value = scale * polynomials[n];
      table.values[q * num_functions + n] = value.value;
      table.values[(num_points + q) * num_functions + n] = value.gradient[0];
    }
  }
  return table;
}

Table product(const Table& first, const Table& second) {
  Table result{first.dim + second.dim, first.num_points, first.num_dofs * second.num_dofs, {}};
  result.values.resize(static_cast<std::size_t>(result.dim + 1) * result.num_points * result.num_dofs);
  double* entry = result.values.data();
  for (int d = 0; d <= result.dim; ++d) {
    const int of_first = d <= first.dim ? d : 0, of_second = d <= first.dim ? 0 : d - first.dim;
    for (int q = 0; q < result.num_points; ++q) {
      const auto row = [q](const Table& table, int derivative) {
        return &table.values[(static_cast<std::size_t>(derivative) * table.num_points + q) * table.num_dofs];
      };
      const double *a = row(first, of_first), *b = row(second, of_second);
      for (int j = 0; j < second.num_dofs; ++j)
        for (int i = 0; i < first.num_dofs; ++i) *entry++ = a[i] * b[j];
    }
  }
  return result;
}

std::vector<double> axes_of(std::span<const double> points, int dim, int begin, int count) {
  std::vector<double> result;
  result.reserve(points.size() / dim * count);
  for (std::size_t row = 0; row < points.size(); row += dim)
    result.insert(result.end(), points.begin() + row + begin, points.begin() + row + begin + count);
  return result;
}

Table tabulate_orthonormal(Shape shape, int degree, std::span<const double> points) {
  Table result;
  int axis = 0;
  for (const Shape factor : factors(shape)) {
    const int dim = dimension(factor);
    const Table table = tabulate_factor(factor, degree, axes_of(points, dimension(shape), axis, dim));
    result = axis == 0 ? table : product(result, table);
    axis += dim;
  }
  return result;
}

} // namespace rafter::element

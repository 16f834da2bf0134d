// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/trust.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <rafter/base/parallel.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/solve/near_null_space.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {
namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the size of d = A^-1 w relative to x. Equations of constrained entries are exact.
double response(const SolvedSystem& system, Vector& w, const Vector& x) {
  const auto entries = w.host_write();
  for (const auto i : system.A.constrained_entries()) entries[static_cast<std::size_t>(i)] = 0;
  Vector d(w.device(), w.size());
  VectorOps(system.A).fill(0, d);
  if (!system.inverse(w, d)) return infinity;
  const auto scales = &x == &system.x ? system.scales : std::span<const double>{};
  return relative_size(system.A, d, x, system.field_offsets, scales);
}

/// Returns the response to a rounding of the diagonal in one direction.
double response_to_diagonal(const SolvedSystem& system, const Vector& diagonal, const Vector& x) {
  Vector w(x.device(), x.size());
  const VectorOps ops(system.A);
  ops.fill(0, w);
  ops.multiply(diagonal, x, w);
  ops.scale(rounding, w);
  return response(system, w, x);
}

Vector diagonal_of(const SolvedSystem& system) {
  const auto size = static_cast<std::size_t>(system.A.size());
  Vector result(system.A.device(), size);
  if (system.matrix == nullptr) {
    system.A.diagonal(result);
    return result;
  }
  const auto entries = result.host_overwrite();
  for (std::size_t i = 0; i < size; ++i)
    entries[i] = (*system.matrix)(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i));
  return result;
}

/// Returns the 2-norms of a vector's fields, shape (field).
std::vector<double> largest_values(const op::System& system, std::span<const double> values) {
  std::vector<double> result;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    double largest = 0;
    const auto range = system.entries(f);
    for (auto i = range.begin; i < range.end; ++i)
      largest = std::max(largest, std::abs(values[static_cast<std::size_t>(i)]));
    result.push_back(largest);
  }
  return result;
}

/// Applies the operator of a form, without conditions, to the constants and rotations of its fields, as large as the
/// solution, and returns the sum of the images: rounding alone where the form has derivatives only. Returns nothing
/// where one of them is more.
std::optional<Vector> images_of_rigid_modes(const op::Operator& A, const Vector& x, const Vector& diagonal) {
  constexpr double most_rounding = 1e-12;
  const VectorOps ops(A);
  const auto largest = largest_values(A.system(), x.host_read());
  Vector sum = A.make_vector(), m = A.make_vector(), image = A.make_vector(), scaled = A.make_vector();
  ops.fill(0, sum);
  for (const auto& mode : make_near_null_space(A.system()).modes) {
    const auto of_mode = largest_values(A.system(), mode);
    double scale = 0;
    for (std::size_t f = 0; f < of_mode.size(); ++f)
      if (of_mode[f] > 0) scale = std::max(scale, largest[f] / of_mode[f]);
    const auto entries = m.host_overwrite();
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = scale * mode[i];
    A.apply_free(m, image);
    ops.multiply(diagonal, m, scaled);
    if (!(ops.norm(image) <= most_rounding * ops.norm(scaled))) return std::nullopt;
    ops.axpy(1, image, sum);
  }
  return sum;
}

/// Returns the difference of two products A x that round differently, with the factor 3/4 on all numbers of one.
Vector rounding_of_product(const op::LinearOperator& A, const Vector& x) {
  constexpr double factor = 0.75;
  const VectorOps ops(A);
  Vector image(A.device(), x.size()), scaled(A.device(), x.size()), other(A.device(), x.size());
  A.apply(x, image);
  ops.copy(x, scaled);
  ops.scale(factor, scaled);
  A.apply(scaled, other);
  ops.axpy(-1 / factor, other, image);
  return image;
}

/// Returns the largest |d_i| of each field, shape (field), of all processes; infinite where an entry is not finite.
std::vector<double> largest_of_fields(const op::LinearOperator& A, const Vector& d,
                                      std::span<const std::int64_t> field_offsets) {
  const std::vector<std::int64_t> whole{0, static_cast<std::int64_t>(d.size())};
  const auto offsets = field_offsets.empty() ? std::span<const std::int64_t>(whole) : field_offsets;
  std::vector<double> largest(offsets.size() - 1, 0.0);
  const auto values = d.host_read();
  for (std::size_t field = 0; field < largest.size(); ++field)
    for (const auto& range : A.owned_ranges())
      for (auto i = std::max<std::int64_t>(range.begin, offsets[field]);
           i < std::min<std::int64_t>(range.end, offsets[field + 1]); ++i) {
        const double size = std::abs(values[static_cast<std::size_t>(i)]);
        largest[field] = std::max(largest[field], std::isfinite(size) ? size : infinity);
      }
  A.communicator()->max(largest);
  return largest;
}

} // namespace

void subtract_product(const op::SparseMatrix& A, std::span<const double> x, std::span<const double> b,
                      std::span<double> r) {
  base::Parts(A.num_rows()).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      double sum = b[row], rest = 0;
      for (auto k = static_cast<std::size_t>(A.row_offsets[row]); k < static_cast<std::size_t>(A.row_offsets[row + 1]);
           ++k) {
        const double a = -A.values[k], value = x[static_cast<std::size_t>(A.columns[k])];
        const double product = a * value, product_rest = std::fma(a, value, -product);
        const double next = sum + product, added = next - sum;
        rest += ((sum - (next - added)) + (product - added)) + product_rest;
        sum = next;
      }
      r[row] = sum + rest;
    }
  });
}

double relative_size(const op::LinearOperator& A, const Vector& d, const Vector& x,
                     std::span<const std::int64_t> field_offsets, std::span<const double> scales) {
  const auto of_d = largest_of_fields(A, d, field_offsets), of_x = largest_of_fields(A, x, field_offsets);
  double result = 0;
  for (std::size_t field = 0; field < of_d.size(); ++field) {
    const double scale = !scales.empty() && scales[field] > 0 ? scales[field] : of_x[field];
    if (of_d[field] > 0) result = std::max(result, of_d[field] / scale);
  }
  return result;
}

std::vector<double> scales_of_vanishing_fields(const SolvedSystem& system) {
  constexpr unsigned stream = 9;
  constexpr double well_conditioned = 1e-6; // nine digits less than doubles have
  constexpr double most_roundings = 10;
  if (system.field_offsets.size() < 3 || system.matrix == nullptr) return {};
  const auto& A = system.A;
  const VectorOps ops(A);
  const Vector random = random_free_vector(A, stream);
  Vector w(A.device(), random.size()), v(A.device(), w.size()), r(A.device(), w.size());
  ops.copy(random, w);
  ops.fill(0, v);
  if (!system.inverse(w, v)) return {};
  A.apply(v, r);
  ops.subtract_from(random, r);
  if (!(response(system, r, v) <= well_conditioned)) return {};
  r = rounding_of_product(A, v);
  if (!(response(system, r, v) <= well_conditioned)) return {};

  const auto& matrix = *system.matrix;
  const auto forces = w.host_overwrite();
  const auto b = system.b.host_read(), x = system.x.host_read(), signs = random.host_read();
  for (std::size_t row = 0; row < forces.size(); ++row) {
    double sum = std::abs(b[row]);
    for (auto k = static_cast<std::size_t>(matrix.row_offsets[row]);
         k < static_cast<std::size_t>(matrix.row_offsets[row + 1]); ++k)
      sum += std::abs(matrix.values[k] * x[static_cast<std::size_t>(matrix.columns[k])]);
    forces[row] = std::copysign(sum, signs[row]);
  }
  for (const auto i : A.constrained_entries()) forces[static_cast<std::size_t>(i)] = 0;
  ops.fill(0, v);
  if (!system.inverse(w, v)) return {};
  auto scales = largest_of_fields(A, v, system.field_offsets);
  const auto of_x = largest_of_fields(A, system.x, system.field_offsets);
  for (std::size_t field = 0; field < scales.size(); ++field)
    if (!(of_x[field] <= most_roundings * rounding * scales[field])) scales[field] = 0;
  return scales;
}

double estimate_error(const SolvedSystem& system) {
  constexpr unsigned stream = 7;
  constexpr double safety = 4;          // what is found are samples of errors
  constexpr double least_error = 1e-12; // loads and functionals have rounding errors, too
  const auto& A = system.A;
  const auto diagonal = diagonal_of(system);
  Vector w = rounding_of_product(A, system.x);
  const Vector random = random_free_vector(A, stream);
  const auto entries = w.host_write();
  const auto b = system.b.host_read(), factors = random.host_read();
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] += rounding * factors[i] * b[i];
  const double of_products = response(system, w, system.x);
  A.apply(system.x, w);
  VectorOps(A).subtract_from(system.b, w);
  const double of_residual = response(system, w, system.x);
  const auto* form = dynamic_cast<const op::Operator*>(&A);
  auto images = form != nullptr ? images_of_rigid_modes(*form, system.x, diagonal) : std::nullopt;
  const double of_modes =
      images ? response(system, *images, system.x) : response_to_diagonal(system, diagonal, system.x);
  return std::max(least_error, safety * std::max({of_products, of_residual, of_modes}));
}

bool is_singular_to_rounding(const SolvedSystem& system) {
  constexpr unsigned stream = 8;
  constexpr double most_of_correction = 0.5, most_of_rounding = 0.1;
  const auto& A = system.A;
  const VectorOps ops(A);
  Vector w = random_free_vector(A, stream), v(A.device(), w.size()), r(A.device(), w.size());
  ops.fill(0, v);
  if (!system.inverse(w, v)) return true;
  A.apply(v, r);
  ops.subtract_from(w, r);
  if (!(response(system, r, v) <= most_of_correction)) return true;
  r = rounding_of_product(A, v);
  return !(response(system, r, v) <= most_of_rounding);
}

bool has_inverse_image(const SolvedSystem& system) {
  const VectorOps ops(system.A);
  Vector w(system.x.device(), system.x.size());
  ops.fill(0, w);
  ops.copy(system.x, w);
  return std::isfinite(response(system, w, system.x));
}

std::string describe_trust(double relative_error) {
  const int digits = std::max(0, static_cast<int>(-std::log10(relative_error)));
  const auto trusted = digits == 0   ? std::string("no digit of the solution is")
                       : digits == 1 ? std::string("one digit of the solution is")
                                     : fmt::format("{} digits of the solution are", digits);
  return fmt::format("{} to be trusted: rounding errors may change it by {:.1e} of the largest value of a field{}",
                     trusted, relative_error,
                     relative_error > least_reported_error ? ", since the operator is ill conditioned" : "");
}

} // namespace rafter::solvers

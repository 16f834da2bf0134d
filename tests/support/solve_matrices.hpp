// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

/// Small explicit matrices are operators on the host.
namespace rafter::test {

/// Returns a host device, the same for equal numbers of threads, so that loops over vectors are bound once.
inline std::shared_ptr<device::Device> memory_device(int num_threads = 1) {
  static std::mutex mutex;
  static std::map<int, std::shared_ptr<device::Device>> devices;
  const std::lock_guard lock(mutex);
  auto& device = devices[num_threads];
  if (device == nullptr) device = device::make_device("host", num_threads);
  return device;
}

inline device::Vector make_vector(const std::vector<double>& values, int num_threads = 1) {
  return {memory_device(num_threads), base::AlignedVector<double>(values.begin(), values.end())};
}

inline std::vector<double> values(const device::Vector& x) {
  const auto span = x.host_read();
  return {span.begin(), span.end()};
}

/// The matrix is dense and square, row-major.
class DenseMatrix final : public op::LinearOperator {
public:
  DenseMatrix(std::size_t n, const std::function<double(std::size_t, std::size_t)>& entry) : n_(n), entries_(n * n) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) entries_[i * n + j] = entry(i, j);
  }
  double operator()(std::size_t i, std::size_t j) const { return entries_[i * n_ + j]; }
  std::int64_t size() const override { return static_cast<std::int64_t>(n_); }
  std::shared_ptr<device::Device> device() const override { return device_; }
  void apply(const op::Vector& x, op::Vector& y) const override {
    ++num_applies;
    const auto in = x.host_read();
    const auto out = y.host_overwrite();
    for (std::size_t i = 0; i < n_; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n_; ++j) sum += (*this)(i, j) * in[j];
      out[i] = sum;
    }
  }
  void diagonal(op::Vector& d) const override {
    const auto out = d.host_overwrite();
    for (std::size_t i = 0; i < n_; ++i) out[i] = (*this)(i, i);
  }
  op::SparseMatrix sparse_matrix() const override {
    op::SparseMatrix result{.num_columns = size(), .row_offsets = {0}, .columns = {}, .values = {}};
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j)
        if ((*this)(i, j) != 0) {
          result.columns.push_back(static_cast<std::int32_t>(j));
          result.values.push_back((*this)(i, j));
        }
      result.row_offsets.push_back(result.num_entries());
    }
    return result;
  }
  op::Vector vector() const { return {device_, n_}; }
  op::Vector vector(const std::vector<double>& entries) const {
    return {device_, base::AlignedVector<double>(entries.begin(), entries.end())};
  }
  mutable int num_applies = 0;

private:
  std::size_t n_;
  std::vector<double> entries_;
  std::shared_ptr<device::Device> device_ = memory_device();
};

/// Returns the solution by Gaussian elimination with partial pivoting, to which iterative solvers are compared.
inline std::vector<double> direct_solution(const DenseMatrix& A, std::vector<double> b) {
  const std::size_t n = b.size();
  std::vector<std::vector<double>> rows(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) rows[i][j] = A(i, j);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(rows[i][k]) > std::abs(rows[pivot][k])) pivot = i;
    std::swap(rows[k], rows[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j < n; ++j) rows[i][j] -= factor * rows[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= rows[i][j] * b[j];
    b[i] /= rows[i][i];
  }
  return b;
}

inline std::vector<double> random_values(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> result(n);
  for (auto& value : result) value = 2.0 * generator() / 4294967296.0 - 1.0;
  return result;
}

/// Returns scaled finite differences of -u'' at n interior points, with eigenvalues 2 - 2 cos(k pi / (n + 1)).
inline DenseMatrix laplacian(std::size_t n) {
  return {n, [](std::size_t i, std::size_t j) { return i == j ? 2.0 : (i + 1 == j || j + 1 == i ? -1.0 : 0.0); }};
}

/// The matrix is singular, because of Neumann conditions at both ends, and its null space are the constants.
inline DenseMatrix neumann_laplacian(std::size_t n) {
  return {n, [n](std::size_t i, std::size_t j) {
            if (i == j) return i == 0 || i + 1 == n ? 1.0 : 2.0;
            return i + 1 == j || j + 1 == i ? -1.0 : 0.0;
          }};
}

/// Convection with upwinding and diffusion make the matrix non-symmetric.
inline DenseMatrix convection(std::size_t n, double speed) {
  return {n, [speed](std::size_t i, std::size_t j) {
            return i == j ? 2.0 + speed : (j + 1 == i ? -1.0 - speed : (i + 1 == j ? -1.0 : 0.0));
          }};
}

inline DenseMatrix diagonal_matrix(const std::vector<double>& entries) {
  return {entries.size(), [&](std::size_t i, std::size_t j) { return i == j ? entries[i] : 0.0; }};
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

} // namespace rafter::test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

namespace rafter::solvers {

/// The least-squares problem min |beta e_1 - H y| of GMRES, kept triangular by Givens rotations as columns arrive.
class Hessenberg {
public:
  explicit Hessenberg(double beta) : rhs_{beta} {}

  int size() const { return static_cast<int>(columns_.size()); }
  /// Column k (counted from 0) of H: k + 2 entries.
  void append(std::span<const double> column);
  /// Norm of the residual with the columns so far.
  double residual() const;
  /// y, shape (column). Columns from the first that is dependent on others are left out (y = 0).
  std::vector<double> solve() const;

private:
  std::vector<std::vector<double>> columns_; ///< upper triangle R
  std::vector<double> cosines_, sines_, rhs_;
};

} // namespace rafter::solvers

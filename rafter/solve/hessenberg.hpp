// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

namespace rafter::solvers {

/// The least-squares problem min |beta e_1 - H y| of GMRES, which Givens rotations keep triangular as columns arrive.
class Hessenberg {
public:
  explicit Hessenberg(double beta) : rhs_{beta} {}

  int size() const { return static_cast<int>(columns_.size()); }
  /// Appends column k of H (counted from 0), which has k + 2 entries.
  void append(std::span<const double> column);
  /// Norm of the residual with the columns so far.
  double residual() const;
  /// Returns y, shape (column). Columns from the first that depends on others are left out (y = 0 there).
  std::vector<double> solve() const;

private:
  std::vector<std::vector<double>> columns_; ///< upper triangle R
  std::vector<double> cosines_, sines_, rhs_;
};

} // namespace rafter::solvers

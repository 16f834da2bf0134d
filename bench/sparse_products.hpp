// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <bench/operators.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

/// Products of a sparse matrix with a vector that are written by hand, to compare assembled plans with.
namespace rafter::bench {

/// A product is one line of the table, with its own storage of the matrix.
struct SparseProduct {
  const char *name, *meaning;
  bool is_symmetric; ///< whether it holds one of a_ij and a_ji
  bool is_serial;    ///< whether it runs on one thread alone
};
/// "rows" are plain compressed rows, one sum per row; "triangle" holds the lower triangle and the diagonal of
/// compressed rows, with y_j += a_ij x_i beside y_i += a_ij x_j; "parts" does so in slices of 8 rows within parts of
/// successive rows, while what couples two parts is held twice, so that threads write no common entry and sums are the
/// same for any number of threads.
const std::vector<SparseProduct>& sparse_products();

/// Returns the product of that name, compiled by the device as kernels are, with bytes and operations; throws
/// InternalError when there is none. The matrix must be symmetric for those that are, and is copied.
Measured make_sparse_product(const std::string& name, const op::SparseMatrix& matrix,
                             const std::shared_ptr<device::Device>& device);

} // namespace rafter::bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/generate/sliced_pattern.hpp>
#include <rafter/operator/matrix/matrix_records.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>

/// Sums cell matrices of a bilinear form into the entries of a sparse matrix.
namespace rafter::op {

struct GeneratedMatrix;

/// Sums cell matrices into the entries of a pattern. The arguments of the constructor must outlive it, but for `data`.
class CellSum {
public:
  /// `unknowns` are those of the pattern. `data` holds the values of data fields and parameters; null stands for the
  /// values that parameters have in the form. Throws InternalError when the kernels are not compiled.
  CellSum(const GeneratedMatrix& built, const CellUnknowns& unknowns, const SlicedPattern& pattern,
          std::shared_ptr<FormData> data = nullptr);
  CellSum(const CellSum&) = delete; // columns refer to the kernels beside them
  CellSum& operator=(const CellSum&) = delete;

  /// Returns the entries of the matrix, in the places that the pattern gives them. Every entry gets its terms in the
  /// same order for any number of threads.
  base::AlignedVector<double> run() const;

private:
  void add(const CellMatrices& matrices, std::span<double> entries) const;
  void add_matrix(const MatrixRecords& records, std::int64_t first, const double* values,
                  std::span<double> entries) const;
  void add_whole_matrix(const MatrixRecords& records, std::int64_t first, const double* values,
                        std::span<double> entries) const;

  base::AlignedVector<double> by_unit_vectors() const;
  void add_column(int local, std::span<const double> column, std::span<double> entries) const;

  const GeneratedMatrix& built_;
  const CellUnknowns& unknowns_;
  const SlicedPattern& pattern_;
  FormKernels kernels_;
  std::vector<MatrixRecords> records_; ///< shape (kernel); empty where cell matrices are found column by column
  /// Says whether groups are single unknowns, all pairs have a place, and all couple; shape (kernel).
  std::vector<bool> are_whole_;
  std::unique_ptr<const MatrixColumns> columns_; ///< null: kernels write cell matrices
};

} // namespace rafter::op

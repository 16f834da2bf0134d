// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/sliced_pattern.hpp>

/// Cell matrices of a bilinear form, summed into the entries of a sparse matrix.
namespace rafter::op {

struct GeneratedMatrix;

/// Sums cell matrices into the entries of a pattern. What it is made of must outlive it.
class CellSum {
public:
  /// Kernels are compiled, else InternalError. `data`: values of data fields and parameters; null: there are none.
  CellSum(const GeneratedMatrix& built, const CellUnknowns& unknowns, const SlicedPattern& pattern,
          std::shared_ptr<FormData> data = nullptr);

  /// Entries of the matrix, in the places that the pattern gives them. Every entry gets its terms in the same order for
  /// any number of threads.
  base::AlignedVector<double> run() const;

private:
  /// Where the matrices of the cells of a kernel go.
  struct Target {
    std::vector<std::int32_t> places; ///< of a pair among the entries of a matrix, shape (row, column); -1: none
    std::vector<std::int32_t> cells;  ///< of a facet kernel: place of the first unknown, shape (batch, lane)
    std::size_t num_entries = 0;      ///< of a matrix, as the kernel writes it
    std::int32_t num_records = 1;     ///< schedule::num_matrix_records
    int cells_per_batch = 8;
    std::size_t range = 0; ///< CellUnknowns::blocks
  };
  Target target_of(std::size_t piece) const;
  std::int64_t cell_of(const Target& target, std::size_t piece, std::int32_t batch, int lane) const;
  void add(const CellMatrices& matrices, std::span<double> entries) const;
  void add_matrix(const Target& target, std::int64_t first, std::span<const double> values,
                  std::span<double> entries) const;

  base::AlignedVector<double> by_unit_vectors() const;
  bool set(int local, double value, Vector& unit) const;
  void add_column(int local, std::span<const double> column, std::span<double> entries) const;

  const GeneratedMatrix& built_;
  const CellUnknowns& unknowns_;
  const SlicedPattern& pattern_;
  FormKernels kernels_;
  std::vector<Target> targets_;              ///< of kernels of cell matrices
  std::vector<std::int32_t> broken_entries_; ///< unit vectors: entries of cell vectors, shape (place)
};

} // namespace rafter::op

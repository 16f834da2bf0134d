// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/generate/sliced_pattern.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>

/// Sums cell matrices of a bilinear form into the entries of a sparse matrix.
namespace rafter::op {

struct GeneratedBlock;
struct GeneratedMatrix;

/// Sums cell matrices into the entries of a pattern. The arguments of the constructor must outlive it, but for `data`.
class CellSum {
public:
  /// `unknowns` are those of the pattern. `data` holds the values of data fields and parameters; null stands for the
  /// values that parameters have in the form. Throws InternalError when the kernels are not compiled.
  CellSum(const GeneratedMatrix& built, const CellUnknowns& unknowns, const SlicedPattern& pattern,
          std::shared_ptr<FormData> data = nullptr);

  /// Returns the entries of the matrix, in the places that the pattern gives them. Every entry gets its terms in the
  /// same order for any number of threads.
  base::AlignedVector<double> run() const;

private:
  /// Says where the entries of the cell matrices of one kernel go.
  struct Target {
    /// Place of each pair of unknowns among the entries that the kernel writes for a cell, shape (group of the row,
    /// group of the column, row in the group, column in the group); -1: it writes none.
    std::vector<std::int32_t> places;
    bool is_whole = false; ///< groups are single unknowns, all pairs have a place, and all couple
    /// Facet kernels: place of the cell's first group in CellUnknowns, shape (batch, cell); else empty.
    std::vector<std::int32_t> cells;
    std::size_t num_entries = 0; ///< number of entries that the kernel writes for a cell
    /// Number of batches whose matrices an output holds at a time, see schedule::num_matrix_records.
    std::int32_t num_records = 1;
    int cells_per_batch = 8;
    std::size_t range = 0; ///< position in CellUnknowns::blocks of the block that the cells are in
  };
  Target target_of(std::size_t block) const;
  void find_places(const GeneratedBlock& block, Target& target) const;
  std::int64_t cell_of(const Target& target, std::size_t block, std::int32_t batch, int cell) const;
  void add(const CellMatrices& matrices, std::span<double> entries) const;
  void add_matrix(const Target& target, std::int64_t first, std::span<const double> values,
                  std::span<double> entries) const;
  void add_whole_matrix(const Target& target, std::int64_t first, std::span<const double> values,
                        std::span<double> entries) const;

  base::AlignedVector<double> by_unit_vectors() const;
  bool set(int local, double value, Vector& unit) const;
  void add_column(int local, std::span<const double> column, std::span<double> entries) const;

  const GeneratedMatrix& built_;
  const CellUnknowns& unknowns_;
  const SlicedPattern& pattern_;
  FormKernels kernels_;
  std::vector<Target> targets_; ///< shape (kernel); empty where cell matrices are found column by column
  /// Single unknowns of the broken system, for products with unit vectors; else null.
  std::unique_ptr<const CellUnknowns> broken_unknowns_;
};

} // namespace rafter::op

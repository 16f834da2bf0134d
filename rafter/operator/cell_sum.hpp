// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/sliced_pattern.hpp>

/// Cell matrices of a bilinear form, summed into the entries of a sparse matrix.
namespace rafter::op {

struct GeneratedMatrix;

/// Sums cell matrices into the entries of a pattern. What it is made of must outlive it.
class CellSum {
public:
  /// Of compiled kernels, else InternalError. `data`: values of the form's data fields and parameters; null: those that
  /// constants have in the form.
  CellSum(const GeneratedMatrix& built, const CellUnknowns& unknowns, const SlicedPattern& pattern,
          std::shared_ptr<FormData> data);

  /// Entries of the matrix, in the places that the pattern gives them. Every entry gets its terms in the same order for
  /// any number of threads. Throws InputError where values of data fields or parameters are missing.
  base::AlignedVector<double> run() const;

private:
  bool set(int local, double value, Vector& unit) const;
  void add(int local, std::span<const double> column, std::span<double> entries) const;
  void add_cell(const CellUnknowns::CellRange& block, std::int64_t cell, int local, std::span<const double> column,
                std::span<double> entries) const;

  const mesh::CellBatches& batches_;
  const CellUnknowns& unknowns_;
  const Coupling& coupling_;
  const SlicedPattern& pattern_;
  FormKernels kernels_;
};

} // namespace rafter::op

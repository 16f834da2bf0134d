// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include <rafter/operator/generate/cell_geometry.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/run/cell_data.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/operator/run/staged_kernels.hpp>
#include <rafter/operator/run/vector_runner.hpp>
#include <rafter/space/index_tables.hpp>

/// Binds a compiled kernel to the data that it reads.
namespace rafter::op {

struct MatrixWorkSizes {
  std::size_t values = 1, geometry = 1, coefficients = 1, num_active = 1;
};

/// Memory in which a thread has cell matrices computed, for as many batches as any kernel has records.
struct MatrixWork {
  MatrixWork(const std::shared_ptr<device::Device>& device, const MatrixWorkSizes& sizes)
      : values(device, sizes.values), geometry(device, sizes.geometry), coefficients(device, sizes.coefficients),
        num_active(device, sizes.num_active) {}
  void add_to(device::BufferRegistry& registry);

  Vector values;                          ///< cell matrices, as schedule::num_matrix_records says
  Vector geometry;                        ///< numbers of CellGeometry, shape (record, number)
  Vector coefficients;                    ///< numbers per cell, shape (record, coefficient, cell)
  device::Array<std::int32_t> num_active; ///< number of cells, shape (record)
  std::vector<double> points;             ///< work array of CellGeometry::write
};

/// A kernel of a form with its data on one block of cells or facets: index tables of the spaces, numbers per cell,
/// tables of the element, and what its set-up has computed and stored.
class BoundKernel {
public:
  /// Both arguments must outlive this object, and the kernel must be compiled.
  BoundKernel(const GeneratedForm& form, const GeneratedBlock& block);

  const KernelInfo& info() const { return info_; }
  /// Counts the bytes of the nearest cache that no use of registers avoids. They are counted here and not with the
  /// other counts, because tracing the accesses of a large kernel takes longer than the rest of its set-up, and only
  /// reports ask for them.
  machine::Counts least_local_traffic() const;
  /// Computes again what is stored of data fields or parameters if they have changed since it was computed.
  void refresh(const FormData& data);
  /// Counts the runs of the set-up kernel so far.
  int num_setups() const { return num_setups_; }

  /// Returns the kernel with the arguments that stay, which belong to this object.
  KernelArguments arguments() const;
  /// Registers where a run leaves what its batches add to a functional.
  void add_integrals(device::BufferRegistry& run);

  /// Computes the matrices of batches begin .. end - 1, which have different records (num_records()). Only kernels of
  /// Purpose::matrix do so. `arguments` are bound to `work`, which holds the output. What the kernel reads of the cells
  /// is written there, too, unless it reads known fields or runs on facets: it is read once, and tables for all cells
  /// would only move through memory.
  CellMatrices cell_matrices(const KernelArguments& arguments, std::int32_t begin, std::int32_t end,
                             MatrixWork& work) const;
  /// Enlarges the sizes to what the kernel needs.
  void enlarge(MatrixWorkSizes& sizes) const;
  /// Number of batches whose matrices an output holds at a time, see schedule::num_matrix_records.
  std::int32_t num_records() const;

  void clear_integrals();
  /// Returns the values of a functional, summed over the runs since clear_integrals(), shape (value).
  std::vector<double> integrals() const;

private:
  /// The kernel that computes the data that a cut stores.
  struct Setup {
    ProgramTables tables;
    BatchNumbers batches; ///< those of the rows
    space::IndexTables::Integers row_of_row;
    std::optional<const StagedKernels> kernel; ///< one stage, in which threads have ranges of rows
  };

  /// Counts the runs of the loop program, and those of them (in fractions) that places of a batch without a cell make
  /// up: they write nothing.
  struct Runs {
    double complete = 0, idle = 0;
  };
  bool reads_cell_by_cell() const; ///< the numbers that the kernel and its set-up read
  Runs runs() const;
  void fill_data();
  void write_cells(std::int32_t begin, std::int32_t end, MatrixWork& work) const;
  void count();
  double uncounted_clearing_bytes() const;
  schedule::LeastTraffic least_traffic() const;
  std::uint64_t newest_input(const FormData& data) const;
  std::unique_ptr<Setup> make_setup() const;
  void run_setup(const FormData& data);
  /// Registers the data that both the kernel and the kernel of its set-up read, as far as these arguments take it.
  void add_data(const std::vector<schedule::LoopBuffer>& arguments, device::BufferRegistry& registry) const;

  const GeneratedForm& form_;
  const GeneratedBlock& block_;
  std::shared_ptr<device::Device> device_;
  KernelInfo info_;
  std::vector<std::shared_ptr<const space::IndexTables>> spaces_;
  ProgramTables tables_;
  std::shared_ptr<const CellData> cell_data_;    ///< null where geometry_ takes its place
  std::unique_ptr<const CellGeometry> geometry_; ///< present where cell matrices compute it as they go; else null
  device::Array<double> cell_coefficients_;
  device::Array<double> integrals_;  ///< shape (value, batch, cell)
  std::size_t num_integrals_ = 0;    ///< values
  std::vector<VectorRunner> totals_; ///< sum those of each value, shape (value)
  Numbers stored_point_, stored_cell_;
  space::IndexTables::Integers data_rows_;
  /// Null before its first run, and after the only run where what it stores never changes.
  std::unique_ptr<Setup> setup_;
  std::uint64_t stored_version_ = 0; ///< version of the data that set-up has seen; 0: it has not run
  int num_setups_ = 0;
};

} // namespace rafter::op

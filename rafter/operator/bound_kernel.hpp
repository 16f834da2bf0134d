// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include <rafter/operator/cell_data.hpp>
#include <rafter/operator/form_builder.hpp>
#include <rafter/operator/form_data.hpp>
#include <rafter/operator/kernel_arguments.hpp>
#include <rafter/space/index_tables.hpp>

/// A compiled kernel with the data that it reads.
namespace rafter::op {

/// A kernel of a form with its data on one block of cells or facets: index tables of the spaces, numbers per cell,
/// tables of the element, and what its set-up has computed and stored.
class BoundKernel {
public:
  /// Both outlive the kernel, which is compiled.
  BoundKernel(const GeneratedForm& form, const GeneratedBlock& piece);

  const KernelInfo& info() const { return info_; }
  /// Bytes of the nearest cache that no use of registers avoids. Tracing the accesses of a large kernel takes longer
  /// than the rest of its set-up, and only reports ask for them: they are counted then.
  machine::Counts least_local_traffic() const;
  /// Computes what is stored of data fields or parameters that have changed since it was computed.
  void refresh(const FormData& data);
  /// How often set-up was run.
  int num_setups() const { return num_setups_; }

  /// What stays of the arguments. A run binds a copy of its own.
  const KernelArguments& arguments() const { return arguments_; }
  /// Binds the rest of a copy: vectors and parameters of a run, and its mode.
  void bind(KernelArguments& arguments, const device::BufferRegistry& run, device::Buffer* mode);
  /// Batches begin .. end-1 with arguments that are bound, to which the task refers.
  device::Task task(const KernelArguments& arguments, std::int64_t begin, std::int64_t end) const {
    return arguments.task(*kernel_, begin, end);
  }

  /// Of kernels of Purpose::matrix: the matrices of these batches, at most num_records(), in `values`, which is bound
  /// as the output and holds as many numbers as all records.
  CellMatrices cell_matrices(const KernelArguments& arguments, std::int32_t begin, std::int32_t end,
                             Vector& values) const;
  std::int64_t record_size() const; ///< numbers of a record
  std::int32_t num_records() const; ///< schedule::num_matrix_records

  void clear_integral();
  double integral() const; ///< of a functional: what the runs since then have summed

private:
  /// Tables of the element and the rule, as the kernel of a program takes them.
  struct Tables {
    std::vector<std::shared_ptr<const Numbers>> matrices; ///< packed, of the tensor program
    std::shared_ptr<const Numbers> points, weights;       ///< of the rule
    std::vector<space::IndexTables::Integers> values;     ///< of the loop program, by index
    void add_to(device::BufferRegistry& registry) const;
  };

  /// The kernel that computes what is stored.
  struct Setup {
    std::shared_ptr<const device::Kernel> kernel;
    Tables tables;
    space::IndexTables::Integers row_of_row, mode;
    KernelArguments arguments;
  };

  Tables tables(const kernel::TensorProgram& program, const schedule::LoopProgram& loops,
                schedule::Precision compute) const;
  /// How often the loop program runs, and what a run would move for lanes without a cell, which write nothing.
  struct Runs {
    double complete = 0, idle = 0;
  };
  Runs runs() const;
  void fill_data();
  void count();
  double uncounted_clearing_bytes() const;
  std::uint64_t newest_input(const FormData& data) const;
  std::unique_ptr<Setup> make_setup() const;
  void run_setup(const FormData& data);
  /// Registers what the kernel and that of its set-up both read.
  void add_data(device::BufferRegistry& registry) const;

  const GeneratedForm& form_;
  const GeneratedBlock& piece_;
  std::shared_ptr<device::Device> device_;
  KernelInfo info_;
  std::shared_ptr<const device::Kernel> kernel_;
  KernelArguments arguments_; ///< those that stay
  std::vector<std::shared_ptr<const space::IndexTables>> spaces_;
  Tables tables_;
  std::shared_ptr<const CellData> cell_data_;
  device::Array<double> cell_coefficients_, integral_;
  Numbers stored_point_, stored_cell_;
  space::IndexTables::Integers data_rows_;
  std::unique_ptr<Setup> setup_;     ///< null: it has not run, or what it stores never changes
  std::uint64_t stored_version_ = 0; ///< of the data that set-up has seen; 0: it has not run
  int num_setups_ = 0;
};

} // namespace rafter::op

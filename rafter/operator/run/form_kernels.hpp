// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <rafter/operator/run/linear_operator.hpp>

namespace rafter::machine {
struct Counts;
} // namespace rafter::machine

/// Runs the compiled kernels of a form on a mesh: for every batch of all blocks they gather, compute and scatter.
namespace rafter::op {

/// The matrices of batches begin .. end - 1 of a kernel. Those of batch b are record b % num_records of `values`, shape
/// (record, entry, cell of the batch), see schedule::num_matrix_records.
struct CellMatrices {
  std::size_t block = 0; ///< position in GeneratedForm::blocks
  std::int32_t batch_begin = 0, batch_end = 0;
  std::span<const double> values;
};

struct GeneratedForm;
class FormData;
struct KernelInfo;
struct TouchedRanges;

/// The kernels of all integrals of a form, bound to the data of a mesh. Several threads may run them at the same time
/// on vectors of their own, on a part of a mesh one thread of each process.
class FormKernels {
public:
  /// Binds compiled kernels. `data` holds the values of data fields and parameters, which several objects of one form
  /// may share; null: these kernels have their own, in which parameters have the values of the form. Throws
  /// InternalError when the kernels are not compiled or the form is an assembled matrix.
  explicit FormKernels(std::shared_ptr<const GeneratedForm> built, std::shared_ptr<FormData> data = nullptr);
  ~FormKernels();
  FormKernels(FormKernels&&) noexcept;
  FormKernels& operator=(FormKernels&&) noexcept;

  /// Computes y = F(x), or y += F(x) when `adds` is true. `trial` is x, a vector of the system of trial functions; null
  /// for forms without them. What is stored of data that have changed is computed first. Throws InputError for vectors
  /// of another size, for data fields and parameters without values, and when y is x.
  void run(const Vector* trial, Vector& y, bool adds) const;
  /// Does the same on vectors of floats. Throws InternalError when the kernels are for vectors of another precision
  /// (GeneratedForm::vectors); so does run() on vectors of doubles.
  void run(const SingleVector& trial, SingleVector& y, bool adds) const;
  /// Computes y = F(trial) with work on vectors fused into the loop over cells. Throws InternalError when the systems
  /// of test and trial functions differ and on devices that do not share the host's memory.
  void run(const Vector& trial, Vector& y, const VectorWork& work) const;
  void run(const SingleVector& trial, SingleVector& y, const VectorWork& work) const; ///< does the same on floats
  /// The parts of the loop over cells between which fused work is done; they are found on first use.
  const TouchedRanges& touched_ranges() const;
  /// Computes the values of a functional, summed over all processes, shape (value).
  std::vector<double> integrals() const;
  /// Says whether batches begin .. end - 1 of a kernel, known by its position in GeneratedForm::blocks, are of use.
  using WantsBatches = std::function<bool(std::size_t block, std::int32_t begin, std::int32_t end)>;
  /// Computes the matrices of all cells and facets and hands them to `visit`, some batches after the others, on the
  /// threads of the device. Chunks of one stage (chunk_stages) share no unknown, and may be visited at the same time;
  /// stages come in order, those of cells before those of facets, and so do the batches of a chunk. Where `wants` is
  /// given, batches are left out for which it returns false. Throws InternalError for kernels that are not of
  /// Purpose::matrix.
  void cell_matrices(const std::function<void(const CellMatrices&)>& visit, const WantsBatches& wants = {}) const;

  const GeneratedForm& built() const;
  /// The values of the data fields and parameters, which every run reads.
  FormData& data() const;
  /// Computes what is stored of data that have changed since, and nothing else. Runs do so by themselves.
  void refresh() const;
  /// Counts the runs of set-up kernels so far.
  int num_setups() const;

  const std::vector<KernelInfo>& info() const;
  /// Totals of one run: executed and effective flops, compulsory bytes (vectors once, data per cell once).
  machine::Counts counts() const;
  const std::shared_ptr<device::Device>& device() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace rafter::op

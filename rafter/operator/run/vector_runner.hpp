// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>

#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/operator/run/vector_kernels.hpp>

/// Runs loops over vectors: on whole vectors, or fused into the application of an operator.
namespace rafter::op {

/// Operands of a loop in their order, then its lists.
using LoopOperands = std::span<const LoopOperand>;
using Scalars = std::span<const double>;

/// Returns the root of a sum of squares, `square_of(1)`, that is neither lost nor beyond the range of doubles where its
/// root is not. If it overflows, or is so small that squares may have lost digits, `square_of(factor)` is the sum of
/// the squares of the numbers times a power of two, which is exact (Blue 1978, doi:10.1145/355769.355771).
double scaled_root(const std::function<double(double factor)>& square_of);

/// Adds the rows of `sums`, shape (row, num_sums), pairwise into the first row.
void add_pairwise(std::span<double> sums, std::size_t num_sums);

/// Runs the loops of a set on the owned entries of vectors. These are divided into blocks of fixed length, whose sums
/// are added in a fixed order, so that every result is the same bits for any number of threads and in every run. One
/// thread at a time may use it.
class VectorRunner {
public:
  /// `ranges`: the owned entries; nothing: all entries of the vectors of a loop. The set is compiled when a loop is
  /// first run, with operands of `type` where they have none.
  VectorRunner(std::shared_ptr<device::Device> device, VectorLoops loops,
               std::optional<std::vector<EntryRange>> ranges = std::nullopt, schedule::Type type = schedule::Type::real)
      : device_(std::move(device)), loops_(loops), ranges_(std::move(ranges)), type_(type) {}

  const std::shared_ptr<device::Device>& device() const { return device_; }
  const VectorKernel& kernel(std::string_view loop) const;

  /// Runs a loop and returns its sums over this process, which are valid until the next run. Loops without lists visit
  /// the owned entries, the others all entries of their lists; with ranges of vectors they visit all of these. A
  /// vector that is written is distinct from all others. Throws InternalError for vectors whose sizes differ, and for
  /// loops that assign scalars.
  std::span<double> run(const VectorKernel& kernel, Scalars scalars, LoopOperands operands) const;
  std::span<double> run(std::string_view loop, std::initializer_list<double> scalars,
                        std::initializer_list<LoopOperand> operands) const {
    return run(kernel(loop), {scalars.begin(), scalars.size()}, {operands.begin(), operands.size()});
  }
  /// Runs a loop whose scalars are in the memory of the device, from entry `first` of `scalars` on, where it may assign
  /// them. On devices with memory of their own it is queued, and nobody waits for it.
  void queue(std::string_view loop, Vector& scalars, std::size_t first,
             std::initializer_list<LoopOperand> operands) const;

private:
  friend class FusedLoop;
  /// Arguments of a kernel in their order: buffers, and the number of bytes before the entries of each. Operands and
  /// lists come first.
  struct Bound {
    std::array<device::Buffer*, most_operands + 3> buffers{};
    std::array<std::size_t, most_operands + 3> offsets{};
    std::size_t count = 0;
    void add(device::Buffer* buffer, std::size_t offset = 0) {
      buffers[count] = buffer;
      offsets[count++] = offset;
    }
    /// The task refers to this object.
    device::Task task(const device::Kernel& kernel, const device::Launch& launch, std::int64_t begin,
                      std::int64_t end) const {
      return {&kernel, std::span(buffers).first(count), begin, end, std::span(offsets).first(count), launch};
    }
  };

  std::size_t size_of(const VectorKernel& kernel, LoopOperands operands) const;
  /// The ranges that a loop visits of operands of this size.
  std::span<const EntryRange> visited(const VectorKernel& kernel, LoopOperands operands, const EntryRange& whole) const;
  Bound bind(const VectorKernel& kernel, LoopOperands operands, std::span<const EntryRange> visited,
             std::size_t size) const;
  /// Runs a loop in the memory of the host.
  void run_on_host(const VectorKernel& kernel, const Bound& bound, Scalars scalars, std::span<const EntryRange> ranges,
                   double* sums) const;
  /// Runs a loop whose scalars are on the device, where totals stay, too.
  void launch(const VectorKernel& kernel, device::Buffer* scalars, std::size_t first, LoopOperands operands) const;
  void make_blocks(std::span<const EntryRange> visited) const;

  std::shared_ptr<device::Device> device_;
  VectorLoops loops_;
  std::optional<std::vector<EntryRange>> ranges_;
  schedule::Type type_;
  mutable std::shared_ptr<const VectorKernels> kernels_; ///< null: no loop was run yet
  mutable std::vector<double> sums_;                     ///< shape (block, sum)
  // Devices with memory of their own need these:
  mutable std::vector<EntryRange> blocks_of_; ///< ranges that blocks_ were made for
  mutable IntegerArray blocks_;               ///< shape (block, 2)
  mutable Vector scalars_, rows_, totals_;
};

/// A loop over vectors as work that is fused into the application of an operator (VectorWork). It refers to its
/// operands.
class FusedLoop {
public:
  FusedLoop(const VectorRunner& runner, std::string_view loop, Scalars scalars, LoopOperands operands);
  FusedLoop(const VectorRunner& runner, std::string_view loop, std::initializer_list<double> scalars,
            std::initializer_list<LoopOperand> operands)
      : FusedLoop(runner, loop, Scalars{scalars.begin(), scalars.size()},
                  LoopOperands{operands.begin(), operands.size()}) {}
  /// Scalars begin at entry `first` of a vector, which keeps them in the memory of the device: nothing is copied there.
  FusedLoop(const VectorRunner& runner, std::string_view loop, const Vector& scalars, std::size_t first,
            std::initializer_list<LoopOperand> operands);
  /// Runs the loop on the entries of a part, or on all that are owned where the part is VectorWork::all_parts. Writes
  /// its sums to `sums`, which may be null where there are none. Different parts may run at the same time.
  void operator()(std::int64_t part, std::span<const EntryRange> ranges, double* sums = nullptr) const;

private:
  void bind();
  const VectorRunner& runner_;
  const VectorKernel& kernel_;
  std::array<double, most_scalars> scalars_{};
  const Vector* kept_scalars_ = nullptr; ///< null: scalars_ are taken
  std::size_t first_ = 0;
  std::vector<LoopOperand> operands_;
  VectorRunner::Bound bound_{};
};

} // namespace rafter::op

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/schedule/vector_lowering.hpp>

/// Kernels of loops over vectors, and the vectors that they are run on.
namespace rafter::op {

using IntegerArray = device::Array<std::int32_t>;

/// Texts of loops over vectors, as schedule::parse_vector_loop reads them. They outlive all kernels.
using VectorLoops = std::span<const std::string_view>;

/// Type of the operands of loops that stand for arrays of T.
template <class T>
inline constexpr schedule::Type entry_type = std::is_same_v<T, double> ? schedule::Type::real : schedule::Type::real32;

/// A compiled loop over vectors.
struct VectorKernel {
  schedule::VectorLoop loop;
  std::size_t num_lists = 0; ///< number of loop.lists()
  std::shared_ptr<const device::Kernel> main;
  device::Launch main_launch;
  std::shared_ptr<const device::Kernel> total; ///< null: the loop has neither sums nor scalar assignments
  device::Launch total_launch;
};

/// The kernels of a set of loops, which are one program of a device.
class VectorKernels {
public:
  /// The kernels of a set on a device, which are compiled once as long as the device exists. Any thread may ask.
  /// `type` is that of operands without one (schedule::parse_vector_loop).
  static std::shared_ptr<const VectorKernels> of(const std::shared_ptr<device::Device>& device, VectorLoops loops,
                                                 schedule::Type type = schedule::Type::real);
  VectorKernels(device::Device& device, VectorLoops loops, schedule::Type type = schedule::Type::real);
  /// Throws InternalError where the set has no loop of that name.
  const VectorKernel& find(std::string_view loop) const;

private:
  std::vector<VectorKernel> kernels_;
};

/// A loop works on operands: a vector; a range of a vector, whose first entry is entry 0 of the loop; or a list of
/// entries, which are all that the loop visits of its vector.
class LoopOperand {
public:
  LoopOperand(const Vector& x) : array_(&x) {} ///< may be read alone
  LoopOperand(Vector& x) : array_(&x) {}
  LoopOperand(const SingleVector& x) : array_(&x) {}
  LoopOperand(SingleVector& x) : array_(&x) {}
  LoopOperand(const IntegerArray& x) : array_(&x) {}
  /// Throws InternalError for a range that is not in the vector.
  LoopOperand(const Vector& x, const EntryRange& range) : LoopOperand(x) { use(range); }
  LoopOperand(Vector& x, const EntryRange& range) : LoopOperand(x) { use(range); }

  std::size_t size() const { return range_ ? static_cast<std::size_t>(range_->end - range_->begin) : array_size(); }
  bool is_range() const { return range_.has_value(); }
  /// Number of bytes before the range.
  std::size_t offset() const;
  /// The buffer in the memory of the device, for what the loop does to it. `is_whole`: all entries are visited. Throws
  /// InternalError where the operand has another type, or must not be written.
  device::Buffer* bind(const schedule::VectorOperand& operand, bool is_whole) const;
  device::Buffer* bind_list() const;

private:
  void use(const EntryRange& range);
  std::size_t array_size() const;
  std::variant<const Vector*, Vector*, const SingleVector*, SingleVector*, const IntegerArray*> array_;
  std::optional<EntryRange> range_; ///< nothing: all entries
};

/// The most operands and lists, and the most scalars, of a loop.
inline constexpr std::size_t most_operands = 12, most_scalars = 16;

} // namespace rafter::op

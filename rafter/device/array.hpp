// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <rafter/base/aligned.hpp>
#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>

namespace rafter::device {

/// An array that lives on host and device. Access says what it is for: read (valid data wanted), write (valid data
/// wanted, will be changed), overwrite (everything will be replaced); copies happen only when the side asked for is
/// stale. On a device that shares host memory both sides are the same memory; on others the host's side takes memory
/// when it is first asked for. Parts of an array are copied without the others. Several threads may read at the same
/// time where the side that they ask for is up to date, as it always is on a device that shares host memory.
template <class T> class Array {
public:
  Array() = default;
  /// The entries are zero.
  Array(std::shared_ptr<Device> device, std::size_t size) : device_(std::move(device)), size_(size) {
    if (is_shared()) {
      take(base::AlignedVector<T>(size));
      return;
    }
    buffer_ = device_->allocate(size_bytes());
    buffer_->clear();
    is_host_valid_ = false;
  }
  Array(std::shared_ptr<Device> device, base::AlignedVector<T> values)
      : device_(std::move(device)), size_(values.size()) {
    take(std::move(values));
  }
  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) noexcept = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  std::size_t size() const { return size_; }
  const std::shared_ptr<Device>& device() const { return device_; }

  std::span<const T> host_read() const {
    to_host();
    return host_;
  }
  std::span<T> host_write() {
    to_host();
    leave_device();
    return host_;
  }
  /// Entries begin .. begin + size - 1. Where the host's side is stale, these alone are copied, to `room`, and the side
  /// stays as it is. The span is valid until the array or the room changes. Throws InternalError for entries behind the
  /// end, as all functions do that take a part of an array.
  std::span<const T> host_read(std::size_t begin, std::size_t size, base::AlignedVector<T>& room) const {
    require_inside(begin, size);
    if (is_host_valid_) return std::span<const T>(host_).subspan(begin, size);
    room.resize(size);
    buffer_->copy_to_host(room.data(), size * sizeof(T), begin * sizeof(T));
    return room;
  }
  /// Entries that are no part of the value but room for copies of other ones, as the ghosts of vectors are: they may be
  /// written in an array that is constant otherwise, by one user of the array at a time. On a device that shares host
  /// memory they are written in place; on others in `room`, from where put_scratch() takes them.
  std::span<T> host_scratch(std::size_t begin, std::size_t size, base::AlignedVector<T>& room) const {
    require_inside(begin, size);
    if (is_shared()) return std::span(host_).subspan(begin, size);
    room.resize(size);
    return room;
  }
  /// Makes the values of host_scratch() those of the entries from `begin` on.
  void put_scratch(std::size_t begin, std::span<const T> values) const {
    require_inside(begin, values.size());
    if (!is_shared()) put(begin, values);
  }
  /// Copies `size` entries of another array, from `from_begin` on, to those from `begin` on. Only where the arrays are
  /// on two devices do these pass through the host.
  void copy_from(const Array& from, std::size_t from_begin, std::size_t begin, std::size_t size) {
    from.require_inside(from_begin, size);
    require_inside(begin, size);
    if (size == 0) return;
    if (from.device_ != device_) {
      base::AlignedVector<T> room;
      put(begin, from.host_read(from_begin, size, room));
      return;
    }
    auto* const to = size == size_ ? device_overwrite() : device_write();
    auto* const source = from.device_read();
    const auto copy = [&](std::size_t first, std::size_t count) {
      to->copy_from(*source, count * sizeof(T), (from_begin + first) * sizeof(T), (begin + first) * sizeof(T));
    };
    constexpr std::size_t part = 1 << 17; // entries that are worth a thread of the host
    if (size <= part || !is_shared() || source == to) {
      copy(0, size);
      return;
    }
    device_->parallel_for(static_cast<std::int64_t>((size + part - 1) / part), [&](std::int64_t i) {
      const auto first = static_cast<std::size_t>(i) * part;
      copy(first, std::min(part, size - first));
    });
  }
  /// Sets entries begin .. begin + size - 1 to 0 on the device.
  void clear(std::size_t begin, std::size_t size) {
    require_inside(begin, size);
    if (size > 0) device_write()->clear(size * sizeof(T), begin * sizeof(T));
  }
  std::span<T> host_overwrite() {
    make_host();
    leave_host(); // the old values will be replaced, so nobody may use them
    is_host_valid_ = true;
    leave_device();
    return host_;
  }
  Buffer* device_read() const {
    to_device();
    return buffer_.get();
  }
  Buffer* device_write() {
    to_device();
    leave_host();
    return buffer_.get();
  }
  Buffer* device_overwrite() {
    leave_device();
    is_device_valid_ = true;
    leave_host();
    return buffer_.get();
  }

private:
  bool is_shared() const { return !device_ || device_->shares_host_memory(); }
  std::size_t size_bytes() const { return size_ * sizeof(T); }
  /// Replaces the entries from `begin` on, on every side that is up to date.
  void put(std::size_t begin, std::span<const T> values) const {
    if (is_host_valid_) std::ranges::copy(values, host_.begin() + static_cast<std::ptrdiff_t>(begin));
    if (!is_shared() && is_device_valid_)
      buffer_->copy_from_host(values.data(), values.size_bytes(), begin * sizeof(T));
  }
  void require_inside(std::size_t begin, std::size_t size) const {
    if (begin > size_ || size > size_ - begin)
      throw base::InternalError("entries " + std::to_string(begin) + " to " + std::to_string(begin + size) +
                                " are asked for of an array of " + std::to_string(size_));
  }
  /// Takes values of the host as the array.
  void take(base::AlignedVector<T> values) {
    host_ = std::move(values);
    buffer_ = is_shared() ? device_->wrap(host_.data(), size_bytes()) : device_->allocate(size_bytes());
    is_device_valid_ = is_shared();
  }
  /// Takes the memory of the host's side.
  void make_host() const {
    if (host_.size() != size_) host_.resize(size_);
  }
  /// The side is about to become stale, unless both are the same.
  void leave_host() {
    is_host_valid_ = is_shared();
    if (!is_host_valid_) device_->poison(host_.data(), host_.size() * sizeof(T));
  }
  void leave_device() {
    is_device_valid_ = is_shared();
    if (!is_device_valid_) device_->poison(buffer_->handle(), size_bytes());
  }
  void to_host() const {
    if (is_host_valid_) return; // nothing is written: others may read at the same time
    make_host();
    buffer_->copy_to_host(host_.data(), size_bytes());
    is_host_valid_ = true;
  }
  void to_device() const {
    if (is_device_valid_) return;
    buffer_->copy_from_host(host_.data(), size_bytes());
    is_device_valid_ = true;
  }
  std::shared_ptr<Device> device_;
  std::size_t size_ = 0;
  mutable base::AlignedVector<T> host_; ///< empty until it is asked for, on devices with memory of their own
  std::shared_ptr<Buffer> buffer_;
  mutable bool is_host_valid_ = true, is_device_valid_ = true;
};

using Vector = Array<double>;
using SingleVector = Array<float>;

/// An array of the values of a range, converted to T.
template <class T, class Source> Array<T> to_array(const std::shared_ptr<Device>& device, const Source& source) {
  return Array<T>(device, base::AlignedVector<T>(source.begin(), source.end()));
}

} // namespace rafter::device

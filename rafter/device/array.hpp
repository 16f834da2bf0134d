// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>

#include <rafter/base/aligned.hpp>
#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>

namespace rafter::device {

/// An array that lives on host and device. Access says what it is for: read (valid data wanted), write (valid data
/// wanted, will be changed), overwrite (everything will be replaced); copies happen only when the side asked for is
/// stale. On a device that shares host memory both sides are the same memory; on others the host's side takes memory
/// when it is first asked for. Several threads may read at the same time where the side that they ask for is up to
/// date, as it always is on a device that shares host memory.
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
  /// Gives access to entries that are no part of the value but room for copies of other ones, as the ghosts of vectors
  /// are: they may be written in an array that is constant otherwise, by one user of the array at a time.
  std::span<T> host_scratch() const {
    to_host();
    leave_device();
    return host_;
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
  void leave_device() const {
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

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <hdf5.h>

/// Reading and writing HDF5 files have these helpers in common.
namespace rafter::io {

/// A handle holds an HDF5 identifier, and closes it with the function that fits its kind.
class Handle {
public:
  Handle() = default;
  Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), closer_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  ~Handle() { close(); }
  hid_t get() const { return id_; }
  bool close() {
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || closer_(id) >= 0;
  }

private:
  hid_t id_ = -1;
  herr_t (*closer_)(hid_t) = nullptr;
};

/// A file whose last writes failed (full disk) cannot be closed, and the clean-up that HDF5 runs at exit then follows a
/// null pointer. This library closes its files itself, so that it can do without that clean-up. The call has an effect
/// only before the first other call of HDF5.
inline void leave_out_exit_handler() { [[maybe_unused]] static const herr_t done = H5dont_atexit(); }

/// HDF5 prints its error stack by default. This turns that off, and restores the setting of the caller at the end.
class QuietErrors {
public:
  QuietErrors() {
    leave_out_exit_handler();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// Returns HDF5's type for numbers of type T in memory.
template <class T> hid_t memory_type();
template <> inline hid_t memory_type<double>() { return H5T_NATIVE_DOUBLE; }
template <> inline hid_t memory_type<std::int64_t>() { return H5T_NATIVE_INT64; }
template <> inline hid_t memory_type<std::int32_t>() { return H5T_NATIVE_INT32; }
template <> inline hid_t memory_type<std::uint8_t>() { return H5T_NATIVE_UINT8; }

/// Returns the innermost description on HDF5's error stack, which holds the message of the operating system.
inline std::string hdf5_reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* entry, void* data) -> herr_t {
        if (depth == 0 && entry->desc) *static_cast<std::string*>(data) = entry->desc;
        return 0;
      },
      &text);
  // HDF5 wraps that message in a sentence with times, addresses and descriptors, which help no user.
  constexpr std::string_view mark = "error message = '";
  if (const auto start = text.find(mark); start != std::string::npos)
    return text.substr(start + mark.size(), text.find('\'', start + mark.size()) - start - mark.size());
  return text;
}

} // namespace rafter::io

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rafter::io {

/// An HDF5 file that is read. Every failure is an InputError that names the path.
class Hdf5Reader {
public:
  /// Throws InputError for files that are not there, cannot be read or are not HDF5.
  explicit Hdf5Reader(const std::string& path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  /// A group or dataset "a/b" is there.
  bool has(const std::string& name) const;
  /// Names in a group, in the order in which they were made where the file has kept it.
  std::vector<std::string> members(const std::string& group) const;
  /// Extents of a dataset.
  std::vector<std::int64_t> shape(const std::string& dataset) const;
  /// A dataset of numbers, row-major, converted to T.
  template <class T> std::vector<T> read(const std::string& dataset) const;
  /// Text of an attribute of a group; "" where it has none.
  std::string text_attribute(const std::string& group, const std::string& name) const;

private:
  class State;
  std::unique_ptr<State> state_;
};

} // namespace rafter::io

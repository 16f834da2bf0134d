// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rafter::io {

/// This reads an HDF5 file. Every failure is an InputError that names the path.
class Hdf5Reader {
public:
  /// Throws InputError for files that are not there, cannot be read or are not HDF5.
  explicit Hdf5Reader(const std::string& path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  /// Returns whether there is a group or dataset of this name ("a/b" is b in group a).
  bool has(const std::string& name) const;
  /// Returns the names in a group, in the order of creation if the file has recorded it.
  std::vector<std::string> members(const std::string& group) const;
  /// Returns the extents of a dataset.
  std::vector<std::int64_t> shape(const std::string& dataset) const;
  /// Returns a dataset of numbers, row-major, converted to T.
  template <class T> std::vector<T> read(const std::string& dataset) const;
  /// So many rows of a dataset of numbers, from row `first` on, row-major. Throws InputError where it has fewer.
  template <class T>
  std::vector<T> read_rows(const std::string& dataset, std::int64_t first, std::int64_t num_rows) const;
  /// Returns the text of an attribute of a group, or "" if it has none of this name.
  std::string text_attribute(const std::string& group, const std::string& name) const;

private:
  class State;
  std::unique_ptr<State> state_;
};

} // namespace rafter::io

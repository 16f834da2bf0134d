// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rafter::io {

/// This writes an HDF5 file, which takes its place in `commit` (base::OutputFile); without that call, nothing remains.
/// Every failure is an EnvironmentError that names the path.
class Hdf5Writer {
public:
  explicit Hdf5Writer(const std::string& path);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void make_group(const std::string& name);
  void write_attribute(const std::string& group, const std::string& name,
                       const std::string& text); ///< is stored as ASCII of fixed length
  void write_attribute(const std::string& group, const std::string& name, std::span<const std::int64_t> values);

  void write(const std::string& dataset, std::span<const std::int64_t> values);
  void write(const std::string& dataset, std::span<const double> values);

  /// Makes a dataset of `rows` rows that is written in parts and compressed; with 0 columns it has one dimension.
  /// Its chunks depend on the numbers of rows and columns alone.
  template <class T> void make_dataset(const std::string& dataset, std::int64_t rows, std::int64_t columns);
  /// Makes a dataset without rows, which grows by those that are appended; each call is expected to append `rows` of
  /// them.
  template <class T> void make_growing_dataset(const std::string& dataset, std::int64_t rows, std::int64_t columns);
  /// Appends rows, shape (row, column), to a dataset that was made before.
  template <class T> void append(const std::string& dataset, std::span<const T> values);

  /// Closes the file and moves it to its place.
  void commit();

private:
  template <class T> void make(const std::string& dataset, std::int64_t rows, std::int64_t columns, bool grows);
  class State;
  std::unique_ptr<State> state_;
};

} // namespace rafter::io

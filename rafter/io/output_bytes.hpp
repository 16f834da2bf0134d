// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdio>
#include <memory>
#include <string>

#include <rafter/base/output_file.hpp>

namespace rafter::io {

/// Bytes that are written to an output one after the other. The rules for names and failures are those of
/// base::OutputFile.
class OutputBytes {
public:
  /// `what` is what messages call the contents ("the matrix").
  OutputBytes(const std::string& name, std::string what);
  void write(const void* bytes, std::size_t count);
  void commit(); ///< completes the file; without it nothing remains

private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void require(bool is_done) const;
  std::string name_, what_;
  base::OutputFile output_;
  std::unique_ptr<std::FILE, Close> file_;
};

} // namespace rafter::io

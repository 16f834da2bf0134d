// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace rafter::io {

/// Writes an array in the format of NumPy (.npy, version 1.0, as numpy.lib.format defines it) in the order of C, the
/// last index fastest; numpy.load reads it. The rules for names and failures are those of base::OutputFile. Throws
/// InternalError where `shape` has another number of entries than there are values.
void write_numpy(const std::string& name, std::span<const std::int64_t> shape, std::span<const double> values);
void write_numpy(const std::string& name, std::span<const std::int64_t> shape, std::span<const std::int32_t> values);

} // namespace rafter::io

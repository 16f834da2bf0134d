// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/numpy_file.hpp>

#include <bit>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/io/output_bytes.hpp>

namespace rafter::io {
namespace {

/// What precedes the values: a mark, the version, the length of the rest, which ends at a multiple of 64 bytes.
std::string numpy_header(const char* type, std::span<const std::int64_t> shape) {
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': (",
                                 std::endian::native == std::endian::little ? '<' : '>', type);
  for (const auto extent : shape) text += fmt::format("{}, ", extent); // (3,) is a tuple, (3) is none
  text += "), }";
  const std::string mark = "\x93NUMPY\x01" + std::string(1, '\0');
  constexpr std::size_t length_bytes = 2, alignment = 64;
  text.append(alignment - 1 - (mark.size() + length_bytes + text.size()) % alignment, ' ');
  text += '\n';
  return mark + static_cast<char>(text.size() % 256) + static_cast<char>(text.size() / 256) + text;
}

template <class T>
void write_typed(const std::string& name, const char* type, std::span<const std::int64_t> shape,
                 std::span<const T> values) {
  const auto count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies());
  if (count != static_cast<std::int64_t>(values.size())) throw base::InternalError("an array has another shape");
  const auto head = numpy_header(type, shape);
  OutputBytes output(name, "the array");
  output.write(head.data(), head.size());
  output.write(values.data(), values.size_bytes());
  output.commit();
}

} // namespace

void write_numpy(const std::string& name, std::span<const std::int64_t> shape, std::span<const double> values) {
  write_typed(name, "f8", shape, values);
}

void write_numpy(const std::string& name, std::span<const std::int64_t> shape, std::span<const std::int32_t> values) {
  write_typed(name, "i4", shape, values);
}

} // namespace rafter::io

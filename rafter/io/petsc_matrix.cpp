// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/petsc_matrix.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/io/output_bytes.hpp>

namespace rafter::io {
namespace {

/// Writes numbers with the most significant byte first.
template <class T> void write_numbers(OutputBytes& output, std::span<const T> numbers) {
  constexpr std::size_t at_a_time = 8192;
  std::array<T, at_a_time> swapped;
  for (std::size_t begin = 0; begin < numbers.size(); begin += at_a_time) {
    const auto part = numbers.subspan(begin, std::min(at_a_time, numbers.size() - begin));
    std::ranges::copy(part, swapped.begin());
    if constexpr (std::endian::native == std::endian::little)
      for (auto& number : std::span(swapped).first(part.size())) {
        auto* bytes = reinterpret_cast<unsigned char*>(&number);
        std::reverse(bytes, bytes + sizeof(T));
      }
    output.write(swapped.data(), part.size_bytes());
  }
}

} // namespace

void write_petsc_matrix(const std::string& name, const op::SparseMatrix& matrix) {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  if (matrix.num_entries() > most)
    throw base::InputError(
        fmt::format("the binary format of PETSc holds {} entries, and the matrix has {}: write it as "
                    "Matrix Market",
                    most, matrix.num_entries()));
  constexpr std::int32_t is_matrix = 1211216; // MAT_FILE_CLASSID
  std::vector<std::int32_t> head{is_matrix, static_cast<std::int32_t>(matrix.num_rows()),
                                 static_cast<std::int32_t>(matrix.num_columns),
                                 static_cast<std::int32_t>(matrix.num_entries())};
  for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row)
    head.push_back(static_cast<std::int32_t>(matrix.row_offsets[row + 1] - matrix.row_offsets[row]));
  OutputBytes output(name, "the matrix");
  write_numbers<std::int32_t>(output, head);
  write_numbers<std::int32_t>(output, matrix.columns);
  write_numbers<double>(output, matrix.values);
  output.commit();
}

} // namespace rafter::io

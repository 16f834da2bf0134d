// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/matrix_market.hpp>

#include <iterator>

#include <fmt/format.h>
#include <rafter/base/terminal_text.hpp>
#include <rafter/base/text.hpp>
#include <rafter/io/output_bytes.hpp>

namespace rafter::io {
namespace {

/// Text is collected and written to the file in large blocks.
void write_when_long(OutputBytes& output, fmt::memory_buffer& text, std::size_t long_text = std::size_t{1} << 20) {
  if (text.size() < long_text) return;
  output.write(text.data(), text.size());
  text.clear();
}

/// A comment ends with its line, and names of files may have several.
std::string one_line(const std::string& comment) {
  return base::join(base::split(base::terminal_text(comment), '\n'), "\\n");
}

} // namespace

void write_matrix_market(const std::string& name, const op::SparseMatrix& matrix,
                         std::span<const std::string> comments) {
  OutputBytes output(name, "the matrix");
  fmt::memory_buffer text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "%%MatrixMarket matrix coordinate real general\n");
  for (const auto& comment : comments) fmt::format_to(to, "% {}\n", one_line(comment));
  fmt::format_to(to, "{} {} {}\n", matrix.num_rows(), matrix.num_columns, matrix.num_entries());
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.num_rows()); ++row) {
    for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
      fmt::format_to(to, "{} {} {:.17g}\n", row + 1, matrix.columns[static_cast<std::size_t>(k)] + 1,
                     matrix.values[static_cast<std::size_t>(k)]);
    write_when_long(output, text);
  }
  write_when_long(output, text, 0);
  output.commit();
}

} // namespace rafter::io

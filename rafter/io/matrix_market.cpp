// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/matrix_market.hpp>

#include <cstdio>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/terminal_text.hpp>
#include <rafter/base/text.hpp>

namespace rafter::io {
namespace {

/// This collects text in memory and writes it to the file in large blocks.
class TextFile {
public:
  explicit TextFile(const std::string& name) : output_(name), file_(std::fopen(output_.working_path().c_str(), "w")) {
    require(file_ != nullptr, name);
  }
  fmt::memory_buffer& text() { return text_; }
  void write_when_long(const std::string& name) {
    constexpr std::size_t long_text = std::size_t{1} << 20;
    if (text_.size() >= long_text) write(name);
  }
  void commit(const std::string& name) {
    write(name);
    require(std::fclose(file_.release()) == 0, name);
    output_.commit();
  }

private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static void require(bool is_done, const std::string& name) {
    if (!is_done) throw base::EnvironmentError("cannot write the matrix to " + base::output_text(name));
  }
  void write(const std::string& name) {
    require(std::fwrite(text_.data(), 1, text_.size(), file_.get()) == text_.size(), name);
    text_.clear();
  }
  base::OutputFile output_;
  std::unique_ptr<std::FILE, Close> file_;
  fmt::memory_buffer text_;
};

/// A comment ends with its line, and names of files may have several.
std::string one_line(const std::string& comment) {
  return base::join(base::split(base::terminal_text(comment), '\n'), "\\n");
}

} // namespace

void write_matrix_market(const std::string& name, const op::SparseMatrix& matrix,
                         std::span<const std::string> comments) {
  TextFile file(name);
  const auto to = std::back_inserter(file.text());
  fmt::format_to(to, "%%MatrixMarket matrix coordinate real general\n");
  for (const auto& comment : comments) fmt::format_to(to, "% {}\n", one_line(comment));
  fmt::format_to(to, "{} {} {}\n", matrix.num_rows(), matrix.num_columns, matrix.num_entries());
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.num_rows()); ++row) {
    for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k)
      fmt::format_to(to, "{} {} {:.17g}\n", row + 1, matrix.columns[static_cast<std::size_t>(k)] + 1,
                     matrix.values[static_cast<std::size_t>(k)]);
    file.write_when_long(name);
  }
  file.commit(name);
}

} // namespace rafter::io

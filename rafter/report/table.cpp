// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/report/table.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>

namespace rafter::report {

Column::Column(std::string header_text, std::string meaning_text, Align alignment)
    : header(std::move(header_text)), meaning(std::move(meaning_text)), align(alignment) {
  if (header.empty() || meaning.empty())
    throw base::InternalError(fmt::format("column '{}' of a table has no header or no meaning", header));
}

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} us", 1e6 * seconds);
}

std::string wrapped(const std::string& first, const std::string& text) {
  const std::string blanks(text_width(first), ' ');
  std::string result, line = first;
  bool has_words = false;
  for (const auto& word : base::words(text)) {
    if (has_words && text_width(line) + 1 + text_width(word) > line_width) {
      result += line + "\n";
      line = blanks;
      has_words = false;
    }
    line += (has_words ? " " : "") + word;
    has_words = true;
  }
  return result + line + "\n";
}

std::string format_row(std::span<const Column> columns, std::span<const std::size_t> widths,
                       std::span<const std::string> cells) {
  if (cells.size() != columns.size() || widths.size() != columns.size())
    throw base::InternalError("table row without a cell per column");
  std::string line;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const std::string blanks(std::max(widths[k], text_width(cells[k])) - text_width(cells[k]), ' ');
    line += (k > 0 ? "  " : "") + (columns[k].align == Align::right ? blanks + cells[k] : cells[k] + blanks);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string format_headers(std::span<const Column> columns, std::span<const std::size_t> widths) {
  std::vector<std::string> headers;
  for (const auto& column : columns) headers.push_back(column.header);
  return format_row(columns, widths, headers);
}

std::string format_legend(std::span<const Column> columns) {
  std::size_t widest = 0;
  std::vector<std::string> parts;
  for (const auto& column : columns) {
    widest = std::max(widest, text_width(column.header));
    parts.push_back(column.header + ": " + column.meaning);
  }
  const auto line = "  " + base::join(parts, "; ") + "\n";
  if (text_width(line) <= line_width + 1) return line;
  std::string result;
  for (const auto& column : columns)
    result += wrapped(fmt::format("  {}{}  ", column.header, std::string(widest - text_width(column.header), ' ')),
                      column.meaning);
  return result;
}

std::string format_rows(std::span<const Column> columns, std::span<const std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (const auto& column : columns) widths.push_back(text_width(column.header));
  for (const auto& row : rows)
    for (std::size_t k = 0; k < std::min(row.size(), widths.size()); ++k)
      widths[k] = std::max(widths[k], text_width(row[k]));
  std::string text = format_headers(columns, widths);
  for (const auto& row : rows) text += format_row(columns, widths, row);
  return text;
}

std::string format_table(std::span<const Column> columns, std::span<const std::vector<std::string>> rows) {
  return format_rows(columns, rows) + format_legend(columns);
}

} // namespace rafter::report

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Tables for readers: columns that say what they are, a legend below, lines that fit a terminal.
namespace rafter::report {

/// Number of characters in a line of running text and of legends.
constexpr std::size_t line_width = 100;

enum class Align : std::uint8_t { left, right };

/// Header of a column, and the meaning of its entries.
struct Column {
  std::string header;
  std::string meaning; ///< text for the legend: what the numbers are, and their unit
  Align align;
  /// Throws InternalError where header or meaning is empty: unexplained columns are not shown.
  Column(std::string header, std::string meaning, Align align = Align::left);
};

/// Number of characters in a UTF-8 text.
std::size_t text_width(const std::string& text);

/// Text of a time with its unit, such as "12.3 ms".
std::string time_text(double seconds);

/// Breaks words into lines of at most line_width characters; the first line begins with `first`, the others with as
/// many blanks.
std::string wrapped(const std::string& first, const std::string& text);

/// A row of cells with two blanks between them, each at least as wide as its entry of `widths`. The text ends with a
/// new line.
std::string format_row(std::span<const Column> columns, std::span<const std::size_t> widths,
                       std::span<const std::string> cells);
/// The headers of the columns as a row.
std::string format_headers(std::span<const Column> columns, std::span<const std::size_t> widths);

/// Legend with the meaning of the columns, on one line where it fits, else with a line per column.
std::string format_legend(std::span<const Column> columns);

/// Headers and rows, aligned by content. `rows` has shape (row, column).
std::string format_rows(std::span<const Column> columns, std::span<const std::vector<std::string>> rows);
/// Headers and rows with the legend below. If several tables of a report have the same columns, one legend is enough.
std::string format_table(std::span<const Column> columns, std::span<const std::vector<std::string>> rows);

} // namespace rafter::report

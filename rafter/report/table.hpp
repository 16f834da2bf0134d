// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Tables for people: columns that say what they are, a legend below, lines that fit a terminal.
namespace rafter::report {

/// Characters of a line of running text and of legends.
constexpr std::size_t line_width = 100;

enum class Align : std::uint8_t { left, right };

/// What stands above a column, and what its numbers are.
struct Column {
  std::string header;
  std::string meaning; ///< for the legend: of what, in which unit
  Align align;
  /// Throws InternalError where either text is empty: a column that nobody explains is not shown.
  Column(std::string header, std::string meaning, Align align = Align::left);
};

/// Characters of a UTF-8 text.
std::size_t text_width(const std::string& text);

/// "12.3 ms"
std::string time_text(double seconds);

/// Words in lines of at most line_width characters; the first one begins with `first`, the others with as many blanks.
std::string wrapped(const std::string& first, const std::string& text);

/// Cells two blanks apart, each as wide as its entry of `widths` or wider. Ends with a new line.
std::string format_row(std::span<const Column> columns, std::span<const std::size_t> widths,
                       std::span<const std::string> cells);
/// The headers as such a row.
std::string format_headers(std::span<const Column> columns, std::span<const std::size_t> widths);

/// What the columns mean: on one line where that is enough, else a line per column.
std::string format_legend(std::span<const Column> columns);

/// Headers and rows aligned by content. rows: shape (row, column).
std::string format_rows(std::span<const Column> columns, std::span<const std::vector<std::string>> rows);
/// The same with the legend below. Where several tables of a report have the same columns, one legend serves them.
std::string format_table(std::span<const Column> columns, std::span<const std::vector<std::string>> rows);

} // namespace rafter::report

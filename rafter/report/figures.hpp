// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <rafter/report/report.hpp>
#include <rafter/report/table.hpp>

/// Figures are what the lists of a report hold, once for their columns in the text, for their keys in JSON and for the
/// legends of both.
namespace rafter::report {

/// A figure of a row; without one, a row leaves its place empty.
using FigureValue = std::variant<std::monostate, double, std::int64_t, std::string>;

/// Says who sees a column of the text: every reader, those who ask for details, or none, where JSON alone has it.
enum class Shown : std::uint8_t { always, in_detail, never };

/// A figure that every row of a list has.
template <class Row> struct Figure {
  std::string key;     ///< key in JSON; "": the text alone has it
  std::string header;  ///< head of its column in the text
  std::string meaning; ///< meaning of the value, with its unit
  std::string scale;   ///< unit of the text in that of the value, such as "10^6 "; "": they are the same
  Shown shown;
  Align align; ///< alignment in its column
  FigureValue (*value)(const Row&);
  std::string (*text)(const FigureValue&); ///< writes a value that exists
};

/// A step of Newton's method with the order p of |R_(k+1)| = C |R_k|^p, which the residuals up to its own show.
struct NewtonRow {
  NewtonStepReport step;
  FigureValue order;
};

std::span<const Figure<OperatorReport>> operator_figures();
std::span<const Figure<NewtonRow>> newton_figures();

/// Returns a row for each step.
std::vector<NewtonRow> newton_rows(const std::vector<NewtonStepReport>& steps);

/// Returns whether a figure has a column of the text.
template <class Row> bool is_shown(const Figure<Row>& figure, bool has_details) {
  return figure.shown == Shown::always || (has_details && figure.shown == Shown::in_detail);
}

/// Returns the columns of the text, those of details where they are wanted.
template <class Row> std::vector<Column> columns_of(std::span<const Figure<Row>> figures, bool has_details) {
  std::vector<Column> columns;
  for (const auto& figure : figures)
    if (is_shown(figure, has_details)) columns.push_back({figure.header, figure.scale + figure.meaning, figure.align});
  return columns;
}

/// Returns the entries of a row of the text in the order of columns_of().
template <class Row>
std::vector<std::string> cells_of(std::span<const Figure<Row>> figures, const Row& row, bool has_details) {
  std::vector<std::string> cells;
  for (const auto& figure : figures) {
    if (!is_shown(figure, has_details)) continue;
    const auto value = figure.value(row);
    cells.push_back(std::holds_alternative<std::monostate>(value) ? "" : figure.text(value));
  }
  return cells;
}

} // namespace rafter::report

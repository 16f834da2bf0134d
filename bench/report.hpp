// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/options.hpp>
#include <nlohmann/json.hpp>
#include <rafter/machine/machine.hpp>
#include <rafter/report/plan_list.hpp>
#include <rafter/report/plot.hpp>

/// Suites put their rows into a table that grows while they are measured, into JSON and plots, and compare them with an
/// earlier run.
namespace rafter::bench {

using Json = nlohmann::ordered_json;

/// A heading has the header and the meaning of a column, for people.
struct Heading {
  std::string header, meaning;
};

/// A column of a table shows the value of a key of the rows.
struct Column {
  std::string key;
  Heading heading;
  std::string format; ///< format of the value, as "{:8.1f}" or "{:<11}", whose width is that of the column
  double scale = 1;   ///< factor for numbers
};

/// A further table is printed below the one that grows, with its columns after those of the identity.
struct Table {
  std::string title;
  std::vector<Column> columns;
};

struct Layout {
  std::string suite, title;
  std::vector<Column> columns;       ///< columns of the table that grows, which should fit a terminal
  std::vector<Table> tables{};       ///< tables printed at the end, for what does not fit there
  std::vector<std::string> identity; ///< keys that distinguish rows
  std::string figure; ///< key of the main figure, of which larger is better; "spread" is (worst - best) / median
};

/// Reads the file to compare with, takes the machine's ceilings, binds a single thread to its core and prints the
/// heading, with the mesh of the settings where there is one, whose name, shapes and kinds of maps rows get. Throws
/// InputError for a file that is no report of this suite, or one of another mesh.
class Report {
public:
  Report(Layout layout, const Settings& settings, std::span<const std::string> arguments);

  const machine::Machine& machine() const { return machine_; }
  const std::vector<Json>& rows() const { return rows_; }
  /// Prints a row, with a letter for each plan of its `kernels` or, where it has none, for its `plan`. A row without
  /// figures says why under "missing", and is not compared.
  void add(Json row);
  /// Prints the legend, further tables, the plans and the comparison, and writes the files. The exit code is 1 when a
  /// row is slower than before by more than the spreads of both, else 0.
  int finish(std::span<const report::Plot> plots) const;

private:
  std::string plan_letters(const Json& row);
  bool print_comparison() const;
  void print_table(const Table& table) const;
  Layout layout_;
  const Settings& settings_;
  std::string command_;
  machine::Machine machine_;
  std::optional<Json> earlier_;
  std::vector<Json> rows_;
  report::PlanList plans_;
};

/// Returns a series of points (row[x], row[y]) for each value of the keys `by`, whose values are joined.
std::vector<report::PlotSeries> series(const std::vector<Json>& rows, const std::vector<std::string>& by,
                                       const std::string& x, const std::string& y);

} // namespace rafter::bench

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

/// What suites do with their rows: a table that grows while they are measured, JSON, plots, comparison with an earlier
/// run.
namespace rafter::bench {

using Json = nlohmann::ordered_json;

/// Header and meaning of a column, for people.
struct Heading {
  std::string header, meaning;
};

/// A column of a table: the value of a key of the rows.
struct Column {
  std::string key;
  Heading heading;
  std::string format; ///< of the value, as "{:8.1f}" or "{:<11}", whose width is that of the column; texts and numbers
  double scale = 1;   ///< numbers are multiplied
};

/// A table below the one that grows: its columns stand behind those of the identity.
struct Table {
  std::string title;
  std::vector<Column> columns;
};

struct Layout {
  std::string suite, title;
  std::vector<Column> columns;       ///< of the table that grows, which should fit a terminal
  std::vector<Table> tables{};       ///< printed at the end: what does not fit there
  std::vector<std::string> identity; ///< keys that tell rows apart
  std::string figure;                ///< key of the main figure, larger is better; "spread": (worst - best) / median
};

/// Reads the file to compare with, takes the machine's ceilings, binds a single thread to its core and prints the
/// heading. Throws InputError for a file that is no such report.
class Report {
public:
  Report(Layout layout, const Settings& settings, std::span<const std::string> arguments);

  const machine::Machine& machine() const { return machine_; }
  const std::vector<Json>& rows() const { return rows_; }
  /// Prints it. A row without figures says why under "missing"; nothing is compared with it.
  void add(Json row);
  /// Prints the legend, further tables, the plans and the comparison, writes the files. Exit code: 1 when a row is
  /// slower than before by more than the spreads of both, else 0.
  int finish(std::span<const report::Plot> plots) const;

private:
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

/// A series per value of the keys `by` (their values joined): points (row[x], row[y]).
std::vector<report::PlotSeries> series(const std::vector<Json>& rows, const std::vector<std::string>& by,
                                       const std::string& x, const std::string& y);

} // namespace rafter::bench

// SPDX-License-Identifier: BSD-3-Clause
#include <bench/report.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <bench/mesh_file.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/terminal_text.hpp>
#include <rafter/base/text.hpp>
#include <rafter/report/report.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/tune/device_probe.hpp>
#include <sched.h>

namespace rafter::bench {
namespace {

std::string formatted(const Column& column, const Json& row) {
  const auto& value = row.at(column.key);
  if (value.is_string()) return fmt::format(fmt::runtime(column.format), value.get<std::string>());
  if (value.is_number_integer() && column.scale == 1)
    return fmt::format(fmt::runtime(column.format), value.get<std::int64_t>());
  return fmt::format(fmt::runtime(column.format), column.scale * value.get<double>());
}

/// The letter of a row's plan comes after all other columns.
const Column plan_column{
    "plan", {"plan", "letter in the list of plans; several: of kernels one after the other"}, "{:<4}"};

std::vector<Column> with_plan(std::vector<Column> columns) {
  columns.push_back(plan_column);
  return columns;
}

std::vector<report::Column> headings(std::span<const Column> columns) {
  std::vector<report::Column> result;
  for (const auto& column : columns)
    result.emplace_back(column.heading.header, column.heading.meaning,
                        column.format.find('<') == std::string::npos ? report::Align::right : report::Align::left);
  return result;
}

/// Rows are printed before the next ones are known, so that columns are as wide as the format and the header make them.
std::vector<std::size_t> widths_of(std::span<const Column> columns) {
  std::vector<std::size_t> result;
  for (const auto& column : columns) {
    const auto digits = column.format.find_first_of("0123456789");
    result.push_back(std::max(report::text_width(column.heading.header),
                              static_cast<std::size_t>(std::stoi(column.format.substr(digits)))));
  }
  return result;
}

/// Returns the texts of a row without the blanks that the format puts before them, and "-" for what is missing.
std::vector<std::string> cells_of(std::span<const Column> columns, const Json& row) {
  std::vector<std::string> result;
  for (const auto& column : columns)
    result.emplace_back(row.contains(column.key) ? base::trimmed(formatted(column, row)) : "-");
  return result;
}

std::string identity_text(const Layout& layout, const Json& row) {
  std::vector<std::string> parts;
  for (const auto& key : layout.identity) {
    const auto& value = row.at(key);
    parts.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return base::join(parts, " ");
}

/// Reads a report that --json wrote for this suite and mesh. Throws InputError for other files.
Json read_earlier(const Layout& layout, const Settings& settings) {
  const auto& path = settings.compare;
  const bool is_file = std::filesystem::is_regular_file(path); // a pipe would be waited for
  std::ifstream file;
  if (is_file) file.open(path);
  if (!is_file || !file) throw base::InputError(fmt::format("bench {}: --compare: cannot read {}", layout.suite, path));
  const auto refuse = [&](const std::string& why) {
    throw base::InputError(fmt::format("bench {}: --compare: {}: {}", layout.suite, path, why));
  };
  Json report = Json::parse(file, nullptr, false);
  if (!report.is_object() || !report.contains("suite") || !report.contains("rows") || !report["rows"].is_array())
    refuse("is no report that --json of a suite wrote");
  if (report["suite"] != layout.suite) refuse("is of suite " + report["suite"].dump());
  const auto mesh_key = [](const Json& mesh) {
    return std::pair(mesh.value("hash", Json()), mesh.value("refinements", Json()));
  };
  const Json none = Json::object(), mesh = settings.mesh == nullptr ? none : to_json(*settings.mesh);
  const bool has_mesh = report.contains("mesh") && report["mesh"].is_object();
  if (mesh_key(has_mesh ? report["mesh"] : none) != mesh_key(mesh))
    refuse("is of another mesh: hash or number of refinements differ");
  for (const auto& row : report["rows"]) {
    for (const auto& key : layout.identity)
      if (!row.contains(key)) refuse(fmt::format("a row has no '{}'", key));
    for (const auto& key : {layout.figure, std::string("spread")})
      if (!row.contains("missing") && (!row.contains(key) || !row[key].is_number()))
        refuse(fmt::format("a row has no number '{}'", key));
  }
  return report;
}

machine::Machine machine_of(const Settings& settings) {
  if (settings.device != "host")
    return tune::ceilings(device::make_device(settings.device), {.is_fresh = settings.machine == "fresh"}).machine;
  if (settings.machine == "fresh") return machine::probe({.cores = settings.threads});
  return machine::load_or_probe(); // the record has rates of one core and of all, from which those between follow
}

/// A single thread is bound to the core that it runs on; several, and those of the drivers of devices, are left to the
/// system.
void pin(const Settings& settings) {
  if (settings.threads != 1 || settings.device != "host") return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(std::max(0, sched_getcpu())), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

} // namespace

Report::Report(Layout layout, const Settings& settings, std::span<const std::string> arguments)
    : layout_(std::move(layout)), settings_(settings), command_("rafter bench " + layout_.suite) {
  for (const auto& argument : arguments)
    command_ += argument.find(' ') == std::string::npos ? " " + argument : fmt::format(" \"{}\"", argument);
  if (!settings.plot.empty() && base::is_regular_output(settings.plot) && !settings.plot.ends_with(".svg"))
    throw base::InputError(
        fmt::format("bench {}: --plot: plots are SVG, '{}' does not end in .svg", layout_.suite, settings.plot));
  const std::string place = "bench " + layout_.suite + ": ";
  base::claim_outputs(
      std::vector<base::NamedFile>{{place + "--json", settings.json}, {place + "--plot", settings.plot}},
      std::vector<base::NamedFile>{{"the report to compare with", settings.compare}, {"the mesh", settings.mesh_path}});
  if (!settings.compare.empty()) earlier_ = read_earlier(layout_, settings);
  machine_ = machine_of(settings);
  pin(settings);
  const auto part = settings.device == "host" ? fmt::format("{} of {} cores", settings.threads, machine_.cores)
                                              : fmt::format("{}, {}", settings.device, machine_.vendor);
  fmt::print("{}\n{}\n{}, {}; {}\n", layout_.title, command_, machine_.model, part, machine_.measured_with);
  fmt::print("ceilings: {:.0f} GFLOP/s of fused multiply-adds, {:.1f} GB/s read from memory, {:.1f} GB/s "
             "x = y + a z\n{}\n",
             machine_.peak_flops(settings.threads) / 1e9, machine_.rate(machine_.memory().read, settings.threads) / 1e9,
             machine_.rate(machine_.memory().triad, settings.threads) / 1e9,
             machine_.is_quiet() ? "" : "BUSY while they were measured: they may be too low, and shares too high\n");
  if (settings.mesh != nullptr) fmt::print("{}\n", describe(*settings.mesh));
  layout_.columns = with_plan(std::move(layout_.columns));
  fmt::print("{}", report::format_headers(headings(layout_.columns), widths_of(layout_.columns)));
}

/// Kernels run one after the other. On the mesh of a file the list of plans names the kernels of each.
std::string Report::plan_letters(const Json& row) {
  std::vector<std::string> letters;
  const auto add = [&](const Json& plan, const std::string& of) {
    auto letter = plans_.label(schedule::parse_plan(plan.get<std::string>()), of);
    if (std::ranges::find(letters, letter) == letters.end()) letters.push_back(std::move(letter));
  };
  for (const auto& kernel : row.value("kernels", Json::array()))
    add(kernel.at("plan"), settings_.mesh == nullptr ? "" : kernel.at("name").get<std::string>());
  if (letters.empty()) add(row.at("plan"), "");
  return base::join(letters, " ");
}

void Report::add(Json row) {
  if (settings_.mesh != nullptr) row.update(row_of(*settings_.mesh));
  Json shown = row;
  if (row.contains("plan")) shown["plan"] = plan_letters(row);
  auto columns = std::span<const Column>(layout_.columns);
  if (row.contains("missing")) // the reason is printed where figures would begin
    columns = columns.first(static_cast<std::size_t>(
        std::ranges::find_if(columns, [&](const Column& column) { return !row.contains(column.key); }) -
        columns.begin()));
  auto line = report::format_row(headings(columns), widths_of(columns), cells_of(columns, shown));
  if (row.contains("missing")) line.insert(line.size() - 1, "  " + row.at("missing").get<std::string>());
  fmt::print("{}", line);
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void Report::print_table(const Table& table) const {
  std::vector<Column> columns;
  for (const auto& column : layout_.columns)
    if (std::ranges::find(layout_.identity, column.key) != layout_.identity.end()) columns.push_back(column);
  columns.insert(columns.end(), table.columns.begin(), table.columns.end());
  std::vector<std::vector<std::string>> rows;
  const auto has_figures = [&table](const Json& row) {
    return std::ranges::any_of(table.columns, [&row](const Column& column) {
      return row.contains(column.key) && row[column.key].is_number();
    });
  };
  for (const auto& row : rows_)
    if (has_figures(row)) rows.push_back(cells_of(columns, row));
  fmt::print("\n{}\n{}{}", table.title, report::format_rows(headings(columns), rows),
             report::format_legend(headings(table.columns))); // the other columns are explained above
}

bool Report::print_comparison() const {
  const auto& before = earlier_->at("rows");
  bool is_slower = false;
  fmt::print("\nratio to {}\n", settings_.compare);
  for (const auto& row : rows_) {
    const auto name = identity_text(layout_, row);
    if (row.contains("missing")) {
      fmt::print("{}: {}\n", name, row.at("missing").get<std::string>());
      continue;
    }
    const auto old = std::find_if(before.begin(), before.end(),
                                  [&](const Json& other) { return identity_text(layout_, other) == name; });
    if (old == before.end() || old->contains("missing")) {
      fmt::print("{}: not there\n", name);
      continue;
    }
    const auto figure = [&](const Json& r) { return r.at(layout_.figure).get<double>(); };
    const auto half_spread = [](const Json& r) { return r.at("spread").get<double>() / 2; };
    const bool falls = figure(row) * (1 + half_spread(row)) < figure(*old) * (1 - half_spread(*old));
    const bool rises = figure(row) * (1 - half_spread(row)) > figure(*old) * (1 + half_spread(*old));
    is_slower = is_slower || falls;
    fmt::print("{}: {:.3f}{}\n", name, figure(row) / figure(*old), falls ? "  SLOWER" : rises ? "  faster" : "");
  }
  return is_slower;
}

int Report::finish(std::span<const report::Plot> plots) const {
  fmt::print("{}", report::format_legend(headings(layout_.columns)));
  for (const auto& table : layout_.tables) print_table(table);
  fmt::print("\n{}", plans_.text());
  const bool is_slower = earlier_ && print_comparison();
  if (!settings_.json.empty()) {
    Json report{
        {"suite", layout_.suite},   {"command", command_}, {"threads", settings_.threads},
        {"figure", layout_.figure}, {"rows", rows_},       {"machine", Json::parse(machine::to_json(machine_))}};
    if (settings_.mesh != nullptr) report["mesh"] = to_json(*settings_.mesh);
    base::write_output(settings_.json,
                       base::terminal_json(report.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n");
  }
  if (!settings_.plot.empty()) base::write_output(settings_.plot, report::to_svg(plots));
  return is_slower ? 1 : 0;
}

std::vector<report::PlotSeries> series(const std::vector<Json>& rows, const std::vector<std::string>& by,
                                       const std::string& x, const std::string& y) {
  std::vector<report::PlotSeries> result;
  for (const auto& row : rows) {
    if (!row.contains(x) || !row.contains(y)) continue;
    const auto name = identity_text({.suite = {}, .title = {}, .columns = {}, .identity = by, .figure = {}}, row);
    auto found = std::ranges::find(result, name, &report::PlotSeries::name);
    if (found == result.end()) {
      result.push_back({name, {}, false});
      found = std::prev(result.end());
    }
    found->points.emplace_back(row.at(x).get<double>(), row.at(y).get<double>());
  }
  return result;
}

} // namespace rafter::bench

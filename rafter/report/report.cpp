// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/report/report.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include <rafter/base/error.hpp>

namespace rafter::report {

namespace {

/// Characters of a UTF-8 text.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} us", 1e6 * seconds);
}

std::string cells_text(const SolveReport& report) {
  std::string text;
  for (const auto& [shape, count] : report.cells)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, shape);
  return text.empty() ? "no cells" : text;
}

std::string phases_text(const SolveReport& report) {
  std::vector<std::vector<std::string>> rows;
  double total = 0;
  for (const auto& [phase, seconds] : report.seconds) total += seconds;
  for (const auto& [phase, seconds] : report.seconds)
    rows.push_back(
        {phase, fmt::format("{:.4f}", seconds), fmt::format("{:.1f} %", total > 0 ? 100 * seconds / total : 0)});
  rows.push_back({"total", fmt::format("{:.4f}", total), ""});
  return format_table(std::vector<std::string>{"phase", "seconds", "share"}, rows, std::vector<std::size_t>{1, 2});
}

std::string operators_text(const SolveReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& entry : report.operators)
    rows.push_back({entry.name, fmt::format("{:.3g}", 1e-6 * entry.dofs_per_second),
                    fmt::format("{:.2f}", entry.gflops), fmt::format("{:.2f}", entry.gbytes_per_second),
                    seconds_text(entry.seconds), seconds_text(entry.bound_seconds),
                    fmt::format("{:.1f} %", 100 * entry.share), entry.limited_by, entry.plan});
  return format_table(std::vector<std::string>{"operator", "MDoF/s", "GFLOP/s", "GB/s", "time", "bound", "of roofline",
                                               "limited by", "plan"},
                      rows, std::vector<std::size_t>{1, 2, 3, 4, 5, 6});
}

std::string errors_text(const SolveReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [field, errors] : report.errors)
    rows.push_back({field, fmt::format("{:.6e}", errors.l2), fmt::format("{:.6e}", errors.h1)});
  return format_table(std::vector<std::string>{"field", "relative L2 error", "relative H1 error"}, rows,
                      std::vector<std::size_t>{1, 2});
}

std::string functionals_text(const SolveReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : report.functionals) rows.push_back({name, fmt::format("{:.12g}", value)});
  return format_table(std::vector<std::string>{"functional", "value"}, rows, std::vector<std::size_t>{1});
}

} // namespace

std::string format_table(std::span<const std::string> headers, std::span<const std::vector<std::string>> rows,
                         std::span<const std::size_t> right) {
  std::vector<std::size_t> widths;
  for (const auto& header : headers) widths.push_back(width(header));
  for (const auto& row : rows) {
    if (row.size() != headers.size()) throw base::InternalError("table row without a cell per column");
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width(row[k]));
  }
  std::string text;
  const auto append_row = [&](std::span<const std::string> cells) {
    std::string line;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::string blanks(widths[k] - width(cells[k]), ' ');
      const bool is_right = std::find(right.begin(), right.end(), k) != right.end();
      line += (k > 0 ? "  " : "") + (is_right ? blanks + cells[k] : cells[k] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append_row(headers);
  for (const auto& row : rows) append_row(row);
  return text;
}

std::string to_text(const SolveReport& report) {
  std::string text = report.title.empty() ? "" : report.title + "\n";
  text += fmt::format("{} unknowns, {}\n", report.dofs, cells_text(report));
  text += fmt::format("{} after {} iterations, relative residual {:.2e}\n", report.status, report.iterations,
                      report.residual);
  if (!report.message.empty()) text += report.message + "\n";
  if (!report.errors.empty()) text += "\n" + errors_text(report);
  if (!report.functionals.empty()) text += "\n" + functionals_text(report);
  if (!report.seconds.empty()) text += "\n" + phases_text(report);
  if (!report.operators.empty()) text += "\n" + operators_text(report);
  return text;
}

void require_folder(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  const auto parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!parent.empty() && !std::filesystem::is_directory(parent, error))
    throw base::InputError(fmt::format("{} {}: {} is no folder", option, path, parent.string()));
  if (std::filesystem::is_directory(path, error))
    throw base::InputError(fmt::format("{} {}: is a folder; accepted is a file", option, path));
}

void write_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.tmp-{}", path, ::getpid());
  const auto fail = [&](int error) {
    ::unlink(temporary.c_str());
    throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
  };
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(errno);
  int error = 0;
  for (std::size_t written = 0; written < text.size() && error == 0;) {
    const auto count = ::write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR) error = errno;
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  if (error == 0 && ::fsync(descriptor) != 0 && errno != EINVAL) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) fail(error);
}

} // namespace rafter::report

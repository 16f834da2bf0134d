// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/problem.hpp>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include <rafter/base/error.hpp>
#include <rafter/base/input_file.hpp>
#include <rafter/io/problem_sections.hpp>
#include <rafter/io/unused_keys.hpp>

namespace rafter::io {
namespace {

/// Problem files are written by people, so that larger files are something else.
constexpr std::size_t max_file_bytes = 4 << 20;

std::string read_text(const std::string& path) {
  base::require_regular_file(path, "a problem file (TOML)");
  std::ifstream file(path, std::ios::binary);
  std::string text(max_file_bytes + 1, '\0'); // some files of the system have more bytes than they say
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) throw base::InputError(fmt::format("{}: cannot be read (permission?)", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_file_bytes)
    throw base::InputError(
        fmt::format("{}: more than {} bytes; a problem file (TOML) has at most so many", path, max_file_bytes));
  return text;
}

const std::vector<std::string> section_names{
    "title",     "mesh",       "periodic", "numerics", "fields", "coefficients", "definitions", "forms",
    "dirichlet", "constraint", "solver",   "newton",   "time",   "functionals",  "check",       "output"};

/// Reads a section if the file has it.
template <class Read> void read_optional(const TableReader& root, const char* name, Read read) {
  if (const Value* section = root.find(name)) read(TableReader(*section, name));
}

void require_content(const Value& root, std::string_view text, const std::string& source) {
  if (!root.keys.empty()) return;
  const bool is_blank = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  throw base::InputError(fmt::format("{}: {}; a problem needs at least [mesh], [fields] and [forms]", source,
                                     is_blank ? "the file is empty" : "the file has no keys"));
}

Problem read_sections(const Value& value, const std::string& source, const std::string& directory) {
  const TableReader root(value, "");
  root.accept_only(section_names);
  Problem problem;
  problem.source = source;
  problem.keys = given_keys(value);
  problem.title = root.string("title").value_or("");
  read_mesh_section(TableReader(root.require("mesh", "a table with file or box"), "mesh"), directory, problem);
  if (const Value* list = root.find("periodic")) read_periodic(*list, problem);
  read_fields(TableReader(root.require("fields", "tables [fields.NAME]"), "fields"), directory, problem);
  read_optional(root, "numerics", [&](const TableReader& table) { read_numerics(table, problem); });
  read_optional(root, "coefficients", [&](const TableReader& table) { read_coefficients(table, directory, problem); });
  read_optional(root, "definitions", [&](const TableReader& table) { read_definitions(table, problem); });
  read_optional(root, "time", [&](const TableReader& table) { read_time(table, problem); });
  read_forms(TableReader(root.require("forms", "a table with a and L, or with F"), "forms"), problem);
  if (const Value* list = root.find("dirichlet")) read_dirichlet(*list, problem);
  if (const Value* list = root.find("constraint")) read_constraints(*list, problem);
  problem.solver.control.rtol = 1e-8;
  read_optional(root, "solver", [&](const TableReader& table) { read_solver(table, problem); });
  if (const Value* newton = root.find("newton")) {
    if (!problem.forms.F)
      refuse(
          newton->location, "newton",
          "is for a residual form forms.F; the problem has a bilinear form forms.a, which one linear solve ([solver]) "
          "serves");
    read_newton(TableReader(*newton, "newton"), problem);
    if (const Value* steps = newton->find("load_steps"); steps != nullptr && problem.time)
      refuse(steps->location, "newton.load_steps",
             "is for problems without [time]: boundary values and loads change with the time steps");
  }
  read_optional(root, "functionals", [&](const TableReader& table) { read_functionals(table, problem); });
  read_optional(root, "check", [&](const TableReader& table) { read_check(table, problem); });
  read_optional(root, "output", [&](const TableReader& table) { read_output(table, problem); });
  warn_of_unused_keys(value, problem);
  return problem;
}

} // namespace

int Problem::max_degree() const {
  int result = 0;
  for (const auto& field : fields) result = std::max(result, field.degree);
  return result;
}

std::string Problem::test_name(std::size_t field) const { return fields.size() == 1 ? "v" : "v_" + fields[field].name; }

Problem parse_problem(std::string_view text, const std::string& source, const std::string& directory,
                      std::span<const std::string> overrides) {
  Value root = parse_toml(text, source);
  require_content(root, text, source);
  for (const auto& assignment : overrides) apply_override(root, assignment);
  return read_sections(root, source, directory);
}

Problem read_problem(const std::string& path, std::span<const std::string> overrides) {
  return parse_problem(read_text(path), path, std::filesystem::path(path).parent_path().string(), overrides);
}

} // namespace rafter::io

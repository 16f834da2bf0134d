// SPDX-License-Identifier: BSD-3-Clause
// This file reads the sections dirichlet, solver, newton and check.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/io/problem_sections.hpp>
#include <rafter/io/unused_keys.hpp>

namespace rafter::io {
namespace {

std::vector<std::string> field_names(const Problem& problem) {
  std::vector<std::string> names;
  for (const auto& field : problem.fields) names.push_back(field.name);
  return names;
}

void read_tags(const TableReader& table, Dirichlet& condition) {
  const Value& value = table.require("tags", "a list of tags (numbers or names of physical groups), or \"all\"");
  const std::string path = table.path("tags");
  condition.is_all = value.kind == Value::Kind::string && value.text == "all";
  if (!condition.is_all) condition.tags = read_tag_list(value, path, ", or \"all\"");
}

/// Calls a function that throws InputError for unknown names, and puts the place in the file before its message.
template <class Lookup> void require_known(const Value& value, std::string_view path, Lookup lookup) {
  try {
    lookup(read_string(value, path));
  } catch (const base::InputError& error) {
    if (value.kind != Value::Kind::string) throw;
    refuse(value.location, path, error.what());
  }
}

void read_chebyshev(const TableReader& table, solvers::ChebyshevParameters& parameters) {
  table.accept_only(std::vector<std::string>{"degree", "eigenvalue_ratio", "safety_factor", "estimate_iterations"});
  parameters.degree = table.integer("degree", 1, 50).value_or(parameters.degree);
  parameters.eigenvalue_ratio =
      table.number("eigenvalue_ratio", 1, infinity, true).value_or(parameters.eigenvalue_ratio);
  parameters.safety_factor = table.number("safety_factor", 1, 10).value_or(parameters.safety_factor);
  parameters.estimate_iterations =
      table.integer("estimate_iterations", 1, 1000).value_or(parameters.estimate_iterations);
}

solvers::Side read_side(const TableReader& table) {
  const Value* value = table.find("side");
  if (!value) return solvers::Side::right;
  static const std::vector<std::string> known{"right", "left"};
  const std::string text = read_string(*value, table.path("side"));
  if (text != known[0] && text != known[1]) refuse_name(*value, table.path("side"), known);
  return text == "left" ? solvers::Side::left : solvers::Side::right;
}

/// These methods and preconditioners use a key of [solver]; is_chosen says whether the chosen ones are among them.
struct Readers {
  std::vector<std::string> names;
  bool is_chosen = false;

  void add(std::string_view kind, std::string_view name, bool is_this) {
    names.push_back(fmt::format("{} = \"{}\"", kind, name));
    is_chosen = is_chosen || is_this;
  }
};

bool has(std::span<const std::string_view> keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

constexpr std::array<std::string_view, 4> smoother_keys{"smoother", "smoother_degree", "pre", "post"};

/// Says whether the preconditioner of that name is the one of the problem, or that of one of its fields.
bool is_chosen(std::string_view preconditioner, const Problem& problem) {
  const auto& options = problem.solver;
  if (solvers::find_method(options.method).is_direct) return false;
  return preconditioner == options.preconditioner ||
         (options.preconditioner == "block" &&
          std::ranges::find(problem.blocks, preconditioner) != problem.blocks.end());
}

Readers readers_of(std::string_view key, const Problem& problem) {
  Readers readers;
  for (const auto& method : solvers::methods())
    if (has(method.keys, key)) readers.add("method", method.name, method.name == problem.solver.method);
  for (const auto& kind : solvers::preconditioners())
    if (has(kind.keys, key)) readers.add("preconditioner", kind.name, is_chosen(kind.name, problem));
  return readers;
}

/// The preconditioners that use a key of solver.multigrid. A start is for the whole solve: fields have none. BoomerAMG
/// has smoothers of its own.
Readers readers_in_multigrid(std::string_view key, const Problem& problem) {
  Readers readers;
  for (const auto& kind : solvers::preconditioners()) {
    if (!has(kind.keys, "multigrid") || (!kind.multigrid_keys.empty() && !has(kind.multigrid_keys, key))) continue;
    const bool is_of_fields = problem.solver.preconditioner == "block";
    const bool is_of_aggregates = kind.name == "amg" && has(smoother_keys, key),
               has_aggregates = problem.solver.multigrid.amg == solvers::AmgMethod::smoothed_aggregation;
    const bool is_read = !(key == "start" && is_of_fields) && (!is_of_aggregates || has_aggregates);
    readers.add("preconditioner", kind.name, is_chosen(kind.name, problem) && is_read);
    if (is_of_aggregates) readers.names.back() += " with solver.multigrid.amg = \"smoothed-aggregation\"";
  }
  return readers;
}

void warn_of_unread_key(const std::string& path, const Readers& readers, const Problem& problem) {
  const auto& options = problem.solver;
  warn_unused(problem, path,
              fmt::format("it is for {}; the method is \"{}\"{}", base::join(readers.names, ", "), options.method,
                          solvers::find_method(options.method).is_direct
                              ? ""
                              : fmt::format(", the preconditioner \"{}\"{}", options.preconditioner,
                                            options.preconditioner == "block"
                                                ? fmt::format(" with \"{}\"", base::join(problem.blocks, "\", \""))
                                                : "")));
}

/// The user is warned of keys that the chosen method and preconditioner do not use. They are not refused, so that a
/// file can be tried with several methods.
void warn_of_unread_keys(const TableReader& table, const Problem& problem) {
  for (const auto& key : table.value().keys) {
    const auto readers = readers_of(key.name, problem);
    const bool is_multigrid = key.name == "multigrid";
    if (is_multigrid && !problem.has_preconditioner) continue; // it may be chosen for a large problem
    if (!readers.names.empty() && !readers.is_chosen)
      warn_of_unread_key(table.path(key.name), readers, problem);
    else if (is_multigrid)
      for (const auto& inner : table.find(key.name)->keys)
        if (const auto of_key = readers_in_multigrid(inner.name, problem); !of_key.is_chosen)
          warn_of_unread_key(table.path(key.name) + "." + inner.name, of_key, problem);
  }
}

} // namespace

void warn_of_keys_that_direct_solves_leave(const Problem& problem, std::string_view cause) {
  auto direct = problem;
  direct.solver.method = "direct";
  constexpr std::string_view section = "solver.";
  for (const auto& key : problem.keys) {
    if (!key.path.starts_with(section)) continue;
    const auto name = std::string_view(key.path).substr(section.size());
    if (readers_of(name, problem).is_chosen && !readers_of(name, direct).is_chosen)
      warn_unused(problem, key.path, fmt::format("the method is \"direct\", chosen because {}", cause));
  }
  if (problem.solver.control.norm != solvers::Norm::residual)
    warn_unused(problem, "solver.norm",
                fmt::format("the method is \"direct\", chosen because {}, and judges the residual", cause));
}

namespace {

/// Only methods that need the preconditioned norm for their own work know it at every iteration.
solvers::Norm read_norm(const TableReader& table, const std::string& method) {
  const Value* value = table.find("norm");
  if (!value) return solvers::Norm::residual;
  const std::string path = table.path("norm"), text = read_string(*value, path);
  for (const auto norm : {solvers::Norm::residual, solvers::Norm::preconditioned}) {
    if (text != solvers::name(norm)) continue;
    if (norm == solvers::Norm::preconditioned && method != "cg" && method != "minres")
      refuse(
          value->location, path,
          fmt::format(
              "\"preconditioned\" is for method = \"cg\" and \"minres\", found \"{}\"; accepted is \"residual\" (gmres "
              "with side = \"left\" judges the 2-norm of the preconditioned residual)",
              method));
    return norm;
  }
  refuse_name(*value, path, std::vector<std::string>{"residual", "preconditioned"});
}

/// Names of the preconditioners that are not made of others.
std::vector<std::string> single_preconditioners() {
  std::vector<std::string> names;
  for (const auto& kind : solvers::preconditioners())
    if (kind.name != "block") names.emplace_back(kind.name);
  return names;
}

/// Reads the preconditioner of each field.
void read_blocks(const TableReader& table, Problem& problem) {
  const auto& options = problem.solver;
  const Value* value = table.find("blocks");
  const bool is_used = options.preconditioner == "block" && !solvers::find_method(options.method).is_direct;
  if (is_used && (problem.forms.F || problem.time))
    refuse(
        problem.preconditioner_location, table.path("preconditioner"),
        fmt::format("\"block\" is for linear problems that do not change in time in this version, the problem has {}; "
                    "accepted: {}",
                    problem.time ? "[time]" : "forms.F", base::join(single_preconditioners(), ", ")));
  const auto names = field_names(problem);
  constexpr auto accepted = "a table with the preconditioner of each field, such as {{ {} = \"jacobi\" }}";
  if (value == nullptr) {
    if (is_used)
      refuse(problem.preconditioner_location, table.path("preconditioner"),
             fmt::format("\"block\" needs solver.blocks, {}", fmt::format(accepted, names.front())));
    return;
  }
  if (value->kind != Value::Kind::table)
    refuse_value(*value, table.path("blocks"), fmt::format(accepted, names.front()));
  const TableReader blocks(*value, table.path("blocks"));
  blocks.accept_only(names);
  for (const auto& name : names) {
    const Value& kind = blocks.require(name, "the preconditioner of this field, such as \"jacobi\"");
    const auto accepted_names = single_preconditioners();
    const auto text = read_string(kind, blocks.path(name));
    if (text == "block")
      refuse(kind.location, blocks.path(name),
             fmt::format("blocks are not made of blocks; accepted: {}", base::join(accepted_names, ", ")));
    if (std::ranges::find(accepted_names, text) == accepted_names.end())
      refuse_name(kind, blocks.path(name), accepted_names);
    problem.blocks.push_back(kind.text);
  }
}

} // namespace

std::vector<Expression> read_values(const Value& value, const std::string& path, int count) {
  const std::string accepted =
      count == 1
          ? "a number or an expression (string)"
          : fmt::format("a list of {} numbers or expressions (strings), one per component, or an expression (string) "
                        "that is a vector",
                        count);
  if (value.kind != Value::Kind::array) {
    if (count != 1 && value.kind != Value::Kind::string) refuse_value(value, path, accepted);
    return {read_expression(value, path)};
  }
  if (value.items.size() != static_cast<std::size_t>(count)) refuse_value(value, path, accepted);
  std::vector<Expression> result;
  for (std::size_t i = 0; i < value.items.size(); ++i)
    result.push_back(read_expression(value.items[i], fmt::format("{}[{}]", path, i)));
  return result;
}

std::size_t read_field_name(const TableReader& table, const Problem& problem) {
  const auto names = field_names(problem);
  if (!table.find("field") && names.size() == 1) return 0;
  const Value& value = table.require("field", "the name of a field: " + base::join(names, ", "));
  const auto found = std::find(names.begin(), names.end(), read_string(value, table.path("field")));
  if (found == names.end()) refuse_name(value, table.path("field"), names);
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<int> read_components(const TableReader& table, const Field& field) {
  std::vector<int> components;
  const Value* value = table.find("components");
  if (!value) return components;
  const std::string path = table.path("components");
  if (value->kind != Value::Kind::array || value->items.empty())
    refuse_value(*value, path, fmt::format("a list of components from 0 to {}", field.num_components() - 1));
  for (const auto& item : value->items) {
    const int component = read_integer(item, path, 0, field.num_components() - 1);
    if (std::count(components.begin(), components.end(), component) > 0)
      refuse(item.location, path, fmt::format("component {} is given twice", component));
    components.push_back(component);
  }
  return components;
}

void read_dirichlet(const Value& list, Problem& problem) {
  if (list.kind != Value::Kind::array) refuse_value(list, "dirichlet", "a list of tables [[dirichlet]]");
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const TableReader table(list.items[i], fmt::format("dirichlet[{}]", i));
    table.accept_only(std::vector<std::string>{"field", "tags", "value", "components"});
    Dirichlet condition{.location = list.items[i].location};
    condition.field = read_field_name(table, problem);
    const Field& field = problem.fields[condition.field];
    read_tags(table, condition);
    condition.components = read_components(table, field);
    const int count =
        condition.components.empty() ? field.num_components() : static_cast<int>(condition.components.size());
    const Value& value = table.require("value", "a number, an expression (string) or a list of these");
    condition.values = read_values(value, table.path("value"), count);
    problem.dirichlet.push_back(std::move(condition));
  }
}

void read_solver(const TableReader& table, Problem& problem) {
  table.accept_only(std::vector<std::string>{"method", "preconditioner", "rtol", "atol", "max_iterations", "fused",
                                             "restart", "side", "chebyshev", "multigrid", "blocks", "norm",
                                             "stagnation_window"});
  auto& options = problem.solver;
  if (const Value* method = table.find("method")) {
    require_known(*method, table.path("method"), [](const std::string& name) { solvers::find_method(name); });
    problem.method_location = method->location;
  }
  if (const Value* kind = table.find("preconditioner")) {
    require_known(*kind, table.path("preconditioner"),
                  [](const std::string& name) { solvers::find_preconditioner(name); });
    problem.preconditioner_location = kind->location;
    problem.has_preconditioner = true;
  }
  problem.has_solver_method = table.find("method") != nullptr;
  for (const char* key :
       {"max_iterations", "stagnation_window", "norm", "fused", "restart", "side", "chebyshev", "multigrid", "blocks"})
    problem.has_iteration_keys = problem.has_iteration_keys || table.find(key) != nullptr;
  options.method = table.string("method").value_or(options.method);
  options.preconditioner = table.string("preconditioner").value_or(options.preconditioner);
  options.control.rtol = table.number("rtol", 0, 1, true).value_or(options.control.rtol);
  options.control.atol = table.number("atol", 0, infinity).value_or(options.control.atol);
  options.control.max_iterations = table.integer("max_iterations", 1, 1'000'000'000);
  options.control.stagnation_window = table.integer("stagnation_window", 1, 1'000'000'000).value_or(0);
  options.control.norm = read_norm(table, options.method);
  options.is_fused = table.boolean("fused").value_or(options.is_fused);
  options.restart = table.integer("restart", 1, 10'000).value_or(options.restart);
  options.side = read_side(table);
  if (const Value* chebyshev = table.find("chebyshev"))
    read_chebyshev(TableReader(*chebyshev, table.path("chebyshev")), options.chebyshev);
  if (const Value* multigrid = table.find("multigrid"))
    read_multigrid(TableReader(*multigrid, table.path("multigrid")), problem);
  if (options.multigrid.has_full_start && (problem.forms.F || problem.time))
    warn_unused(problem, table.path("multigrid.start"),
                fmt::format("the linear systems of problems with {} start from zero or from the state before",
                            problem.time ? "[time]" : "forms.F"));
  read_blocks(table, problem);
  warn_of_unread_keys(table, problem);
}

void read_newton(const TableReader& table, Problem& problem) {
  table.accept_only(std::vector<std::string>{"rtol", "atol", "max_iterations", "line_search", "load_steps"});
  auto& options = problem.newton;
  options.rtol = table.number("rtol", 0, 1, true).value_or(options.rtol);
  options.atol = table.number("atol", 0, infinity).value_or(options.atol);
  options.max_iterations = table.integer("max_iterations", 1, 1'000'000).value_or(options.max_iterations);
  options.line_search = table.boolean("line_search").value_or(options.line_search);
  options.load_steps = table.integer("load_steps", 1, 1'000'000).value_or(options.load_steps);
}

void read_check(const TableReader& table, Problem& problem) {
  auto accepted = field_names(problem);
  accepted.insert(accepted.end(), {"max_l2_error", "max_h1_error"});
  table.accept_only(accepted);
  auto& check = problem.check;
  for (std::size_t field = 0; field < problem.fields.size(); ++field)
    if (const Value* exact = table.find(problem.fields[field].name))
      check.exact.emplace_back(
          field, read_values(*exact, table.path(problem.fields[field].name), problem.fields[field].num_components()));
  check.max_l2_error = table.number("max_l2_error", 0, infinity, true);
  check.max_h1_error = table.number("max_h1_error", 0, infinity, true);
  if (check.exact.empty())
    refuse(table.value().location, "check",
           fmt::format("no exact solution; accepted is one per field: {}", base::join(field_names(problem), ", ")));
}

} // namespace rafter::io

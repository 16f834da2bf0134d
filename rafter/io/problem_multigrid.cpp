// SPDX-License-Identifier: BSD-3-Clause
// This file reads the table solver.multigrid.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/io/problem_sections.hpp>
#include <rafter/io/unused_keys.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/schedule/precision.hpp>

namespace rafter::io {
namespace {

/// Reads a key that is one of some words; `later` are words of versions to come.
std::string read_word(const TableReader& table, const char* key, const std::vector<std::string>& known,
                      const std::vector<std::string>& later = {}) {
  const Value* value = table.find(key);
  if (value == nullptr) return known.front();
  const auto text = read_string(*value, table.path(key));
  if (std::ranges::find(known, text) == known.end()) refuse_name(*value, table.path(key), known, later);
  return text;
}

/// Reads "p,h", whose steps are made as often as possible, or a list such as ["h", "p", "lor"] of single ones.
void read_coarsening(const TableReader& table, op::Coarsening& coarsening) {
  const Value* value = table.find("coarsening");
  if (value == nullptr) return;
  const auto path = table.path("coarsening");
  coarsening.repeats_steps = value->kind == Value::Kind::string;
  std::vector<std::string> words;
  const std::string accepted = "\"p,h\", \"h,p\", \"p\", \"h\", \"lor\", or a list of steps \"p\", \"h\" and \"lor\"";
  if (value->kind == Value::Kind::string) {
    constexpr std::array<std::string_view, 5> known{"p,h", "h,p", "p", "h", "lor"};
    if (std::ranges::find(known, value->text) == known.end()) refuse_value(*value, path, accepted);
    words.push_back(value->text);
  } else if (value->kind == Value::Kind::array && !value->items.empty()) {
    for (const auto& item : value->items) {
      words.push_back(read_string(item, path));
      if (words.back() != "p" && words.back() != "h" && words.back() != "lor") refuse_value(item, path, accepted);
    }
  } else
    refuse_value(*value, path, accepted);
  coarsening.steps = op::parse_coarsening_steps(base::join(words, ","));
}

void read_degrees(const TableReader& table, Problem& problem) {
  auto& coarsening = problem.coarsening;
  const int degree_of_fields = problem.max_degree();
  const Value* value = table.find("degrees");
  if (value == nullptr) return;
  const auto path = table.path("degrees");
  if (value->kind != Value::Kind::array || value->items.empty())
    refuse_value(*value, path, "a list of degrees that descend, such as [4, 2, 1]");
  int below = element::max_lagrange_degree + 1;
  for (const auto& item : value->items) {
    if (below == 1) refuse(item.location, path, "degrees descend, and there is none below 1");
    coarsening.degrees.push_back(below = read_integer(item, path, 1, below - 1));
  }
  if (std::ranges::find(coarsening.steps, op::CoarseningStep::p) == coarsening.steps.end())
    warn_unused(problem, path,
                fmt::format("degrees are for steps \"p\", of which {} has none", table.path("coarsening")));
  else if (coarsening.degrees.front() >= degree_of_fields)
    base::warn(fmt::format("{}: key {}: levels have degrees below that of the fields, {}; what is not below it in the "
                           "list is left out",
                           value->location.text(), path, degree_of_fields));
}

/// Plain conjugate gradients need a symmetric cycle: one of the keys alone is for both.
int read_smoothing_steps(const TableReader& table, int otherwise) {
  constexpr int most = 20;
  const int pre = table.integer("pre", 1, most).value_or(table.integer("post", 1, most).value_or(otherwise));
  const int post = table.integer("post", 1, most).value_or(pre);
  if (pre != post)
    refuse(table.find("post")->location, table.path("post"),
           fmt::format("{} steps after and {} before the coarse correction: this version has symmetric cycles alone, "
                       "accepted are equal numbers",
                       post, pre));
  return pre;
}

solvers::CoarseSolver read_coarse_solver(const TableReader& table) {
  using enum solvers::CoarseSolver;
  const auto word = read_word(table, "coarse", {"auto", "direct", "amg", "chebyshev"});
  for (const auto solver : {automatic, direct, amg})
    if (word == solvers::name(solver)) return solver;
  return chebyshev;
}

/// Reads which algebraic multigrid is meant, and the table of BoomerAMG.
void read_amg(const TableReader& table, solvers::MultigridParameters& parameters) {
  using enum solvers::CoarseSolver;
  const auto read = [](const TableReader& from, const char* key, auto first, auto second) {
    const auto word = read_word(from, key, {std::string(name(first)), std::string(name(second))});
    return word == name(first) ? first : second;
  };
  parameters.amg = read(table, "amg", solvers::AmgMethod::smoothed_aggregation, solvers::AmgMethod::boomeramg);
  if (const Value* value = table.find("amg");
      value != nullptr && parameters.coarse != amg && parameters.coarse != automatic)
    refuse(value->location, table.path("amg"),
           fmt::format("algebraic multigrid is for coarse = \"amg\" or \"auto\", which is \"{}\" here",
                       name(parameters.coarse)));
  const Value* value = table.find("boomeramg");
  if (value == nullptr) return;
  if (parameters.amg != solvers::AmgMethod::boomeramg)
    refuse(value->location, table.path("boomeramg"), "the table is for amg = \"boomeramg\"");
  const TableReader own(*value, table.path("boomeramg"));
  own.accept_only(std::vector<std::string>{"strong_threshold", "interpolation"});
  parameters.boomeramg.strong_threshold = own.number("strong_threshold", 0, 1, true).value_or(0);
  parameters.boomeramg.interpolation =
      read(own, "interpolation", solvers::AmgInterpolation::components, solvers::AmgInterpolation::rigid_modes);
}

/// Reads the tolerance of the coarsest level, which its algebraic multigrid is iterated to, and numbers of iterations.
void read_coarse_iterations(const TableReader& table, solvers::MultigridParameters& parameters) {
  using enum solvers::CoarseSolver;
  constexpr int most = 50;
  const auto rtol = table.number("coarse_rtol", 0, 1, true);
  if (rtol && parameters.coarse != amg && parameters.coarse != automatic)
    refuse(
        table.find("coarse_rtol")->location, table.path("coarse_rtol"),
        fmt::format("a tolerance is for coarse = \"amg\" or \"auto\", which is \"{}\" here", name(parameters.coarse)));
  const auto iterations = table.integer("coarse_iterations", 1, most);
  if (iterations && !rtol && parameters.coarse != chebyshev)
    refuse(table.find("coarse_iterations")->location, table.path("coarse_iterations"),
           fmt::format("iterations are for coarse_rtol or coarse = \"chebyshev\", which is \"{}\" here",
                       name(parameters.coarse)));
  parameters.coarse_rtol = rtol.value_or(0);
  parameters.coarse_iterations = iterations.value_or(parameters.coarse_iterations);
  parameters.coarse_degree = iterations.value_or(parameters.coarse_degree);
}

} // namespace

void read_multigrid(const TableReader& table, Problem& problem) {
  table.accept_only(std::vector<std::string>{"coarsening", "semicoarsening", "degrees", "smoother", "smoother_degree",
                                             "pre", "post", "cycle", "precision", "coarse", "coarse_rtol",
                                             "coarse_iterations", "start", "amg", "boomeramg"});
  auto& parameters = problem.solver.multigrid;
  read_coarsening(table, problem.coarsening);
  if (const Value* coarsening = table.find("coarsening")) problem.coarsening_location = coarsening->location;
  if (!table.boolean("semicoarsening").value_or(true)) problem.box_coarsening = mesh::BoxCoarsening::all_axes;
  read_degrees(table, problem);
  read_word(table, "smoother", {"chebyshev"}, {"line"});
  if (read_word(table, "precision", {"double", "single"}) == "single")
    problem.level_precision = schedule::Precision::single_precision;
  parameters.smoother.degree = table.integer("smoother_degree", 1, 50).value_or(parameters.smoother.degree);
  parameters.smoothing_steps = read_smoothing_steps(table, parameters.smoothing_steps);
  parameters.cycle = read_word(table, "cycle", {"V", "W"}) == "V" ? solvers::Cycle::v : solvers::Cycle::w;
  parameters.coarse = read_coarse_solver(table);
  if (const Value* coarse = table.find("coarse")) problem.coarse_location = coarse->location;
  parameters.has_full_start = read_word(table, "start", {"zero", "full"}) == "full";
  read_coarse_iterations(table, parameters);
  read_amg(table, parameters);
}

} // namespace rafter::io

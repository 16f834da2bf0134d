// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/terminal_text.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/tuning.hpp>
#include <rafter/problem/measurement.hpp>
#include <rafter/report/report.hpp>
#include <rafter/tune/store.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "plan_table.hpp"
#include "problem_data.hpp"
#include "problem_solver.hpp"

namespace rafter::app {
namespace {

using Json = nlohmann::ordered_json;

void print_kernel(const op::TunedKernel& tuned, report::PlanList& plans) {
  const auto& info = tuned.info;
  fmt::print("{}\n  cells: {} in {} batches\n", info.name, info.num_cells, info.num_batches);
  if (tuned.num_timed > 0)
    fmt::print("  timed: {} of {} plans\n", tuned.num_timed, info.decision.candidates.size());
  else
    fmt::print("  remembered: nothing was timed (--fresh measures again)\n");
  fmt::print("{}\n{}\n", plan_line(info, plans), plan_table(info));
}

void print_matrix(const op::TunedMatrix& matrix) {
  fmt::print("{}\n", forecast_text(matrix.forecast));
  if (!matrix.was_timed)
    fmt::print("  {}\n", matrix.forecast.is_measured ? "remembered: nothing was timed (--fresh measures again)"
                         : !matrix.forecast.fits     ? "not timed: it does not fit into the memory"
                                                 : "not timed: it would have to be twice as good as predicted to pay");
}

Json features_json(const tune::Features& features) {
  Json result = Json::array();
  for (const auto& feature : tune::feature_names) result.push_back(features.*feature.value);
  return result;
}

Json feature_names_json() {
  Json result = Json::array();
  for (const auto& feature : tune::feature_names) result.push_back(feature.name);
  return result;
}

/// Timings are not reproducible beyond four digits.
double rounded(double seconds) { return base::parse_double(fmt::format("{:.4g}", seconds)); }

/// Returns a sweep in the format that scripts/fit_cost_model.py and the tests of the search read. A batch has
/// `cells_per_batch` cells.
Json kernel_json(const op::TunedKernel& tuned, int cells_per_batch) {
  const auto& info = tuned.info;
  Json candidates = Json::array();
  std::vector<schedule::Plan> plans;
  for (const auto& c : info.decision.candidates) plans.push_back(c.plan);
  const auto names = schedule::short_names(plans);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& c = info.decision.candidates[i];
    candidates.push_back({{"plan", names[i]},
                          {"seconds", rounded(c.measured_seconds.value_or(0))},
                          {"predicted", rounded(c.predicted_seconds)},
                          {"bound", rounded(c.bound_seconds)},
                          {"features", features_json(c.features)}});
  }
  return {{"kernel", info.name},
          {"cells", info.num_cells},
          {"batches", info.num_batches},
          {"points", info.num_points},
          {"cells_per_batch", cells_per_batch},
          {"candidates", candidates}};
}

void write_record(const std::string& path, const std::string& title, const problem::PreparedProblem& prepared,
                  const std::vector<op::TunedKernel>& tuned) {
  Json kernels = Json::array();
  for (const auto& kernel : tuned) kernels.push_back(kernel_json(kernel, prepared.system().batches->cells_per_batch));
  const Json record{{"title", title},
                    {"threads", prepared.options().shared_device->num_threads()},
                    {"machine", Json::parse(machine::to_json(prepared.machine()))},
                    {"feature_names", feature_names_json()},
                    {"kernels", kernels}};
  base::write_output(path, base::terminal_json(record.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n");
}

} // namespace

int run_tune(const TuneOptions& options) {
  if (options.problem.device == "checked")
    throw base::InputError("tune: --device checked: accepted are host, opencl, cuda and hip (opencl:1: the second "
                           "one), where time is of the "
                           "kernels alone");
  auto problem = io::read_problem(options.problem.file, options.problem.overrides);
  base::claim_outputs(std::vector<base::NamedFile>{{"--record", options.record}}, input_files(problem));
  problem.output.file.clear(); // the subcommand solves nothing, so that there is no output
  const auto made = prepare_operators(problem, {.device = options.problem.device, .threads = options.problem.threads});
  const auto& prepared = *made;
  Console console;
  op::TuningOptions tuning;
  tuning.search.is_exhaustive = options.is_exhaustive || !options.record.empty();
  tuning.is_fresh = options.is_fresh || tuning.search.is_exhaustive;
  tuning.event = [&console](const std::string& text) {
    require_not_interrupted();
    console.event(text);
  };
  const auto kernel_options = op::kernel_options(prepared.options(), prepared.options().shared_device);
  const auto& form = prepared.operator_a().form();
  const auto purpose = options.has_cell_matrices ? op::Purpose::matrix : op::Purpose::action;
  const auto tuned = op::tune_kernels(form, prepared.system(), kernel_options, tuning, purpose);
  const auto matrix =
      options.has_cell_matrices ? std::nullopt : op::tune_matrix(form, prepared.system(), kernel_options, tuning);
  console.clear();
  if (!options.record.empty()) write_record(options.record, problem.title, prepared, tuned);
  problem::warn_if_busy(prepared.machine());
  report::PlanList plans;
  for (const auto& kernel : tuned) print_kernel(kernel, plans);
  if (matrix) print_matrix(*matrix);
  fmt::print("\ntables of plans:\n{}\n{}", plan_table_legend(), plans.text());
  return exit_done;
}

} // namespace rafter::app

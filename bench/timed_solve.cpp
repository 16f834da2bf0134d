// SPDX-License-Identifier: BSD-3-Clause
#include <bench/timed_solve.hpp>

#include <algorithm>
#include <cmath>

#include <bench/operators.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/device/finish.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/multigrid_levels.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

/// Says how often a solve is expected to apply its operator, as `rafter solve` does.
double expected_applications(const SolveProblem& problem, const op::System& system, const SolveChoice& choice) {
  constexpr double with_multigrid = 60, per_point_of_an_edge = 2;
  if (choice.preconditioner != "jacobi") return with_multigrid;
  const double points = static_cast<double>(system.num_unknowns()) / std::max(problem.components, 1);
  return per_point_of_an_edge * std::pow(points, 1.0 / system.mesh->tdim);
}

op::System make_system(const SolveProblem& problem) {
  const auto discretisation = std::make_shared<const space::Discretisation>(
      problem.meshes->finest(), space::DiscretisationOptions{.degree = problem.degree});
  return op::make_system({space::FunctionSpace::make(
      discretisation, {.degree = problem.degree, .components = problem.components, .name = "u"})});
}

form::Form parse(const SolveProblem& problem, const op::System& system, const std::string& text) {
  form::Scope scope(system.mesh->gdim);
  const std::shared_ptr<const form::FieldSpace> field = system.spaces.front();
  scope.add_arguments({&field, 1});
  if (problem.add_names) problem.add_names(scope);
  return form::parse_form(text, scope);
}

op::OperatorOptions operator_options(const SolveProblem& problem, const op::System& system, const SolveChoice& choice,
                                     const std::shared_ptr<device::Device>& device) {
  const auto zero = [](std::span<const double>, std::span<double> values) { std::ranges::fill(values, 0.0); };
  return {
      .shared_device = device,
      .quadrature = problem.quadrature,
      .plan = choice.plan,
      .num_applications = expected_applications(problem, system, choice),
      .dirichlet = {{.space = system.spaces.front(),
                     .condition = {.tags = problem.fixed_tags, .is_all = problem.fixed_tags.empty(), .value = zero}}}};
}

double kernel_seconds(std::span<const op::GeneratedLevel> levels) {
  double sum = 0;
  for (const auto& level : levels) sum += level.kernel_seconds;
  return sum;
}

} // namespace

double TimedSolve::lap() {
  const double before = last_;
  last_ = seconds_now(*device_, threads_);
  return last_ - before;
}

TimedSolve::TimedSolve(const SolveProblem& problem, const SolveChoice& choice,
                       const std::shared_ptr<device::Device>& device, int threads)
    : threads_(threads), device_(device), last_(seconds_now(*device, threads)), b_(device, 0), x_(device, 0) {
  const auto system = make_system(problem);
  phases_.spaces = lap();

  const auto form = parse(problem, system, problem.form);
  const auto options = operator_options(problem, system, choice, device);
  const auto kernels = op::kernel_options(options, device);
  auto load_options = options;
  load_options.plan.clear();
  load_options.runs_few_times = true;
  const auto action = op::build_form(form::lower(form), system, op::Purpose::action, kernels);
  const auto diagonal =
      action->matrix != nullptr ? nullptr : op::build_form(form::lower(form), system, op::Purpose::diagonal, kernels);
  const auto load = op::build_form(form::lower(parse(problem, system, problem.load)), system, op::Purpose::action,
                                   op::kernel_options(load_options, device));
  std::vector<std::shared_ptr<op::GeneratedForm>> compiled{action, load};
  if (diagonal != nullptr) compiled.push_back(diagonal);
  phases_.kernels = lap();

  std::vector<op::GeneratedLevel> levels;
  if (choice.preconditioner == "multigrid")
    levels = op::generate_levels({.form = form,
                                  .system = system,
                                  .meshes = problem.meshes,
                                  .conditions = options.dirichlet,
                                  .kernels = kernels,
                                  .keeps_plan = !choice.plan.empty()});
  for (const auto& kernel : op::kernels_of(levels)) compiled.push_back(kernel);
  phases_.kernels += kernel_seconds(levels);
  phases_.preconditioner = lap() - kernel_seconds(levels);
  op::compile(compiled);
  phases_.kernels += lap();

  A_ = std::make_shared<const op::Operator>(action, options.dirichlet, diagonal);
  b_ = A_->make_vector();
  x_ = A_->make_vector();
  op::LinearForm(load).assemble(b_);
  A_->apply_boundary_values(b_, x_);
  A_->refresh();
  phases_.form = lap();

  options_.preconditioner = choice.preconditioner;
  options_.near_null_space = [system] { return solvers::make_near_null_space(system); };
  options_.control.norm = solvers::Norm::preconditioned;
  options_.control.rtol = 1e-6;
  if (choice.max_iterations > 0) options_.control.max_iterations = choice.max_iterations;
  auto made = op::make_levels(std::move(levels), *A_, *problem.meshes);
  for (const auto& level : made) levels_.push_back({level.A, std::make_shared<const TimedOperator>(level.A, threads)});
  levels_.push_back({A_, std::make_shared<const TimedOperator>(A_, threads)});
  if (choice.preconditioner == "multigrid") {
    auto hierarchy = *solvers::make_hierarchy(std::move(made), system);
    for (std::size_t l = 0; l < hierarchy.coarser.size(); ++l) hierarchy.coarser[l].A = levels_[l].timed;
    options_.hierarchy = std::make_shared<const solvers::MultigridHierarchy>(std::move(hierarchy));
  }
  M_ = solvers::make_preconditioner(*levels_.back().timed, options_);
  phases_.preconditioner += lap();
}

solvers::Result TimedSolve::solve() {
  solvers::VectorOps(*A_).fill(0, x_);
  return solvers::cg(*levels_.back().timed, b_, x_, *M_, {.control = options_.control});
}

void TimedSolve::apply() { A_->apply(b_, x_); }

void TimedSolve::restart_counts() const {
  for (const auto& level : levels_) level.timed->restart();
}

/// Applications on a device are queued: a level's is timed by itself, with an end that is waited for.
double TimedSolve::operator_seconds(const Level& level) const {
  const auto finish = device::finish_of(device_);
  if (!finish) return level.timed->seconds();
  const auto x = level.A->make_vector();
  auto y = level.A->make_vector();
  const std::vector<std::function<void()>> calls{[&] { level.A->apply(x, y); }};
  const auto samples =
      base::sample(calls, {.rounds = 3, .sample_seconds = 0.02, .threads = threads_, .finish = finish});
  return static_cast<double>(level.timed->num_applications()) * base::timing_of(samples.front()).median;
}

Json TimedSolve::counted(int num_solves, const machine::Machine& machine) const {
  double unknowns = 0, seconds = 0, bound = 0;
  for (const auto& level : levels_) {
    const auto times = static_cast<double>(level.timed->num_applications());
    const auto counts = level.A->counts();
    const auto seen = machine::resident(machine, counts.global_bytes_read + counts.global_bytes_written, threads_);
    unknowns += times * static_cast<double>(level.A->num_unknowns());
    seconds += operator_seconds(level);
    bound += times * machine::bound(counts, seen, threads_).seconds;
  }
  const auto& finest = *levels_.back().timed;
  return {{"finest_mdofs_per_second", 1e-6 * static_cast<double>(finest.num_applications() * finest.num_unknowns()) /
                                          operator_seconds(levels_.back())},
          {"level_mdofs_per_second", 1e-6 * unknowns / seconds},
          {"finest_applications", finest.num_applications() / num_solves},
          {"operator_seconds", seconds / num_solves},
          {"bound_seconds", bound / num_solves},
          {"num_levels", levels_.size()}};
}

namespace {

std::string describe_end(const solvers::Result& result) {
  if (result.status == solvers::Status::converged) return "met";
  return result.failure == solvers::Failure::none ? "cut off" : std::string(solvers::name(result.failure));
}

/// Samples solves. A first one has taken `first` seconds.
std::vector<double> sample_solves(TimedSolve& problem, double first, const Settings& settings, int& num_solves) {
  const int repeats = std::max(1, static_cast<int>(settings.sampling.sample_seconds / std::max(first, 1e-9)));
  std::vector<double> samples;
  problem.restart_counts();
  for (int round = 0; round < settings.sampling.rounds; ++round) {
    const double begin = seconds_now(*problem.A().device(), settings.threads);
    for (int i = 0; i < repeats; ++i) problem.solve();
    samples.push_back((seconds_now(*problem.A().device(), settings.threads) - begin) / repeats);
  }
  num_solves = repeats * settings.sampling.rounds;
  return samples;
}

double application_seconds(TimedSolve& problem, const Settings& settings) {
  auto sampling = settings.sampling;
  sampling.threads = settings.threads;
  sampling.finish = device::finish_of(problem.A().device());
  const std::vector<std::function<void()>> calls{[&problem] { problem.apply(); }};
  return base::timing_of(base::sample(calls, sampling).front()).median;
}

} // namespace

void require_sizes(const std::string& suite, const Settings& settings) {
  if (settings.mesh != nullptr) return; // the mesh has its size
  for (const double size : settings.million_dofs)
    if (!(size > 0))
      throw base::InputError(
          fmt::format("bench {}: --mdofs: {} is no number of unknowns to solve for; accepted: above 0", suite, size));
}

Column iterations_column() { return {"iterations", {"iter", "iterations to 1e-6 in the preconditioned norm"}, "{:5}"}; }

Column end_column() {
  return {"end", {"end", "of the iteration: met, cut off after so many, or why it failed"}, "{:<7}"};
}

Column bytes_per_unknown_column() {
  return {"bytes_per_unknown", {"B/DoF", "most memory that the row took, per unknown"}, "{:6.0f}"};
}

Json solve_row(const std::function<SolveProblem()>& make, const SolveChoice& choice,
               const std::shared_ptr<device::Device>& device, const machine::Machine& machine,
               const Settings& settings) {
  const int threads = settings.threads;
  (void)TimedSolve(make(), choice, device, threads);
  const base::MemoryGrowth memory;
  const double begin = seconds_now(*device, threads);
  const auto problem = make();
  const double mesh_seconds = seconds_now(*device, threads) - begin;
  TimedSolve solve(problem, choice, device, threads);
  const double before = seconds_now(*device, threads);
  const auto result = solve.solve();
  const double first = seconds_now(*device, threads) - before;
  const auto bytes = memory.peak_bytes();
  int num_solves = 0;
  const auto timing = base::timing_of(sample_solves(solve, first, settings, num_solves));
  const auto& phases = solve.phases();
  const auto dofs = solve.A().num_unknowns();
  Json row{{"degree", problem.degree},
           {"dofs", dofs},
           {"cells", problem.meshes->finest()->num_cells()},
           {"iterations", result.iterations},
           {"is_converged", result.status == solvers::Status::converged},
           {"end", describe_end(result)},
           {"mesh_seconds", mesh_seconds},
           {"spaces_seconds", phases.spaces},
           {"kernels_seconds", phases.kernels},
           {"form_seconds", phases.form},
           {"preconditioner_seconds", phases.preconditioner},
           {"seconds", timing.median},
           {"spread", timing.spread()},
           {"mdofs_per_second", 1e-6 * static_cast<double>(dofs) / timing.median}};
  row.update(solve.counted(num_solves, machine));
  row["application_seconds"] = application_seconds(solve, settings);
  if (bytes) {
    row["memory_bytes"] = *bytes;
    row["bytes_per_unknown"] = static_cast<double>(*bytes) / static_cast<double>(dofs);
  }
  row.update(kernels_json(solve.A().info()));
  return row;
}

} // namespace rafter::bench

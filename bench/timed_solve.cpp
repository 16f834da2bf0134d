// SPDX-License-Identifier: BSD-3-Clause
#include <bench/timed_solve.hpp>

#include <algorithm>
#include <cmath>

#include <bench/operators.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/device/finish.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
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

op::System make_system(const SolveProblem& problem, schedule::Precision precision) {
  const auto discretisation = std::make_shared<const space::Discretisation>(
      problem.meshes->finest(),
      space::DiscretisationOptions{.degree = problem.degree,
                                   .cells_per_batch = op::level_cells_per_batch(precision, problem.degree)});
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

/// The coarsest level is in double precision, as its solver is, also where the plan of all levels has floats.
void compute_in_double(op::GeneratedLevel& level) {
  auto kernels = level.action->options;
  if (kernels.plan == nullptr) return;
  const double begin = base::cpu_seconds();
  kernels.plan = std::make_shared<const schedule::Plan>(schedule::in_double(*kernels.plan));
  level.action = op::build_form(level.action->form, level.system, op::Purpose::action, kernels);
  level.kernel_seconds += base::cpu_seconds() - begin;
}

/// The kernels of multigrid's levels, with those of an operator in the place of the finest one where levels are in
/// single precision. A plan of the row is that of all of them (op::generate_own_level takes the planner's).
struct LevelKernels {
  std::vector<op::GeneratedLevel> coarser;
  op::GeneratedAuxiliary finest{};
  double finest_seconds = 0; ///< time that planning and writing its kernels took

  double seconds() const {
    double sum = finest_seconds;
    for (const auto& level : coarser) sum += level.kernel_seconds;
    return sum;
  }
  std::vector<std::shared_ptr<op::GeneratedForm>> all() const {
    auto result = op::kernels_of(coarser);
    for (auto& kernel : op::kernels_of(finest)) result.push_back(std::move(kernel));
    return result;
  }
};

LevelKernels generate_levels(const op::HierarchySpecification& finest, schedule::Precision precision) {
  const bool is_single = precision == schedule::Precision::single_precision;
  auto specification = finest;
  auto& kernels = specification.kernels;
  kernels.precision = precision;
  if (is_single && kernels.plan != nullptr)
    kernels.plan = std::make_shared<const schedule::Plan>(schedule::in_single(*kernels.plan));
  LevelKernels result{op::generate_levels(specification)};
  if (!is_single || result.coarser.empty()) return result;
  compute_in_double(result.coarser.front());
  const double begin = base::cpu_seconds();
  auto& own = result.finest;
  own = {.system = finest.system, .conditions = finest.conditions, .kernels = kernels};
  const auto form = form::lower(finest.form);
  own.action = op::build_form(form, own.system, op::Purpose::action, kernels);
  if (own.action->matrix == nullptr) own.diagonal = op::build_form(form, own.system, op::Purpose::diagonal, kernels);
  result.finest_seconds = base::cpu_seconds() - begin;
  return result;
}

} // namespace

double TimedSolve::lap() {
  const double before = last_;
  last_ = seconds_now(*device_, threads_);
  return last_ - before;
}

void TimedSolve::add_level(std::shared_ptr<const op::Operator> A) {
  AppliedOperator applied{A, A->counts(), {A->info().begin(), A->info().end()}};
  if (choice_.in_place) {
    const double before = seconds_now(*device_, threads_);
    applied = choice_.in_place(A);
    const double seconds = seconds_now(*device_, threads_) - before; // its kernels are planned and loaded here
    phases_.kernels += seconds;
    last_ += seconds;
  }
  auto timed = std::make_shared<const TimedOperator>(applied.A, threads_);
  levels_.push_back({std::move(A), std::move(applied), std::move(timed)});
}

solvers::MultigridHierarchy TimedSolve::make_hierarchy(std::vector<op::GeneratedLevel> levels,
                                                       const op::GeneratedAuxiliary& own_level,
                                                       const op::System& system, const mesh::Generations& meshes) {
  const auto own = op::make_auxiliary(own_level, *A_);
  auto made = op::make_levels(std::move(levels), own.A ? *own.A : *A_, meshes);
  for (const auto& level : made) add_level(level.A);
  num_coarsest_unknowns_ = made.empty() ? A_->num_unknowns() : made.front().A->num_unknowns();
  auto result = *solvers::make_hierarchy(std::move(made), system, {}, own);
  for (std::size_t l = 0; l < result.coarser.size(); ++l) result.coarser[l].A = levels_[l].timed;
  if (own.A != nullptr) {
    add_level(own.A);
    num_finest_ = 2;
    result.finest = levels_.back().timed;
  }
  return result;
}

TimedSolve::TimedSolve(const SolveProblem& problem, const SolveChoice& choice,
                       const std::shared_ptr<device::Device>& device, int threads)
    : threads_(threads), device_(device), last_(seconds_now(*device, threads)), choice_(choice), b_(device, 0),
      x_(device, 0) {
  const auto system = make_system(problem, choice.precision);
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

  LevelKernels levels;
  if (choice.preconditioner == "multigrid") {
    levels = generate_levels({.form = form,
                              .system = system,
                              .meshes = problem.meshes,
                              .conditions = options.dirichlet,
                              .kernels = kernels,
                              .keeps_plan = !choice.plan.empty()},
                             choice.precision);
    for (auto& kernel : levels.all()) compiled.push_back(std::move(kernel));
  }
  phases_.kernels += levels.seconds();
  phases_.preconditioner = lap() - levels.seconds();
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
  options_.multigrid = choice.multigrid;
  options_.control.norm = choice.norm;
  options_.control.rtol = 1e-6;
  if (choice.max_iterations > 0) options_.control.max_iterations = choice.max_iterations;
  if (choice.preconditioner == "multigrid")
    options_.hierarchy = std::make_shared<const solvers::MultigridHierarchy>(
        make_hierarchy(std::move(levels.coarser), levels.finest, system, *problem.meshes));
  add_level(A_);
  M_ = solvers::make_preconditioner(*levels_.back().timed, options_);
  phases_.preconditioner += lap();
}

solvers::Result TimedSolve::solve() {
  solvers::VectorOps(*A_).fill(0, x_);
  return solvers::cg(*levels_.back().timed, b_, x_, *M_, {.control = options_.control});
}

void TimedSolve::apply() { levels_.back().applied.A->apply(b_, x_); }

void TimedSolve::restart_counts() const {
  for (const auto& level : levels_) level.timed->restart();
}

/// Applications on a device are queued: a level's is timed by itself, with an end that is waited for.
double TimedSolve::operator_seconds(const Level& level) const {
  const auto finish = device::finish_of(device_);
  if (!finish) return level.timed->seconds();
  const auto applied_to = [&](const auto& x, auto y) {
    const std::vector<std::function<void()>> calls{[&] { level.applied.A->apply(x, y); }};
    const auto samples =
        base::sample(calls, {.rounds = 3, .sample_seconds = 0.02, .threads = threads_, .finish = finish});
    return static_cast<double>(level.timed->num_applications()) * base::timing_of(samples.front()).median;
  };
  if (!level.A->is_single()) return applied_to(level.A->make_vector(), level.A->make_vector());
  const auto size = static_cast<std::size_t>(level.A->size());
  return applied_to(op::SingleVector(device_, size), op::SingleVector(device_, size));
}

Json TimedSolve::counted(int num_solves, const machine::Machine& machine) const {
  double unknowns = 0, seconds = 0, bound = 0, finest_seconds = 0;
  std::int64_t finest_applications = 0;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const auto& level = levels_[l];
    const auto times = static_cast<double>(level.timed->num_applications());
    const double level_seconds = operator_seconds(level);
    const auto& counts = level.applied.counts;
    const auto seen = machine::resident(machine, counts.global_bytes_read + counts.global_bytes_written, threads_);
    unknowns += times * static_cast<double>(level.A->num_unknowns());
    seconds += level_seconds;
    if (l + num_finest_ >= levels_.size()) {
      finest_seconds += level_seconds;
      finest_applications += level.timed->num_applications();
    }
    bound += times * machine::bound(counts, seen, threads_).seconds;
  }
  return {{"finest_mdofs_per_second",
           1e-6 * static_cast<double>(finest_applications * A_->num_unknowns()) / finest_seconds},
          {"level_mdofs_per_second", 1e-6 * unknowns / seconds},
          {"finest_applications", finest_applications / num_solves},
          {"operator_seconds", seconds / num_solves},
          {"bound_seconds", bound / num_solves},
          {"num_levels", levels_.size() + 1 - num_finest_}};
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

Column iterations_column(solvers::Norm norm) {
  const auto* of =
      norm == solvers::Norm::preconditioned ? "in the preconditioned norm" : "in the 2-norm of the residual";
  return {"iterations", {"iter", fmt::format("iterations to 1e-6 {}", of)}, "{:5}"};
}

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
           {"preconditioner", solve.M().description()},
           {"mesh_seconds", mesh_seconds},
           {"spaces_seconds", phases.spaces},
           {"kernels_seconds", phases.kernels},
           {"form_seconds", phases.form},
           {"preconditioner_seconds", phases.preconditioner},
           {"seconds", timing.median},
           {"spread", timing.spread()},
           {"mdofs_per_second", 1e-6 * static_cast<double>(dofs) / timing.median}};
  if (choice.preconditioner == "multigrid") {
    row["coarsest_dofs"] = solve.num_coarsest_unknowns();
    row["level_precision"] = solve.M().is_single() ? "single" : "double";
  }
  row.update(solve.counted(num_solves, machine));
  row["application_seconds"] = application_seconds(solve, settings);
  if (bytes) {
    row["memory_bytes"] = *bytes;
    row["bytes_per_unknown"] = static_cast<double>(*bytes) / static_cast<double>(dofs);
  }
  row.update(kernels_json(solve.kernels()));
  return row;
}

} // namespace rafter::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "problem_solver.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/io/unused_keys.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/problem/conditioning.hpp>
#include <rafter/problem/first_state.hpp>
#include <rafter/problem/linear_solve.hpp>
#include <rafter/problem/preconditioning.hpp>
#include <rafter/solve/trust.hpp>
#include <rafter/tune/device_probe.hpp>
#include <rafter/tune/generation_cache.hpp>
#include <rafter/tune/planner.hpp>
#include <rafter/tune/store.hpp>

#include "discretisation.hpp"
#include "expected_work.hpp"
#include "interrupt.hpp"
#include "measurement.hpp"
#include "plan_keys.hpp"
#include "preconditioner_parts.hpp"
#include "solution.hpp"
#include "stated_problem.hpp"
#include "stretched_cells.hpp"
#include "time_solver.hpp"

namespace rafter::app {
namespace {

std::shared_ptr<const tune::Planner> make_planner(const tune::Ceilings& ceilings, const RunOptions& options) {
  tune::PlannerOptions result{
      .machine = ceilings.machine, .weights = ceilings.weights, .weighs_all = options.weighs_all_plans};
  if (options.plan != predicted_plan) result.store = std::make_shared<tune::Store>();
  result.generations = std::make_shared<tune::GenerationCache>();
  return std::make_shared<const tune::Planner>(std::move(result));
}

bool has_time_values(const io::Problem& problem, std::size_t condition, const ProblemForms& forms) {
  const auto& data = problem.dirichlet[condition];
  const auto count = data.components.empty() ? static_cast<std::size_t>(problem.fields[data.field].num_components())
                                             : data.components.size();
  return forms.depends_on_time(data.values, count, fmt::format("dirichlet[{}].value", condition));
}

/// Runs an operation on the file of time.restart; its InputErrors get the place.
template <class Operation> auto of_restart(const io::Time& time, const Operation& operation) {
  try {
    return operation();
  } catch (const base::InputError& error) {
    throw base::InputError(fmt::format("{}: time.restart: {}", time.restart_location.text(), error.what()));
  }
}

/// Evaluates functionals and checks of a solve that converged, and writes the output file.
void finish(const PreparedProblem& prepared, Phases& phases, Solution& solution) {
  const auto& problem = prepared.problem();
  check_solution(prepared, phases, solution);
  phases.start("output");
  require_not_interrupted();
  solution.is_written = !problem.output.file.empty() && (solution.is_converged || problem.output.on_failure);
  if (solution.is_written)
    io::write_vtkhdf(problem.output.file, *prepared.system().mesh, output_fields(prepared, solution.values),
                     derived_fields(prepared, solution.values), {.known = prepared.data().values()});
  phases.stop();
}

} // namespace

void PreparedProblem::tell(const std::string& text) const {
  require_not_interrupted();
  if (events_.event) events_.event(text);
}

problem::Problem PreparedProblem::stated() const {
  auto result = state(problem_, events_);
  result.find_non_finite = [this] { return describe_non_finite(problem_, *forms_, *mesh_); };
  return result;
}

PreparedProblem::PreparedProblem(const io::Problem& given, const RunOptions& options, const RunEvents& events,
                                 Phases& phases, const PreparedProblem* before)
    : problem_(given), events_(events) {
  const auto& problem = problem_;
  if (options.plan != predicted_plan) options_.plan = options.plan;
  const int cells_per_batch = op::cells_per_batch(options_.plan);
  options_.device = options.device;
  options_.threads = options.threads;
  options_.shared_device = op::device_of(options_);
  options_.quadrature = quadrature_options(problem);
  const base::ThreadLimit limit(options.threads);

  phases.watch(options_.shared_device);
  take_meshes(phases, before);
  phases.start("spaces");
  system_ = make_system(problem, mesh_, cells_per_batch);
  if (before == nullptr) tell(fmt::format("spaces: {} unknowns", system_.num_unknowns()));
  if (before == nullptr && !problem.has_preconditioner && uses_multigrid(problem))
    tell("preconditioner: multigrid is chosen, since jacobi would take many iterations on so many unknowns");

  options_.num_applications = expected_applications(problem, system_);
  data_ = std::make_unique<ProblemData>(problem, system_, options_.shared_device);
  forms_ = std::make_unique<ProblemForms>(problem, *mesh_,
                                          ProblemForms::Spaces(system_.spaces.begin(), system_.spaces.end()), *data_);
  if (problem.time && !problem.time->restart.empty()) {
    saved_time_ = of_restart(*problem.time, [&] { return io::read_saved_time(problem.time->restart); });
    forms_->set_time(saved_time_->time); // boundary values need not have a value at other times
  }
  form::LoweredForm bilinear;
  std::optional<form::LoweredForm> linear;
  if (problem.time) {
    theta_forms_ = forms_->theta_forms();
    bilinear = theta_forms_->tangent;
    if (!theta_forms_->load.integrals.empty()) linear = theta_forms_->load;
  } else {
    bilinear = form::lower(forms_->bilinear());
    if (const auto load = forms_->linear()) linear = form::lower(*load);
  }
  if (options.solves)
    if (auto choice = problem::choose_before_kernels(state(problem_, events_), system_, bilinear,
                                                     *options_.shared_device, options_.plan)) {
      problem_.solver.method = std::move(choice->method);
      problem_.method_reason = std::move(choice->reason);
    }
  options_.dirichlet = make_conditions();
  for (std::size_t i = 0; i < problem.dirichlet.size(); ++i)
    is_boundary_in_time_ = is_boundary_in_time_ || has_time_values(problem, i, *forms_);
  phases.stop();

  // The ceilings are measured once, which is slow, so that checks come first. A first solve waits for a quarter of
  // what `rafter machine` takes.
  constexpr double first_seconds = 0.6;
  const auto ceilings = tune::ceilings(
      options_.shared_device,
      {.seconds = first_seconds, .begins = [this] { tell("machine: measuring its ceilings, which are kept"); }});
  machine_ = ceilings.machine;
  options_.planner = make_planner(ceilings, options);

  phases.start("kernels");
  make_operators(bilinear, linear, options.solves);
  tell(fmt::format("kernels: {} for the operator, {} for the right-hand side", operator_->info().size(),
                   linear_form() != nullptr ? linear_form()->kernels().info().size() : 0));
}

void PreparedProblem::take_meshes(Phases& phases, const PreparedProblem* before) {
  if (before == nullptr) {
    phases.start("mesh");
    meshes_ = std::make_shared<const mesh::Generations>(make_meshes(problem_));
    tell(fmt::format("mesh: {} cells", meshes_->finest()->num_cells()));
  } else {
    meshes_ = before->meshes_;
    problem_.solver.preconditioner = before->problem_.solver.preconditioner; // chosen for the meshes, if not given
  }
  mesh_ = meshes_->finest();
}

/// All kernels of the problem are first generated, then compiled at the same time, then bound to their data.
void PreparedProblem::make_operators(const form::LoweredForm& bilinear, const std::optional<form::LoweredForm>& linear,
                                     bool solves) {
  auto constraints = op::make_constraints(system_, options_.dirichlet);
  PlannedForms forms;
  const auto keep = [&forms](std::shared_ptr<op::GeneratedForm> built) {
    forms.kept.push_back(built);
    return built;
  };
  auto action_options = options_;
  action_options.runs_few_times = solves && is_shorter_than_compilation(problem_, system_, options_);
  const auto own_options = op::kernel_options(action_options, options_.shared_device);
  const auto action = keep(op::build_form(bilinear, system_, op::Purpose::action, own_options));
  warn_of_unused_plan_keys(*action, action_options);
  std::shared_ptr<op::GeneratedForm> diagonal, load;
  if (solves && action->matrix == nullptr && // an assembled matrix has its diagonal
      !solvers::find_method(problem_.solver.method).is_direct &&
      solvers::find_preconditioner(problem_.solver.preconditioner).needs_diagonal)
    diagonal = keep(op::build_form(bilinear, system_, op::Purpose::diagonal, own_options));
  auto load_options = options_;
  load_options.plan.clear(); // a plan of the user is meant for the operator
  load_options.runs_few_times = !problem_.forms.F && !problem_.time;
  if (linear)
    load = keep(op::build_form(*linear, system_, op::Purpose::action,
                               op::kernel_options(load_options, options_.shared_device)));
  if (solves) {
    postprocess_ = std::make_unique<Postprocess>(problem_, *forms_, *data_, system_, options_);
    forms.passing = postprocess_->kernels();
    constraints_ = plan_constraints(problem_, system_, options_);
    forms.passing.insert(forms.passing.end(), constraints_.masses.begin(), constraints_.masses.end());
  }
  std::vector<op::GeneratedLevel> levels;
  op::GeneratedAuxiliary own_level;
  if (solves && uses_multigrid(problem_) && !uses_blocks(problem_)) {
    levels = generate_levels(own_options);
    auto level_options = own_options;
    if (!levels.empty()) level_options.precision = problem_.level_precision;
    own_level = op::generate_own_level(bilinear, system_, options_.dirichlet, level_options);
  }
  if (solves && uses_blocks(problem_))
    blocks_ = generate_blocks(problem_, forms_->preconditioner(), system_, options_.dirichlet, own_options, meshes_);
  for (const auto& parts : {op::kernels_of(levels), solvers::kernels_of(blocks_), op::kernels_of(own_level)})
    forms.kept.insert(forms.kept.end(), parts.begin(), parts.end());
  require_stored_fits(problem_, system_, forms);
  auto kernels = forms.kept;
  kernels.insert(kernels.end(), forms.passing.begin(), forms.passing.end());
  op::compile(kernels, events_.compilation);
  operator_ = std::make_shared<op::Operator>(action, std::move(constraints), diagonal);
  data_->bind(*operator_, action->form);
  own_level_ = op::make_auxiliary(own_level, *operator_);
  levels_ = op::make_levels(std::move(levels), own_level_.A ? *own_level_.A : *operator_, *meshes_);
  if (theta_forms_)
    make_stepper(std::move(*theta_forms_), load);
  else if (problem_.forms.F)
    make_residual_problem(load);
  else if (load) {
    linear_form_ = std::make_unique<op::LinearForm>(load);
    data_->bind(*linear_form_, load->form);
  }
}

void PreparedProblem::make_residual_problem(const std::shared_ptr<const op::GeneratedForm>& residual) {
  residual_problem_ = std::make_unique<solvers::ResidualProblem>(residual, operator_, field_names(problem_));
  data_->bind(residual_problem_->residual_form(), residual->form); // the tangent already has them
  start_ = find_start();
  const auto start = starting_state();
  residual_problem_->bind(start);
  residual_problem_->linearise(start);
}

std::vector<double> PreparedProblem::find_start() {
  std::vector<double> state(static_cast<std::size_t>(operator_->size()));
  if (saved_time_) saved_intermediate_.resize(state.size());
  std::vector<io::SavedField> saved;
  for (std::size_t f = 0; f < problem_.fields.size(); ++f) {
    const auto& field = problem_.fields[f];
    const auto& space = *system_.spaces[f];
    const auto key = "fields." + field.name + ".initial";
    const auto entries = [&](std::vector<double>& of) {
      return std::span(of).subspan(static_cast<std::size_t>(system_.offset(f)),
                                   static_cast<std::size_t>(space.num_local()));
    };
    const auto values = entries(state);
    const bool has_intermediate =
        stepper_ && stepper_->has_intermediates() && stepper_->roles()[f] != form::FieldRole::differential;
    if (saved_time_)
      saved.push_back({field.name, system_.spaces[f], values,
                       has_intermediate ? entries(saved_intermediate_) : std::span<double>{}});
    else if (field.initial_source)
      read_result(*field.initial_source, key, space, values);
    else if (!field.initial.empty())
      space::interpolate(space, forms_->qfunction(field.initial, {}, field.num_components(), key), values);
  }
  if (saved_time_)
    saved_time_ = of_restart(*problem_.time, [&] { return io::read_state(problem_.time->restart, *mesh_, saved); });
  return state;
}

op::Vector PreparedProblem::starting_state() const {
  op::Vector state = operator_->make_vector();
  std::ranges::copy(start_, state.host_overwrite().begin());
  return state;
}

std::vector<op::FieldCondition> PreparedProblem::make_conditions() const {
  std::vector<op::FieldCondition> result;
  for (std::size_t i = 0; i < problem_.dirichlet.size(); ++i) {
    const auto& data = problem_.dirichlet[i];
    const auto key = fmt::format("dirichlet[{}]", i);
    space::DirichletCondition condition{.is_all = data.is_all, .components = data.components};
    for (std::size_t t = 0; t < data.tags.tags.size(); ++t) try {
        const auto numbers = mesh::tags_for(*mesh_, data.tags.tags[t], mesh::TagUse::dirichlet);
        condition.tags.insert(condition.tags.end(), numbers.begin(), numbers.end());
      } catch (const base::InputError& error) {
        throw base::InputError(fmt::format("{}: {}.tags: {}", data.tags.places[t].text(), key, error.what()));
      }
    if (data.is_all && mesh_->surface().exterior_facets.empty())
      throw base::InputError(fmt::format("{}: {}.tags: the mesh has no boundary: all its outer facets are periodic",
                                         data.location.text(), key));
    if (data.is_all) require_no_other_all(*mesh_, fmt::format("{}: {}.tags: ", data.location.text(), key));
    condition.value =
        forms_->qfunction(data.values, data.components, problem_.fields[data.field].num_components(), key + ".value");
    result.push_back({system_.spaces[data.field], std::move(condition)});
  }
  return result;
}

namespace {

problem::LinearParts parts_of(const PreparedProblem& prepared) {
  problem::LinearParts parts{
      .null_space = [&] { return make_null_space(prepared.problem(), prepared.operator_a(), prepared.constraints()); },
      .start = [&](const op::Vector& start) { prepared.postprocess().require_finite_solutions(start); },
      .preconditioner = [&](solvers::SolverOptions& options) { add_preconditioner_parts(prepared, options); }};
  if (const auto* form = prepared.linear_form()) parts.load = [form](op::Vector& load) { form->assemble(load); };
  return parts;
}

void report_result(const solvers::Result& result, report::SolveReport& report) {
  report.iterations = result.iterations;
  report.residual = result.relative_residual;
  report.history = result.history;
  report.message = result.message;
  if (result.warning.empty()) return;
  report.relative_error = result.relative_error.value_or(0);
  report.warning += (report.warning.empty() ? "" : "; ") + result.warning;
}

void report_method(const problem::LinearSolve& solve, report::SolveReport& report) {
  const auto& [method, reason] = solve.choice();
  report.method = method;
  report.preconditioner_name = preconditioner_name(method, solve.options().preconditioner);
  report.preconditioner = solve.preconditioner().description();
  report.reason = reason;
  if (const auto* factors = solve.preconditioner().factors())
    report.factors = {.kind = factors->is_symmetric ? "L D L^T" : "L U",
                      .entries = factors->num_entries,
                      .fill = factors->fill(),
                      .bytes = factors->bytes,
                      .negative_pivots = factors->num_negative_pivots};
}

void measure_operators(const PreparedProblem& prepared, report::SolveReport& report) {
  report.operators.push_back(report_operator(prepared.operator_a(), prepared.machine()));
  if (prepared.linear_form() != nullptr)
    report.operators.push_back(report_linear_form(*prepared.linear_form(), prepared.system(), prepared.machine()));
}

/// A solve returns its solution, and the report of an iteration that cannot be made later.
struct Solved {
  Solution solution;
  std::optional<report::OperatorReport> iteration; ///< cost of an iteration of cg, where it was measured
};

Solved solve_linear(const PreparedProblem& prepared, Phases& phases) {
  const auto& A = prepared.operator_a();
  phases.start("setup");
  const auto stated = prepared.stated();
  const auto parts = parts_of(prepared);
  problem::LinearSolve solve(stated, A, parts);
  const auto& M = solve.preconditioner();
  prepared.tell(M.factors() != nullptr ? "setup: factors of the matrix"
                                       : fmt::format("setup: preconditioner {}{}", solve.options().preconditioner,
                                                     M.description().empty() ? "" : ": " + M.description()));
  phases.start("solve");
  auto result = solve.run();
  phases.stop();
  if (result.failure == solvers::Failure::stopped) require_not_interrupted();
  problem::explain(result, A);
  if (const auto advice = advice_on_stretched_cells(prepared.problem(), prepared.system(), result.iterations);
      !advice.empty())
    prepared.tell(advice);

  Solution solution = make_solution(prepared, std::move(solve.solution()), result.status);
  auto& report = solution.report;
  report.warning = solvers::describe_removed(solve.removed());
  report_result(result, report);
  report_method(solve, report);
  if (result.norms)
    report.residuals = {.norm = std::string(solvers::name(stated.solver.control.norm)),
                        .residual = result.norms->residual,
                        .preconditioned = result.norms->preconditioned,
                        .of_first_residual = result.norms->of_first_residual,
                        .has_lift = solve.has_lift(),
                        .has_forces = result.norms->has_forces};
  auto iteration = report_iteration(A, solve.preconditioner(), solve.options(), result, prepared.machine());
  return {std::move(solution), std::move(iteration)};
}

/// Runs Newton's method with the linear solver of the problem, or the one that the tangent at the start requires.
solvers::NewtonResult run_newton(const PreparedProblem& prepared, const std::string& method, op::Vector& u,
                                 const RunEvents& events,
                                 const std::shared_ptr<solvers::KeptPreconditioner>& preconditioner) {
  const auto& problem = prepared.problem();
  auto options = problem.newton;
  options.solver = problem.solver;
  options.solver.method = method;
  options.solver.hierarchy = prepared.make_hierarchy();
  options.solver.near_null_space = prepared.near_null_space();
  options.preconditioner = preconditioner;
  options.solver.control.monitor = [](int, double) { return !is_interrupted(); };
  options.monitor = [&events](int iteration, double residual) {
    return !is_interrupted() && (!events.iteration || events.iteration(iteration, residual));
  };
  solvers::NewtonResult result;
  problem::at_preconditioner(places_of(problem),
                             [&] { result = solvers::newton(*prepared.residual_problem(), u, options); });
  return result;
}

Solved solve_residual(const PreparedProblem& prepared, const RunEvents& events, Phases& phases) {
  phases.start("setup");
  op::Vector u = prepared.starting_state();
  const auto choice =
      problem::choose_for_residual(prepared.stated(), *prepared.residual_problem(), prepared.operator_a(), u);
  prepared.postprocess().require_finite_solutions(u);
  phases.start("solve");
  const auto preconditioner = std::make_shared<solvers::KeptPreconditioner>();
  const auto result = run_newton(prepared, choice.method, u, events, preconditioner);
  phases.stop();
  if (result.failure == solvers::Failure::stopped) require_not_interrupted();
  Solution solution = make_solution(prepared, std::move(u), result.status);
  auto& report = solution.report;
  report.method = "newton with " + choice.method;
  report.reason = choice.reason;
  report.preconditioner_name = preconditioner_name(choice.method, prepared.problem().solver.preconditioner);
  if (const auto* last = preconditioner->get()) report.preconditioner = last->description();
  report.message = result.message;
  report.warning = result.warning;
  report.iterations = result.iterations;
  report.residual = result.relative_residual;
  for (const auto& step : result.steps) {
    report.history.push_back(step.residual);
    report.newton.push_back({.load_factor = step.load_factor,
                             .residual = step.residual,
                             .is_last = step.is_last,
                             .length = step.length,
                             .tolerance = step.forcing_term,
                             .linear_iterations = step.linear_iterations});
  }
  return {std::move(solution), std::nullopt};
}

Solved solve_prepared(const PreparedProblem& prepared, const RunEvents& events, Phases& phases) {
  if (prepared.stepper() != nullptr) return {solve_in_time(prepared, phases), std::nullopt};
  return prepared.residual_problem() != nullptr ? solve_residual(prepared, events, phases)
                                                : solve_linear(prepared, phases);
}

/// Says whether a solution may have lost digits to the plan of its operator: sums of integrals along each axis round
/// more than integrals over cells do, so that motions of rigid bodies have forces (decision 0063).
bool loses_digits_to_plan(const PreparedProblem& prepared, const Solution& solution) {
  if (prepared.stepper() != nullptr || prepared.residual_problem() != nullptr) return false;
  const auto& report = solution.report;
  const bool is_rounded = report.relative_error > solvers::told_error;
  const bool is_refused = !solution.is_converged && report.method == "direct";
  return (is_rounded || is_refused) && std::ranges::any_of(prepared.operator_a().info(), [](const auto& kernel) {
           return kernel.plan.contraction == kernel::Contraction::separable;
         });
}

} // namespace

Solution solve_problem(const io::Problem& problem, const RunOptions& options, const RunEvents& events) {
  const auto memory = base::process_memory();
  Phases phases;
  auto prepared = std::make_unique<const PreparedProblem>(problem, options, events, phases);
  auto solved = solve_prepared(*prepared, events, phases);
  if ((options.plan.empty() || options.plan == predicted_plan) && loses_digits_to_plan(*prepared, solved.solution)) {
    prepared->tell(
        "roundings of the integrals along each axis cost digits of the solution: solving again with a plan that "
        "integrates over cells");
    phases.merge("first try");
    auto own = options;
    own.plan = "factors=recompute-merged"; // computed factors round alike at all points, which keeps more digits
    auto next = std::make_unique<const PreparedProblem>(problem, own, events, phases, prepared.get());
    solved = solve_prepared(*next, events, phases);
    prepared = std::move(next);
  }
  if (prepared->stepper() == nullptr) finish(*prepared, phases, solved.solution);
  auto& [solution, iteration] = solved;
  auto& report = solution.report;
  report.seconds = phases.seconds();
  report.copies = phases.copies();
  if (const auto now = base::process_memory(); now && memory)
    report.peak_memory_bytes = now->peak_bytes - memory->resident_bytes;
  measure_operators(*prepared, report);
  if (iteration) report.operators.push_back(std::move(*iteration));
  return std::move(solution);
}

} // namespace rafter::app

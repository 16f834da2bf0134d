// SPDX-License-Identifier: BSD-3-Clause
#include "problem_solver.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/base/text.hpp>
#include <rafter/io/unused_keys.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/solve/field_balance.hpp>
#include <rafter/solve/force_norm.hpp>
#include <rafter/solve/trust.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/tune/device_probe.hpp>
#include <rafter/tune/generation_cache.hpp>
#include <rafter/tune/planner.hpp>
#include <rafter/tune/store.hpp>

#include "conditioning.hpp"
#include "discretisation.hpp"
#include "expected_work.hpp"
#include "interrupt.hpp"
#include "measurement.hpp"
#include "method_choice.hpp"
#include "operator_checks.hpp"
#include "plan_keys.hpp"
#include "preconditioner_parts.hpp"
#include "singularity.hpp"
#include "solution.hpp"
#include "stretched_cells.hpp"
#include "time_solver.hpp"

namespace rafter::app {
namespace {

/// With this word in place of a plan, the planner ignores measurements.
constexpr const char* predicted_plan = "predicted";

std::shared_ptr<const tune::Planner> make_planner(const machine::Machine& machine, const RunOptions& options) {
  tune::PlannerOptions result{.machine = machine, .weighs_all = options.weighs_all_plans};
  if (options.plan != predicted_plan) result.store = std::make_shared<tune::Store>();
  result.generations = std::make_shared<tune::GenerationCache>();
  return std::make_shared<const tune::Planner>(std::move(result));
}

/// The right-hand side and initial guess are those of the system with its constraints.
struct RightHandSide {
  op::Vector b, x;
  solvers::ReferenceNorm reference; ///< as in IterationControl
  std::string warning;              ///< tells what was removed from b so that a solution exists; empty if nothing was
};

/// Throws InputError unless the values of the linear form and their norm are finite.
void require_finite_loads(const PreparedProblem& prepared, const op::Vector& b) {
  const auto& problem = prepared.problem();
  if (std::isfinite(solvers::VectorOps(b.device()).norm(b))) return;
  const auto found = describe_non_finite(problem, prepared.forms(), *prepared.system().mesh);
  throw base::InputError(!found.empty() ? found
                                        : problem.forms.L->location.text() +
                                              ": forms.L: the right-hand side is not finite, or its norm exceeds the "
                                              "largest double, 1.8e308: check its expressions");
}

RightHandSide make_right_hand_side(const PreparedProblem& prepared, const solvers::ConstrainedNullSpace& null_space) {
  const auto& A = prepared.operator_a();
  const solvers::VectorOps ops(A.device());
  RightHandSide result{A.make_vector(), A.make_vector(), {}, {}};
  ops.fill(0, result.x);
  if (prepared.linear_form() != nullptr)
    prepared.linear_form()->assemble(result.b);
  else
    ops.fill(0, result.b);
  require_finite_loads(prepared, result.b);
  op::Vector load = A.make_vector();
  ops.copy(result.b, load);
  A.apply_boundary_values(result.b, result.x);
  result.warning = solvers::describe_removed(null_space.balance(result.b, load));
  result.reference = solvers::force_norm(A, load);
  return result;
}

bool has_time_values(const io::Problem& problem, std::size_t condition, const ProblemForms& forms) {
  const auto& data = problem.dirichlet[condition];
  const auto count = data.components.empty() ? static_cast<std::size_t>(problem.fields[data.field].num_components())
                                             : data.components.size();
  return forms.depends_on_time(data.values, count, fmt::format("dirichlet[{}].value", condition));
}

solvers::Result run_solver(const PreparedProblem& prepared, solvers::SolverOptions options,
                           const solvers::Preconditioner& preconditioner, RightHandSide& right,
                           const RunEvents& events) {
  options.control.monitor = [&events](int iteration, double residual) {
    return !is_interrupted() && (!events.iteration || events.iteration(iteration, residual));
  };
  options.control.reference = right.reference;
  options.fields =
      std::make_shared<const solvers::FieldBalance>(prepared.operator_a(), field_names(prepared.problem()));
  solvers::Result result;
  at_preconditioner(prepared.problem(),
                    [&] { result = solvers::solve(prepared.operator_a(), right.b, right.x, preconditioner, options); });
  return result;
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
  if (options.solves) choose_before_kernels(problem_, system_, bilinear, options_);
  options_.dirichlet = make_conditions();
  for (std::size_t i = 0; i < problem.dirichlet.size(); ++i)
    is_boundary_in_time_ = is_boundary_in_time_ || has_time_values(problem, i, *forms_);
  phases.stop();

  // The ceilings are measured once, which is slow, so that checks come first. A first solve waits for a quarter of
  // what `rafter machine` takes.
  constexpr double first_seconds = 0.6;
  machine_ = tune::ceilings(options_.shared_device, {.seconds = first_seconds, .begins = [this] {
                                                       tell("machine: measuring its ceilings, which are kept");
                                                     }});
  options_.planner = make_planner(machine_, options);

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

/// When the operator of a problem has passed all checks, a solve needs the method with its preconditioner and the
/// right-hand side.
struct Setup {
  RightHandSide right;
  solvers::ConstrainedNullSpace null_space;
  MethodChoice choice;
  solvers::SolverOptions options; ///< options for the method chosen
  std::shared_ptr<const solvers::Preconditioner> preconditioner;

  void take(const PreparedProblem& prepared, MethodChoice taken) {
    choice = std::move(taken);
    options.method = choice.method;
    preconditioner = make_preconditioner(prepared, options);
  }
};

Setup set_up(const PreparedProblem& prepared) {
  const auto& A = prepared.operator_a();
  const auto& problem = prepared.problem();
  auto [null_space, choice] = [&] { // the vectors of the probe go before others are made
    const Probe probe = make_probe(A, 1);
    require_finite(A, probe, problem, prepared.forms());
    auto fixed = make_null_space(problem, A, prepared.constraints());
    require_regular(A, probe, problem, *fixed.null_space());
    auto method = choose_method(problem, A, probe);
    require_symmetric(A, probe, problem, method.method);
    return std::pair(std::move(fixed), std::move(method));
  }();
  auto right = make_right_hand_side(prepared, null_space);
  prepared.postprocess().require_finite_solutions(right.x);
  auto options = problem.solver;
  options.control.field_offsets = field_offsets(prepared.system());
  options.null_space = null_space.null_space();
  add_preconditioner_parts(prepared, options);
  Setup setup{std::move(right), std::move(null_space), {}, std::move(options), nullptr};
  try {
    setup.take(prepared, std::move(choice));
  } catch (const base::SolverError& error) {
    if (!solvers::find_method(setup.choice.method).is_direct) require_diagonal(A, problem);
    auto other = choose_without_preconditioner(problem, A, error);
    if (setup.options.method == "direct") throw base::SolverError(with_causes(error.what(), A));
    if (!other) refuse_preconditioner(problem, error);
    setup.take(prepared, std::move(*other));
  }
  return setup;
}

/// Solves with the method that was chosen, and with another one if the first turns out not to be suitable.
solvers::Result solve_system(const PreparedProblem& prepared, Setup& setup, const RunEvents& events) {
  const auto& A = prepared.operator_a();
  op::Vector start = A.make_vector();
  solvers::VectorOps(A.device()).copy(setup.right.x, start);
  const auto first = trial_options(prepared.problem(), setup.options);
  auto result = run_solver(prepared, first, *setup.preconditioner, setup.right, events);
  if (has_chosen_multigrid(prepared.problem(), first) && needs_jacobi(result, setup.options)) {
    take_jacobi(prepared, setup.options, "multigrid does not serve here");
    setup.take(prepared, std::move(setup.choice));
    solvers::VectorOps(A.device()).copy(start, setup.right.x);
    result = run_solver(prepared, setup.options, *setup.preconditioner, setup.right, events);
  }
  auto other = choose_after(prepared.problem(), A, result, *setup.preconditioner);
  if (!other) return result;
  prepared.tell(fmt::format("solve: {} does not serve, {} follows", setup.choice.method, other->method));
  setup.take(prepared, std::move(*other));
  setup.right.x = std::move(start);
  return run_solver(prepared, setup.options, *setup.preconditioner, setup.right, events);
}

void report_method(const Setup& setup, report::SolveReport& report) {
  report.method = setup.choice.method;
  report.preconditioner_name = preconditioner_name(setup.choice.method, setup.options.preconditioner);
  report.preconditioner = setup.preconditioner->description();
  report.reason = setup.choice.reason;
  if (const auto* factors = setup.preconditioner->factors())
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

Solved solve_linear(const PreparedProblem& prepared, const RunEvents& events, Phases& phases) {
  const auto& problem = prepared.problem();
  phases.start("setup");
  auto setup = set_up(prepared);
  prepared.tell(
      setup.preconditioner->factors() != nullptr
          ? "setup: factors of the matrix"
          : fmt::format("setup: preconditioner {}{}", setup.options.preconditioner,
                        setup.preconditioner->description().empty() ? "" : ": " + setup.preconditioner->description()));
  phases.start("solve");
  const auto result = solve_system(prepared, setup, events);
  setup.null_space.constrain(setup.right.x);
  phases.stop();
  if (result.failure == solvers::Failure::stopped) require_not_interrupted();
  if (const auto advice = advice_on_stretched_cells(problem, prepared.system(), result.iterations); !advice.empty())
    prepared.tell(advice);

  Solution solution = make_solution(prepared, std::move(setup.right.x), result.status);
  auto& report = solution.report;
  report.warning = setup.right.warning;
  report_outcome(result, prepared.operator_a(), report);
  report_method(setup, report);
  if (result.norms)
    report.residuals = {.norm = std::string(solvers::name(problem.solver.control.norm)),
                        .residual = result.norms->residual,
                        .preconditioned = result.norms->preconditioned,
                        .of_first_residual = result.norms->of_first_residual,
                        .has_lift = static_cast<bool>(setup.right.reference),
                        .has_forces = result.norms->has_forces};
  auto iteration =
      report_iteration(prepared.operator_a(), *setup.preconditioner, setup.options, result, prepared.machine());
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
  at_preconditioner(problem, [&] { result = solvers::newton(*prepared.residual_problem(), u, options); });
  return result;
}

/// Throws InputError unless the residual and its derivative have finite values at the starting state.
void require_finite_start(const PreparedProblem& prepared, const op::Vector& start) {
  auto& equations = *prepared.residual_problem();
  const auto& problem = prepared.problem();
  op::Vector r = prepared.operator_a().make_vector();
  const auto require = [&](std::string_view what) {
    if (solvers::VectorOps(r.device()).first_non_finite(r) < 0) return;
    const auto coefficient = describe_non_finite(problem, prepared.forms(), *prepared.system().mesh);
    if (!coefficient.empty()) throw base::InputError(coefficient);
    throw base::InputError(fmt::format("{}: forms.F: {} the starting state is not finite: {}; fields.NAME.initial = "
                                       "\"expression\" gives another state to start from",
                                       problem.forms.F->location.text(), what,
                                       equations.describe_non_finite(r, start)));
  };
  equations.residual(start, r);
  require("the residual of");
  op::Vector ones = prepared.operator_a().make_vector();
  solvers::VectorOps(ones.device()).fill(1, ones);
  equations.linearise(start);
  equations.apply_tangent_free(ones, r);
  require("the derivative of the residual at");
}

Solved solve_residual(const PreparedProblem& prepared, const RunEvents& events, Phases& phases) {
  phases.start("setup");
  op::Vector u = prepared.starting_state();
  require_finite_start(prepared, u);
  const auto choice =
      choose_for_tangents(prepared.problem(), prepared.operator_a(), prepared.forms(), u,
                          [&](const op::Vector& state) { prepared.residual_problem()->linearise(state); });
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
                                                : solve_linear(prepared, events, phases);
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

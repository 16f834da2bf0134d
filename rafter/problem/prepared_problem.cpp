// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/prepared_problem.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/comm/communicator.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/problem/expected_work.hpp>
#include <rafter/problem/known_values.hpp>
#include <rafter/problem/method_choice.hpp>
#include <rafter/problem/open_preconditioner.hpp>
#include <rafter/problem/plan_keys.hpp>
#include <rafter/problem/planners.hpp>
#include <rafter/problem/preconditioning.hpp>
#include <rafter/solve/multigrid_levels.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/tune/planner.hpp>

namespace rafter::problem {
namespace {

/// Says whether the meshes of multigrid lose a stretch of their cells along one axis: the finest has twice as many
/// cells as the one below, which in more than one dimension no refinement of all axes makes.
bool are_halved_along_one_axis(const mesh::Generations& meshes) {
  const auto& all = meshes.meshes;
  return all.size() > 1 && all.back()->tdim > 1 && all.back()->num_cells() == 2 * all[all.size() - 2]->num_cells();
}

} // namespace

PreparedProblem::PreparedProblem(Problem problem, const Preparation& preparation, Progress progress, Phases& phases)
    : problem_(std::move(problem)), progress_(std::move(progress)) {
  std::optional<base::ThreadLimit> limit; // without a number, that of whoever calls holds
  if (problem_.discretisation.threads > 0) limit.emplace(problem_.discretisation.threads);
  phases.start("spaces");
  has_method_ = !problem_.solver.method.empty();
  if (problem_.preconditioner.name.empty()) problem_.preconditioner.name = problem_.solver.preconditioner;
  has_preconditioner_ = !problem_.preconditioner.name.empty() && !problem_.is_preconditioner_chosen;
  problem_.solver.method = solvers::method_of(problem_.solver).name;
  equations_ = make_equations(problem_);
  if (problem_.statement.places.source.empty()) look_at_program(preparation); // texts are looked at where they are read
  options_ = problem_.discretisation;
  options_.shared_device = op::device_of(options_, *system().discretisation);
  if (problem_.time && !problem_.time->restart.empty())
    saved_time_ =
        located(problem_.statement.places.restart, [&] { return io::read_saved_time(problem_.time->restart); });
  phases.stop();

  phases.watch(options_.shared_device);
  take_planner(preparation);

  phases.start("kernels");
  bind_conditions();
  auto constraints = op::make_constraints(system(), options_.dirichlet); // refuses values before kernels take time
  auto action = choose_solver(preparation);
  make_operators(preparation.solves, std::move(constraints), std::move(action));
  progress_.notify(fmt::format("kernels: {} for the operator, {} for the right-hand side", operator_->info().size(),
                               linear_form() != nullptr ? linear_form()->kernels().info().size() : 0));
}

void PreparedProblem::take_planner(const Preparation& preparation) {
  if (options_.planner != nullptr) {
    machine_ = options_.planner->options().machine;
    return;
  }
  const bool is_program = problem_.statement.places.source.empty();
  auto found = find_planner(options_.shared_device, preparation, is_program,
                            [this] { progress_.notify("machine: measuring its ceilings, which are kept"); });
  machine_ = std::move(found.machine);
  options_.planner = std::move(found.planner);
}

/// Does what readers of texts do for those: warns of what measures leave out, and refuses output that cannot be written
/// before work is done for it.
void PreparedProblem::look_at_program(const Preparation& preparation) const {
  for (const auto& form : {problem_.a, problem_.L, problem_.F})
    if (form) op::warn_of_left_out(*system().mesh, *form);
  const auto& file = problem_.output.file;
  if (!preparation.solves || file.empty()) return;
  mesh::require_whole(*system().mesh, "output files");
  const std::vector<base::NamedFile> outputs{{"output.file", file}};
  std::vector<base::NamedFile> inputs;
  if (problem_.time) inputs.push_back({"time.restart", problem_.time->restart});
  base::claim_outputs(outputs, inputs);
}

Request PreparedProblem::request() const {
  const auto& places = problem_.statement.places;
  Request result{.statement = problem_.statement,
                 .is_residual = problem_.F.has_value() && problem_.is_residual,
                 .is_in_time = problem_.time.has_value(),
                 .solver = problem_.solver,
                 .has_method = has_method_,
                 .has_preconditioner = has_preconditioner_,
                 .is_iterated = problem_.is_iterated || asks_for_iterations(problem_.solver) ||
                                uses_multigrid(problem_.preconditioner, problem_.solver.method),
                 .is_whole = system().mesh->distribution == nullptr,
                 .method_reason = method_reason_,
                 .progress = progress_};
  auto& solver = result.solver;
  solver.preconditioner = problem_.preconditioner.name;
  solver.preconditioner = solvers::preconditioner_of(solver).name;
  if (const auto& multigrid = problem_.preconditioner.multigrid) solver.multigrid = multigrid->parameters;
  if (const auto& parameters = problem_.preconditioner.parameters) solver.multigrid = *parameters;
  if (places.source.empty()) warn_of_unused_preconditioner(result);
  return result;
}

bool PreparedProblem::has_multigrid() const {
  return problem::has_multigrid(problem_.preconditioner, problem_.solver.method) && !problem_.solver.hierarchy;
}

bool PreparedProblem::has_blocks() const {
  return problem::has_blocks(problem_.preconditioner, problem_.solver.method) && problem_.solver.blocks.empty();
}

std::shared_ptr<op::GeneratedForm> PreparedProblem::choose_solver(const Preparation& preparation) {
  auto forecast = choose_preconditioner(problem_, equations_, request(), options_, preparation.solves);
  if (forecast.takes_multigrid) {
    problem_.preconditioner.name = "multigrid"; // generate_levels() completes it
    problem_.is_preconditioner_chosen = true;
  }
  options_.num_applications = forecast.num_applications;
  if (preparation.solves && system().mesh->distribution == nullptr) {
    auto method = std::move(forecast.method);
    if (!method)
      method = choose_before_kernels(request(), system(), equations_.tangent, *options_.shared_device, options_.plan);
    if (method) {
      problem_.solver.method = std::move(method->method);
      method_reason_ = std::move(method->reason);
    }
  }
  return std::move(forecast.action);
}

SolveMemory PreparedProblem::memory() const {
  SolveMemory result{.source = problem_.statement.places.source};
  for (std::size_t f = 0; f < system().spaces.size(); ++f) {
    const auto& space = *system().spaces[f];
    result.fields.push_back(space::SpaceOptions{
        .family = space.element_family(), .degree = space.degree, .components = space.num_components()});
  }
  LevelMemory levels{.exist = uses_multigrid(problem_.preconditioner, problem_.solver.method)};
  if (const auto& options = problem_.preconditioner.multigrid) {
    levels.precision = options->precision;
    levels.are_halved_along_one_axis = are_halved_along_one_axis(options->meshes);
  }
  result.num_vectors = num_vectors(request().solver, levels, num_null_space_vectors(problem_.null_space));
  return result;
}

/// The kernels of a problem as text.
struct PreparedProblem::Generated {
  PlannedForms forms; ///< all of them
  std::shared_ptr<op::GeneratedForm> action, diagonal, load, energy;
  std::vector<op::GeneratedLevel> levels;
  op::GeneratedAuxiliary own_level;

  std::shared_ptr<op::GeneratedForm> keep(std::shared_ptr<op::GeneratedForm> form) {
    forms.kept.push_back(form);
    return form;
  }
};

PreparedProblem::Generated PreparedProblem::generate(bool solves, std::shared_ptr<op::GeneratedForm> planned) {
  Generated result;
  const auto& tangent = equations_.tangent;
  auto action_options = options_;
  action_options.runs_few_times = solves && problem_.a && is_shorter_than_compilation(system(), options_);
  const auto kernels = op::kernel_options(action_options, options_.shared_device);
  const bool is_as_planned = planned != nullptr && !action_options.runs_few_times;
  result.action =
      result.keep(is_as_planned ? std::move(planned) : op::build_form(tangent, system(), op::Purpose::action, kernels));
  warn_of_unused_plan_keys(problem_.statement.plan_name, *result.action, action_options);
  const auto solver = request().solver;
  if (solves && result.action->matrix == nullptr && // an assembled matrix has its diagonal
      !solvers::find_method(solver.method).is_direct && solvers::preconditioner_of(solver).needs_diagonal)
    result.diagonal = result.keep(op::build_form(tangent, system(), op::Purpose::diagonal, kernels));
  auto load_options = options_;
  load_options.plan.clear(); // a plan of the user is meant for the operator
  load_options.runs_few_times = problem_.a.has_value();
  if (equations_.load)
    result.load = result.keep(op::build_form(*equations_.load, system(), op::Purpose::action,
                                             op::kernel_options(load_options, options_.shared_device)));
  if (problem_.energy && !problem_.time)
    result.energy = result.keep(op::build(*problem_.energy, 0, system(), load_options));
  if (!solves) return result;
  auto& transient = result.forms.transient;
  postprocess_ = std::make_unique<Postprocess>(problem_, system(), options_);
  transient = postprocess_->kernels();
  for (const auto& condition : problem_.null_space) masses_.push_back(solvers::build_mass(condition, options_));
  transient.insert(transient.end(), masses_.begin(), masses_.end());
  generate_preconditioner(kernels, result);
  return result;
}

void PreparedProblem::generate_preconditioner(const op::KernelOptions& kernels, Generated& result) {
  const auto& choice = problem_.preconditioner;
  if (has_multigrid()) {
    result.levels = generate_levels(kernels);
    auto own = kernels;
    if (!result.levels.empty()) own.precision = choice.multigrid->precision;
    result.own_level = op::generate_own_level(equations_.tangent, system(), options_.dirichlet, own);
  }
  if (has_blocks()) {
    at_preconditioner(problem_.statement.places, [&] {
      blocks_ = generate_blocks(choice, choice.block_form ? *choice.block_form : *equations_.bilinear, system(),
                                options_.dirichlet, kernels);
    });
  }
  for (const auto& parts :
       {op::kernels_of(result.levels), solvers::kernels_of(blocks_), op::kernels_of(result.own_level)})
    for (const auto& form : parts) result.keep(form);
}

void PreparedProblem::bind_conditions() {
  std::optional<double> first_time;
  if (problem_.time) first_time = saved_time_ ? saved_time_->time : problem_.time->start;
  for (auto& condition : options_.dirichlet) bind_known(condition, problem_, first_time);
}

/// All kernels of the problem are first generated, then compiled at the same time, then bound to their data.
void PreparedProblem::make_operators(bool solves, space::Constraints constraints,
                                     std::shared_ptr<op::GeneratedForm> planned) {
  const auto& conditions = options_.dirichlet;
  auto generated = generate(solves, std::move(planned));
  if (system().mesh->distribution == nullptr) require_stored_fits(memory(), system(), generated.forms);
  auto kernels = generated.forms.kept;
  kernels.insert(kernels.end(), generated.forms.transient.begin(), generated.forms.transient.end());
  if (solves && problem_.statement.places.source.empty()) require_used(problem_, kernels); // files warn of such names
  comm::agree(*system().mesh->communicator(), [&] { op::compile(kernels, progress_.compilation); });
  const auto& action = generated.action;
  const bool follows_parameters =
      std::ranges::any_of(conditions, [](const auto& condition) { return condition.expression != nullptr; });
  operator_ = follows_parameters ? std::make_shared<op::Operator>(action, conditions, generated.diagonal)
                                 : std::make_shared<op::Operator>(action, std::move(constraints), generated.diagonal);
  bind_known(*operator_, action->form, problem_);
  own_level_ = op::make_auxiliary(generated.own_level, *operator_);
  if (has_multigrid() && solves)
    levels_ = op::make_levels(std::move(generated.levels), own_level_.A ? *own_level_.A : *operator_,
                              problem_.preconditioner.multigrid->meshes);
  const auto& load = generated.load;
  if (equations_.steps)
    make_stepper(load);
  else if (problem_.F)
    make_residual_problem(load, generated.energy);
  else if (load) {
    linear_form_ = std::make_unique<op::LinearForm>(load);
    bind_known(*linear_form_, load->form, problem_);
  }
}

std::vector<op::GeneratedLevel> PreparedProblem::generate_levels(const op::KernelOptions& kernels) {
  auto& choice = problem_.preconditioner;
  if (!choice.multigrid) choice.multigrid = MultigridOptions{.parameters = problem_.solver.multigrid};
  auto& options = *choice.multigrid;
  if (options.meshes.meshes.empty())
    options.meshes =
        problem_.meshes ? *problem_.meshes : mesh::Generations{.meshes = {system().mesh}, .refinements = {}};
  op::HierarchySpecification specification{.system = system(),
                                           .meshes = std::make_shared<const mesh::Generations>(options.meshes),
                                           .conditions = options_.dirichlet,
                                           .kernels = kernels,
                                           .coarsening = options.coarsening,
                                           .parameters = problem_.parameters};
  specification.kernels.precision = options.precision;
  if (equations_.bilinear)
    specification.form = *equations_.bilinear;
  else
    specification.form_on = [this](const auto& spaces) { return tangent_of_steps(problem_, spaces); };
  try {
    std::vector<op::GeneratedLevel> levels;
    at_preconditioner(problem_.statement.places, [&] { levels = op::generate_levels(specification); });
    return levels;
  } catch (const base::InputError& error) {
    if (has_preconditioner_) throw;
    choice = "jacobi";
    progress_.notify(fmt::format("preconditioner: jacobi, since there are no levels of multigrid: {}", error.what()));
    return {};
  }
}

void PreparedProblem::make_residual_problem(const std::shared_ptr<const op::GeneratedForm>& residual,
                                            const std::shared_ptr<const op::GeneratedForm>& energy) {
  residual_problem_ = std::make_unique<solvers::ResidualProblem>(residual, operator_, names(), energy);
  std::vector<const form::LoweredForm*> forms{&residual->form, &operator_->form()};
  if (energy) forms.push_back(&energy->form);
  const auto any_has = [&](const auto& has, const std::string& name) {
    return std::ranges::any_of(forms, [&](const auto* form) { return has(*form, name); });
  };
  for (const auto& given : problem_.data)
    if (any_has(solvers::has_field, given.name)) residual_problem_->set(given.name, *given.values);
  for (const auto& [name, value] : problem_.parameters)
    if (any_has(solvers::has_parameter, name) || operator_->has_boundary_parameter(name))
      residual_problem_->set(name, value);
  const auto start = starting_state();
  residual_problem_->bind(start);
  residual_problem_->linearise(start);
}

op::Vector PreparedProblem::starting_state() const {
  op::Vector state = operator_->make_vector();
  if (saved_time_)
    std::ranges::copy(saved_state_, state.host_overwrite().begin());
  else if (problem_.initial != nullptr) {
    op::check_size(operator_->size(), problem_.initial->size(), "the initial state");
    solvers::VectorOps(state.device()).copy(*problem_.initial, state);
  } else
    solvers::VectorOps(state.device()).fill(0, state);
  return state;
}

std::vector<space::FieldValues> PreparedProblem::known_fields() const {
  std::vector<space::FieldValues> result;
  for (const auto& given : problem_.data)
    if (given.space != nullptr) result.push_back({given.space, given.values->host_read()});
  return result;
}

solvers::ConstrainedNullSpace PreparedProblem::make_null_space() const {
  const auto& conditions = problem_.null_space;
  if (conditions.empty()) return {};
  const auto& places = problem_.statement.places.conditions;
  const auto place = [&](std::size_t i) { return i < places.size() ? places[i] : std::string(); };
  const solvers::ConstrainedOperator on(*operator_);
  std::vector<solvers::NullModes> modes;
  for (std::size_t i = 0; i < conditions.size(); ++i)
    modes.push_back(located(place(i), [&] { return on.modes(conditions[i], masses_[i]); }));
  return located(place(0), [&] { return solvers::ConstrainedNullSpace(*operator_, std::move(modes)); });
}

std::shared_ptr<const solvers::MultigridHierarchy> PreparedProblem::make_hierarchy() const {
  if (!has_multigrid()) return problem_.solver.hierarchy; // a program may have made its own
  std::shared_ptr<const solvers::MultigridHierarchy> result;
  at_preconditioner(problem_.statement.places,
                    [&] { result = solvers::make_hierarchy(levels_, system(), problem_.null_space, own_level_); });
  return result;
}

std::function<solvers::NearNullSpace()> PreparedProblem::near_null_space() const {
  return [of = system()] { return solvers::make_near_null_space(of); };
}

void PreparedProblem::add_preconditioner_parts(solvers::SolverOptions& options) const {
  if (!options.near_null_space) options.near_null_space = near_null_space();
  if (!has_blocks()) {
    options.hierarchy = make_hierarchy();
    return;
  }
  at_preconditioner(problem_.statement.places, [&] {
    options.blocks =
        solvers::make_blocks(blocks_, *operator_, *options.null_space, problem_.null_space, [&](op::Operator& block) {
          bind_known(block, block.form(), problem_);
          set_block_data(problem_.preconditioner, block);
        });
  });
}

} // namespace rafter::problem

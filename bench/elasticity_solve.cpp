// SPDX-License-Identifier: BSD-3-Clause
#include <bench/elasticity_solve.hpp>

#include <algorithm>
#include <cmath>

#include <bench/mesh_file.hpp>
#include <bench/operators.hpp>
#include <bench/published_solves.hpp>
#include <bench/stress_vector.hpp>
#include <bench/timed_solve.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>
#include <rafter/form/language.hpp>
#include <rafter/solve/hypre_module.hpp>

namespace rafter::bench {
namespace {

/// A solver has a preconditioner and the plan of the operators on all levels.
struct BeamSolver {
  const char *name, *paper; ///< its name there, empty if it has none
  const char *preconditioner, *plan;
  bool is_general = false; ///< the law is a tensor of 81 numbers instead of the isotropic one
  /// Points along each axis beyond the degree; 0: the smallest rule that is exact.
  int extra_points = 2;
  /// Plan of the first of two loops that meet in memory, the second of which has `plan` (StressVectorOperator). It is
  /// empty where one loop does both.
  const char* stress_plan = "";
};
/// Dense tables in one loop per cell are what comes closest to MFEM's partial assembly of an operator on global vectors
/// (steps `dense` and `c3` of elasticity-kernel).
constexpr const char* paper_plan = "contraction=dense mapping=plain factors=recompute rows=3 unroll=0";
constexpr const char* assembled = "mapping=assembled"; ///< its vectors are in double precision
constexpr const char* fused = "contraction=per-derivative mapping=plain factors=recompute even_odd=0";
constexpr const char* slice_wise = "contraction=slice-wise mapping=simd_cells factors=recompute even_odd=0";
constexpr std::array beam_solvers{BeamSolver{"fa_amg", "fa_amg", "amg", assembled},
                                  BeamSolver{"fa_gmg", "fa_gmg", "multigrid", assembled},
                                  BeamSolver{"pa_jac", "pa_jac", "jacobi", paper_plan, true},
                                  BeamSolver{"pa_gmg", "pa_gmg", "multigrid", paper_plan, true},
                                  BeamSolver{"qvec_gmg", "baseline", "multigrid", paper_plan, true, 2, fused},
                                  BeamSolver{"c1_gmg", "C1", "multigrid", fused, true, 2, fused},
                                  BeamSolver{"c2_gmg", "C2", "multigrid", fused, false, 2, fused},
                                  BeamSolver{"c3_gmg", "C3", "multigrid", fused},
                                  BeamSolver{"paop_gmg", "paop_gmg", "multigrid", slice_wise},
                                  BeamSolver{"rafter", "", "multigrid", "", false, 0}};

/// Returns the names of the solvers whose preconditioners this version has.
std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const auto& solver : beam_solvers)
    for (const auto& kind : solvers::preconditioners())
      if (kind.name == solver.preconditioner && kind.make != nullptr) names.emplace_back(solver.name);
  return names;
}

/// Values of options.
constexpr const char *boomeramg = "boomeramg", *aggregation = "aggregation", *by_size = "auto";
constexpr const char *in_double = "double", *in_single = "single";
constexpr const char *preconditioned = "preconditioned", *residual = "residual";

struct ElasticitySolveChoices {
  Settings common;
  std::vector<std::string> solvers;
  int jacobi_iterations = 20;
  std::string amg; ///< empty: boomeramg where it is there, else aggregation
  std::string coarse = by_size, precision = in_double, norm = preconditioned;
};
ElasticitySolveChoices elasticity_solve_defaults() {
  ElasticitySolveChoices choices;
  choices.solvers = solver_names();
  for (const char* slow : {"fa_amg", "fa_gmg", "qvec_gmg", "c1_gmg", "c2_gmg", "c3_gmg"})
    std::erase(choices.solvers, slow);
  choices.common.degrees = {1, 2, 4, 8};
  choices.common.million_dofs = {0.11};
  choices.common.sampling.rounds = 3;
  return choices;
}
std::vector<Option> options_of(ElasticitySolveChoices& choices) {
  std::vector<Option> options{
      names_option("--solvers", "rows", choices.solvers, solver_names()),
      integer_option("--jacobi-iterations", "at which solves with Jacobi end, converged or not; 0: none",
                     choices.jacobi_iterations, 0, 100'000),
      name_option("--amg", "algebraic multigrid of fa_amg (default: boomeramg where hypre is there)", choices.amg,
                  {boomeramg, aggregation}),
      name_option("--coarse", "coarsest levels of multigrid, boomeramg as in the paper", choices.coarse,
                  {by_size, boomeramg}),
      name_option("--precision", "of the levels of multigrid but the coarsest", choices.precision,
                  {in_double, in_single}),
      name_option("--norm", "of the residual, by which solves end", choices.norm, {preconditioned, residual})};
  options.push_back(device_option(choices.common));
  for (auto& option : common_options(choices.common, true)) options.push_back(std::move(option));
  return options;
}

/// Takes BoomerAMG for fa_amg where it is there and aggregates elsewhere, unless an option says what is taken. Throws
/// EnvironmentError where an option wants BoomerAMG and it is not there.
void choose_amg(ElasticitySolveChoices& choices) {
  const char* wanting = choices.amg == boomeramg ? "--amg" : choices.coarse == boomeramg ? "--coarse" : nullptr;
  try {
    if (wanting != nullptr || choices.amg.empty()) solvers::hypre_functions();
    if (choices.amg.empty()) choices.amg = boomeramg;
  } catch (const base::EnvironmentError& error) {
    if (wanting != nullptr)
      throw base::EnvironmentError(fmt::format("bench elasticity-solve: {} {}: {}", wanting, boomeramg, error.what()));
    choices.amg = aggregation;
    if (std::ranges::count(choices.solvers, "fa_amg") > 0)
      fmt::print("fa_amg takes Rafter's smoothed aggregation and not the paper's, since BoomerAMG is not there "
                 "(rafter doctor)\n\n");
  }
}

solvers::Norm norm_of(const ElasticitySolveChoices& choices) {
  return choices.norm == residual ? solvers::Norm::residual : solvers::Norm::preconditioned;
}

bool is_multigrid(const BeamSolver& solver) { return std::string_view(solver.preconditioner) == "multigrid"; }
bool is_jacobi(const BeamSolver& solver) { return std::string_view(solver.preconditioner) == "jacobi"; }

bool has_stress_vector(const BeamSolver& solver) { return *solver.stress_plan != '\0'; }

bool has_single_levels(const BeamSolver& solver, const ElasticitySolveChoices& choices) {
  return is_multigrid(solver) && choices.precision == in_single && std::string_view(solver.plan) != assembled &&
         !has_stress_vector(solver);
}

void add_names(form::Scope& scope) {
  const std::vector<std::pair<std::string, double>> stiffness{{"1", 50.0}, {"2", 1.0}};
  scope.add("lmbda", form::by_tag("lmbda", stiffness));
  scope.add("mu", form::by_tag("mu", stiffness));
  scope.add("L", isotropic_tensor("L", 1, 0));
  scope.add("M", isotropic_tensor("M", 0, 1));
  scope.add("pull", form::constant("pull", {3}, {0.0, 0.0, -1e-2}));
}

/// The operator in two loops, with the names that their forms want.
AppliedOperator in_two_loops(const BeamSolver& solver, std::shared_ptr<const op::Operator> A) {
  const auto loops = std::make_shared<const ConstrainedStressVectorOperator>(
      std::move(A), StressVectorChoice{.is_symmetric = !solver.is_general,
                                       .stress_plan = solver.stress_plan,
                                       .plan = solver.plan,
                                       .add_names = [](form::Scope& scope) {
                                         add_names(scope);
                                         scope.add("I", form::identity(3));
                                         scope.define("C", "lmbda*L + mu*M");
                                       }});
  return {loops, loops->loops().counts(), loops->loops().info()};
}

/// The coarse solver of the paper (section 3.2) is conjugate gradients to 1e-2, in ten iterations at most.
SolveChoice choice_of(const BeamSolver& solver, const ElasticitySolveChoices& choices) {
  SolveChoice result{.preconditioner = solver.preconditioner,
                     .plan = solver.plan,
                     .max_iterations = is_jacobi(solver) ? choices.jacobi_iterations : 0,
                     .norm = norm_of(choices)};
  const bool has_boomeramg = (is_multigrid(solver) ? choices.coarse : choices.amg) == boomeramg;
  if (has_boomeramg) result.multigrid.amg = solvers::AmgMethod::boomeramg;
  if (has_boomeramg && is_multigrid(solver)) {
    result.multigrid.coarse = solvers::CoarseSolver::amg;
    result.multigrid.coarse_rtol = 1e-2;
    result.multigrid.coarse_iterations = 10;
  }
  if (has_stress_vector(solver))
    result.in_place = [&solver](std::shared_ptr<const op::Operator> A) { return in_two_loops(solver, std::move(A)); };
  if (has_single_levels(solver, choices)) result.precision = schedule::Precision::single_precision;
  return result;
}

/// Says whether a row does what the paper's row of its name does.
bool is_of_paper(const BeamSolver& solver, const ElasticitySolveChoices& choices) {
  if (choices.norm != preconditioned) return false;
  if (is_multigrid(solver)) return choices.coarse == boomeramg && !has_single_levels(solver, choices);
  return is_jacobi(solver) || choices.amg == boomeramg;
}

/// Adds the algebraic multigrid that a row has taken, if any, and the other choices that change what it solves with.
void add_choices(Json& row, const BeamSolver& solver, const ElasticitySolveChoices& choices) {
  row["norm"] = choices.norm;
  if (is_multigrid(solver)) {
    if (choices.coarse == boomeramg)
      row["amg"] = boomeramg;
    else if (row["coarsest_dofs"].get<std::int64_t>() > solvers::most_direct_unknowns)
      row["amg"] = aggregation;
  } else if (!is_jacobi(solver))
    row["amg"] = choices.amg;
}

Layout elasticity_solve_layout(const ElasticitySolveChoices& choices) {
  return {
      .suite = "elasticity-solve",
      .title = "a beam of two materials, whole solves",
      .columns = {{"solver", {"solver", "preconditioner and operators (docs/command.md)"}, "{:<8}"},
                  degree_column(),
                  dofs_column(),
                  iterations_column(norm_of(choices)),
                  end_column(),
                  {"preconditioner_seconds", {"Prec s", "set-up of the preconditioner"}, "{:7.3f}"},
                  {"form_seconds", {"Form s", "operator and right-hand side"}, "{:7.3f}"},
                  {"seconds", {"Solve s", "iteration"}, "{:8.3f}"},
                  {"total_seconds", {"Total s", "sum of these"}, "{:8.3f}"},
                  {"iteration_mdofs_per_second", {"L1", "10^6 unknowns per second of an iteration"}, "{:7.2f}"},
                  spread_column(),
                  bytes_per_unknown_column(),
                  {"amg", {"AMG", "algebraic multigrid, of the matrix (fa_amg) or of the coarsest level"}, "{:<11}"}},
      .tables = {{"beside the paper, at its size next to this one (64 processes on a Kunpeng 920)",
                  {{"paper",
                    {"in the paper", "its name for the solver; (name): of what is solved in another way here"},
                    "{:<12}"},
                   {"paper_dofs", {"MDoF", "its 10^6 unknowns"}, "{:6.2f}", 1e-6},
                   {"paper_iterations", {"iter", "iterations"}, "{:5}"},
                   {"paper_preconditioner_seconds", {"Prec s", "set-up; table 4: assembly"}, "{:7.2f}"},
                   {"paper_form_seconds", {"Form s", "operator and right-hand side"}, "{:7.2f}"},
                   {"paper_seconds", {"Solve s", "iteration"}, "{:8.2f}"},
                   {"paper_total_seconds", {"Total s", "sum"}, "{:8.2f}"},
                   {"paper_iteration_mdofs_per_second", {"L1", "10^6 unknowns per second of an iteration"}, "{:7.2f}"},
                   {"paper_bytes_per_unknown", {"B/DoF", "memory per unknown"}, "{:6.0f}"}}},
                 {"throughput and memory",
                  {{"kernel_mdofs_per_second",
                    {"L2", "10^6 unknowns per second of an iteration's time in the operators of all levels"},
                    "{:8.2f}"},
                   {"finest_mdofs_per_second",
                    {"L3", "10^6 unknowns per second of an application of the finest operator in the solve"},
                    "{:8.2f}"},
                   {"level_mdofs_per_second", {"levels", "that rate over the applications of all levels"}, "{:8.2f}"},
                   {"finest_applications", {"applications", "of the finest operator in a solve"}, "{:12}"},
                   {"operator_share", {"operators %", "of the solve, all levels"}, "{:11.0f}", 100},
                   memory_column(),
                   {"kernels_seconds", {"kernels s", "planning and loading kernels, before the rest"}, "{:9.2f}"}}}},
      .identity = {"solver", "degree", "dofs"},
      .figure = "iteration_mdofs_per_second"};
}

/// Refines the beam until it has about so many unknowns of this degree.
int refinements(int degree, double dofs) {
  const auto size = [degree](int times) {
    const double n = degree * std::pow(2.0, times);
    return 3 * (8 * n + 1) * (n + 1) * (n + 1);
  };
  int times = 0;
  while (std::abs(std::log(size(times + 1) / dofs)) < std::abs(std::log(size(times) / dofs))) ++times;
  return times;
}

/// Makes the beam with the tags of its two materials.
std::shared_ptr<const mesh::Mesh> make_beam() {
  auto beam = mesh::make_box({.cells = {8, 1, 1}, .size = {8, 1, 1}, .shape = "hexahedron"});
  auto& cells = beam.groups.front();
  for (std::int32_t cell = 0; cell < cells.num_cells(); ++cell) {
    double x = 0; // eight times that of the middle
    for (int v = 0; v < 8; ++v)
      x += beam.points[3 * static_cast<std::size_t>(cells.nodes()[static_cast<std::size_t>(8 * cell + v)])];
    cells.tags.set(static_cast<std::size_t>(cell), x < 8 * 4 ? 1 : 2);
  }
  return std::make_shared<const mesh::Mesh>(std::move(beam));
}

SolveProblem make_problem(const BeamSolver& solver, int degree, double dofs, const MeshFile* file) {
  SolveProblem result{.meshes = file != nullptr ? file->generations
                                                : std::make_shared<const mesh::Generations>(mesh::refined_generations(
                                                      make_beam(), refinements(degree, dofs))),
                      .degree = degree,
                      .components = 3,
                      .form = "inner(lmbda*div(u)*Identity(3) + 2*mu*sym(grad(u)), sym(grad(v)))*dx",
                      .load = file != nullptr ? "dot(pull, v)*ds(2)" : "dot(pull, v)*ds('xmax')",
                      .add_names = add_names,
                      .fixed_tags = {1},
                      .quadrature = {}};
  if (file == nullptr) result.fixed_tags = result.meshes->finest()->tags_of("xmin", 2);
  if (solver.is_general)
    result.form =
        fmt::format("inner(dot(lmbda*L + mu*M, {}), {})*dx", components_of("sym(grad(u))"), components_of("grad(v)"));
  if (solver.extra_points > 0) result.quadrature.points = degree + solver.extra_points;
  return result;
}

/// Adds the published solve whose size is next to that of the row.
void add_published(Json& row, const BeamSolver& solver, const ElasticitySolveChoices& choices) {
  const PublishedSolve* nearest = nullptr;
  const auto distance = [&](const PublishedSolve& of) {
    return std::abs(std::log(of.dofs / row["dofs"].get<double>()));
  };
  for (const auto& solve : published_solves)
    if (solve.solver == solver.paper && solve.degree == row["degree"].get<int>() &&
        (nearest == nullptr || distance(solve) < distance(*nearest)))
      nearest = &solve;
  if (nearest == nullptr) return;
  row["paper"] = is_of_paper(solver, choices) ? std::string(nearest->solver) : fmt::format("({})", nearest->solver);
  row["paper_dofs"] = nearest->dofs;
  row["paper_total_seconds"] = nearest->total;
  if (nearest->iterations == 0) return;
  row["paper_iterations"] = nearest->iterations;
  row["paper_preconditioner_seconds"] = nearest->preconditioner;
  row["paper_form_seconds"] = nearest->form;
  row["paper_seconds"] = nearest->solve;
  row["paper_iteration_mdofs_per_second"] = 1e-6 * nearest->iterations * nearest->dofs / nearest->solve;
  if (nearest->gigabytes > 0) row["paper_bytes_per_unknown"] = 1e9 * nearest->gigabytes / nearest->dofs;
}

/// A row whose matrix or factors exceed the memory of the machine says so and has no figures.
Json make_row(const BeamSolver& solver, int degree, double dofs, const ElasticitySolveChoices& choices,
              const Report& report, const std::shared_ptr<device::Device>& device) {
  const MeshFile* file = choices.common.mesh.get();
  Json row{{"solver", solver.name}};
  try {
    row.update(solve_row([&] { return make_problem(solver, degree, dofs, file); }, choice_of(solver, choices), device,
                         report.machine(), choices.common));
  } catch (const base::EnvironmentError& error) {
    const auto& meshes = file != nullptr ? *file->generations : *make_problem(solver, degree, dofs, file).meshes;
    row.update({{"degree", degree},
                {"dofs", std::llround(dofs)},
                {"cells", meshes.finest()->num_cells()},
                {"missing", error.what()}});
    return row;
  }
  add_choices(row, solver, choices);
  row["total_seconds"] =
      row["preconditioner_seconds"].get<double>() + row["form_seconds"].get<double>() + row["seconds"].get<double>();
  row["operator_share"] = row["operator_seconds"].get<double>() / row["seconds"].get<double>();
  const double million_iterated = 1e-6 * row["iterations"].get<double>() * row["dofs"].get<double>();
  row["iteration_mdofs_per_second"] = million_iterated / row["seconds"].get<double>();
  row["kernel_mdofs_per_second"] = million_iterated / row["operator_seconds"].get<double>();
  if (file == nullptr) add_published(row, solver, choices);
  return row;
}

std::vector<report::Plot> plots_of(const Report& report, const ElasticitySolveChoices& choices) {
  const bool is_over_size = choices.common.million_dofs.size() > 1;
  const report::PlotAxis x{is_over_size ? "unknowns" : "degree", is_over_size, !is_over_size};
  const auto by = is_over_size ? std::vector<std::string>{"solver", "degree"} : std::vector<std::string>{"solver"};
  const std::string key = is_over_size ? "dofs" : "degree";
  auto rows = report.rows();
  for (auto& row : rows)
    if (row.value("amg", "") == aggregation)
      row["solver"] = fmt::format("{} ({})", row["solver"].get<std::string>(), aggregation);
  auto times = series(rows, by, key, "total_seconds");
  auto memory = series(rows, by, key, "bytes_per_unknown");
  const report::PlotAxis seconds{"seconds", true}, bytes{"bytes per unknown", true};
  return {{"time of a solve with its set-up", x, seconds, std::move(times)}, {"memory", x, bytes, std::move(memory)}};
}

} // namespace

int run_elasticity_solve(std::span<const std::string> arguments) {
  ElasticitySolveChoices choices = elasticity_solve_defaults();
  const auto given = parse("elasticity-solve", arguments, options_of(choices));
  read_mesh_file("elasticity-solve", choices.common, given);
  require_hexahedra("elasticity-solve", choices.common);
  require_sizes("elasticity-solve", choices.common);
  const auto device =
      device::make_device(choices.common.device, choices.common.threads); // a wrong one is refused at once
  choose_amg(choices);
  std::vector<PlannedRow> rows;
  for (const auto& solver : beam_solvers) rows.push_back({solver.name, {solver.plan, solver.stress_plan}});
  keep_rows_of_device("elasticity-solve", "--solvers", given, rows, *device, choices.solvers);
  Report report(elasticity_solve_layout(choices), choices.common, arguments);
  for (const double size : choices.common.million_dofs)
    for (const int degree : choices.common.degrees)
      for (const auto& solver : beam_solvers)
        if (std::ranges::find(choices.solvers, solver.name) != choices.solvers.end())
          report.add(make_row(solver, degree, 1e6 * size, choices, report, device));
  return report.finish(plots_of(report, choices));
}

std::string elasticity_solve_options() {
  ElasticitySolveChoices choices = elasticity_solve_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench

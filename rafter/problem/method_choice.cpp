// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/method_choice.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/log.hpp>
#include <rafter/form/bilinear_parts.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/problem/factor_forecast.hpp>
#include <rafter/problem/singularity.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

/// Time of the factors of a small problem, and of the largest one that is solved directly unasked.
constexpr double short_seconds = 1, most_seconds = 60;
constexpr double most_of_memory = 0.5;
/// Forecasts of more unknowns take long themselves; such factors take more than most_seconds in three dimensions.
constexpr std::int64_t most_unknowns = 3'000'000;

/// The factors of the matrix of a system as a forecast has them. Nothing is forecast for too many unknowns.
struct Factors {
  std::int64_t num_unknowns = 0;
  std::optional<FactorForecast> forecast;

  Factors(const op::System& system, bool is_symmetric) : num_unknowns(system.num_unknowns()) {
    if (num_unknowns <= most_unknowns) forecast = forecast_factors(system, is_symmetric);
  }
  bool fit() const {
    return forecast && forecast->seconds() <= most_seconds &&
           forecast->bytes() <= most_of_memory * mesh::available_memory_bytes();
  }
  bool are_small() const { return fit() && forecast->seconds() < short_seconds; }
  std::string text() const {
    if (!forecast) return fmt::format("longer, for {} unknowns", num_unknowns);
    return fmt::format("about {:.2g} s and {:.2g} GB for {} unknowns", forecast->seconds(), 1e-9 * forecast->bytes(),
                       num_unknowns);
  }
};

/// Direct solves that nobody asked for. A preconditioner that the user named serves no purpose then, nor do its keys,
/// which warnings say.
MethodChoice direct(const Request& request, std::string_view cause, const Factors& factors) {
  if (request.statement.warn_of_direct_solve) request.statement.warn_of_direct_solve(cause);
  return {"direct", fmt::format("chosen because {}, and factors of the matrix are affordable (forecast: {})", cause,
                                factors.text())};
}

/// Throws InputError about a problem that names no method and that neither cg nor a direct solve can take.
[[noreturn]] void refuse_default(const Request& request, std::string_view cause, const op::System& system,
                                 const Factors& factors) {
  throw base::InputError(
      at(request.statement.places.form,
         fmt::format("{}: {}, so that cg, the method of problems without solver.method, cannot take it; a direct solve "
                     "takes its place where the factors of the matrix are forecast to take at most {} s and half of "
                     "the memory, and here they take {}: set solver.method = \"gmres\", \"bicgstab\" or \"minres\" "
                     "with a preconditioner{}, or \"direct\"",
                     request.statement.form_name, cause, most_seconds, factors.text(),
                     system.spaces.size() > 1 ? " (\"block\" for several fields)" : "")));
}

MethodChoice direct_or_refuse(const Request& request, std::string_view cause, const op::System& system,
                              bool is_symmetric) {
  const Factors factors(system, is_symmetric);
  if (!factors.fit()) refuse_default(request, cause, system, factors);
  return direct(request, cause, factors);
}

/// Returns the first field without a term of its own test and trial functions, whose entries on the diagonal are zero;
/// -1: there is none.
int field_without_diagonal(const form::LoweredForm& form, const op::System& system) {
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    bool is_found = false;
    for (const auto& integral : form.integrals)
      for (const auto& term : integral.test_terms) {
        if (system.index_of(*form.test_spaces[static_cast<std::size_t>(term.field)]) != f) continue;
        for (const auto id : integral.graph->reachable(std::array{term.coefficient})) {
          const auto& node = (*integral.graph)[id];
          is_found = is_found || (node.op == form::ScalarOp::atom && node.atom.kind == form::AtomKind::trial &&
                                  system.index_of(*form.trial_spaces[static_cast<std::size_t>(node.atom.a)]) == f);
        }
      }
    if (!is_found) return static_cast<int>(f);
  }
  return -1;
}

/// Says whether a form is seen not to be symmetric. Forms with branches are not compared.
bool is_seen_unsymmetric(const form::LoweredForm& form) {
  for (const auto& integral : form.integrals)
    for (const auto& term : integral.test_terms)
      for (const auto id : integral.graph->reachable(std::array{term.coefficient}))
        if ((*integral.graph)[id].op >= form::ScalarOp::abs) return false;
  return !form::is_symmetric(form);
}

} // namespace

std::string what_cg_cannot_take(const op::System& system, const form::LoweredForm& bilinear) {
  const int field = field_without_diagonal(bilinear, system);
  if (field >= 0)
    return fmt::format("the form has no term with both functions of field '{}' (a saddle point problem)",
                       system.spaces[static_cast<std::size_t>(field)]->name);
  return is_seen_unsymmetric(bilinear) ? "the form is not symmetric" : "";
}

namespace {

bool is_direct(const Request& request) { return solvers::find_method(request.solver.method).is_direct; }

bool has_positive_diagonal(const op::Operator& A) {
  op::Vector diagonal = A.make_vector();
  A.diagonal(diagonal);
  return std::ranges::all_of(diagonal.host_read(), [](double entry) { return entry > 0; });
}

/// Moves the tangent to a random state near `start` where it is finite. Returns nothing if no such state is found.
std::optional<Probe> probe_near(const op::Operator& A, const op::Vector& start,
                                const std::function<void(const op::Vector&)>& linearise) {
  const solvers::VectorOps ops(A.device());
  double largest = 0;
  for (const double entry : start.host_read()) largest = std::max(largest, std::abs(entry));
  for (const double share : {1e-2, 1e-5, 1e-8}) {
    op::Vector state = random_vector(A, 3);
    ops.scale(share * (largest > 0 ? largest : 1), state);
    ops.axpy(1, start, state);
    linearise(state);
    Probe probe = make_probe(A, 1);
    if (ops.first_non_finite(probe.image) < 0) return probe;
  }
  return std::nullopt;
}

} // namespace

bool asks_for_iterations(const solvers::SolverOptions& solver) {
  const solvers::SolverOptions usual;
  const auto &control = solver.control, &of_usual = usual.control;
  return control.max_iterations || control.stagnation_window != of_usual.stagnation_window ||
         control.norm != of_usual.norm || control.monitor || solver.restart != usual.restart ||
         solver.side != usual.side || solver.is_fused != usual.is_fused || solver.hierarchy != nullptr ||
         !solver.blocks.empty();
}

void warn_of_unused_preconditioner(Request& request) {
  if (!request.has_preconditioner || request.solver.preconditioner == "none") return;
  request.statement.warn_of_direct_solve = [name = request.solver.preconditioner](std::string_view cause) {
    base::warn(fmt::format("the preconditioner {} is not used: {}, and a direct solve takes its place", name, cause));
  };
}

bool fits_direct_solve(const op::System& system) { return Factors(system, false).fit(); }

std::optional<SmallDirectSolve> small_direct_solve(const Request& request, const op::System& system,
                                                   const device::Device& device, std::string_view plan) {
  constexpr std::int64_t never_small = 500'000; // unknowns whose factors take more than short_seconds in any dimension
  const bool has_floats = plan.find("float") != std::string_view::npos;
  const bool is_asked_for = request.has_method || request.has_preconditioner || request.is_iterated;
  if (is_asked_for || !device.shares_host_memory() || has_floats || system.num_unknowns() > never_small)
    return std::nullopt;
  const Factors factors(system, true);
  if (!factors.are_small()) return std::nullopt;
  return SmallDirectSolve{
      .choice = {"direct", fmt::format("chosen because the problem is small: the forecast of the factors is "
                                       "{}",
                                       factors.text())},
      .seconds = factors.forecast->seconds()};
}

std::optional<MethodChoice> choose_before_kernels(const Request& request, const op::System& system,
                                                  const form::LoweredForm& bilinear, const device::Device& device,
                                                  std::string_view plan) {
  const bool has_floats = plan.find("float") != std::string_view::npos;
  if (request.has_method || !device.shares_host_memory() || has_floats) return std::nullopt;
  const auto cause = what_cg_cannot_take(system, bilinear);
  if (!cause.empty()) return direct_or_refuse(request, cause, system, form::is_symmetric(bilinear));
  auto small = small_direct_solve(request, system, device, plan);
  return small ? std::optional(std::move(small->choice)) : std::nullopt;
}

std::optional<MethodChoice> choose_after_multigrid(const Request& request, const op::Operator& A) {
  if (!request.is_whole || request.has_method || !A.device()->shares_host_memory()) return std::nullopt;
  const Factors factors(A.system(), true);
  if (!factors.are_small()) return std::nullopt;
  return direct(request, "multigrid does not serve", factors);
}

void choose_small(Request& request, const op::Operator& A) {
  auto choice = choose_before_kernels(request, A.system(), A.form(), *A.device(), A.is_single() ? "float" : "");
  if (!choice) return;
  request.solver.method = std::move(choice->method);
  request.method_reason = std::move(choice->reason);
}

MethodChoice choose_method(const Request& request, const op::Operator& A, const Probe& probe) {
  const auto& options = request.solver;
  if (request.has_method) return {options.method, {}};
  const bool is_symmetric = asymmetry(A, probe, request) == 0; // which refuses values that are too small
  if (is_direct(request)) return {options.method, request.method_reason};
  if (!is_symmetric) return direct_or_refuse(request, "the operator is not symmetric", A.system(), false);
  if (solvers::find_preconditioner(options.preconditioner).needs_diagonal && !has_positive_diagonal(A))
    return direct_or_refuse(request, "the operator is not positive definite (its diagonal is not positive)", A.system(),
                            true);
  return {options.method, {}};
}

MethodChoice choose_for_tangents(const Request& request, const op::Operator& A, const op::Vector& start,
                                 const std::function<void(const op::Vector&)>& linearise,
                                 const std::function<void()>& examine_near) {
  const Probe probe = make_probe(A, 1);
  require_finite(A, probe, request);
  auto choice = choose_method(request, A, probe);
  require_symmetric(A, probe, request, choice.method);
  if (const auto near = probe_near(A, start, linearise)) {
    const solvers::NullSpace none;
    if (examine_near) examine_near();
    require_regular(A, *near, request, request.solver.null_space ? *request.solver.null_space : none);
    const bool is_open = !request.has_method && choice.reason.empty();
    if (is_open && asymmetry(A, *near, request) > 0) choice = choose_method(request, A, *near);
    require_symmetric(A, *near, request, choice.method);
  }
  linearise(start);
  return choice;
}

std::optional<MethodChoice> choose_after(const Request& request, const op::Operator& A, const solvers::Result& result,
                                         const solvers::Preconditioner& M) {
  using enum solvers::Failure;
  const bool has_ended = result.status == solvers::Status::converged || result.failure == stopped;
  if (!request.is_whole || request.has_method || is_direct(request) || has_ended) return std::nullopt;
  std::string sign;
  if (result.failure == indefinite_operator)
    sign = fmt::format("cg met p.Ap <= 0 in iteration {}", result.iterations + 1);
  else if (M.num_negative_eigenvalues() > 0)
    sign =
        fmt::format("coarse factors of the preconditioner have {} negative eigenvalues", M.num_negative_eigenvalues());
  else if (result.failure == indefinite_preconditioner)
    sign = fmt::format("cg met r.z <= 0 in iteration {}", result.iterations + 1);
  else
    return std::nullopt;
  const Factors factors(A.system(), true);
  if (!factors.fit()) return std::nullopt;
  return direct(request, fmt::format("the operator is not positive definite ({})", sign), factors);
}

std::optional<MethodChoice> choose_without_preconditioner(const Request& request, const op::Operator& A,
                                                          const base::SolverError& error) {
  if (!request.is_whole || request.has_method || is_direct(request)) return std::nullopt;
  const Factors factors(A.system(), true);
  if (!factors.fit()) return std::nullopt;
  return direct(request, fmt::format("the preconditioner cannot be made ({})", error.what()), factors);
}

} // namespace rafter::problem

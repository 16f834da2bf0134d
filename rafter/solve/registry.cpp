// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/precision.hpp>
#include <rafter/solve/algebraic_multigrid.hpp>
#include <rafter/solve/diagnosis.hpp>
#include <rafter/solve/field_balance.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/solve/trust.hpp>

namespace rafter::solvers {
namespace {

using op::LinearOperator;

Result run_cg(const LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
              const SolverOptions& options) {
  return cg(A, b, x, M, {.control = options.control, .is_fused = options.is_fused});
}

Result run_gmres(const LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                 const SolverOptions& options) {
  return gmres(A, b, x, M, {.control = options.control, .restart = options.restart, .side = options.side});
}

Result run_minres(const LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                  const SolverOptions& options) {
  return minres(A, b, x, M, options.control);
}

Result run_bicgstab(const LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                    const SolverOptions& options) {
  return bicgstab(A, b, x, M, options.control);
}

Result run_direct(const LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                  const SolverOptions& options) {
  return direct(A, b, x, M, options.control);
}

std::shared_ptr<const Preconditioner> make_identity(const LinearOperator& A, const SolverOptions&) {
  return std::make_shared<Identity>(A);
}

std::shared_ptr<const Preconditioner> make_jacobi(const LinearOperator& A, const SolverOptions&) {
  return std::make_shared<Jacobi>(A);
}

std::shared_ptr<const Preconditioner> make_chebyshev(const LinearOperator& A, const SolverOptions& options) {
  auto parameters = options.chebyshev;
  parameters.is_fused = parameters.is_fused && options.is_fused;
  parameters.null_space = options.null_space;
  return std::make_shared<Chebyshev>(A, parameters);
}

/// Throws InputError where the operator of a finest level in single precision is not that of the form, or of its
/// symmetric part, up to rounding: both have x.Ax in common. Coordinates far from the origin are a reason, and numbers
/// beyond what floats hold.
void require_same_energy(const LinearOperator& A, const LinearOperator& finest) {
  constexpr double least = 0x1p-100; // corrections of residuals of size 1 are larger than its inverse
  const VectorOps ops(A);
  const Vector x = random_free_vector(A, 0);
  Vector Ax(A.device(), x.size()), rounded(A.device(), x.size());
  A.apply(x, Ax);
  finest.apply(x, rounded);
  const double x_norm = ops.norm(x), Ax_norm = ops.norm(Ax), size = x_norm * Ax_norm;
  if (size == 0 || !std::isfinite(size)) return; // nothing is free, or the coefficients themselves are not finite
  const double error = std::abs(ops.dot(x, rounded) - ops.dot(x, Ax)) / size, scale = Ax_norm / x_norm;
  const bool has_range = scale >= least && std::isfinite(error);
  if (has_range && error <= op::max_precision_error) return;
  const auto found =
      has_range
          ? fmt::format("differs by {:.2g} of its size, accepted is {:.2g}", error, op::max_precision_error)
          : fmt::format("and its inverse leave the range of floats, 1.2e-38 to 3.4e38: |A x| / |x| = {:.1e} for a "
                        "random x",
                        scale);
  throw base::InputError(
      fmt::format("preconditioner multigrid: in single precision the operator {}; use precision = \"double\"", found));
}

std::shared_ptr<const Preconditioner> make_multigrid(const LinearOperator& A, const SolverOptions& options) {
  if (options.hierarchy == nullptr)
    throw base::InputError("preconditioner multigrid: the operator has no coarser levels here; accepted are "
                           "problem files, and solve() of C++ with the meshes of all generations "
                           "(SolveOptions::preconditioner = multigrid({.meshes = ...}))");
  auto levels = options.hierarchy->coarser;
  const auto& finest = options.hierarchy->finest;
  if (finest != nullptr && finest->is_single()) {
    if (options.hierarchy->follow) options.hierarchy->follow(); // so that both have the same values
    require_same_energy(A, *finest);
  }
  levels.push_back({.A = finest ? finest : std::shared_ptr<const LinearOperator>(std::shared_ptr<void>(), &A),
                    .to_finer = nullptr,
                    .null_space = options.null_space,
                    .name = options.hierarchy->finest_name,
                    .degree = options.hierarchy->finest_degree,
                    .follow = options.hierarchy->follow});
  auto parameters = options.multigrid;
  parameters.smoother.is_fused = parameters.smoother.is_fused && options.is_fused;
  return std::make_shared<Multigrid>(std::move(levels), parameters);
}

std::shared_ptr<const Preconditioner> make_amg(const LinearOperator& A, const SolverOptions& options) {
  auto parameters = options.multigrid;
  parameters.smoother.is_fused = parameters.smoother.is_fused && options.is_fused;
  return make_algebraic_multigrid(std::shared_ptr<const LinearOperator>(std::shared_ptr<void>(), &A),
                                  options.near_null_space ? options.near_null_space()
                                                          : constant_near_null_space(A.size()),
                                  parameters, "assembled matrix", options.null_space);
}

std::shared_ptr<const Preconditioner> make_block(const LinearOperator& A, const SolverOptions& options) {
  if (options.blocks.empty())
    throw base::InputError(
        "preconditioner block: the operator has no blocks here; accepted are linear problems that do "
        "not change in time, and solve() of C++ with a preconditioner for each field "
        "(SolveOptions::preconditioner = block({...}))");
  std::vector<BlockPreconditioner::Part> parts;
  for (const auto& block : options.blocks) {
    if (block.preconditioner == "block")
      throw base::InputError(fmt::format("preconditioner block: that of field '{}' is \"block\" itself", block.field));
    auto own = options;
    own.method = "cg"; // no direct one, which would take factors instead
    own.preconditioner = block.preconditioner;
    own.hierarchy = block.hierarchy;
    own.null_space = block.null_space;
    own.near_null_space = block.near_null_space;
    own.multigrid = block.multigrid.value_or(options.multigrid);
    own.blocks.clear();
    parts.push_back({block, [A = block.A, own] { return make_preconditioner(*A, own); }});
  }
  return std::make_shared<BlockPreconditioner>(A.size(), std::move(parts));
}

constexpr std::array<std::string_view, 1> block_keys{"blocks"};
constexpr std::array<std::string_view, 2> multigrid_keys{"multigrid", "fused"};
/// Keys of the table multigrid that algebraic multigrid reads, too.
constexpr std::array<std::string_view, 6> amg_keys{"smoother", "smoother_degree", "pre", "post", "amg", "boomeramg"};
constexpr std::array<std::string_view, 2> cg_keys{"preconditioner", "fused"}, chebyshev_keys{"chebyshev", "fused"};
constexpr std::array<std::string_view, 3> gmres_keys{"preconditioner", "restart", "side"};
constexpr std::array<std::string_view, 1> minres_keys{"preconditioner"}, bicgstab_keys{"preconditioner"};

constexpr std::array method_table{
    Method{"cg", "conjugate gradients: symmetric positive definite operators", run_cg, false, cg_keys},
    Method{"gmres", "restarted GMRES: any regular operator", run_gmres, false, gmres_keys},
    Method{"minres", "minimal residuals: symmetric operators, also indefinite ones", run_minres, false, minres_keys},
    Method{"bicgstab", "stabilised biconjugate gradients: any regular operator, in little memory", run_bicgstab, false,
           bicgstab_keys},
    Method{"direct", "factors of the matrix: any regular operator of moderate size", run_direct, true},
};

constexpr std::array preconditioner_table{
    PreconditionerKind{"none", "identity", make_identity},
    PreconditionerKind{"jacobi", "inverse diagonal", make_jacobi, true},
    PreconditionerKind{"chebyshev", "Chebyshev polynomial of the Jacobi-scaled operator", make_chebyshev, true,
                       chebyshev_keys},
    PreconditionerKind{"multigrid", "geometric and polynomial multigrid", make_multigrid, true, multigrid_keys},
    PreconditionerKind{"block", "a preconditioner for each field", make_block, false, block_keys},
    PreconditionerKind{"amg", "algebraic multigrid of the assembled matrix", make_amg, true, multigrid_keys, amg_keys},
};

/// Computes norms of b - A x, that with the preconditioner only where it is asked for.
Norms measured(const LinearOperator& A, const Vector& b, const Vector& x, const Preconditioner& M,
               bool is_preconditioned) {
  const VectorOps ops(A);
  Vector r(A.device(), b.size());
  A.apply(x, r);
  ops.subtract_from(b, r);
  Norms result{.residual = ops.norm(r), .preconditioned = std::nullopt};
  if (!is_preconditioned) return result;
  Vector z(A.device(), b.size());
  M.apply(r, z);
  result.preconditioned = ops.energy_norm(r, z);
  return result;
}

/// Adds to x what the preconditioner computes as a start (Preconditioner::start), where it has one, and returns norms
/// of the residual r before that. Residuals stay relative to what they would be without the start; `share_of` returns
/// the part of these norms that they are relative to. (z, r) of the start z is taken for (M^-1 r, r): both stand for
/// the energy of the error, and the start is the better approximation of A^-1 r, which saves an application of M^-1.
Norms start_from_preconditioner(const LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                                const std::function<double(const Norms&)>& share_of, IterationControl& control) {
  const VectorOps ops(A);
  Vector r(A.device(), b.size()), z(A.device(), b.size());
  A.apply(x, r);
  ops.subtract_from(b, r);
  Norms result{.residual = ops.norm(r), .preconditioned = std::nullopt};
  const double share = share_of(result);
  const bool has_start = M.start(r, z);
  if (control.norm == Norm::preconditioned) {
    if (has_start && ops.dot(r, z) >= 0) result.preconditioned = ops.energy_norm(r, z);
    if (!(result.preconditioned > 0 && std::isfinite(*result.preconditioned))) {
      Vector image(A.device(), b.size());
      M.apply(r, image);
      result.preconditioned = ops.energy_norm(r, image);
    }
  }
  if (!has_start) return result;
  ops.axpy(1, z, x);
  if (result.preconditioned)
    control.least_preconditioned_reference = share * *result.preconditioned;
  else
    control.least_reference = std::max(control.least_reference, share * result.residual);
  return result;
}

/// Divides by the norms that residuals are relative to, which are `share` of those of the first residual.
ResidualNorms relative_norms(const Norms& first, const Norms& last, double share) {
  const auto relative = [](double norm, double reference) { return norm > 0 ? norm / reference : 0; };
  ResidualNorms result{.residual = relative(last.residual, share * first.residual),
                       .preconditioned = std::nullopt,
                       .of_first_residual = relative(last.residual, first.residual)};
  if (first.preconditioned && last.preconditioned)
    result.preconditioned = relative(*last.preconditioned, share * *first.preconditioned);
  return result;
}

bool is_implemented(const Method& method) { return method.run != nullptr; }
bool is_implemented(const PreconditionerKind& kind) { return kind.make != nullptr; }

std::shared_ptr<const Preconditioner>
projected(const LinearOperator& A, std::shared_ptr<const Preconditioner> preconditioner, const SolverOptions& options) {
  if (options.null_space == nullptr || options.null_space->is_empty()) return preconditioner;
  if (A.communicator()->size() > 1)
    throw base::InputError(
        "null spaces are for operators on whole meshes alone, this one is on a part of a larger one");
  return std::make_shared<ProjectedPreconditioner>(std::move(preconditioner), options.null_space);
}

template <class Entry> const Entry& find(std::span<const Entry> table, std::string_view name, std::string_view what) {
  std::vector<std::string> known, implemented;
  for (const auto& entry : table) {
    known.emplace_back(entry.name);
    if (is_implemented(entry)) implemented.emplace_back(entry.name);
  }
  for (const auto& entry : table) {
    if (entry.name != name) continue;
    if (is_implemented(entry)) return entry;
    throw base::InputError(fmt::format("{} \"{}\" is not available in this version; available: {}", what, name,
                                       base::join(implemented, ", ")));
  }
  throw base::InputError(fmt::format("unknown {} \"{}\"{}; available: {}", what, name, base::suggestion(name, known),
                                     base::join(implemented, ", ")));
}

} // namespace

std::span<const Method> methods() { return method_table; }
std::span<const PreconditionerKind> preconditioners() { return preconditioner_table; }

const Method& find_method(std::string_view name) {
  if (name == "newton")
    throw base::InputError("Newton's method is taken for a residual form F (forms.F), and this is the method of its "
                           "linear systems: cg, gmres, minres, bicgstab or direct");
  return find(methods(), name, "method");
}

const PreconditionerKind& find_preconditioner(std::string_view name) {
  return find(preconditioners(), name, "preconditioner");
}

const Method& method_of(const SolverOptions& options) {
  return find_method(options.method.empty() ? usual_method : options.method);
}

const PreconditionerKind& preconditioner_of(const SolverOptions& options) {
  return find_preconditioner(options.preconditioner.empty() ? usual_preconditioner : options.preconditioner);
}

std::shared_ptr<const Preconditioner> make_preconditioner(const LinearOperator& A, const SolverOptions& options) {
  if (method_of(options).is_direct)
    return projected(A, std::make_shared<Factors>(A.sparse_matrix(), options.null_space.get()), options);
  return projected(A, preconditioner_of(options).make(A, options), options);
}

void warn_if_indefinite(const Preconditioner& M, const SolverOptions& options) {
  const auto count = M.num_negative_eigenvalues();
  if (M.factors() != nullptr || count == 0) return;
  base::warn(fmt::format("preconditioner {}: the symmetric part of the form is indefinite (its coarsest level has {} "
                         "negative eigenvalue{}): gmres and bicgstab may need many iterations, cg and minres cannot "
                         "take it",
                         preconditioner_of(options).name, count, count == 1 ? "" : "s"));
}

namespace {

/// Returns eps |A| |x|, below which no residual b - A x can be expected.
double rounding_of_product(const LinearOperator& A, const Vector& b, const Vector& x) {
  const VectorOps ops(A);
  RoundingLevel rounding(A, ops);
  const Vector start = random_free_vector(A, 0);
  rounding.holds(start, ops.norm(start), x, b);
  return rounding.least();
}

/// Says whether rounding errors of A x, 16 eps |A| |x|, are large enough beside b to hide that A is singular.
bool is_swamped(const LinearOperator& A, const Vector& b, const Vector& x) {
  constexpr double most = 1e-2;
  return !(RoundingLevel::num_roundings * rounding_of_product(A, b, x) <= most * free_norm(A, VectorOps(A), b));
}

/// A solution without forces, such as a constant one, has loads and reactions of rounding errors alone. Beside these
/// its residual says nothing; beside |A| |x| it is that of a solution which is exact to rounding, and no warning is
/// due.
void take_product_norm(const LinearOperator& A, const Vector& b, const Vector& x, const ReferenceNorm& reference,
                       Result& result) {
  const bool is_exact = result.status == Status::converged && result.is_at_rounding && result.relative_error &&
                        *result.relative_error <= least_reported_error;
  if (!is_exact || !reference) return;
  const double forces = reference(x), rounding = rounding_of_product(A, b, x);
  if (!(forces <= RoundingLevel::num_roundings * rounding)) return;
  result.product_norm = rounding / std::numeric_limits<double>::epsilon();
  const double ratio = forces / *result.product_norm;
  result.relative_residual *= ratio;
  for (double& residual : result.history) residual *= ratio;
  result.relative_error.reset();
  result.warning.clear();
}

/// Says how far a solution is to be trusted whose residual stands at the level of rounding errors.
void judge(const LinearOperator& A, const Vector& b, const Vector& x, const Preconditioner& M,
           const SolverOptions& options, Result& result) {
  constexpr double rough = 1e-2, useful = 0.5;
  constexpr int least = 100;
  auto own = options;
  own.control = {.rtol = rough, .max_iterations = std::max(least, 2 * result.iterations)};
  const auto inverse = [&](Vector& w, Vector& d) {
    if (options.null_space != nullptr) options.null_space->project(w);
    const auto solved = method_of(options).run(A, w, d, M, own);
    return solved.status == Status::converged || solved.relative_residual <= useful;
  };
  const SolvedSystem system{.A = A, .b = b, .x = x, .field_offsets = options.control.field_offsets, .inverse = inverse};
  const double error = has_inverse_image(system) ? estimate_error(system) : std::numeric_limits<double>::infinity();
  if (error < useless_error) {
    result.relative_error = error;
    result.warning += "; " + describe_trust(error);
    return;
  }
  if (!is_swamped(A, b, x)) return; // the rough solves may have needed more iterations
  result.status = Status::failed;
  result.failure = Failure::singular_operator;
  result.warning.clear();
  result.message = fmt::format("{}: the residual is at the level of rounding errors, which change the solution as a "
                               "whole: double precision does not distinguish the operator from a singular one{}",
                               name(result.failure), singular_advice);
}

} // namespace

Result run_method(const LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                  const SolverOptions& options) {
  const Method& method = method_of(options);
  Result result = method.run(A, b, x, M, options);
  if (result.is_at_rounding && !method.is_direct) judge(A, b, x, M, options, result);
  take_product_norm(A, b, x, options.control.reference, result);
  return result;
}

Result solve(const LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
             const SolverOptions& options) {
  const bool is_preconditioned = options.control.norm == Norm::preconditioned;
  const auto& reference = options.control.reference;
  const auto share_of_reference = [&](const Norms& first) {
    const double found = reference ? reference(x) : first.residual;
    return found > 0 && found < first.residual ? found / first.residual : 1;
  };
  std::optional<Norms> before_start;
  auto own = options;
  if (options.multigrid.has_full_start)
    before_start = start_from_preconditioner(A, b, x, M, share_of_reference, own.control);
  Result result = run_for_each_field(A, b, x, M, own);
  // The norms that the method has found are not computed again: a cycle of multigrid costs ten applications of A. A
  // method that has not begun has left x as it was.
  const Norms first = before_start         ? *before_start
                      : result.first_norms ? *result.first_norms
                                           : measured(A, b, x, M, is_preconditioned);
  const bool is_wanted = first.preconditioned && (is_preconditioned || M.diagonal());
  const bool is_known = result.last_norms && (result.last_norms->preconditioned || !is_wanted);
  const Norms last = is_known ? *result.last_norms : measured(A, b, x, M, is_wanted);
  const double share = result.product_norm ? *result.product_norm / first.residual : share_of_reference(first);
  result.norms = relative_norms(first, last, share);
  result.norms->has_forces = !result.product_norm;
  // A solve that did not converge knows no more than the residual that it updated. (gmres with side = "left" judges
  // another norm than these.)
  if (result.status != Status::converged && !(options.method == "gmres" && options.side == Side::left))
    result.relative_residual =
        is_preconditioned && result.norms->preconditioned ? *result.norms->preconditioned : result.norms->residual;
  return result;
}

Result solve(const LinearOperator& A, const Vector& b, Vector& x, const SolverOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  method_of(options); // unknown names are refused before the set-up of the preconditioner
  const auto preconditioner = make_preconditioner(A, options);
  warn_if_indefinite(*preconditioner, options);
  const double set_up = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Result result;
  if (options.null_space == nullptr || options.null_space->is_empty()) {
    result = solve(A, b, x, *preconditioner, options);
  } else {
    Vector balanced(A.device(), b.size());
    VectorOps(A).copy(b, balanced);
    options.null_space->project(balanced);
    result = solve(A, balanced, x, *preconditioner, options);
    options.null_space->project(x);
  }
  result.seconds += set_up;
  return result;
}

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/multigrid.hpp>

#include <fmt/format.h>

#include <rafter/base/error_context.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/sparse_matrix.hpp>
#include <rafter/solve/algebraic_multigrid.hpp>
#include <rafter/solve/factors.hpp>
#include <rafter/solve/inner_cg.hpp>

namespace rafter::solvers {
namespace {

void require_fit(const std::vector<MultigridLevel>& levels, const MultigridParameters& parameters) {
  constexpr int most_steps = 20;
  if (levels.empty()) throw base::InputError("preconditioner multigrid: there is no level");
  if (parameters.smoothing_steps < 1 || parameters.smoothing_steps > most_steps)
    throw base::InputError(fmt::format("preconditioner multigrid: {} smoothing steps; accepted: 1 to {}",
                                       parameters.smoothing_steps, most_steps));
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    const auto& transfer = levels[l].to_finer;
    if (transfer == nullptr || transfer->columns() != levels[l].A->size() ||
        transfer->rows() != levels[l + 1].A->size())
      throw base::InputError(
          fmt::format("preconditioner multigrid: the transfer from level {} to level {} does not fit "
                      "the sizes of their operators",
                      l, l + 1));
  }
}

/// Does something with the smoother or the solver of a level, whose errors get the name of the level.
template <class Operation> auto on_level(const MultigridLevel& level, const Operation& operation) {
  return base::with_context(fmt::format("multigrid{}{}", level.name.empty() ? "" : ", ", level.name), operation);
}

std::unique_ptr<Chebyshev> make_smoother(const MultigridLevel& level, const MultigridParameters& parameters) {
  auto own = parameters.smoother;
  own.null_space = level.null_space;
  own.accepts_indefinite = true;
  own.upper = own.safety_factor * level.largest_eigenvalue;
  return on_level(level, [&] { return std::make_unique<Chebyshev>(*level.A, own); });
}

/// Brings the values of the next finer level to this one. Says whether any may have changed.
bool follow(const MultigridLevel& level) { return level.follow ? level.follow() : true; }

bool is_singular(const MultigridLevel& level) { return level.null_space != nullptr && !level.null_space->is_empty(); }

std::unique_ptr<const Preconditioner> make_factors(const MultigridLevel& level) {
  return std::make_unique<Factors>(level.A->sparse_matrix(), level.null_space.get());
}

std::unique_ptr<const Preconditioner> make_amg(const MultigridLevel& level, const MultigridParameters& parameters) {
  auto cycle = make_algebraic_multigrid(
      level.A, level.near_null_space ? level.near_null_space() : constant_near_null_space(level.A->size()), parameters,
      level.name, level.null_space);
  if (parameters.coarse_rtol == 0) return cycle;
  if (is_singular(level)) cycle = std::make_unique<ProjectedPreconditioner>(std::move(cycle), level.null_space);
  return std::make_unique<InnerCg>(level.A, std::move(cycle),
                                   InnerCgParameters{.rtol = parameters.coarse_rtol,
                                                     .max_iterations = parameters.coarse_iterations,
                                                     .is_fused = parameters.smoother.is_fused});
}

std::unique_ptr<const Preconditioner> make_polynomial(const MultigridLevel& level,
                                                      const MultigridParameters& parameters) {
  const NullSpace none;
  const auto estimate = estimate_eigenvalues(*level.A, inverse_diagonal(*level.A), parameters.coarse_degree + 10,
                                             level.null_space ? *level.null_space : none);
  // Ritz values lie between the extreme eigenvalues.
  constexpr double above = 1.1, below = 0.9;
  return std::make_unique<Chebyshev>(*level.A, ChebyshevParameters{.degree = parameters.coarse_degree,
                                                                   .upper = above * estimate.largest,
                                                                   .lower = below * estimate.smallest,
                                                                   .is_fused = parameters.smoother.is_fused});
}

/// Takes factors where they are cheap, and where algebraic multigrid does not serve: it needs a positive definite
/// matrix. The factors of the coarsest level of aggregates tell that this one is none, by Sylvester's law of inertia,
/// and estimates of eigenvalues do.
std::unique_ptr<const Preconditioner> choose_coarse_solver(const MultigridLevel& level,
                                                           const MultigridParameters& parameters) {
  if (level.A->num_unknowns() <= most_direct_unknowns) return make_factors(level);
  try {
    auto amg = make_amg(level, parameters);
    if (amg->num_negative_eigenvalues() == 0) return amg;
  } catch (const base::SolverError&) {
    // An estimate of eigenvalues has met a negative one.
  }
  return make_factors(level);
}

std::unique_ptr<const Preconditioner> make_coarse_solver(const MultigridLevel& level,
                                                         const MultigridParameters& parameters) {
  return on_level(level, [&] {
    switch (parameters.coarse) {
    case CoarseSolver::automatic:
      return choose_coarse_solver(level, parameters);
    case CoarseSolver::direct:
      return make_factors(level);
    case CoarseSolver::amg:
      return make_amg(level, parameters);
    case CoarseSolver::chebyshev:
      return make_polynomial(level, parameters);
    }
    throw base::InternalError("multigrid: a coarse solver without a name");
  });
}

} // namespace

std::string_view name(Cycle cycle) { return cycle == Cycle::v ? "V" : "W"; }

std::string_view name(CoarseSolver solver) {
  switch (solver) {
  case CoarseSolver::automatic:
    return "auto";
  case CoarseSolver::direct:
    return "direct";
  case CoarseSolver::amg:
    return "amg";
  case CoarseSolver::chebyshev:
    return "chebyshev";
  }
  return "";
}

struct Multigrid::Work {
  VectorOps ops;
  std::unique_ptr<Chebyshev> smoother;      ///< null: the level is the coarsest
  mutable Vector residual, right, solution; ///< empty where the level needs none
};

Multigrid::Multigrid(std::vector<MultigridLevel> levels, const MultigridParameters& parameters)
    : levels_(std::move(levels)), parameters_(parameters) {
  require_fit(levels_, parameters_);
  for (auto l = levels_.size(); l-- > 0;) follow(levels_[l]);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const auto& level = levels_[l];
    const auto vector = [&](bool is_needed) {
      return Vector(level.A->device(), is_needed ? static_cast<std::size_t>(level.A->size()) : 0);
    };
    const bool is_coarsest = l == 0, is_finest = l + 1 == levels_.size();
    work_.push_back({VectorOps(*level.A), is_coarsest ? nullptr : make_smoother(level, parameters_),
                     vector(!is_coarsest), vector(!is_finest), vector(!is_finest)});
  }
  coarse_ = make_coarse_solver(levels_.front(), parameters_);
}

Multigrid::~Multigrid() = default;

bool Multigrid::refresh() const {
  const auto finest = levels_.size() - 1;
  // Where the finest level is the operator itself, the levels below tell whether it has changed.
  const bool is_operator = !levels_[finest].follow;
  bool has_changed = is_operator ? finest == 0 : levels_[finest].follow();
  for (auto l = finest; l-- > 0;)
    if (follow(levels_[l])) {
      has_changed = true;
      try {
        refresh_level(l);
      } catch (const base::SolverError&) {
        if (!levels_[l].retreat || !levels_[l].retreat()) throw;
        refresh_level(l);
      }
    }
  if (has_changed) refresh_level(finest);
  return true;
}

void Multigrid::refresh_level(std::size_t level) const {
  const bool is_finest = level + 1 == levels_.size();
  if (level > 0) return on_level(levels_[level], [&] { static_cast<void>(work_[level].smoother->update(is_finest)); });
  coarse_.reset(); // frees the memory of its factors before the next ones take some
  coarse_ = make_coarse_solver(levels_[level], parameters_);
}

void Multigrid::apply(const Vector& r, Vector& z) const { cycle(levels_.size() - 1, r, z, true); }

void Multigrid::cycle(std::size_t level, const Vector& b, Vector& x, bool is_zero) const {
  if (level == 0) return coarse_->apply(b, x);
  const auto& smoother = *work_[level].smoother;
  for (int step = 0; step < parameters_.smoothing_steps; ++step) {
    if (is_zero && step == 0)
      smoother.apply(b, x);
    else
      smoother.smooth(b, x);
  }
  restrict_residual(level, b, x);
  const auto& below = work_[level - 1];
  cycle(level - 1, below.right, below.solution, true);
  if (parameters_.cycle == Cycle::w && level > 1) cycle(level - 1, below.right, below.solution, false);
  levels_[level - 1].to_finer->prolongate_and_add(below.solution, x);
  for (int step = 0; step < parameters_.smoothing_steps; ++step) smoother.smooth(b, x);
}

void Multigrid::restrict_residual(std::size_t level, const Vector& b, Vector& x) const {
  const auto& work = work_[level];
  const op::FusedLoop subtract(work.ops.runner(), "subtract_from", {}, {b, work.residual});
  levels_[level].A->apply_with(x, work.residual,
                               {.before = {}, .after = [&](std::int64_t part, std::span<const op::EntryRange> ranges) {
                                  subtract(part, ranges);
                                }});
  levels_[level - 1].to_finer->restrict_to(work.residual, work_[level - 1].right);
}

bool Multigrid::start(const Vector& r, Vector& z) const {
  const auto finest = levels_.size() - 1;
  for (auto level = finest; level > 0; --level)
    levels_[level - 1].to_finer->restrict_to(level == finest ? r : work_[level].right, work_[level - 1].right);
  for (std::size_t level = 0; level <= finest; ++level) {
    const Vector& b = level == finest ? r : work_[level].right;
    Vector& x = level == finest ? z : work_[level].solution;
    if (level > 0) levels_[level - 1].to_finer->prolongate(work_[level - 1].solution, x);
    cycle(level, b, x, level == 0);
  }
  return true;
}

std::string Multigrid::description() const {
  std::vector<std::string> levels;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    levels.push_back(
        fmt::format("{}{}{} unknowns", level->name, level->name.empty() ? "" : ": ", level->A->num_unknowns()));
  std::string coarse = fmt::format("Chebyshev iteration of degree {}", parameters_.coarse_degree);
  if (const auto inner = coarse_->description(); !inner.empty()) coarse = inner;
  if (const auto* factors = coarse_->factors())
    coarse = fmt::format("factors of the matrix ({:.3g} MB)", 1e-6 * static_cast<double>(factors->bytes));
  return fmt::format(
      "{}-cycle of {} level{} ({}); smoother: Chebyshev-Jacobi of degree {}, {} step{} before and after; "
      "coarsest level: {}",
      name(parameters_.cycle), levels_.size(), levels_.size() == 1 ? "" : "s", base::join(levels, "; "),
      parameters_.smoother.degree, parameters_.smoothing_steps, parameters_.smoothing_steps == 1 ? "" : "s", coarse);
}

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/multigrid.hpp>

#include <fmt/format.h>

#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/solve/algebraic_multigrid.hpp>
#include <rafter/solve/factors.hpp>
#include <rafter/solve/inner_cg.hpp>
#include <rafter/solve/inverse_matrix.hpp>
#include <rafter/solve/multigrid_cycle.hpp>

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

/// Brings the values of the next finer level to this one. Says whether any may have changed.
bool follow(const MultigridLevel& level) { return level.follow ? level.follow() : true; }

bool is_singular(const MultigridLevel& level) { return level.null_space != nullptr && !level.null_space->is_empty(); }

/// A device with memory of its own keeps the inverse where it is small, so that cycles need not wait for the host.
std::unique_ptr<const Preconditioner> make_factors(const MultigridLevel& level) {
  auto factors = std::make_unique<const Factors>(level.A->sparse_matrix(), level.null_space.get());
  const auto device = level.A->device();
  if (device->shares_host_memory() || level.A->size() > most_inverted_unknowns) return factors;
  return std::make_unique<InverseMatrix>(device, level.A->size(), *factors);
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
/// matrix. The factors of the coarsest level of aggregates show that this one is none, by Sylvester's law of inertia,
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

std::unique_ptr<const Preconditioner> make_any_coarse_solver(const MultigridLevel& level,
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

std::unique_ptr<const Preconditioner> make_coarse_solver(const MultigridLevel& level,
                                                         const MultigridParameters& parameters) {
  try {
    return make_any_coarse_solver(level, parameters);
  } catch (const base::SolverError& error) {
    if (parameters.coarse != CoarseSolver::amg && parameters.coarse != CoarseSolver::chebyshev) throw;
    throw CoarseSolverError(fmt::format("{}: coarse = \"{}\" does not serve here; accepted for other operators than "
                                        "positive definite ones are \"auto\" and \"direct\"",
                                        error.what(), name(parameters.coarse)));
  }
}

/// Warns of a tolerance that was meant for iterations.
void warn_of_unused_tolerance(const Preconditioner& coarse, const MultigridParameters& parameters) {
  if (parameters.coarse_rtol == 0 || parameters.coarse != CoarseSolver::automatic || coarse.factors() == nullptr)
    return;
  base::warn(
      "multigrid: coarse_rtol is not used: coarse = \"auto\" takes factors of the coarsest level here, which has "
      "few unknowns or is indefinite; coarse = \"amg\" iterates");
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

Multigrid::Multigrid(std::vector<MultigridLevel> levels, const MultigridParameters& parameters)
    : levels_(std::move(levels)), parameters_(parameters) {
  require_fit(levels_, parameters_);
  for (auto l = levels_.size(); l-- > 0;) follow(levels_[l]);
  cycle_ = make_multigrid_cycle(levels_, parameters_, coarse_);
  coarse_ = make_coarse_solver(levels_.front(), parameters_);
  warn_of_unused_tolerance(*coarse_, parameters_);
}

Multigrid::~Multigrid() = default;

bool Multigrid::refresh() const {
  const auto finest = levels_.size() - 1;
  // The levels below show whether the operator has changed if it is the finest level itself.
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
  if (level > 0) return on_level(levels_[level], [&] { cycle_->update_smoother(level, is_finest); });
  coarse_.reset(); // frees the memory of its factors before the next ones take some
  coarse_ = make_coarse_solver(levels_[level], parameters_);
}

bool Multigrid::is_single() const { return cycle_->is_single(); }

void Multigrid::apply(const Vector& r, Vector& z) const { cycle_->apply(r, z); }

bool Multigrid::start(const Vector& r, Vector& z) const {
  cycle_->start(r, z);
  return true;
}

std::string Multigrid::description() const {
  std::vector<std::string> levels;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    levels.push_back(
        fmt::format("{}{}{} unknowns", level->name, level->name.empty() ? "" : ": ", level->A->num_unknowns()));
  std::string coarse = fmt::format("Chebyshev iteration of degree {}", parameters_.coarse_degree);
  if (const auto* factors = coarse_->factors())
    coarse = fmt::format("factors of the matrix ({:.3g} MB{})", 1e-6 * static_cast<double>(factors->bytes),
                         levels_.front().A->device()->shares_host_memory()
                             ? ""
                             : ", on the host: each use copies a vector there and back");
  if (const auto inner = coarse_->description(); !inner.empty()) coarse = inner;
  return fmt::format(
      "{}-cycle of {} level{}{} ({}); smoother: Chebyshev-Jacobi of degree {}, {} step{} before and after; "
      "coarsest level: {}",
      name(parameters_.cycle), levels_.size(), levels_.size() == 1 ? "" : "s",
      is_single() ? " in single precision" : "", base::join(levels, "; "), parameters_.smoother.degree,
      parameters_.smoothing_steps, parameters_.smoothing_steps == 1 ? "" : "s", coarse);
}

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>

#include <fmt/format.h>

#include <rafter/base/error_context.hpp>
#include <rafter/solve/multigrid.hpp>

namespace rafter::solvers {

/// Does something with the smoother or the solver of a level, whose errors get the name of the level and its precision,
/// because coefficients may leave the range of floats.
template <class Operation> auto on_level(const MultigridLevel& level, const Operation& operation) {
  const char* of_floats = level.A->is_single() ? " in single precision (precision = \"double\" holds more)" : "";
  return base::with_context(fmt::format("multigrid{}{}{}", level.name.empty() ? "" : ", ", level.name, of_floats),
                            operation);
}

/// The cycles of Multigrid, with the smoothers and the vectors that they need. Vectors of all levels hold doubles, or
/// those of all levels but the coarsest hold floats.
class MultigridCycle {
public:
  virtual ~MultigridCycle() = default;
  virtual void apply(const Vector& r, Vector& z) const = 0; ///< see Multigrid::apply
  virtual void start(const Vector& r, Vector& z) const = 0; ///< see Multigrid::start
  /// Lets the smoother of a level that is not the coarsest follow its operator (ChebyshevIteration::update).
  virtual void update_smoother(std::size_t level, bool accepts_indefinite) = 0;
  virtual bool is_single() const = 0; ///< says whether vectors hold floats
};

/// Makes the cycles on levels from coarse to fine, at least one, which outlive them, as `coarse` does, the solver of
/// the coarsest level. Vectors hold floats where the operators of all levels but the coarsest do, of which there is one
/// at least (LinearOperator::is_single). Throws the errors of ChebyshevIteration with the name of the level.
std::unique_ptr<MultigridCycle> make_multigrid_cycle(std::span<const MultigridLevel> levels,
                                                     const MultigridParameters& parameters,
                                                     const std::unique_ptr<const Preconditioner>& coarse);

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/multigrid_cycle.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

namespace rafter::solvers {
namespace {

constexpr std::array<std::string_view, 2> conversions{"narrow(a | x, y: float): let scaled = a*x; y = scaled; "
                                                      "sum size = abs(scaled)",
                                                      "widen(a | x: float, y): y = a*x"};

/// Moves vectors of doubles to floats and back.
class Conversion {
public:
  explicit Conversion(const op::LinearOperator& A) : runner_(A.device(), conversions, A.owned_ranges()) {
    for (const auto& range : A.owned_ranges()) num_entries_ += range.end - range.begin;
  }

  void narrow(const Vector& x, op::SingleVector& y) const { runner_.run("narrow", {1}, {x, y}); }
  void widen(const op::SingleVector& x, Vector& y) const { runner_.run("widen", {1}, {x, y}); }

  /// Scales by a power of two, which is exact, so that entries are of size 1 in the mean: those that floats cannot hold
  /// are nothing beside these.
  void scale_and_narrow(const Vector& x, op::SingleVector& y) const {
    double mean = narrowed(x, y);
    if (mean == 0 && scale_ != 1) scale_ = 1, mean = narrowed(x, y); // entries may have been lost
    if (mean == 0 || !std::isfinite(mean) || std::abs(std::ilogb(mean)) <= accepted) return;
    scale_ = std::scalbn(scale_, -std::ilogb(mean));
    narrowed(x, y);
  }
  /// Undoes the last scaling.
  void widen_and_scale_back(const op::SingleVector& x, Vector& y) const { runner_.run("widen", {1 / scale_}, {x, y}); }

private:
  /// Exponent up to which the mean may be away from 1: the scale of the last vector serves many that follow.
  static constexpr int accepted = 10;

  /// Returns the mean size of the entries of y.
  double narrowed(const Vector& x, op::SingleVector& y) const {
    const auto sums = runner_.run("narrow", {scale_}, {x, y});
    return num_entries_ == 0 ? 0 : sums[0] / static_cast<double>(num_entries_);
  }

  op::VectorRunner runner_;
  std::int64_t num_entries_ = 0;
  mutable double scale_ = 1;
};

/// Cycles on vectors of doubles or floats.
template <class T> class CycleOn final : public MultigridCycle {
public:
  using Entries = device::Array<T>;
  static constexpr bool is_narrow = !std::is_same_v<T, double>;

  CycleOn(std::span<const MultigridLevel> levels, const MultigridParameters& parameters,
          const std::unique_ptr<const Preconditioner>& coarse)
      : levels_(levels), parameters_(parameters), coarse_(coarse), coarse_conversion_(*levels.front().A),
        finest_conversion_(*levels.back().A) {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const auto& A = *levels_[l].A;
      const auto vector = [&A](bool is_needed) {
        return Entries(A.device(), is_needed ? static_cast<std::size_t>(A.size()) : 0);
      };
      const bool is_coarsest = l == 0, is_finest = l + 1 == levels_.size();
      auto smoother = is_coarsest ? nullptr : make_smoother(levels_[l]);
      work_.push_back({VectorOps(A, op::entry_type<T>), std::move(smoother), vector(!is_coarsest),
                       vector(!is_finest || is_narrow), vector(!is_finest || is_narrow)});
    }
    if (is_narrow) {
      const auto& coarsest = *levels_.front().A;
      for (auto* x : {&coarse_right_, &coarse_solution_})
        *x = Vector(coarsest.device(), static_cast<std::size_t>(coarsest.size()));
    }
  }

  void apply(const Vector& r, Vector& z) const override {
    on_entries(r, z, [this](const Entries& b, Entries& x) { cycle(levels_.size() - 1, b, x, true); });
  }
  void start(const Vector& r, Vector& z) const override {
    on_entries(r, z, [this](const Entries& b, Entries& x) { full_cycle(b, x); });
  }
  void update_smoother(std::size_t level, bool accepts_indefinite) override {
    static_cast<void>(work_[level].smoother->update(accepts_indefinite));
  }
  bool is_single() const override { return is_narrow; }

private:
  /// A level keeps vectors besides its operator: the right-hand side and the solution, of the finest only where they
  /// have another precision than those of the caller.
  struct Work {
    VectorOps ops;
    std::unique_ptr<ChebyshevIteration<T>> smoother; ///< null: the level is the coarsest
    mutable Entries residual, right, solution;       ///< empty where the level needs none
  };

  std::unique_ptr<ChebyshevIteration<T>> make_smoother(const MultigridLevel& level) const {
    auto own = parameters_.smoother;
    own.null_space = level.null_space;
    own.accepts_indefinite = true;
    own.upper = own.safety_factor * level.largest_eigenvalue;
    if (own.eigenvalue_ratio == 0) own.eigenvalue_ratio = std::max(8, 2 * level.degree);
    return on_level(level, [&] { return std::make_unique<ChebyshevIteration<T>>(*level.A, own); });
  }

  /// Does something on the finest level for A z = r.
  template <class Operation> void on_entries(const Vector& r, Vector& z, const Operation& operation) const {
    if constexpr (is_narrow) {
      const auto& work = work_.back();
      finest_conversion_.scale_and_narrow(r, work.right);
      operation(work.right, work.solution);
      finest_conversion_.widen_and_scale_back(work.solution, z);
    } else
      operation(r, z);
  }

  void solve_coarsest(const Entries& b, Entries& x) const {
    if constexpr (is_narrow) {
      coarse_conversion_.widen(b, coarse_right_);
      coarse_->apply(coarse_right_, coarse_solution_);
      coarse_conversion_.narrow(coarse_solution_, x);
    } else
      coarse_->apply(b, x);
  }

  /// Does one cycle on a level for A x = b, from x = 0 or from x as it is.
  void cycle(std::size_t level, const Entries& b, Entries& x, bool is_zero) const {
    if (level == 0) return solve_coarsest(b, x);
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

  /// Makes the right-hand side of the level below from that of this one and x.
  void restrict_residual(std::size_t level, const Entries& b, Entries& x) const {
    const auto& work = work_[level];
    const op::FusedLoop subtract(work.ops.runner(), "subtract_from", {}, {b, work.residual});
    levels_[level].A->apply_with(
        x, work.residual, {.before = {}, .after = [&](std::int64_t part, std::span<const op::EntryRange> ranges) {
                             subtract(part, ranges);
                           }});
    levels_[level - 1].to_finer->restrict_to(work.residual, work_[level - 1].right);
  }

  /// Does a cycle on each level, from the coarsest up.
  void full_cycle(const Entries& r, Entries& z) const {
    const auto finest = levels_.size() - 1;
    for (auto level = finest; level > 0; --level)
      levels_[level - 1].to_finer->restrict_to(level == finest ? r : work_[level].right, work_[level - 1].right);
    for (std::size_t level = 0; level <= finest; ++level) {
      const Entries& b = level == finest ? r : work_[level].right;
      Entries& x = level == finest ? z : work_[level].solution;
      if (level > 0) levels_[level - 1].to_finer->prolongate(work_[level - 1].solution, x);
      cycle(level, b, x, level == 0);
    }
  }

  std::span<const MultigridLevel> levels_;
  const MultigridParameters& parameters_;
  const std::unique_ptr<const Preconditioner>& coarse_;
  Conversion coarse_conversion_, finest_conversion_;
  std::vector<Work> work_;                        ///< shape (level)
  mutable Vector coarse_right_, coarse_solution_; ///< cycles in floats: vectors of the coarse solver
};

} // namespace

std::unique_ptr<MultigridCycle> make_multigrid_cycle(std::span<const MultigridLevel> levels,
                                                     const MultigridParameters& parameters,
                                                     const std::unique_ptr<const Preconditioner>& coarse) {
  const auto is_single = [](const MultigridLevel& level) { return level.A->is_single(); };
  if (levels.size() > 1 && std::ranges::all_of(levels.subspan(1), is_single))
    return std::make_unique<CycleOn<float>>(levels, parameters, coarse);
  return std::make_unique<CycleOn<double>>(levels, parameters, coarse);
}

} // namespace rafter::solvers

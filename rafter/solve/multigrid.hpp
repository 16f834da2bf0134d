// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/operator/levels/transfer.hpp>
#include <rafter/solve/chebyshev.hpp>
#include <rafter/solve/near_null_space.hpp>

namespace rafter::solvers {

/// Says how often a cycle visits the next coarser level.
enum class Cycle {
  v, ///< once
  w  ///< twice, but for the coarsest, which is solved
};
std::string_view name(Cycle cycle); ///< "V" or "W", as in the problem file

/// The coarsest level is solved in one of these ways. Each is the same symmetric positive operator at each application,
/// which plain conjugate gradients need, unless MultigridParameters::coarse_rtol asks for a tolerance.
enum class CoarseSolver {
  automatic, ///< amg above most_direct_unknowns where the operator is positive definite, else direct
  direct,    ///< factors of the matrix
  amg,       ///< a cycle of algebraic multigrid, which MultigridParameters::amg names
  chebyshev  ///< Chebyshev iteration over all eigenvalues, of fixed degree
};
std::string_view name(CoarseSolver solver); ///< "auto", "direct", "amg" or "chebyshev", as in the problem file

/// Algebraic multigrid: which code makes levels of a matrix.
enum class AmgMethod {
  smoothed_aggregation, ///< AggregationMultigrid, part of this library
  boomeramg             ///< BoomerAmg of hypre, where the adapter to it was built
};
std::string_view name(AmgMethod method); ///< "smoothed-aggregation" or "boomeramg", as in the problem file

/// BoomerAMG interpolates the components of vector fields in one of these ways.
enum class AmgInterpolation {
  components, ///< each component by itself: constants are held, rotations are not
  rigid_modes ///< nodes are coarsened as wholes, and rotations are held, too
};
std::string_view name(AmgInterpolation interpolation); ///< "components" or "rigid-modes", as in the problem file

/// The coarsest level has no such solver as was asked for by name, as a rule because its matrix is not positive
/// definite.
class CoarseSolverError final : public base::SolverError {
public:
  using base::SolverError::SolverError;
};

/// Parameters of BoomerAmg.
struct BoomerAmgParameters {
  /// Entries of at least so large a share of the largest one of their row are strong; 0: 0.25 for matrices of one
  /// component, hypre's default, and 0.5 for several, which Chang et al., arXiv:2601.08374, take for elasticity.
  double strong_threshold = 0;
  /// Rigid modes are for one field with a component per axis.
  AmgInterpolation interpolation = AmgInterpolation::components;
};

/// Unknowns of a coarsest level whose factors take less time than levels of algebraic multigrid would.
inline constexpr std::int64_t most_direct_unknowns = 10'000;

/// Parameters of Multigrid.
struct MultigridParameters {
  Cycle cycle = Cycle::v;
  /// Parameters of the smoother. Its interval ends at 1.08 times the largest eigenvalue of D^-1 A that ten steps of
  /// Lanczos' method find, 0.96 to 0.99 of the exact one, on levels of aggregates that of 20 steps; what is above is
  /// not amplified up to the sum of both ends, 1.12 times the upper one with ratio 8 and 1.06 times with 16. The
  /// interval of MFEM, from 0.3 to 1.2 times, is {.eigenvalue_ratio = 4, .safety_factor = 1.2}. Ratio 0: 8, or twice
  /// the degree of the fields where that is more, because what half the degree does not hold reaches further down the
  /// spectrum then.
  ChebyshevParameters smoother{.degree = 2, .eigenvalue_ratio = 0, .safety_factor = 1.08, .estimate_iterations = 10};
  int smoothing_steps = 1; ///< applications of the smoother before and as many after the coarse correction, 1 to 20
  CoarseSolver coarse = CoarseSolver::automatic;
  int coarse_degree = 10; ///< degree of CoarseSolver::chebyshev
  /// Tolerance to which CoarseSolver::amg solves, by conjugate gradients with its cycle: another operator at each
  /// application, for which outer methods are flexible. 0: one cycle is all.
  double coarse_rtol = 0;
  int coarse_iterations = 10; ///< most iterations to that tolerance
  /// solve() begins with Multigrid::start() for the first residual, and residuals stay relative to that one.
  bool has_full_start = false;
  AmgMethod amg = AmgMethod::smoothed_aggregation; ///< method of CoarseSolver::amg and of the preconditioner amg
  BoomerAmgParameters boomeramg;                   ///< parameters of AmgMethod::boomeramg
};

/// A level of Multigrid.
struct MultigridLevel {
  std::shared_ptr<const op::LinearOperator> A; ///< symmetric, as a rule positive (semi-)definite
  /// Transfer from this level to the next, on vectors of the precision that the next one's operator takes; null: it is
  /// the finest.
  std::shared_ptr<const op::Transfer> to_finer;
  std::shared_ptr<const NullSpace> null_space = {}; ///< null space of A; null: A is regular
  std::string name = {};                            ///< name for people, such as "degree 4 on 512 cells"
  int degree = 1;                                   ///< highest degree of the fields
  /// Largest eigenvalue of D^-1 A, with the diagonal D of A, where it is known; 0: the smoother estimates it.
  double largest_eigenvalue = 0;
  /// Makes what algebraic multigrid needs to know of the unknowns (CoarseSolver::amg); empty: constants.
  std::function<NearNullSpace()> near_null_space = {};
  /// Gives A the values of data and parameters that the operator of the next finer level has; says whether any has
  /// changed. Empty: nobody knows.
  std::function<bool()> follow = {};
  /// Takes back what follow() did to data fields, where the law of A has no value or is not definite; false: it cannot.
  std::function<bool()> retreat = {};
};

/// The levels below an operator, of which Multigrid makes its own (SolverOptions::hierarchy).
struct MultigridHierarchy {
  std::vector<MultigridLevel> coarser; ///< coarsest first; the last transfer is to the vectors of the operator
  std::string finest_name = {};        ///< name of the operator's own level
  int finest_degree = 1;               ///< highest degree of its fields
  /// Operator that takes the place of the given one on its own level: its symmetric part, or the same form in single
  /// precision; null: the operator itself.
  std::shared_ptr<const op::LinearOperator> finest = {};
  /// Gives that one the values that the operator has; see MultigridLevel::follow.
  std::function<bool()> follow = {};
};

class MultigridCycle;

/// Multigrid cycles as a preconditioner. With S the error operator of the smoother, symmetric in the inner product of
/// A, one cycle on two levels has the error operator S^k (I - P A_c^-1 P^T A) S^k: M is symmetric up to rounding. A
/// V-cycle is positive definite where every level is; a W-cycle where, moreover, one cycle below converges by itself.
/// Levels that are indefinite serve gmres and bicgstab as long as the coarsest level resolves what has negative
/// eigenvalues, whose number its factors give. For an operator that is not symmetric the levels are those of its
/// symmetric part.
/// Where the operators of all levels but the coarsest are of single precision (LinearOperator::is_single), so are
/// smoothers, transfers and vectors there; residuals are scaled by a power of two before they are rounded to floats.
/// The cycle is then symmetric up to roundings of floats.
/// The smoothers are Chebyshev iterations with Jacobi scaling (Adams, Brezina, Hu, Tuminaro 2003,
/// doi:10.1016/S0021-9991(03)00194-3), whose eigenvalues are estimated at construction, and again by refresh() where
/// those estimates no longer hold (Chebyshev::update).
class Multigrid final : public Preconditioner {
public:
  /// Takes levels from coarse to fine, at least one. Throws InputError for parameters out of range and levels whose
  /// sizes do not fit their transfers, and the errors of Chebyshev, Factors and make_algebraic_multigrid() with
  /// the name of the level; CoarseSolverError for SolverErrors of CoarseSolver::amg and ::chebyshev. Values of the
  /// levels follow those of the finest one now. The user is warned of a tolerance (MultigridParameters::coarse_rtol)
  /// where CoarseSolver::automatic takes factors.
  Multigrid(std::vector<MultigridLevel> levels, const MultigridParameters& parameters = {});
  ~Multigrid() override;

  void apply(const Vector& r, Vector& z) const override; ///< computes one cycle for A z = r that begins with z = 0
  /// Computes an approximate solution of A z = r by a cycle on each level, from the coarsest up, each beginning with
  /// what the level below has found (full multigrid).
  bool start(const Vector& r, Vector& z) const override;
  /// Brings the values of the operator to all levels; smoothers and the coarse solver follow. A level whose
  /// smoother or solver cannot, because injected data give no definite operator, keeps the data that it had.
  bool refresh() const override;
  bool is_variable() const override { return coarse_->is_variable(); }
  bool is_single() const override;
  std::int64_t num_negative_eigenvalues() const override { return coarse_->num_negative_eigenvalues(); }
  std::string description() const override;

private:
  void refresh_level(std::size_t level) const;

  std::vector<MultigridLevel> levels_;
  MultigridParameters parameters_;
  mutable std::unique_ptr<const Preconditioner> coarse_;
  std::unique_ptr<MultigridCycle> cycle_;
};

} // namespace rafter::solvers

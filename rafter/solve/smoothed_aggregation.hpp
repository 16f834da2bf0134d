// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/solve/aggregation.hpp>
#include <rafter/solve/multigrid.hpp>
#include <rafter/solve/near_null_space.hpp>

/// Makes coarser levels of a matrix by smoothed aggregation (Vanek, Mandel, Brezina, Computing 56 (1996) 179-196,
/// doi:10.1007/BF02238511; Vanek, Brezina, Mandel, Numer. Math. 88 (2001) 559-579, doi:10.1007/s211-001-8015-y).
namespace rafter::solvers {

/// Parameters of aggregated_levels().
struct AggregationParameters {
  /// Nodes are aggregated where they are connected at least so strongly (find_strong_connections); entries between
  /// other nodes do not smooth prolongations, so that aggregates of stretched cells stay in their columns.
  double threshold = 0.3;
  double damping = 4.0 / 3;            ///< factor of the Jacobi step that smooths P, over the largest eigenvalue
  double largest_eigenvalue = 0;       ///< largest eigenvalue of D^-1 A, with the diagonal D of A; 0: it is estimated
  std::int64_t enough_unknowns = 1000; ///< the first level with at most so many is the coarsest
  int most_levels = 25;
};

/// Estimates the largest eigenvalue of D^-1 A, with the diagonal D of A, which smooths prolongations and bounds the
/// smoothers of cycles. Throws the SolverErrors of inverse_diagonal() and estimate_eigenvalues().
double largest_scaled_eigenvalue(const op::LinearOperator& A, const NullSpace* null_space);

/// A prolongation and the level below it.
struct AggregatedLevel {
  op::SparseMatrix P;            ///< shape (unknown, coarse unknown)
  NearNullSpace near_null_space; ///< modes of the coarse level; P maps them to the finer ones, where P has rows
};

/// Makes the prolongation without smoothing: orthonormal combinations of the modes within each aggregate, as many as
/// are independent there. Unknowns of nodes that are in no aggregate have empty rows.
AggregatedLevel tentative_prolongation(const NearNullSpace& near_null_space, const Aggregates& aggregates,
                                       const Nodes& nodes);

/// The levels below a symmetric positive (semi-)definite operator, whose matrix is A, from coarse to fine; the last
/// transfer is to the vectors of the operator. `null_space` is that of the operator (null: it is regular), and levels
/// get theirs. There is none where nothing can be aggregated. Constrained unknowns, whose rows
/// are those of the identity, are on no coarser level. The same bits for any number of threads. Throws the SolverError
/// of estimate_eigenvalues(), and EnvironmentError where the memory of this machine does not hold a level.
std::vector<MultigridLevel> aggregated_levels(const op::LinearOperator& finest, op::SparseMatrix A,
                                              NearNullSpace near_null_space,
                                              const AggregationParameters& parameters = {},
                                              std::shared_ptr<const NullSpace> null_space = {});

} // namespace rafter::solvers

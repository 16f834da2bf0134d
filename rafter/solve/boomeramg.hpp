// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/solve/multigrid.hpp>
#include <rafter/solve/near_null_space.hpp>
#include <rafter/solve/null_space.hpp>

namespace rafter::solvers {

/// One V-cycle of BoomerAMG (Henson, Yang, Appl. Numer. Math. 41 (2002) 155-177, doi:10.1016/S0168-9274(01)00115-5) of
/// hypre for a symmetric positive (semi-)definite operator that has a matrix. Relaxation is a sweep of Gauss and Seidel
/// forwards on the way down and one backwards on the way up: the cycle is the same symmetric positive operator at each
/// application. Rows that are coupled to nothing, as those of constrained unknowns, are divided by their diagonal.
/// Values that change take a new one. hypre works on one thread, one instance at a time.
class BoomerAmg final : public Preconditioner {
public:
  /// `null_space` is that of the operator; null: it is regular. With a null space the cycle is for vectors in the range
  /// and its results are projected. Throws EnvironmentError where hypre is not there or the memory of this machine does
  /// not hold the levels, InputError for thresholds out of range and rigid modes of other fields than one with a
  /// component per axis, and SolverError for matrices that are found not to be positive and where hypre fails.
  BoomerAmg(std::shared_ptr<const op::LinearOperator> A, const NearNullSpace& near_null_space,
            const BoomerAmgParameters& parameters = {}, std::shared_ptr<const NullSpace> null_space = {});
  ~BoomerAmg() override;

  void apply(const Vector& r, Vector& z) const override;
  std::string description() const override { return description_; }

private:
  class Instance;
  void keep_uncoupled(const op::SparseMatrix& A);

  std::shared_ptr<const NullSpace> null_space_;
  std::vector<std::int32_t> unknowns_;         ///< unknown of each row that hypre has
  std::vector<std::int32_t> uncoupled_;        ///< the other unknowns
  std::vector<double> inverse_diagonal_;       ///< shape of uncoupled_
  mutable std::vector<double> right_, result_; ///< shape of unknowns_
  std::unique_ptr<Instance> instance_;         ///< null: no unknown is coupled
  std::string description_;
};

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rafter/solve/multigrid.hpp>

namespace rafter::solvers {

/// A field of several, with the operator that its part of a preconditioner is made of (SolverOptions::blocks).
struct FieldBlock {
  std::string field;                                        ///< name of the field, for people
  std::string preconditioner;                               ///< name of its preconditioner, which is not "block"
  op::EntryRange entries;                                   ///< entries of the field in the vectors of the system
  std::shared_ptr<const op::LinearOperator> A;              ///< operator of the field alone, on vectors of its entries
  bool is_mass = false;                                     ///< A is the mass matrix of the field, for people
  std::shared_ptr<const MultigridHierarchy> hierarchy = {}; ///< levels for the preconditioner multigrid
  std::function<NearNullSpace()> near_null_space = {}; ///< makes modes for the preconditioner amg; empty: constants
  std::shared_ptr<const NullSpace> null_space = {};    ///< null space of A; null: A is regular
  std::optional<MultigridParameters> multigrid = {};   ///< parameters of multigrid; absent: those of SolverOptions
  /// Gives A the values of data and parameters that the operator of the system has; says whether any has changed.
  /// Empty: nobody knows.
  std::function<bool()> follow = {};
};

/// Computes z = M^-1 r with a preconditioner M_f for each field: z_f = M_f^-1 r_f, a block-diagonal matrix. For saddle
/// point problems such as Stokes flow, where M_u is spectrally equivalent to the block of the velocity and M_p to the
/// mass matrix of the pressure, minres takes a number of iterations that no refinement raises (Silvester and Wathen
/// 1994, doi:10.1137/0731070).
class BlockPreconditioner final : public Preconditioner {
public:
  /// A part belongs to a field: its block, and what makes the preconditioner for the values that A has.
  struct Part {
    FieldBlock block;
    std::function<std::shared_ptr<const Preconditioner>()> make;
  };
  /// `size` is that of the system's vectors. Throws InputError where a block does not have the size of its entries, or
  /// entries overlap or are not in the vectors, and what `make` throws. Blocks follow the operator of the system now.
  BlockPreconditioner(std::int64_t size, std::vector<Part> parts);
  ~BlockPreconditioner() override;

  void apply(const Vector& r, Vector& z) const override; ///< entries of no block are not written
  /// Says whether that of a field is.
  bool is_variable() const override;
  bool is_single() const override;
  /// Brings the values of the system's operator to the blocks. Preconditioners of fields follow, or are made anew where
  /// they cannot.
  bool refresh() const override;
  std::int64_t num_negative_eigenvalues() const override;
  std::string description() const override;

private:
  struct Work;
  /// Makes the preconditioner of a field, whose errors get its name.
  static std::shared_ptr<const Preconditioner> make(const Part& part);
  std::vector<Part> parts_;
  std::vector<Work> work_; ///< shape (part)
};

} // namespace rafter::solvers

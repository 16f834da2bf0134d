// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <rafter/solve/bicgstab.hpp>
#include <rafter/solve/block_preconditioner.hpp>
#include <rafter/solve/cg.hpp>
#include <rafter/solve/chebyshev.hpp>
#include <rafter/solve/direct.hpp>
#include <rafter/solve/factors.hpp>
#include <rafter/solve/gmres.hpp>
#include <rafter/solve/minres.hpp>
#include <rafter/solve/multigrid.hpp>
#include <rafter/solve/null_space.hpp>

/// Finds solvers by name, as the problem file, the command and C++ use them. To add one takes its pair of files and one
/// line in registry.cpp. (The namespace is `solvers` because users call `rafter::solve`.)
namespace rafter::solvers {

class FieldBalance;

/// Method and preconditioner where none is named.
inline constexpr const char *usual_method = "cg", *usual_preconditioner = "jacobi";

/// Chooses a method and a preconditioner, with their parameters.
struct SolverOptions {
  std::string method;         ///< empty: none is named, and it is usual_method
  std::string preconditioner; ///< empty: none is named, and it is usual_preconditioner; direct solves take factors
  IterationControl control;
  int restart = 50;        ///< restart of gmres
  Side side = Side::right; ///< side of gmres
  ChebyshevParameters chebyshev;
  MultigridParameters multigrid;
  /// Levels below the operator, which the preconditioner multigrid needs.
  std::shared_ptr<const MultigridHierarchy> hierarchy;
  /// Makes what the preconditioner amg needs to know of the unknowns; empty: constants.
  std::function<NearNullSpace()> near_null_space;
  /// Fields of the operator, each with its own preconditioner, which the preconditioner block needs. Parameters of
  /// these are those of the options.
  std::vector<FieldBlock> blocks;
  /// Fields of the operator whose residuals are judged one by one, too (field_balance.hpp); null: all together alone.
  std::shared_ptr<const FieldBalance> fields;
  /// Updates and products of vectors are fused into the application of the operator by cg and chebyshev; false: one
  /// operation after the other. The iterates are the same up to rounding.
  bool is_fused = true;
  /// Null space of a symmetric operator, or of one whose transpose has the same; null: the operator is regular.
  /// Preconditioners are projected. Methods need right-hand sides in the range, which is the complement of the null
  /// space, and leave any part of it in x.
  std::shared_ptr<const NullSpace> null_space;
};

/// A method that the interface knows by name; `run` is null where this version has no implementation.
struct Method {
  std::string_view name, description;
  Result (*run)(const op::LinearOperator&, const Vector& b, Vector& x, const Preconditioner&, const SolverOptions&);
  bool is_direct = false;                      ///< says whether it takes the factors of the matrix for a preconditioner
  std::span<const std::string_view> keys = {}; ///< keys of [solver] that this method reads and not all do
};
/// A preconditioner that the interface knows by name; `make` is null where this version has no implementation.
struct PreconditionerKind {
  std::string_view name, description;
  std::shared_ptr<const Preconditioner> (*make)(const op::LinearOperator&, const SolverOptions&);
  bool needs_diagonal = false; ///< says whether it needs the diagonal of the operator, which must have no zeros
  std::span<const std::string_view> keys = {}; ///< keys of [solver] that this preconditioner reads and not all do
  /// Keys of solver.multigrid that it reads, where it reads that table; empty: all of them.
  std::span<const std::string_view> multigrid_keys = {};
};
std::span<const Method> methods();
std::span<const PreconditionerKind> preconditioners();

/// Returns the entry of that name. Throws InputError with the nearest name when there
/// is none, and for names that this version does not implement one that says so and lists what exists.
const Method& find_method(std::string_view name);
const PreconditionerKind& find_preconditioner(std::string_view name);
/// Does the same for the names of the options, which may be empty.
const Method& method_of(const SolverOptions& options);
const PreconditionerKind& preconditioner_of(const SolverOptions& options);

/// Makes the preconditioner of the options, or the factors of the matrix where the method is direct. Throws the errors
/// of find_method(), find_preconditioner() and of its constructor. The operator must outlive the preconditioner.
std::shared_ptr<const Preconditioner> make_preconditioner(const op::LinearOperator& A, const SolverOptions& options);

/// Warns the user of a preconditioner whose set-up has found the operator to be indefinite. Those who set one up for a
/// solve call it, once for all values that an operator takes.
void warn_if_indefinite(const Preconditioner& M, const SolverOptions& options);

/// Runs the method of the options. If a Krylov method stands at the level of rounding errors, above its tolerance, an
/// estimate of the error follows by two rough solves more: it is reported, or says that the operator is singular.
Result run_method(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                  const SolverOptions& options);

/// Solves A x = b with the method of the options; `x` holds the initial guess. Norms of the residual before and after
/// are those that the method has found; those that it has not cost an application of A, which `seconds` leaves out.
Result solve(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
             const SolverOptions& options);

/// Makes the preconditioner of the options as well, whose set-up is part of `seconds`. With a null space, the part of b
/// in it is left out and x has none, which is the solution of least squares and least norm.
Result solve(const op::LinearOperator& A, const Vector& b, Vector& x, const SolverOptions& options = {});

} // namespace rafter::solvers

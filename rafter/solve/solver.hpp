// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <rafter/solve/cg.hpp>
#include <rafter/solve/chebyshev.hpp>
#include <rafter/solve/direct.hpp>
#include <rafter/solve/factors.hpp>
#include <rafter/solve/gmres.hpp>
#include <rafter/solve/minres.hpp>
#include <rafter/solve/null_space.hpp>

/// Solvers by name: what the problem file and the faces use. (The namespace is `solvers` as users call
/// `rafter::solve`.) To add one: its pair of files and one line in registry.cpp.
namespace rafter::solvers {

struct SolverOptions {
  std::string method = "cg";
  std::string preconditioner = "jacobi"; ///< direct solves take the factors of the matrix instead
  IterationControl control;
  int restart = 50;        ///< gmres
  Side side = Side::right; ///< gmres
  ChebyshevParameters chebyshev;
  /// cg and chebyshev: updates and products of vectors are fused into the application of the operator; false: one
  /// operation after the other. The iterates are the same up to rounding.
  bool is_fused = true;
  /// Of a symmetric operator, or one whose transpose has the same; null: the operator is regular. Preconditioners are
  /// projected. Methods need right-hand sides in the range, which is its complement, and leave any part of it in x.
  std::shared_ptr<const NullSpace> null_space;
};

/// A name that the interface knows; `run` (`make`) is null where this version has no implementation.
struct Method {
  std::string_view name, description;
  Result (*run)(const op::LinearOperator&, const Vector& b, Vector& x, const Preconditioner&, const SolverOptions&);
  bool is_direct = false;                      ///< takes the factors of the matrix for a preconditioner
  std::span<const std::string_view> keys = {}; ///< of [solver] that this method reads and not all do
};
struct PreconditionerKind {
  std::string_view name, description;
  std::shared_ptr<const Preconditioner> (*make)(const op::LinearOperator&, const SolverOptions&);
  bool needs_diagonal = false;                 ///< asks the operator for its diagonal, which must have no zeros
  std::span<const std::string_view> keys = {}; ///< of [solver] that this preconditioner reads and not all do
};
std::span<const Method> methods();
std::span<const PreconditionerKind> preconditioners();

/// The entry of that name. InputError with the nearest name when there is none, and one that says so (and lists what
/// exists) for names that this version does not implement.
const Method& find_method(std::string_view name);
const PreconditionerKind& find_preconditioner(std::string_view name);

/// The preconditioner of the options, or the factors of the matrix where the method is direct. Throws as its
/// constructor. The operator must outlive the preconditioner.
std::shared_ptr<const Preconditioner> make_preconditioner(const op::LinearOperator& A, const SolverOptions& options);

/// Solves A x = b with the method of the options; `x` holds the initial guess. Takes both norms of the residual
/// before and after, which costs two applications of A and of M each; `seconds` leaves them out.
Result solve(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
             const SolverOptions& options);

/// The same with the preconditioner of the options, whose set-up is part of `seconds`. With a null space the part of b
/// in it is left out and x has none: the solution of least squares and least norm.
Result solve(const op::LinearOperator& A, const Vector& b, Vector& x, const SolverOptions& options = {});

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <string>

#include <rafter/problem/method_choice.hpp>
#include <rafter/problem/request.hpp>
#include <rafter/solve/null_space_condition.hpp>

/// Linear problems: an operator that has passed all checks gets a method, a preconditioner and a right-hand side, and
/// another method where the first one turns out not to serve.
namespace rafter::problem {

/// A linear solve asks for these when it needs them, in this order.
struct LinearParts {
  /// The null space that conditions fix. Empty: there is none.
  std::function<solvers::ConstrainedNullSpace()> null_space;
  /// Writes the right-hand side of the problem without its conditions. Empty: it is zero.
  std::function<void(op::Vector& load)> load;
  /// Checks what else can be known before the solve. Empty: nothing is.
  std::function<void()> check;
  /// Gives the options the levels or the blocks that their preconditioner is made of. Empty: it needs none.
  std::function<void(solvers::SolverOptions&)> preconditioner;
};

class LinearSolve {
public:
  /// Checks the operator and makes what solves it. Throws InputError for an operator that is singular, not finite, or
  /// not symmetric where the method needs that, for a right-hand side that is not finite, and for preconditioners that
  /// cannot be made. The request, A and the parts must outlive the object.
  LinearSolve(const Request& request, const op::Operator& A, const LinearParts& parts);

  /// Solves, with the method that was chosen, and with another one if the first does not serve. explain() says why a
  /// problem is hard.
  solvers::Result run();

  op::Vector& solution() { return x_; } ///< the initial guess with boundary values; the solution after run()
  const MethodChoice& choice() const { return choice_; }
  const solvers::SolverOptions& options() const { return options_; }
  const solvers::Preconditioner& preconditioner() const { return *preconditioner_; }
  /// Says whether residuals are judged by forces that boundary values cause, too.
  bool has_lift() const { return static_cast<bool>(reference_); }
  /// Part of the load in the null space, relative to its size, which no solution can balance and which was removed.
  double removed() const { return removed_; }

private:
  void make_right_hand_side(const LinearParts& parts);
  void take(MethodChoice choice);
  solvers::Result run_method(solvers::SolverOptions options);

  const Request& request_;
  const op::Operator& A_;
  solvers::ConstrainedNullSpace null_space_;
  op::Vector b_, x_; ///< vectors of the system with its constraints
  solvers::ReferenceNorm reference_;
  double removed_ = 0;
  MethodChoice choice_;
  solvers::SolverOptions options_; ///< options for the method chosen
  std::shared_ptr<const solvers::Preconditioner> preconditioner_;
};

} // namespace rafter::problem

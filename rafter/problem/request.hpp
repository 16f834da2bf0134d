// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/device/compile_all.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/solve/solver.hpp>

/// Whoever states a problem, a problem file or a program, gets the same checks, choices and errors.
namespace rafter::problem {

/// The parts of a problem were stated at these places, for messages: places in a file such as "beam.toml:3:5", or ""
/// for parts that a program has made.
struct Places {
  std::string source; ///< the file
  std::string form;   ///< the form that holds the unknowns
  std::string load;   ///< the right-hand side
  std::string method, preconditioner, coarsening, coarse_solver;
  std::string end, theta, restart; ///< of steps in time
  /// Conditions on the null space with their keys, in their order, such as "beam.toml:9:1: constraint[0].mean".
  std::vector<std::string> conditions;
};

/// Returns "place: message", or the message alone where there is no place.
std::string at(const std::string& place, const std::string& message);

/// Runs an operation, and puts a place in front of the message of its InputErrors.
template <class Operation> auto located(const std::string& place, const Operation& operation) {
  try {
    return operation();
  } catch (const base::InputError& error) {
    if (place.empty()) throw;
    throw base::InputError(at(place, error.what()));
  }
}

/// Says how messages name the parts of a problem, and what only those know who stated it.
struct Statement {
  Places places;
  std::string form_name = "the form"; ///< name of the form in messages, such as "forms.a"
  std::string load_name;              ///< name of the right-hand side in messages, beside that word, such as "forms.L"
  std::string plan_name = "plan";     ///< name of the plan in messages, such as "--plan"
  /// Returns which coefficient is not finite, and where; "" where none is found. Empty: nothing is looked for.
  std::function<std::string()> find_non_finite;
  /// Warns of what was asked for that direct solves leave, when one is chosen for a cause. Empty: nobody is warned.
  std::function<void(std::string_view cause)> warn_of_direct_solve;
  /// Warns of a key, such as "newton", that was given and has no effect, for a reason. Empty: nobody is warned.
  std::function<void(std::string_view key, std::string_view reason)> warn_unused;

  /// Returns what find_non_finite finds, "" where nothing is looked for.
  std::string what_is_not_finite() const { return find_non_finite ? find_non_finite() : ""; }
  /// Returns the name of the form with its place, if it has one.
  std::string form_text() const { return at(places.form, form_name); }
};

/// The run was stopped by Progress::is_stopped, and leaves no half-written file.
class Stopped : public base::SolverError {
public:
  Stopped() : SolverError("stopped before the end") {}
};

/// Those who follow a run give these functions; empty ones are not called.
struct Progress {
  std::function<void(const std::string&)> event; ///< gets a line of text when something is done
  device::CompileProgress compilation;           ///< gets the number of a kernel that is compiled, from any thread
  solvers::Monitor iteration;                    ///< returns false to stop the solve
  /// Says whether the user wants the run to end; on parts of a mesh all processes are to get the same answer.
  std::function<bool()> is_stopped;

  /// Throws Stopped if the user wants the run to end.
  void require_running() const {
    if (is_stopped && is_stopped()) throw Stopped();
  }
  /// Gives an event to whoever follows. Throws Stopped if the user wants the run to end.
  void notify(const std::string& text) const {
    require_running();
    if (event) event(text);
  }
  /// A monitor of iterations that stops them where the user wants the run to end, or where `monitor` does, if any.
  solvers::Monitor stopping(solvers::Monitor monitor) const {
    return [ends = is_stopped, monitor = std::move(monitor)](int number, double residual) {
      return !(ends && ends()) && (!monitor || monitor(number, residual));
    };
  }
  /// Says whether iterations go on, and gives the number and the residual of one to whoever follows.
  bool goes_on(int number, double residual) const {
    return !(is_stopped && is_stopped()) && (!iteration || iteration(number, residual));
  }
};

/// Holds what is asked of the solver of a problem. The operator and its right-hand side are given beside it.
struct Request {
  Statement statement;
  bool is_residual = false; ///< whether the form is a residual, whose derivative is the operator
  bool is_in_time = false;
  solvers::SolverOptions solver;   ///< method and preconditioner are the usual ones where none is named
  bool has_method = false;         ///< whether a method is named; if not, one is chosen that can solve the problem
  bool has_preconditioner = false; ///< whether a preconditioner is named
  bool is_iterated = false;        ///< whether something is asked for that only iterative methods have
  /// Whether the mesh is whole. On a part of a mesh the operator is not looked at for null spaces, and no method is
  /// chosen: both look at one process.
  bool is_whole = true;
  std::string method_reason; ///< why the method of the options is another one than the usual one; or empty
  Progress progress;
};

/// Returns the name of a field's test function in messages: "v" if there is one field only, else "v_" and its name.
std::string test_name(const op::System& system, std::size_t field);

} // namespace rafter::problem

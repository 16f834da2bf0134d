// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include <rafter/operator/generate/system.hpp>
#include <rafter/solve/solver.hpp>

/// Drives the solution of a problem, whoever states it: a problem file or a program. Both get the same checks, choices
/// and errors.
namespace rafter::problem {

/// The parts of a problem were stated at these places, for messages: places in a file such as "beam.toml:3:5", or ""
/// for parts that a program has made.
struct Places {
  std::string source; ///< the file
  std::string form;   ///< the form that holds the unknowns
  std::string load;   ///< the right-hand side
  std::string method, preconditioner, coarsening, coarse_solver;
};

/// Returns "place: message", or the message alone where there is no place.
std::string at(const std::string& place, const std::string& message);

/// Holds what is asked of a solve. The operator and its right-hand side are given beside it.
struct Problem {
  Places places;
  std::string form_name = "the form"; ///< name of the form in messages, such as "forms.a"
  std::string load_name;              ///< name of the right-hand side in messages, beside that word, such as "forms.L"
  bool is_residual = false;           ///< whether the form is a residual, whose derivative is the operator
  bool is_in_time = false;
  solvers::SolverOptions solver;   ///< method and preconditioner are the usual ones where none is named
  bool has_method = false;         ///< whether a method is named; if not, one is chosen that can solve the problem
  bool has_preconditioner = false; ///< whether a preconditioner is named
  bool is_iterated = false;        ///< whether something is asked for that only iterative methods have
  bool is_checked = true;          ///< whether the operator is looked at before the solve; not on a part of a mesh
  std::string method_reason;       ///< why the method of the options is another one than the usual one; or empty
  /// Returns which coefficient is not finite, and where; "" where none is found. Empty: nothing is looked for.
  std::function<std::string()> find_non_finite;
  /// Warns of what was asked for that direct solves leave, when one is chosen for a cause. Empty: nobody is warned.
  std::function<void(std::string_view cause)> warn_of_direct_solve;
  std::function<void(const std::string&)> event; ///< gets a line of text when something is done
  std::function<bool()> is_stopped;              ///< says whether the user wants the run to end
  solvers::Monitor iteration;                    ///< returns false to stop the solve

  /// Returns what find_non_finite finds, "" where nothing is looked for.
  std::string what_is_not_finite() const { return find_non_finite ? find_non_finite() : ""; }
  /// Tells an event, if anybody listens.
  void tell(const std::string& text) const {
    if (event) event(text);
  }
};

/// Returns the name of a field's test function in messages: "v" if there is one field only, else "v_" and its name.
std::string test_name(const op::System& system, std::size_t field);

} // namespace rafter::problem

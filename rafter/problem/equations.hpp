// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rafter/form/lowered.hpp>
#include <rafter/form/theta_scheme.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/problem/problem.hpp>

/// The forms that the kernels of a problem are made of.
namespace rafter::problem {

struct Equations {
  op::System system;              ///< system of the unknowns
  std::vector<std::string> names; ///< names of the unknowns
  /// The form of the operator as stated, or the derivative of F; nothing in time, where it follows from F.
  std::optional<form::Form> bilinear;
  form::LoweredForm tangent;             ///< form of the operator, in time the one of a step
  std::optional<form::LoweredForm> load; ///< right-hand side, residual, or load of a step; nothing: it is zero
  std::optional<form::ThetaForms> steps; ///< forms of a step in time
};

/// Makes the forms of a problem. Throws InputError where they have another rank than they should, where a field has no
/// term or no equation, where parts do not go together, and as form::make_theta_forms() does.
Equations make_equations(const Problem& problem);

/// Returns the tangent of a step in time with the fields and test functions on other spaces, of which a pair has
/// (old, new).
form::LoweredForm tangent_of_steps(const Problem& problem, const std::vector<form::SpacePair>& spaces);

} // namespace rafter::problem

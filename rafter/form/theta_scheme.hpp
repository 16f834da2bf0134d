// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/form/lowered.hpp>

/// Forms of a step in time. Hairer, Wanner: Solving Ordinary Differential Equations II, sections IV.15 and VII.1.
namespace rafter::form {

/// Parameters of the forms of a step from time s to time t, bound by name. The names are no identifiers, so that no
/// coefficient of a form has one of them. With the weights all zero but that of
/// constraints, which is one, a step is the projection of the state before it onto what the equations without a
/// derivative in time and the boundary values allow.
inline constexpr const char* old_time_name = "old(t)";        ///< s
inline constexpr const char* theta_name = "weight(theta)";    ///< share of t in what holds between both times
inline constexpr const char* new_weight_name = "weight(new)"; ///< theta (t - s)
inline constexpr const char* old_weight_name = "weight(old)"; ///< (1 - theta) (t - s)
inline constexpr const char* constraint_weight_name = "weight(constraint)"; ///< t - s
/// Name of the data field that holds a field at time s: "old(u)".
std::string old_field_name(const std::string& field);

/// What the equations say of a field.
enum class FieldRole {
  differential, ///< its derivative in time occurs
  algebraic,    ///< an equation without a derivative in time determines it
  multiplier    ///< it occurs in no such equation, but sees to it that they hold: a pressure
};

/// A step of the theta scheme for F(dt(u), u, t; v) = 0. With M the terms that are linear in derivatives in time, G the
/// other terms with the same test functions, and A those of test functions without a derivative in time:
///
///     M(u_t - u_s; v) + theta (t - s) G(u_t, t; v) + (1 - theta) (t - s) G(u_s, s; v) + (t - s) A(u_t, t; v) = 0
///
/// Fields without a derivative in time are taken at t throughout (they are implicit), and so are the equations A.
/// Factors of M that depend on fields or on time are means of both times, theta at t.
struct ThetaForms {
  LoweredForm tangent; ///< rank 2: the derivative of the step by the fields at t
  /// Rank 1. Of a linear problem what stands on the right-hand side of the step, else the residual, which has the
  /// fields at t as data fields under their own names.
  LoweredForm load;
  bool is_linear = false;       ///< the tangent does not depend on the fields at t
  std::vector<FieldRole> roles; ///< of the unknowns
};

/// Whether every term of a form of rank 1 is linear in these fields and their derivatives in time, and holds one.
bool is_linear(const Form& form, const std::vector<Expr>& fields);

/// `unknowns`: the fields of F that are solved for. The time in F is the parameter of the name t. Throws InputError
/// where dt() does not occur linearly, where there is none, and where an equation is not affine in a multiplier.
/// `constant_fields`: names of other fields whose values stay as they are, so that their derivative is zero; that of
/// fields that are neither is an InputError.
ThetaForms make_theta_forms(const Form& F, const std::vector<Expr>& unknowns,
                            const std::vector<std::string>& constant_fields = {});
/// The tangent of the same with the functions and fields of F on other spaces (on), as on a level of multigrid.
LoweredForm theta_tangent_on(const Form& F, const std::vector<Expr>& unknowns,
                             const std::vector<std::string>& constant_fields, const std::vector<SpacePair>& spaces);

} // namespace rafter::form

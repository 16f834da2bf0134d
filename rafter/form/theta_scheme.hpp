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
/// Shares of the value at t in the intermediate value of a field, by its role (ThetaForms).
inline constexpr const char* algebraic_share_name = "share(algebraic)";
inline constexpr const char* multiplier_share_name = "share(multiplier)";
/// Name of the data field that holds a field at time s: "old(u)".
std::string old_field_name(const std::string& field);
/// Name of the data field that holds the intermediate value of a field in the step before: "intermediate(z)".
std::string intermediate_name(const std::string& field);

/// The role of a field in the equations.
enum class FieldRole {
  differential, ///< its derivative in time occurs
  algebraic,    ///< an equation without a derivative in time determines it
  multiplier    ///< it occurs in no such equation, but sees to it that they hold: a pressure
};

/// A step of the theta scheme for F(dt(u), u, z, t; v) = 0, where z are the fields without a derivative in time. With M
/// the terms that are linear in derivatives in time, G the other terms with the same test functions, and A those of
/// test functions without a derivative in time:
///
///     M(u_t - u_s; v) + theta (t - s) G(u_t, Z, t; v) + (1 - theta) (t - s) G(u_s, Z, s; v) = 0
///     A(u_t, z_t, t; v) = 0
///     Z = share z_t + (1 - share) Z_old,   share = (tau - tau_old) / (t - tau_old),   tau = s + theta (t - s)
///
/// The intermediate value Z is a value of z at the time tau: that of the line through the intermediate value Z_old of
/// the step before, at tau_old, and z_t. Hence z_t has the order of the scheme, too. In a first step tau_old is s and
/// Z_old is z_s, but that of a multiplier, of which z_s is not known: its share is 1. With theta = 1 the shares are 1,
/// so that the intermediate value is z_t. A is multiplied by t - s and by the share of the field of the test function,
/// which keeps symmetric problems symmetric. Factors of M that depend on fields or on time are means of both times,
/// theta at t.
struct ThetaForms {
  LoweredForm tangent; ///< rank 2: the derivative of the step by the fields at t
  /// Rank 1. Of a linear problem what stands on the right-hand side of the step, else the residual, which has the
  /// fields at t as data fields under their own names.
  LoweredForm load;
  bool is_linear = false;         ///< the tangent does not depend on the fields at t
  bool has_intermediates = false; ///< fields have intermediate values; those of the step before are data
  std::vector<FieldRole> roles;   ///< roles of the unknowns
};

/// Says whether every term of a form of rank 1 is linear in these fields and their derivatives in time, and holds one.
bool is_linear(const Form& form, const std::vector<Expr>& fields);

/// `unknowns`: the fields of F that are solved for. The time in F is the parameter of the name t. Throws InputError
/// where dt() does not occur linearly, where there is none, and where an equation is not affine in a multiplier.
/// `constant_fields`: names of other fields whose values stay as they are, so that their derivative is zero; that of
/// fields that are neither is an InputError. `theta`: forms that are made for 1 have no intermediate values; all others
/// serve every theta (require_theta).
ThetaForms make_theta_forms(const Form& F, const std::vector<Expr>& unknowns,
                            const std::vector<std::string>& constant_fields = {}, double theta = 0.5);
/// Throws InputError unless the forms serve steps with this theta: it is 1, or all fields have derivatives in time, or
/// the forms have intermediate values and it is above 0.
void require_theta(const ThetaForms& forms, double theta);
/// The tangent of the same with the functions and fields of F on other spaces (on), as on a level of multigrid.
LoweredForm theta_tangent_on(const Form& F, const std::vector<Expr>& unknowns,
                             const std::vector<std::string>& constant_fields, double theta,
                             const std::vector<SpacePair>& spaces);

} // namespace rafter::form

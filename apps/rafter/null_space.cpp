// SPDX-License-Identifier: BSD-3-Clause
#include "null_space.hpp"

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::app {
namespace {

using Kind = io::Constraint::Kind;

solvers::NullSpaceCondition::Kind kind_of(Kind kind) {
  switch (kind) {
  case Kind::mean:
    return solvers::NullSpaceCondition::Kind::mean;
  case Kind::point:
    return solvers::NullSpaceCondition::Kind::point;
  case Kind::rigid_modes:
    return solvers::NullSpaceCondition::Kind::rigid_modes;
  }
  throw base::InternalError("kind of constraint out of range");
}

const char* key_of(Kind kind) { return kind == Kind::mean ? "mean" : kind == Kind::point ? "point" : "rigid_modes"; }

template <class Operation> auto at_place(const io::Problem& problem, std::size_t i, const Operation& operation) {
  try {
    return operation();
  } catch (const base::InputError& error) {
    const auto& constraint = problem.constraints[i];
    throw base::InputError(
        fmt::format("{}: constraint[{}].{}: {}", constraint.location.text(), i, key_of(constraint.kind), error.what()));
  }
}

} // namespace

PlannedConstraints plan_constraints(const io::Problem& problem, const op::System& system,
                                    const op::OperatorOptions& options) {
  PlannedConstraints result;
  for (const auto& constraint : problem.constraints) {
    result.conditions.push_back({.space = system.spaces[constraint.field],
                                 .kind = kind_of(constraint.kind),
                                 .values = constraint.values,
                                 .components = constraint.components,
                                 .point = constraint.point});
    result.masses.push_back(solvers::build_mass(result.conditions.back(), options));
  }
  return result;
}

solvers::ConstrainedNullSpace make_null_space(const io::Problem& problem, const op::Operator& A,
                                              const PlannedConstraints& constraints) {
  if (constraints.conditions.empty()) return {};
  const solvers::ConstrainedOperator on(A);
  std::vector<solvers::NullModes> modes;
  for (std::size_t i = 0; i < constraints.conditions.size(); ++i)
    modes.push_back(at_place(problem, i, [&] { return on.modes(constraints.conditions[i], constraints.masses[i]); }));
  return at_place(problem, 0, [&] { return solvers::ConstrainedNullSpace(A, std::move(modes)); });
}

int num_null_space_vectors(const io::Problem& problem) {
  int result = 0;
  for (const auto& constraint : problem.constraints) {
    const int n = problem.fields[constraint.field].num_components();
    // Three vectors are kept per mode: the mode itself, its load vector, and its part of the orthonormal basis.
    result += 3 * (constraint.kind == Kind::rigid_modes ? n * (n + 1) / 2 : n);
  }
  return result;
}

} // namespace rafter::app

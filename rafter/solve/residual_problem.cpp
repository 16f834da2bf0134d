// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/residual_problem.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/solve/field_balance.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/constraints.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::solvers {

bool has_parameter(const form::LoweredForm& form, const std::string& name) {
  return std::ranges::any_of(form.parameters,
                             [&name](const auto& parameter) { return parameter.coefficient->name == name; });
}

bool has_field(const form::LoweredForm& form, const std::string& name) {
  return std::ranges::find(form.field_names, name) != form.field_names.end();
}

ResidualProblem::ResidualProblem(std::shared_ptr<const op::GeneratedForm> residual,
                                 std::shared_ptr<op::Operator> tangent, std::vector<std::string> state,
                                 std::shared_ptr<const op::GeneratedForm> energy)
    : built_residual_(std::move(residual)), built_energy_(std::move(energy)), tangent_(std::move(tangent)),
      residual_(built_residual_), state_(std::move(state)) {
  const auto& system = tangent_->system();
  mesh::require_whole(*system.mesh, "residuals for Newton's method");
  if (state_.size() != system.spaces.size())
    throw base::InputError(
        fmt::format("the state has {} fields, the equations have {}", state_.size(), system.spaces.size()));
  if (built_residual_->system.spaces != system.spaces)
    throw base::InputError("the residual and its tangent are on different systems of spaces");
  if (built_energy_) energy_.emplace(built_energy_);
}

std::vector<std::int64_t> ResidualProblem::field_offsets() const {
  std::vector<std::int64_t> result;
  const auto& system = tangent_->system();
  for (std::size_t f = 0; f < system.spaces.size(); ++f) result.push_back(system.offset(f));
  return result;
}

std::shared_ptr<const FieldBalance> ResidualProblem::fields() const {
  return state_.size() < 2 ? nullptr : std::make_shared<const FieldBalance>(*tangent_, state_);
}

template <class Target> void ResidualProblem::set_factor(Target& target, const form::LoweredForm& form, double factor) {
  if (has_parameter(form, load_factor_name)) target.set(load_factor_name, factor);
}

void ResidualProblem::set_load_factor(double factor) {
  set_factor(residual_, built_residual_->form, factor);
  set_factor(*tangent_, tangent_->form(), factor);
  if (energy_) set_factor(*energy_, built_energy_->form, factor);
}

template <class Target>
void ResidualProblem::set_state(Target& target, const form::LoweredForm& form, const Vector& u) {
  const auto& system = tangent_->system();
  op::check_size(system, u, "the state");
  for (std::size_t f = 0; f < state_.size(); ++f)
    if (has_field(form, state_[f])) target.set(state_[f], u, system.entries(f));
}

void ResidualProblem::set(const std::string& name, const Vector& values) {
  bool is_known = false;
  const auto bind = [&](auto& target, const form::LoweredForm& form) {
    if (!has_field(form, name)) return;
    target.set(name, values);
    is_known = true;
  };
  bind(residual_, built_residual_->form);
  bind(*tangent_, tangent_->form());
  if (energy_) bind(*energy_, built_energy_->form);
  if (!is_known || std::ranges::find(state_, name) != state_.end())
    throw base::InputError(fmt::format("the equations have no known field '{}'", name));
}

void ResidualProblem::set(const std::string& name, double value) {
  bool is_known = tangent_->has_boundary_parameter(name) || has_parameter(tangent_->form(), name);
  if (is_known) tangent_->set(name, value);
  const auto bind = [&](auto& target, const form::LoweredForm& form) {
    if (!has_parameter(form, name)) return;
    target.set(name, value);
    is_known = true;
  };
  bind(residual_, built_residual_->form);
  if (energy_) bind(*energy_, built_energy_->form);
  if (!is_known) throw base::InputError(fmt::format("the equations have no parameter '{}'", name));
}

void ResidualProblem::bind(const Vector& u) { set_state(residual_, built_residual_->form, u); }

void ResidualProblem::residual(const Vector& u, Vector& r) {
  bind(u);
  residual_.assemble(r);
}

double ResidualProblem::energy(const Vector& u) {
  set_state(*energy_, built_energy_->form, u);
  return (*energy_)();
}

void ResidualProblem::linearise(const Vector& u) {
  set_state(*tangent_, tangent_->form(), u);
  tangent_->refresh();
}

namespace {

/// Returns what the fields of a state are in a cell, as in "u is 0 and p is between -1 and 2.5".
std::string describe_state(const op::System& system, const Vector& u, std::int32_t g, std::int32_t cell) {
  const auto values = u.host_read();
  std::vector<std::string> texts;
  std::vector<std::int32_t> entries;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    const auto& space = *system.spaces[f];
    const auto shape = system.mesh->groups[static_cast<std::size_t>(g)].shape;
    entries.resize(static_cast<std::size_t>(space.element(shape)->num_dofs() * space.num_components()));
    const auto position = space.position(g, cell);
    space.cell_dofs(position.block, position.batch, position.cell, entries);
    double least = std::numeric_limits<double>::infinity(), largest = -least;
    for (const auto entry : entries) {
      const double value = values[static_cast<std::size_t>(system.offset(f)) + static_cast<std::size_t>(entry)];
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
    texts.push_back(least == largest ? fmt::format("{} is {:.6g}", space.name, least)
                                     : fmt::format("{} is between {:.6g} and {:.6g}", space.name, least, largest));
  }
  return base::join(texts, " and ");
}

} // namespace

std::string ResidualProblem::describe_non_finite(const Vector& r, const Vector& u) const {
  const auto& system = tangent_->system();
  const auto values = r.host_read();
  std::vector<std::int32_t> entries;
  std::ptrdiff_t most = 0;
  std::string found = "no entry of any cell";
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    const auto& space = *system.spaces[f];
    const auto of_field =
        values.subspan(static_cast<std::size_t>(system.offset(f)), static_cast<std::size_t>(space.num_local()));
    for (std::size_t g = 0; g < system.mesh->groups.size(); ++g) {
      const auto& group = system.mesh->groups[g];
      entries.resize(static_cast<std::size_t>(space.element(group.shape)->num_dofs() * space.num_components()));
      for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
        const auto position = space.position(static_cast<std::int32_t>(g), cell);
        space.cell_dofs(position.block, position.batch, position.cell, entries);
        const auto count = std::ranges::count_if(
            entries, [&](std::int32_t entry) { return !std::isfinite(of_field[static_cast<std::size_t>(entry)]); });
        if (count <= most) continue;
        most = count;
        const bool is_whole = count == std::ssize(entries);
        found = fmt::format("{} of '{}' in {}, where {}", is_whole ? "no finite value" : "values that are not finite",
                            space.name, mesh::describe_cell(*system.mesh, static_cast<std::int32_t>(g), cell),
                            describe_state(system, u, static_cast<std::int32_t>(g), cell));
        if (is_whole) return found;
      }
    }
  }
  return found;
}

void constrain(NonlinearProblem& problem, const ConstrainedNullSpace& null_space, double rtol, Vector& u,
               NewtonResult& result) {
  if (null_space.null_space()->is_empty()) return;
  const VectorOps ops(problem.tangent());
  const auto size = [&] {
    Vector r(u.device(), u.size());
    problem.residual(u, r);
    const auto entries = r.host_write();
    for (const auto i : problem.constraints().entries) entries[static_cast<std::size_t>(i)] = 0;
    return ops.norm(r);
  };
  const double before = size();
  null_space.constrain(u);
  if (result.status != Status::converged) return;
  constexpr double rounding = 10; // the state moves, and the rounding errors of its residual with it
  const double after = size();
  // The scale that residuals are relative to; where the state solved the equations exactly, all of the new one counts.
  const double scale = result.relative_residual > 0 ? before / result.relative_residual : after;
  if (after <= rounding * before || after <= rtol * scale) return;
  result.status = Status::failed;
  result.failure = Failure::singular_operator;
  result.relative_residual = scale > 0 ? after / scale : after;
  result.message = fmt::format("the functions that a condition fixes are none of the null space at the solution: the "
                               "residual there is {:.2e} with the condition and {:.2e} without it; leave the "
                               "condition out, or fix the solution by a term",
                               after, before);
}

} // namespace rafter::solvers

// SPDX-License-Identifier: BSD-3-Clause
#include "stated_problem.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/io/saved_state.hpp>
#include <rafter/io/unused_keys.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/problem/operator_checks.hpp>

#include "discretisation.hpp"
#include "problem_data.hpp"
#include "problem_forms.hpp"

namespace rafter::app {
namespace {

using Kind = io::Constraint::Kind;

const char* key_of(Kind kind) { return kind == Kind::mean ? "mean" : kind == Kind::point ? "point" : "rigid_modes"; }

std::string place_and_key(const io::Location& place, const std::string& key) { return place.text() + ": " + key; }

/// The texts of a file with what evaluates them. Functions of the stated problem refer to it.
struct Texts {
  io::Problem file;
  std::shared_ptr<const mesh::Mesh> mesh;
  op::System system;
  ProblemData data;
  ProblemForms forms;

  Texts(const io::Problem& given, const mesh::Generations& meshes, const op::OperatorOptions& options)
      : file(given), mesh(meshes.finest()), system(make_system(file, mesh, op::cells_per_batch(options.plan))),
        data(file, system, options.shared_device),
        forms(file, *mesh, ProblemForms::Spaces(system.spaces.begin(), system.spaces.end()), data) {}
};

problem::Places places_of(const io::Problem& file) {
  problem::Places result{.source = file.source,
                         .form = file.forms.main().location.text(),
                         .load = file.forms.L ? file.forms.L->location.text() : file.source,
                         .method = file.method_location.text(),
                         .preconditioner = file.has_preconditioner ? file.preconditioner_location.text() : file.source,
                         .coarsening = file.coarsening_location ? file.coarsening_location->text() : "",
                         .coarse_solver = file.coarse_location.text()};
  if (file.time) {
    result.end = file.time->end_location.text();
    result.theta = file.time->theta_location.text();
    result.restart = place_and_key(file.time->restart_location, "time.restart");
  }
  for (std::size_t i = 0; i < file.constraints.size(); ++i)
    result.conditions.push_back(place_and_key(file.constraints[i].location,
                                              fmt::format("constraint[{}].{}", i, key_of(file.constraints[i].kind))));
  return result;
}

/// Returns a message that says which coefficient is not finite and where, or "" if there is none.
std::string describe_non_finite(const Texts& texts) {
  for (const auto& [coefficient, value] : texts.forms.point_coefficients()) {
    const auto found = problem::non_finite_point(value, *texts.mesh, texts.file.max_degree() + 2);
    if (!found.empty())
      return fmt::format("{} {}", place_and_key(coefficient->value.location, "coefficients." + coefficient->name),
                         found);
  }
  return {};
}

problem::Statement statement_of(const std::shared_ptr<const Texts>& texts) {
  return {.places = places_of(texts->file),
          .form_name = texts->file.forms.main_key(),
          .load_name = "forms.L",
          .plan_name = "--plan",
          .find_non_finite = [texts] { return describe_non_finite(*texts); },
          .warn_of_direct_solve =
              [texts](std::string_view cause) {
                if (texts->file.solver.preconditioner != "none")
                  io::warn_of_keys_that_direct_solves_leave(texts->file, cause);
              },
          .warn_unused = [texts](std::string_view key,
                                 std::string_view reason) { io::warn_unused(texts->file, key, reason); }};
}

/// Returns the Dirichlet conditions with their values at the current time.
std::vector<op::FieldCondition> make_conditions(const Texts& texts) {
  std::vector<op::FieldCondition> result;
  const auto& mesh = *texts.mesh;
  for (std::size_t i = 0; i < texts.file.dirichlet.size(); ++i) {
    const auto& data = texts.file.dirichlet[i];
    const auto key = fmt::format("dirichlet[{}]", i);
    space::DirichletCondition condition{.is_all = data.is_all, .components = data.components};
    for (std::size_t t = 0; t < data.tags.tags.size(); ++t) {
      const auto numbers = problem::located(place_and_key(data.tags.places[t], key + ".tags"), [&] {
        return mesh::tags_for(mesh, data.tags.tags[t], mesh::TagUse::dirichlet);
      });
      condition.tags.insert(condition.tags.end(), numbers.begin(), numbers.end());
    }
    if (data.is_all && mesh.surface().exterior_facets.empty())
      refuse(data.location, key + ".tags", "the mesh has no boundary: all its outer facets are periodic");
    if (data.is_all) require_no_other_all(mesh, place_and_key(data.location, key + ".tags: "));
    condition.value = texts.forms.qfunction(data.values, data.components,
                                            texts.file.fields[data.field].num_components(), key + ".value");
    result.push_back({texts.system.spaces[data.field], std::move(condition)});
  }
  return result;
}

bool has_boundary_values_in_time(const Texts& texts) {
  for (std::size_t i = 0; i < texts.file.dirichlet.size(); ++i) {
    const auto& data = texts.file.dirichlet[i];
    const auto count = data.components.empty()
                           ? static_cast<std::size_t>(texts.file.fields[data.field].num_components())
                           : data.components.size();
    if (texts.forms.depends_on_time(data.values, count, fmt::format("dirichlet[{}].value", i))) return true;
  }
  return false;
}

/// Returns the state that Newton's method or the first step begins with; null: it is zero.
std::shared_ptr<const op::Vector> initial_state(const Texts& texts, const std::shared_ptr<device::Device>& device) {
  const auto& fields = texts.file.fields;
  if (std::ranges::none_of(fields, [](const auto& of) { return of.initial_source || !of.initial.empty(); })) return {};
  const auto& system = texts.system;
  auto result = std::make_shared<op::Vector>(device, static_cast<std::size_t>(system.size()));
  const auto state = result->host_overwrite();
  std::ranges::fill(state, 0.0);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto& space = *system.spaces[f];
    const auto key = "fields." + fields[f].name + ".initial";
    const auto values =
        state.subspan(static_cast<std::size_t>(system.offset(f)), static_cast<std::size_t>(space.num_local()));
    if (fields[f].initial_source)
      read_result(*fields[f].initial_source, key, space, values);
    else if (!fields[f].initial.empty())
      space::interpolate(space, texts.forms.qfunction(fields[f].initial, {}, fields[f].num_components(), key), values);
  }
  return result;
}

std::vector<problem::NamedFunctional> functionals_of(const Texts& texts) {
  std::vector<problem::NamedFunctional> result;
  const auto& numbers = texts.forms.functional_numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto& functional = texts.file.functionals[i];
    result.emplace_back(functional.name, texts.forms.functional(functional),
                        place_and_key(functional.form.location, "functionals." + functional.name));
    result.back().number = numbers[i];
  }
  return result;
}

problem::Check check_of(const std::shared_ptr<const Texts>& texts) {
  problem::Check result{.max_l2_error = texts->file.check.max_l2_error, .max_h1_error = texts->file.check.max_h1_error};
  for (const auto& entry : texts->file.check.exact) {
    const auto& field = texts->file.fields[entry.first];
    const auto* values = &entry.second; // `texts` keeps the file
    const auto key = "check." + field.name;
    const auto count = field.num_components();
    auto components = texts->forms.point_components(*values, static_cast<std::size_t>(count), key);
    result.exact.push_back(
        {.field = entry.first,
         .value = field.components == 0 ? components.at(0) : form::as_vector(std::move(components)),
         .origin = place_and_key(values->at(0).location, key),
         .make_function = [texts, values, count, key] { return texts->forms.qfunction(*values, {}, count, key); }});
  }
  return result;
}

problem::Output output_of(const Texts& texts) {
  const auto& output = texts.file.output;
  problem::Output result{.file = output.file, .on_failure = output.on_failure, .every = output.every};
  for (const auto& field : output.fields)
    result.fields.push_back({.name = field.name,
                             .expression = texts.forms.output_field(field),
                             .is_per_cell = field.is_per_cell,
                             .origin = place_and_key(field.expression.location, "output.fields." + field.name)});
  return result;
}

void state_time(const io::Time& time, const std::shared_ptr<Texts>& texts, problem::Problem& result) {
  result.time = problem::TimeInterval{
      .start = time.start, .end = time.end, .step = time.step, .theta = time.theta, .restart = time.restart};
  result.set_time = [texts](double now) { texts->forms.set_time(now); };
  if (!time.restart.empty()) { // boundary values need not have a value at other times
    const auto saved =
        problem::located(result.statement.places.restart, [&] { return io::read_saved_time(time.restart); });
    texts->forms.set_time(saved.time);
  }
  if (has_boundary_values_in_time(*texts)) result.conditions_now = [texts] { return make_conditions(*texts); };
  result.F = texts->forms.residual_in_time();
}

} // namespace

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

std::vector<solvers::NullSpaceCondition> null_space_of(const io::Problem& file, const op::System& system) {
  std::vector<solvers::NullSpaceCondition> result;
  for (const auto& constraint : file.constraints)
    result.push_back({.space = system.spaces[constraint.field],
                      .kind = kind_of(constraint.kind),
                      .values = constraint.values,
                      .components = constraint.components,
                      .point = constraint.point});
  return result;
}

problem::PreconditionerChoice preconditioner_of(const io::Problem& problem, const mesh::Generations& meshes) {
  const auto with_multigrid = problem::multigrid({.meshes = meshes,
                                                  .coarsening = problem.coarsening,
                                                  .precision = problem.level_precision,
                                                  .parameters = problem.solver.multigrid});
  const auto named = [&](const std::string& name) {
    problem::PreconditionerChoice result(name);
    result.parameters = problem.solver.multigrid;
    return name == "multigrid" ? with_multigrid : result;
  };
  if (is_preconditioner_open(problem)) {
    auto result = with_multigrid;
    result.name.clear();
    return result;
  }
  auto result = named(problem.solver.preconditioner);
  for (std::size_t f = 0; f < problem.blocks.size(); ++f)
    result.blocks.emplace_back(problem.fields[f].name, named(problem.blocks[f]));
  return result;
}

problem::Problem state(const io::Problem& file, const mesh::Generations& meshes, op::OperatorOptions options) {
  options.quadrature = quadrature_options(file);
  const auto texts = std::make_shared<Texts>(file, meshes, options);
  const auto& forms = texts->forms;
  problem::Problem result{.title = file.title,
                          .unknowns = forms.fields(),
                          .data = texts->data.named_values(),
                          .solver = file.solver,
                          .newton = file.newton,
                          .preconditioner = preconditioner_of(file, meshes),
                          .statement = statement_of(texts),
                          .is_preconditioner_chosen = !file.has_preconditioner,
                          .is_iterated = file.has_iteration_keys,
                          .is_residual = file.forms.F.has_value()};
  if (!file.has_solver_method) result.solver.method.clear();
  if (is_preconditioner_open(file)) result.solver.preconditioner.clear();
  if (file.time)
    state_time(*file.time, texts, result);
  else if (file.forms.F)
    result.F = forms.residual();
  else {
    result.a = forms.bilinear();
    result.L = forms.linear();
  }
  if (file.forms.preconditioner) result.preconditioner.block_form = forms.preconditioner();
  options.dirichlet = make_conditions(*texts);
  result.null_space = null_space_of(texts->file, texts->system);
  if (!file.time || file.time->restart.empty()) result.initial = initial_state(*texts, options.shared_device);
  result.functionals = functionals_of(*texts);
  result.check = check_of(texts);
  result.output = output_of(*texts);
  result.discretisation = std::move(options);
  return result;
}

} // namespace rafter::app

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/level_hierarchy.hpp>

#include <algorithm>
#include <map>
#include <ranges>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/operator/compiled_transfer.hpp>

namespace rafter::op {
namespace {

int highest(const std::vector<int>& degrees) { return *std::ranges::max_element(degrees); }

/// The degrees after one more p-step; the same where there is none.
std::vector<int> lowered(const std::vector<int>& degrees, const Coarsening& coarsening) {
  auto result = degrees;
  if (coarsening.degrees.empty()) {
    const int largest = coarsening.largest_step > 0 ? coarsening.largest_step : highest(degrees);
    for (int& degree : result) degree = std::max({degree / 2, degree - largest, 1});
    return result;
  }
  const auto next = std::ranges::find_if(coarsening.degrees, [&](int d) { return d < highest(degrees); });
  if (next != coarsening.degrees.end())
    for (int& degree : result) degree = std::max(degree - (highest(degrees) - *next), 1);
  return result;
}

void require_descending(const std::vector<int>& degrees) {
  for (std::size_t i = 0; i < degrees.size(); ++i)
    if (degrees[i] < 1 || (i > 0 && degrees[i] >= degrees[i - 1]))
      throw base::InputError(fmt::format("multigrid: degrees [{}] of levels; accepted: numbers from 1 on that descend",
                                         fmt::join(degrees, ", ")));
}

/// Chooses the steps of the degrees by the shapes of cells.
Coarsening chosen(Coarsening coarsening, const mesh::Mesh& mesh) {
  const auto has_dense_cells = std::ranges::any_of(mesh.groups, [](const auto& group) {
    using enum element::Shape;
    return group.shape != interval && group.shape != quadrilateral && group.shape != hexahedron;
  });
  if (coarsening.largest_step == 0 && has_dense_cells) coarsening.largest_step = 2;
  return coarsening;
}

/// The rule of a level whose highest degree is lower by `by`.
QuadratureOptions lowered(QuadratureOptions rule, int degree, int by) {
  for (auto* points : {&rule.points, &rule.tensor_points})
    if (*points) *points = std::max(**points - by, std::min(**points, degree + 1));
  return rule;
}

/// A system on this discretisation with the fields of another one, of these degrees.
System system_like(const System& like, const std::shared_ptr<const space::Discretisation>& discretisation,
                   const std::vector<int>& degrees) {
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  for (std::size_t f = 0; f < like.spaces.size(); ++f) {
    const auto& space = *like.spaces[f];
    spaces.push_back(space::FunctionSpace::make(discretisation, {.family = element::family_from_name(space.family),
                                                                 .degree = degrees[f],
                                                                 .components = space.components,
                                                                 .name = space.name}));
  }
  return make_system(std::move(spaces));
}

/// The same conditions on the spaces of a level, with values 0.
space::Constraints constraints_like(const HierarchySpecification& specification, const System& system) {
  auto conditions = specification.conditions;
  for (auto& condition : conditions) {
    condition.space = system.spaces[specification.system.index_of(*condition.space)];
    condition.expression = nullptr;
    condition.condition.value = [](std::span<const double>, std::span<double> values) {
      std::ranges::fill(values, 0.0);
    };
  }
  return make_constraints(system, conditions);
}

void require_servable(const HierarchySpecification& specification, const form::LoweredForm& form) {
  const auto* meshes = specification.meshes.get();
  if (meshes == nullptr || meshes->meshes.empty())
    throw base::InputError("multigrid: it has no meshes; accepted are those that the operator's mesh was refined from, "
                           "and itself as the last");
  if (meshes->refinements.size() + 1 != meshes->meshes.size() || meshes->finest() != specification.system.mesh)
    throw base::InputError("multigrid: the finest of the meshes is not the one of the operator");
  if (form.fields.empty()) return;
  throw base::InputError(fmt::format("multigrid: the form has data fields ({}), whose values this version does not "
                                     "bring to coarser levels; accepted are coefficients that are numbers, values by "
                                     "tag and expressions of x, or another preconditioner",
                                     base::join(form.field_names, ", ")));
}

GeneratedLevel generate_level(const HierarchySpecification& specification, LevelPlace place, System system) {
  // A cycle applies the operator of a level some four times, and a solve takes some ten cycles.
  constexpr double applications = 60;
  auto kernels = specification.kernels;
  if (!specification.keeps_plan) kernels.plan.reset();
  kernels.num_applications = applications;
  int degree_of_finest = 1;
  for (const auto& space : specification.system.spaces) degree_of_finest = std::max(degree_of_finest, space->degree);
  kernels.quadrature = lowered(kernels.quadrature, highest(place.degrees), degree_of_finest - highest(place.degrees));
  std::vector<form::SpacePair> spaces;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    spaces.emplace_back(specification.system.spaces[f], system.spaces[f]);
  const auto form = form::lower(form::arguments_on(specification.form, spaces));
  GeneratedLevel result{.place = std::move(place),
                        .system = std::move(system),
                        .constraints = {},
                        .action = nullptr,
                        .diagonal = nullptr,
                        .kernel_seconds = 0};
  result.constraints = constraints_like(specification, result.system);
  const double begin = base::cpu_seconds();
  result.action = build_form(form, result.system, Purpose::action, kernels);
  if (result.action->matrix == nullptr) result.diagonal = build_form(form, result.system, Purpose::diagonal, kernels);
  result.kernel_seconds = base::cpu_seconds() - begin;
  return result;
}

/// Gives a level the constants and parameters of the finest one.
void take_parameters(Operator& level, const Operator& finest) {
  const auto& components = finest.form().parameters;
  const auto values = finest.data().parameters().host_read();
  std::map<std::string, std::vector<double>> by_name;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const auto& coefficient = *components[i].coefficient;
    auto& of_name = by_name.try_emplace(coefficient.name, coefficient.values).first->second;
    of_name[static_cast<std::size_t>(components[i].component)] = values[i];
  }
  for (const auto& [name, of_name] : by_name) level.set(name, of_name);
}

} // namespace

std::vector<CoarseningStep> parse_coarsening_steps(const std::string& text) {
  std::vector<CoarseningStep> result;
  for (const auto& word : base::split(text, ',')) {
    if (word != "p" && word != "h")
      throw base::InputError(fmt::format("coarsening \"{}\"; accepted: \"p,h\", \"h,p\", \"p\", \"h\"", text));
    result.push_back(word == "p" ? CoarseningStep::p : CoarseningStep::h);
  }
  return result;
}

std::vector<LevelPlace> coarser_places(const LevelPlace& finest, const Coarsening& coarsening) {
  require_descending(coarsening.degrees);
  std::vector<LevelPlace> result;
  auto place = finest;
  for (const auto step : coarsening.steps) do {
      auto next = place;
      if (step == CoarseningStep::p)
        next.degrees = lowered(place.degrees, coarsening);
      else if (place.generation > 0)
        --next.generation;
      if (next == place && !coarsening.repeats_steps)
        throw base::InputError(
            step == CoarseningStep::p
                ? "multigrid: a step p of the list finds degree 1 alone, or no lower degree in `degrees`"
                : "multigrid: a step h of the list finds no coarser mesh");
      if (next == place) break;
      result.push_back(place = std::move(next));
    } while (coarsening.repeats_steps);
  return result;
}

std::vector<GeneratedLevel> generate_levels(const HierarchySpecification& specification) {
  require_servable(specification, form::lower(specification.form));
  const auto& meshes = *specification.meshes;
  LevelPlace finest{.generation = meshes.meshes.size() - 1, .degrees = {}};
  for (const auto& space : specification.system.spaces) finest.degrees.push_back(space->degree);
  auto discretisation = specification.system.discretisation;
  std::vector<GeneratedLevel> result;
  std::int64_t num_unknowns = specification.system.num_unknowns();
  for (auto& place : coarser_places(finest, chosen(specification.coarsening, *meshes.finest()))) {
    if (num_unknowns <= specification.coarsening.enough_unknowns) break;
    const auto& mesh = meshes.meshes[place.generation];
    if (discretisation->mesh_ptr() != mesh) // the first level of a mesh has the highest degree there
      discretisation = std::make_shared<const space::Discretisation>(
          mesh, space::DiscretisationOptions{.degree = highest(place.degrees)});
    auto system = system_like(specification.system, discretisation, place.degrees);
    num_unknowns = system.num_unknowns();
    result.push_back(generate_level(specification, std::move(place), std::move(system)));
  }
  std::ranges::reverse(result);
  return result;
}

std::vector<std::shared_ptr<GeneratedForm>> kernels_of(std::span<const GeneratedLevel> levels) {
  std::vector<std::shared_ptr<GeneratedForm>> result;
  for (const auto& level : levels)
    for (const auto& form : {level.action, level.diagonal})
      if (form != nullptr) result.push_back(form);
  return result;
}

std::vector<Level> make_levels(std::vector<GeneratedLevel> generated, const Operator& finest,
                               const mesh::Generations& meshes, const TransferFactory& make) {
  const TransferFactory compiled = [&finest](const TransferSpecification& of) {
    return make_transfer(of, {.device = finest.device(), .plan = {}, .planner = finest.built().options.planner});
  };
  std::vector<Level> result;
  for (auto& level : generated) {
    auto A = std::make_shared<Operator>(level.action, std::move(level.constraints), level.diagonal);
    take_parameters(*A, finest);
    result.push_back({std::move(level.place), std::move(level.system), std::move(A), nullptr});
  }
  for (std::size_t l = 0; l < result.size(); ++l) {
    const bool is_last = l + 1 == result.size();
    const Operator& finer = is_last ? finest : *result[l + 1].A;
    const bool is_on_same_mesh = finer.system().mesh == result[l].system.mesh;
    const TransferSpecification of{.coarse = result[l].system,
                                   .fine = finer.system(),
                                   .constrained_coarse = result[l].A->constraints().entries,
                                   .constrained_fine = finer.constraints().entries,
                                   .refinement =
                                       is_on_same_mesh ? nullptr : &meshes.refinements[result[l].place.generation]};
    result[l].to_finer = make ? make(of) : compiled(of);
  }
  return result;
}

std::string describe_level(const System& system) {
  std::vector<std::string> degrees;
  for (const auto& space : system.spaces) degrees.push_back(std::to_string(space->degree));
  return fmt::format("degree{} {} on {} cells", degrees.size() > 1 ? "s" : "", base::join(degrees, ", "),
                     system.mesh->num_cells());
}

} // namespace rafter::op

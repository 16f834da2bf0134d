// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/level_hierarchy.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/form/bilinear_parts.hpp>
#include <rafter/form/degree.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/sampled_integrand.hpp>
#include <rafter/operator/levels/compiled_transfer.hpp>
#include <rafter/operator/levels/node_transfer.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

int highest(const std::vector<int>& degrees) { return *std::ranges::max_element(degrees); }

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

/// The degree that rules of all levels are exact for, at least: 0, but where coefficients jump within cells that of the
/// finest level. With points of their own, levels would see the jumps elsewhere, and corrections that are wrong by the
/// jump take hundreds of iterations (docs/decisions/0088).
int least_degree_of_levels(const form::LoweredForm& form, const HierarchySpecification& specification) {
  constexpr double large = 10, very_large = 1e4;
  const double jump = largest_jump_within_cells(form, specification.system, specification.parameters);
  if (jump < large) return 0;
  if (jump >= very_large)
    base::warn_once(fmt::format(
        "multigrid: coefficients change within cells by {}: iterations may be many, since polynomials on a cell do not "
        "know where; meshes whose facets follow the change take few",
        std::isfinite(jump) ? fmt::format("factors up to {:.1g}", jump) : "any factor (they vanish)"));
  int result = 0;
  for (const auto& integral : form.integrals)
    if (integral.measure.kind == form::MeasureKind::cell)
      result = std::max(result,
                        form::choose_quadrature_degree(integral, specification.kernels.quadrature.max_degree).degree);
  return result;
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
  require_names_apart(form);
}

form::LoweredForm form_on(const HierarchySpecification& specification, const std::vector<form::SpacePair>& spaces) {
  return form::symmetric_part(specification.form_on ? specification.form_on(spaces)
                                                    : form::lower(form::on(specification.form, spaces)));
}

/// Puts the data fields of the finest level on spaces of coarser ones, from level to level.
class DataSpaces {
public:
  DataSpaces(const System& finest, const form::LoweredForm& form) {
    for (const auto& field : form.fields) {
      const bool is_known = std::ranges::find(finest_, field) != finest_.end();
      const bool is_unknown =
          std::ranges::any_of(finest.spaces, [&](const auto& space) { return space == field; }); // follows the system
      if (is_known || is_unknown) continue;
      finest_.push_back(std::dynamic_pointer_cast<const space::FunctionSpace>(field));
      if (finest_.back() == nullptr)
        throw base::InputError(
            fmt::format("multigrid: data field on '{}' has no mesh: use a FunctionSpace", field->name));
    }
    spaces_ = finest_;
  }

  /// The spaces of the next level, on its discretisation, beside those of the finest.
  std::vector<form::SpacePair> on(const std::shared_ptr<const space::Discretisation>& discretisation, int highest) {
    std::vector<form::SpacePair> result;
    for (std::size_t i = 0; i < spaces_.size(); ++i) {
      const auto& finer = *spaces_[i];
      const int degree = std::min(finer.degree, highest);
      if (finer.discretisation() != discretisation || finer.degree != degree)
        spaces_[i] = space::FunctionSpace::make(discretisation, {.family = element::family_from_name(finer.family),
                                                                 .degree = degree,
                                                                 .components = finer.components,
                                                                 .name = finer.name,
                                                                 .is_broken = finer.is_broken()});
      result.emplace_back(finest_[i], spaces_[i]);
    }
    return result;
  }

private:
  using Spaces = std::vector<std::shared_ptr<const space::FunctionSpace>>;
  Spaces finest_, spaces_; ///< spaces of the finest level and of the last that was made, shape (space)
};

/// Integrals of degree 1 with points at the vertices are those of the Gauss-Lobatto rule of the finer cell but for the
/// weights, so that masses are diagonal, and the matrix of a Laplacian on parallelepipeds couples neighbours along the
/// axes alone: smoothed aggregation knows weak directions by their signs. Other shapes have Gauss rules.
QuadratureOptions rule_at_vertices() {
  QuadratureOptions result;
  result.kind = element::QuadratureKind::gll;
  result.tensor_points = 2;
  return result;
}

GeneratedLevel generate_level(const HierarchySpecification& specification, LevelPlace place, System system,
                              std::vector<form::SpacePair> spaces, schedule::Precision precision, int least_degree) {
  // A cycle applies the operator of a level some four times, and a solve takes some ten cycles.
  constexpr double applications = 60;
  auto kernels = specification.kernels;
  if (!specification.keeps_plan) kernels.plan.reset();
  kernels.num_applications = applications;
  kernels.precision = precision;
  int degree_of_finest = 1;
  for (const auto& space : specification.system.spaces) degree_of_finest = std::max(degree_of_finest, space->degree);
  if (place.is_low_order_refined)
    kernels.quadrature = rule_at_vertices();
  else if (least_degree == 0)
    kernels.quadrature = lowered(kernels.quadrature, highest(place.degrees), degree_of_finest - highest(place.degrees));
  kernels.quadrature.least_degree = least_degree;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    spaces.emplace_back(specification.system.spaces[f], system.spaces[f]);
  const auto form = form_on(specification, spaces);
  GeneratedLevel result{.place = std::move(place),
                        .system = std::move(system),
                        .constraints = {},
                        .action = nullptr,
                        .diagonal = nullptr,
                        .kernel_seconds = 0,
                        .nodes = nullptr};
  result.constraints = constraints_like(specification, result.system);
  const double begin = base::cpu_seconds();
  result.action = build_form(form, result.system, Purpose::action, kernels);
  if (result.action->matrix == nullptr) result.diagonal = build_form(form, result.system, Purpose::diagonal, kernels);
  result.kernel_seconds = base::cpu_seconds() - begin;
  return result;
}

} // namespace

namespace {

std::shared_ptr<const space::LowOrderRefinement> refined_between_nodes(const space::FunctionSpace& space) {
  try {
    return space::low_order_refinement(space);
  } catch (const base::InputError& error) {
    throw CoarseningError(fmt::format("multigrid: coarsening \"lor\": {}", error.what()));
  }
}

} // namespace

int level_cells_per_batch(schedule::Precision precision, int highest_degree) {
  constexpr int highest_degree_of_patches = 2;
  const int usual = mesh::CellBatches().cells_per_batch;
  const bool is_single = precision == schedule::Precision::single_precision;
  return is_single && highest_degree > highest_degree_of_patches ? 2 * usual : usual;
}

std::vector<GeneratedLevel> generate_levels(const HierarchySpecification& specification) {
  const auto form = form_on(specification, {});
  require_servable(specification, form);
  const int least_degree = least_degree_of_levels(form, specification);
  DataSpaces data(specification.system, form);
  const auto& meshes = *specification.meshes;
  LevelPlace finest{.generation = meshes.meshes.size() - 1, .degrees = {}};
  for (const auto& space : specification.system.spaces) finest.degrees.push_back(space->degree);
  auto discretisation = specification.system.discretisation;
  std::vector<GeneratedLevel> result;
  std::int64_t num_unknowns = specification.system.num_unknowns();
  auto above = specification.system;
  auto places = coarser_places(finest, chosen(specification.coarsening, *meshes.finest()), meshes.refinements);
  // Says, as a rule, whether cells are stretched where meshes end: lower degrees alone help little then.
  bool is_still_stretched = false;
  const auto are_enough = [&] {
    return num_unknowns <= (is_still_stretched ? 10 : 1) * specification.coarsening.enough_unknowns;
  };
  for (auto& place : places) {
    if (are_enough()) break;
    std::shared_ptr<const space::LowOrderRefinement> nodes;
    if (place.is_low_order_refined) nodes = refined_between_nodes(*above.spaces.front());
    const auto& mesh = nodes != nullptr ? nodes->mesh : meshes.meshes[place.generation];
    if (discretisation->mesh_ptr() != mesh) // the first level of a mesh has the highest degree there
      discretisation = std::make_shared<const space::Discretisation>(
          mesh, space::DiscretisationOptions{
                    .degree = highest(place.degrees),
                    .cells_per_batch = level_cells_per_batch(specification.kernels.precision, highest(place.degrees))});
    auto system = system_like(specification.system, discretisation, place.degrees);
    num_unknowns = system.num_unknowns();
    above = system;
    is_still_stretched = place.generation <= 1 && meshes.meshes.size() > 1 && meshes.refinements[0].is_partial();
    auto spaces = data.on(discretisation, highest(place.degrees));
    const bool is_coarsest = are_enough() || &place == &places.back();
    result.push_back(generate_level(
        specification, std::move(place), std::move(system), std::move(spaces),
        is_coarsest ? schedule::Precision::double_precision : specification.kernels.precision, least_degree));
    result.back().nodes = std::move(nodes);
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
  std::vector<std::shared_ptr<Operator>> operators;
  for (auto& level : generated)
    operators.push_back(std::make_shared<Operator>(level.action, std::move(level.constraints), level.diagonal));
  std::vector<Level> result(generated.size());
  std::shared_ptr<const Operator> finer(std::shared_ptr<void>(), &finest);
  // Cycles are on vectors of floats where the operators of all levels but the coarsest are, as those of multigrid in
  // single precision. The plan of an operator may ask for floats on its own level alone, which then takes doubles, too.
  const auto is_single = [](const auto& A) { return A->is_single(); };
  const auto finer_ones = std::span(operators).subspan(operators.empty() ? 0 : 1);
  const auto precision = finest.is_single() && std::ranges::all_of(finer_ones, is_single)
                             ? schedule::Precision::single_precision
                             : schedule::Precision::double_precision;
  for (std::size_t l = result.size(); l-- > 0; finer = operators[l]) { // data follow those of the finer level
    auto& level = generated[l];
    const auto* refinement = level.nodes != nullptr || finer->system().mesh == level.system.mesh
                                 ? nullptr
                                 : &meshes.refinements[level.place.generation];
    const TransferSpecification of{.coarse = level.system,
                                   .fine = finer->system(),
                                   .constrained_coarse = operators[l]->constraints().entries,
                                   .constrained_fine = finer->constraints().entries,
                                   .refinement = refinement};
    auto data = std::make_shared<LevelData>(finer, operators[l], refinement, level.nodes);
    data->follow();
    const auto transfer = [&]() -> std::shared_ptr<const Transfer> {
      if (level.nodes != nullptr)
        return std::make_shared<const NodeTransfer>(of, *level.nodes, finest.device(), precision);
      if (make) return make(of);
      return make_transfer(
          of,
          {.device = finest.device(), .plan = {}, .precision = precision, .planner = finest.built().options.planner});
    };
    result[l] = {std::move(level.place), std::move(level.system), operators[l], transfer(), std::move(data)};
  }
  return result;
}

std::string describe_level(const Level& level) {
  return (level.place.is_low_order_refined ? "low-order-refined, " : "") + describe_level(level.system);
}

std::string describe_level(const System& system) {
  std::vector<std::string> degrees;
  for (const auto& space : system.spaces) degrees.push_back(std::to_string(space->degree));
  return fmt::format("degree{} {} on {} cells", degrees.size() > 1 ? "s" : "", base::join(degrees, ", "),
                     system.mesh->num_cells());
}

} // namespace rafter::op

// SPDX-License-Identifier: BSD-3-Clause
#include "discretisation.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/io/unused_keys.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/mesh/touching.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/problem/memory.hpp>
#include <rafter/space/function_space.hpp>

#include "stated_problem.hpp"

namespace rafter::app {
namespace {

space::SpaceOptions options_of(const io::Field& field) {
  return {.family = field.family, .degree = field.degree, .components = field.components, .name = field.name};
}

/// What a solve of the problem keeps in memory.
problem::SolveMemory memory_of(const io::Problem& problem) {
  problem::SolveMemory result{.source = problem.source};
  for (const auto& field : problem.fields) result.fields.push_back(options_of(field));
  const auto& box = problem.mesh.box;
  const problem::LevelMemory levels{.exist = uses_multigrid(problem),
                                    .precision = problem.level_precision,
                                    .are_halved_along_one_axis =
                                        box && box->cells.size() > 1 &&
                                        mesh::num_halved_axes(*box, problem.box_coarsening) == 1};
  int null_vectors = 0;
  for (const auto& constraint : problem.constraints)
    null_vectors +=
        problem::num_null_space_vectors(kind_of(constraint.kind), problem.fields[constraint.field].num_components());
  result.num_vectors = problem::num_vectors(problem.solver, levels, null_vectors);
  return result;
}

/// Returns the factor by which refinement multiplies the number of cells.
double refinement_factor(const io::Problem& problem, int dim) { return std::ldexp(1.0, dim * problem.mesh.refine); }

/// Refuses a box that is too large, or whose cells are so small or large that their volumes are no numbers. A corner of
/// the box stands for all of it: its cells are equal but for rounding, and conform by construction.
void require_box_fits(const io::Problem& problem) {
  constexpr int sample_cells = 4; // per direction; a mixed box needs as many along x, one for each shape
  auto sample = *problem.mesh.box;
  double factor = refinement_factor(problem, static_cast<int>(sample.cells.size()));
  if (sample.size.empty()) sample.size.assign(sample.cells.size(), 1.0);
  const bool has_lengths = sample.size.size() == sample.cells.size() &&
                           std::ranges::all_of(sample.size, [](double x) { return x > 0 && std::isfinite(x); });
  for (std::size_t d = 0; d < sample.cells.size(); ++d) {
    const int n = sample.cells[d];
    sample.cells[d] = std::min(n, sample_cells);
    factor *= static_cast<double>(n) / sample.cells[d];
    if (has_lengths) sample.size[d] *= static_cast<double>(sample.cells[d]) / n;
  }
  const auto corner = mesh::make_box(sample); // throws for what the box cannot be, too
  problem::require_sample_fits(memory_of(problem), corner, factor);
  require_valid(corner);
}

/// Returns what `identify` makes of the pairs of facets that [[periodic]] names.
template <class Identify>
auto with_periodic_facets(const io::Problem& problem, const mesh::Mesh& mesh, const Identify& identify) {
  std::vector<mesh::PeriodicPair> pairs;
  for (std::size_t i = 0; i < problem.periodic.size(); ++i) {
    const auto& pair = problem.periodic[i];
    for (const auto* side : {&pair.from, &pair.to})
      for (std::size_t t = 0; t < side->tags.size(); ++t) try {
          static_cast<void>(mesh::tags_for(mesh, side->tags[t], mesh::TagUse::periodic));
        } catch (const base::InputError& error) {
          throw base::InputError(fmt::format("{}: periodic[{}].{}: {}", side->places[t].text(), i,
                                             side == &pair.from ? "from" : "to", error.what()));
        }
    pairs.push_back({.from = pair.from.tags, .to = pair.to.tags, .tolerance = pair.tolerance});
  }
  try {
    return identify(pairs);
  } catch (const base::InputError& error) {
    throw base::InputError(fmt::format("{}: periodic: {}", problem.periodic[0].location.text(), error.what()));
  }
}

/// Reads the mesh of a problem, and warns of parts that touch without sharing nodes.
mesh::Mesh read_mesh(const io::MeshSource& source) {
  const auto read = [&source] {
    try {
      return mesh::read_mesh(source.file, source.read_options);
    } catch (const mesh::MergeError& error) {
      throw base::InputError(fmt::format("{}: mesh.merge: {}", source.merge_location.text(), error.what()));
    }
  };
  auto result = read();
  if (const auto touching = mesh::find_touching(result))
    base::warn(fmt::format("{}: {}: {}; mesh.merge = {:.0e} in the problem file makes nodes one that are closer than "
                           "that, unless the mesh is meant to be open there",
                           source.location.text(), source.file, mesh::describe(result, *touching), touching->length));
  return result;
}

/// Returns the mesh of a problem from what was generated or read.
std::shared_ptr<const mesh::Mesh> refined_mesh(const io::Problem& problem, mesh::Mesh result) {
  const auto& source = problem.mesh;
  if (source.refine > 0) {
    require_valid(result); // messages name cells of the file, not refined ones
    if (!source.box) problem::require_sample_fits(memory_of(problem), result, refinement_factor(problem, result.tdim));
    result = result.refined(source.refine);
  }
  if (source.refine > 0) require_valid(result); // what is read is valid, and boxes are
  if (!problem.periodic.empty())
    result = with_periodic_facets(problem, result, [&](const auto& pairs) { return result.periodic(pairs); });
  return std::make_shared<const mesh::Mesh>(std::move(result));
}

} // namespace

std::shared_ptr<const mesh::Mesh> make_mesh(const io::Problem& problem) {
  const auto& source = problem.mesh;
  if (source.box) require_box_fits(problem);
  return refined_mesh(problem, source.box ? mesh::make_box(*source.box) : read_mesh(source));
}

bool uses_multigrid(const io::Problem& problem) {
  return problem::uses_multigrid(preconditioner_of(problem), problem.solver.method);
}

bool is_preconditioner_open(const io::Problem& problem) {
  return !problem.has_preconditioner && !problem.forms.F && !problem.time && problem.fields.size() == 1 &&
         problem.constraints.empty();
}

mesh::Generations make_meshes(const io::Problem& problem) {
  const auto& source = problem.mesh;
  std::optional<mesh::Mesh> read;
  if (source.box)
    require_box_fits(problem);
  else
    read = read_mesh(source);
  if (!uses_multigrid(problem) && !is_preconditioner_open(problem)) {
    auto mesh = refined_mesh(problem, read ? std::move(*read) : mesh::make_box(*source.box));
    return {.meshes = {std::move(mesh)}, .refinements = {}};
  }
  mesh::Generations result;
  if (source.box) {
    result = mesh::box_generations(*source.box, source.refine, problem.box_coarsening);
  } else {
    auto coarsest = std::make_shared<const mesh::Mesh>(std::move(*read));
    if (source.refine > 0) {
      require_valid(*coarsest); // messages name cells of the file, not refined ones
      problem::require_sample_fits(memory_of(problem), *coarsest, refinement_factor(problem, coarsest->tdim));
    }
    result = mesh::refined_generations(std::move(coarsest), source.refine);
  }
  if (source.refine > 0) require_valid(*result.finest());
  if (!problem.periodic.empty())
    result = with_periodic_facets(problem, *result.finest(),
                                  [&](const auto& pairs) { return mesh::periodic_generations(result, pairs); });
  return result;
}

namespace {

/// Warns of Gauss-Lobatto rules where no cell, and no facet of an integral, has one.
void warn_of_unused_rule(const io::Problem& problem, const mesh::Mesh& mesh) {
  if (problem.numerics.quadrature != element::QuadratureKind::gll) return;
  std::string texts = problem.forms.main().text + problem.forms.L.value_or(io::Expression()).text;
  for (const auto& functional : problem.functionals) texts += functional.form.text;
  for (const auto& definition : problem.definitions) texts += definition.expression.text;
  const bool may_have_facets = texts.find("ds") != std::string::npos;
  for (const auto& group : mesh.groups) {
    if (element::is_tensor(group.shape)) return;
    for (int f = 0; f < element::num_facets(group.shape); ++f)
      if (may_have_facets && element::is_tensor(element::facet_shape(group.shape, f))) return;
  }
  io::warn_unused(problem, "numerics.quadrature",
                  "Gauss-Lobatto rules are for intervals, quadrilaterals and hexahedra, of which forms have none here");
}

} // namespace

op::System make_system(const io::Problem& problem, const std::shared_ptr<const mesh::Mesh>& mesh, int cells_per_batch) {
  warn_of_unused_rule(problem, *mesh);
  int degree = 1;
  for (const auto& field : problem.fields) degree = std::max(degree, field.degree);
  cells_per_batch = std::max(cells_per_batch, op::level_cells_per_batch(problem.level_precision, degree));
  const auto discretisation = std::make_shared<const space::Discretisation>(
      mesh, space::DiscretisationOptions{.degree = degree, .cells_per_batch = cells_per_batch});
  problem::require_fits(memory_of(problem), *mesh, discretisation->batches());
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  for (const auto& field : problem.fields)
    spaces.push_back(space::FunctionSpace::make(discretisation, options_of(field)));
  return op::make_system(std::move(spaces));
}

void require_no_other_all(const mesh::Mesh& mesh, const std::string& place) {
  std::vector<std::int32_t> numbers;
  try {
    numbers = mesh.tags_of("all", mesh.tdim - 1);
  } catch (const base::InputError&) {
    return; // no group has the name
  }
  const auto& tags = mesh.surface().exterior_tags;
  const auto count = std::ranges::count_if(tags, [&](std::int32_t t) { return std::ranges::count(numbers, t) > 0; });
  if (count == std::ssize(tags)) return;
  std::vector<std::string> texts;
  for (const auto number : numbers) texts.push_back(std::to_string(number));
  throw base::InputError(
      fmt::format("{}\"all\" stands for the whole boundary of {} facets, and the mesh has a group of "
                  "this name with {} of them: name the group by its number ({}), or all groups in a list",
                  place, tags.size(), count, base::join(texts, ", ")));
}

} // namespace rafter::app

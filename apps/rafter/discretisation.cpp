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
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/space/function_space.hpp>

#include "expected_work.hpp"
#include "null_space.hpp"

namespace rafter::app {
namespace {

/// Counts the faces of one shape: an inner face has two cells, so that each of its sides counts one half.
double count_faces(const mesh::Mesh& mesh, element::Shape face_shape) {
  double sides = 0;
  const auto count_side = [&](element::Shape cell, int facet, double times) {
    if (element::facet_shape(cell, facet) == face_shape) sides += times;
  };
  for (const auto& group : mesh.groups)
    for (int f = 0; f < element::num_facets(group.shape); ++f) count_side(group.shape, f, group.num_cells());
  for (const auto& facet : mesh.surface().exterior_facets)
    count_side(mesh.groups[static_cast<std::size_t>(facet.group)].shape, facet.facet, 1);
  return sides / 2;
}

double interior_dofs(const io::Field& field, element::Shape shape) {
  const auto element = element::make_element(field.family, shape, field.degree);
  return static_cast<double>(element->entity_dofs(element::dimension(shape), 0).size());
}

/// Counts the nodes of a field, which are its unknowns per component.
double count_nodes(const io::Field& field, const mesh::Mesh& mesh) {
  double count = mesh.num_distinct_vertices();
  if (const double per_edge = interior_dofs(field, element::Shape::interval); mesh.tdim > 1 && per_edge > 0)
    count += mesh.topology().num_representatives(1) * per_edge;
  if (mesh.tdim > 2)
    for (const auto shape : {element::Shape::triangle, element::Shape::quadrilateral})
      count += count_faces(mesh, shape) * interior_dofs(field, shape);
  for (const auto& group : mesh.groups) count += group.num_cells() * interior_dofs(field, group.shape);
  return count;
}

bool has_single_levels(const io::Problem& problem) {
  return problem.level_precision == schedule::Precision::single_precision;
}

/// Returns the number of vectors of the system's length that the levels of multigrid keep.
double num_vectors_of_multigrid(const io::Problem& problem) {
  if (!uses_multigrid(problem)) return 0;
  // The finest level keeps the four vectors of its smoother and a residual. Coarser ones keep a right-hand side and a
  // solution, too; together they have less than half as many unknowns, but where boxes lose their stretch along one
  // axis, as many.
  const auto& box = problem.mesh.box;
  const bool is_halved_along_one_axis =
      box && box->cells.size() > 1 && mesh::num_halved_axes(*box, problem.box_coarsening) == 1;
  const double result = 5 + (is_halved_along_one_axis ? 7 : 3);
  return has_single_levels(problem) ? 0.5 * result + 1 : result; // with a right-hand side and a solution in floats
}

/// Returns the number of vectors of the system's length that a solve keeps: solution, right-hand side, diagonal,
/// boundary values and what the method needs.
double num_vectors(const io::Problem& problem) {
  const auto& options = problem.solver;
  constexpr double conjugate_gradients = 4;
  const double common = 6 + num_null_space_vectors(problem), multigrid = num_vectors_of_multigrid(problem);
  constexpr double minimal_residuals = 8, stabilised = 7;
  if (options.method == "minres") return common + multigrid + minimal_residuals;
  if (options.method == "bicgstab") return common + multigrid + stabilised;
  if (options.method != "gmres") return common + multigrid + conjugate_gradients;
  // Flexible steps keep the image of each vector under the preconditioner, too.
  const bool is_flexible = uses_multigrid(problem) && (has_single_levels(problem) || options.multigrid.coarse_rtol > 0);
  const int kept = std::min(options.restart, options.control.iteration_limit());
  return common + multigrid + (is_flexible ? 2 : 1) * kept + 1;
}

[[noreturn]] void refuse_size(const io::Problem& problem, double unknowns, double cells, double needed,
                              const std::string& advice = "refine less or lower the degree") {
  throw base::EnvironmentError(fmt::format("{}: the problem has {:.4g} unknowns on {:.4g} cells and needs about {:.1f} "
                                           "GB of memory; {:.1f} GB may be used here: {}",
                                           problem.source, unknowns, cells, 1e-9 * needed,
                                           1e-9 * mesh::available_memory_bytes(), advice));
}

/// Returns the bytes of the index tables of `num_cells` cells of one shape.
double table_bytes(const io::Problem& problem, element::Shape shape, double num_cells) {
  constexpr double bytes_per_run = 8;
  const int dim = element::dimension(shape);
  double runs = 0;
  for (int d = 0; d < dim; ++d) runs += element::num_entities(shape, d);
  return num_cells * runs * bytes_per_run * static_cast<double>(problem.fields.size());
}

/// Returns the volume of a shape relative to a cube. A mesh has about p^dim times this number of nodes per cell of
/// degree p.
double part_of_cube(element::Shape shape) {
  switch (shape) {
  case element::Shape::triangle:
  case element::Shape::prism:
    return 1.0 / 2;
  case element::Shape::pyramid:
    return 1.0 / 3;
  case element::Shape::tetrahedron:
    return 1.0 / 6;
  default:
    return 1;
  }
}

/// Refuses a problem before its mesh is made, from a sample of its cells: the mesh will have `factor` times as many of
/// each kind. Nodes on the boundary are not counted separately, so that large meshes are underestimated by a little.
void require_fits(const io::Problem& problem, const mesh::Mesh& sample, double factor) {
  double cells = 0, cubes = 0, bytes = 0;
  std::vector<mesh::PlannedCells> planned;
  for (const auto& block : mesh::make_cell_batches(sample).blocks) {
    const double count = factor * block.num_cells;
    cells += count;
    cubes += count * part_of_cube(block.shape);
    bytes += table_bytes(problem, block.shape, count);
    planned.push_back({block.shape, sample.groups[static_cast<std::size_t>(block.group)].degree, count});
  }
  double unknowns = 0;
  for (const auto& field : problem.fields)
    unknowns += field.num_components() * std::pow(field.degree, sample.tdim) * cubes;
  bytes += sizeof(double) * num_vectors(problem) * unknowns;
  // The mesh is refined before any vector exists, which may need more memory than the solve.
  bytes = std::max(bytes, mesh::estimate_mesh_bytes(cubes, planned));
  if (bytes > mesh::available_memory_bytes()) refuse_size(problem, unknowns, cells, bytes);
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
  require_fits(problem, corner, factor);
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
    if (!source.box) require_fits(problem, result, refinement_factor(problem, result.tdim));
    result = result.refined(source.refine);
  }
  if (source.refine > 0) require_valid(result); // what is read is valid, and boxes are
  if (!problem.periodic.empty())
    result = with_periodic_facets(problem, result, [&](const auto& pairs) { return result.periodic(pairs); });
  return std::make_shared<const mesh::Mesh>(std::move(result));
}

/// Returns about the number of unknowns of cells that are many, without numbering them: one per vertex of a lattice
/// within the cells.
double expected_unknowns(const io::Problem& problem, const std::optional<mesh::Mesh>& read) {
  const auto& source = problem.mesh;
  const auto count = [&problem](double cells_as_cubes, int tdim) {
    double result = 0;
    for (const auto& field : problem.fields)
      result += cells_as_cubes * std::pow(field.degree, tdim) * field.num_components();
    return std::ldexp(result, tdim * problem.mesh.refine);
  };
  double cubes = 1;
  if (source.box) {
    for (const int cells : source.box->cells) cubes *= cells;
    return count(cubes, static_cast<int>(source.box->cells.size()));
  }
  cubes = 0;
  for (const auto& group : read->groups)
    cubes += std::ldexp(element::reference_volume(group.shape), -read->tdim) * static_cast<double>(group.num_cells());
  return count(cubes, read->tdim);
}

/// Says whether the box of a problem is made of a coarser one (mesh::box_generations).
bool is_coarsened(const io::Problem& problem) {
  return problem.mesh.box && mesh::has_coarser_box(*problem.mesh.box, problem.box_coarsening);
}

/// Says whether a problem that names no preconditioner takes multigrid: where conjugate gradients are expected to run
/// for seconds with Jacobi, and there are coarser levels than the operator's own.
bool chooses_multigrid(const io::Problem& problem, double num_unknowns, int tdim) {
  const bool is_open = !problem.has_preconditioner && problem.solver.method == "cg" && !problem.forms.F &&
                       !problem.time && problem.fields.size() == 1 && problem.constraints.empty();
  const bool has_levels = problem.max_degree() > 1 || problem.mesh.refine > 0 || is_coarsened(problem);
  constexpr double seconds_per_unknown = 1e-8, long_seconds = 2;
  const double points = num_unknowns / problem.fields.front().num_components();
  const double iterations = expected_jacobi_iterations(points, tdim);
  return is_open && has_levels && iterations * num_unknowns * seconds_per_unknown > long_seconds;
}

} // namespace

std::shared_ptr<const mesh::Mesh> make_mesh(const io::Problem& problem) {
  const auto& source = problem.mesh;
  if (source.box) require_box_fits(problem);
  return refined_mesh(problem, source.box ? mesh::make_box(*source.box) : read_mesh(source));
}

bool uses_multigrid(const io::Problem& problem) {
  if (uses_blocks(problem)) return std::ranges::find(problem.blocks, "multigrid") != problem.blocks.end();
  return problem.solver.preconditioner == "multigrid" && !solvers::find_method(problem.solver.method).is_direct;
}

bool uses_blocks(const io::Problem& problem) {
  return problem.solver.preconditioner == "block" && !solvers::find_method(problem.solver.method).is_direct;
}

mesh::Generations make_meshes(io::Problem& problem) {
  const auto& source = problem.mesh;
  std::optional<mesh::Mesh> read;
  if (source.box)
    require_box_fits(problem);
  else
    read = read_mesh(source);
  const int tdim = read ? read->tdim : static_cast<int>(source.box->cells.size());
  if (chooses_multigrid(problem, expected_unknowns(problem, read), tdim)) problem.solver.preconditioner = "multigrid";
  if (!uses_multigrid(problem)) {
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
      require_fits(problem, *coarsest, refinement_factor(problem, coarsest->tdim));
    }
    result = mesh::refined_generations(std::move(coarsest), source.refine);
  }
  if (source.refine > 0) require_valid(*result.finest());
  if (!problem.periodic.empty())
    result = with_periodic_facets(problem, *result.finest(),
                                  [&](const auto& pairs) { return mesh::periodic_generations(result, pairs); });
  return result;
}

double count_unknowns(const io::Problem& problem, const mesh::Mesh& mesh) {
  double count = 0;
  for (const auto& field : problem.fields) count += field.num_components() * count_nodes(field, mesh);
  return count;
}

double estimate_bytes(const io::Problem& problem, const mesh::Mesh& mesh, const mesh::CellBatches& batches) {
  double bytes = sizeof(double) * num_vectors(problem) * count_unknowns(problem, mesh);
  for (const auto& block : batches.blocks) bytes += table_bytes(problem, block.shape, block.num_cells);
  return bytes;
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
  const double needed = estimate_bytes(problem, *mesh, discretisation->batches());
  if (needed > mesh::available_memory_bytes())
    refuse_size(problem, count_unknowns(problem, *mesh), static_cast<double>(mesh->num_cells()), needed);
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  for (const auto& field : problem.fields)
    spaces.push_back(space::FunctionSpace::make(
        discretisation,
        {.family = field.family, .degree = field.degree, .components = field.components, .name = field.name}));
  return op::make_system(std::move(spaces));
}

void require_stored_fits(const io::Problem& problem, const op::System& system, const PlannedForms& forms) {
  double kept = 0, passing = 0;
  const op::GeneratedBlock* largest = nullptr;
  const auto add_up = [&](const std::shared_ptr<op::GeneratedForm>& form) {
    double bytes = 0;
    for (const auto& piece : form->pieces) {
      bytes += op::stored_bytes(piece);
      if (largest == nullptr || op::stored_bytes(piece) > op::stored_bytes(*largest)) largest = &piece;
    }
    return bytes;
  };
  for (const auto& form : forms.kept) kept += add_up(form);
  for (const auto& form : forms.passing) passing = std::max(passing, add_up(form));
  const double needed = estimate_bytes(problem, *system.mesh, *system.batches) + kept + passing;
  if (needed <= mesh::available_memory_bytes()) return;
  const auto& kernel = largest->kernel;
  refuse_size(problem, static_cast<double>(system.size()), static_cast<double>(system.mesh->num_cells()), needed,
              fmt::format("{:.1f} GB of it is what kernels store, most of them '{}' with {} numbers at each of the {} "
                          "quadrature points of a cell; use fewer points (numerics.points), lower the degree, refine "
                          "less, or recompute (--plan \"factors=recompute\")",
                          1e-9 * (kept + passing), kernel.info.name, kernel.generation.stored_point_slots,
                          kernel.info.num_points));
}

std::vector<std::pair<std::string, std::int64_t>> cells_per_shape(const mesh::Mesh& mesh) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const auto& group : mesh.groups) {
    const std::string name(element::name(group.shape));
    const auto found =
        std::find_if(counts.begin(), counts.end(), [&](const auto& entry) { return entry.first == name; });
    if (found != counts.end())
      found->second += group.num_cells();
    else
      counts.emplace_back(name, group.num_cells());
  }
  return counts;
}

std::vector<std::string> field_names(const io::Problem& problem) {
  std::vector<std::string> result;
  for (const auto& field : problem.fields) result.push_back(field.name);
  return result;
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

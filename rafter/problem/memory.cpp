// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/memory.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/element/element.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/problem/request.hpp>

namespace rafter::problem {
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

double interior_dofs(const space::SpaceOptions& field, element::Shape shape) {
  const auto element = element::make_element(field.family, shape, field.degree);
  return static_cast<double>(element->entity_dofs(element::dimension(shape), 0).size());
}

/// Counts the nodes of a field, which are its unknowns per component.
double count_nodes(const space::SpaceOptions& field, const mesh::Mesh& mesh) {
  double count = mesh.num_distinct_vertices();
  if (const double per_edge = interior_dofs(field, element::Shape::interval); mesh.tdim > 1 && per_edge > 0)
    count += mesh.topology().num_representatives(1) * per_edge;
  if (mesh.tdim > 2)
    for (const auto shape : {element::Shape::triangle, element::Shape::quadrilateral})
      count += count_faces(mesh, shape) * interior_dofs(field, shape);
  for (const auto& group : mesh.groups) count += group.num_cells() * interior_dofs(field, group.shape);
  return count;
}

[[noreturn]] void refuse_size(const SolveMemory& solve, double unknowns, double cells, double needed,
                              const std::string& advice = "refine less or lower the degree") {
  throw base::EnvironmentError(at(
      solve.source, fmt::format("the problem has {:.4g} unknowns on {:.4g} cells and needs about {:.1f} GB of memory; "
                                "{:.1f} GB may be used here: {}",
                                unknowns, cells, 1e-9 * needed, 1e-9 * mesh::available_memory_bytes(), advice)));
}

/// Returns the bytes of the index tables of `num_cells` cells of one shape.
double table_bytes(std::size_t num_fields, element::Shape shape, double num_cells) {
  constexpr double bytes_per_run = 8;
  const int dim = element::dimension(shape);
  double runs = 0;
  for (int d = 0; d < dim; ++d) runs += element::num_entities(shape, d);
  return num_cells * runs * bytes_per_run * static_cast<double>(num_fields);
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

int components_of(const space::SpaceOptions& field) { return std::max(field.components, 1); }

/// Returns the number of vectors of the system's length that the levels of multigrid keep.
double num_vectors_of(const LevelMemory& levels) {
  if (!levels.exist) return 0;
  // The finest level keeps three vectors of its smoother, of degree 2, and a residual. Coarser ones keep a right-hand
  // side and a solution, too; together they have less than half as many unknowns, but where boxes lose their stretch
  // along one axis, as many.
  const double result = 4 + (levels.are_halved_along_one_axis ? 6 : 2);
  const bool are_single = levels.precision == schedule::Precision::single_precision;
  return are_single ? 0.5 * result + 1 : result; // with a right-hand side and a solution in floats
}

/// Returns the number of unknowns of fields on a mesh without allocating them.
double count_unknowns(std::span<const space::SpaceOptions> fields, const mesh::Mesh& mesh) {
  double count = 0;
  for (const auto& field : fields) count += components_of(field) * count_nodes(field, mesh);
  return count;
}

/// Returns a lower estimate of the bytes that a solve needs: vectors of the solver and index tables, but not what
/// kernels store.
double estimate_bytes(const SolveMemory& solve, const mesh::Mesh& mesh, const mesh::CellBatches& batches) {
  double bytes = sizeof(double) * solve.num_vectors * count_unknowns(solve.fields, mesh);
  for (const auto& block : batches.blocks) bytes += table_bytes(solve.fields.size(), block.shape, block.num_cells);
  return bytes;
}

} // namespace

int num_null_space_vectors(solvers::NullSpaceCondition::Kind kind, int num_components) {
  const int n = num_components;
  // Three vectors are kept per mode: the mode itself, its load vector, and its part of the orthonormal basis.
  return 3 * (kind == solvers::NullSpaceCondition::Kind::rigid_modes ? n * (n + 1) / 2 : n);
}

int num_null_space_vectors(std::span<const solvers::NullSpaceCondition> conditions) {
  int result = 0;
  for (const auto& condition : conditions)
    result += num_null_space_vectors(condition.kind, condition.space->num_components());
  return result;
}

double num_vectors(const solvers::SolverOptions& options, const LevelMemory& levels, int num_null_space_vectors) {
  constexpr double conjugate_gradients = 4, minimal_residuals = 8, stabilised = 7;
  const double common = 6 + num_null_space_vectors + num_vectors_of(levels);
  if (options.method == "minres") return common + minimal_residuals;
  if (options.method == "bicgstab") return common + stabilised;
  if (options.method != "gmres") return common + conjugate_gradients;
  // Flexible steps keep the image of each vector under the preconditioner, too.
  const bool is_flexible =
      levels.exist && (levels.precision == schedule::Precision::single_precision || options.multigrid.coarse_rtol > 0);
  const int kept = std::min(options.restart, options.control.iteration_limit());
  return common + (is_flexible ? 2 : 1) * kept + 1;
}

void require_sample_fits(const SolveMemory& solve, const mesh::Mesh& sample, double factor) {
  double cells = 0, cubes = 0, bytes = 0;
  std::vector<mesh::PlannedCells> planned;
  for (const auto& block : mesh::make_cell_batches(sample).blocks) {
    const double count = factor * block.num_cells;
    cells += count;
    cubes += count * part_of_cube(block.shape);
    bytes += table_bytes(solve.fields.size(), block.shape, count);
    planned.push_back({block.shape, sample.groups[static_cast<std::size_t>(block.group)].degree, count});
  }
  double unknowns = 0;
  for (const auto& field : solve.fields) unknowns += components_of(field) * std::pow(field.degree, sample.tdim) * cubes;
  bytes += sizeof(double) * solve.num_vectors * unknowns;
  // The mesh is refined before any vector exists, which may need more memory than the solve.
  bytes = std::max(bytes, mesh::estimate_mesh_bytes(cubes, planned));
  if (bytes > mesh::available_memory_bytes()) refuse_size(solve, unknowns, cells, bytes);
}

void require_fits(const SolveMemory& solve, const mesh::Mesh& mesh, const mesh::CellBatches& batches) {
  const double needed = estimate_bytes(solve, mesh, batches);
  if (needed > mesh::available_memory_bytes())
    refuse_size(solve, count_unknowns(solve.fields, mesh), static_cast<double>(mesh.num_cells()), needed);
}

void require_stored_fits(const SolveMemory& solve, const op::System& system, const PlannedForms& forms) {
  double kept = 0, transient = 0;
  const op::GeneratedBlock* largest = nullptr;
  const auto add_up = [&](const std::shared_ptr<op::GeneratedForm>& form) {
    double bytes = 0;
    for (const auto& block : form->blocks) {
      bytes += op::stored_bytes(block);
      if (largest == nullptr || op::stored_bytes(block) > op::stored_bytes(*largest)) largest = &block;
    }
    return bytes;
  };
  for (const auto& form : forms.kept) kept += add_up(form);
  for (const auto& form : forms.transient) transient = std::max(transient, add_up(form));
  const double needed = estimate_bytes(solve, *system.mesh, *system.batches) + kept + transient;
  if (needed <= mesh::available_memory_bytes()) return;
  const auto& kernel = largest->kernel;
  refuse_size(solve, static_cast<double>(system.size()), static_cast<double>(system.mesh->num_cells()), needed,
              fmt::format("{:.1f} GB of it is what kernels store, most of them '{}' with {} numbers at each of the {} "
                          "quadrature points of a cell; use fewer points (numerics.points), lower the degree, refine "
                          "less, or recompute (--plan \"factors=recompute\")",
                          1e-9 * (kept + transient), kernel.info.name, kernel.programs.stored_point_slots,
                          kernel.info.num_points));
}

} // namespace rafter::problem

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/domain.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/kernel/qfunction.hpp>
#include <rafter/mesh/distribution.hpp>

namespace rafter::op {

namespace {

/// Returns the local vertex at the unit steps from vertex 0 that the bits of `mask` say; -1 when the shape has none
/// there.
int vertex_at(element::Shape shape, int mask) {
  const int dim = element::dimension(shape);
  const auto vertices = element::reference_vertices(shape);
  for (int v = 0; v < element::num_vertices(shape); ++v) {
    bool matches = true;
    for (int a = 0; a < dim; ++a)
      matches = matches && vertices[static_cast<std::size_t>(v * dim + a)] == ((mask >> a & 1) != 0 ? 1.0 : -1.0);
    if (matches) return v;
  }
  return -1;
}

/// Matrix that turns coordinates of vertices into coefficients of the modes of x(X), shape (mode, vertex).
std::vector<double> vertices_to_modes(element::Shape shape, mesh::MapKind map) {
  const int dim = element::dimension(shape);
  const int num_vertices = element::num_vertices(shape);
  const auto modes = kernel::map_modes(map, dim);
  std::vector<double> matrix(modes.size() * static_cast<std::size_t>(num_vertices), 0.0);
  const auto entry = [&](std::size_t mode, int vertex) -> double& {
    return matrix[mode * static_cast<std::size_t>(num_vertices) + static_cast<std::size_t>(vertex)];
  };
  if (map == mesh::MapKind::multilinear) { // c(m) = 2^-d sum_v prod_{a in m} X_a(v) x_v
    const auto vertices = element::reference_vertices(shape);
    for (std::size_t m = 0; m < modes.size(); ++m)
      for (int v = 0; v < num_vertices; ++v) {
        double sign = std::ldexp(1.0, -dim);
        for (int a = 0; a < dim; ++a)
          if ((modes[m] >> a & 1) != 0) sign *= vertices[static_cast<std::size_t>(v * dim + a)];
        entry(m, v) = sign;
      }
    return matrix;
  }
  const int origin = vertex_at(shape, 0);
  entry(0, origin) = 1; // from x_0 = c_0 - sum_b c_b with c_b = (x_b - x_0) / 2
  for (std::size_t m = 1; m < modes.size(); ++m) {
    const int vertex = vertex_at(shape, modes[m]);
    entry(m, vertex) += 0.5;
    entry(m, origin) -= 0.5;
    entry(0, vertex) += 0.5;
    entry(0, origin) -= 0.5;
  }
  return matrix;
}

/// Calls visit(item) for all cells of the batches, on several threads.
template <class Visit> void for_items(const BatchedCells& cells, const Visit& visit) {
  base::Parts(static_cast<std::int64_t>(cells.cells.size()))
      .run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (auto item = static_cast<std::size_t>(begin); item < static_cast<std::size_t>(end); ++item) visit(item);
      });
}

template <class Cells> BatchedCells common(const Cells& block, int cells_per_batch) {
  BatchedCells result;
  result.group = block.group;
  result.shape = block.shape;
  result.map = block.map;
  result.num_batches = block.num_batches;
  result.cells = block.cells;
  result.cells_per_batch = cells_per_batch;
  return result;
}

} // namespace

BatchedCells batched(const mesh::CellBlock& block, int cells_per_batch) {
  BatchedCells result = common(block, cells_per_batch);
  result.num_items = block.num_cells;
  return result;
}

BatchedCells batched(const mesh::FacetBlock& block, int cells_per_batch) {
  BatchedCells result = common(block, cells_per_batch);
  result.num_items = block.num_facets;
  result.local_facet = block.local_facet;
  return result;
}

base::AlignedVector<std::int32_t> active_counts(const BatchedCells& cells) {
  base::AlignedVector<std::int32_t> counts(static_cast<std::size_t>(cells.num_batches), cells.cells_per_batch);
  if (!counts.empty()) counts.back() = cells.num_items - (cells.num_batches - 1) * cells.cells_per_batch;
  return counts;
}

base::AlignedVector<double> map_coefficients(const mesh::Mesh& mesh, const BatchedCells& cells) {
  const auto& group = mesh.groups[static_cast<std::size_t>(cells.group)];
  const auto element = mesh::geometry_element(group);
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const auto num_vertices = static_cast<std::size_t>(element::num_vertices(cells.shape));
  const auto num_nodes = static_cast<std::size_t>(element->num_dofs());
  const auto matrix = vertices_to_modes(cells.shape, cells.map);
  const std::size_t num_modes = matrix.size() / num_vertices;
  struct Term {
    std::size_t mode, node;
    double factor;
  };
  std::vector<Term> terms;
  for (std::size_t m = 0; m < num_modes; ++m)
    for (std::size_t v = 0; v < num_vertices; ++v)
      if (const double factor = matrix[m * num_vertices + v]; factor != 0)
        terms.push_back({m, static_cast<std::size_t>(element->entity_dofs(0, static_cast<int>(v))[0]), factor});
  const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
  base::AlignedVector<double> result(static_cast<std::size_t>(cells.num_batches) * num_modes * dim * cells_per_batch);
  for_items(cells, [&](std::size_t item) {
    const auto* nodes = &group.nodes[static_cast<std::size_t>(cells.cells[item]) * num_nodes];
    double* const first = &result[item / cells_per_batch * num_modes * dim * cells_per_batch + item % cells_per_batch];
    for (const auto& [mode, node, factor] : terms) {
      const double* x = &mesh.points[static_cast<std::size_t>(nodes[node]) * dim];
      for (std::size_t a = 0; a < dim; ++a) first[(mode * dim + a) * cells_per_batch] += factor * x[a];
    }
  });
  return result;
}

base::AlignedVector<double> geometry_nodes(const mesh::Mesh& mesh, const BatchedCells& cells) {
  const auto& group = mesh.groups[static_cast<std::size_t>(cells.group)];
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const auto num_nodes = static_cast<std::size_t>(mesh::geometry_element(group)->num_dofs());
  const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
  base::AlignedVector<double> result(static_cast<std::size_t>(cells.num_batches) * num_nodes * dim * cells_per_batch);
  for_items(cells, [&](std::size_t item) {
    for (std::size_t i = 0; i < num_nodes; ++i) {
      const auto node =
          static_cast<std::size_t>(group.nodes[static_cast<std::size_t>(cells.cells[item]) * num_nodes + i]);
      for (std::size_t a = 0; a < dim; ++a)
        result[((item / cells_per_batch * num_nodes + i) * dim + a) * cells_per_batch + item % cells_per_batch] =
            mesh.points[node * dim + a];
    }
  });
  return result;
}

double CellCoefficients::Table::operator()(std::int32_t tag) const {
  const auto found = std::lower_bound(tags.begin(), tags.end(), tag);
  return found != tags.end() && *found == tag ? values[static_cast<std::size_t>(found - tags.begin())] : otherwise;
}

CellCoefficients::CellCoefficients(const mesh::Mesh& mesh, const form::LoweredForm& form) : mesh_(mesh) {
  for (const auto& component : form.cell_coefficients) add_coefficient(component);
  for (const auto& integral : form.integrals) {
    const bool is_restricted = integral.measure.kind == form::MeasureKind::cell && !integral.measure.tags.empty();
    indicators_.push_back(is_restricted ? count() : -1);
    if (is_restricted) add_indicator(integral.measure);
  }
}

void CellCoefficients::add_coefficient(const form::CoefficientComponent& component) {
  const auto& coefficient = *component.coefficient;
  std::map<std::int32_t, double> values;
  for (const auto& [tag, components] : coefficient.by_tag)
    for (const auto number : mesh_.tags_of(tag, mesh_.tdim))
      values[number] = components[static_cast<std::size_t>(component.component)];
  const auto require = [&](std::int32_t tag) {
    if (!values.contains(tag))
      throw base::InputError(fmt::format(
          "coefficient '{}' has no value for cells with tag {}: give by_tag one more entry", coefficient.name, tag));
  };
  if (mesh_.distribution != nullptr)
    for (const auto tag : mesh_.distribution->cell_tags) require(tag); // so that all processes find what is missing
  for (const auto& group : mesh_.groups)
    for (const auto tag : group.tags) require(tag);
  Table table;
  for (const auto& [tag, value] : values) {
    table.tags.push_back(tag);
    table.values.push_back(value);
  }
  tables_.push_back(std::move(table));
}

void CellCoefficients::add_indicator(const form::Measure& measure) {
  Table table;
  table.tags = measure_tags(mesh_, measure);
  table.values.assign(table.tags.size(), 1.0);
  tables_.push_back(std::move(table));
}

base::AlignedVector<double> CellCoefficients::values(const BatchedCells& cells) const {
  const auto& group = mesh_.groups[static_cast<std::size_t>(cells.group)];
  const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
  base::AlignedVector<double> result(static_cast<std::size_t>(cells.num_batches) * tables_.size() * cells_per_batch);
  if (!tables_.empty())
    for_items(cells, [&](std::size_t item) {
      for (std::size_t t = 0; t < tables_.size(); ++t)
        result[(item / cells_per_batch * tables_.size() + t) * cells_per_batch + item % cells_per_batch] =
            tables_[t](group.tags[static_cast<std::size_t>(cells.cells[item])]);
    });
  return result;
}

base::AlignedVector<double> parameter_values(const form::LoweredForm& form) {
  base::AlignedVector<double> result;
  for (const auto& parameter : form.parameters)
    result.push_back(parameter.coefficient->values.at(static_cast<std::size_t>(parameter.component)));
  return result;
}

std::vector<std::int32_t> measure_tags(const mesh::Mesh& mesh, const form::Measure& measure) {
  const int dim = measure.kind == form::MeasureKind::cell ? mesh.tdim : mesh.tdim - 1;
  std::set<std::int32_t> tags;
  for (const auto& tag : measure.tags)
    for (const auto number : mesh.tags_of(tag, dim)) tags.insert(number);
  std::vector<std::int32_t> result(tags.begin(), tags.end());
  if (measure.kind != form::MeasureKind::cell) mesh.require_boundary(result);
  return result;
}

} // namespace rafter::op

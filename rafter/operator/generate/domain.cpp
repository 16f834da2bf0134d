// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/domain.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/form/form.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/values_by_tag.hpp>
#include <rafter/operator/generate/cell_geometry.hpp>

namespace rafter::op {

namespace {

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
  result.local_facets = block.local_facets;
  result.facets = block.facets;
  result.active = block.num_active;
  return result;
}

base::AlignedVector<std::int32_t> active_counts(const BatchedCells& cells) {
  base::AlignedVector<std::int32_t> counts(static_cast<std::size_t>(cells.num_batches));
  for (std::int32_t batch = 0; batch < cells.num_batches; ++batch)
    counts[static_cast<std::size_t>(batch)] = cells.num_active(batch);
  return counts;
}

namespace {

base::AlignedVector<double> geometry(const CellGeometry& cells, std::int32_t num_batches) {
  base::AlignedVector<double> result(static_cast<std::size_t>(num_batches) * cells.numbers_per_batch());
  base::Parts(num_batches, 1 << 11).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<double> points;
    for (auto batch = begin; batch < end; ++batch)
      cells.write(static_cast<std::int32_t>(batch), points,
                  result.data() + static_cast<std::size_t>(batch) * cells.numbers_per_batch());
  });
  return result;
}

} // namespace

base::AlignedVector<double> map_coefficients(const mesh::Mesh& mesh, const BatchedCells& cells) {
  return geometry({mesh, cells, CellGeometry::Kind::maps}, cells.num_batches);
}

base::AlignedVector<double> geometry_nodes(const mesh::Mesh& mesh, const BatchedCells& cells) {
  return geometry({mesh, cells, CellGeometry::Kind::nodes}, cells.num_batches);
}

void put_cell_by_cell(std::span<double> values, int cells_per_batch, std::int64_t num_batches) {
  const auto cells = static_cast<std::size_t>(cells_per_batch),
             per_batch = num_batches > 0 ? values.size() / static_cast<std::size_t>(num_batches) : 0;
  base::Parts(num_batches, 1 << 11).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    std::vector<double> by_number(per_batch);
    for (auto batch = static_cast<std::size_t>(begin); batch < static_cast<std::size_t>(end); ++batch) {
      const auto of_batch = values.subspan(batch * per_batch, per_batch);
      std::ranges::copy(of_batch, by_number.begin());
      for (std::size_t i = 0; i < per_batch; ++i) of_batch[i % cells * (per_batch / cells) + i / cells] = by_number[i];
    }
  });
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
  mesh::ValuesByTag values(mesh_);
  for (const auto& [tag, components] : coefficient.by_tag) values.add(tag, components);
  if (const auto missing = values.missing(); !missing.empty())
    throw base::InputError(
        fmt::format("coefficient '{}' has no value for cells with tag {}: give by_tag one more entry", coefficient.name,
                    mesh_.physical_groups.text(mesh_.tdim, missing.front())));
  Table table;
  for (const auto tag : mesh_.cell_tags()) {
    table.tags.push_back(tag);
    table.values.push_back(values.find(tag)->at(static_cast<std::size_t>(component.component)));
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
  std::set<std::int32_t> tags;
  for (const auto& tag : measure.tags)
    for (const auto number : mesh::tags_for(mesh, tag, tag_use(measure.kind))) tags.insert(number);
  return {tags.begin(), tags.end()};
}

mesh::TagUse tag_use(form::MeasureKind kind) {
  return kind == form::MeasureKind::cell ? mesh::TagUse::dx : mesh::TagUse::ds;
}

void warn_of_left_out(const mesh::Mesh& mesh, const form::Form& form) {
  for (const auto& integral : form.integrals())
    for (const auto& tag : integral.measure.tags) {
      const auto use = tag_use(integral.measure.kind);
      const auto text = mesh::left_out(mesh, mesh::tags_for(mesh, tag, use), "'" + tag + "'", use);
      if (!text.empty() && mesh.communicator()->rank() == 0) base::warn_once(mesh::prefix(mesh) + text);
    }
}

} // namespace rafter::op

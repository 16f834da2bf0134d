// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/vtkhdf.hpp>

#include <algorithm>
#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/io/hdf5_file.hpp>
#include <rafter/io/vtk_cells.hpp>
#include <rafter/space/evaluate.hpp>

namespace rafter::io {
namespace {

constexpr std::int32_t slice_length = 2048; ///< cells whose data is in memory at a time

/// Components in the file: VTK takes three for vectors of the plane.
std::size_t file_components(const OutputField& field) {
  const auto components = static_cast<std::size_t>(field.space->num_components());
  return components == 2 ? 3 : components;
}

int output_order(const mesh::Mesh& mesh, std::span<const OutputField> fields, int order) {
  if (order == 0) {
    for (const auto& group : mesh.groups) order = std::max(order, group.degree);
    for (const auto& field : fields) order = std::max(order, field.space->degree);
  }
  return std::clamp(order, 1, max_vtk_order);
}

void require_fields(const mesh::Mesh& mesh, std::span<const OutputField> fields) {
  for (const auto& field : fields) {
    if (&field.space->mesh() != &mesh)
      throw base::InternalError("output field " + field.name + " lives on another mesh");
    if (field.values.size() != static_cast<std::size_t>(field.space->num_local()))
      throw base::InternalError(fmt::format("output field {} has {} values for a space of {}", field.name,
                                            field.values.size(), field.space->num_local()));
  }
}

std::vector<double> reference_points(const VtkCells& cells, element::Shape shape, int order) {
  std::vector<double> points;
  for (const auto& point : cells.points)
    for (int axis = 0; axis < element::dimension(shape); ++axis)
      points.push_back(-1.0 + 2.0 * point[static_cast<std::size_t>(axis)] / order);
  return points;
}

struct Counts {
  std::int64_t cells = 0, points = 0, connectivity = 0;
};

class VtkHdfFile {
public:
  VtkHdfFile(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields, int order)
      : file_(path), mesh_(mesh), fields_(fields), order_(order) {}

  void write() {
    for (const auto& group : mesh_.groups) cells_.push_back(make_vtk_cells(group.shape, order_));
    make_datasets(count());
    append<std::int64_t>("Offsets", {0});
    for (std::size_t group = 0; group < mesh_.groups.size(); ++group) write_group(static_cast<std::int32_t>(group));
    file_.commit();
  }

private:
  Counts count() const {
    Counts counts;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::int64_t num_cells = mesh_.groups[i].num_cells();
      counts.points += num_cells * static_cast<std::int64_t>(cells_[i].points.size());
      counts.cells += num_cells * static_cast<std::int64_t>(cells_[i].types.size());
      for (const auto& list : cells_[i].connectivity)
        counts.connectivity += num_cells * static_cast<std::int64_t>(list.size());
    }
    return counts;
  }

  void make_datasets(const Counts& counts) {
    file_.make_group("VTKHDF");
    file_.write_attribute("VTKHDF", "Version", std::vector<std::int64_t>{1, 0});
    file_.write_attribute("VTKHDF", "Type", "UnstructuredGrid");
    file_.make_group("VTKHDF/PointData");
    file_.make_group("VTKHDF/CellData");
    file_.write("VTKHDF/NumberOfConnectivityIds", std::vector<std::int64_t>{counts.connectivity});
    file_.write("VTKHDF/NumberOfPoints", std::vector<std::int64_t>{counts.points});
    file_.write("VTKHDF/NumberOfCells", std::vector<std::int64_t>{counts.cells});
    file_.make_dataset<double>("VTKHDF/Points", counts.points, 3);
    file_.make_dataset<std::int64_t>("VTKHDF/Connectivity", counts.connectivity, 0);
    file_.make_dataset<std::int64_t>("VTKHDF/Offsets", counts.cells + 1, 0);
    file_.make_dataset<std::uint8_t>("VTKHDF/Types", counts.cells, 0);
    file_.make_dataset<std::int32_t>("VTKHDF/CellData/tag", counts.cells, 0);
    for (const auto& field : fields_) {
      const auto components = static_cast<std::int64_t>(file_components(field));
      file_.make_dataset<double>("VTKHDF/PointData/" + field.name, counts.points, components == 1 ? 0 : components);
    }
  }

  void write_group(std::int32_t group) {
    const auto& cell_group = mesh_.groups[static_cast<std::size_t>(group)];
    const auto points = reference_points(cells_[static_cast<std::size_t>(group)], cell_group.shape, order_);
    const element::Table geometry = mesh::geometry_element(cell_group)->tabulate(points);
    std::vector<space::FieldEvaluator> evaluators;
    for (const auto& field : fields_) evaluators.emplace_back(field.space, group, points);
    for (std::int32_t begin = 0; begin < cell_group.num_cells(); begin += slice_length) {
      const std::int32_t end = std::min(begin + slice_length, cell_group.num_cells());
      write_topology(cells_[static_cast<std::size_t>(group)], cell_group, begin, end);
      write_points(cell_group, geometry, begin, end);
      for (std::size_t i = 0; i < fields_.size(); ++i) write_values(fields_[i], evaluators[i], begin, end);
    }
  }

  void write_topology(const VtkCells& cells, const mesh::CellGroup& group, std::int32_t begin, std::int32_t end) {
    std::vector<std::int64_t> connectivity, offsets;
    std::vector<std::uint8_t> types;
    std::vector<std::int32_t> tags;
    for (std::int32_t cell = begin; cell < end; ++cell) {
      for (std::size_t i = 0; i < cells.types.size(); ++i) {
        for (const int point : cells.connectivity[i]) connectivity.push_back(num_points_ + point);
        num_connectivity_ += static_cast<std::int64_t>(cells.connectivity[i].size());
        offsets.push_back(num_connectivity_);
        types.push_back(cells.types[i]);
        tags.push_back(group.tags[static_cast<std::size_t>(cell)]);
      }
      num_points_ += static_cast<std::int64_t>(cells.points.size());
    }
    append("Connectivity", connectivity);
    append("Offsets", offsets);
    append("Types", types);
    append("CellData/tag", tags);
  }

  void write_points(const mesh::CellGroup& group, const element::Table& geometry, std::int32_t begin,
                    std::int32_t end) {
    const auto gdim = static_cast<std::size_t>(mesh_.gdim), num_nodes = static_cast<std::size_t>(geometry.num_dofs);
    std::vector<double> points;
    for (std::int32_t cell = begin; cell < end; ++cell) {
      const auto nodes = std::span(group.nodes).subspan(static_cast<std::size_t>(cell) * num_nodes, num_nodes);
      for (int point = 0; point < geometry.num_points; ++point) {
        std::array<double, 3> x{};
        for (int node = 0; node < geometry.num_dofs; ++node)
          for (std::size_t axis = 0; axis < gdim; ++axis)
            x[axis] += geometry(0, point, node) *
                       mesh_.points[static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)]) * gdim + axis];
        points.insert(points.end(), x.begin(), x.end());
      }
    }
    append("Points", points);
  }

  void write_values(const OutputField& field, const space::FieldEvaluator& evaluator, std::int32_t begin,
                    std::int32_t end) {
    const auto components = static_cast<std::size_t>(field.space->num_components());
    std::vector<double> values;
    for (std::int32_t cell = begin; cell < end; ++cell) {
      const auto cell_values = evaluator.values(field.values, cell);
      if (components != 2) {
        values.insert(values.end(), cell_values.begin(), cell_values.end());
        continue;
      }
      for (std::size_t i = 0; i < cell_values.size(); i += 2)
        values.insert(values.end(), {cell_values[i], cell_values[i + 1], 0.0});
    }
    append("PointData/" + field.name, values);
  }

  template <class T> void append(const std::string& name, const std::vector<T>& values) {
    file_.append("VTKHDF/" + name, std::span<const T>(values));
  }

  Hdf5Writer file_;
  const mesh::Mesh& mesh_;
  std::span<const OutputField> fields_;
  int order_;
  std::vector<VtkCells> cells_; ///< shape (group)
  std::int64_t num_points_ = 0, num_connectivity_ = 0;
};

} // namespace

void write_vtkhdf(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
                  const VtkHdfOptions& options) {
  require_fields(mesh, fields);
  VtkHdfFile(path, mesh, fields, output_order(mesh, fields, options.order)).write();
}

} // namespace rafter::io

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/vtkhdf.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/form/expr.hpp>
#include <rafter/io/hdf5_file.hpp>
#include <rafter/io/output_points.hpp>
#include <rafter/io/vtk_cells.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/lattice.hpp>
#include <rafter/space/evaluate.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::io {
namespace {

const std::string point_data = "PointData/", cell_data = "CellData/";
constexpr std::int32_t slice_length = 2048; ///< data of so many cells are in memory at a time

/// Returns the number of components in the file: VTK expects three for vectors of the plane and nine for matrices.
/// Throws InputError for shapes that VTK has no arrays for.
std::size_t file_components(std::span<const int> shape, const std::string& name) {
  if (shape.empty()) return 1;
  if (shape.size() == 1) return shape[0] == 2 ? 3 : static_cast<std::size_t>(shape[0]);
  if (shape.size() == 2 && shape[0] <= 3 && shape[1] <= 3) return 9;
  throw base::InputError(fmt::format("{}: {} cannot be written; accepted are scalars, vectors and matrices up to 3 x 3",
                                     name, form::shape_text({shape.begin(), shape.end()})));
}

/// Appends one value of a shape to those of the file, and pads it with zeros.
void append_padded(std::span<const int> shape, std::span<const double> value, std::vector<double>& values) {
  const auto columns = shape.empty() ? value.size() : static_cast<std::size_t>(shape.back());
  const std::size_t padded = shape.size() == 2 || columns == 2 ? 3 : columns;
  const std::size_t rows = shape.size() == 2 ? 3 : 1;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < padded; ++column) {
      const bool is_given = column < columns && row * columns < value.size();
      values.push_back(is_given ? value[row * columns + column] : 0.0);
    }
}

std::vector<int> shape_of(const space::FunctionSpace& space) {
  return space.components == 0 ? std::vector<int>{} : std::vector<int>{space.components};
}

int output_order(const mesh::Mesh& mesh, std::span<const OutputField> fields, int order) {
  mesh::require_whole(mesh, "output files");
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
  return mesh::lattice_positions(shape, order, cells.points, mesh::Spacing::equispaced);
}

class VtkHdfFile {
public:
  VtkHdfFile(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
             std::span<const DerivedField> derived, std::span<const space::FieldValues> known, int order,
             bool is_series)
      : file_(path), mesh_(mesh), fields_(fields.begin(), fields.end()), derived_(derived.begin(), derived.end()),
        known_(known.begin(), known.end()), order_(order), is_series_(is_series) {
    for (const auto& group : mesh.groups) {
      cells_.push_back(make_vtk_cells(group.shape, order));
      lattices_.push_back(cells_.back().points);
    }
    for (const auto& [number, groups] : mesh.physical_groups.classes(mesh.tdim))
      overlapping_groups_.insert(groups.begin(), groups.end());
    const bool separates_tags = std::ranges::any_of(derived, [](const auto& field) { return !field.is_per_cell; });
    points_ = make_output_points(mesh, lattices_, order, separates_tags);
    make_datasets();
    append("Points", points_.coordinates);
    // VTK requires offsets and connectivity to have the same type.
    if (num_connectivity() <= std::numeric_limits<std::int32_t>::max())
      write_topology<std::int32_t>();
    else
      write_topology<std::int64_t>();
  }

  void write_fields(std::span<const OutputField> fields) {
    values_.clear();
    for (const auto& field : fields) values_.push_back({field.space, field.values});
    values_.insert(values_.end(), known_.begin(), known_.end());
    for (const auto& field : fields) write_field(field);
    for (const auto& field : derived_) write_derived(field);
  }

  /// Writes where readers find the data of each time.
  void write_steps(const std::vector<double>& times) {
    const auto n = times.size();
    const auto write = [&](const std::string& name, std::int64_t value, std::int64_t increment) {
      std::vector<std::int64_t> values(n, value);
      for (std::size_t i = 0; i < n; ++i) values[i] += static_cast<std::int64_t>(i) * increment;
      file_.write("VTKHDF/Steps/" + name, values);
    };
    for (const char* group : {"VTKHDF/Steps", "VTKHDF/Steps/PointDataOffsets", "VTKHDF/Steps/CellDataOffsets"})
      file_.make_group(group);
    file_.write_attribute("VTKHDF/Steps", "NSteps", std::vector{static_cast<std::int64_t>(n)});
    file_.write("VTKHDF/Steps/Values", times);
    write("NumberOfParts", 1, 0);
    for (const char* name : {"PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"}) write(name, 0, 0);
    for (const auto& field : fields_) write("PointDataOffsets/" + field.name, 0, points_.size());
    for (const auto& field : derived_)
      if (field.is_per_cell)
        write("CellDataOffsets/" + field.name, 0, num_cells());
      else
        write("PointDataOffsets/" + field.name, 0, points_.size());
    write("CellDataOffsets/tag", 0, 0);
    for (const auto group : overlapping_groups_) write(fmt::format("CellDataOffsets/tag({})", group), 0, 0);
  }

  Hdf5Writer& file() { return file_; }

private:
  std::int64_t num_cells() const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      count += mesh_.groups[i].num_cells() * static_cast<std::int64_t>(cells_[i].types.size());
    return count;
  }

  std::int64_t num_connectivity() const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      for (const auto& list : cells_[i].connectivity)
        count += mesh_.groups[i].num_cells() * static_cast<std::int64_t>(list.size());
    return count;
  }

  void make_datasets() {
    file_.make_group("VTKHDF");
    file_.write_attribute("VTKHDF", "Version", std::vector<std::int64_t>{is_series_ ? 2 : 1, 0});
    file_.write_attribute("VTKHDF", "Type", "UnstructuredGrid");
    file_.make_group("VTKHDF/PointData");
    file_.make_group("VTKHDF/CellData");
    file_.write("VTKHDF/NumberOfConnectivityIds", std::vector<std::int64_t>{num_connectivity()});
    file_.write("VTKHDF/NumberOfPoints", std::vector<std::int64_t>{points_.size()});
    file_.write("VTKHDF/NumberOfCells", std::vector<std::int64_t>{num_cells()});
    file_.make_dataset<double>("VTKHDF/Points", points_.size(), 3);
    file_.make_dataset<std::uint8_t>("VTKHDF/Types", num_cells(), 0);
    file_.make_dataset<std::int32_t>("VTKHDF/CellData/tag", num_cells(), 0);
    for (const auto group : overlapping_groups_)
      file_.make_dataset<std::int32_t>("VTKHDF/" + membership_name(group), num_cells(), 0);
    for (const auto& field : fields_) make_field(point_data + field.name, shape_of(*field.space), points_.size());
    for (const auto& field : derived_)
      make_field((field.is_per_cell ? cell_data : point_data) + field.name, field.expression->shape,
                 field.is_per_cell ? num_cells() : points_.size());
  }

  void make_field(const std::string& name, std::span<const int> shape, std::int64_t rows) {
    const auto components = static_cast<std::int64_t>(file_components(shape, name));
    const std::int64_t columns = components == 1 ? 0 : components;
    if (is_series_)
      file_.make_growing_dataset<double>("VTKHDF/" + name, rows, columns);
    else
      file_.make_dataset<double>("VTKHDF/" + name, rows, columns);
  }

  /// Calls write(group, first cell, end) for slices of the cells of the mesh in the order of the file.
  template <class Write> void for_slices(Write write) const {
    for (std::size_t group = 0; group < mesh_.groups.size(); ++group) {
      const std::int32_t num_cells = mesh_.groups[group].num_cells();
      for (std::int32_t begin = 0; begin < num_cells; begin += slice_length)
        write(group, begin, std::min(begin + slice_length, num_cells));
    }
  }

  template <class Id> void write_topology() {
    file_.make_dataset<Id>("VTKHDF/Connectivity", num_connectivity(), 0);
    file_.make_dataset<Id>("VTKHDF/Offsets", num_cells() + 1, 0);
    Id end_of_cell = 0;
    append("Offsets", std::vector<Id>{0});
    for_slices([&](std::size_t group, std::int32_t begin, std::int32_t end) {
      const auto& cells = cells_[group];
      std::vector<Id> connectivity, offsets;
      std::vector<std::uint8_t> types;
      std::vector<std::int32_t> tags;
      for (std::int32_t cell = begin; cell < end; ++cell) {
        const auto numbers = points_of(group, cell);
        for (std::size_t i = 0; i < cells.types.size(); ++i) {
          for (const int point : cells.connectivity[i])
            connectivity.push_back(numbers[static_cast<std::size_t>(point)]);
          offsets.push_back(end_of_cell += static_cast<Id>(cells.connectivity[i].size()));
          types.push_back(cells.types[i]);
          tags.push_back(mesh_.groups[group].tags[static_cast<std::size_t>(cell)]);
        }
      }
      append("Connectivity", connectivity);
      append("Offsets", offsets);
      append("Types", types);
      append("CellData/tag", tags);
      for (const auto of_group : overlapping_groups_) {
        std::vector<std::int32_t> are_members;
        for (const auto tag : tags)
          are_members.push_back(mesh_.physical_groups.is_in(mesh_.tdim, tag, of_group) ? 1 : 0);
        append(membership_name(of_group), are_members);
      }
    });
  }

  /// Cell data that say which cells belong to a group; no field has a name with parentheses.
  static std::string membership_name(std::int32_t group) { return fmt::format("CellData/tag({})", group); }

  /// Returns the points of the lattice of a cell.
  std::span<const std::int32_t> points_of(std::size_t group, std::int32_t cell) const {
    const auto n = lattices_[group].size();
    return std::span(points_.cells[group]).subspan(static_cast<std::size_t>(cell) * n, n);
  }

  /// The value at a point is that of the first cell that lists it; since points are numbered in this order, they are
  /// written one after the other.
  void write_field(const OutputField& field) {
    const auto shape = shape_of(*field.space);
    const auto components = static_cast<std::size_t>(field.space->num_components());
    std::vector<space::FieldEvaluator> evaluators;
    for (std::size_t group = 0; group < mesh_.groups.size(); ++group)
      evaluators.emplace_back(field.space, static_cast<std::int32_t>(group),
                              reference_points(cells_[group], mesh_.groups[group].shape, order_));
    std::int32_t next = 0;
    for_slices([&](std::size_t group, std::int32_t begin, std::int32_t end) {
      std::vector<double> values;
      for (std::int32_t cell = begin; cell < end; ++cell) {
        const auto numbers = points_of(group, cell);
        if (std::ranges::none_of(numbers, [&](auto number) { return number >= next; })) continue;
        const auto cell_values = evaluators[group].values(field.values, cell);
        for (std::size_t p = 0; p < numbers.size(); ++p) {
          if (numbers[p] != next) continue;
          ++next;
          append_padded(shape, std::span(cell_values).subspan(p * components, components), values);
        }
      }
      append(point_data + field.name, values);
    });
  }

  void write_derived(const DerivedField& field) {
    if (!field.is_per_cell)
      return append_values(point_data + field.name, field.expression->shape,
                           point_values(field, values_, points_, lattices_, order_), 1);
    for (std::size_t group = 0; group < mesh_.groups.size(); ++group)
      append_values(cell_data + field.name, field.expression->shape,
                    cell_means(field, values_, static_cast<std::int32_t>(group), order_), cells_[group].types.size());
  }

  /// Appends each value `times` times, once for every cell of the file that a cell of the mesh becomes.
  void append_values(const std::string& name, std::span<const int> shape, std::span<const double> values,
                     std::size_t times) {
    const auto components = static_cast<std::size_t>(form::num_components({shape.begin(), shape.end()}));
    std::vector<double> padded;
    for (std::size_t i = 0; i < values.size(); i += components) {
      for (std::size_t k = 0; k < times; ++k) append_padded(shape, values.subspan(i, components), padded);
      if (padded.size() < static_cast<std::size_t>(slice_length) && i + components < values.size()) continue;
      append(name, padded);
      padded.clear();
    }
  }

  template <class T> void append(const std::string& name, const std::vector<T>& values) {
    file_.append("VTKHDF/" + name, std::span<const T>(values));
  }

  Hdf5Writer file_;
  const mesh::Mesh& mesh_;
  std::vector<OutputField> fields_; ///< their values are not used
  std::vector<DerivedField> derived_;
  std::vector<space::FieldValues> known_; ///< functions that derived fields may use beside fields_
  int order_;
  bool is_series_;
  std::set<std::int32_t> overlapping_groups_;       ///< physical groups that share cells with others
  std::vector<VtkCells> cells_;                     ///< shape (group)
  std::vector<std::vector<LatticePoint>> lattices_; ///< shape (group)
  std::vector<space::FieldValues> values_;          ///< all functions that derived fields may use
  OutputPoints points_;
};

} // namespace

void write_vtkhdf(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
                  std::span<const DerivedField> derived, const VtkHdfOptions& options) {
  require_fields(mesh, fields);
  VtkHdfFile file(path, mesh, fields, derived, options.known, output_order(mesh, fields, options.order), false);
  file.write_fields(fields);
  file.file().commit();
}

class VtkHdfSeries::Implementation {
public:
  Implementation(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
                 std::span<const DerivedField> derived, const VtkHdfOptions& options)
      : mesh_(mesh),
        file_(path, mesh, fields, derived, options.known, output_order(mesh, fields, options.order), true) {}

  void append(double time, std::span<const OutputField> fields) {
    require_fields(mesh_, fields);
    file_.write_fields(fields);
    times_.push_back(time);
  }
  Hdf5Writer& file() { return file_.file(); }
  void commit() {
    file_.write_steps(times_);
    file_.file().commit();
  }

private:
  const mesh::Mesh& mesh_;
  VtkHdfFile file_;
  std::vector<double> times_;
};

VtkHdfSeries::VtkHdfSeries(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
                           std::span<const DerivedField> derived, const VtkHdfOptions& options)
    : implementation_(std::make_unique<Implementation>(path, mesh, fields, derived, options)) {}
VtkHdfSeries::~VtkHdfSeries() = default;
void VtkHdfSeries::append(double time, std::span<const OutputField> fields) { implementation_->append(time, fields); }
Hdf5Writer& VtkHdfSeries::file() { return implementation_->file(); }
void VtkHdfSeries::commit() { implementation_->commit(); }

} // namespace rafter::io

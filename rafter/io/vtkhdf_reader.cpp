// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/vtkhdf_reader.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/io/hdf5_reader.hpp>
#include <rafter/io/vtk_cells.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/locate.hpp>
#include <rafter/mesh/raw_mesh.hpp>

namespace rafter::io {
namespace {

using element::Shape;

/// These cells of the file have the same shape and order, and their geometry has the same degree.
struct FileCells {
  Shape shape;
  int order = 1;
  bool is_straight = false;         ///< whether the geometry is given by the vertices
  std::vector<LatticePoint> points; ///< lattice points of a cell, in the order of the file
  std::vector<std::int64_t> starts; ///< start of the points of each cell in the connectivity, shape (cell)
};

/// Returns the shape that belongs to a cell type of VTK, and whether the cell is linear, for the types that
/// write_vtkhdf() writes.
std::optional<std::pair<Shape, bool>> shape_of_type(int type) {
  static const std::map<int, std::pair<Shape, bool>> shapes{
      {3, {Shape::interval, true}},        {5, {Shape::triangle, true}},      {9, {Shape::quadrilateral, true}},
      {10, {Shape::tetrahedron, true}},    {12, {Shape::hexahedron, true}},   {13, {Shape::prism, true}},
      {14, {Shape::pyramid, true}},        {68, {Shape::interval, false}},    {69, {Shape::triangle, false}},
      {70, {Shape::quadrilateral, false}}, {71, {Shape::tetrahedron, false}}, {72, {Shape::hexahedron, false}},
      {73, {Shape::prism, false}}};
  const auto found = shapes.find(type);
  return found == shapes.end() ? std::nullopt : std::optional(found->second);
}

/// Returns the lattice points of a cell in the order of the file.
std::vector<LatticePoint> file_points(Shape shape, int order) {
  if (shape == Shape::pyramid) return {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}};
  const auto cells = make_vtk_cells(shape, order);
  std::vector<LatticePoint> points;
  for (const int point : cells.connectivity[0]) points.push_back(cells.points[static_cast<std::size_t>(point)]);
  return points;
}

/// Returns the order of a cell of a shape with so many points, or nothing if no order has this number.
std::optional<int> order_of(Shape shape, bool is_linear, std::size_t num_points) {
  for (int order = 1; order <= (is_linear ? 1 : max_vtk_order); ++order)
    if (file_points(shape, order).size() == num_points) return order;
  return std::nullopt;
}

/// Returns the matrix that maps values at lattice points to coefficients of the Lagrange element, shape (dof, lattice
/// point).
std::vector<double> coefficients_from_values(const FileCells& cells) {
  const auto element = element::make_element(element::Family::lagrange, cells.shape, cells.order);
  const auto table =
      element->tabulate(mesh::lattice_positions(cells.shape, cells.order, cells.points, mesh::Spacing::equispaced));
  std::vector<double> matrix;
  for (int p = 0; p < table.num_points; ++p)
    for (int i = 0; i < table.num_dofs; ++i) matrix.push_back(table(0, p, i));
  return element::inverse(std::move(matrix), table.num_dofs);
}

} // namespace

/// This holds the cells of a file, and finds the cell at a point.
class VtkHdfReader::File {
public:
  explicit File(const std::string& path) : path_(path), reader_(path) {
    require_layout();
    points_ = reader_.read<double>("VTKHDF/Points");
    connectivity_ = reader_.read<std::int64_t>("VTKHDF/Connectivity");
    read_cells();
    make_mesh();
    locator_ = std::make_unique<const mesh::PointLocator>(mesh_);
  }

  int order() const { return std::ranges::max(cells_, {}, &FileCells::order).order; }
  int dimension() const { return mesh_.tdim; }
  std::vector<std::string> names() const {
    return reader_.has("VTKHDF/PointData") ? reader_.members("VTKHDF/PointData") : std::vector<std::string>{};
  }

  int num_components(const std::string& name) const {
    const auto known = names();
    if (std::ranges::find(known, name) == known.end()) {
      const auto nearest = base::nearest(name, known);
      refuse(fmt::format("has no point data '{}'{}; it has: {}", name,
                         nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest),
                         known.empty() ? "none" : base::join(known, ", ")));
    }
    const auto shape = reader_.shape("VTKHDF/PointData/" + name);
    const std::int64_t first = first_row(name), rows = shape.empty() ? 0 : shape[0];
    const bool is_complete = has_steps() ? first >= 0 && first <= rows - num_points() : rows == num_points();
    if (shape.empty() || shape.size() > 2 || !is_complete || shape.back() < 1 ||
        (shape.size() == 2 && shape[1] > std::numeric_limits<int>::max()))
      refuse(fmt::format("the point data '{}' does not have one row for each of the {} points", name, num_points()));
    return shape.size() == 1 ? 1 : static_cast<int>(shape[1]);
  }

  /// Returns the coefficients of the first `count` components, shape (group)(cell, dof, component).
  std::vector<std::vector<double>> coefficients(const std::string& name, int count) const {
    const auto values = read_values(name, count);
    const auto components = static_cast<std::size_t>(count);
    std::vector<std::vector<double>> result;
    for (const auto& cells : cells_) {
      const auto matrix = coefficients_from_values(cells);
      const auto n = cells.points.size();
      auto& of_group = result.emplace_back(cells.starts.size() * n * components);
      for (std::size_t cell = 0; cell < cells.starts.size(); ++cell)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t p = 0; p < n; ++p) {
            const auto row = point_of(cells, cell, p) * components;
            for (std::size_t c = 0; c < components; ++c)
              of_group[(cell * n + i) * components + c] += matrix[i * n + p] * values[row + c];
          }
    }
    return result;
  }

  mesh::CellPoint find(std::span<const double> x) const {
    if (x.size() != static_cast<std::size_t>(mesh_.gdim))
      refuse(fmt::format("its cells have dimension {}, the points where it is evaluated {}", mesh_.gdim, x.size()));
    auto found = locator_->find(x);
    if (!found)
      refuse(
          fmt::format("no cell of it holds the point {}: its mesh does not cover the one on which the field is asked "
                      "for; {}",
                      mesh::describe_point(x), mesh::describe_nearest_node(mesh_, x)));
    return std::move(*found);
  }

  std::shared_ptr<const element::Element> element(std::size_t group) const { return elements_[group]; }
  [[noreturn]] void refuse(const std::string& message) const {
    throw base::InputError(fmt::format("\"{}\": {}", path_, message));
  }

private:
  /// Returns whether the file holds states at several times, of which the last one is read.
  bool has_steps() const { return reader_.has("VTKHDF/Steps"); }

  /// Returns the row where the point data of the last time begin.
  std::int64_t first_row(const std::string& name) const {
    if (!has_steps()) return 0;
    const auto offsets = "VTKHDF/Steps/PointDataOffsets/" + name;
    const auto rows = reader_.has(offsets) ? reader_.read<std::int64_t>(offsets) : std::vector<std::int64_t>{};
    if (rows.empty()) refuse(fmt::format("VTKHDF/Steps does not say where the point data '{}' are", name));
    return rows.back();
  }

  std::int64_t num_points() const { return static_cast<std::int64_t>(points_.size() / 3); }

  std::size_t point_of(const FileCells& cells, std::size_t cell, std::size_t local) const {
    return static_cast<std::size_t>(connectivity_[static_cast<std::size_t>(cells.starts[cell]) + local]);
  }

  void require_layout() const {
    if (!reader_.has("VTKHDF") || reader_.text_attribute("VTKHDF", "Type") != "UnstructuredGrid")
      refuse("is no VTK-HDF file of an unstructured grid");
    if (has_steps() && !reader_.has("VTKHDF/Steps/PointDataOffsets"))
      refuse("VTKHDF/Steps does not say where point data are: PointDataOffsets is missing");
    for (const std::string name : {"NumberOfPoints", "Points", "Connectivity", "Offsets", "Types"})
      if (!reader_.has("VTKHDF/" + name)) refuse(fmt::format("has no dataset VTKHDF/{}", name));
    if (reader_.shape("VTKHDF/NumberOfPoints") != std::vector<std::int64_t>{1})
      refuse("is written in several parts; accepted are files that `rafter solve` writes");
    if (const auto shape = reader_.shape("VTKHDF/Points"); shape.size() != 2 || shape[1] != 3)
      refuse("VTKHDF/Points does not have three columns");
  }

  void read_cells() {
    const auto types = reader_.read<std::uint8_t>("VTKHDF/Types");
    const auto offsets = reader_.read<std::int64_t>("VTKHDF/Offsets");
    if (types.empty()) refuse("has no cells");
    if (offsets.size() != types.size() + 1 || offsets.front() != 0 || !std::ranges::is_sorted(offsets) ||
        offsets.back() != static_cast<std::int64_t>(connectivity_.size()))
      refuse("VTKHDF/Offsets do not divide VTKHDF/Connectivity into the cells of VTKHDF/Types");
    if (std::ranges::any_of(connectivity_, [this](auto point) { return point < 0 || point >= num_points(); }))
      refuse("VTKHDF/Connectivity names points that are not there");
    std::map<std::pair<int, std::size_t>, std::pair<Shape, int>> kinds;
    for (std::size_t cell = 0; cell < types.size(); ++cell) {
      const auto count = static_cast<std::size_t>(offsets[cell + 1] - offsets[cell]);
      auto found = kinds.find({types[cell], count});
      if (found == kinds.end())
        found = kinds.emplace(std::pair(int{types[cell]}, count), kind(types[cell], count)).first;
      add_cell(found->second.first, found->second.second, offsets[cell]);
    }
  }

  std::pair<Shape, int> kind(int type, std::size_t num_points) const {
    const auto shape = shape_of_type(type);
    const auto order = shape ? order_of(shape->first, shape->second, num_points) : std::nullopt;
    if (!order)
      refuse(fmt::format("has a cell of VTK's type {} with {} points; accepted are those that `rafter solve` writes",
                         type, num_points));
    return {shape->first, *order};
  }

  void add_cell(Shape shape, int order, std::int64_t start) {
    const auto& reference = straight_cells(shape, order);
    const bool is_straight = order == 1 || has_straight_geometry(reference, start);
    auto found = std::ranges::find_if(cells_, [&](const FileCells& cells) {
      return cells.shape == shape && cells.order == order && cells.is_straight == is_straight;
    });
    if (found == cells_.end())
      found = cells_.insert(cells_.end(), FileCells{shape, order, is_straight, reference.points, {}});
    found->starts.push_back(start);
  }

  /// The points of a straight cell are multilinear functions of its corners, which is how such cells are recognised.
  struct StraightCells {
    std::vector<LatticePoint> points;
    std::vector<std::size_t> corners; ///< index of each vertex among the points
    element::Table functions;         ///< vertex functions, tabulated at the points
  };
  const StraightCells& straight_cells(Shape shape, int order) {
    const auto found = straight_.find({shape, order});
    if (found != straight_.end()) return found->second;
    StraightCells result{file_points(shape, order), {}, {}};
    for (int v = 0; v < element::num_vertices(shape); ++v) {
      const auto place = std::ranges::find(result.points, mesh::lattice_vertex(shape, order, v));
      result.corners.push_back(static_cast<std::size_t>(place - result.points.begin()));
    }
    const auto linear = element::make_element(element::Family::lagrange, shape, 1);
    result.functions =
        linear->tabulate(mesh::lattice_positions(shape, order, result.points, mesh::Spacing::equispaced));
    return straight_.emplace(std::pair(shape, order), std::move(result)).first->second;
  }

  bool has_straight_geometry(const StraightCells& reference, std::int64_t start) const {
    const auto x = [&](std::size_t local, std::size_t axis) {
      return points_[3 * static_cast<std::size_t>(connectivity_[static_cast<std::size_t>(start) + local]) + axis];
    };
    double size = 0, difference = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t p = 0; p < reference.points.size(); ++p) {
        double straight = 0;
        for (std::size_t v = 0; v < reference.corners.size(); ++v)
          straight += reference.functions(0, static_cast<int>(p), static_cast<int>(v)) * x(reference.corners[v], axis);
        size = std::max(size, std::abs(x(p, axis) - x(0, axis)));
        difference = std::max(difference, std::abs(x(p, axis) - straight));
      }
    return difference <= 1e-12 * size;
  }

  void make_mesh() {
    mesh::RawMesh raw{.source = path_};
    raw.tdim = element::dimension(cells_[0].shape);
    if (std::ranges::any_of(cells_, [&](const auto& cells) { return element::dimension(cells.shape) != raw.tdim; }))
      refuse("has cells of several dimensions");
    if (num_points() > std::numeric_limits<std::int32_t>::max()) refuse("has more than 2147483647 points");
    raw.coordinates = points_;
    raw.num_vertices = static_cast<std::int32_t>(num_points());
    raw.is_continuous = false; // neighbours whose tags differ do not share points
    for (const auto& cells : cells_) {
      const int degree = cells.is_straight ? 1 : cells.order;
      auto& group = raw.cells.emplace_back(mesh::RawCells{.shape = cells.shape, .degree = degree});
      std::vector<std::size_t> places;
      for (auto point : mesh::gmsh_lattice(cells.shape, degree)) {
        for (auto& coordinate : point) coordinate *= cells.order / degree;
        places.push_back(static_cast<std::size_t>(std::ranges::find(cells.points, point) - cells.points.begin()));
      }
      for (std::size_t cell = 0; cell < cells.starts.size(); ++cell)
        for (const auto place : places) group.nodes.push_back(static_cast<std::int32_t>(point_of(cells, cell, place)));
      group.tags.assign(cells.starts.size(), 0);
      elements_.push_back(element::make_element(element::Family::lagrange, cells.shape, cells.order));
    }
    mesh_ = mesh::assemble(std::move(raw));
  }

  /// Returns the first `count` components at all points, shape (point, component).
  std::vector<double> read_values(const std::string& name, int count) const {
    const auto columns = static_cast<std::size_t>(num_components(name)), kept = static_cast<std::size_t>(count);
    // The last state alone is read of a series, which may be far larger than the memory.
    const auto values = reader_.read_rows<double>("VTKHDF/PointData/" + name, first_row(name), num_points());
    if (kept > columns || (kept < columns && !(kept == 2 && columns == 3)))
      refuse(fmt::format("the point data '{}' has {} components, expected are {}", name, columns, count));
    std::vector<double> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) refuse(fmt::format("the point data '{}' has a value that is not finite", name));
      if (i % columns < kept)
        result.push_back(values[i]);
      else if (values[i] != 0)
        refuse(fmt::format("the point data '{}' has three components, expected are two", name));
    }
    return result;
  }

  std::string path_;
  Hdf5Reader reader_;
  std::vector<double> points_;             ///< shape (point, 3)
  std::vector<std::int64_t> connectivity_; ///< points of one cell after the other
  std::vector<FileCells> cells_;
  std::map<std::pair<Shape, int>, StraightCells> straight_;
  mesh::Mesh mesh_;                                               ///< has the same groups as cells_
  std::vector<std::shared_ptr<const element::Element>> elements_; ///< elements of the values, shape (group)
  std::unique_ptr<const mesh::PointLocator> locator_;
};

VtkHdfReader::VtkHdfReader(const std::string& path) : file_(std::make_shared<const File>(path)) {}
VtkHdfReader::~VtkHdfReader() = default;

int VtkHdfReader::order() const { return file_->order(); }
int VtkHdfReader::dimension() const { return file_->dimension(); }
std::vector<std::string> VtkHdfReader::names() const { return file_->names(); }
int VtkHdfReader::num_components(const std::string& name) const { return file_->num_components(name); }

space::SpatialFunction VtkHdfReader::function(const std::string& name, int count) const {
  const auto coefficients = std::make_shared<const std::vector<std::vector<double>>>(file_->coefficients(name, count));
  return [file = file_, coefficients](std::span<const double> x, std::span<double> values) {
    const auto at = file->find(x);
    const auto group = static_cast<std::size_t>(at.group);
    const auto functions = file->element(group)->tabulate(at.reference);
    const auto n = static_cast<std::size_t>(functions.num_dofs);
    std::ranges::fill(values, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < values.size(); ++c)
        values[c] += functions(0, 0, static_cast<int>(i)) *
                     (*coefficients)[group][(static_cast<std::size_t>(at.cell) * n + i) * values.size() + c];
  };
}

} // namespace rafter::io

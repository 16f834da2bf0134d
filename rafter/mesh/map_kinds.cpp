// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/map_kinds.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <rafter/base/parallel.hpp>
#include <rafter/mesh/geometry_nodes.hpp>

namespace rafter::mesh {

namespace {

/// Determines the map kinds of the cells of one group.
class MapClassifier {
public:
  MapClassifier(const Mesh& mesh, const CellGroup& group, double tolerance)
      : mesh_(mesh), group_(group), tolerance_(tolerance), dim_(mesh.tdim), geometry_(geometry_element(group)),
        corner_nodes_(vertex_nodes(*geometry_)) {
    const auto reference = element::reference_vertices(group.shape);
    for (std::size_t v = 0; v < corner_nodes_.size(); ++v)
      for (int axis = 0; axis < dim_; ++axis) along_[v][axis] = (reference[v * dim_ + axis] + 1) / 2;
    if (group.degree > 1) functions_ = vertex_functions(group.shape, geometry_->nodes());
    for (int axis = 0; axis < dim_; ++axis) axis_vertices_[axis] = element::axis_vertex(group.shape, axis);
  }

  MapKind kind(std::int32_t cell) {
    load(cell);
    if (!is_straight()) return MapKind::isoparametric;
    const bool is_tensor = element::is_tensor(group_.shape);
    if (is_affine()) return is_tensor && dim_ > 1 && is_diagonal() ? MapKind::cartesian : MapKind::affine;
    return is_tensor ? MapKind::multilinear : MapKind::isoparametric;
  }

private:
  void load(std::int32_t cell) {
    nodes_ = group_.nodes.data() + static_cast<std::size_t>(cell) * geometry_->num_dofs();
    double size = 0, largest = 0;
    for (std::size_t v = 0; v < corner_nodes_.size(); ++v) {
      const double* x = point(corner_nodes_[v]);
      for (int d = 0; d < dim_; ++d) {
        corners_[v][d] = x[d];
        size = std::max(size, std::abs(corners_[v][d] - corners_[0][d]));
        largest = std::max(largest, std::abs(corners_[v][d]));
      }
    }
    rounding_ = 4 * std::numeric_limits<double>::epsilon() * largest;
    bound_ = tolerance_ * size + rounding_;
  }

  const double* point(int local_node) const {
    return mesh_.points.data() + static_cast<std::size_t>(nodes_[local_node]) * dim_;
  }

  /// Says whether all nodes lie where the map given by the vertices alone puts them.
  bool is_straight() const {
    const std::size_t num_vertices = corner_nodes_.size();
    for (std::size_t n = 0; n * num_vertices < functions_.size(); ++n)
      for (int d = 0; d < dim_; ++d) {
        double x = 0;
        for (std::size_t v = 0; v < num_vertices; ++v) x += functions_[n * num_vertices + v] * corners_[v][d];
        if (!(std::abs(x - point(static_cast<int>(n))[d]) <= bound_)) return false;
      }
    return true;
  }

  /// Loops run over three axes in any dimension, because their number is known to the compiler then: what lies beyond
  /// the dimension is 0.
  bool is_affine() const {
    std::array<std::array<double, 3>, 3> edges{}; // edge vectors along the reference axes
    for (int axis = 0; axis < dim_; ++axis)
      for (std::size_t d = 0; d < 3; ++d) edges[axis][d] = corners_[axis_vertices_[axis]][d] - corners_[0][d];
    bool is_near = true;
    for (std::size_t v = 0; v < corner_nodes_.size(); ++v) {
      auto x = corners_[0];
      for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::size_t d = 0; d < 3; ++d) x[d] += along_[v][axis] * edges[axis][d];
      for (std::size_t d = 0; d < 3; ++d) is_near &= std::abs(x[d] - corners_[v][d]) <= bound_;
    }
    return is_near;
  }

  /// Says of an affine cell whether each edge is parallel to its axis, relative to the extents of the cell along the
  /// others.
  bool is_diagonal() const {
    for (int axis = 0; axis < dim_; ++axis)
      for (int d = 0; d < dim_; ++d) {
        const double extent = corners_[axis_vertices_[d]][d] - corners_[0][d];
        const double shear = corners_[axis_vertices_[axis]][d] - corners_[0][d];
        if (d != axis && !(std::abs(shear) <= tolerance_ * std::abs(extent) + rounding_)) return false;
      }
    return true;
  }

  const Mesh& mesh_;
  const CellGroup& group_;
  double tolerance_;
  int dim_;
  std::shared_ptr<const element::Element> geometry_;
  std::vector<int> corner_nodes_;
  std::array<std::array<double, 3>, 8> along_{}; ///< place of a vertex along an axis, 0 to 1, shape (vertex, axis)
  std::vector<double> functions_; ///< vertex functions at the geometry nodes, shape (node, vertex); empty for degree 1
  std::array<int, 3> axis_vertices_{};
  std::array<std::array<double, 3>, 8> corners_{};
  const std::int32_t* nodes_ = nullptr;
  double bound_ = 0, rounding_ = 0;
};

} // namespace

std::string_view name(MapKind kind) {
  switch (kind) {
  case MapKind::cartesian:
    return "cartesian";
  case MapKind::affine:
    return "affine";
  case MapKind::multilinear:
    return "multilinear";
  case MapKind::isoparametric:
    return "isoparametric";
  }
  return "";
}

std::vector<MapKind> map_kinds(const Mesh& mesh, int group, double tolerance) {
  const auto& cells = mesh.groups[group];
  std::vector<MapKind> kinds(cells.tags.size(), MapKind::affine);
  if (element::is_simplex(cells.shape) && cells.degree == 1) return kinds;
  base::Parts(cells.num_cells()).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    MapClassifier classifier(mesh, cells, tolerance);
    for (std::int64_t c = begin; c < end; ++c) kinds[c] = classifier.kind(static_cast<std::int32_t>(c));
  });
  return kinds;
}

} // namespace rafter::mesh

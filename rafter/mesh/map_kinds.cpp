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

/// Determines the map kinds of the cells of one group. The dimension is known to the compiler, so that loops over axes
/// are unrolled.
template <int dim> class MapClassifier {
public:
  MapClassifier(const Mesh& mesh, const CellGroup& group, double tolerance)
      : mesh_(mesh), group_(group), tolerance_(tolerance), geometry_(geometry_element(group)),
        num_nodes_(static_cast<std::size_t>(geometry_->num_dofs())), corner_nodes_(vertex_nodes(*geometry_)) {
    const auto reference = element::reference_vertices(group.shape);
    for (std::size_t v = 0; v < corner_nodes_.size(); ++v)
      for (std::size_t axis = 0; axis < dim; ++axis)
        if (reference[v * dim + axis] > 0) along_[v] |= std::size_t{1} << axis;
    if (group.degree > 1) functions_ = vertex_functions(group.shape, geometry_->nodes());
    for (int axis = 0; axis < dim; ++axis) axis_vertices_[axis] = element::axis_vertex(group.shape, axis);
  }

  MapKind kind(std::int32_t cell) {
    load(cell);
    if (!is_straight()) return MapKind::isoparametric;
    const bool is_tensor = element::is_tensor(group_.shape);
    if (is_affine()) return is_tensor && dim > 1 && is_diagonal() ? MapKind::cartesian : MapKind::affine;
    return is_tensor ? MapKind::multilinear : MapKind::isoparametric;
  }

private:
  void load(std::int32_t cell) {
    nodes_ = group_.nodes().data() + static_cast<std::size_t>(cell) * num_nodes_;
    const std::size_t num_vertices = corner_nodes_.size();
    for (std::size_t v = 0; v < num_vertices; ++v) {
      const double* x = point(corner_nodes_[v]);
      for (std::size_t d = 0; d < dim; ++d) corners_[v][d] = x[d];
    }
    for (std::size_t v = num_vertices; v < most_corners; ++v) corners_[v] = corners_[0];
    std::array<double, dim> sizes{}, largest{};
    for (std::size_t v = 0; v < most_corners; ++v)
      for (std::size_t d = 0; d < dim; ++d) {
        sizes[d] = std::max(sizes[d], std::abs(corners_[v][d] - corners_[0][d]));
        largest[d] = std::max(largest[d], std::abs(corners_[v][d]));
      }
    rounding_ = 4 * std::numeric_limits<double>::epsilon() * *std::ranges::max_element(largest);
    bound_ = tolerance_ * *std::ranges::max_element(sizes) + rounding_;
  }

  const double* point(int local_node) const {
    return mesh_.points.data() + static_cast<std::size_t>(nodes_[local_node]) * dim;
  }

  /// Says whether all nodes lie where the map given by the vertices alone puts them.
  bool is_straight() const {
    const std::size_t num_vertices = corner_nodes_.size();
    for (std::size_t n = 0; n * num_vertices < functions_.size(); ++n)
      for (int d = 0; d < dim; ++d) {
        double x = 0;
        for (std::size_t v = 0; v < num_vertices; ++v) x += functions_[n * num_vertices + v] * corners_[v][d];
        if (!(std::abs(x - point(static_cast<int>(n))[d]) <= bound_)) return false;
      }
    return true;
  }

  bool is_affine() const {
    std::array<std::array<double, dim>, dim> edges; // edge vectors along the reference axes
    for (std::size_t axis = 0; axis < dim; ++axis)
      for (std::size_t d = 0; d < dim; ++d)
        edges[axis][d] = corners_[static_cast<std::size_t>(axis_vertices_[axis])][d] - corners_[0][d];
    // Corner v of the parallelepiped of the edges, for each set of axes as bits.
    auto places = corners_;
    for (std::size_t axis = 0; axis < dim; ++axis)
      for (std::size_t v = 0; v < std::size_t{1} << axis; ++v)
        for (std::size_t d = 0; d < dim; ++d) places[v | std::size_t{1} << axis][d] = places[v][d] + edges[axis][d];
    bool is_near = true;                    // the loops do not end early, so that they have no branches
    if (element::is_tensor(group_.shape)) { // the compiler unrolls a loop over all corners
      for (std::size_t v = 0; v < most_corners; ++v)
        for (std::size_t d = 0; d < dim; ++d) is_near &= std::abs(places[v][d] - corners_[v][d]) <= bound_;
      return is_near;
    }
    for (std::size_t v = 0; v < corner_nodes_.size(); ++v)
      for (std::size_t d = 0; d < dim; ++d) is_near &= std::abs(places[along_[v]][d] - corners_[v][d]) <= bound_;
    return is_near;
  }

  /// Says of an affine cell whether each edge is parallel to its axis, relative to the extents of the cell along the
  /// others.
  bool is_diagonal() const {
    for (int axis = 0; axis < dim; ++axis)
      for (int d = 0; d < dim; ++d) {
        const double extent = corners_[axis_vertices_[d]][d] - corners_[0][d];
        const double shear = corners_[axis_vertices_[axis]][d] - corners_[0][d];
        if (d != axis && !(std::abs(shear) <= tolerance_ * std::abs(extent) + rounding_)) return false;
      }
    return true;
  }

  const Mesh& mesh_;
  const CellGroup& group_;
  double tolerance_;
  std::shared_ptr<const element::Element> geometry_;
  std::size_t num_nodes_;
  std::vector<int> corner_nodes_;
  static constexpr std::size_t most_corners = std::size_t{1} << dim;
  std::array<std::size_t, most_corners> along_{}; ///< axes along which a vertex is at the upper end, as bits
  std::vector<double> functions_; ///< vertex functions at the geometry nodes, shape (node, vertex); empty for degree 1
  std::array<int, 3> axis_vertices_{};
  std::array<std::array<double, dim>, most_corners> corners_{}; ///< those that a shape does not have repeat the first
  const std::int32_t* nodes_ = nullptr;
  double bound_ = 0, rounding_ = 0;
};

template <int dim>
void find_kinds(const Mesh& mesh, const CellGroup& group, double tolerance, std::span<MapKind> kinds) {
  base::Parts(group.num_cells()).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    MapClassifier<dim> classifier(mesh, group, tolerance);
    for (std::int64_t c = begin; c < end; ++c)
      kinds[static_cast<std::size_t>(c)] = classifier.kind(static_cast<std::int32_t>(c));
  });
}

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
  const auto find = mesh.tdim == 1 ? find_kinds<1> : mesh.tdim == 2 ? find_kinds<2> : find_kinds<3>;
  find(mesh, cells, tolerance, kinds);
  return kinds;
}

} // namespace rafter::mesh

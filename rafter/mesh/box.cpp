// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/box.hpp>
#include <rafter/mesh/cell_range.hpp>
#include <rafter/mesh/cube_split.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

namespace {

using element::Shape;

constexpr std::array tensor_shapes{Shape::interval, Shape::quadrilateral, Shape::hexahedron};

/// The split of the cubes of a box into cells, which depends on their column (their place along the first axis).
struct Layout {
  struct Slab {
    CubeSplit split;
    int num_columns = 0;
  };
  std::vector<Slab> slabs; ///< slabs from left to right

  const CubeSplit& at(int column) const {
    for (const auto& slab : slabs) {
      if (column < slab.num_columns) return slab.split;
      column -= slab.num_columns;
    }
    return slabs.back().split;
  }
};

/// Names of the shapes that a box of this dimension accepts.
std::vector<std::string> accepted_shapes(int dim) {
  std::vector<std::string> names;
  for (const auto shape : element::all_cell_shapes)
    if (element::dimension(shape) == dim) names.emplace_back(element::name(shape));
  if (dim > 1) names.emplace_back("mixed");
  return names;
}

void require_columns(int found, int dim) {
  const int needed = least_mixed_columns(dim);
  if (found < needed)
    throw base::InputError(fmt::format("box: {} cells along x; a mixed box needs at least {}", found, needed));
}

/// Layout with squares on the left and triangles on the right.
Layout mixed_layout_2d(int columns) {
  require_columns(columns, 2);
  return {{{split_into(Shape::quadrilateral), columns / 2}, {split_into(Shape::triangle), columns - columns / 2}}};
}

/// Layout with prisms, hexahedra, one column of pyramids, and tetrahedra, from left to right.
Layout mixed_layout_3d(int columns) {
  require_columns(columns, 3);
  const int quarter = columns / 4;
  return {{{split_into(Shape::prism), quarter},
           {split_into(Shape::hexahedron), columns - 2 * quarter - 1},
           {split_between_hexahedra_and_tetrahedra(), 1},
           {split_into(Shape::tetrahedron), quarter}}};
}

Layout make_layout(const BoxOptions& options) {
  const int dim = static_cast<int>(options.cells.size());
  const auto accepted = accepted_shapes(dim);
  std::string name = options.shape;
  if (name.empty()) name = element::name(tensor_shapes[dim - 1]);
  if (std::find(accepted.begin(), accepted.end(), name) == accepted.end())
    throw base::InputError(fmt::format("box: shape '{}' in {} dimension{}; accepted: {}{}", name, dim,
                                       dim > 1 ? "s" : "", base::join(accepted, ", "),
                                       base::suggestion(name, accepted)));
  const int columns = options.cells[0];
  if (name == "mixed") return dim == 2 ? mixed_layout_2d(columns) : mixed_layout_3d(columns);
  return {{{split_into(element::shape_from_name(name)), columns}}};
}

} // namespace

std::vector<double> box_size(const BoxOptions& options) {
  const std::size_t dim = options.cells.size();
  return options.size.empty() ? std::vector<double>(dim, 1.0) : options.size;
}

std::string range_fault(const BoxOptions& options) {
  const auto size = box_size(options);
  std::vector<double> lengths, squared;
  for (std::size_t d = 0; d < size.size(); ++d) {
    lengths.push_back(size[d] / options.cells[d]);
    squared.push_back(lengths.back() * lengths.back() / 4); // square of a column of the Jacobian, half an edge
  }
  if (is_computable(squared)) return "";
  return fmt::format("its cells have edges of [{:.2g}], and computing with them under- or overflows; accepted are "
                     "lengths in units in which they are nearer to 1",
                     fmt::join(lengths, ", "));
}

void require_valid(const BoxOptions& options) {
  const std::size_t dim = options.cells.size();
  if (dim < 1 || dim > 3)
    throw base::InputError(fmt::format("box: cells has {} entries; accepted: 1, 2 or 3, one per direction", dim));
  for (const int n : options.cells)
    if (n < 1)
      throw base::InputError(
          fmt::format("box: cells = [{}]; every count must be at least 1", fmt::join(options.cells, ", ")));
  const auto size = box_size(options);
  if (size.size() != dim)
    throw base::InputError(fmt::format("box: size has {} entries, cells has {}; they must agree", size.size(), dim));
  for (const double length : size)
    if (!(length > 0) || !std::isfinite(length))
      throw base::InputError(
          fmt::format("box: size = [{}]; every length must be positive and finite", fmt::join(size, ", ")));
  if (const auto fault = range_fault(options); !fault.empty())
    throw base::InputError(fmt::format("box: size = [{}]: {}", fmt::join(size, ", "), fault));
  if (options.degree < 1 || options.degree > element::max_lagrange_degree)
    throw base::InputError(
        fmt::format("box: degree = {}; accepted: 1 to {}", options.degree, element::max_lagrange_degree));
}

namespace {

/// The cubes of a box, and the numbers of their corners.
class Lattice {
public:
  explicit Lattice(const std::vector<int>& cells) : dim_(static_cast<int>(cells.size())) {
    std::copy(cells.begin(), cells.end(), cells_.begin());
    for (int d = 0; d < dim_; ++d) num_points_ *= cells_[d] + 1;
  }
  int dim() const { return dim_; }
  int cells(int d) const { return cells_[d]; }
  std::int64_t num_points() const { return num_points_; }
  std::int32_t corner(const std::array<int, 3>& cube, int local) const {
    std::int64_t number = 0;
    for (int d = dim_ - 1; d >= 0; --d) number = number * (cells_[d] + 1) + cube[d] + (local >> d & 1);
    return static_cast<std::int32_t>(number);
  }
  /// Numbers of the corners of a cube relative to its first one, shape (corner).
  std::array<std::int32_t, 8> corner_offsets() const {
    std::array<std::int32_t, 8> result{};
    for (int local = 0; local < 1 << dim_; ++local) result[static_cast<std::size_t>(local)] = corner({0, 0, 0}, local);
    return result;
  }

  /// Calls visit(cube) for every cube, first axis fastest.
  template <class Visit> void for_each_cube(Visit&& visit) const {
    for (int k = 0; k < (dim_ > 2 ? cells_[2] : 1); ++k)
      for (int j = 0; j < (dim_ > 1 ? cells_[1] : 1); ++j)
        for (int i = 0; i < cells_[0]; ++i) visit(std::array{i, j, k});
  }

private:
  int dim_;
  std::array<int, 3> cells_{1, 1, 1};
  std::int64_t num_points_ = 1;
};

/// Throws when the mesh of the box does not fit into memory or 32-bit numbers; returns the number of vertices in
/// centres of cubes.
std::int64_t require_box_fits(const BoxOptions& options, const Layout& layout) {
  double points = 1, cross_section = 1;
  for (std::size_t d = 0; d < options.cells.size(); ++d) {
    points *= options.cells[d] + 1.0;
    if (d > 0) cross_section *= options.cells[d];
  }
  std::vector<PlannedCells> planned;
  double centres = 0;
  for (const auto& slab : layout.slabs) {
    const double cubes = cross_section * slab.num_columns;
    if (slab.split.has_centre) centres += cubes;
    for (const auto& cell : slab.split.cells) {
      auto found = std::find_if(planned.begin(), planned.end(), [&](const auto& p) { return p.shape == cell.shape; });
      if (found == planned.end()) found = planned.insert(planned.end(), {cell.shape, options.degree, 0});
      found->count += cubes;
    }
  }
  require_mesh_fits(fmt::format("box: a box of {} cubes", fmt::join(options.cells, " x ")), points + centres, planned);
  return static_cast<std::int64_t>(centres);
}

void add_points(Mesh& mesh, const Lattice& lattice, const Layout& layout, const std::vector<double>& size) {
  const auto dim = static_cast<std::size_t>(lattice.dim());
  // i/n * L is exactly L at the far end, for every n.
  const auto coordinate = [&](std::size_t d, double place) {
    return place / lattice.cells(static_cast<int>(d)) * size[d];
  };
  std::array<std::vector<double>, 3> of_places; // shape (axis, place)
  for (std::size_t d = 0; d < 3; ++d)
    for (int i = 0; i <= (d < dim ? lattice.cells(static_cast<int>(d)) : 0); ++i)
      of_places[d].push_back(d < dim ? coordinate(d, i) : 0);
  mesh.points.resize(static_cast<std::size_t>(mesh.num_vertices) * dim);
  const auto per_row = of_places[0].size(), rows_per_layer = of_places[1].size();
  base::Parts(static_cast<std::int64_t>(rows_per_layer * of_places[2].size()), 1 << 8)
      .run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
          auto* x = mesh.points.data() + row * per_row * dim;
          const std::array<double, 3> of_row{0, of_places[1][row % rows_per_layer], of_places[2][row / rows_per_layer]};
          for (const double first : of_places[0]) {
            *x++ = first;
            for (std::size_t d = 1; d < dim; ++d) *x++ = of_row[d];
          }
        }
      });
  auto* x = mesh.points.data() + static_cast<std::size_t>(lattice.num_points()) * dim;
  if (std::ranges::none_of(layout.slabs, [](const auto& slab) { return slab.split.has_centre; })) return;
  lattice.for_each_cube([&](const std::array<int, 3>& cube) {
    if (layout.at(cube[0]).has_centre)
      for (std::size_t d = 0; d < dim; ++d) *x++ = coordinate(d, cube[d] + 0.5);
  });
}

/// Says where the cells of the cubes of a row go, a row being all cubes along the first axis.
struct Row {
  /// A cell of a cube is one of the cells that the row has in its group.
  struct Place {
    const CubeCell* of_cube;
    std::size_t group, cell;
  };
  std::vector<std::vector<Place>> columns;
  std::vector<std::int32_t> centres;  ///< centres of cubes before each column, shape (column)
  std::vector<std::size_t> num_cells; ///< shape (group)
  std::int32_t num_centres = 0;
};

/// Adds a group for each shape to the mesh.
Row make_row(const Lattice& lattice, const Layout& layout, Mesh& mesh) {
  for (const auto shape : element::all_cell_shapes)
    if (std::ranges::any_of(layout.slabs, [&](const auto& slab) {
          return std::ranges::any_of(slab.split.cells, [&](const CubeCell& p) { return p.shape == shape; });
        }))
      mesh.groups.emplace_back().shape = shape;
  Row row;
  row.num_cells.resize(mesh.groups.size());
  for (int column = 0; column < lattice.cells(0); ++column) {
    const auto& split = layout.at(column);
    row.centres.push_back(row.num_centres);
    if (split.has_centre) ++row.num_centres;
    auto& places = row.columns.emplace_back();
    for (const auto& cell : split.cells) {
      const auto group =
          static_cast<std::size_t>(std::ranges::find(mesh.groups, cell.shape, &CellGroup::shape) - mesh.groups.begin());
      places.push_back({&cell, group, row.num_cells[group]++});
    }
  }
  return row;
}

void add_cells(Mesh& mesh, const Lattice& lattice, const Row& row) {
  std::int64_t num_rows = 1;
  for (int d = 1; d < lattice.dim(); ++d) num_rows *= lattice.cells(d);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto count = static_cast<std::size_t>(num_rows) * row.num_cells[g];
    mesh.groups[g].vertices.resize(count * static_cast<std::size_t>(element::num_vertices(mesh.groups[g].shape)));
    mesh.groups[g].tags.assign(count, 1);
  }
  const auto offsets = lattice.corner_offsets();
  constexpr std::int64_t cubes_per_part = 1 << 14;
  base::Parts(num_rows, std::max<std::int64_t>(1, cubes_per_part / lattice.cells(0)))
      .run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t r = begin; r < end; ++r) {
          const int rows_per_layer = lattice.dim() > 1 ? lattice.cells(1) : 1;
          const auto j = static_cast<int>(r % rows_per_layer), k = static_cast<int>(r / rows_per_layer);
          const auto first_centre = static_cast<std::int32_t>(lattice.num_points() + r * row.num_centres);
          const auto first_corner = lattice.corner({0, j, k}, 0);
          for (int i = 0; i < lattice.cells(0); ++i) {
            std::array<std::int32_t, cube_centre + 1> numbers; // corners beyond the dimension are not read
            for (std::size_t local = 0; local < offsets.size(); ++local)
              numbers[local] = first_corner + i + offsets[local];
            numbers[cube_centre] = first_centre + row.centres[i];
            for (const auto& place : row.columns[i]) {
              auto& group = mesh.groups[place.group];
              const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
              auto* vertices = &group.vertices[(static_cast<std::size_t>(r) * row.num_cells[place.group] + place.cell) *
                                               num_vertices];
              for (std::size_t v = 0; v < num_vertices; ++v) vertices[v] = numbers[place.of_cube->vertices[v]];
            }
          }
        }
      });
}

/// Sides of the box on which each vertex lies, as bits: 2 d is the low end of axis d, 2 d + 1 the high end.
std::vector<std::uint8_t> boundary_sides(const Lattice& lattice, std::int32_t num_vertices) {
  std::vector<std::uint8_t> sides(num_vertices, 0);
  std::array<std::vector<std::uint8_t>, 3> of_places; // shape (axis, place)
  for (int d = 0; d < 3; ++d) {
    of_places[d].resize(d < lattice.dim() ? lattice.cells(d) + 1 : 1);
    if (d >= lattice.dim()) continue;
    of_places[d].front() = static_cast<std::uint8_t>(1 << 2 * d);
    of_places[d].back() |= static_cast<std::uint8_t>(2 << 2 * d);
  }
  auto* next = sides.data();
  for (const auto z : of_places[2])
    for (const auto y : of_places[1])
      for (const auto x : of_places[0]) *next++ = x | y | z;
  return sides;
}

/// Calls add(facet) for the facets on the sides of the box of cells from `begin` to `end`.
template <class Add>
void find_boundary(const Mesh& mesh, const CellGroup& group, std::span<const std::uint8_t> sides, std::size_t begin,
                   std::size_t end, const Add& add) {
  const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
  for (auto c = begin; c < end; ++c) {
    const auto vertices = std::span(group.vertices).subspan(c * num_vertices, num_vertices);
    if (std::ranges::all_of(vertices, [&](std::int32_t v) { return sides[v] == 0; })) continue;
    for (int f = 0; f < element::num_facets(group.shape); ++f) {
      TaggedFacet facet;
      unsigned common = 0xff;
      int n = 0;
      for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, f)) {
        facet.vertices[n] = vertices[v];
        common &= sides[facet.vertices[n++]];
      }
      for (int side = 0; side < 2 * mesh.tdim; ++side)
        if (common >> side & 1) {
          facet.tag = side + 1;
          add(facet);
        }
    }
  }
}

/// Says whether a row of cubes lies at a side of the box: others have cells there at their ends alone.
bool is_at_side(const Lattice& lattice, std::int64_t row) {
  const int j = static_cast<int>(row % (lattice.dim() > 1 ? lattice.cells(1) : 1)),
            k = static_cast<int>(row / (lattice.dim() > 1 ? lattice.cells(1) : 1));
  const auto is_end = [&](int d, int place) {
    return d < lattice.dim() && (place == 0 || place + 1 == lattice.cells(d));
  };
  return is_end(1, j) || is_end(2, k);
}

void tag_boundary(Mesh& mesh, const Lattice& lattice, const Row& row) {
  const auto sides = boundary_sides(lattice, mesh.num_vertices);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto per_row = row.num_cells[g];
    const auto in_column = [&](const std::vector<Row::Place>& places) {
      return static_cast<std::size_t>(std::ranges::count(places, g, &Row::Place::group));
    };
    const auto first = in_column(row.columns.front()),
               last = row.columns.size() > 1 ? in_column(row.columns.back()) : 0;
    const base::Parts parts(per_row == 0 ? 0 : group.num_cells() / static_cast<std::int64_t>(per_row), 1 << 8);
    std::vector<std::vector<TaggedFacet>> found(static_cast<std::size_t>(parts.count()));
    parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
      const auto add = [&of_part = found[static_cast<std::size_t>(part)]](const TaggedFacet& facet) {
        of_part.push_back(facet);
      };
      for (auto r = begin; r < end; ++r) {
        const auto cell = static_cast<std::size_t>(r) * per_row, next = cell + per_row;
        if (is_at_side(lattice, r)) {
          find_boundary(mesh, group, sides, cell, next, add);
          continue;
        }
        find_boundary(mesh, group, sides, cell, cell + first, add);
        find_boundary(mesh, group, sides, next - last, next, add);
      }
    });
    for (const auto& of_part : found)
      mesh.tagged_facets.insert(mesh.tagged_facets.end(), of_part.begin(), of_part.end());
  }
  constexpr std::array names{"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  for (int side = 0; side < 2 * mesh.tdim; ++side)
    mesh.physical_groups.names.insert({mesh.tdim - 1, names[side], side + 1});
}

} // namespace

Mesh make_box(const BoxOptions& options) {
  require_valid(options);
  const Layout layout = make_layout(options);
  const std::int64_t num_centres = require_box_fits(options, layout);
  const Lattice lattice(options.cells);
  Mesh mesh;
  mesh.source = "box";
  mesh.tdim = mesh.gdim = lattice.dim();
  mesh.num_vertices = static_cast<std::int32_t>(lattice.num_points() + num_centres);
  add_points(mesh, lattice, layout, box_size(options));
  const Row row = make_row(lattice, layout, mesh);
  add_cells(mesh, lattice, row);
  tag_boundary(mesh, lattice, row);
  if (options.degree > 1) raise_geometry_degree(mesh, options.degree);
  return mesh;
}

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/mfem.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/text.hpp>
#include <rafter/mesh/cursor.hpp>
#include <rafter/mesh/raw_mesh.hpp>
#include <rafter/mesh/readers.hpp>

namespace rafter::mesh {

using element::Shape;

namespace {

/// Reads elements or boundary elements of a file: lines "attribute geometry vertices...".
MfemCells read_cells(Cursor& in, std::string_view what, int dim) {
  const auto count = in.text_count(fmt::format("the number of {}", what), 4);
  MfemCells cells;
  for (std::size_t i = 0; i < count; ++i) {
    const auto tag = in.integer("an attribute");
    if (tag < 0 || tag > INT32_MAX)
      in.fail(fmt::format("the attribute {} is out of range: attributes are positive", tag));
    const auto geometry = in.integer("a geometry type");
    if (geometry < 0 || geometry >= static_cast<std::int64_t>(mfem_shapes.size()))
      in.fail(fmt::format("the geometry type is {}; 0 (point) to 7 (pyramid) exist", geometry));
    const auto shape = mfem_shapes[static_cast<std::size_t>(geometry)];
    if (element::dimension(shape) != dim)
      in.fail(fmt::format("the geometry type {} ({}) has dimension {}; {} of this mesh have dimension {}", geometry,
                          element::name(shape), element::dimension(shape), what, dim));
    cells.tags.push_back(static_cast<std::int32_t>(tag));
    cells.shapes.push_back(shape);
    cells.starts.push_back(cells.vertices.size());
    for (int v = 0; v < element::num_vertices(shape); ++v) {
      const auto vertex = in.integer("a vertex");
      if (vertex < 0 || vertex > INT32_MAX) in.fail(fmt::format("the vertex {} is out of range", vertex));
      cells.vertices.push_back(static_cast<std::int32_t>(vertex));
    }
  }
  return cells;
}

void check_vertices(Cursor& in, const MfemCells& cells, std::string_view what, std::size_t num_vertices) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto vertices = cells.of(c);
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      if (static_cast<std::size_t>(vertices[k]) >= num_vertices)
        in.fail(fmt::format("number {} (from 0) of the {} has vertex {}; there are {} vertices, numbered from 0", c,
                            what, vertices[k], num_vertices));
      if (std::find(vertices.begin(), vertices.begin() + static_cast<std::ptrdiff_t>(k), vertices[k]) !=
          vertices.begin() + static_cast<std::ptrdiff_t>(k))
        in.fail(
            fmt::format("number {} (from 0) of the {} has vertex {} twice: it is degenerate", c, what, vertices[k]));
    }
  }
}

/// Reads rows of `dim` coordinates, and pads them with zeros to three.
void read_coordinates(Cursor& in, std::size_t count, std::size_t dim, bool is_by_component, RawMesh& raw) {
  raw.coordinates.assign(3 * count, 0.0);
  for (std::size_t i = 0; i < count * dim; ++i) {
    const std::size_t row = is_by_component ? i % count : i / dim, d = is_by_component ? i / count : i % dim;
    raw.coordinates[3 * row + d] = in.number("a coordinate");
  }
}

/// Properties of the geometry nodes that the name of a finite element collection gives.
struct Collection {
  bool is_continuous = true;
  int degree = 1;
  Spacing spacing = Spacing::gauss_lobatto;
};

/// The degree in a name such as "H1_3D_P2" with prefix "H1_"; nothing when the name has another form.
std::optional<int> degree_of(std::string_view name, std::string_view prefix, int dim) {
  const auto head = fmt::format("{}{}D_P", prefix, dim);
  if (!name.starts_with(head)) return std::nullopt;
  const auto digits = name.substr(head.size());
  int degree = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), degree);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return degree;
}

Collection parse_collection(Cursor& in, std::string_view name, int dim) {
  Collection result;
  if (name == "Linear") return result;
  if (name == "Quadratic") {
    result.degree = 2;
  } else if (name == "Cubic") {
    result.degree = 3;
    result.spacing = Spacing::equispaced;
  } else if (const auto h1 = degree_of(name, "H1_", dim)) {
    result.degree = *h1;
  } else if (const auto l2 = degree_of(name, "L2_T1_", dim)) {
    result.degree = *l2;
    result.is_continuous = false;
  } else {
    in.fail(fmt::format("nodes of the collection '{0}' are not supported; H1_{1}D_P<degree>, L2_T1_{1}D_P<degree>, "
                        "Linear, Quadratic and "
                        "Cubic are",
                        printable(name), dim));
  }
  if (result.degree < 1 || result.degree > element::max_lagrange_degree)
    in.fail(fmt::format("nodes have degree {}; 1 to {} are supported", result.degree, element::max_lagrange_degree));
  return result;
}

/// Number of nodes inside a cell for a geometry degree.
std::int64_t num_inner_points(Shape shape, std::int64_t degree) {
  const auto n = degree - 1;
  switch (shape) {
  case Shape::interval:
    return n;
  case Shape::triangle:
    return n * (n - 1) / 2;
  case Shape::quadrilateral:
    return n * n;
  case Shape::tetrahedron:
    return n * (n - 1) * (n - 2) / 6;
  case Shape::hexahedron:
    return n * n * n;
  case Shape::prism:
    return n * n * (n - 1) / 2;
  default:
    return 0; // curved pyramids were refused before
  }
}

/// Reads the section "nodes", a grid function that gives the geometry.
MfemDofs read_nodes(Cursor& in, const MfemCells& cells, int dim, std::int32_t num_vertices, Collection& collection,
                    RawMesh& raw) {
  in.expect("FiniteElementSpace");
  in.expect("FiniteElementCollection:");
  collection = parse_collection(in, in.word("the finite element collection"), dim);
  if (collection.degree > 1 &&
      std::find(cells.shapes.begin(), cells.shapes.end(), Shape::pyramid) != cells.shapes.end())
    in.fail(
        "curved pyramids of MFEM are not supported: their function space is another one; write the mesh as Gmsh 4.1");
  in.expect("VDim:");
  const auto vdim = in.integer("the number of components");
  if (vdim != dim)
    in.fail(
        fmt::format("nodes have {} components in a mesh of dimension {}: surface meshes are not supported", vdim, dim));
  in.expect("Ordering:");
  const auto ordering = in.integer("the ordering");
  if (ordering != 0 && ordering != 1)
    in.fail(fmt::format("the ordering is {}; 0 (by nodes) and 1 (by components) exist", ordering));
  // Files that are too short are refused before dofs are numbered: a high degree means many dofs in few bytes.
  std::int64_t num_inner = 0;
  for (const auto shape : cells.shapes) num_inner += num_inner_points(shape, collection.degree);
  in.checked_count(num_inner, "the number of nodes inside cells", 2 * static_cast<std::size_t>(dim));
  auto dofs = collection.is_continuous
                  ? mfem_h1_dofs(cells, dim, num_vertices, collection.degree, collection.spacing == Spacing::equispaced)
                  : mfem_l2_dofs(cells, collection.degree);
  const auto count = in.checked_count(dofs.count, "the number of nodes", 2 * static_cast<std::size_t>(dim));
  read_coordinates(in, count, static_cast<std::size_t>(dim), ordering == 0, raw);
  return dofs;
}

void add_cells(const MfemCells& cells, const MfemDofs* dofs, const Collection& collection, RawMesh& raw) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    auto& group = cells_of(raw, cells.shapes[c], collection.degree);
    const auto vertices = cells.of(c);
    const auto& nodes = dofs != nullptr ? std::span<const std::int32_t>(dofs->cells[c]) : vertices;
    group.nodes.insert(group.nodes.end(), nodes.begin(), nodes.end());
    group.tags.push_back(cells.tags[c]);
    if (collection.is_continuous) {
      group.entities.push_back(cells.tags[c]); // plane cells of an attribute may all be listed clockwise
      continue;
    }
    const auto corners = gmsh_lattice(cells.shapes[c], 1);
    const auto index = lattice_index(1, corners);
    for (int v = 0; v < element::num_vertices(cells.shapes[c]); ++v)
      group.vertices.push_back(
          vertices[static_cast<std::size_t>(index[lattice_key(1, lattice_vertex(cells.shapes[c], 1, v))])]);
  }
}

void add_facets(const MfemCells& boundary, RawMesh& raw) {
  for (std::size_t f = 0; f < boundary.size(); ++f) {
    if (boundary.tags[f] == 0) continue;
    TaggedFacet facet{.tag = boundary.tags[f]};
    std::ranges::copy(boundary.of(f), facet.vertices.begin());
    raw.facets.push_back(facet);
  }
}

void check_header(Cursor& in) {
  in.at_end(); // skips blank lines
  const auto header = base::trimmed(in.line());
  if (header == "MFEM mesh v1.0") return;
  std::string hint;
  if (header.find("NURBS") != std::string_view::npos) hint = "; NURBS meshes are not supported";
  if (header.find("NC ") != std::string_view::npos || header == "MFEM mesh v1.1")
    hint = "; non-conforming meshes are not supported";
  in.fail(fmt::format("the format is '{}'; 'MFEM mesh v1.0' is supported{}", printable(header), hint));
}

} // namespace

Mesh read_mfem(const std::string& path, std::string_view bytes) {
  Cursor in(path, bytes, '#');
  check_header(in);
  RawMesh raw{.source = path};
  in.expect("dimension");
  const auto dim = in.integer("the dimension");
  if (dim < 1 || dim > 3) in.fail(fmt::format("the dimension is {}; 1, 2 and 3 are supported", dim));
  raw.tdim = static_cast<int>(dim);
  in.expect("elements");
  const auto cells = read_cells(in, "elements", raw.tdim);
  in.expect("boundary");
  const auto boundary = read_cells(in, "boundary elements", raw.tdim - 1);
  in.expect("vertices");
  const auto announced = in.integer("the number of vertices");
  // Vertices take no bytes in this section if the file has nodes, but every vertex has a node.
  const auto num_vertices = in.checked_count(announced, "the number of vertices", 2);
  check_vertices(in, cells, "elements", num_vertices);
  check_vertices(in, boundary, "boundary elements", num_vertices);
  raw.num_vertices = static_cast<std::int32_t>(num_vertices);

  Collection collection;
  if (in.peek() == "nodes") {
    in.expect("nodes");
    const auto dofs = read_nodes(in, cells, raw.tdim, raw.num_vertices, collection, raw);
    raw.is_continuous = collection.is_continuous;
    raw.spacing = collection.spacing;
    add_cells(cells, &dofs, collection, raw);
  } else {
    const auto space_dim = in.integer("the number of coordinates of a vertex");
    if (space_dim != dim)
      in.fail(fmt::format("vertices have {} coordinates in a mesh of dimension {}: surface meshes are not supported",
                          space_dim, dim));
    in.checked_count(announced, "the number of vertices", 2 * static_cast<std::size_t>(dim));
    read_coordinates(in, num_vertices, static_cast<std::size_t>(dim), false, raw);
    add_cells(cells, nullptr, collection, raw);
  }
  add_facets(boundary, raw);
  if (!in.at_end() && in.peek() != "mfem_mesh_end")
    in.fail(fmt::format("unexpected '{}' after the mesh", printable(in.peek())));
  return assemble(std::move(raw));
}

} // namespace rafter::mesh

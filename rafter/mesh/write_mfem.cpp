// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/lattice.hpp>
#include <rafter/mesh/mfem.hpp>
#include <rafter/mesh/writers.hpp>

namespace rafter::mesh {

namespace {

std::int64_t geometry_number(element::Shape shape) {
  return std::ranges::find(mfem_shapes, shape) - mfem_shapes.begin();
}

/// Rafter's local vertex number for each of MFEM's.
std::vector<std::size_t> corner_order(element::Shape shape) {
  const auto corners = gmsh_lattice(shape, 1);
  std::vector<std::size_t> order(corners.size());
  const auto index = lattice_index(1, corners);
  for (std::size_t v = 0; v < corners.size(); ++v)
    order[static_cast<std::size_t>(index[lattice_key(1, lattice_vertex(shape, 1, static_cast<int>(v)))])] = v;
  return order;
}

void append_boundary(const Mesh& mesh, std::string& text) {
  const auto facets = tagged_cell_facets(mesh);
  fmt::format_to(std::back_inserter(text), "\nboundary\n{}\n", facets.size());
  for (const auto& [ref, tag] : facets) {
    const auto& group = mesh.groups[static_cast<std::size_t>(ref.group)];
    const auto shape = element::facet_shape(group.shape, ref.facet);
    const auto local = element::entity_vertices(group.shape, mesh.tdim - 1, ref.facet);
    const auto first =
        static_cast<std::size_t>(ref.cell) * static_cast<std::size_t>(element::num_vertices(group.shape));
    fmt::format_to(std::back_inserter(text), "{} {}", tag, geometry_number(shape));
    for (const auto k : corner_order(shape))
      fmt::format_to(std::back_inserter(text), " {}", group.vertices[first + static_cast<std::size_t>(local[k])]);
    text += '\n';
  }
}

/// Throws InputError for cells or facets of several groups: an element of the format has one attribute.
void require_single_groups(const Mesh& mesh) {
  const auto require = [&mesh](int dim, std::int32_t tag, std::string_view what) {
    if (const auto groups = mesh.physical_groups.groups_of(dim, tag); groups.size() > 1)
      throw base::InputError(
          fmt::format("{}{} belong to several physical groups, {}; an element of the MFEM format has "
                      "one attribute: write a Gmsh file (.msh)",
                      prefix(mesh), what, mesh.physical_groups.text(dim, tag)));
  };
  for (const auto& group : mesh.groups)
    for (const auto tag : group.tags) require(mesh.tdim, tag, "cells");
  for (const auto& facet : mesh.tagged_facets) require(mesh.tdim - 1, facet.tag, "facets");
}

} // namespace

std::string mfem_text(const Mesh& mesh) {
  for (const auto& group : mesh.groups)
    if (group.degree != 1)
      throw base::InputError(fmt::format(
          "{}the geometry has degree {}; the MFEM format is written for degree 1 only: write a Gmsh file (.msh)",
          prefix(mesh), group.degree));
  require_single_groups(mesh);
  const auto x = vertex_coordinates(mesh);
  std::string text = fmt::format("MFEM mesh v1.0\n\ndimension\n{}\n\nelements\n{}\n", mesh.tdim, mesh.num_cells());
  auto out = std::back_inserter(text);
  for (const auto& group : mesh.groups) {
    const auto order = corner_order(group.shape);
    for (std::size_t c = 0; c < group.tags.size(); ++c) {
      fmt::format_to(out, "{} {}", group.tags[c], geometry_number(group.shape));
      for (const auto v : order) fmt::format_to(out, " {}", group.vertices[c * order.size() + v]);
      text += '\n';
    }
  }
  append_boundary(mesh, text);
  fmt::format_to(out, "\nvertices\n{}\n{}\n", mesh.num_vertices, mesh.gdim);
  for (std::size_t v = 0; v < static_cast<std::size_t>(mesh.num_vertices); ++v)
    for (int d = 0; d < mesh.gdim; ++d)
      fmt::format_to(out, "{}{}", x[3 * v + static_cast<std::size_t>(d)], d + 1 < mesh.gdim ? ' ' : '\n');
  return text;
}

} // namespace rafter::mesh

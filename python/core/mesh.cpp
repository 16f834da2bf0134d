// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/merge.hpp>
#include <rafter/mesh/raw_mesh.hpp>
#include <rafter/mesh/readers.hpp>

#include "bindings.hpp"
#include "handles.hpp"

namespace rafter::python {
namespace {

std::shared_ptr<MeshHandle> handle(mesh::Generations generations) {
  require_valid(*generations.finest());
  return std::make_shared<MeshHandle>(std::move(generations));
}

std::shared_ptr<MeshHandle> handle(mesh::Mesh mesh) {
  return handle(mesh::Generations{.meshes = {std::make_shared<const mesh::Mesh>(std::move(mesh))}, .refinements = {}});
}

/// Cells of one shape and degree: nodes of shape (cell, node) in Gmsh's order, and a tag for each cell.
using Cells = std::tuple<std::string, int, Integers, Integers>;
using Name = std::tuple<int, std::string, std::int32_t>;

std::vector<std::int32_t> copy(const Integers& values) { return {values.data(), values.data() + values.size()}; }

/// Facets: corners of shape (facet, corner), padded with -1 to four, and a tag for each.
std::shared_ptr<MeshHandle> from_arrays(int dim, const Doubles& points, const std::vector<Cells>& cells,
                                        const Integers& facets, const Integers& facet_tags,
                                        const std::vector<Name>& names, const std::string& source) {
  mesh::RawMesh raw;
  raw.source = source;
  raw.tdim = dim;
  raw.coordinates.assign(points.data(), points.data() + points.size());
  raw.num_vertices = static_cast<std::int32_t>(points.size() / 3);
  for (const auto& [shape, degree, nodes, tags] : cells) {
    auto& raw_cells = mesh::cells_of(raw, element::shape_from_name(shape), degree);
    const auto nodes_of_all = span_of(nodes);
    raw_cells.nodes.insert(raw_cells.nodes.end(), nodes_of_all.begin(), nodes_of_all.end());
    for (const auto tag : copy(tags)) raw_cells.tags.push_back(raw.physical_groups.tag_of(dim, {&tag, 1}));
  }
  for (std::size_t f = 0; f < facet_tags.size(); ++f) {
    mesh::TaggedFacet facet;
    for (std::size_t i = 0; i < 4; ++i) facet.vertices[i] = facets.data()[4 * f + i];
    facet.tag = facet_tags.data()[f];
    raw.facets.push_back(facet);
  }
  const nb::gil_scoped_release unlock;
  for (const auto& [of_dim, name, number] : names) raw.physical_groups.names.insert({of_dim, name, number});
  return handle(mesh::assemble(std::move(raw)));
}

std::map<std::string, std::int64_t> cells_by_shape(const mesh::Mesh& mesh) {
  std::map<std::string, std::int64_t> result;
  for (const auto& group : mesh.groups) result[std::string(element::name(group.shape))] += group.num_cells();
  return result;
}

/// Shapes of the groups of cells, with the coordinates of their vertices, shape (cell, vertex, gdim).
std::vector<std::pair<std::string, nb::ndarray<nb::numpy, double>>> cell_vertices(const mesh::Mesh& mesh) {
  std::vector<std::pair<std::string, nb::ndarray<nb::numpy, double>>> result;
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto count = static_cast<std::size_t>(group.num_cells());
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    std::vector<double> x;
    x.reserve(count * num_vertices * dim);
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell)
      for (const double value : mesh::cell_vertex_coordinates(mesh, static_cast<std::int32_t>(g), cell))
        x.push_back(value);
    result.emplace_back(std::string(element::name(group.shape)), to_numpy(std::move(x), {count, num_vertices, dim}));
  }
  return result;
}

} // namespace

void bind_mesh(nb::module_& module) {
  nb::class_<MeshHandle>(module, "Mesh")
      .def_prop_ro("dim", [](const MeshHandle& self) { return self.finest()->gdim; })
      .def_prop_ro("num_cells", [](const MeshHandle& self) { return self.finest()->num_cells(); })
      .def_prop_ro("cells_by_shape", [](const MeshHandle& self) { return cells_by_shape(*self.finest()); })
      .def_prop_ro("degree",
                   [](const MeshHandle& self) {
                     int result = 1;
                     for (const auto& group : self.finest()->groups) result = std::max(result, group.degree);
                     return result;
                   })
      .def_prop_ro(
          "points",
          [](const MeshHandle& self) {
            const auto& mesh = *self.finest();
            const auto dim = static_cast<std::size_t>(mesh.gdim);
            return to_numpy(mesh.points, {mesh.points.size() / dim, dim});
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "cell_vertices", [](const MeshHandle& self) { return cell_vertices(*self.finest()); },
          nb::rv_policy::automatic)
      .def_prop_ro("groups",
                   [](const MeshHandle& self) {
                     std::vector<Name> result;
                     for (const auto& of : self.finest()->physical_groups.names)
                       result.emplace_back(of.dim, of.name, of.number);
                     return result;
                   })
      .def("has_classes",
           [](const MeshHandle& self, int dim) { return !self.finest()->physical_groups.classes(dim).empty(); })
      .def("reserve", &MeshHandle::reserve)
      .def("refined",
           [](const MeshHandle& self, int times) {
             const nb::gil_scoped_release unlock; // warnings take the lock
             auto generations = self.generations();
             auto finer = mesh::refined_generations(self.finest(), times);
             generations.meshes.insert(generations.meshes.end(), finer.meshes.begin() + 1, finer.meshes.end());
             generations.refinements.insert(generations.refinements.end(), finer.refinements.begin(),
                                            finer.refinements.end());
             return handle(std::move(generations));
           })
      .def("periodic",
           [](const MeshHandle& self, const std::vector<std::pair<std::string, std::string>>& pairs) {
             const nb::gil_scoped_release unlock;
             std::vector<mesh::PeriodicPair> all;
             for (const auto& [from, to] : pairs) all.push_back({.from = {from}, .to = {to}});
             return handle(mesh::periodic_generations(self.generations(), all));
           })
      .def("write", [](const MeshHandle& self, const std::string& path) { write_mesh(*self.finest(), path); });
  module.def("box", [](const std::vector<int>& cells, const std::vector<double>& size, const std::string& shape,
                       int degree, int refine) {
    const nb::gil_scoped_release unlock;
    return handle(mesh::box_generations({.cells = cells, .size = size, .shape = shape, .degree = degree}, refine));
  });
  module.def("read_mesh", [](const std::string& path, std::optional<double> merge) {
    const nb::gil_scoped_release unlock;
    return handle(mesh::read_mesh(path, {.merge = merge}));
  });
  module.def("mesh_from_arrays", &from_arrays);
}

} // namespace rafter::python

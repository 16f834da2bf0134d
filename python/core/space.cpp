// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/mesh/locate.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/space/evaluate.hpp>
#include <rafter/space/expression_evaluator.hpp>

#include "bindings.hpp"
#include "handles.hpp"

namespace rafter::python {
namespace {

std::shared_ptr<SpaceHandle> make_space(const std::shared_ptr<MeshHandle>& mesh, const std::string& family, int degree,
                                        int components, const std::string& name, bool is_broken) {
  return std::make_shared<SpaceHandle>(
      SpaceHandle{mesh, space::FunctionSpace::make(mesh->discretisation(), {.family = element::family_from_name(family),
                                                                            .degree = degree,
                                                                            .components = components,
                                                                            .name = name,
                                                                            .is_broken = is_broken})});
}

/// Coordinates of nodes, shape (node, gdim), and the entries of vectors that belong to them, shape (node, component).
std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, std::int32_t>> nodes(const SpaceHandle& self) {
  const auto& V = *self.space;
  const auto components = static_cast<std::size_t>(V.num_components()), dim = static_cast<std::size_t>(V.gdim);
  std::vector<std::int32_t> node_of(static_cast<std::size_t>(V.num_local()), -1), entries, of_cell;
  std::vector<double> points;
  for (std::size_t g = 0; g < V.mesh().groups.size(); ++g) {
    const auto num_dofs = static_cast<std::size_t>(V.element(V.mesh().groups[g].shape)->num_dofs());
    of_cell.resize(num_dofs * components);
    for (std::int32_t cell = 0; cell < V.mesh().groups[g].num_cells(); ++cell) {
      const auto position = V.position(static_cast<std::int32_t>(g), cell);
      V.cell_dofs(position.block, position.batch, position.cell, of_cell);
      std::vector<double> x;
      for (std::size_t i = 0; i < num_dofs; ++i) {
        auto& node = node_of[static_cast<std::size_t>(of_cell[i])];
        if (node >= 0) continue;
        if (x.empty()) x = V.cell_node_points(static_cast<std::int32_t>(g), cell);
        node = static_cast<std::int32_t>(points.size() / dim);
        points.insert(points.end(), x.begin() + static_cast<std::ptrdiff_t>(i * dim),
                      x.begin() + static_cast<std::ptrdiff_t>((i + 1) * dim));
        for (std::size_t c = 0; c < components; ++c) entries.push_back(of_cell[c * num_dofs + i]);
      }
    }
  }
  const auto count = points.size() / dim;
  return {to_numpy(std::move(points), {count, dim}), to_numpy(std::move(entries), {count, components})};
}

/// Entries of vectors of all cells of each group, shape (cell, component * dofs), those of a component one after the
/// other.
std::vector<nb::ndarray<nb::numpy, std::int32_t>> cell_entries(const SpaceHandle& self) {
  const auto& V = *self.space;
  std::vector<nb::ndarray<nb::numpy, std::int32_t>> result;
  const auto system = op::make_system({self.space});
  for (std::size_t g = 0; g < V.mesh().groups.size(); ++g) {
    const auto num_cells = static_cast<std::size_t>(V.mesh().groups[g].num_cells());
    auto entries = op::local_unknowns(system, static_cast<int>(g));
    const auto size = num_cells == 0 ? 0 : entries.size() / num_cells;
    result.push_back(to_numpy(std::move(entries), {num_cells, size}));
  }
  return result;
}

/// Volumes of the cells, those of each group one after the other.
nb::ndarray<nb::numpy, double> cell_volumes(const SpaceHandle& self) {
  const auto& mesh = self.space->mesh();
  const std::vector<double> zeros(static_cast<std::size_t>(self.space->num_local()), 0.0);
  const auto any = std::make_shared<const form::LoweredExpression>(form::lower(form::field(self.space, "any")));
  std::vector<double> result;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto rule = element::make_quadrature(
        group.shape, std::min(element::dimension(group.shape) * group.degree, element::max_quadrature_degree));
    const std::vector<space::FieldValues> fields{{self.space, zeros}};
    const space::ExpressionEvaluator evaluator(any, fields, static_cast<std::int32_t>(g), rule.points);
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto measures = evaluator.measures(cell);
      result.push_back(std::inner_product(measures.begin(), measures.end(), rule.weights.begin(), 0.0));
    }
  }
  const auto count = result.size();
  return to_numpy(std::move(result), {count});
}

/// Values at points of shape (point, gdim): (point, component), NaN outside of the mesh.
nb::ndarray<nb::numpy, double> evaluate(const SpaceHandle& self, const Doubles& values, const Doubles& points) {
  const auto& V = *self.space;
  const mesh::PointLocator locator(V.mesh());
  const auto count = points.shape(0), dim = points.shape(1), components = static_cast<std::size_t>(V.num_components());
  std::vector<double> result(count * components, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = locator.find(span_of(points).subspan(i * dim, dim));
    if (!place) continue;
    const auto found = space::tabulate_field(V, span_of(values), place->group, place->cell, place->reference);
    std::ranges::copy(found, result.begin() + static_cast<std::ptrdiff_t>(i * components));
  }
  return to_numpy(std::move(result), {count, components});
}

/// A field that an expression reads: its space and its values.
using Known = std::pair<std::shared_ptr<SpaceHandle>, Doubles>;

/// The projection of an expression of fields and x onto a space, cell by cell (space::project).
nb::ndarray<nb::numpy, double> project(const SpaceHandle& self, const form::Expr& e, const std::vector<Known>& known) {
  std::vector<space::FieldValues> fields;
  for (const auto& [V, values] : known) fields.push_back({V->space, span_of(values)});
  std::vector<double> own(static_cast<std::size_t>(self.space->num_local()), 0.0);
  if (fields.empty()) fields.push_back({self.space, own});
  std::vector<double> result(own.size());
  {
    const nb::gil_scoped_release unlock; // warnings take the lock
    space::project(*self.space, std::make_shared<const form::LoweredExpression>(form::lower(e)), fields, result);
  }
  const auto size = result.size();
  return to_numpy(std::move(result), {size});
}

/// The values of an expression of fields and x at the nodes of a space: of nodes that several cells have, those in the
/// first one.
nb::ndarray<nb::numpy, double> interpolate(const SpaceHandle& self, const form::Expr& e,
                                           const std::vector<Known>& known) {
  const auto& V = *self.space;
  std::vector<space::FieldValues> fields;
  for (const auto& [of, values] : known) fields.push_back({of->space, span_of(values)});
  const auto expression = std::make_shared<const form::LoweredExpression>(form::lower(e));
  if (expression->components.size() != static_cast<std::size_t>(V.num_components()))
    throw base::InputError("interpolate: the expression has " + std::to_string(expression->components.size()) +
                           " components, and the function " + std::to_string(V.num_components()));
  const auto size = static_cast<std::size_t>(V.num_local());
  std::vector<double> result(size);
  {
    const nb::gil_scoped_release unlock;
    std::vector<bool> is_set(size);
    std::vector<std::int32_t> dofs;
    for (std::size_t g = 0; g < V.mesh().groups.size(); ++g) {
      const auto group = static_cast<std::int32_t>(g);
      const auto nodes = V.element(V.mesh().groups[g].shape)->nodes();
      const space::ExpressionEvaluator evaluator(expression, fields, group, nodes);
      for (std::int32_t cell = 0; cell < V.mesh().groups[g].num_cells(); ++cell) {
        const auto values = evaluator.values(cell);
        dofs.resize(values.size());
        const auto position = V.position(group, cell);
        V.cell_dofs(position.block, position.batch, position.cell, dofs);
        for (std::size_t i = 0; i < dofs.size(); ++i) {
          const auto dof = static_cast<std::size_t>(dofs[i]);
          if (!is_set[dof]) result[dof] = values[i];
          is_set[dof] = true;
        }
      }
    }
  }
  return to_numpy(std::move(result), {size});
}

} // namespace

void bind_space(nb::module_& module) {
  nb::class_<SpaceHandle>(module, "Space")
      .def_prop_ro("num_dofs", [](const SpaceHandle& self) { return self.space->num_dofs(); })
      .def_prop_ro("size", [](const SpaceHandle& self) { return self.space->num_local(); })
      .def("nodes", &nodes)
      .def("cell_entries", &cell_entries)
      .def("cell_volumes", &cell_volumes)
      .def("evaluate", &evaluate)
      .def("interpolate", &interpolate)
      .def("project", &project);
  module.def("space", &make_space);
}

} // namespace rafter::python

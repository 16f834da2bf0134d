// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/form.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/matrix/sparse_assembly.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/problem/planners.hpp>
#include <rafter/schedule/plan.hpp>

#include "arguments.hpp"
#include "bindings.hpp"
#include "handles.hpp"

namespace rafter::python {
namespace {

/// Gives a form the values of the fields and parameters that it holds.
template <class Form>
void set_data(Form& form, const DataArguments& data, const std::shared_ptr<device::Device>& device) {
  for (const auto& [name, values] : data.fields) form.set(name, to_vector(values, device));
  for (const auto& [name, values] : data.parameters) form.set(name, values);
}

using Spaces = std::vector<std::shared_ptr<SpaceHandle>>;

op::System system_of(const Spaces& spaces) {
  std::vector<std::shared_ptr<const space::FunctionSpace>> all;
  for (const auto& V : spaces) all.push_back(V->space);
  return op::make_system(all);
}

/// One system where test and trial functions have the same spaces.
op::Systems systems_of(const Spaces& tests, const Spaces& trials) {
  const auto is_same = [](const auto& a, const auto& b) { return a->space == b->space; };
  if (std::ranges::equal(tests, trials, is_same)) return {system_of(tests)};
  return {system_of(tests), system_of(trials)};
}

/// First entries and ends of the fields in vectors of a system.
std::vector<std::pair<std::int64_t, std::int64_t>> ranges_of(const op::System& system) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    result.emplace_back(system.offset(f), system.offset(f) + system.spaces[f]->num_local());
  return result;
}

/// (values, columns, starts of rows) of compressed rows
auto compressed_rows(const op::Operator& A) {
  op::SparseMatrix matrix;
  {
    const nb::gil_scoped_release unlock;
    matrix = A.sparse_matrix();
  }
  const auto num_entries = matrix.values.size(), num_starts = matrix.row_offsets.size();
  return std::make_tuple(
      to_numpy(std::vector<double>(matrix.values.begin(), matrix.values.end()), {num_entries}),
      to_numpy(std::vector<std::int32_t>(matrix.columns.begin(), matrix.columns.end()), {num_entries}),
      to_numpy(std::vector<std::int64_t>(matrix.row_offsets.begin(), matrix.row_offsets.end()), {num_starts}));
}

using Cells = std::optional<Integers>;

std::optional<std::span<const std::int32_t>> span_of_cells(const Cells& cells) {
  return cells ? std::optional(span_of(*cells)) : std::nullopt;
}

/// Returns the group of the cells of this shape, or with "" the only one that the mesh has.
int group_of_shape(const mesh::Mesh& mesh, const std::string& shape) {
  std::vector<std::string> names;
  for (const auto& group : mesh.groups) names.emplace_back(element::name(group.shape));
  if (shape.empty() && names.size() == 1) return 0;
  const auto found = std::ranges::find(names, shape);
  if (found == names.end())
    throw base::InputError(
        shape.empty() ? "the mesh has cells of several shapes: name one with shape=: " + base::join(names, ", ")
                      : "the mesh has no cells of shape '" + shape + "'; it has: " + base::join(names, ", "));
  return static_cast<int>(found - names.begin());
}

/// Returns (group, number of cells) of what callers ask for.
std::pair<int, std::size_t> cells_asked_for(const op::System& system, const std::string& shape, const Cells& cells) {
  const int group = group_of_shape(*system.mesh, shape);
  return {group, cells ? cells->size()
                       : static_cast<std::size_t>(system.mesh->groups[static_cast<std::size_t>(group)].num_cells())};
}

/// Returns (cells, rows, columns) of the matrices that are asked for.
std::tuple<std::size_t, int, int> shape_of_cell_matrices(const op::Operator& A, const std::string& shape,
                                                         const Cells& cells) {
  const auto [group, num_cells] = cells_asked_for(A.system(), shape, cells);
  return {num_cells, op::num_local_unknowns(A.system(), group), op::num_local_unknowns(A.trial_system(), group)};
}

/// Fills an array of callers, shape (cell, row, column).
template <class T>
void fill_cell_matrices(const op::Operator& A, const std::string& shape, const Cells& cells,
                        const nb::ndarray<T, nb::c_contig, nb::device::cpu>& values) {
  const int group = cells_asked_for(A.system(), shape, cells).first;
  const std::vector<op::CellArray<T>> arrays{
      {.group = group, .values = std::span(values.data(), values.size()), .cells = span_of_cells(cells)}};
  const nb::gil_scoped_release unlock;
  A.cell_matrices(arrays);
}

/// Returns the entries of vectors that local unknowns belong to, shape (cell, row).
nb::ndarray<nb::numpy, std::int32_t> cell_unknowns(const op::System& system, const std::string& shape,
                                                   const Cells& cells) {
  const auto [group, num_cells] = cells_asked_for(system, shape, cells);
  auto unknowns = op::local_unknowns(system, group, span_of_cells(cells));
  const auto length = static_cast<std::size_t>(op::num_local_unknowns(system, group));
  return to_numpy(std::move(unknowns), {num_cells, length});
}

std::vector<std::string> rules_of(const op::FormKernels& kernels) {
  std::vector<std::string> result;
  for (const auto& info : kernels.info()) result.push_back(info.quadrature);
  return result;
}

/// Name, plan, rule of quadrature and text of each kernel.
using Kernel = std::tuple<std::string, std::string, std::string, std::string>;

std::vector<Kernel> kernels_of(const op::Operator& A) {
  std::vector<Kernel> result;
  for (const auto& info : A.info())
    result.emplace_back(info.name, schedule::to_string(info.plan), info.quadrature, info.source);
  return result;
}

} // namespace

void bind_operator(nb::module_& module) {
  nb::class_<op::Operator>(module, "Operator")
      .def("__init__",
           [](op::Operator* self, const form::Form& form, const Spaces& tests, const Spaces& trials,
              const std::vector<ConditionArguments>& conditions, const RunArguments& run, const DataArguments& data) {
             auto options = run.options();
             for (const auto& condition : conditions) options.dirichlet.push_back(condition.make());
             const nb::gil_scoped_release unlock;
             const auto systems = systems_of(tests, trials);
             // Plans are for this machine, as those of problems are.
             options.shared_device = op::device_of(options, *systems.test.discretisation);
             options.planner = problem::find_planner(options.shared_device, {}, true, {}).planner;
             new (self) op::Operator(form, systems, options);
             set_data(*self, data, self->device());
           })
      .def("bind", [](op::Operator& self, const DataArguments& data) { set_data(self, data, self.device()); })
      .def_prop_ro("row_ranges", [](const op::Operator& self) { return ranges_of(self.system()); })
      .def_prop_ro("rows", &op::Operator::rows)
      .def_prop_ro("columns", &op::Operator::columns)
      .def_prop_ro(
          "constrained",
          [](const op::Operator& self) {
            const auto entries = self.constrained_entries();
            return to_numpy(std::vector<std::int32_t>(entries.begin(), entries.end()), {entries.size()});
          },
          nb::rv_policy::automatic)
      .def("diagonal",
           [](const op::Operator& self) {
             auto d = self.make_vector();
             self.diagonal(d);
             const auto values = d.host_read();
             return to_numpy(std::vector<double>(values.begin(), values.end()), {values.size()});
           })
      .def("compressed_rows", &compressed_rows)
      .def("shape_of_cell_matrices", &shape_of_cell_matrices, nb::arg("shape"), nb::arg("cells").none())
      .def("fill_cell_matrices", &fill_cell_matrices<double>, nb::arg("shape"), nb::arg("cells").none(),
           nb::arg("values").noconvert())
      .def("fill_cell_matrices", &fill_cell_matrices<float>, nb::arg("shape"), nb::arg("cells").none(),
           nb::arg("values").noconvert())
      .def(
          "cell_unknowns",
          [](const op::Operator& A, const std::string& shape, const Cells& cells, bool is_of_columns) {
            return cell_unknowns(is_of_columns ? A.trial_system() : A.system(), shape, cells);
          },
          nb::arg("shape"), nb::arg("cells").none(), nb::arg("is_of_columns"))
      .def("kernels", &kernels_of);
  // Vectors and numbers come with the rules of quadrature of their kernels.
  module.def("assemble_vector",
             [](const form::Form& form, const Spaces& spaces, const RunArguments& run, const DataArguments& data) {
               const auto system = system_of(spaces);
               const auto options = run.options();
               std::vector<double> result;
               std::vector<std::string> rules;
               {
                 const nb::gil_scoped_release unlock;
                 op::LinearForm L(form, system, options);
                 const auto device = op::device_of(options, *system.discretisation);
                 set_data(L, data, device);
                 op::Vector b(device, static_cast<std::size_t>(system.size()));
                 L.assemble(b);
                 const auto values = b.host_read();
                 result.assign(values.begin(), values.end());
                 rules = rules_of(L.kernels());
               }
               const auto size = result.size();
               return std::make_pair(to_numpy(std::move(result), {size}), std::move(rules));
             });
  // Vectors of cells, shape (cell, row), come with the entries that they belong to and the rules of quadrature.
  module.def(
      "cell_vectors",
      [](const form::Form& form, const Spaces& spaces, const RunArguments& run, const DataArguments& data,
         const std::string& shape, const Cells& cells) {
        const auto system = system_of(spaces);
        const auto options = run.options();
        const auto [group, num_cells] = cells_asked_for(system, shape, cells);
        const auto length = static_cast<std::size_t>(op::num_local_unknowns(system, group));
        std::vector<double> values(num_cells * length);
        std::vector<std::string> rules;
        {
          const nb::gil_scoped_release unlock;
          op::LinearForm L(form, system, options);
          set_data(L, data, op::device_of(options, *system.discretisation));
          L.cell_vectors(
              std::vector<op::CellArray<double>>{{.group = group, .values = values, .cells = span_of_cells(cells)}});
          rules = rules_of(L.kernels());
        }
        return std::make_tuple(to_numpy(std::move(values), {num_cells, length}), cell_unknowns(system, shape, cells),
                               std::move(rules));
      },
      nb::arg("form"), nb::arg("spaces"), nb::arg("run"), nb::arg("data"), nb::arg("shape"), nb::arg("cells").none());
  module.def("assemble_scalar",
             [](const form::Form& form, const Spaces& spaces, const RunArguments& run, const DataArguments& data) {
               const nb::gil_scoped_release unlock;
               const auto system = system_of(spaces);
               const auto options = run.options();
               op::Functional functional(form, system, options);
               set_data(functional, data, op::device_of(options, *system.discretisation));
               const double value = functional();
               return std::make_pair(value, rules_of(functional.kernels()));
             });
}

} // namespace rafter::python

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/error.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/io/vtkhdf.hpp>

#include "bindings.hpp"
#include "handles.hpp"

namespace rafter::python {
namespace {

/// A field to write: its name, its space, its vector, and whether it has one value for each cell.
using Field = std::tuple<std::string, std::shared_ptr<SpaceHandle>, Doubles, bool>;

std::vector<io::OutputField> output_fields(const std::vector<Field>& fields) {
  std::vector<io::OutputField> result;
  for (const auto& [name, V, values, is_per_cell] : fields)
    if (!is_per_cell) result.push_back({name, V->space, span_of(values)});
  return result;
}

void write(const std::string& path, const MeshHandle& mesh, const std::vector<Field>& fields) {
  std::vector<io::DerivedField> derived;
  io::VtkHdfOptions options;
  for (const auto& [name, V, values, is_per_cell] : fields) {
    if (!is_per_cell) continue;
    derived.push_back(
        {.name = name,
         .expression = std::make_shared<const form::LoweredExpression>(form::lower(form::field(V->space, name))),
         .is_per_cell = true});
    options.known.push_back({V->space, span_of(values)});
  }
  io::write_vtkhdf(path, *mesh.finest(), output_fields(fields), derived, options);
}

/// A file of fields at several times.
class Series {
public:
  Series(const std::string& path, std::shared_ptr<MeshHandle> mesh, const std::vector<Field>& fields)
      : mesh_(std::move(mesh)), series_(path, *mesh_->finest(), output_fields(fields)) {}
  void append(double time, const std::vector<Field>& fields) { series_.append(time, output_fields(fields)); }
  void commit() { series_.commit(); }

private:
  std::shared_ptr<MeshHandle> mesh_;
  io::VtkHdfSeries series_;
};

} // namespace

void bind_output(nb::module_& module) {
  module.def("write", &write);
  nb::class_<Series>(module, "Series")
      .def(nb::init<const std::string&, std::shared_ptr<MeshHandle>, const std::vector<Field>&>())
      .def("append", &Series::append)
      .def("commit", &Series::commit);
}

} // namespace rafter::python

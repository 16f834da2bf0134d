// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/vectors.hpp>

#include <rafter/io/vtkhdf.hpp>
#include <rafter/io/vtkhdf_reader.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/space/interpolate.hpp>

namespace rafter::problem {

op::Vector assemble(const form::Form& L, const op::Operator& A) {
  op::Vector b = A.make_vector();
  op::LinearForm(L, A.system(), {.shared_device = A.device()}).assemble(b);
  return b;
}

mesh::Generations refined_generations(mesh::Mesh mesh, int times) {
  return mesh::refined_generations(std::make_shared<const mesh::Mesh>(std::move(mesh)), times);
}

op::Vector read_vtkhdf(const std::string& path, const std::string& name, const FunctionSpace& V,
                       const op::OperatorOptions& options) {
  op::Vector values(op::device_of(options, *V->discretisation()), static_cast<std::size_t>(V->num_local()));
  space::interpolate(*V, io::VtkHdfReader(path).function(name, V->num_components()), values.host_overwrite());
  return values;
}

void write_vtkhdf(const std::string& path, const op::Operator& A, const op::Vector& x) {
  const auto& system = A.system();
  std::vector<io::OutputField> fields;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    fields.push_back({system.spaces[f]->name, system.spaces[f],
                      x.host_read().subspan(static_cast<std::size_t>(system.offset(f)),
                                            static_cast<std::size_t>(system.spaces[f]->num_local()))});
  io::write_vtkhdf(path, *system.mesh, fields);
}

} // namespace rafter::problem

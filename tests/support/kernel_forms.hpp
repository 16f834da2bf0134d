// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/kernel/cut.hpp>
#include <rafter/kernel/tensor_program.hpp>

/// QFunctions and tensor programs of forms on one cell are made here without a mesh.
namespace rafter::test {

/// The operators of the benchmark problems are texts for `dim` dimensions, where kappa is a constant.
inline std::string mass() { return "u*v*dx"; }
inline std::string laplace() { return "inner(grad(u), grad(v))*dx"; }
inline std::string helmholtz() { return "(inner(grad(u), grad(v)) + kappa*u*v)*dx"; }
inline std::string variable_helmholtz() { return "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[0])*kappa*u*v)*dx"; }
inline std::string elasticity(int dim) {
  return "inner(kappa*div(u)*Identity(" + std::to_string(dim) + ") + 2*sym(grad(u)), sym(grad(v)))*dx";
}

/// Returns a bilinear form in u and v with `components` components (0: scalars) on cells of a shape.
inline form::LoweredForm lowered(const std::string& text, element::Shape shape, int degree, int components = 0) {
  auto space = std::make_shared<form::FieldSpace>();
  space->degree = degree;
  space->gdim = element::dimension(shape);
  space->components = components;
  form::Scope scope(space->gdim);
  const std::shared_ptr<const form::FieldSpace> constant_space = space;
  scope.add_arguments({&constant_space, 1});
  scope.add("kappa", form::constant("kappa", 0.7));
  return form::lower(form::parse_form(text, scope));
}

inline kernel::QFunction qfunction(const std::string& text, element::Shape shape, mesh::MapKind map,
                                   int components = 0) {
  const auto form = lowered(text, shape, 1, components);
  const kernel::IntegralPart part{&form.integrals[0], -1};
  return kernel::pull_back({&part, 1}, shape, map, false);
}

/// Returns the tensor program of a QFunction of one unknown with `points` points per direction. On shapes that are no
/// tensor products the rule is exact to degree 2 points - 1.
inline kernel::TensorProgram tensor_program(const kernel::QFunction& function, int degree, int points,
                                            kernel::Contraction contraction, int components = 1,
                                            element::QuadratureKind kind = element::QuadratureKind::gauss) {
  kernel::ProgramInput input;
  input.function = function;
  input.fields.quadrature = element::is_tensor(function.shape)
                                ? element::make_quadrature_with_points(function.shape, points, kind)
                                : element::make_quadrature(function.shape, 2 * points - 1);
  const auto element = element::make_element(element::Family::lagrange, function.shape, degree);
  bool has_trial = false;
  for (const auto id : function.graph.reachable(function.roots()))
    has_trial = has_trial || (function.graph[id].op == form::ScalarOp::atom &&
                              function.graph[id].atom.kind == kernel::AtomKind::reference_trial);
  if (has_trial) input.fields.inputs = {{kernel::AtomKind::reference_trial, 0, components, element}};
  input.fields.outputs = {{kernel::AtomKind::reference_test, 0, components, element}};
  input.fields.geometry = element::make_element(element::Family::lagrange, function.shape,
                                                function.map == mesh::MapKind::isoparametric ? 2 : 1);
  input.contraction = contraction;
  return kernel::build_program(input);
}

/// The loops over so many points along each axis of tensor cells; over as many points in all elsewhere.
inline kernel::PointLoops loops_of(const kernel::QFunction& function, int per_axis) {
  return kernel::point_loops(function, element::is_tensor(function.shape)
                                           ? element::make_quadrature_with_points(function.shape, per_axis)
                                           : element::make_quadrature(function.shape, 2 * per_axis - 2));
}

/// Returns the cut of a function that has this storage of factors.
inline kernel::Choice choice_of(const kernel::QFunction& function, kernel::FactorStorage factors) {
  for (auto& choice : kernel::factor_storages(function, loops_of(function, 4), {}))
    if (choice.factors == factors) return choice;
  throw std::logic_error("the recipe is not among the choices");
}

/// The power of x with the exponent n >= 0, which is exact for integers.
inline double power(double x, int n) { return n == 0 ? 1 : x * power(x, n - 1); }

/// Place of the first step of this kind in a program that has one.
inline std::size_t first(const kernel::TensorProgram& program, kernel::StepKind kind) {
  std::size_t i = 0;
  while (program.steps.at(i).kind != kind) ++i;
  return i;
}

} // namespace rafter::test

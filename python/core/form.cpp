// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/form/form.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/node_kinds.hpp>

#include "bindings.hpp"
#include "handles.hpp"

namespace rafter::python {
namespace {

using form::Expr;

/// Operations by the names that node kinds have.
Expr apply(const std::string& name, const std::vector<Expr>& operands) {
  const auto binary = [&](auto operation) { return operation(operands.at(0), operands.at(1)); };
  if (name == "+") return binary([](const Expr& a, const Expr& b) { return a + b; });
  if (name == "-") return binary([](const Expr& a, const Expr& b) { return a - b; });
  if (name == "*") return binary([](const Expr& a, const Expr& b) { return a * b; });
  if (name == "/") return binary([](const Expr& a, const Expr& b) { return a / b; });
  if (name == "**") return binary([](const Expr& a, const Expr& b) { return form::pow(a, b); });
  for (int i = 0; i < form::num_node_kinds; ++i) {
    const auto kind = static_cast<form::NodeKind>(i);
    if (form::info(kind).scalar_op == form::ScalarOp::atom || name != form::info(kind).name) continue;
    return form::make_expr(kind, operands);
  }
  throw base::InputError("there is no operation '" + name + "'");
}

/// Integrals: integrand, "cell" or "exterior_facet", tags of groups, degree of quadrature (-1: it is chosen).
using Integral = std::tuple<Expr, std::string, std::vector<std::string>, int>;

form::Form make_form(const std::vector<Integral>& integrals) {
  std::vector<form::Integral> result;
  for (const auto& [integrand, kind, tags, degree] : integrals) {
    form::Measure measure{.kind = kind == "cell" ? form::MeasureKind::cell : form::MeasureKind::exterior_facet,
                          .tags = tags,
                          .degree = degree};
    std::ranges::sort(measure.tags);
    result.push_back({integrand, std::move(measure)});
  }
  return form::Form(std::move(result));
}

/// Adds the names of the parameters in an expression, whose nodes are looked at once.
void add_parameters(const Expr& e, std::set<const form::ExprNode*>& seen, std::set<std::string>& names) {
  if (!seen.insert(&e.node()).second) return;
  if (e.node().coefficient != nullptr) names.insert(e.node().name);
  for (const auto& operand : e.operands()) add_parameters(operand, seen, names);
}

std::vector<std::string> parameters_of(const std::vector<Expr>& expressions) {
  std::set<const form::ExprNode*> seen;
  std::set<std::string> names;
  for (const auto& e : expressions) add_parameters(e, seen, names);
  return {names.begin(), names.end()};
}

/// Values of an expression of x and constants at points of shape (point, gdim): (point, component).
nb::ndarray<nb::numpy, double> at_points(const Expr& e, const Doubles& points) {
  const form::PointEvaluator evaluator(e);
  const auto count = points.shape(0), dim = points.shape(1),
             components = static_cast<std::size_t>(evaluator.num_components());
  std::vector<double> result(count * components);
  for (std::size_t i = 0; i < count; ++i)
    evaluator(span_of(points).subspan(i * dim, dim), std::span(result).subspan(i * components, components));
  return to_numpy(std::move(result), {count, components});
}

} // namespace

void bind_form(nb::module_& module) {
  nb::class_<Expr>(module, "Expr")
      .def(nb::init<double>())
      .def_prop_ro("shape", [](const Expr& self) { return self.shape(); })
      .def("at", &Expr::at)
      .def("at_points", &at_points)
      .def("parameters", [](const Expr& self) { return parameters_of({self}); });
  nb::class_<form::Form>(module, "Form")
      .def_prop_ro("rank", &form::Form::rank)
      .def("parameters", [](const form::Form& self) {
        std::vector<Expr> integrands;
        for (const auto& integral : self.integrals()) integrands.push_back(integral.integrand);
        return parameters_of(integrands);
      });
  module.def("apply", &apply);
  module.def("form", &make_form);
  module.def("parameter", [](const std::string& name) { return form::parameter(name); });
  module.def("by_tag", [](const std::string& name, const std::vector<std::pair<std::string, double>>& values) {
    return form::by_tag(name, values);
  });
  module.def("field", [](const SpaceHandle& V, const std::string& name) { return form::field(V.space, name); });
  module.def("test_function", [](const SpaceHandle& V) { return form::test_function(V.space); });
  module.def("trial_function", [](const SpaceHandle& V) { return form::trial_function(V.space); });
  module.def("coordinate", &form::spatial_coordinate);
  module.def("normal", &form::facet_normal);
  module.def("grad", [](const Expr& e, int gdim) { return form::grad(e, gdim); });
  module.def("as_tensor", [](const std::vector<Expr>& entries) { return form::as_tensor(entries); });
}

} // namespace rafter::python

// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/problem/request.hpp>

#include "bindings.hpp"

NB_MODULE(_core, module) {
  using namespace rafter;
  using namespace rafter::python;
  // Errors that are derived from others come later, since the last one is tried first.
  const nb::exception<base::Error> error(module, "Error", PyExc_RuntimeError);
  const nb::exception<base::InputError> input(module, "InputError",
                                              nb::make_tuple(error, nb::handle(PyExc_ValueError)));
  const nb::exception<base::EnvironmentError> environment(module, "EnvironmentError",
                                                          nb::make_tuple(error, nb::handle(PyExc_OSError)));
  const nb::exception<base::SolverError> solver(module, "SolverError", error.ptr());
  const nb::exception<problem::Stopped> stopped(module, "Stopped", solver.ptr());
  module.attr("version") = RAFTER_VERSION;
  module.def(
      "set_warning_handler",
      [](const std::optional<std::function<void(std::string)>>& handler) {
        if (!handler) {
          base::set_warning_handler({});
          return;
        }
        base::set_warning_handler([handler = *handler](const std::string& text) {
          const nb::gil_scoped_acquire lock;
          handler(text);
        });
      },
      nb::arg("handler").none());
  bind_mesh(module);
  bind_form(module);
  bind_space(module);
  bind_arguments(module);
  bind_operator(module);
  bind_vector(module);
  bind_preconditioner(module);
  bind_measure(module);
  bind_problem(module);
  bind_output(module);
}

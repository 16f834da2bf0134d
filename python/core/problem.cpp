// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/problem/solve_problem.hpp>
#include <rafter/report/report.hpp>

#include <apps/rafter/problem_solver.hpp>
#include <apps/rafter/stated_problem.hpp>

#include "arguments.hpp"
#include "bindings.hpp"
#include "handles.hpp"

namespace rafter::python {
namespace {

/// What a handler of a signal has raised, such as KeyboardInterrupt.
using Raised = std::shared_ptr<std::exception_ptr>;

/// Follows a run: `event` gets lines of text, `iteration` numbers and residuals. What handlers of signals raise stops
/// it.
problem::Progress follow(const std::optional<std::function<void(std::string)>>& event,
                         const std::optional<std::function<void(int, double)>>& iteration, const Raised& raised) {
  problem::Progress result;
  if (event) result.event = *event;
  if (iteration)
    result.iteration = [call = *iteration](int number, double residual) {
      call(number, residual);
      return true;
    };
  result.is_stopped = [raised] {
    const nb::gil_scoped_acquire lock;
    if (*raised != nullptr) return true;
    if (PyErr_CheckSignals() == 0) return false;
    *raised = std::make_exception_ptr(nb::python_error());
    return true;
  };
  return result;
}

/// What a problem is made of, besides the sections of a problem file that `options` holds as text: solver, newton,
/// output, check and numerics, with a mesh and forms that stand for those that are given here.
struct ProblemArguments {
  std::string title;
  std::vector<std::pair<std::shared_ptr<SpaceHandle>, std::string>> unknowns; ///< spaces, and names of the fields
  std::optional<form::Form> a, L, F, energy;
  std::optional<form::Form> preconditioner; ///< the form that the preconditioner block is made of; absent: a
  std::vector<std::tuple<std::string, std::shared_ptr<SpaceHandle>, std::vector<double>>> data;
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<ConditionArguments> conditions;
  std::vector<std::vector<double>> initial; ///< values of each unknown; empty: 0
  std::vector<std::pair<std::string, form::Form>> functionals;
  std::vector<std::pair<int, form::Expr>> exact; ///< exact solutions, by the number of the field
  /// Conditions on the null space: the number of the field, "mean", "point" or "rigid_modes", values, the point.
  std::vector<std::tuple<int, std::string, std::vector<double>, std::vector<double>>> null_space;
  std::vector<std::pair<std::string, form::Expr>> output_fields;
  std::string options;                ///< problem file
  std::vector<std::string> overrides; ///< what replaces keys of it, as --set takes it: paths are those of the caller
  RunArguments run;
};

solvers::NullSpaceCondition::Kind kind_of(const std::string& name) {
  using enum solvers::NullSpaceCondition::Kind;
  if (name == "mean") return mean;
  if (name == "point") return point;
  if (name == "rigid_modes") return rigid_modes;
  throw base::InputError("a null space is fixed by \"mean\", \"point\" or \"rigid_modes\", not by \"" + name + "\"");
}

std::shared_ptr<const op::Vector> initial_state(const ProblemArguments& from, const op::System& system,
                                                const std::shared_ptr<device::Device>& device) {
  if (from.initial.empty()) return {};
  auto result = std::make_shared<op::Vector>(device, static_cast<std::size_t>(system.size()));
  const auto state = result->host_overwrite();
  std::ranges::fill(state, 0.0);
  for (std::size_t f = 0; f < from.initial.size(); ++f)
    std::ranges::copy(from.initial[f], state.begin() + system.offset(f));
  return result;
}

problem::Problem state(const ProblemArguments& from) {
  const auto file = io::parse_problem(from.options, "options", "", from.overrides);
  problem::Problem result{.title = from.title, .solver = file.solver, .newton = file.newton};
  auto options = from.run.options();
  options.quadrature.max_degree = file.numerics.max_degree.value_or(-1);
  options.quadrature.kind = file.numerics.quadrature;
  if (file.numerics.degree) options.quadrature.degree = file.numerics.degree;
  if (file.numerics.points) options.quadrature.points = file.numerics.points->points(file.max_degree());
  const auto& mesh = *from.unknowns.front().first->mesh;
  options.shared_device = op::device_of(options, *from.unknowns.front().first->space->discretisation());
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  for (const auto& [V, name] : from.unknowns) {
    spaces.push_back(V->space);
    result.unknowns.push_back(form::field(V->space, name));
  }
  const auto system = op::make_system(spaces);
  result.a = from.a;
  result.L = from.L;
  result.F = from.F;
  result.energy = from.energy;
  for (const auto& [name, V, values] : from.data)
    result.data.emplace_back(name, std::make_shared<const op::Vector>(to_vector(values, options.shared_device)),
                             V->space);
  result.parameters = from.parameters;
  result.preconditioner = app::preconditioner_of(file, mesh.generations());
  result.preconditioner.block_form = from.preconditioner;
  result.is_preconditioner_chosen = !file.has_preconditioner;
  result.is_iterated = file.has_iteration_keys;
  if (!file.has_solver_method) result.solver.method.clear();
  if (result.preconditioner.name.empty()) result.solver.preconditioner.clear();
  if (mesh.generations().meshes.size() > 1) result.meshes = mesh.generations();
  for (const auto& condition : from.conditions) options.dirichlet.push_back(condition.make());
  for (const auto& [field, kind, values, point] : from.null_space)
    result.null_space.push_back(
        {.space = spaces.at(static_cast<std::size_t>(field)), .kind = kind_of(kind), .values = values, .point = point});
  result.initial = initial_state(from, system, options.shared_device);
  for (const auto& [name, form] : from.functionals) result.functionals.emplace_back(name, form);
  for (const auto& [field, value] : from.exact)
    result.check.exact.push_back({.field = static_cast<std::size_t>(field), .value = value});
  result.check.max_l2_error = file.check.max_l2_error;
  result.check.max_h1_error = file.check.max_h1_error;
  result.output = {.file = file.output.file, .on_failure = file.output.on_failure, .every = file.output.every};
  for (const auto& [name, e] : from.output_fields)
    result.output.fields.push_back(
        {.name = name, .expression = std::make_shared<const form::LoweredExpression>(form::lower(e))});
  result.discretisation = std::move(options);
  return result;
}

std::vector<double> values_of(const problem::Solution& solution, std::size_t field) {
  const auto values = solution.values.host_read();
  const auto range = solution.system.entries(field);
  return {values.begin() + range.begin, values.begin() + range.end};
}

/// Runs without the lock of the interpreter; events and functions of the caller take it.
template <class Run> std::shared_ptr<problem::Solution> unlocked(const Raised& raised, const Run& run) {
  std::shared_ptr<problem::Solution> result;
  try {
    const nb::gil_scoped_release unlock;
    result = std::make_shared<problem::Solution>(run());
  } catch (const problem::Stopped&) {
    if (*raised == nullptr) throw;
  }
  if (*raised != nullptr) std::rethrow_exception(*raised);
  return result;
}

} // namespace

void bind_problem(nb::module_& module) {
  nb::class_<ProblemArguments>(module, "Problem")
      .def(nb::init<>())
      .def_rw("title", &ProblemArguments::title)
      .def_rw("unknowns", &ProblemArguments::unknowns)
      .def_rw("a", &ProblemArguments::a, nb::arg().none())
      .def_rw("L", &ProblemArguments::L, nb::arg().none())
      .def_rw("F", &ProblemArguments::F, nb::arg().none())
      .def_rw("energy", &ProblemArguments::energy, nb::arg().none())
      .def_rw("preconditioner", &ProblemArguments::preconditioner, nb::arg().none())
      .def_rw("parameters", &ProblemArguments::parameters)
      .def_rw("conditions", &ProblemArguments::conditions)
      .def_rw("functionals", &ProblemArguments::functionals)
      .def_rw("exact", &ProblemArguments::exact)
      .def_rw("null_space", &ProblemArguments::null_space)
      .def_rw("output_fields", &ProblemArguments::output_fields)
      .def_rw("options", &ProblemArguments::options)
      .def_rw("overrides", &ProblemArguments::overrides)
      .def_rw("run", &ProblemArguments::run)
      .def("add_data",
           [](ProblemArguments& self, const std::string& name, std::shared_ptr<SpaceHandle> V, const Doubles& values) {
             self.data.emplace_back(name, std::move(V),
                                    std::vector<double>(values.data(), values.data() + values.size()));
           })
      .def("add_initial",
           [](ProblemArguments& self, const Doubles& values) {
             self.initial.emplace_back(values.data(), values.data() + values.size());
           })
      .def(
          "solve",
          [](const ProblemArguments& self, const std::optional<std::function<void(std::string)>>& event,
             const std::optional<std::function<void(int, double)>>& iteration) {
            const auto raised = std::make_shared<std::exception_ptr>();
            const auto progress = follow(event, iteration, raised);
            return unlocked(raised, [&] {
              const base::ThreadLimit limit(self.run.threads);
              problem::RunOptions run{.measures_operators = false};
              if (const auto memory = base::process_memory()) run.resident_bytes = memory->resident_bytes;
              return problem::solve(state(self), progress, std::move(run));
            });
          },
          nb::arg("event").none(), nb::arg("iteration").none());
  nb::class_<problem::Solution>(module, "Solution")
      .def_prop_ro("is_converged", [](const problem::Solution& self) { return self.is_converged; })
      .def_prop_ro("status", [](const problem::Solution& self) { return self.report.status; })
      .def_prop_ro("message", [](const problem::Solution& self) { return self.report.message; })
      .def_prop_ro("names",
                   [](const problem::Solution& self) {
                     std::vector<std::string> names;
                     for (const auto& V : self.system.spaces) names.push_back(V->name);
                     return names;
                   })
      .def("values",
           [](const problem::Solution& self, std::size_t field) {
             auto values = values_of(self, field);
             const auto size = values.size();
             return to_numpy(std::move(values), {size});
           })
      .def("space",
           [](const problem::Solution& self, std::size_t field) {
             const auto& V = self.system.spaces.at(field);
             auto mesh = std::make_shared<MeshHandle>(
                 mesh::Generations{.meshes = {self.system.mesh}, .refinements = {}}, V->discretisation());
             return std::make_shared<SpaceHandle>(SpaceHandle{std::move(mesh), V});
           })
      .def("to_text",
           [](const problem::Solution& self, bool has_details) {
             return report::to_text(self.report, has_details ? report::Detail::all : report::Detail::results);
           })
      .def("to_json", [](const problem::Solution& self) { return report::to_json(self.report); });
  module.def(
      "solve_file",
      [](const std::string& path, const std::vector<std::string>& overrides, const RunArguments& run,
         const std::optional<std::function<void(std::string)>>& event,
         const std::optional<std::function<void(int, double)>>& iteration) {
        const auto raised = std::make_shared<std::exception_ptr>();
        const auto progress = follow(event, iteration, raised);
        return unlocked(raised, [&] {
          const auto file = io::read_problem(path, overrides);
          return app::solve_problem(
              file, {.device = run.device, .threads = run.threads, .plan = run.plan, .measures_operators = false},
              progress);
        });
      },
      nb::arg("path"), nb::arg("overrides"), nb::arg("run"), nb::arg("event").none(), nb::arg("iteration").none());
}

} // namespace rafter::python

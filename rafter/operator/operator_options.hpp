// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/device/device.hpp>
#include <rafter/operator/generate/purpose.hpp>
#include <rafter/operator/generate/quadrature_options.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/space/constraints.hpp>

namespace rafter::form {
class Expr;
class Form;
class PointEvaluator;
} // namespace rafter::form
namespace rafter::tune {
class Planner;
}

/// Says how forms become operators, linear forms and functionals: on which device, by which plan, with which
/// conditions.
namespace rafter::op {

struct GeneratedForm;
struct KernelOptions;
struct KernelTarget;

/// A Dirichlet condition on one field of a system.
struct FieldCondition {
  std::shared_ptr<const space::FunctionSpace> space;
  space::DirichletCondition condition;
  /// The expression that the values are computed from, which may hold parameters. If null, they come from
  /// condition.value and never change.
  std::shared_ptr<const form::PointEvaluator> expression = {};
  /// Takes an expression that the values are computed from from now on.
  void set_expression(form::PointEvaluator evaluator);
};
/// Makes the condition that a field has the values of an expression of x, constants and parameters on boundary facets
/// with these tags (none: on the whole boundary). Throws InputError for other expressions and for another number of
/// components.
FieldCondition make_condition(std::shared_ptr<const space::FunctionSpace> space, std::vector<std::int32_t> tags,
                              const form::Expr& value);

/// Options for operators, linear forms and functionals.
struct OperatorOptions {
  std::string device = "host";                   ///< name of a device, as the option --device takes it
  int threads = 0;                               ///< 0: all cores that the process may use
  std::shared_ptr<device::Device> shared_device; ///< used instead of `device` when it is not null
  QuadratureOptions quadrature;
  std::string plan;                             ///< text of the plan of the cell kernels; "": the planner chooses
  std::shared_ptr<const tune::Planner> planner; ///< null: tune::planner_of_this_machine
  double num_applications = 0;                  ///< expected number of applications of an operator, see KernelOptions
  bool runs_few_times = false;                  ///< says that a linear form runs rarely, see KernelOptions
  std::vector<FieldCondition> dirichlet;
};

/// Number of cells of a batch for kernels of this plan (OperatorOptions::plan), as space::DiscretisationOptions takes
/// it: the usual number, or as many as the sub-batches of the plan hold when these are more. Throws the InputError of
/// schedule::parse_plan.
int cells_per_batch(const std::string& plan);
/// Returns the device that the options ask for: the shared one if there is one, else that of the discretisation or,
/// without one, a new device.
std::shared_ptr<device::Device> device_of(const OperatorOptions& options);
std::shared_ptr<device::Device> device_of(const OperatorOptions& options, const space::Discretisation& discretisation);
KernelOptions kernel_options(const OperatorOptions& options, std::shared_ptr<device::Device> device);
/// The same for kernels that are texts alone, for a target whose device need not be there; the options need a planner.
KernelOptions kernel_options(const OperatorOptions& options, KernelTarget target);

/// Turns conditions into constrained entries of the system's vectors and their values. Throws InputError for a
/// condition on a space that is not of the system, and where space::make_constraints does.
space::Constraints make_constraints(const System& system, const std::vector<FieldCondition>& conditions);

/// Makes the kernels of a form of this rank as text, for the constructors below: those of many forms are compiled at
/// once by compile(). Throws InputError for forms of another rank and for what build_form() refuses.
std::shared_ptr<GeneratedForm> build(const form::Form& form, int rank, const Systems& systems,
                                     const OperatorOptions& options, Purpose purpose = Purpose::action);
/// The kernels of functionals that are computed together, for Functional::values. One kernel evaluates
/// the fields once for all integrals over the same cells, by the rule of the one with the highest degree.
std::shared_ptr<GeneratedForm> build(std::span<const form::Form> functionals, const System& system,
                                     const OperatorOptions& options);

/// Makes one system of the spaces of a form's test functions, in order of appearance, and one of those of its trial
/// functions; both are the same where the spaces are. For a functional it is that of its data fields.
Systems systems_of(const form::Form& form);
/// Makes the kernels of a form of this rank and compiles them, after a warning of what its measures leave out
/// (warn_of_left_out). Throws the errors of both.
std::shared_ptr<const GeneratedForm> build_compiled(const form::Form& form, int rank, const Systems& systems,
                                                    const OperatorOptions& options);

} // namespace rafter::op

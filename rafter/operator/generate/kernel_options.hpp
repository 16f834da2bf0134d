// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/operator/generate/quadrature_options.hpp>
#include <rafter/schedule/precision.hpp>

namespace rafter::schedule {
class Plan;
} // namespace rafter::schedule

namespace rafter::device {
class Device;
}
namespace rafter::tune {
class Planner;
}

namespace rafter::op {

struct KernelTarget;

/// Options for the kernels of a form.
struct KernelOptions {
  /// The device that the kernels are compiled for. Null: without a target the host device of the discretisation, with
  /// all cores; with one there is none, and kernels are texts alone.
  std::shared_ptr<device::Device> device;
  std::shared_ptr<const KernelTarget> target; ///< target that the kernels are generated for; null: that of the device
  QuadratureOptions quadrature;
  /// Used for every cell kernel; null: the planner chooses.
  std::shared_ptr<const schedule::Plan> plan;
  std::shared_ptr<const tune::Planner> planner; ///< null: tune::planner_of the device; a target without one needs it
  /// Says that the form runs so rarely that compiling its kernels takes longer than running them. They get the usual
  /// plan and the flags schedule::quick_flags. Functionals, diagonals and cell matrices are such forms in any case.
  bool runs_few_times = false;
  /// Precision in which actions of bilinear forms store, compute and accumulate where no plan says it. The planner
  /// weighs plans in double precision.
  schedule::Precision precision = schedule::Precision::double_precision;
  /// Expected number of applications, which decides whether set-up pays off; 0: it is not known, and an assembled
  /// matrix is taken only if the plan says so.
  double num_applications = 0;
};

} // namespace rafter::op

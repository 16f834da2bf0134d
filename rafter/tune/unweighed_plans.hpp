// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/schedule/precision.hpp>
#include <rafter/schedule/target.hpp>
#include <rafter/tune/decision.hpp>
#include <rafter/tune/planner.hpp>

/// Plans of kernels that have no alternatives worth weighing.
namespace rafter::tune {

/// The plan of a kernel of facets or of cell matrices: usual lanes, what needs no set-up or the least of it
/// (`factors`), and the precisions and the way to add of a plan that was asked for.
schedule::Plan plan_usual(kernel::FactorStorage factors, int cells_per_batch, int register_width,
                          const schedule::Target& target, const schedule::Plan* given);

/// What a device compiles kernels with (device::Device).
struct Compilers {
  std::vector<std::string> names, flag_sets;
};
/// The plan of a kernel that moves vectors of a precision between spaces, compiled with -O2 where the device has these
/// flags. Lanes are those of two registers where a compiler splits vectors well, else those of one.
schedule::Plan plan_transfer(int cells_per_batch, const Planner& planner, const schedule::Target& target,
                             const Compilers& compilers,
                             schedule::Precision precision = schedule::Precision::double_precision);

/// The product of an assembled matrix with a vector.
struct ProductProblem {
  double num_rows = 0, num_entries = 0;
  int block = 1;           ///< entries stand in dense blocks of so many rows and columns
  int cells_per_batch = 8; ///< cells per batch of the kernels whose place the product takes
  int num_threads = 1;
};

/// The plan of the product: lanes, storage and gathers as a plan that was asked for says, else the way to gather that
/// is faster on the planner's machine, and the compiler of the kernels of the cells, whose plan is `cells`.
/// Without a plan of the user, entries and vectors have this precision; products are summed in doubles in any case.
Decision plan_product(const schedule::Plan& cells, const schedule::Plan* given, const Planner& planner,
                      schedule::Precision precision = schedule::Precision::double_precision);
/// Seconds that a product takes with the usual plan, as the cost model predicts.
double predict_product(const ProductProblem& problem, const Planner& planner);

} // namespace rafter::tune

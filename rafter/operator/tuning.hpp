// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/tune/search.hpp>

/// Finds plans of a form's cell kernels, and whether it is applied as a matrix, by timing.
namespace rafter::op {

/// Options for the search for plans.
struct TuningOptions {
  tune::SearchOptions search;
  bool is_fresh = false;        ///< times kernels whose plans are remembered, too
  double sample_seconds = 0.02; ///< shortest time of one sample
  /// Is called with one line that says what is being done; it may be empty, and may throw.
  std::function<void(const std::string&)> event;
};

/// One cell kernel after its tuning.
struct TunedKernel {
  KernelInfo info;           ///< has the plan that was chosen; candidates with measured times come first
  std::size_t num_timed = 0; ///< number of plans that were timed now; 0: all was remembered
};

/// Times plans of the cell kernels of a bilinear form on the data of this mesh, with values from a fixed random
/// sequence, and remembers them in the planner's store. `purpose`: Purpose::action, or Purpose::matrix for the kernels
/// that compute matrices of cells. All candidates are weighed, whatever the options of the planner say. Nothing is
/// remembered when `event` throws. Throws InputError for forms that are not bilinear or have no cell integrals, and for
/// matrices of cells that are too large for a kernel.
std::vector<TunedKernel> tune_kernels(const form::LoweredForm& form, const System& system, const KernelOptions& options,
                                      const TuningOptions& tuning, Purpose purpose = Purpose::action);

/// The costs of an assembled matrix and of the kernels of its form.
struct TunedMatrix {
  MatrixForecast forecast;
  /// Says that the times are new; else they were remembered, or the matrix was predicted to be far from paying.
  bool was_timed = false;
};

/// Times products with the assembled matrix of a bilinear form, and its set-up once, beside runs of the form's kernels
/// by the plans that the planner chooses, and remembers the times in its store: operators on the same problem then
/// decide by them. Nothing is timed where the predicted times leave no hope. Returns nothing for forms with data
/// fields, whose matrix changes with these, and where `options` expect no applications.
std::optional<TunedMatrix> tune_matrix(const form::LoweredForm& form, const System& system,
                                       const KernelOptions& options, const TuningOptions& tuning);

} // namespace rafter::op

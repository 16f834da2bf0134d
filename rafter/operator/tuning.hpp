// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <rafter/operator/form_builder.hpp>
#include <rafter/tune/search.hpp>

/// Plans of a form's cell kernels, and whether it is applied as a matrix, found by timing.
namespace rafter::op {

struct TuningOptions {
  tune::SearchOptions search;
  bool is_fresh = false;        ///< times kernels whose plans are remembered, too
  double sample_seconds = 0.02; ///< of one sample, at least
  std::function<void(const std::string&)>
      event; ///< is called with one line that says what is being done; may be empty, may throw
};

/// One cell kernel after its tuning.
struct TunedKernel {
  KernelInfo info;           ///< with the plan that was chosen; candidates with measured times first
  std::size_t num_timed = 0; ///< plans that were timed now; 0: all was remembered
};

/// Times plans of the cell kernels of a bilinear form (else, and without cell integrals, InputError) on the data of
/// this mesh, with values from a fixed random sequence, and remembers them in the planner's store. All candidates are
/// weighed, whatever the options of the planner say. Nothing is remembered when `event` throws.
std::vector<TunedKernel> tune_kernels(const form::LoweredForm& form, const System& system, const KernelOptions& options,
                                      const TuningOptions& tuning);

/// The assembled matrix beside the kernels of its form.
struct TunedMatrix {
  MatrixForecast forecast;
  bool was_timed = false; ///< now; else its times were remembered, or it was predicted to be far from paying
};

/// Times products with the assembled matrix of a bilinear form, and its set-up once, beside runs of the form's kernels
/// by the plans that the planner chooses, and remembers the times in its store: operators on the same problem then
/// decide by them. Not done where the times that are predicted leave no hope. Nothing for forms with known fields,
/// whose matrix changes with these, and where `options` expect no applications.
std::optional<TunedMatrix> tune_matrix(const form::LoweredForm& form, const System& system,
                                       const KernelOptions& options, const TuningOptions& tuning);

} // namespace rafter::op

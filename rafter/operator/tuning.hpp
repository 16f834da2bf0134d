// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <rafter/operator/form_kernels.hpp>
#include <rafter/tune/search.hpp>

/// Plans of a form's cell kernels, found by timing.
namespace rafter::op {

struct TuningOptions {
  tune::SearchOptions search;
  bool is_fresh = false;                         ///< times kernels whose plans are remembered, too
  double sample_seconds = 0.02;                  ///< of one sample, at least
  std::function<void(const std::string&)> event; ///< told what is being done, one line; may be empty, may throw
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

} // namespace rafter::op

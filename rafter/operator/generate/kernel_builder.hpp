// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <rafter/element/quadrature.hpp>
#include <rafter/kernel/tensor_program.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/generate/kernel_options.hpp>
#include <rafter/operator/generate/purpose.hpp>
#include <rafter/tune/kernel_lowering.hpp>
#include <rafter/tune/kernel_text_cache.hpp>

/// Makes the source text of one kernel from integrals.
namespace rafter::op {

/// The sizes show the planner how much a kernel works.
struct KernelSizes {
  std::int64_t num_batches = 0;
  std::int64_t num_data_rows = 0;           ///< number of rows of data per cell, which batches of equal cells share
  double input_bytes = 0, output_bytes = 0; ///< bytes of vectors per batch, where each entry counts once
};
inline auto members(const KernelSizes& value) {
  const auto& [num_batches, num_data_rows, input_bytes, output_bytes] = value;
  return std::tie(num_batches, num_data_rows, input_bytes, output_bytes);
}

/// Says what one kernel is made of: integrals on cells of one kind, and the fields that they use.
struct KernelSpecification {
  std::vector<kernel::IntegralPart> parts;
  Purpose purpose = Purpose::action;
  tune::CellSpecification cell;
  std::vector<int> trial_components; ///< cell matrices: number of components of each trial field
  std::vector<int> trial_of_output;  ///< diagonals: the trial function on the space of each output; -1: none
  KernelSizes sizes;

  element::Shape shape() const { return cell.fields.geometry->shape(); } ///< shape of the cell, also for facets
};
inline auto members(const KernelSpecification& value) {
  const auto& [parts, purpose, cell, trial_components, trial_of_output, sizes] = value;
  return std::tie(parts, purpose, cell, trial_components, trial_of_output, sizes);
}

/// A kernel that is ready to be compiled, with the kernel of its set-up.
struct GeneratedKernel {
  KernelInfo info;
  std::string specification; ///< the specification as text: generators of one build give equal texts for equal ones
  tune::KernelPrograms programs;
};
GeneratedKernel build_kernel(const KernelSpecification& specification, const KernelOptions& options);

} // namespace rafter::op

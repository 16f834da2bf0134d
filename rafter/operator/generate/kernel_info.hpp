// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

#include <rafter/machine/roofline.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/tune/decision.hpp>

namespace rafter::op {

/// Describes one generated kernel on one block: what was decided about it and what it costs.
struct KernelInfo {
  int block = -1;   ///< number of the block of cells; -1: facets
  std::string name; ///< such as "cell hexahedron affine" or "triangles of prism isoparametric"
  schedule::Plan plan;
  tune::Decision decision;                                 ///< says why this plan was taken
  std::string source;                                      ///< generated text
  std::string tensor_program, schedule_text, loop_program; ///< texts; no schedule ("") of products with a matrix
  double work_bytes = 0;                                   ///< bytes of its work arrays
  int num_points = 0;
  std::string quadrature; ///< one line: the rule and why it was chosen
  std::int64_t num_cells = 0, num_batches = 0;
  machine::Counts counts; ///< operations and bytes of one run over all batches
};

} // namespace rafter::op

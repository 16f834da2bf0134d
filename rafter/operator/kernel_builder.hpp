// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/element/quadrature.hpp>
#include <rafter/kernel/tensor_program.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/operator/kernel_info.hpp>
#include <rafter/operator/kernel_options.hpp>
#include <rafter/operator/purpose.hpp>
#include <rafter/tune/generation_cache.hpp>

namespace rafter::space {
struct ElementLayout;
} // namespace rafter::space

/// Makes the source text of one kernel from integrals.
namespace rafter::op {

/// A quadrature rule, with a line that says why it was chosen.
struct RuleChoice {
  element::Quadrature rule;
  std::string explanation;
};
/// Chooses the rule for integrals on cells of a shape, or on facets of that shape. `geometry_degree` is the degree of
/// the cells' geometry.
RuleChoice choose_rule(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
                       int geometry_degree, const QuadratureOptions& options);

/// Says what one kernel is made of: integrals on cells of one kind, and the fields that they use.
struct KernelSpecification {
  std::vector<kernel::IntegralPart> parts;
  element::Shape shape = element::Shape::hexahedron; ///< shape of the cell, also for facets
  mesh::MapKind map = mesh::MapKind::affine;
  int local_facet = -1;
  std::shared_ptr<const element::Element> geometry;
  std::vector<kernel::FieldUse> inputs, outputs;
  std::vector<const space::ElementLayout*> spaces;
  std::vector<int> input_spaces, output_spaces;
  int num_trials = 0;                ///< number of inputs that are trial functions, which come first
  std::vector<int> trial_components; ///< cell matrices: number of components of each trial field
  std::vector<int> trial_of_output;  ///< diagonals: the trial function on the space of each output; -1: none
  element::Quadrature rule;
  Purpose purpose = Purpose::action;
  int cells_per_batch = 8;
  int num_coefficients = 0;                 ///< numbers per cell of the form (CellCoefficients)
  std::int64_t num_batches = 0;             ///< this and the following numbers are for the planner
  std::int64_t num_data_rows = 0;           ///< number of rows of data per cell, which batches of equal cells share
  double input_bytes = 0, output_bytes = 0; ///< bytes of vectors per batch, where each entry counts once
  double whole_runs_share = 1; ///< share of the batches whose cells see their shared entities in the same orientations
};

/// A kernel that is ready to be compiled, with the kernel of its set-up.
struct GeneratedKernel {
  KernelInfo info;
  std::string specification; ///< the specification as text: generators of one build give equal texts for equal ones
  tune::Generation generation;
};
GeneratedKernel build_kernel(const KernelSpecification& specification, const KernelOptions& options);

} // namespace rafter::op

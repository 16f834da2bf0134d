// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/form_kernels.hpp>

/// The way of one kernel from integrals to source text.
namespace rafter::op {

/// The rule for integrals on cells of a shape (or facets), with a line that says why.
struct RuleChoice {
  element::Quadrature rule;
  std::string explanation;
};
RuleChoice choose_rule(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
                       int geometry_degree, const QuadratureOptions& options);

/// What one kernel is made of: integrals on cells of one kind, and the fields that they use.
struct KernelSpecification {
  std::vector<kernel::IntegralPart> parts;
  element::Shape shape = element::Shape::hexahedron; ///< of the cell
  mesh::MapKind map = mesh::MapKind::affine;
  int local_facet = -1;
  std::shared_ptr<const element::Element> geometry;
  std::vector<kernel::FieldUse> inputs, outputs;
  std::vector<const space::ElementLayout*> spaces;
  std::vector<int> input_spaces, output_spaces;
  int num_trials = 0;                ///< of the inputs, which begin with the trial functions
  std::vector<int> trial_components; ///< cell matrices: of each trial field
  std::vector<int> trial_of_output;  ///< diagonals: trial function on the space of each output, -1: none
  element::Quadrature rule;
  Purpose purpose = Purpose::action;
  int cells_per_batch = 8;
  int num_coefficients = 0;                 ///< numbers per cell
  std::int64_t num_batches = 0;             ///< this and the rest: for the planner
  std::int64_t num_data_rows = 0;           ///< of the data per cell, which batches of equal cells share
  double input_bytes = 0, output_bytes = 0; ///< of vectors per batch, each entry once
};

/// A kernel ready to compile; `setup` computes the stored data (empty source: nothing is stored).
struct GeneratedKernel {
  KernelInfo info;
  std::string specification; ///< as text: generators of one build give equal texts for equal ones
  kernel::TensorProgram program, setup_program;
  schedule::LoopProgram loops, setup_loops;
  std::string setup_source;
  int stored_point_slots = 0, stored_cell_slots = 0;
  std::vector<int> setup_fields, setup_parameters; ///< data fields and parameters of the form that set-up reads
  /// Cell matrices whose tables or results would be too large to be worth it: nothing was generated.
  bool is_too_large = false;
  double data_bytes = 0; ///< that a batch reads besides vectors; of rows that batches share, its part
};
GeneratedKernel build_kernel(const KernelSpecification& specification, const KernelOptions& options);

} // namespace rafter::op

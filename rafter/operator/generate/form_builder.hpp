// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rafter/form/lowered.hpp>
#include <rafter/operator/generate/data_rows.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/generate/form_compiler.hpp>
#include <rafter/operator/generate/kernel_builder.hpp>
#include <rafter/operator/generate/kernel_options.hpp>
#include <rafter/operator/generate/purpose.hpp>
#include <rafter/operator/generate/system.hpp>

namespace rafter::space {
struct ListDofs;
} // namespace rafter::space

/// Holds the kernels of a form before they are bound to data: they are built as text one after the other, and then
/// those of many forms are compiled at once.
namespace rafter::op {

/// An integral of a form on a block of cells or facets. It is known by its number, so that copies of a form have
/// integrals of their own.
struct BlockIntegral {
  std::size_t number = 0; ///< position in LoweredForm::integrals
  int indicator = -1;     ///< has the meaning of kernel::IntegralPart::indicator
};

/// The kernel of one block of cells or facets, with what it was made of.
struct GeneratedBlock {
  BatchedCells cells;
  DataRows rows;
  std::shared_ptr<const DataRows>
      shared_rows;                      ///< keeps `rows` known to other forms on the mesh; null: they are its own
  int cell_block = -1;                  ///< number of the block in the system's batches; -1: facets
  std::vector<BlockIntegral> integrals; ///< integrals of the form that the kernel computes
  element::Quadrature rule;
  GeneratedKernel kernel;
  std::vector<const space::FunctionSpace*> spaces; ///< spaces whose index tables the kernel takes, in its order
  /// Dofs of the facets' cells, shape (space of `spaces`); empty for cells.
  std::vector<std::shared_ptr<const space::ListDofs>> facet_dofs;
  std::shared_ptr<const device::Program> program, setup_program; ///< null before compile(), or where nothing is set up
};

/// Returns the integrals of a block as kernels take them. They refer to those of the form.
std::vector<kernel::IntegralPart> integral_parts(const form::LoweredForm& form, const GeneratedBlock& block);

/// The set-up of a block computes and keeps so many numbers.
struct StoredNumbers {
  std::size_t at_points = 0, per_cell = 0;
};
StoredNumbers stored_numbers(const GeneratedBlock& block);
/// Bytes of memory that these numbers take.
double stored_bytes(const GeneratedBlock& block);

/// The facets of one integral. Their blocks are those from first_block on.
struct FacetStages {
  const mesh::FacetBatches* facets = nullptr; ///< belongs to the discretisation
  std::size_t first_block = 0;
};

/// The cost of an assembled matrix and of the kernels that it would take the place of, as predicted or measured.
struct MatrixForecast {
  double entries = 0, bytes = 0;         ///< entries of the matrix; bytes of memory, those of its set-up included
  double seconds = 0, setup_seconds = 0; ///< time of a product; time of the set-up
  double kernel_seconds = 0;             ///< time of a run of the kernels
  double num_applications = 0;           ///< expected number of applications
  /// Says whether the memory of this machine and the integers of its tables hold it.
  bool fits = false;
  /// Says whether the times were measured for this problem on this machine; else they are predicted.
  bool is_measured = false;
  /// Says whether the matrix saves time over all expected applications. `doubt` is the factor by which the times of the
  /// kernels may be underrated relative to those of the matrix.
  bool pays(double doubt = 1) const {
    return fits && setup_seconds + num_applications * seconds < doubt * num_applications * kernel_seconds;
  }
};
struct GeneratedMatrix;

/// All kernels of a form. They come without data per cell, which FormKernels adds.
struct GeneratedForm {
  form::LoweredForm form;
  System system;       ///< system of the test functions
  System trial_system; ///< system of the trial functions
  Purpose purpose = Purpose::action;
  KernelOptions options; ///< its `device` and `planner` are set
  CellCoefficients coefficients;
  std::vector<kernel::FieldUse> inputs, outputs; ///< trial functions and then data fields; test functions
  /// Spaces of `inputs` and `outputs`.
  std::vector<std::shared_ptr<const space::FunctionSpace>> input_spaces, output_spaces;
  std::vector<std::size_t> input_fields;  ///< positions of the trial functions in the system of trial functions
  std::vector<std::size_t> output_fields; ///< positions of the test functions in the system of test functions
  /// Cell matrices: positions of the trial functions, which are no inputs; else empty.
  std::vector<std::size_t> trial_fields;
  /// Cell matrices whose kernels would be too large (GeneratedKernel::is_too_large): blocks are not complete then.
  bool is_too_large = false;
  std::vector<GeneratedBlock> blocks; ///< blocks of cells, then of facets
  std::size_t num_cell_blocks = 0;
  int only_block = -1; ///< the only block of cells that has a kernel (build_block); -1: all have one
  std::vector<FacetStages> facet_stages;
  bool is_compiled = false;
  std::optional<MatrixForecast> forecast; ///< present where an assembled matrix was weighed against the kernels
  /// Takes the place of the kernels, which are then not compiled; null: there is none.
  std::shared_ptr<GeneratedMatrix> matrix;
  /// Precision of the vectors of trial functions and of results. Only the action of a bilinear form may have less than
  /// double, because its errors are those of a preconditioner, which solvers correct.
  schedule::Precision vectors() const {
    const bool is_action = form.rank == 2 && purpose == Purpose::action;
    if (!is_action) return schedule::Precision::double_precision;
    return options.plan ? (*options.plan)[schedule::key::accumulate] : options.precision;
  }
  /// Bytes of a number in these vectors.
  int word_bytes() const { return vectors() == schedule::Precision::double_precision ? 8 : 4; }
  /// Number of inputs that are trial functions; the others are data fields.
  std::size_t num_trials() const { return input_fields.size(); }
  /// Says whether trial and test functions are of one system.
  bool is_square() const { return system.spaces == trial_system.spaces; }
  /// Bytes of the vectors that a run reads, and of the one that it writes.
  double input_bytes() const;
  double output_bytes() const;
};

/// Batches begin .. end - 1 of a block, on which one thread works.
struct BlockChunk {
  std::size_t block = 0;
  std::int32_t batch_begin = 0, batch_end = 0;
};

/// The work of a run of the form, shape (stage, chunk). Stages run one after the other, those of cells before those of
/// facets; the chunks of one stage touch disjoint vertices.
std::vector<std::vector<BlockChunk>> chunk_stages(const GeneratedForm& form);

} // namespace rafter::op

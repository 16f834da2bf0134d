// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <rafter/operator/data_rows.hpp>
#include <rafter/operator/kernel_builder.hpp>

/// The kernels of a form before they are bound to data: built as text one after the other, then compiled, those of many
/// forms at once.
namespace rafter::op {

/// An integral of a form on a piece of its mesh, by its number: copies of a form have integrals of their own.
struct PieceIntegral {
  std::size_t number = 0; ///< in LoweredForm::integrals
  int indicator = -1;     ///< as kernel::IntegralPart
};

/// The kernel of one block of cells or facets.
struct GeneratedBlock {
  BatchedCells cells;
  DataRows rows;
  int block = -1; ///< of the system's batches; -1: facets
  std::vector<PieceIntegral> integrals;
  element::Quadrature rule;
  GeneratedKernel kernel;
  std::vector<const space::FunctionSpace*> spaces;                ///< whose index tables the kernel takes, in its order
  std::vector<std::shared_ptr<const space::ListDofs>> facet_dofs; ///< facets: shape (space of `spaces`)
  std::shared_ptr<const device::Program> program, setup_program;  ///< null before compile()
};

/// The integrals of a piece as kernels take them, which refer to those of the form.
std::vector<kernel::IntegralPart> integral_parts(const form::LoweredForm& form, const GeneratedBlock& piece);

/// Numbers that the set-up of a piece computes and keeps.
struct StoredNumbers {
  std::size_t at_points = 0, per_cell = 0;
};
StoredNumbers stored_numbers(const GeneratedBlock& piece);
/// What they take in memory.
double stored_bytes(const GeneratedBlock& piece);

/// The facets of one integral: its pieces are first_piece and following, one per block.
struct FacetStages {
  const mesh::FacetBatches* facets = nullptr; ///< of the discretisation
  std::size_t first_piece = 0;
};

/// What an assembled matrix would cost beside the kernels that it takes the place of.
struct MatrixForecast {
  double entries = 0, bytes = 0;         ///< that the matrix has; of memory, with its set-up
  double seconds = 0, setup_seconds = 0; ///< of a product; of the set-up
  double kernel_seconds = 0;             ///< of a run of the kernels
  double num_applications = 0;           ///< that are expected
  bool fits = false;                     ///< into the memory that there is, and into the integers of its tables
  bool is_measured = false;              ///< the seconds are of this problem on this machine; else predicted
  /// `doubt`: by how much the times of the kernels beside those of the matrix may be underrated.
  bool pays(double doubt = 1) const {
    return fits && setup_seconds + num_applications * seconds < doubt * num_applications * kernel_seconds;
  }
};
struct GeneratedMatrix;

/// All kernels of a form. Holds no data per cell: FormKernels brings those.
struct GeneratedForm {
  form::LoweredForm form;
  System system;       ///< of the test functions
  System trial_system; ///< of the trial functions
  Purpose purpose = Purpose::action;
  KernelOptions options; ///< `device` is set
  CellCoefficients coefficients;
  std::vector<kernel::FieldUse> inputs, outputs; ///< trial functions, then data fields; test functions
  std::vector<std::shared_ptr<const space::FunctionSpace>> input_spaces, output_spaces; ///< of these
  std::vector<std::size_t> input_fields;  ///< positions of the trial functions in the system of trial functions
  std::vector<std::size_t> output_fields; ///< positions of the test functions in the system of test functions
  std::vector<std::size_t> trial_fields;  ///< cell matrices: positions of the trial functions, which are no inputs
  bool is_too_large = false; ///< cell matrices: their kernels would be (GeneratedKernel); pieces are not complete
  std::vector<GeneratedBlock> pieces; ///< cells first
  std::size_t num_cell_pieces = 0;
  int only_block = -1; ///< of cells, whose kernel is the only one (build_block); -1: there are all
  std::vector<FacetStages> facet_stages;
  bool is_compiled = false;
  std::optional<MatrixForecast> forecast;  ///< where an assembled matrix was weighed
  std::shared_ptr<GeneratedMatrix> matrix; ///< takes the place of the kernels, which are then not compiled; else null
  /// Of the vectors of trial functions and of results: less than double in the action of a bilinear form alone.
  schedule::Precision vectors() const {
    const bool is_action = form.rank == 2 && purpose == Purpose::action;
    return is_action && options.plan ? options.plan->accumulate : schedule::Precision::double_precision;
  }
  int word_bytes() const { return vectors() == schedule::Precision::double_precision ? 8 : 4; } ///< of these
  std::size_t num_trials() const { return input_fields.size(); } ///< of the inputs: the other ones are data fields
  /// Trial and test functions are of one system.
  bool is_square() const { return system.spaces == trial_system.spaces; }
  /// Of the vectors that a run reads and of the one that it writes.
  double input_bytes() const;
  double output_bytes() const;
};

/// Throws InputError for forms that the systems or their mesh do not fit, for data fields of other meshes or batches,
/// and for diagonals of forms whose test and trial functions are of different systems.
std::shared_ptr<GeneratedForm> build_form(const form::LoweredForm& form, const Systems& systems, Purpose purpose,
                                          const KernelOptions& options);

/// The action of the form on one block of cells alone, to time its kernel.
std::shared_ptr<GeneratedForm> build_block(const form::LoweredForm& form, const Systems& systems, int block,
                                           const KernelOptions& options);

/// Batches of a piece that one thread works on.
struct BlockChunk {
  std::size_t piece = 0;
  std::int32_t batch_begin = 0, batch_end = 0;
};

/// What a run of the form does, shape (stage, chunk): stages one after the other, first over cells, then over facets;
/// the chunks of a stage touch disjoint vertices.
std::vector<std::vector<BlockChunk>> chunk_stages(const GeneratedForm& form);

/// Compiles what is not compiled yet, all kernels of all forms at the same time; the forms share one device. Throws as
/// device::compile_all.
void compile(std::span<const std::shared_ptr<GeneratedForm>> forms);

} // namespace rafter::op

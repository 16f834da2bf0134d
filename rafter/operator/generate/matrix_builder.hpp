// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/operator/generate/coupling.hpp>
#include <rafter/operator/generate/form_builder.hpp>

/// Plans assembled matrices and predicts when they are worth it.
namespace rafter::op {

/// Text and programs of an assembled matrix, to which AssembledMatrix adds the data.
struct GeneratedMatrix {
  System system;
  Coupling coupling;
  /// The kernels of cell matrices, or the action on broken spaces where those would be too large:
  /// build_cell_matrices().
  std::shared_ptr<GeneratedForm> cells;
  KernelInfo info; ///< describes the kernel of the product
  schedule::LoopProgram loops;
  std::shared_ptr<const device::Program> program; ///< null before compile()
};

/// Plans the matrix of a form and makes its text. A plan in `options` holds for the product (lanes, storage, compiler)
/// and for the kernels of the cells, but for their mapping and storage, which are the usual ones. Without a plan the
/// planner chooses.
std::shared_ptr<GeneratedMatrix> build_matrix(const form::LoweredForm& form, const System& system,
                                              const KernelOptions& options);

/// Plans kernels that compute the matrices of the cells of a bilinear form (Purpose::matrix), or its action on broken
/// spaces where those would be too large.
std::shared_ptr<GeneratedForm> build_cell_matrices(const form::LoweredForm& form, const Systems& systems,
                                                   const KernelOptions& options);

/// Plans a form on the broken twins of its spaces. A linear one gives cell vectors; a bilinear one leads from cell
/// vectors to cell vectors: of unit vectors it gives cell matrices, column by column.
std::shared_ptr<GeneratedForm> build_cell_action(const form::LoweredForm& form, const Systems& systems,
                                                 const KernelOptions& options);

/// Predicts the cost of the matrix of a form whose kernels are planned; they need not be compiled. Times that were
/// measured for this problem (see remember()) take the place of predicted ones.
MatrixForecast forecast_matrix(const GeneratedForm& form);
/// Keeps the times of a measured forecast in the planner's store, if there is one.
void remember(const GeneratedForm& form, const MatrixForecast& measured);

/// Bytes of memory that the matrix takes while it is set up.
double matrix_bytes(const System& system, const Coupling& coupling, double num_entries, const schedule::Plan& plan);
/// Returns the message for a machine whose memory does not hold the matrix and `extra_bytes` per entry, and for a
/// matrix whose places the integers of its tables do not hold; else "".
std::string memory_lack(const GeneratedMatrix& built, const schedule::Plan& plan, double extra_bytes = 0);

} // namespace rafter::op

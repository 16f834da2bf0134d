// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/operator/coupling.hpp>
#include <rafter/operator/form_builder.hpp>

/// What an assembled matrix is made with, and when it is worth it.
namespace rafter::op {

/// Text and programs of an assembled matrix; AssembledMatrix brings the data.
struct GeneratedMatrix {
  System system;
  Coupling coupling;
  /// Kernels of cell matrices (Purpose::matrix); where those would be too large, the action of the form on the broken
  /// twins of the spaces, which leads from the unit vectors of all cells to their matrices.
  std::shared_ptr<GeneratedForm> cells;
  KernelInfo info; ///< of the product
  schedule::LoopProgram loops;
  std::shared_ptr<const device::Program> program; ///< null before compile()
};

/// `plan`: of the product (lanes, storage, compiler) and of the kernels of the cells, in which mapping and storage are
/// the usual ones; absent: what the planner chooses for those.
std::shared_ptr<GeneratedMatrix> build_matrix(const form::LoweredForm& form, const System& system,
                                              const KernelOptions& options);

/// The action of a bilinear form on the broken twins of the spaces of a system, which leads from cell vectors to cell
/// vectors: of unit vectors it gives cell matrices, column by column.
std::shared_ptr<GeneratedForm> build_cell_action(const form::LoweredForm& form, const System& system,
                                                 const KernelOptions& options);

/// Of kernels that are planned but need not be compiled. Times that were measured for this problem (remember()) take
/// the place of predicted ones.
MatrixForecast forecast_matrix(const GeneratedForm& form);
/// Keeps the times of a measured forecast in the planner's store, if there is one.
void remember(const GeneratedForm& form, const MatrixForecast& measured);

/// Bytes of memory that the matrix takes while it is set up.
double matrix_bytes(const System& system, const Coupling& coupling, double num_entries, const schedule::Plan& plan);
/// What is wrong when the memory of this machine does not hold that and `extra_bytes` per entry, or the integers of
/// tables do not hold its places; else "".
std::string memory_lack(const GeneratedMatrix& built, const schedule::Plan& plan, double extra_bytes = 0);

} // namespace rafter::op

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <rafter/operator/run/sparse_matrix.hpp>

namespace rafter::space {
struct Constraints;
} // namespace rafter::space

/// Assembles matrices of bilinear forms in compressed rows, for direct solvers, preconditioners and other programs.
namespace rafter::op {

struct GeneratedForm;
class FormData;

/// Dense blocks on the diagonal of a matrix. The n_b unknowns of block b begin at unknowns[offsets[b]], and its values,
/// shape (row, column), begin at values[value_offsets[b]].
struct DiagonalBlocks {
  std::vector<std::int64_t> offsets, value_offsets; ///< shape (block + 1)
  std::vector<std::int32_t> unknowns;               ///< entries of the vectors of the operator
  std::vector<double> values;
  std::size_t size() const { return offsets.size() - 1; }
};

/// Says which unknowns form a block.
enum class BlockKind : std::uint8_t {
  node, ///< the components of a field at one of its nodes: every unknown is in one block
  cell  ///< all unknowns of a cell, of all fields: blocks of neighbours overlap (additive Schwarz, Vanka)
};

/// Computes the values of the matrix of a form again and again, with a pattern that is found once.
class SparseAssembly {
public:
  /// Takes the form of a planned operator and compiles its kernels of cell matrices if need be. Rows and columns of
  /// constrained unknowns are those of the identity, and the pattern holds nothing else of them. `data` holds the
  /// values of the form's data fields and parameters. Throws EnvironmentError when the memory of this machine does not
  /// hold the matrix.
  SparseAssembly(const GeneratedForm& form, const space::Constraints& constraints, std::shared_ptr<FormData> data);
  ~SparseAssembly();

  SparseMatrix matrix() const; ///< matrix for the values that data fields and parameters have now
  /// Computes the values anew in the same pattern. Throws InputError for a matrix of another size.
  void update(SparseMatrix& matrix) const;
  /// Returns blocks of a matrix of this assembly, node by node or cell by cell in the order of the batches.
  DiagonalBlocks diagonal_blocks(const SparseMatrix& matrix, BlockKind kind) const;

private:
  class Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

} // namespace rafter::op

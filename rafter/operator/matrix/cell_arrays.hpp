// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rafter/operator/generate/system.hpp>

/// Matrices and vectors of cells, as other programs take them. The local unknowns of a cell are numbered (field of the
/// system, component, basis function).
namespace rafter::op {

struct GeneratedForm;
class FormData;
class FormKernels;

/// An array for the matrices or vectors of the cells of one group of the mesh.
template <class T> struct CellArray {
  int group = 0;
  std::span<T> values; ///< shape (cell, row, column), or (cell, row) of vectors
  /// Numbers of cells in the group, each at most once, in the order of the array; empty: all cells in theirs.
  std::span<const std::int32_t> cells = {};
};

/// Number of local unknowns of a cell of this group of the mesh.
int num_local_unknowns(const System& system, int group);
/// Entries of the system's vectors that the local unknowns of cells belong to, shape (cell, local unknown). `cells` are
/// as in CellArray. Throws InputError for cells that the group has not.
std::vector<std::int32_t> local_unknowns(const System& system, int group, std::span<const std::int32_t> cells = {});

/// Computes the matrices of the cells of a bilinear form again and again. Those of a cell hold its integral and those
/// over its facets.
class CellMatrixArrays {
public:
  /// Takes the form of a planned operator and compiles its kernels of cell matrices if need be. `data` holds the values
  /// of its data fields and parameters. Throws InputError on a part of a mesh.
  CellMatrixArrays(const GeneratedForm& form, std::shared_ptr<FormData> data);
  ~CellMatrixArrays();
  /// Fills arrays, one of a group at most. Batches without any of their cells are left out. Throws InputError for
  /// arrays of other sizes, and for cells that the group has not or that are named twice.
  void run(std::span<const CellArray<double>> arrays) const;
  void run(std::span<const CellArray<float>> arrays) const; ///< rounds what is computed in double precision

private:
  class Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

/// Does the same for the vectors of the cells of a linear form.
class CellVectorArrays {
public:
  CellVectorArrays(const GeneratedForm& form, std::shared_ptr<FormData> data);
  ~CellVectorArrays();
  void run(std::span<const CellArray<double>> arrays) const;
  void run(std::span<const CellArray<float>> arrays) const;

private:
  class Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

} // namespace rafter::op

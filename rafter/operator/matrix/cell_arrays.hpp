// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rafter/operator/generate/system.hpp>

/// Matrices and vectors of cells, as other programs take them. The local unknowns of a cell are numbered (field of the
/// system, component, basis function).
namespace rafter::op {

struct GeneratedForm;
class FormData;

/// An array for the matrices or vectors of the cells of one group of the mesh.
template <class T> struct CellArray {
  int group = 0;       ///< position in mesh::Mesh::groups
  std::span<T> values; ///< shape (cell, row, column), or (cell, row) of vectors
  /// Numbers of cells in the group, each at most once, in the order of the array; none given: all cells in theirs.
  std::optional<std::span<const std::int32_t>> cells = {};
};

/// Entries of the system's vectors that the local unknowns of cells belong to, shape (cell, local unknown). `cells` are
/// as in CellArray. Throws InputError for groups and cells that the mesh has not, and for cells that are named twice.
std::vector<std::int32_t> local_unknowns(const System& system, int group,
                                         std::optional<std::span<const std::int32_t>> cells = {});

/// The kernels that compute the matrices of the cells of a bilinear form, compiled; `form` is that of a planned
/// operator. Throws InputError on a part of a mesh.
std::shared_ptr<const GeneratedForm> cell_matrix_kernels(const GeneratedForm& form);

/// Computes the matrices of the cells of a bilinear form again and again. The matrix of a cell holds its integral and
/// those over its exterior facets.
class CellMatrixArrays {
public:
  /// `cells` are compiled: cell_matrix_kernels() or, whatever their size, those of build_cell_action(). `systems` are
  /// those of the form. `data` holds the values of its data fields and parameters.
  CellMatrixArrays(const Systems& systems, std::shared_ptr<const GeneratedForm> cells, std::shared_ptr<FormData> data);
  ~CellMatrixArrays();
  /// Fills arrays, one of a group at most. A list of cells saves the kernels the batches that hold none of them, if
  /// there are kernels of cell matrices; all cells are looked at, so that many cells are better asked for at once.
  /// Throws InputError for arrays of other sizes, and for cells that the group has not or that are named twice.
  void run(std::span<const CellArray<double>> arrays) const;
  void run(std::span<const CellArray<float>> arrays) const; ///< rounds each term, that of the cell and of each facet

private:
  class Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

/// Does the same for the vectors of the cells of a linear form: the form on broken spaces is assembled as a whole.
class CellVectorArrays {
public:
  /// Takes the form that was made for assembly and compiles kernels. Throws InputError on a part of a mesh.
  CellVectorArrays(const GeneratedForm& form, std::shared_ptr<FormData> data);
  ~CellVectorArrays();
  void run(std::span<const CellArray<double>> arrays) const;
  void run(std::span<const CellArray<float>> arrays) const; ///< rounds the vectors

private:
  class Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

} // namespace rafter::op

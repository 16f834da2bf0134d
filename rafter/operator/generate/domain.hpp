// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/base/aligned.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/tag_uses.hpp>

namespace rafter::form {
class Form;
} // namespace rafter::form

/// Lays out the data besides vectors that kernels read, per batch and cell.
namespace rafter::op {

/// Cells or facets in batches: what blocks of cells and blocks of facets have in common.
struct BatchedCells {
  std::int32_t group = 0;
  element::Shape shape = element::Shape::hexahedron;
  mesh::MapKind map = mesh::MapKind::affine;
  std::span<const int> local_facets; ///< local numbers of all facets of their shape in the cell; empty: these are cells
  std::int32_t num_items = 0, num_batches = 0;
  std::span<const std::int32_t> cells;  ///< numbers in the group, shape (batch, cell)
  std::span<const std::int32_t> facets; ///< position of the facets in `local_facets`, shape (batch); empty for cells
  /// Number of active cells, shape (batch); empty: all batches but the last one are full.
  std::span<const std::int32_t> active;
  int cells_per_batch = 8;
  bool is_facet() const { return !local_facets.empty(); }
  std::int32_t num_active(std::int32_t batch) const {
    return active.empty() ? std::min(cells_per_batch, num_items - batch * cells_per_batch)
                          : active[static_cast<std::size_t>(batch)];
  }
};
BatchedCells batched(const mesh::CellBlock& block, int cells_per_batch);
BatchedCells batched(const mesh::FacetBlock& block, int cells_per_batch);

/// Number of active cells of each batch, shape (batch).
base::AlignedVector<std::int32_t> active_counts(const BatchedCells& cells);

/// Coefficients of the maps of cells, shape (batch, mode, axis, cell), with modes as kernel::map_modes lists them. Maps
/// must not be isoparametric.
base::AlignedVector<double> map_coefficients(const mesh::Mesh& mesh, const BatchedCells& cells);

/// Coordinates of the geometry nodes of cells, shape (batch, node, axis, cell).
base::AlignedVector<double> geometry_nodes(const mesh::Mesh& mesh, const BatchedCells& cells);

/// Puts numbers of shape (batch, number, cell) into shape (batch, cell, number), the order of
/// schedule::reads_cell_by_cell.
void put_cell_by_cell(std::span<double> values, int cells_per_batch, std::int64_t num_batches);

/// The numbers per cell of a form: its coefficients by tag, then one indicator (1 or 0) for each cell measure that is
/// restricted to tags.
class CellCoefficients {
public:
  /// Throws InputError for tags that the mesh lacks and for cells whose tag a coefficient leaves out.
  CellCoefficients(const mesh::Mesh& mesh, const form::LoweredForm& form);
  int count() const { return static_cast<int>(tables_.size()); }
  /// Number of the coefficient that is the indicator of integral i; -1 when the integral covers all cells.
  int indicator(std::size_t integral) const { return indicators_[integral]; }
  /// The numbers of these cells, shape (batch, coefficient, cell).
  base::AlignedVector<double> values(const BatchedCells& cells) const;

private:
  struct Table {
    std::vector<std::int32_t> tags; ///< tags in ascending order
    std::vector<double> values;
    double otherwise = 0;
    double operator()(std::int32_t tag) const;
  };
  void add_coefficient(const form::CoefficientComponent& component);
  void add_indicator(const form::Measure& measure);
  const mesh::Mesh& mesh_;
  std::vector<Table> tables_;
  std::vector<int> indicators_;
};

/// Values of constants and parameters of a form, shape (parameter); those of parameters without a value are NaN.
base::AlignedVector<double> parameter_values(const form::LoweredForm& form);

/// The use that integrals of a kind make of tags.
mesh::TagUse tag_use(form::MeasureKind kind);

/// Tags that a measure names, as numbers of the mesh in ascending order; empty: the measure covers everything. Throws
/// InputError for tags without members that integrals of this kind reach (mesh::tags_for).
std::vector<std::int32_t> measure_tags(const mesh::Mesh& mesh, const form::Measure& measure);

/// Warns, once, of tags of a form that have members beside those which its integrals reach (mesh::left_out). Throws the
/// same.
void warn_of_left_out(const mesh::Mesh& mesh, const form::Form& form);

} // namespace rafter::op

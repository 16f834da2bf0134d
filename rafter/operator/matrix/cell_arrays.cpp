// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/matrix/cell_arrays.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/cell_unknowns.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/matrix/matrix_records.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

constexpr std::int32_t in_no_array = -1;

using Cells = std::optional<std::span<const std::int32_t>>;

/// Row in an array of each cell of a group, shape (cell); in_no_array: it has none.
std::vector<std::int32_t> rows_of_cells(const System& system, int group, const Cells& cells) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(group_of(system, group).num_cells()), in_no_array);
  if (!cells) std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t i = 0; cells && i < cells->size(); ++i) {
    const auto cell = (*cells)[i];
    if (cell < 0 || static_cast<std::size_t>(cell) >= rows.size())
      throw base::InputError(fmt::format("the mesh has no cell {} among its {} of shape {}, which are numbered from 0",
                                         cell, rows.size(), element::name(group_of(system, group).shape)));
    auto& row = rows[static_cast<std::size_t>(cell)];
    if (row != in_no_array) throw base::InputError(fmt::format("cell {} is named twice", cell));
    row = static_cast<std::int32_t>(i);
  }
  return rows;
}

/// The arrays by block of cells.
template <class T> class Destinations {
public:
  /// `num_entries`: numbers of a cell of a block, shape (block).
  Destinations(const System& system, std::span<const CellArray<T>> arrays, std::vector<std::size_t> num_entries)
      : num_entries_(std::move(num_entries)) {
    const auto& blocks = system.batches->blocks;
    rows_.resize(blocks.size());
    values_.resize(blocks.size(), nullptr);
    is_whole_.resize(blocks.size(), false);
    std::vector<bool> has_array(system.mesh->groups.size(), false);
    for (const auto& array : arrays) {
      const auto rows = rows_of_cells(system, array.group, array.cells);
      if (has_array[static_cast<std::size_t>(array.group)])
        throw base::InputError(fmt::format("two arrays are for group {} of the mesh", array.group));
      has_array[static_cast<std::size_t>(array.group)] = true;
      const auto num_cells = array.cells ? array.cells->size() : rows.size();
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (blocks[b].group != array.group) continue;
        if (array.values.size() != num_cells * num_entries_[b])
          throw base::InputError(
              fmt::format("the array for group {} of the mesh has {} numbers instead of {} cells times {}", array.group,
                          array.values.size(), num_cells, num_entries_[b]));
        values_[b] = array.values.data();
        is_whole_[b] = !array.cells;
        const std::span cells = std::span(blocks[b].cells).first(static_cast<std::size_t>(blocks[b].num_cells));
        rows_[b].resize(cells.size());
        std::ranges::transform(cells, rows_[b].begin(),
                               [&](std::int32_t cell) { return rows[static_cast<std::size_t>(cell)]; });
      }
    }
  }

  /// Numbers of a cell, by its block and number in it; null: it is in no array.
  T* of(std::size_t block, std::int64_t cell) const {
    if (values_[block] == nullptr) return nullptr;
    const auto row = rows_[block][static_cast<std::size_t>(cell)];
    return row == in_no_array ? nullptr : values_[block] + static_cast<std::size_t>(row) * num_entries_[block];
  }
  bool has(std::size_t block) const { return values_[block] != nullptr; }
  bool is_whole(std::size_t block) const { return is_whole_[block]; } ///< all cells of the block are in an array
  std::size_t num_entries(std::size_t block) const { return num_entries_[block]; }

  /// Visits the numbers of all cells that are in an array.
  template <class Visit> void for_each(device::Device& device, const Visit& visit) const {
    for (std::size_t b = 0; b < rows_.size(); ++b)
      for_each_range(thread_ranges(static_cast<std::int64_t>(rows_[b].size()), device), device,
                     [&](std::int64_t begin, std::int64_t end) {
                       for (auto cell = begin; cell < end; ++cell)
                         if (T* to = of(b, cell)) visit(b, cell, to);
                     });
  }

private:
  std::vector<std::size_t> num_entries_;
  std::vector<std::vector<std::int32_t>> rows_; ///< shape (block, cell of the block); empty: no array has any
  std::vector<T*> values_;                      ///< shape (block)
  std::vector<bool> is_whole_;                  ///< shape (block)
};

void require_whole_mesh(const System& system) {
  if (system.mesh->distribution != nullptr)
    throw base::InputError("matrices and vectors of cells are those of a whole mesh, and this is a part of a mesh");
}

} // namespace

std::vector<std::int32_t> local_unknowns(const System& system, int group, Cells cells) {
  const auto rows = rows_of_cells(system, group, cells);
  const auto length = static_cast<std::size_t>(num_local_unknowns(system, group));
  std::vector<std::int32_t> result((cells ? cells->size() : rows.size()) * length);
  for (std::size_t cell = 0; cell < rows.size(); ++cell) {
    if (rows[cell] == in_no_array) continue;
    auto of_cell = std::span(result).subspan(static_cast<std::size_t>(rows[cell]) * length, length);
    for (std::size_t f = 0; f < system.spaces.size(); ++f) {
      const auto& space = *system.spaces[f];
      const auto position = space.position(group, static_cast<std::int32_t>(cell));
      const auto of_field = of_cell.first(
          static_cast<std::size_t>(space.num_components() * space.element(group_of(system, group).shape)->num_dofs()));
      space.cell_dofs(position.block, position.batch, position.cell, of_field);
      for (auto& entry : of_field) entry += static_cast<std::int32_t>(system.offset(f));
      of_cell = of_cell.subspan(of_field.size());
    }
  }
  return result;
}

std::shared_ptr<const GeneratedForm> cell_matrix_kernels(const GeneratedForm& form) {
  require_whole_mesh(form.system);
  auto cells = form.matrix != nullptr
                   ? form.matrix->cells
                   : build_cell_matrices(form.form, Systems(form.system, form.trial_system), form.options);
  compile(std::span(&cells, 1));
  return cells;
}

namespace {

/// Number of local unknowns of the cells of each block, shape (block).
std::vector<std::size_t> lengths_of(const System& system) {
  std::vector<std::size_t> result;
  for (const auto& block : system.batches->blocks)
    result.push_back(static_cast<std::size_t>(num_local_unknowns(system, block.group)));
  return result;
}

} // namespace

class CellMatrixArrays::Implementation {
public:
  Implementation(const Systems& systems, std::shared_ptr<const GeneratedForm> cells, std::shared_ptr<FormData> data)
      : system_(systems.test), rows_(lengths_of(systems.test)), columns_(lengths_of(systems.trial)),
        kernels_(std::move(cells), std::move(data)) {
    if (kernels_.built().purpose != Purpose::matrix) {
      by_columns_.emplace(kernels_);
      return;
    }
    records_ = matrix_records(kernels_.built(), 1);
    is_covered_.resize(rows_.size(), false);
    for (std::size_t k = 0; k < records_.size(); ++k) {
      overwrites_.push_back(kernels_.built().blocks[k].cell_block >= 0);
      writes_all_.push_back(std::ranges::find(records_[k].places, -1) == records_[k].places.end());
      std::vector<std::int32_t> in_order(records_[k].places.size());
      std::iota(in_order.begin(), in_order.end(), 0);
      are_in_order_.push_back(records_[k].places == in_order);
      if (overwrites_[k]) is_covered_[records_[k].block] = true;
    }
  }

  template <class T> void run(std::span<const CellArray<T>> arrays) const {
    std::vector<std::size_t> num_entries;
    for (std::size_t b = 0; b < rows_.size(); ++b) num_entries.push_back(rows_[b] * columns_[b]);
    const Destinations<T> destinations(system_, arrays, std::move(num_entries));
    if (by_columns_)
      run_by_columns(destinations);
    else
      run_kernels(destinations);
  }

private:
  /// Kernels of cells overwrite what stands in the arrays, those of facets come later and add. Where a block of cells
  /// has no kernel, its matrices begin with zeros.
  template <class T> void run_kernels(const Destinations<T>& destinations) const {
    if (std::ranges::find(is_covered_, false) != is_covered_.end())
      destinations.for_each(*kernels_.device(), [&](std::size_t block, std::int64_t, T* to) {
        if (!is_covered_[block]) std::fill_n(to, destinations.num_entries(block), T{0});
      });
    const auto wants = [&](std::size_t kernel, std::int32_t begin, std::int32_t end) {
      const auto& records = records_[kernel];
      if (!destinations.has(records.block)) return false;
      if (destinations.is_whole(records.block)) return true;
      const auto& cells = kernels_.built().blocks[kernel].cells;
      for (auto batch = begin; batch < end; ++batch)
        for (int cell = 0; cell < cells.num_active(batch); ++cell)
          if (destinations.of(records.block, records.cell_of(batch, cell)) != nullptr) return true;
      return false;
    };
    kernels_.cell_matrices([&](const CellMatrices& matrices) { take(matrices, destinations); }, wants);
  }

  template <class T> void take(const CellMatrices& matrices, const Destinations<T>& destinations) const {
    const auto& records = records_[matrices.block];
    const auto& cells = kernels_.built().blocks[matrices.block].cells;
    const auto num_entries = destinations.num_entries(records.block);
    const auto* places = records.places.data();
    const bool overwrites = overwrites_[matrices.block], writes_all = writes_all_[matrices.block],
               is_in_order = are_in_order_[matrices.block];
    for (auto batch = matrices.batch_begin; batch < matrices.batch_end; ++batch) {
      for (int cell = 0, active = cells.num_active(batch); cell < active; ++cell) {
        T* to = destinations.of(records.block, records.cell_of(batch, cell));
        if (to == nullptr) continue;
        const double* values = records.values_of(matrices, batch, cell);
        if (overwrites && is_in_order)
          std::copy_n(values, num_entries, to);
        else if (overwrites && writes_all)
          for (std::size_t i = 0; i < num_entries; ++i) to[i] = static_cast<T>(values[places[i]]);
        else if (overwrites)
          for (std::size_t i = 0; i < num_entries; ++i)
            to[i] = places[i] >= 0 ? static_cast<T>(values[places[i]]) : T{0};
        else
          for (std::size_t i = 0; i < num_entries; ++i)
            if (places[i] >= 0) to[i] += static_cast<T>(values[places[i]]);
      }
    }
  }

  template <class T> void run_by_columns(const Destinations<T>& destinations) const {
    by_columns_->run([&](std::size_t block, int) { return destinations.has(block); },
                     [&](int local, std::span<const double> column) {
                       const auto& rows = by_columns_->rows();
                       destinations.for_each(*kernels_.device(), [&](std::size_t b, std::int64_t cell, T* to) {
                         const auto length = columns_[b];
                         if (static_cast<std::size_t>(local) >= length) return;
                         const auto& block = rows.blocks[b];
                         const auto* entries = rows.entries.data() + block.first + cell * block.length;
                         for (std::size_t row = 0; row < static_cast<std::size_t>(block.length); ++row)
                           to[row * length + static_cast<std::size_t>(local)] =
                               static_cast<T>(column[static_cast<std::size_t>(entries[row])]);
                       });
                     });
  }

  System system_;
  std::vector<std::size_t> rows_, columns_; ///< numbers of local unknowns, shape (block)
  FormKernels kernels_;
  std::vector<MatrixRecords> records_;      ///< shape (kernel); empty where matrices are found column by column
  std::vector<bool> overwrites_;            ///< shape (kernel): it is of cells, and not of facets
  std::vector<bool> writes_all_;            ///< shape (kernel): it writes all entries of a cell
  std::vector<bool> are_in_order_;          ///< shape (kernel): in the order of the arrays
  std::vector<bool> is_covered_;            ///< shape (block): a kernel overwrites the matrices of its cells
  std::optional<MatrixColumns> by_columns_; ///< none: kernels write cell matrices
};

CellMatrixArrays::CellMatrixArrays(const Systems& systems, std::shared_ptr<const GeneratedForm> cells,
                                   std::shared_ptr<FormData> data)
    : implementation_(std::make_unique<const Implementation>(systems, std::move(cells), std::move(data))) {}
CellMatrixArrays::~CellMatrixArrays() = default;
void CellMatrixArrays::run(std::span<const CellArray<double>> arrays) const { implementation_->run(arrays); }
void CellMatrixArrays::run(std::span<const CellArray<float>> arrays) const { implementation_->run(arrays); }

/// The form on broken spaces has the vectors of cells in the vector that it assembles.
class CellVectorArrays::Implementation {
public:
  Implementation(const GeneratedForm& form, std::shared_ptr<FormData> data)
      : system_(form.system), kernels_(compiled_cells(form), std::move(data)),
        unknowns_(kernels_.built().system, *kernels_.device()) {}

  template <class T> void run(std::span<const CellArray<T>> arrays) const {
    std::vector<std::size_t> num_entries;
    for (const auto& block : unknowns_.blocks) num_entries.push_back(static_cast<std::size_t>(block.length));
    const Destinations<T> destinations(system_, arrays, std::move(num_entries));
    Vector vector(kernels_.device(), static_cast<std::size_t>(kernels_.built().system.size()));
    kernels_.run(nullptr, vector, false);
    const auto values = vector.host_read();
    destinations.for_each(*kernels_.device(), [&](std::size_t b, std::int64_t cell, T* to) {
      const auto& block = unknowns_.blocks[b];
      const auto* entries = unknowns_.entries.data() + block.first + cell * block.length;
      for (int row = 0; row < block.length; ++row)
        to[row] = static_cast<T>(values[static_cast<std::size_t>(entries[row])]);
    });
  }

private:
  static std::shared_ptr<const GeneratedForm> compiled_cells(const GeneratedForm& form) {
    require_whole_mesh(form.system);
    return compiled(build_cell_action(form.form, Systems(form.system, form.system), form.options));
  }

  System system_;
  FormKernels kernels_;
  CellUnknowns unknowns_; ///< those of the broken system
};

CellVectorArrays::CellVectorArrays(const GeneratedForm& form, std::shared_ptr<FormData> data)
    : implementation_(std::make_unique<const Implementation>(form, std::move(data))) {}
CellVectorArrays::~CellVectorArrays() = default;
void CellVectorArrays::run(std::span<const CellArray<double>> arrays) const { implementation_->run(arrays); }
void CellVectorArrays::run(std::span<const CellArray<float>> arrays) const { implementation_->run(arrays); }

} // namespace rafter::op

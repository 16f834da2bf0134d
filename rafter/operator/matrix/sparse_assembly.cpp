// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/matrix/sparse_assembly.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/matrix/cell_sum.hpp>
#include <rafter/space/constraints.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

constexpr std::int64_t of_identity = -1;

std::shared_ptr<const GeneratedMatrix> compiled_cells(const GeneratedForm& form) {
  auto built = form.matrix != nullptr ? form.matrix : build_matrix(form.form, form.system, form.options);
  compile(std::span(&built->cells, 1));
  return built;
}

/// The unknowns of a cell, shape (local unknown).
std::span<const std::int32_t> cell_unknowns(const CellUnknowns& unknowns, const CellUnknowns::CellRange& block,
                                            std::int64_t cell) {
  return std::span(unknowns.entries)
      .subspan(static_cast<std::size_t>(block.first + cell * block.length), static_cast<std::size_t>(block.length));
}

} // namespace

class SparseAssembly::Implementation {
public:
  Implementation(const GeneratedForm& form, const space::Constraints& constraints, std::shared_ptr<FormData> data)
      : built_(compiled_cells(form)), device_(built_->cells->options.device),
        unknowns_(built_->system, *device_, built_->coupling.block_size()),
        is_constrained_(static_cast<std::size_t>(built_->system.size()), 0) {
    constexpr double extra_bytes = 8 + 4; // bytes per entry: values and columns once more
    if (const auto lack = memory_lack(*built_, built_->info.plan, extra_bytes); !lack.empty())
      throw base::EnvironmentError(lack + "use an iterative method, which needs no matrix");
    pattern_ = std::make_unique<const SlicedPattern>(unknowns_, built_->coupling, built_->system.size(), 1, *device_);
    sum_ = std::make_unique<const CellSum>(*built_, unknowns_, *pattern_, std::move(data));
    for (const auto entry : constraints.entries) is_constrained_[static_cast<std::size_t>(entry)] = 1;
    for (const auto entry : built_->system.padding()) is_constrained_[static_cast<std::size_t>(entry)] = 1;
    find_pattern();
  }

  SparseMatrix matrix() const {
    SparseMatrix result = empty_;
    update(result);
    return result;
  }

  void update(SparseMatrix& matrix) const {
    if (matrix.num_rows() != empty_.num_rows() || matrix.num_entries() != empty_.num_entries())
      throw base::InputError(fmt::format("the matrix has {} rows with {} entries, that of the operator has {} with {}",
                                         matrix.num_rows(), matrix.num_entries(), empty_.num_rows(),
                                         empty_.num_entries()));
    const auto entries = sum_->run();
    matrix.values.resize(empty_.columns.size());
    for_each_row([&](std::size_t row) {
      auto* to = matrix.values.data() + empty_.row_offsets[row];
      visit_row(row, [&](std::int32_t, std::int64_t place) {
        *to++ = place == of_identity ? 1 : entries[static_cast<std::size_t>(place)];
      });
    });
  }

  DiagonalBlocks diagonal_blocks(const SparseMatrix& matrix, BlockKind kind) const {
    DiagonalBlocks result;
    result.offsets.push_back(0);
    result.value_offsets.push_back(0);
    std::vector<std::uint8_t> is_done(is_constrained_.size(), 0);
    const CellUnknowns unknowns(built_->system, *device_);
    for (std::size_t b = 0; b < unknowns.blocks.size(); ++b)
      for (std::int64_t cell = 0; cell < unknowns.blocks[b].num_cells; ++cell) {
        const auto of_cell = cell_unknowns(unknowns, unknowns.blocks[b], cell);
        if (kind == BlockKind::cell)
          add_block(matrix, of_cell, result);
        else
          add_nodes(matrix, b, of_cell, is_done, result);
      }
    return result;
  }

private:
  template <class Body> void for_each_row(const Body& body) const {
    for_each_range(thread_ranges(static_cast<std::int64_t>(is_constrained_.size()), *device_), *device_,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (auto row = begin; row < end; ++row) body(static_cast<std::size_t>(row));
                   });
  }

  /// visit(column, place among the entries of the free operator) for the entries of a row, ascending.
  template <class Visit> void visit_row(std::size_t row, const Visit& visit) const {
    if (is_constrained_[row] != 0) return visit(static_cast<std::int32_t>(row), of_identity);
    const auto size = static_cast<std::size_t>(pattern_->block);
    const std::size_t of_blocks = row / size;
    auto place = static_cast<std::int64_t>(pattern_->first_places[of_blocks] +
                                           row % size * pattern_->row_stride(static_cast<std::int32_t>(of_blocks)));
    for (auto k = pattern_->starts[of_blocks]; k < pattern_->starts[of_blocks + 1]; ++k) {
      auto column = pattern_->columns[static_cast<std::size_t>(k)] * pattern_->block;
      for (int j = 0; j < pattern_->block; ++j, ++column, ++place)
        if (is_constrained_[static_cast<std::size_t>(column)] == 0) visit(column, place);
    }
  }

  void find_pattern() {
    empty_.num_columns = built_->system.size();
    auto& offsets = empty_.row_offsets;
    offsets.assign(is_constrained_.size() + 1, 0);
    for_each_row([&](std::size_t row) { visit_row(row, [&](std::int32_t, std::int64_t) { ++offsets[row + 1]; }); });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    empty_.columns.resize(static_cast<std::size_t>(offsets.back()));
    for_each_row([&](std::size_t row) {
      auto* to = empty_.columns.data() + offsets[row];
      visit_row(row, [&](std::int32_t column, std::int64_t) { *to++ = column; });
    });
  }

  static void add_block(const SparseMatrix& matrix, std::span<const std::int32_t> unknowns, DiagonalBlocks& to) {
    to.unknowns.insert(to.unknowns.end(), unknowns.begin(), unknowns.end());
    to.offsets.push_back(static_cast<std::int64_t>(to.unknowns.size()));
    for (const auto row : unknowns)
      for (const auto column : unknowns) to.values.push_back(matrix(row, column));
    to.value_offsets.push_back(static_cast<std::int64_t>(to.values.size()));
  }

  /// Adds the blocks of those nodes of a cell that no earlier cell has.
  void add_nodes(const SparseMatrix& matrix, std::size_t block, std::span<const std::int32_t> of_cell,
                 std::vector<std::uint8_t>& is_done, DiagonalBlocks& to) const {
    std::size_t first = 0;
    for (const auto& space : built_->system.spaces) {
      const auto components = static_cast<std::size_t>(space->num_components()),
                 dofs = static_cast<std::size_t>(space->block(static_cast<int>(block)).layout.element->num_dofs());
      std::vector<std::int32_t> node(components);
      for (std::size_t dof = 0; dof < dofs; ++dof) {
        for (std::size_t c = 0; c < components; ++c) node[c] = of_cell[first + c * dofs + dof];
        if (std::exchange(is_done[static_cast<std::size_t>(node.front())], std::uint8_t{1}) == 0)
          add_block(matrix, node, to);
      }
      first += components * dofs;
    }
  }

  std::shared_ptr<const GeneratedMatrix> built_;
  std::shared_ptr<device::Device> device_;
  CellUnknowns unknowns_;                        ///< groups of Coupling::block_size() unknowns
  std::unique_ptr<const SlicedPattern> pattern_; ///< pattern of the operator without conditions
  std::unique_ptr<const CellSum> sum_;
  /// 1 where the row is that of the identity, at constrained unknowns and padding; shape (row).
  std::vector<std::uint8_t> is_constrained_;
  SparseMatrix empty_; ///< the matrix without values
};

SparseAssembly::SparseAssembly(const GeneratedForm& form, const space::Constraints& constraints,
                               std::shared_ptr<FormData> data)
    : implementation_(std::make_unique<const Implementation>(form, constraints, std::move(data))) {}
SparseAssembly::~SparseAssembly() = default;

SparseMatrix SparseAssembly::matrix() const { return implementation_->matrix(); }
void SparseAssembly::update(SparseMatrix& matrix) const { implementation_->update(matrix); }
DiagonalBlocks SparseAssembly::diagonal_blocks(const SparseMatrix& matrix, BlockKind kind) const {
  return implementation_->diagonal_blocks(matrix, kind);
}

} // namespace rafter::op

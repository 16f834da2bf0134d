// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <rafter/mesh/generations.hpp>
#include <rafter/operator/levels/transfer.hpp>
#include <rafter/space/function_space.hpp>

/// The long way of a transfer: its matrix, row by row, from values of basis functions.
namespace rafter::test {

/// A transfer as a sparse matrix. Rows are made by the first cell that has their entry, in the order of groups and
/// cells of the coarse mesh, and of the children in each.
class ReferenceTransfer final : public op::Transfer {
public:
  explicit ReferenceTransfer(const op::TransferSpecification& of)
      : num_columns_(of.coarse.size()), rows_(static_cast<std::size_t>(of.fine.size())), is_made_(rows_.size(), false) {
    for (std::size_t field = 0; field < of.fine.spaces.size(); ++field) add_field(of, field);
    const auto is_constrained = [&](const Entry& entry) {
      return std::ranges::binary_search(of.constrained_coarse, entry.first);
    };
    for (auto& row : rows_) std::erase_if(row, is_constrained);
    for (const auto entry : of.constrained_fine) rows_[static_cast<std::size_t>(entry)].clear();
  }

  std::int64_t rows() const override { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t columns() const override { return num_columns_; }

  void prolongate(const op::Vector& coarse, op::Vector& fine) const override {
    std::ranges::fill(fine.host_overwrite(), 0.0);
    prolongate_and_add(coarse, fine);
  }
  void prolongate_and_add(const op::Vector& coarse, op::Vector& fine) const override {
    const auto from = coarse.host_read();
    const auto to = fine.host_write();
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (const auto& [column, weight] : rows_[i]) to[i] += weight * from[static_cast<std::size_t>(column)];
  }
  void restrict_to(const op::Vector& fine, op::Vector& coarse) const override {
    const auto from = fine.host_read();
    const auto to = coarse.host_overwrite();
    std::ranges::fill(to, 0.0);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (const auto& [column, weight] : rows_[i]) to[static_cast<std::size_t>(column)] += weight * from[i];
  }

private:
  using Entry = std::pair<std::int32_t, double>; ///< column and weight

  void add_field(const op::TransferSpecification& of, std::size_t field) {
    const auto& from = *of.coarse.spaces[field];
    const auto& to = *of.fine.spaces[field];
    const auto& mesh = *of.coarse.mesh;
    const auto num_components = static_cast<std::size_t>(from.num_components());
    const auto column_offset = static_cast<std::int32_t>(of.coarse.offset(field)),
               row_offset = static_cast<std::int32_t>(of.fine.offset(field));
    for (std::size_t g = 0; g < mesh.groups.size(); ++g)
      for (std::int32_t cell = 0; cell < mesh.groups[g].num_cells(); ++cell) {
        const auto group = static_cast<std::int32_t>(g);
        const auto columns = dofs(from, group, cell, column_offset);
        if (of.refinement == nullptr) {
          const auto element = to.element(mesh.groups[g].shape);
          add_rows(values(from, mesh.groups[g].shape, element->nodes()), num_components, columns,
                   dofs(to, group, cell, row_offset));
          continue;
        }
        const auto& refinement = *of.refinement;
        const auto& division = refinement.of_cell(group, cell);
        for (std::size_t k = 0; k < division.children.size(); ++k) {
          const auto& child = division.children[k];
          const auto& place = refinement.places[g][k];
          auto& table = of_children_[{field, g, refinement.diagonal(group, cell), k}];
          if (table.empty())
            table =
                values(from, mesh.groups[g].shape,
                       mesh::map_to_parent(mesh.groups[g].shape, division, child, to.element(child.shape)->nodes()));
          add_rows(table, num_components, columns, dofs(to, place.group, place.cell(cell), row_offset));
        }
      }
  }

  /// Values of the basis functions of a space at points of the reference cell, shape (point, dof).
  static std::vector<double> values(const space::FunctionSpace& space, element::Shape shape,
                                    std::span<const double> points) {
    auto table = space.element(shape)->tabulate(points);
    table.values.resize(static_cast<std::size_t>(table.num_points) * static_cast<std::size_t>(table.num_dofs));
    return table.values;
  }

  /// Entries of a cell in the vectors of the system, shape (component, local dof).
  static std::vector<std::int32_t> dofs(const space::FunctionSpace& space, std::int32_t group, std::int32_t cell,
                                        std::int32_t offset) {
    const auto shape = space.mesh().groups[static_cast<std::size_t>(group)].shape;
    std::vector<std::int32_t> result(
        static_cast<std::size_t>(space.element(shape)->num_dofs() * space.num_components()));
    const auto position = space.position(group, cell);
    space.cell_dofs(position.block, position.batch, position.cell, result);
    for (auto& entry : result) entry += offset;
    return result;
  }

  /// Makes the rows of the entries of a cell, from the table of basis functions at its nodes, shape (node, dof).
  void add_rows(const std::vector<double>& table, std::size_t num_components, const std::vector<std::int32_t>& columns,
                const std::vector<std::int32_t>& entries) {
    const std::size_t num_points = entries.size() / num_components, num_dofs = columns.size() / num_components;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto row = static_cast<std::size_t>(entries[i]);
      if (is_made_[row]) continue;
      is_made_[row] = true;
      for (std::size_t j = 0; j < num_dofs; ++j)
        if (const double weight = table[i % num_points * num_dofs + j]; weight != 0)
          rows_[row].emplace_back(columns[i / num_points * num_dofs + j], weight);
    }
  }

  std::int64_t num_columns_;
  std::vector<std::vector<Entry>> rows_;
  std::vector<bool> is_made_;
  /// Tables of children by field, group, diagonal and child.
  std::map<std::tuple<std::size_t, std::size_t, int, std::size_t>, std::vector<double>> of_children_;
};

} // namespace rafter::test

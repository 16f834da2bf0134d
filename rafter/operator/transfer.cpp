// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/transfer.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace rafter::op {
namespace {

/// A transfer as a sparse matrix in compressed rows, and its transpose.
class SparseTransfer final : public Transfer {
public:
  explicit SparseTransfer(const TransferSpecification& of) : rows_(static_cast<std::size_t>(of.fine.size())) {
    num_columns_ = of.coarse.size();
    is_made_.assign(rows_.size(), false);
    for (std::size_t field = 0; field < of.fine.spaces.size(); ++field) add_field(of, field);
    for (auto& row : rows_)
      std::erase_if(row, [&](const Entry& e) { return std::ranges::binary_search(of.constrained_coarse, e.first); });
    for (const auto entry : of.constrained_fine) rows_[static_cast<std::size_t>(entry)].clear();
  }
  std::int64_t rows() const override { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t columns() const override { return num_columns_; }
  void prolongate(const Vector& coarse, Vector& fine) const override {
    std::ranges::fill(fine.host_overwrite(), 0.0);
    prolongate_and_add(coarse, fine);
  }
  void prolongate_and_add(const Vector& coarse, Vector& fine) const override {
    const auto from = coarse.host_read();
    const auto to = fine.host_write();
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (const auto& [column, weight] : rows_[i]) to[i] += weight * from[static_cast<std::size_t>(column)];
  }
  void restrict_to(const Vector& fine, Vector& coarse) const override {
    const auto from = fine.host_read();
    const auto to = coarse.host_overwrite();
    std::ranges::fill(to, 0.0);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (const auto& [column, weight] : rows_[i]) to[static_cast<std::size_t>(column)] += weight * from[i];
  }

private:
  using Entry = std::pair<std::int32_t, double>;
  void add_field(const TransferSpecification& of, std::size_t field) {
    const auto& from = *of.coarse.spaces[field];
    const auto& to = *of.fine.spaces[field];
    const auto& mesh = *of.coarse.mesh;
    const auto nc = static_cast<std::size_t>(from.num_components());
    const auto co = static_cast<std::int32_t>(of.coarse.offset(field)),
               ro = static_cast<std::int32_t>(of.fine.offset(field));
    std::map<std::tuple<std::size_t, int, std::size_t>, std::vector<double>> tables;
    for (std::size_t g = 0; g < mesh.groups.size(); ++g)
      for (std::int32_t cell = 0; cell < mesh.groups[g].num_cells(); ++cell) {
        const auto group = static_cast<std::int32_t>(g);
        const auto shape = mesh.groups[g].shape;
        const auto columns = dofs(from, group, cell, co);
        if (of.refinement == nullptr) {
          auto& table = tables[{g, 0, 0}];
          if (table.empty()) table = from.element(shape)->tabulate(to.element(shape)->nodes()).values;
          add_rows(table, nc, columns, dofs(to, group, cell, ro));
          continue;
        }
        const auto& division = of.refinement->of_cell(group, cell);
        for (std::size_t k = 0; k < division.children.size(); ++k) {
          const auto& child = division.children[k];
          const auto& place = of.refinement->places[g][k];
          auto& table = tables[{g, of.refinement->diagonal(group, cell), k}];
          if (table.empty())
            table = from.element(shape)
                        ->tabulate(mesh::map_to_parent(shape, division, child, to.element(child.shape)->nodes()))
                        .values;
          add_rows(table, nc, columns, dofs(to, place.group, place.cell(cell), ro));
        }
      }
  }
  static std::vector<std::int32_t> dofs(const space::FunctionSpace& space, std::int32_t group, std::int32_t cell,
                                        std::int32_t offset) {
    const auto shape = space.mesh().groups[static_cast<std::size_t>(group)].shape;
    std::vector<std::int32_t> result(
        static_cast<std::size_t>(space.element(shape)->num_dofs() * space.num_components()));
    const auto position = space.position(group, cell);
    space.cell_dofs(position.block, position.batch, position.lane, result);
    for (auto& entry : result) entry += offset;
    return result;
  }
  void add_rows(const std::vector<double>& table, std::size_t nc, const std::vector<std::int32_t>& columns,
                const std::vector<std::int32_t>& entries) {
    const std::size_t np = entries.size() / nc, nd = columns.size() / nc;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto row = static_cast<std::size_t>(entries[i]);
      if (is_made_[row]) continue;
      is_made_[row] = true;
      for (std::size_t j = 0; j < nd; ++j)
        if (const double w = table[i % np * nd + j]; std::abs(w) > 1e-15)
          rows_[row].emplace_back(columns[i / np * nd + j], w);
    }
  }
  std::int64_t num_columns_;
  std::vector<std::vector<Entry>> rows_;
  std::vector<bool> is_made_;
};

} // namespace

std::shared_ptr<const Transfer> make_transfer(const TransferSpecification& specification) {
  return std::make_shared<SparseTransfer>(specification);
}

} // namespace rafter::op

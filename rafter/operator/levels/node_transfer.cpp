// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/node_transfer.hpp>

#include <type_traits>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {

using kernel::TransferDirection;

namespace {

void require_fit(const TransferSpecification& of, const space::LowOrderRefinement& nodes) {
  bool fits = of.coarse.mesh == nodes.mesh && of.fine.spaces.size() == of.coarse.spaces.size();
  for (std::size_t f = 0; fits && f < of.fine.spaces.size(); ++f)
    fits = of.fine.spaces[f]->degree == nodes.groups.front().element->degree() && of.coarse.spaces[f]->degree == 1 &&
           of.fine.spaces[f]->num_components() == of.coarse.spaces[f]->num_components();
  if (!fits)
    throw base::InputError("a transfer between equal nodes: accepted are a system whose spaces all have the degree of "
                           "the nodes, and one of degree 1 with the same fields on the mesh between them");
}

/// Finds the coarse entry of each fine one of a field.
void match_entries(const TransferSpecification& of, const space::LowOrderRefinement& nodes, std::size_t field,
                   std::vector<std::int32_t>& coarse_of_fine) {
  const auto &fine = *of.fine.spaces[field], &coarse = *of.coarse.spaces[field];
  const auto from = of.coarse.offset(field), to = of.fine.offset(field);
  const auto num_components = static_cast<std::size_t>(fine.num_components());
  std::vector<std::int32_t> of_cell, of_children;
  for (std::size_t g = 0; g < nodes.groups.size(); ++g) {
    const auto& group = nodes.groups[g];
    const auto num_dofs = static_cast<std::size_t>(group.element->num_dofs()), num_corners = group.corners.size();
    of_cell.resize(num_dofs * num_components);
    for (std::int32_t cell = 0; cell < fine.mesh().groups[g].num_cells(); ++cell) {
      const auto position = fine.position(static_cast<std::int32_t>(g), cell);
      fine.cell_dofs(position.block, position.batch, position.cell, of_cell);
      nodes.child_entries(coarse, static_cast<std::int32_t>(g), cell, of_children);
      for (std::size_t c = 0; c < num_components; ++c)
        for (std::size_t corner = 0; corner < num_corners; ++corner) {
          const auto entry = of_cell[c * num_dofs + static_cast<std::size_t>(group.corners[corner])];
          coarse_of_fine[static_cast<std::size_t>(to + entry)] =
              static_cast<std::int32_t>(from + of_children[c * num_corners + corner]);
        }
    }
  }
}

/// The matrix that takes entry entries[i] of a vector as entry i, and 0 where that is negative.
SparseMatrix selection(std::span<const std::int32_t> entries, std::int64_t num_columns) {
  SparseMatrix result{.num_columns = num_columns, .row_offsets = {0}, .columns = {}, .values = {}};
  for (const auto entry : entries) {
    if (entry >= 0) result.columns.push_back(entry);
    result.row_offsets.push_back(result.num_entries());
  }
  result.values.assign(result.columns.size(), 1.0);
  return result;
}

} // namespace

NodeTransfer::NodeTransfer(const TransferSpecification& specification, const space::LowOrderRefinement& nodes,
                           const std::shared_ptr<device::Device>& device, schedule::Precision precision)
    : rows_(specification.fine.size()), columns_(specification.coarse.size()), precision_(precision) {
  require_fit(specification, nodes);
  std::vector<std::int32_t> coarse_of_fine(static_cast<std::size_t>(rows_), -1),
      fine_of_coarse(static_cast<std::size_t>(columns_), -1);
  for (std::size_t f = 0; f < specification.fine.spaces.size(); ++f)
    match_entries(specification, nodes, f, coarse_of_fine);
  for (const auto entry : specification.constrained_fine) coarse_of_fine[static_cast<std::size_t>(entry)] = -1;
  std::vector<bool> is_constrained(fine_of_coarse.size(), false);
  for (const auto entry : specification.constrained_coarse) is_constrained[static_cast<std::size_t>(entry)] = true;
  for (std::size_t fine = 0; fine < coarse_of_fine.size(); ++fine) {
    auto& coarse = coarse_of_fine[fine];
    if (coarse >= 0 && is_constrained[static_cast<std::size_t>(coarse)]) coarse = -1;
    if (coarse >= 0) fine_of_coarse[static_cast<std::size_t>(coarse)] = static_cast<std::int32_t>(fine);
  }
  prolongation_ = make_sliced_product(device, selection(coarse_of_fine, columns_), precision);
  restriction_ = make_sliced_product(device, selection(fine_of_coarse, rows_), precision);
}

template <class T>
void NodeTransfer::run(TransferDirection direction, const device::Array<T>& from, device::Array<T>& to,
                       bool adds) const {
  if ((precision_ == schedule::Precision::double_precision) != std::is_same_v<T, double>)
    throw base::InternalError("the vectors have another precision than the transfer");
  const bool is_prolongation = direction == TransferDirection::prolongation;
  const auto num_from = static_cast<std::size_t>(is_prolongation ? columns_ : rows_),
             num_to = static_cast<std::size_t>(is_prolongation ? rows_ : columns_);
  if (from.size() != num_from || to.size() != num_to)
    throw base::InputError(fmt::format("a transfer from a vector of {} entries to one of {}; accepted are {} and {}",
                                       from.size(), to.size(), num_from, num_to));
  if (&from == &to) throw base::InputError("input and output are the same vector");
  (is_prolongation ? prolongation_ : restriction_)->run(from, to, adds);
}

void NodeTransfer::prolongate(const Vector& coarse, Vector& fine) const {
  run(TransferDirection::prolongation, coarse, fine, false);
}
void NodeTransfer::prolongate_and_add(const Vector& coarse, Vector& fine) const {
  run(TransferDirection::prolongation, coarse, fine, true);
}
void NodeTransfer::restrict_to(const Vector& fine, Vector& coarse) const {
  run(TransferDirection::restriction, fine, coarse, false);
}

void NodeTransfer::prolongate(const SingleVector& coarse, SingleVector& fine) const {
  run(TransferDirection::prolongation, coarse, fine, false);
}
void NodeTransfer::prolongate_and_add(const SingleVector& coarse, SingleVector& fine) const {
  run(TransferDirection::prolongation, coarse, fine, true);
}
void NodeTransfer::restrict_to(const SingleVector& fine, SingleVector& coarse) const {
  run(TransferDirection::restriction, fine, coarse, false);
}

} // namespace rafter::op

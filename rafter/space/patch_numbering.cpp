// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/patch_numbering.hpp>

#include <utility>

namespace rafter::space {

PatchNumbering::PatchNumbering(std::unique_ptr<PatchLayout> layout, const mesh::CellBlock& block, int cells_per_batch,
                               int num_components)
    : layout_(std::move(layout)), block_(block), cells_per_batch_(static_cast<std::size_t>(cells_per_batch)),
      num_patches_(cells_per_batch_ / layout_->corners.size()), num_components_(num_components) {
  starts_.resize(static_cast<std::size_t>(block.num_batches) * layout_->run_lengths.size() * num_patches_);
  for_runs([this](std::size_t, auto, std::size_t first_dof) {
    straight_pattern_.push_back(static_cast<std::int32_t>(first_dof));
  });
}

/// Returns the offset of the arrangement in which entries_ follow `start`; -1: they are not consecutive.
std::int32_t PatchNumbering::arrangement(std::size_t first, std::int32_t start) {
  const std::size_t length = entries_.size();
  bool is_straight = true;
  std::vector<std::int32_t> nodes(length, -1);
  for (std::size_t k = 0; k < length; ++k) {
    const auto position = static_cast<std::size_t>((entries_[k] - start) / num_components_);
    if (position >= length || nodes[position] >= 0) return -1;
    nodes[position] = layout_->arrangements[first + k];
    is_straight = is_straight && position == k;
  }
  if (is_straight) return static_cast<std::int32_t>(first);
  const auto [place, is_new] =
      arrangements_.try_emplace({first, nodes}, static_cast<std::int32_t>(layout_->arrangements.size()));
  if (is_new) layout_->arrangements.insert(layout_->arrangements.end(), nodes.begin(), nodes.end());
  return place->second;
}

void PatchNumbering::finish(BlockDofs& dofs) && {
  dofs.layout.patch = std::move(layout_);
  dofs.patch_starts = std::move(starts_);
  dofs.patch_patterns = std::move(patterns_).take();
}

} // namespace rafter::space

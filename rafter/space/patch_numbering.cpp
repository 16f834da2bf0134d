// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/patch_numbering.hpp>

#include <algorithm>
#include <span>

namespace rafter::space {

PatchNumbering::PatchNumbering(std::unique_ptr<PatchLayout> layout, const mesh::CellBlock& block, int cells_per_batch,
                               int num_components, RunOf run_of)
    : layout_(std::move(layout)), block_(block), cells_per_batch_(static_cast<std::size_t>(cells_per_batch)),
      num_patches_(cells_per_batch_ / layout_->corners.size()), num_components_(num_components),
      run_of_(std::move(run_of)) {
  starts_.resize(static_cast<std::size_t>(block.num_batches) * layout_->run_lengths.size() * num_patches_);
}

std::int32_t PatchNumbering::number(std::size_t batch, std::int32_t& next) {
  const auto cells = std::span(block_.cells).subspan(batch * cells_per_batch_, cells_per_batch_);
  std::vector<std::int32_t> pattern;
  std::size_t first_piece = 0, first_dof = 0; // first piece and first dof of the run
  bool is_uniform = true;
  for (std::size_t run = 0; run < layout_->run_lengths.size(); ++run) {
    const auto num_pieces = static_cast<std::size_t>(layout_->num_pieces[run]);
    const auto pieces = std::span(layout_->pieces).subspan(first_piece, num_pieces);
    for (std::size_t patch = 0; patch < num_patches_; ++patch) {
      const auto start = start_of_run(pieces, cells, patch, next);
      starts_[(batch * layout_->run_lengths.size() + run) * num_patches_ + patch] = start;
      const auto seen = arrangement(first_dof, start);
      if (patch == 0) pattern.push_back(seen);
      is_uniform = is_uniform && seen >= 0 && seen == pattern.back();
    }
    first_piece += num_pieces;
    first_dof += entries_.size();
  }
  return is_uniform ? patterns_.number(pattern) : 0;
}

/// Writes the entries of the dofs of a run into entries_, where pieces that no batch has touched get new ones, and
/// returns the least of them.
std::int32_t PatchNumbering::start_of_run(std::span<const PatchLayout::PatchRun> pieces,
                                          std::span<const std::int32_t> cells, std::size_t patch, std::int32_t& next) {
  entries_.clear();
  for (const auto& piece : pieces) {
    const Run run = run_of_(piece.run, cells[static_cast<std::size_t>(piece.child) * num_patches_ + patch]);
    if (run.start < 0) run.start = std::exchange(next, next + run.length * num_components_);
    for (int k = 0; k < run.length; ++k) entries_.push_back(run.start + run.permutation[k] * num_components_);
  }
  return *std::ranges::min_element(entries_);
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

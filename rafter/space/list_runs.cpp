// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/list_runs.hpp>

#include <algorithm>

#include <rafter/base/error.hpp>

namespace rafter::space {
namespace {

/// The layout without the other runs, whose dofs it does not list any more.
ElementLayout with_runs(const ElementLayout& layout, const std::vector<bool>& is_kept) {
  ElementLayout result{.element = layout.element,
                       .interior_dofs = layout.interior_dofs,
                       .permutations = layout.permutations,
                       .arrangements = layout.arrangements};
  auto dof = layout.run_dofs.begin();
  for (std::size_t run = 0; run < is_kept.size(); ++run) {
    const auto end = dof + layout.run_lengths[run];
    if (is_kept[run]) {
      ++result.num_runs;
      result.run_dims.push_back(layout.run_dims[run]);
      result.run_entities.push_back(layout.run_entities[run]);
      result.run_lengths.push_back(layout.run_lengths[run]);
      result.run_dofs.insert(result.run_dofs.end(), dof, end);
      result.permutation_offsets.push_back(layout.permutation_offsets[run]);
      result.arrangement_offsets.push_back(layout.arrangement_offsets[run]);
    }
    dof = end;
  }
  return result;
}

} // namespace

ListDofs with_runs(const ListDofs& list, const std::vector<bool>& is_kept) {
  const auto num_runs = static_cast<std::size_t>(list.layout.num_runs);
  if (is_kept.size() != num_runs) throw base::InternalError("runs of another layout are to be kept");
  ListDofs result{.group = list.group,
                  .cells_per_batch = list.cells_per_batch,
                  .cells = {},
                  .layout = with_runs(list.layout, is_kept),
                  .interior_starts = list.interior_starts,
                  .interior_strides = list.interior_strides};
  const auto width = static_cast<std::ptrdiff_t>(list.cells_per_batch);
  const auto num_kept = static_cast<std::size_t>(std::ranges::count(is_kept, true));
  if (num_runs > 0) result.run_starts.reserve(list.run_starts.size() / num_runs * num_kept);
  if (num_runs > 0) result.run_permutations.reserve(list.run_permutations.size() / num_runs * num_kept);
  for (std::size_t i = 0; i * static_cast<std::size_t>(width) < list.run_starts.size(); ++i) {
    if (!is_kept[i % num_runs]) continue;
    const auto first = static_cast<std::ptrdiff_t>(i) * width;
    const auto append = [&](const auto& from, auto& to) {
      to.insert(to.end(), from.begin() + first, from.begin() + first + width);
    };
    append(list.run_starts, result.run_starts);
    if (!list.run_permutations.empty()) append(list.run_permutations, result.run_permutations);
  }
  return result;
}

} // namespace rafter::space

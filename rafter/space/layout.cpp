// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/layout.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <rafter/element/element.hpp>
#include <rafter/element/orientation.hpp>

namespace rafter::space {
namespace {

using Known = std::map<std::vector<int>, std::int32_t>;

std::int32_t offset_of(const std::vector<int>& permutation, std::vector<std::int32_t>& table, Known& known) {
  const auto [place, is_new] = known.try_emplace(permutation, static_cast<std::int32_t>(table.size()));
  if (is_new) table.insert(table.end(), permutation.begin(), permutation.end());
  return place->second;
}

/// Adds the arrangements of the last run, whose dofs begin at `first` among those of all runs.
void add_arrangements(ElementLayout& layout, std::size_t first) {
  const auto& codes = layout.permutation_offsets.back();
  auto& offsets = layout.arrangement_offsets.emplace_back();
  for (std::size_t code = 0; code < codes.size(); ++code) {
    const auto same = static_cast<std::size_t>(std::ranges::find(codes, codes[code]) - codes.begin());
    if (same < code) {
      offsets.push_back(offsets[same]);
      continue;
    }
    offsets.push_back(static_cast<std::int32_t>(layout.arrangements.size()));
    const auto length = static_cast<std::size_t>(layout.run_lengths.back());
    layout.arrangements.resize(layout.arrangements.size() + length);
    for (std::size_t k = 0; k < length; ++k) {
      const auto position = layout.permutations[static_cast<std::size_t>(codes[code]) + k];
      layout.arrangements[static_cast<std::size_t>(offsets.back() + position)] = layout.run_dofs[first + k];
    }
  }
}

} // namespace

ElementLayout make_layout(std::shared_ptr<const element::Element> element) {
  ElementLayout layout;
  Known known;
  const element::Shape shape = element->shape();
  const int tdim = element::dimension(shape);
  for (int dim = 0; dim < tdim; ++dim) {
    for (int entity = 0; entity < element::num_entities(shape, dim); ++entity) {
      const auto dofs = element->entity_dofs(dim, entity);
      if (dofs.empty()) continue;
      const element::Shape kind = element::entity_shape(shape, dim, entity);
      layout.run_dims.push_back(dim);
      layout.run_entities.push_back(entity);
      layout.run_lengths.push_back(static_cast<int>(dofs.size()));
      const std::size_t first = layout.run_dofs.size();
      layout.run_dofs.insert(layout.run_dofs.end(), dofs.begin(), dofs.end());
      auto& offsets = layout.permutation_offsets.emplace_back();
      for (int code = 0; code < element::num_orientations(kind); ++code)
        offsets.push_back(offset_of(element->entity_permutation(kind, code), layout.permutations, known));
      add_arrangements(layout, first);
    }
  }
  layout.num_runs = static_cast<int>(layout.run_dims.size());
  const auto interior = element->entity_dofs(tdim, 0);
  layout.interior_dofs.assign(interior.begin(), interior.end());
  layout.element = std::move(element);
  return layout;
}

ElementLayout make_broken_layout(std::shared_ptr<const element::Element> element) {
  ElementLayout layout;
  layout.interior_dofs.resize(static_cast<std::size_t>(element->num_dofs()));
  std::iota(layout.interior_dofs.begin(), layout.interior_dofs.end(), 0);
  layout.element = std::move(element);
  return layout;
}

int patches_per_batch(const ElementLayout& layout, int cells_per_batch) {
  return layout.patch == nullptr ? 0 : cells_per_batch / static_cast<int>(layout.patch->corners.size());
}

} // namespace rafter::space

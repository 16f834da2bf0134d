// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/values_by_tag.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/tag_uses.hpp>

namespace rafter::mesh {

void ValuesByTag::add(const std::string& group, std::span<const double> values) {
  for (const auto tag : tags_for(*mesh_, group, TagUse::by_tag)) {
    const auto [place, is_new] = entries_.try_emplace(tag, Entry{{values.begin(), values.end()}, group});
    if (is_new || std::ranges::equal(place->second.values, values)) continue;
    throw base::InputError(
        fmt::format("{}cells with tag {} have two values, one by '{}' and one by '{}'; accepted are values for groups "
                    "without common cells, or equal values",
                    prefix(*mesh_), mesh_->physical_groups.text(mesh_->tdim, tag), place->second.group, group));
  }
}

const std::vector<double>* ValuesByTag::find(std::int32_t tag) const {
  const auto found = entries_.find(tag);
  return found == entries_.end() ? nullptr : &found->second.values;
}

std::vector<std::int32_t> ValuesByTag::missing() const {
  std::vector<std::int32_t> result;
  for (const auto tag : mesh_->cell_tags())
    if (!entries_.contains(tag)) result.push_back(tag);
  return result;
}

} // namespace rafter::mesh

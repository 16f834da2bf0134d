// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/parents.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::mesh {

std::int32_t Parents::num_children() const {
  return ranges_.empty() ? 0 : ranges_.back().begin + ranges_.back().num_children();
}

Parents::Cell Parents::of(std::int32_t child) const {
  if (child < 0 || child >= num_children()) throw base::InternalError(fmt::format("cell {} has no parent", child));
  const auto& range = *std::prev(std::ranges::upper_bound(ranges_, child, {}, &Range::begin));
  return {range.group, range.first_parent + (child - range.begin) / range.children_per_parent};
}

/// Ranges become one when they are complete: the children of a parent may come one by one.
void Parents::append(Range range) {
  if (range.num_children() == 0) return;
  range.begin = num_children();
  if (!ranges_.empty()) {
    auto& last = ranges_.back();
    if (last.group == range.group && last.first_parent == range.first_parent && last.num_parents == 1 &&
        range.num_parents == 1) {
      last.children_per_parent += range.children_per_parent;
      return;
    }
    if (ranges_.size() > 1)
      if (auto& before = ranges_[ranges_.size() - 2]; before.group == last.group &&
                                                      before.children_per_parent == last.children_per_parent &&
                                                      before.first_parent + before.num_parents == last.first_parent) {
        before.num_parents += last.num_parents;
        ranges_.pop_back();
      }
  }
  ranges_.push_back(range);
}

} // namespace rafter::mesh

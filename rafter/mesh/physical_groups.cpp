// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/physical_groups.hpp>

#include <algorithm>

#include <rafter/base/text.hpp>

namespace rafter::mesh {

std::int32_t PhysicalGroups::tag_of(int dim, std::span<const std::int32_t> groups) {
  std::set<std::int32_t> distinct(groups.begin(), groups.end());
  distinct.erase(0);
  if (distinct.empty()) return 0;
  if (distinct.size() == 1) return *distinct.begin();
  const auto d = static_cast<std::size_t>(dim);
  auto& of_dim = classes_.at(d);
  const std::int32_t next = of_dim.empty() ? -1 : of_dim.begin()->first - 1;
  const auto [place, is_new] =
      numbers_[d].try_emplace(std::vector<std::int32_t>(distinct.begin(), distinct.end()), next);
  if (is_new) of_dim.emplace(next, place->first);
  return place->second;
}

std::vector<std::int32_t> PhysicalGroups::groups_of(int dim, std::int32_t tag) const {
  if (tag == 0) return {};
  const auto& of_dim = classes(dim);
  const auto found = of_dim.find(tag);
  return found == of_dim.end() ? std::vector{tag} : found->second;
}

bool PhysicalGroups::is_in(int dim, std::int32_t tag, std::int32_t group) const {
  const auto& of_dim = classes(dim);
  const auto found = of_dim.find(tag);
  return found == of_dim.end() ? tag == group : std::ranges::binary_search(found->second, group);
}

std::map<std::int32_t, std::int32_t> PhysicalGroups::renumber(int dim, const std::set<std::int32_t>& used) {
  const auto d = static_cast<std::size_t>(dim);
  std::erase_if(numbers_.at(d), [&used](const auto& entry) { return !used.contains(entry.second); });
  classes_[d].clear();
  std::map<std::int32_t, std::int32_t> result;
  for (auto& [groups, number] : numbers_[d]) {
    const auto next = -1 - static_cast<std::int32_t>(classes_[d].size());
    classes_[d].emplace(next, groups);
    result.emplace(number, next);
    number = next;
  }
  return result;
}

std::set<std::int32_t> PhysicalGroups::numbers_of(int dim, const std::string& name) const {
  std::set<std::int32_t> result;
  for (const auto& group : names)
    if (group.dim == dim && group.name == name) result.insert(group.number);
  return result;
}

std::vector<std::string> PhysicalGroups::names_of(int dim, std::int32_t group) const {
  std::vector<std::string> result;
  for (const auto& name : names)
    if (name.dim == dim && name.number == group) result.push_back(name.name);
  return result;
}

std::string PhysicalGroups::text(int dim, std::int32_t tag) const {
  if (tag == 0) return "0";
  std::vector<std::string> parts;
  for (const auto group : groups_of(dim, tag)) {
    const auto of_group = names_of(dim, group);
    parts.push_back(std::to_string(group) + (of_group.empty() ? "" : " (" + base::join(of_group, ", ") + ")"));
  }
  return base::join(parts, " + ");
}

} // namespace rafter::mesh

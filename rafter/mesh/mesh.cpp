// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/mesh.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/distribution.hpp>

namespace rafter::mesh {

namespace {

/// Tags in use on cells or facets of all processes, 0 (untagged) included for cells alone.
std::set<std::int32_t> tags_in_use(const Mesh& mesh, int dim) {
  std::set<std::int32_t> tags;
  if (dim == mesh.tdim) {
    tags = mesh.cell_tags();
  } else if (dim == mesh.tdim - 1) {
    if (mesh.distribution != nullptr) tags = mesh.distribution->facet_tags;
    std::int32_t last = 0;
    for (const auto& facet : mesh.tagged_facets)
      if (facet.tag != last) tags.insert(last = facet.tag);
    tags.erase(0);
  }
  return tags;
}

/// Says whether cells, or facets of the boundary, of any process have no tag.
bool has_untagged(const Mesh& mesh, int dim, const std::set<std::int32_t>& in_use) {
  return in_use.contains(0) || (dim == mesh.tdim - 1 && mesh.surface().boundary_tags().contains(0));
}

std::optional<std::int32_t> as_number(const std::string& text) {
  try {
    const auto value = base::parse_integer(text);
    if (value >= INT32_MIN && value <= INT32_MAX) return static_cast<std::int32_t>(value);
  } catch (const base::InputError&) { // a name
  }
  return std::nullopt;
}

std::string_view entity_word(const Mesh& mesh, int dim) { return dim == mesh.tdim ? "cells" : "facets"; }

[[noreturn]] void fail_unknown(const Mesh& mesh, const std::string& tag, int dim, const std::set<std::int32_t>& tags) {
  const auto& physical = mesh.physical_groups;
  const auto word = entity_word(mesh, dim);
  std::set<std::int32_t> groups;
  for (const auto t : tags)
    for (const auto group : physical.groups_of(dim, t)) groups.insert(group);
  std::vector<std::string> names, numbers;
  for (const auto& name : physical.names)
    if (name.dim == dim && groups.contains(name.number)) names.push_back(name.name);
  for (const auto group : groups) numbers.push_back(std::to_string(group));
  const bool is_known = !physical.numbers_of(dim, tag).empty();
  if (!is_known)
    for (const auto& name : physical.names)
      if (name.name == tag)
        throw base::InputError(fmt::format("{}'{}' names a group of dimension {}; {} of dimension {} are needed here",
                                           prefix(mesh), tag, name.dim, word, dim));
  std::string message =
      is_known ? fmt::format("{}the group '{}' has no {}", prefix(mesh), tag, word)
               : fmt::format("{}no {} are tagged '{}'{}", prefix(mesh), word, tag, base::suggestion(tag, names));
  message += numbers.empty() ? fmt::format("; the mesh has no tagged {}", word)
                             : fmt::format("; the mesh has tags {}", base::join(numbers, ", "));
  if (!names.empty()) message += fmt::format(" and names {}", base::join(names, ", "));
  if (has_untagged(mesh, dim, tags)) message += fmt::format("; 0 stands for {} without a tag", word);
  throw base::InputError(message);
}

} // namespace

std::int64_t Mesh::num_cells() const {
  std::int64_t sum = 0;
  for (const auto& group : groups) sum += group.num_cells();
  return sum;
}

std::shared_ptr<const comm::Communicator> Mesh::communicator() const {
  return distribution == nullptr ? comm::single_process() : distribution->communicator;
}

std::set<std::int32_t> Mesh::cell_tags() const {
  std::set<std::int32_t> result;
  if (distribution != nullptr) result = distribution->cell_tags;
  for (const auto& group : groups) {
    if (group.tags.empty()) continue;
    auto last = group.tags[0];
    result.insert(last);
    if (group.tags.are_equal()) continue;
    for (const auto tag : group.tags)
      if (tag != last) result.insert(last = tag);
  }
  return result;
}

std::vector<std::int32_t> Mesh::tags_of(const std::string& tag, int dim) const {
  auto numbers = physical_groups.numbers_of(dim, tag);
  if (const auto number = as_number(tag); numbers.empty() && number) numbers.insert(*number);
  auto in_use = tags_in_use(*this, dim);
  if (numbers.contains(0) && has_untagged(*this, dim, in_use)) in_use.insert(0);
  std::vector<std::int32_t> result;
  for (const auto t : in_use)
    if (std::ranges::any_of(numbers, [&](std::int32_t group) { return physical_groups.is_in(dim, t, group); }))
      result.push_back(t);
  if (result.empty()) fail_unknown(*this, tag, dim, in_use);
  return result;
}

std::vector<std::int32_t> Mesh::tags_of_groups(std::span<const std::int32_t> numbers, int dim) const {
  if (physical_groups.classes(dim).empty()) return {numbers.begin(), numbers.end()};
  const auto in_use = tags_in_use(*this, dim);
  std::set<std::int32_t> result;
  for (const auto number : numbers) {
    bool is_used = false;
    for (const auto t : in_use)
      if (t == number || physical_groups.is_in(dim, t, number)) {
        result.insert(t);
        is_used = true;
      }
    if (!is_used) result.insert(number);
  }
  return {result.begin(), result.end()};
}

std::shared_ptr<const element::Element> geometry_element(const CellGroup& group) {
  return element::make_element(element::Family::lagrange, group.shape, group.degree);
}

} // namespace rafter::mesh

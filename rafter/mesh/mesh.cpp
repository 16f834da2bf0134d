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

/// Tags in use on cells or facets, without 0 (untagged).
std::set<std::int32_t> tags_in_use(const Mesh& mesh, int dim) {
  std::set<std::int32_t> tags;
  if (mesh.distribution != nullptr && dim == mesh.tdim) tags = mesh.distribution->cell_tags;
  if (mesh.distribution != nullptr && dim == mesh.tdim - 1) tags = mesh.distribution->facet_tags;
  if (dim == mesh.tdim)
    for (const auto& group : mesh.groups) tags.insert(group.tags.begin(), group.tags.end());
  if (dim == mesh.tdim - 1)
    for (const auto& facet : mesh.tagged_facets) tags.insert(facet.tag);
  tags.erase(0);
  return tags;
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
  std::vector<std::string> names, numbers;
  for (const auto& [name, group] : mesh.tag_names)
    if (group.first == dim) names.push_back(name);
  for (const auto t : tags) numbers.push_back(std::to_string(t));
  std::string message =
      fmt::format("{}no {} are tagged '{}'{}", prefix(mesh), entity_word(mesh, dim), tag, base::suggestion(tag, names));
  message += numbers.empty() ? fmt::format("; the mesh has no tagged {}", entity_word(mesh, dim))
                             : fmt::format("; the mesh has tags {}", base::join(numbers, ", "));
  if (!names.empty()) message += fmt::format(" and names {}", base::join(names, ", "));
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

std::vector<std::int32_t> Mesh::tags_of(const std::string& tag, int dim) const {
  if (const auto found = tag_names.find(tag); found != tag_names.end()) {
    if (found->second.first == dim) return {found->second.second};
    throw base::InputError(fmt::format("{}'{}' names a group of dimension {}; {} of dimension {} are needed here",
                                       prefix(*this), tag, found->second.first, entity_word(*this, dim), dim));
  }
  const auto tags = tags_in_use(*this, dim);
  const auto number = as_number(tag);
  if (!number || !tags.contains(*number)) fail_unknown(*this, tag, dim, tags);
  return {*number};
}

std::shared_ptr<const element::Element> geometry_element(const CellGroup& group) {
  return element::make_element(element::Family::lagrange, group.shape, group.degree);
}

} // namespace rafter::mesh

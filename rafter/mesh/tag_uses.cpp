// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/tag_uses.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/describe.hpp>

namespace rafter::mesh {

namespace {

/// The words of messages about a use.
struct UseText {
  std::string_view subject; ///< subject with its verb, before "cells" or "facets"
  bool is_of_cells = false;
  bool takes_inner = false; ///< facets inside the domain serve, too
  bool needs_all = false;   ///< facets inside the domain are not left out, but refused
};

UseText text_of(TagUse use) {
  switch (use) {
  case TagUse::dx:
    return {.subject = "dx integrates over", .is_of_cells = true};
  case TagUse::by_tag:
    return {.subject = "by_tag gives values to", .is_of_cells = true};
  case TagUse::ds:
    return {.subject = "ds integrates over"};
  case TagUse::periodic:
    return {.subject = "periodic pairs identify", .needs_all = true};
  case TagUse::dirichlet:
    break;
  }
  return {.subject = "Dirichlet conditions hold on", .takes_inner = true};
}

/// "cells", "facets", and for lower dimensions "edges" or "points".
std::string_view entity_word(const Mesh& mesh, int dim) {
  if (dim == mesh.tdim) return "cells";
  if (dim == mesh.tdim - 1) return "facets";
  return dim == 0 ? "points" : "edges";
}

bool has_cells(const Mesh& mesh, std::span<const std::int32_t> tags) {
  const auto present = mesh.cell_tags();
  return std::ranges::any_of(tags, [&present](std::int32_t tag) { return present.contains(tag); });
}

/// Says whether the text names a group of a dimension, or is the number of cells or facets of it.
bool is_tag_of(const Mesh& mesh, const std::string& tag, int dim) {
  if (!mesh.physical_groups.numbers_of(dim, tag).empty()) return true;
  try {
    return !mesh.tags_of(tag, dim).empty();
  } catch (const base::InputError&) {
    return false;
  }
}

/// The numbers of the text; throws InputError where it is a group of another dimension, one without members, or none.
std::vector<std::int32_t> numbers_of(const Mesh& mesh, const std::string& tag, TagUse use) {
  const int needed = dimension_of(mesh, use);
  try {
    return mesh.tags_of(tag, needed);
  } catch (const base::InputError&) {
    const bool is_empty = !mesh.physical_groups.numbers_of(needed, tag).empty(); // a group of the right dimension
    for (int dim = mesh.tdim; dim >= 0 && !is_empty && tag != "0"; --dim)
      if (dim != needed && is_tag_of(mesh, tag, dim))
        throw base::InputError(fmt::format("{}'{}' is a group of {} (dimension {}); {} {} (dimension {})", prefix(mesh),
                                           tag, entity_word(mesh, dim), dim, text_of(use).subject,
                                           entity_word(mesh, needed), needed));
    throw;
  }
}

/// "; facets have tags 1, 2", or that none has one.
std::string tags_there(const Mesh& mesh, TagUse use) {
  const int dim = dimension_of(mesh, use);
  std::set<std::int32_t> tags, groups;
  if (text_of(use).is_of_cells) {
    tags = mesh.cell_tags();
  } else {
    for (const auto& [tag, counts] : mesh.surface().facet_counts)
      if (counts.exterior > 0 || (text_of(use).takes_inner && counts.inner > 0)) tags.insert(tag);
  }
  for (const auto tag : tags)
    for (const auto group : mesh.physical_groups.groups_of(dim, tag)) groups.insert(group);
  std::vector<std::string> numbers;
  for (const auto group : groups) numbers.push_back(std::to_string(group));
  const auto word = fmt::format("{}{}", text_of(use).is_of_cells || text_of(use).takes_inner ? "" : "boundary ",
                                entity_word(mesh, dim));
  if (numbers.empty()) return fmt::format("; no {} have tags", word);
  return fmt::format("; {} have tags {}", word, base::join(numbers, ", "));
}

/// "tag 3", "tags 3, 4 (hot)".
std::string tags_text(const Mesh& mesh, std::span<const std::int32_t> tags, TagUse use) {
  std::vector<std::string> texts;
  for (const auto tag : tags) texts.push_back(mesh.physical_groups.text(dimension_of(mesh, use), tag));
  return fmt::format("{} {}", texts.size() == 1 ? "tag" : "tags", base::join(texts, ", "));
}

[[noreturn]] void fail_empty(const Mesh& mesh, std::span<const std::int32_t> tags, std::string_view name, TagUse use) {
  throw base::InputError(fmt::format("{}{} has no members: no {} have {}{}", prefix(mesh), name,
                                     entity_word(mesh, dimension_of(mesh, use)), tags_text(mesh, tags, use),
                                     tags_there(mesh, use)));
}

/// Throws InputError where facets with these tags are identified: they lie inside the mesh, and x jumps across them.
void require_not_periodic(const Mesh& mesh, std::span<const std::int32_t> tags) {
  const auto& counts = mesh.surface().facet_counts;
  for (const auto tag : tags) {
    if (const auto found = counts.find(tag); found == counts.end() || found->second.periodic == 0) continue;
    throw base::InputError(fmt::format(
        "{}the facets with tag {} are periodic: they lie inside the mesh and are no part of its boundary any more",
        prefix(mesh), mesh.physical_groups.text(mesh.tdim - 1, tag)));
  }
}

/// "3 of the 5 facets of 'hot' lie inside the domain, between two cells".
std::string inner_text(const FacetCounts& counts, std::string_view name) {
  return fmt::format("{} of the {} facets of {} {} inside the domain, between two cells", counts.inner,
                     counts.inner + counts.exterior, name, counts.inner == 1 ? "lies" : "lie");
}

} // namespace

int dimension_of(const Mesh& mesh, TagUse use) { return text_of(use).is_of_cells ? mesh.tdim : mesh.tdim - 1; }

FacetCounts count_facets(const Mesh& mesh, std::span<const std::int32_t> tags) {
  FacetCounts result;
  const auto& counts = mesh.surface().facet_counts;
  for (const auto tag : std::set<std::int32_t>(tags.begin(), tags.end()))
    if (const auto found = counts.find(tag); found != counts.end()) {
      result.exterior += found->second.exterior;
      result.inner += found->second.inner;
      result.periodic += found->second.periodic;
    }
  return result;
}

std::vector<std::int32_t> tags_for(const Mesh& mesh, const std::string& tag, TagUse use) {
  auto numbers = numbers_of(mesh, tag, use);
  require_members(mesh, numbers, "'" + tag + "'", use);
  return numbers;
}

void require_members(const Mesh& mesh, std::span<const std::int32_t> tags, std::string_view name, TagUse use) {
  if (text_of(use).is_of_cells) {
    if (!has_cells(mesh, tags)) fail_empty(mesh, tags, name, use);
    return;
  }
  require_not_periodic(mesh, tags);
  const auto counts = count_facets(mesh, tags);
  if (counts.exterior + counts.inner == 0) fail_empty(mesh, tags, name, use);
  const auto [subject, is_of_cells, takes_inner, needs_all] = text_of(use);
  if (takes_inner || counts.inner == 0 || (counts.exterior > 0 && !needs_all)) return;
  if (counts.exterior > 0)
    throw base::InputError(
        fmt::format("{}{}; {} facets of the boundary", prefix(mesh), inner_text(counts, name), subject));
  throw base::InputError(
      fmt::format("{}{} lies inside the domain: {} between two cells; {} facets of the boundary{}", prefix(mesh), name,
                  counts.inner == 1 ? "its one facet lies" : fmt::format("all its {} facets lie", counts.inner),
                  subject, tags_there(mesh, use)));
}

std::string left_out(const Mesh& mesh, std::span<const std::int32_t> tags, std::string_view name, TagUse use) {
  const auto [subject, is_of_cells, takes_inner, needs_all] = text_of(use);
  if (is_of_cells || takes_inner) return {};
  const auto counts = count_facets(mesh, tags);
  if (counts.inner == 0 || counts.exterior == 0) return {};
  const auto rest =
      counts.exterior == 1 ? "one alone, which lies" : fmt::format("{} alone, which lie", counts.exterior);
  return fmt::format("{}; {} the other {} on the boundary", inner_text(counts, name), subject, rest);
}

} // namespace rafter::mesh

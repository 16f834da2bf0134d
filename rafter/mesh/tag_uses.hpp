// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Tags and what they are used for: a tag exists for a use only if it has members that can be used there.
namespace rafter::mesh {

/// dx and by_tag take cells, ds and periodic pairs facets of the boundary, and Dirichlet conditions facets of the
/// boundary or inside the domain.
enum class TagUse : std::uint8_t { dx, by_tag, ds, dirichlet, periodic };

/// Dimension of the members that serve a use.
int dimension_of(const Mesh& mesh, TagUse use);

/// The facets of all processes with one of these tags.
FacetCounts count_facets(const Mesh& mesh, std::span<const std::int32_t> tags);

/// Numbers that the tag text stands for ("3", "clamped"), of which some members serve the use. Throws InputError, with
/// what the tag is instead: the name of nothing (with the nearest one), a group of another dimension, a group without
/// members, facets that lie inside the domain where those of its boundary are needed (periodic pairs need all of them
/// there), facets that are periodic.
std::vector<std::int32_t> tags_for(const Mesh& mesh, const std::string& tag, TagUse use);

/// The same for numbers that are known, which messages call `name` ("'clamped'"). Throws where tags_for() does.
void require_members(const Mesh& mesh, std::span<const std::int32_t> tags, std::string_view name, TagUse use);

/// Says of members that do not serve the use beside others that do, for a warning: "3 of the 5 facets of 'hot' lie
/// inside the domain ...". Empty where there are none. Integrals over the boundary leave them out.
std::string left_out(const Mesh& mesh, std::span<const std::int32_t> tags, std::string_view name, TagUse use);

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/terminal_text.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/touching.hpp>
#include <rafter/mesh/writers.hpp>
#include <rafter/report/report.hpp>

#include "commands.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"

namespace rafter::app {
namespace {

struct TagCount {
  std::int64_t count = 0; ///< number of cells, or of facets on the boundary, with the tag
  std::int64_t inner = 0; ///< number of facets inside the domain with the tag
  std::vector<std::string> names;
};
struct Overlap {
  std::string text; ///< the groups with their names
  std::int64_t count = 0;
};
/// Counts say how many cells or facets belong to the physical groups, and how many to several at once.
struct TagCounts {
  std::map<std::int32_t, TagCount> groups;               ///< key: number, or 0 for those of no group
  std::map<std::vector<std::int32_t>, Overlap> overlaps; ///< key: the groups, two or more
};

TagCounts count_tags(const mesh::Mesh& mesh, int dim) {
  struct Count {
    std::int64_t count = 0, inner = 0;
  };
  std::map<std::int32_t, Count> by_tag;
  if (dim == mesh.tdim) {
    for (const auto& group : mesh.groups)
      for (const auto tag : group.tags) ++by_tag[tag].count;
  } else {
    for (const auto& [tag, counts] : mesh.surface().facet_counts) by_tag[tag] = {counts.exterior, counts.inner};
  }
  TagCounts result;
  for (const auto& [tag, counts] : by_tag) {
    auto groups = mesh.physical_groups.groups_of(dim, tag);
    if (groups.size() > 1) result.overlaps[groups] = {mesh.physical_groups.text(dim, tag), counts.count + counts.inner};
    if (groups.empty()) groups = {0};
    for (const auto group : groups) {
      result.groups[group].count += counts.count;
      result.groups[group].inner += counts.inner;
    }
  }
  for (const auto& name : mesh.physical_groups.names)
    if (name.dim == dim) result.groups[name.number].names.push_back(name.name);
  return result;
}

/// The summary that the command prints is computed once, for text and JSON.
struct Summary {
  const mesh::Mesh& mesh;
  mesh::ValidityReport validity;
  std::vector<double> lower, upper; ///< bounding box of the geometry nodes, shape (gdim)
  TagCounts cell_tags, facet_tags;
  std::vector<std::string> warnings; ///< things that are allowed, and most often not meant

  explicit Summary(const mesh::Mesh& of)
      : mesh(of), validity(mesh::check_validity(of)), cell_tags(count_tags(of, of.tdim)),
        facet_tags(count_tags(of, of.tdim - 1)) {
    if (const auto touching = mesh::find_touching(of))
      warnings.push_back(fmt::format("{}; --merge {:.0e} makes nodes one that are closer than that",
                                     mesh::describe(of, *touching), touching->length));
    const auto dim = static_cast<std::size_t>(of.gdim);
    lower.assign(of.points.begin(), of.points.begin() + of.gdim);
    upper = lower;
    for (std::size_t i = 0; i < of.points.size(); ++i) {
      lower[i % dim] = std::min(lower[i % dim], of.points[i]);
      upper[i % dim] = std::max(upper[i % dim], of.points[i]);
    }
  }
};

nlohmann::ordered_json tags_json(const TagCounts& tags, bool are_of_facets) {
  auto result = nlohmann::ordered_json::array();
  for (const auto& [tag, entry] : tags.groups) {
    result.push_back({{"tag", tag}, {"names", entry.names}, {"count", entry.count}});
    if (are_of_facets) result.back()["inner"] = entry.inner;
  }
  return result;
}

nlohmann::ordered_json overlaps_json(const TagCounts& tags) {
  auto result = nlohmann::ordered_json::array();
  for (const auto& [groups, overlap] : tags.overlaps) result.push_back({{"tags", groups}, {"count", overlap.count}});
  return result;
}

void print_json(const Summary& summary) {
  const auto& mesh = summary.mesh;
  const auto& topology = mesh.topology();
  nlohmann::ordered_json json;
  json["source"] = mesh.source;
  json["dimension"] = mesh.tdim;
  json["cells"] = nlohmann::ordered_json::array();
  for (const auto& group : mesh.groups)
    json["cells"].push_back(
        {{"shape", element::name(group.shape)}, {"degree", group.degree}, {"count", group.num_cells()}});
  json["vertices"] = topology.num_vertices;
  json["edges"] = topology.num_edges;
  json["faces"] = topology.num_faces;
  json["boundary_facets"] = topology.exterior_facets.size();
  json["lower"] = summary.lower;
  json["upper"] = summary.upper;
  json["cell_tags"] = tags_json(summary.cell_tags, false);
  json["facet_tags"] = tags_json(summary.facet_tags, true);
  json["cell_overlaps"] = overlaps_json(summary.cell_tags);
  json["facet_overlaps"] = overlaps_json(summary.facet_tags);
  json["volume"] = summary.validity.volume;
  json["worst_det_j"] = summary.validity.worst_det_j;
  json["problems"] = summary.validity.problems;
  json["warnings"] = summary.warnings;
  base::write_output("-",
                     base::terminal_json(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n");
}

void print_tags(const char* what, const TagCounts& tags, bool are_of_facets) {
  const bool has_inner = std::ranges::any_of(tags.groups, [](const auto& tag) { return tag.second.inner > 0; });
  std::vector<std::vector<std::string>> rows;
  for (const auto& [tag, entry] : tags.groups) {
    rows.push_back(
        {tag == 0 ? "none" : std::to_string(tag), base::join(entry.names, ", "), std::to_string(entry.count)});
    if (has_inner) rows.back().push_back(std::to_string(entry.inner));
  }
  const auto counted = are_of_facets ? "boundary facets" : "cells";
  std::vector<report::Column> columns{
      {fmt::format("{} tag", what), "number in the file; none: without a tag, which problem files call 0"},
      {"name", "names of the tag, for problem files"},
      {counted, "how many have it", report::Align::right}};
  if (has_inner)
    columns.push_back({"inner facets", "how many facets between two cells have it: for [[dirichlet]], not for ds",
                       report::Align::right});
  fmt::print("\n{}", report::format_table(columns, rows));
  if (tags.overlaps.empty()) return;
  std::vector<std::vector<std::string>> overlaps;
  for (const auto& [groups, overlap] : tags.overlaps) overlaps.push_back({overlap.text, std::to_string(overlap.count)});
  const std::vector<report::Column> of_overlaps{
      {fmt::format("overlapping {} tags", what), "tags that belong to the same ones"},
      {fmt::format("{}s", what),
       are_of_facets ? "how many, on the boundary and inside, have all of these tags and no other"
                     : "how many have all of these tags and no other",
       report::Align::right}};
  fmt::print("\n{}", report::format_table(of_overlaps, overlaps));
}

void print_text(const Summary& summary) {
  const auto& mesh = summary.mesh;
  const auto& topology = mesh.topology();
  fmt::print("{}: dimension {}\n\n", mesh.source, mesh.tdim);
  std::vector<std::vector<std::string>> rows;
  for (const auto& group : mesh.groups)
    rows.push_back(
        {std::string(element::name(group.shape)), std::to_string(group.degree), std::to_string(group.num_cells())});
  const std::vector<report::Column> columns{
      {"shape", "of cells"},
      {"geometry degree", "of their maps; 1: given by the vertices", report::Align::right},
      {"cells", "how many", report::Align::right}};
  fmt::print("{}", report::format_table(columns, rows));
  fmt::print("\n{} vertices, {} edges, {} faces, {} boundary facets\n", topology.num_vertices, topology.num_edges,
             topology.num_faces, topology.exterior_facets.size());
  fmt::print("from {} to {}\n", mesh::describe_point(summary.lower), mesh::describe_point(summary.upper));
  print_tags("cell", summary.cell_tags, false);
  print_tags("facet", summary.facet_tags, true);
  const auto& validity = summary.validity;
  constexpr const char* sizes[] = {"", "length", "area", "volume"};
  fmt::print("\n{} {:.12g}\n", sizes[mesh.tdim], validity.volume);
  fmt::print("worst det J {:.4g} of its mean in the cell (1: affine), {}\n", validity.worst_det_j,
             mesh::describe_cell(mesh, validity.worst_cell.group, validity.worst_cell.cell));
  for (const auto& problem : validity.problems) fmt::print("problem: {}\n", problem);
  for (const auto& warning : summary.warnings) fmt::print("warning: {}\n", warning);
  if (validity.problems.empty() && summary.warnings.empty()) fmt::print("no problems found\n");
}

} // namespace

int run_mesh(const MeshOptions& options) {
  if (!options.output.empty()) mesh::require_mesh_format(options.output, options.format);
  if (options.output.empty() && (!options.format.name.empty() || options.format.is_binary))
    throw base::InputError(fmt::format("{}: is of the file that --write names, which is missing",
                                       options.format.is_binary ? "--binary" : "--format"));
  base::claim_outputs(std::vector<base::NamedFile>{{"--write", options.output}, {"--json", options.is_json ? "-" : ""}},
                      std::vector<base::NamedFile>{{"the mesh that is read", options.file}});
  auto mesh = mesh::read_mesh(options.file, options.read_options);
  require_not_interrupted();
  if (options.refine > 0) mesh = mesh.refined(options.refine);
  const Summary summary(mesh);
  require_not_interrupted();
  if (!options.output.empty()) mesh::write_mesh(mesh, options.output, options.format);
  options.is_json ? print_json(summary) : print_text(summary);
  if (!options.output.empty() && !options.is_json) fmt::print("written: {}\n", base::output_text(options.output));
  return summary.validity.problems.empty() ? exit_done : exit_wrong_input;
}

} // namespace rafter::app

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/space/constraints.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/point_evaluation.hpp>

namespace rafter::space {
namespace {

void require_tags(const FunctionSpace& space, const DirichletCondition& condition) {
  const auto& mesh = space.mesh();
  const auto& counts = mesh.surface().facet_counts;
  const auto fail = [&space](const std::string& reason) {
    throw base::InputError(fmt::format("Dirichlet condition on field '{}': {}", space.name, reason));
  };
  const bool is_everywhere = condition.is_all || condition.tags.empty();
  if (is_everywhere && std::ranges::none_of(counts, [](const auto& of_tag) { return of_tag.second.exterior > 0; }))
    fail(fmt::format("the mesh '{}' has no boundary{}", mesh.source,
                     counts.empty() ? "" : ", all its outer facets are periodic"));
  for (const auto group : condition.tags) try {
      const auto tags = mesh.tags_of_groups(std::span(&group, 1), mesh.tdim - 1);
      const auto name = fmt::format("'{}'", mesh.physical_groups.text(mesh.tdim - 1, group));
      mesh::require_members(mesh, tags, name, mesh::TagUse::dirichlet);
    } catch (const base::InputError& error) {
      fail(error.what());
    }
}

/// Returns the components that the condition constrains, which must exist.
std::vector<int> components_of(const FunctionSpace& space, const DirichletCondition& condition) {
  std::vector<int> components = condition.components;
  if (components.empty()) {
    components.resize(static_cast<std::size_t>(space.num_components()));
    std::iota(components.begin(), components.end(), 0);
  }
  for (const int c : components)
    if (c < 0 || c >= space.num_components())
      throw base::InputError(
          fmt::format("Dirichlet condition on field '{}': component {} does not exist; accepted: 0 to "
                      "{}",
                      space.name, c, space.num_components() - 1));
  return components;
}

/// Collects the entries of one condition after the other.
class Collector {
public:
  explicit Collector(const FunctionSpace& space)
      : space_(space), what_(fmt::format("the value of the Dirichlet condition on field '{}'", space.name)),
        values_(static_cast<std::size_t>(space.num_components())),
        last_condition_(static_cast<std::size_t>(space.num_local())) {
    for (const auto& group : space.mesh().groups) {
      auto& closures = closures_.emplace_back();
      for (int f = 0; f < element::num_facets(group.shape); ++f)
        closures.push_back(space.element(group.shape)->closure_dofs(space.mesh().tdim - 1, f));
    }
  }

  void add(const DirichletCondition& condition) {
    const auto components = components_of(space_, condition);
    ++condition_;
    const auto before = found_.size();
    for (const auto& facet : facets_of(condition)) add_facet(facet, condition, components);
    if (condition.where && found_.size() == before && space_.mesh().distribution == nullptr)
      base::warn_once(
          fmt::format("Dirichlet condition on field '{}': it holds at no facet, since its predicate is false "
                      "at some node of each",
                      space_.name));
  }

  Constraints finish() {
    // The sort is stable, so that of equal entries the last added comes last, and wins.
    std::ranges::stable_sort(found_, {}, &Found::entry);
    std::vector<Found> last;
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (i + 1 == found_.size() || found_[i + 1].entry != found_[i].entry) last.push_back(found_[i]);
    if (const auto* exchange = space_.exchange()) last = agreed(last, *exchange);
    Constraints constraints;
    for (const Found& found : last) {
      constraints.entries.push_back(found.entry);
      constraints.values.push_back(found.value);
    }
    return constraints;
  }

private:
  struct Found {
    std::int32_t entry;
    double value;
    int condition;
    std::int64_t cell; ///< global_cell() of the cell that the facet belongs to
  };

  /// Makes all processes agree on what they have found: owners take the last condition on an entry, at the point where
  /// the lowest cell of the whole mesh has it; then they send the result to the ghosts.
  std::vector<Found> agreed(std::span<const Found> own, const comm::GhostExchange& exchange) const {
    std::vector<Found> by_entry(static_cast<std::size_t>(space_.num_local()));
    for (const Found& found : own) by_entry[static_cast<std::size_t>(found.entry)] = found;
    const std::span<Found> all(by_entry);
    exchange.finish_reverse(
        exchange.start_reverse(std::span<const Found>(by_entry)), all, [](const Found& mine, const Found& theirs) {
          const bool is_later = theirs.condition > mine.condition;
          return is_later || (theirs.condition == mine.condition && theirs.cell < mine.cell) ? theirs : mine;
        });
    exchange.finish_forward(exchange.start_forward(all));
    std::vector<Found> result;
    for (std::size_t entry = 0; entry < by_entry.size(); ++entry)
      if (by_entry[entry].condition > 0)
        result.push_back(
            {static_cast<std::int32_t>(entry), by_entry[entry].value, by_entry[entry].condition, by_entry[entry].cell});
    return result;
  }

  /// The sides of cells on which a condition holds, ascending. Facets inside the domain have two.
  std::vector<mesh::FacetRef> facets_of(const DirichletCondition& condition) const {
    const auto& surface = space_.mesh().surface();
    if (condition.is_all || condition.tags.empty()) return surface.exterior_facets;
    const auto is_meant = [&condition](std::int32_t tag) { return std::ranges::count(condition.tags, tag) > 0; };
    std::vector<mesh::FacetRef> result;
    for (std::size_t i = 0; i < surface.exterior_facets.size(); ++i)
      if (is_meant(surface.exterior_tags[i])) result.push_back(surface.exterior_facets[i]);
    for (const auto& facet : surface.inner_facets) {
      if (!is_meant(facet.tag)) continue;
      result.push_back(facet.first);
      if (facet.has_second()) result.push_back(facet.second);
    }
    std::ranges::sort(result);
    return result;
  }

  void add_facet(const mesh::FacetRef& facet, const DirichletCondition& condition, std::span<const int> components) {
    const auto g = static_cast<std::size_t>(facet.group);
    const auto& dofs = closures_[g][static_cast<std::size_t>(facet.facet)];
    const auto num_dofs = static_cast<std::size_t>(space_.element(space_.mesh().groups[g].shape)->num_dofs());
    const auto dim = static_cast<std::size_t>(space_.gdim);
    entries_.resize(num_dofs * values_.size());
    points_.resize(dofs.size() * dim);
    const auto position = space_.position(facet.group, facet.cell);
    space_.cell_dofs(position.block, position.batch, position.cell, entries_);
    space_.node_points(facet.group, facet.cell, dofs, points_);
    if (condition.where)
      for (std::size_t i = 0; i < dofs.size(); ++i)
        if (!condition.where(std::span<const double>(points_).subspan(i * dim, dim))) return;
    for (std::size_t i = 0; i < dofs.size(); ++i) {
      const auto dof = static_cast<std::size_t>(dofs[i]);
      int& last = last_condition_[static_cast<std::size_t>(entries_[dof])];
      if (last == condition_) continue; // the node was seen from another facet
      last = condition_;
      evaluate(condition, std::span(points_).subspan(i * dim, dim));
      for (const int c : components)
        found_.push_back({entries_[static_cast<std::size_t>(c) * num_dofs + dof], values_[static_cast<std::size_t>(c)],
                          condition_, global_cell(space_.mesh(), facet.group, facet.cell)});
    }
  }

  void evaluate(const DirichletCondition& condition, std::span<const double> x) {
    evaluate_checked(condition.value, x, values_, what_);
  }

  const FunctionSpace& space_;
  std::string what_;                                    ///< names the condition in messages
  std::vector<std::vector<std::vector<int>>> closures_; ///< local dofs, shape (group, local facet, dof)
  std::vector<double> values_, points_;
  std::vector<std::int32_t> entries_;
  /// The condition that saw a node last, from 1, 0: none; shape (entry), used for those of component 0.
  std::vector<int> last_condition_;
  int condition_ = 0;
  std::vector<Found> found_;
};

} // namespace

Constraints make_constraints(const FunctionSpace& space, std::span<const DirichletCondition> conditions) {
  Collector collector(space);
  comm::agree(*space.mesh().communicator(), [&] { // values may be finite on one process and not on another one
    for (const DirichletCondition& condition : conditions) {
      if (!condition.value)
        throw base::InputError(fmt::format("Dirichlet condition on field '{}': no value given", space.name));
      require_tags(space, condition);
      DirichletCondition all = condition; // its tags are those of groups as well as of their classes
      all.tags = space.mesh().tags_of_groups(condition.tags, space.mesh().tdim - 1);
      collector.add(all);
    }
  });
  return collector.finish();
}

} // namespace rafter::space

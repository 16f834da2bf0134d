// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/merge.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <rafter/base/log.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/disjoint_sets.hpp>
#include <rafter/mesh/entity_matching.hpp>
#include <rafter/mesh/facet_nodes.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/writers.hpp>

namespace rafter::mesh {

namespace {

/// Makes nodes of a mesh one.
class Merger {
public:
  Merger(const Mesh& mesh, double distance)
      : mesh_(mesh), distance_(distance), what_(fmt::format("{}merging at {:.6g}", prefix(mesh), distance)) {
    if (!(distance > 0 && std::isfinite(distance))) fail("accepted is a positive length");
    if (mesh.distribution != nullptr || !mesh.periodic_facets.empty())
      fail("accepted are whole meshes without periodic facets");
    try {
      const auto x = vertex_coordinates(mesh);
      for (std::size_t v = 0; v < x.size(); v += 3) vertices_.push_back({x[v], x[v + 1], x[v + 2]});
    } catch (const base::InputError&) { // its words are those of a writer
      fail("cells disagree about the position of a vertex, as those of periodic meshes do");
    }
    require_shorter_than_edges();
  }

  Mesh run() {
    number_vertices();
    if (num_vertices_ == mesh_.num_vertices) {
      base::warn(fmt::format("{} makes no nodes one: none are closer than that", what_));
      return mesh_;
    }
    add_cells();
    add_facets();
    try {
      result_.surface();
    } catch (const base::InputError& error) {
      fail(error.what());
    }
    add_nodes();
    return std::move(result_);
  }

private:
  [[noreturn]] void fail(const std::string& reason) const { throw MergeError(what_ + ": " + reason); }

  std::string describe_vertex(std::int32_t vertex) const {
    return describe_point(
        std::span(vertices_[static_cast<std::size_t>(vertex)]).first(static_cast<std::size_t>(mesh_.gdim)));
  }
  std::span<const std::int32_t> vertices_of(std::size_t g, std::size_t cell) const {
    const auto& group = mesh_.groups[g];
    const auto count = static_cast<std::size_t>(element::num_vertices(group.shape));
    return std::span(group.vertices).subspan(cell * count, count);
  }
  template <class Visit> void for_cells(const Visit& visit) const {
    for (std::size_t g = 0; g < mesh_.groups.size(); ++g)
      for (std::size_t cell = 0; cell < mesh_.groups[g].tags.size(); ++cell) visit(g, cell);
  }
  std::string cell_text(std::size_t g, std::size_t cell) const {
    return describe_cell(mesh_, static_cast<std::int32_t>(g), static_cast<std::int32_t>(cell));
  }

  void require_shorter_than_edges() const {
    double shortest = std::numeric_limits<double>::infinity();
    std::pair<std::size_t, std::size_t> of_cell;
    for_cells([&](std::size_t g, std::size_t cell) {
      const auto of = vertices_of(g, cell);
      const auto shape = mesh_.groups[g].shape;
      for (int e = 0; e < element::num_entities(shape, 1); ++e) {
        const auto ends = element::entity_vertices(shape, 1, e);
        const auto at = [&](std::size_t end) -> const Point& {
          return vertices_[static_cast<std::size_t>(of[static_cast<std::size_t>(ends[end])])];
        };
        if (const double length = mesh::distance(at(0), at(1)); length < shortest) {
          shortest = length;
          of_cell = {g, cell};
        }
      }
    });
    if (distance_ >= shortest)
      fail(fmt::format("accepted are lengths below the shortest edge, {:.6g}, which {} has", shortest,
                       cell_text(of_cell.first, of_cell.second)));
  }

  /// Pairs of vertices that are closer than the distance.
  std::vector<std::pair<std::int32_t, std::int32_t>> near_pairs() const {
    const PointTree tree(vertices_);
    const base::Parts parts(mesh_.num_vertices);
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> found(static_cast<std::size_t>(parts.count()));
    parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
      for (std::int64_t v = begin; v < end; ++v) {
        const auto& x = vertices_[static_cast<std::size_t>(v)];
        const double d = distance_;
        tree.for_each_in({x[0] - d, x[1] - d, x[2] - d}, {x[0] + d, x[1] + d, x[2] + d}, [&](std::size_t w) {
          if (static_cast<std::int64_t>(w) > v && mesh::distance(x, vertices_[w]) < d)
            found[static_cast<std::size_t>(part)].emplace_back(static_cast<std::int32_t>(v),
                                                               static_cast<std::int32_t>(w));
        });
      }
    });
    std::vector<std::pair<std::int32_t, std::int32_t>> result;
    for (const auto& of_part : found) result.insert(result.end(), of_part.begin(), of_part.end());
    return result;
  }

  /// Vertices that become one have the number of the first of them, among those that are left.
  void number_vertices() {
    DisjointSets sets(mesh_.num_vertices);
    for (const auto& [v, w] : near_pairs()) sets.unite(v, w);
    for (std::int32_t v = 0; v < mesh_.num_vertices; ++v) {
      const auto first = sets.find(v);
      new_vertex_.push_back(first == v ? num_vertices_++ : new_vertex_[static_cast<std::size_t>(first)]);
      if (first == v) first_vertex_.push_back(v);
    }
  }

  void add_cells() {
    result_.tdim = mesh_.tdim;
    result_.gdim = mesh_.gdim;
    result_.source = mesh_.source;
    result_.physical_groups = mesh_.physical_groups;
    result_.num_vertices = num_vertices_;
    result_.groups = mesh_.groups;
    for (auto& group : result_.groups) {
      group.own_nodes.clear();
      for (auto& v : group.vertices) v = new_vertex_[static_cast<std::size_t>(v)];
    }
    for_cells([&](std::size_t g, std::size_t cell) {
      const auto of = vertices_of(g, cell);
      for (std::size_t i = 0; i < of.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (new_vertex_[static_cast<std::size_t>(of[i])] == new_vertex_[static_cast<std::size_t>(of[j])])
            fail(fmt::format("{} collapses: its vertices at {} and {} become one, by way of others between them; use a "
                             "smaller length",
                             cell_text(g, cell), describe_vertex(of[j]), describe_vertex(of[i])));
    });
    for (const auto v : first_vertex_) {
      const auto& x = vertices_[static_cast<std::size_t>(v)];
      result_.points.insert(result_.points.end(), x.begin(), x.begin() + mesh_.gdim);
    }
  }

  /// A facet that both sides tag is listed once, in the groups of both.
  void add_facets() {
    const int dim = mesh_.tdim - 1;
    auto& physical = result_.physical_groups;
    std::map<EntityKey, std::size_t> places;
    for (auto facet : mesh_.tagged_facets) {
      std::vector<std::int32_t> vertices;
      for (auto& v : facet.vertices)
        if (v >= 0) vertices.push_back(v = new_vertex_[static_cast<std::size_t>(v)]);
      const auto [place, is_new] = places.emplace(make_entity_key(vertices), result_.tagged_facets.size());
      if (is_new) {
        result_.tagged_facets.push_back(facet);
        continue;
      }
      auto& tag = result_.tagged_facets[place->second].tag;
      if (tag == facet.tag) continue;
      auto groups = physical.groups_of(dim, tag);
      for (const auto group : physical.groups_of(dim, facet.tag)) groups.push_back(group);
      tag = physical.tag_of(dim, groups);
    }
    std::set<std::int32_t> used;
    for (const auto& facet : result_.tagged_facets) used.insert(facet.tag);
    const auto numbers = physical.renumber(dim, used);
    for (auto& facet : result_.tagged_facets)
      if (const auto found = numbers.find(facet.tag); found != numbers.end()) facet.tag = found->second;
  }

  /// Nodes inside edges, faces and cells go where the first cell has them.
  void add_nodes() {
    if (std::ranges::all_of(mesh_.groups, [](const CellGroup& group) { return group.degree == 1; })) return;
    const auto count = static_cast<std::size_t>(number_shared_nodes(result_)),
               dim = static_cast<std::size_t>(mesh_.gdim);
    result_.points.resize(count * dim);
    std::vector<bool> is_set(count);
    std::fill_n(is_set.begin(), num_vertices_, true);
    const auto at = [dim](const Mesh& mesh, std::int32_t node) {
      Point x{};
      std::copy_n(mesh.points.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * dim), dim,
                  x.begin());
      return x;
    };
    for_cells([&](std::size_t g, std::size_t cell) {
      const auto old = mesh_.groups[g].nodes(), now = result_.groups[g].nodes();
      const auto per_cell = old.size() / mesh_.groups[g].tags.size();
      for (std::size_t i = cell * per_cell; i < (cell + 1) * per_cell; ++i) {
        const auto node = static_cast<std::size_t>(now[i]);
        const auto x = at(mesh_, old[i]);
        if (!is_set[node])
          std::copy_n(x.begin(), dim, result_.points.begin() + static_cast<std::ptrdiff_t>(node * dim));
        else if (now[i] >= num_vertices_ && mesh::distance(x, at(result_, now[i])) >= distance_)
          fail(fmt::format("the vertices of {} meet those of another cell, but its curved edges or faces do not: its "
                           "node at {} is {:.3g} away from that of the other",
                           cell_text(g, cell), describe_point(std::span(x).first(dim)),
                           mesh::distance(x, at(result_, now[i]))));
        is_set[node] = true;
      }
    });
  }

  const Mesh& mesh_;
  double distance_;
  std::string what_; ///< begin of messages
  std::vector<Point> vertices_;
  std::vector<std::int32_t> new_vertex_;   ///< number of each vertex in the result, shape (vertex)
  std::vector<std::int32_t> first_vertex_; ///< the vertex that gives each of the result its place
  std::int32_t num_vertices_ = 0;
  Mesh result_;
};

} // namespace

Mesh merged(const Mesh& mesh, double distance) { return Merger(mesh, distance).run(); }

} // namespace rafter::mesh

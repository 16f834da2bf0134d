// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/bounding_box.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/facet_nodes.hpp>
#include <rafter/mesh/identification.hpp>
#include <rafter/mesh/point_tree.hpp>
#include <rafter/mesh/tag_uses.hpp>

namespace rafter::mesh {

namespace {

Point sum(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

Point point_of(std::span<const double> x) {
  Point result{};
  std::ranges::copy(x, result.begin());
  return result;
}

/// Length of the diagonal of the box around all geometry nodes.
double diagonal(const Mesh& mesh) {
  const auto box = bounding_box(mesh);
  return distance(box.low, box.high);
}

/// A facet of one part of the boundary.
struct SideFacet {
  FacetRef ref;
  std::array<std::int32_t, 4> vertices{-1, -1, -1, -1}; ///< vertices in the order of the cell's facet
};

/// The facets of one part of the boundary and their vertices, each once.
struct Side {
  std::string name; ///< "'xmin'", for messages
  std::vector<SideFacet> facets;
  std::map<std::int32_t, Point> vertices;
  BoundingBox box;
};

std::string name_of(const std::vector<std::string>& tags) {
  std::vector<std::string> quoted;
  for (const auto& tag : tags) quoted.push_back("'" + tag + "'");
  return base::join(quoted, ", ");
}

void add_facet(const Mesh& mesh, const FacetRef& ref, Side& side) {
  const auto& group = mesh.groups[static_cast<std::size_t>(ref.group)];
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const auto first = static_cast<std::size_t>(ref.cell) * static_cast<std::size_t>(element::num_vertices(group.shape));
  const auto x = cell_vertex_coordinates(mesh, ref.group, ref.cell);
  SideFacet facet{ref};
  std::size_t i = 0;
  for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, ref.facet)) {
    const auto local = static_cast<std::size_t>(v);
    const auto point = point_of(std::span(x).subspan(local * dim, dim));
    facet.vertices[i++] = group.vertices[first + local];
    side.vertices.emplace(group.vertices[first + local], point);
    side.box.add(point);
  }
  side.facets.push_back(facet);
}

Side make_side(const Mesh& mesh, const std::vector<std::string>& tags) {
  if (tags.empty())
    throw base::InputError(
        fmt::format("{}a periodic pair needs tags of facets on both sides; one side has none", prefix(mesh)));
  Side side{.name = name_of(tags), .facets = {}, .vertices = {}, .box = {}};
  std::set<std::int32_t> numbers;
  for (const auto& tag : tags)
    for (const auto number : tags_for(mesh, tag, TagUse::periodic)) numbers.insert(number);
  const auto& surface = mesh.surface();
  for (std::size_t i = 0; i < surface.exterior_facets.size(); ++i)
    if (numbers.contains(surface.exterior_tags[i])) add_facet(mesh, surface.exterior_facets[i], side);
  return side;
}

/// Matches the facets of the second side with those of the first, moved.
class Matcher {
public:
  /// `tolerance`: largest distance of points that are taken as one.
  Matcher(const Mesh& mesh, const Side& from, const Side& to, double tolerance)
      : mesh_(mesh), from_(from), to_(to), tolerance_(tolerance), translation_(find_translation()),
        tree_(points_of(to)), nodes_of_(mesh) {
    for (const auto& [vertex, x] : to.vertices) numbers_.push_back(vertex);
    for (const auto& facet : to.facets) facets_.emplace(make_entity_key(vertices_of(facet.vertices)), &facet);
  }

  std::vector<PeriodicFacet> match() {
    std::vector<PeriodicFacet> result;
    std::set<const SideFacet*> matched;
    for (const auto& facet : from_.facets) {
      PeriodicFacet pair{.from = facet.vertices, .translation = translation_};
      const auto vertices = vertices_of(facet.vertices);
      for (std::size_t i = 0; i < vertices.size(); ++i) pair.to[i] = image(facet, vertices[i]);
      const auto found = facets_.find(make_entity_key(vertices_of(pair.to)));
      if (found == facets_.end() || !matched.insert(found->second).second)
        fail(facet, fmt::format("{} has vertices there, but no facet of them", to_.name));
      require_equal_nodes(facet, *found->second);
      result.push_back(pair);
    }
    for (const auto& facet : to_.facets)
      if (!matched.contains(&facet))
        throw base::InputError(fmt::format("{}{} on {} has no facet of {} opposite: of {} and {} facets, {} match",
                                           prefix(mesh_), describe(facet), to_.name, from_.name, from_.facets.size(),
                                           to_.facets.size(), matched.size()));
    return result;
  }

private:
  static std::vector<Point> points_of(const Side& side) {
    std::vector<Point> points;
    for (const auto& [vertex, x] : side.vertices) points.push_back(x);
    return points;
  }
  std::string describe_point(const Point& x) const {
    return mesh::describe_point(std::span(x).first(static_cast<std::size_t>(mesh_.gdim)));
  }
  /// "the facet at (0, 0.5) of quadrilateral 0 at (0.5, 0.5)".
  std::string describe(const SideFacet& facet) const {
    const auto vertices = vertices_of(facet.vertices);
    Point centre{};
    for (const auto v : vertices) {
      const auto found = from_.vertices.find(v);
      const Point& x = found != from_.vertices.end() ? found->second : to_.vertices.at(v);
      for (std::size_t d = 0; d < 3; ++d) centre[d] += x[d] / static_cast<double>(vertices.size());
    }
    return fmt::format("the facet at {} of {}", describe_point(centre),
                       describe_cell(mesh_, facet.ref.group, facet.ref.cell));
  }
  [[noreturn]] void fail(const SideFacet& facet, const std::string& reason) const {
    throw base::InputError(fmt::format("{}{} on {} does not match {}, which is {} away: {}", prefix(mesh_),
                                       describe(facet), from_.name, to_.name, describe_point(translation_), reason));
  }

  /// Returns the translation between the boxes around the sides.
  Point find_translation() const {
    const auto &a = from_.box, &b = to_.box;
    Point result{};
    for (std::size_t d = 0; d < 3; ++d) result[d] = ((b.low[d] - a.low[d]) + (b.high[d] - a.high[d])) / 2;
    if (distance(sum(a.low, result), b.low) > tolerance_)
      throw base::InputError(fmt::format(
          "{}{} is no translate of {}: the facets of one lie between {} and {}, those of the other between {} and {}",
          prefix(mesh_), to_.name, from_.name, describe_point(a.low), describe_point(a.high), describe_point(b.low),
          describe_point(b.high)));
    if (distance(result, {}) <= tolerance_)
      throw base::InputError(
          fmt::format("{}{} and {} lie at the same place; periodic are parts of the boundary that a translation maps "
                      "onto each other",
                      prefix(mesh_), from_.name, to_.name));
    return result;
  }

  /// The vertex of the other side that is nearest to where the translation moves a vertex of the facet.
  std::int32_t image(const SideFacet& facet, std::int32_t vertex) const {
    const Point x = sum(from_.vertices.at(vertex), translation_);
    const Point reach{tolerance_, tolerance_, tolerance_};
    std::int32_t found = -1;
    double nearest = std::numeric_limits<double>::max();
    tree_.for_each_in({x[0] - reach[0], x[1] - reach[1], x[2] - reach[2]}, sum(x, reach), [&](std::size_t i) {
      const double away = distance(to_.vertices.at(numbers_[i]), x);
      if (away >= nearest) return;
      nearest = away;
      found = numbers_[i];
    });
    if (found < 0)
      fail(facet, fmt::format("no vertex of {} lies within {:.3g} of {}", to_.name, tolerance_, describe_point(x)));
    return found;
  }

  /// All nodes of curved facets match.
  void require_equal_nodes(const SideFacet& from, const SideFacet& to) {
    const int degree = nodes_of_.common_degree(from.ref, to.ref);
    if (degree == 1) return;
    const auto there = nodes_of_(to.ref, degree);
    for (const auto& node : nodes_of_(from.ref, degree)) {
      const Point x = sum(node, translation_);
      const auto away = [&x](const Point& other) { return distance(x, other); };
      const double nearest = away(*std::ranges::min_element(there, {}, away));
      if (!(nearest <= tolerance_))
        fail(from, fmt::format("the vertices match, but of the nodes of the curved facets the one at {} is {:.3g} off; "
                               "accepted is {:.3g}",
                               describe_point(node), nearest, tolerance_));
    }
  }

  const Mesh& mesh_;
  const Side &from_, &to_;
  double tolerance_;
  Point translation_;
  PointTree tree_;                    ///< tree of the vertices of the other side
  std::vector<std::int32_t> numbers_; ///< numbers of those
  std::map<EntityKey, const SideFacet*> facets_;
  FacetNodes nodes_of_;
};

} // namespace

Mesh Mesh::periodic(const std::vector<PeriodicPair>& pairs) const {
  if (distribution != nullptr)
    throw base::InputError(prefix(*this) +
                           "the mesh is a part of a larger one: make the whole periodic before it is distributed");
  Mesh result = *this;
  result.surface_.reset();
  result.topology_.reset();
  const double size = diagonal(*this);
  std::set<FacetRef> identified;
  for (const auto& pair : pairs) {
    if (!(pair.tolerance > 0 && pair.tolerance < 1))
      throw base::InputError(fmt::format("{}tolerance {} of periodic facets; accepted: more than 0, less than 1",
                                         prefix(*this), pair.tolerance));
    const Side from = make_side(*this, pair.from), to = make_side(*this, pair.to);
    for (const auto* side : {&from, &to})
      for (const auto& facet : side->facets)
        if (!identified.insert(facet.ref).second)
          throw base::InputError(fmt::format("{}the facets tagged {} are given twice among the periodic pairs; a facet "
                                             "is identified with one other",
                                             prefix(*this), side->name));
    auto facets = Matcher(*this, from, to, pair.tolerance * size).match();
    std::ranges::move(facets, std::back_inserter(result.periodic_facets));
  }
  number_identified_vertices(result);
  result.surface();
  return result;
}

} // namespace rafter::mesh

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/sorted_order.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/identification.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/refinement.hpp>

namespace rafter::mesh {

namespace {

using element::Shape;

constexpr int max_refinements = 30;

/// Index of the group of this shape and degree in the mesh, added at the end when there is none.
int group_of(Mesh& mesh, Shape shape, int degree) {
  const auto found = std::find_if(mesh.groups.begin(), mesh.groups.end(),
                                  [&](const CellGroup& g) { return g.shape == shape && g.degree == degree; });
  if (found != mesh.groups.end()) return static_cast<int>(found - mesh.groups.begin());
  auto& group = mesh.groups.emplace_back();
  group.shape = shape;
  group.degree = degree;
  return static_cast<int>(mesh.groups.size()) - 1;
}

/// Throws before anything is allocated when the refined mesh is too large.
void require_refinement_fits(const Mesh& mesh, std::span<const Axes> steps) {
  std::map<std::pair<Shape, int>, double> counts;
  for (const auto& group : mesh.groups) counts[{group.shape, group.degree}] += group.num_cells();
  double vertices = mesh.num_vertices;
  for (const auto axes : steps) {
    std::map<std::pair<Shape, int>, double> next;
    for (const auto& [key, count] : counts)
      for (const auto& child : subdivision(key.first, {axes}).children) next[{child.shape, key.second}] += count;
    counts = std::move(next);
    for (int axis = 0; axis < mesh.tdim; ++axis) vertices *= axes.has(axis) ? 2 : 1;
  }
  std::vector<PlannedCells> planned;
  for (const auto& [key, count] : counts) planned.push_back({key.first, key.second, count});
  require_mesh_fits(fmt::format("mesh '{}' refined {} times", mesh.source, steps.size()), vertices, planned);
}

/// Groups of the refined mesh in the order of the old ones (new shapes last) and the place of every child.
Refinement place_children(std::shared_ptr<const Mesh> mesh, Axes axes, Mesh& fine) {
  const Mesh& coarse = *mesh;
  for (const auto& group : coarse.groups) group_of(fine, group.shape, group.degree);
  Refinement refinement{.coarse = std::move(mesh), .places = {}, .diagonals = {}, .axes = axes};
  refinement.diagonals.resize(coarse.groups.size());
  std::vector<std::int32_t> counts;
  for (const auto& group : coarse.groups) {
    auto& places = refinement.places.emplace_back();
    std::map<int, int> strides;
    for (const auto& child : subdivision(group.shape, {axes}).children) {
      const int target = group_of(fine, child.shape, group.degree);
      counts.resize(fine.groups.size(), 0);
      places.push_back({target, 0, counts[target] + strides[target]++});
    }
    for (auto& place : places) place.stride = strides[place.group];
    for (const auto& [target, stride] : strides) {
      counts[target] += stride * group.num_cells();
      fine.groups[target].parents.append({.group = static_cast<std::int32_t>(refinement.places.size()) - 1,
                                          .num_parents = group.num_cells(),
                                          .children_per_parent = stride});
    }
  }
  for (std::size_t g = 0; g < counts.size(); ++g) {
    auto& group = fine.groups[g];
    const auto n = static_cast<std::size_t>(counts[g]);
    group.vertices.resize(n * static_cast<std::size_t>(element::num_vertices(group.shape)));
    const auto& ranges = group.parents.ranges();
    for (const auto& range : ranges) {
      const auto& tags = coarse.groups[range.group].tags;
      for (std::int32_t parent = 0; parent < range.num_parents; ++parent)
        group.tags.append(static_cast<std::size_t>(range.children_per_parent), tags[parent]);
    }
  }
  return refinement;
}

/// Returns for each tetrahedron the shortest of the three diagonals of its inner octahedron, which keeps children well
/// shaped. It is the first one among equals, whatever rounding says.
std::vector<std::uint8_t> shortest_diagonals(const Mesh& mesh, const CellGroup& group) {
  constexpr std::array<std::array<int, 4>, 3> opposite_edges{{{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}}};
  const auto e = geometry_element(group);
  const auto corners = vertex_nodes(*e);
  std::vector<std::uint8_t> diagonals(group.tags.size());
  for (std::size_t c = 0; c < diagonals.size(); ++c) {
    auto x = [&](int vertex, int d) {
      return mesh.points[static_cast<std::size_t>(group.nodes()[c * e->num_dofs() + corners[vertex]]) * 3 + d];
    };
    double shortest = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < opposite_edges.size(); ++i) {
      const auto [p, q, r, s] = opposite_edges[i];
      double length = 0;
      for (int d = 0; d < 3; ++d) {
        const double between = x(p, d) + x(q, d) - x(r, d) - x(s, d);
        length += between * between;
      }
      if (length < shortest * (1 - 1e-9)) {
        shortest = length;
        diagonals[c] = static_cast<std::uint8_t>(i);
      }
    }
  }
  return diagonals;
}

void fill_children(const RefinedVertices& vertices, const Refinement& refinement, Mesh& fine) {
  const Mesh& coarse = *refinement.coarse;
  for (std::size_t g = 0; g < coarse.groups.size(); ++g) {
    const auto& group = coarse.groups[g];
    const auto& places = refinement.places[g];
    for (std::int32_t parent = 0; parent < group.num_cells(); ++parent) {
      const auto numbers = vertices.of_cell(static_cast<int>(g), parent);
      const auto& children = refinement.of_cell(static_cast<int>(g), parent).children;
      for (std::size_t k = 0; k < children.size(); ++k) {
        auto& target = fine.groups[places[k].group];
        const auto cell = static_cast<std::size_t>(places[k].cell(parent));
        const auto& local = children[k].vertices;
        for (std::size_t v = 0; v < local.size(); ++v) target.vertices[cell * local.size() + v] = numbers[local[v]];
      }
    }
  }
}

struct RefinedMesh {
  Mesh mesh;
  Refinement refinement;
};

RefinedMesh refined_once(std::shared_ptr<const Mesh> mesh, Axes axes) {
  const Mesh& coarse = *mesh;
  const RefinedVertices vertices(coarse, axes);
  Mesh fine;
  fine.tdim = coarse.tdim;
  fine.gdim = coarse.gdim;
  fine.source = coarse.source;
  fine.physical_groups = coarse.physical_groups;
  fine.num_vertices = vertices.total();
  Refinement refinement = place_children(std::move(mesh), axes, fine);
  for (std::size_t g = 0; g < coarse.groups.size(); ++g)
    if (coarse.groups[g].shape == Shape::tetrahedron)
      refinement.diagonals[g] = shortest_diagonals(coarse, coarse.groups[g]);
  fill_children(vertices, refinement, fine);
  fine.tagged_facets = refined_facets(coarse, vertices);
  fine.periodic_facets = refined_periodic_facets(coarse, vertices);
  if (!fine.periodic_facets.empty()) number_identified_vertices(fine);
  refine_geometry(coarse, vertices, refinement, fine);
  return {std::move(fine), std::move(refinement)};
}

/// Parents of `fine` are cells of `middle`: makes them the parents that those have.
void skip_generation(const Mesh& middle, Mesh& fine) {
  for (auto& group : fine.groups) {
    Parents parents;
    for (const auto& children : group.parents.ranges()) // each has all cells of a group as parents
      for (auto range : middle.groups[children.group].parents.ranges()) {
        range.children_per_parent *= children.children_per_parent;
        parents.append(range);
      }
    group.parents = std::move(parents);
  }
}

/// Says for each sub-entity of a dimension whether refinement puts a vertex in its centre.
std::vector<bool> have_centres(Shape shape, Axes axes, int dim) {
  std::vector<bool> result(static_cast<std::size_t>(element::num_entities(shape, dim)), false);
  for (const auto& vertex : subdivision(shape, {axes}).vertices)
    if (vertex.dim == dim) result[static_cast<std::size_t>(vertex.entity)] = true;
  return result;
}

/// Says for each edge whether its cells are halved along it. Throws InputError where they do not agree.
std::vector<bool> halved_edges(const Mesh& mesh, Axes axes) {
  const auto& topology = mesh.topology();
  enum class Seen : std::uint8_t { nowhere, halved, whole };
  const auto num_edges = static_cast<std::size_t>(topology.num_edges);
  std::vector<Seen> seen(num_edges, Seen::nowhere); // edges that stand for those that are identified
  std::vector<bool> result(num_edges, false);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto is_halved = have_centres(mesh.groups[g].shape, axes, 1);
    const auto& edges = topology.groups[g].edges;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const bool here = is_halved[i % is_halved.size()];
      auto& before = seen[static_cast<std::size_t>(topology.representative(1, edges[i]))];
      if (before == (here ? Seen::whole : Seen::halved))
        throw base::InputError(fmt::format(
            "mesh '{}': cells that share an edge are refined along different axes, one along the edge and one not",
            mesh.source));
      before = here ? Seen::halved : Seen::whole;
      result[static_cast<std::size_t>(edges[i])] = here;
    }
  }
  return result;
}

} // namespace

RefinedVertices::RefinedVertices(const Mesh& mesh, Axes axes) : mesh_(mesh), axes_(axes) {
  std::int64_t next = mesh.num_vertices;
  if (mesh.tdim > 1) next = number_edges(next);
  if (mesh.tdim > 2) next = number_faces(next);
  for (const auto& group : mesh.groups) {
    auto& centres = cell_centres_.emplace_back();
    if (have_centres(group.shape, axes, mesh.tdim).front()) centres.resize(group.tags.size());
    for (auto& centre : centres) centre = static_cast<std::int32_t>(next++);
  }
  if (next > std::numeric_limits<std::int32_t>::max())
    throw base::InputError(
        fmt::format("mesh '{}' refined: {} vertices; local numbers have 32 bits", mesh.source, next));
  total_ = static_cast<std::int32_t>(next);
  if (mesh.tdim > 1) order_between();
}

/// Orders the vertices by the mean of the numbers of the vertices that they lie between. Children see their edges and
/// faces in the orientations in which their parent does then, so that cells which are alike stay alike.
void RefinedVertices::order_between() {
  constexpr std::int64_t common = 120; // a multiple of all numbers of vertices of an entity
  std::vector<std::uint64_t> means(static_cast<std::size_t>(total_), 0);
  for (std::int32_t vertex = 0; vertex < mesh_.num_vertices; ++vertex)
    means[static_cast<std::size_t>(vertex)] = static_cast<std::uint64_t>(common * vertex);
  for (std::size_t g = 0; g < mesh_.groups.size(); ++g) {
    const auto& group = mesh_.groups[g];
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    struct Centre {
      EntityCentre entity;
      std::vector<int> vertices;
    };
    std::vector<Centre> centres;
    for (const auto& centre : subdivision(group.shape, {axes_}).vertices)
      if (centre.dim > 0) {
        const auto local = element::entity_vertices(group.shape, centre.dim, centre.entity);
        centres.push_back({centre, {local.begin(), local.end()}});
      }
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto* of_cell = group.vertices.data() + static_cast<std::size_t>(cell) * num_vertices;
      for (const auto& centre : centres) {
        auto& mean = means[static_cast<std::size_t>(number(static_cast<int>(g), cell, centre.entity))];
        if (mean != 0) continue;
        std::int64_t sum = 0;
        for (const int v : centre.vertices) sum += of_cell[v];
        mean = static_cast<std::uint64_t>(sum * (common / static_cast<std::int64_t>(centre.vertices.size())));
      }
    }
  }
  const auto order = base::sorted_order(means);
  std::vector<std::int32_t> places(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    places[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  const auto replace = [&](std::vector<std::int32_t>& numbers) {
    for (auto& number : numbers)
      if (number >= 0) number = places[static_cast<std::size_t>(number)];
  };
  replace(edge_centres_);
  replace(face_centres_);
  for (auto& centres : cell_centres_) replace(centres);
  places.resize(static_cast<std::size_t>(mesh_.num_vertices));
  of_vertices_ = std::move(places);
}

/// Gives numbers from `next` on to the centres of edges, in the order of edges; returns the next number.
std::int64_t RefinedVertices::number_edges(std::int64_t next) {
  const bool halves_all = axes_.has_all(mesh_.tdim);
  const auto is_halved = halves_all ? std::vector<bool>() : halved_edges(mesh_, axes_);
  edge_centres_.assign(static_cast<std::size_t>(mesh_.topology().num_edges), -1);
  for (std::size_t edge = 0; edge < edge_centres_.size(); ++edge)
    if (halves_all || is_halved[edge]) edge_centres_[edge] = static_cast<std::int32_t>(next++);
  return next;
}

/// The same of faces, in the order in which cells have them.
std::int64_t RefinedVertices::number_faces(std::int64_t next) {
  const auto& topology = mesh_.topology();
  face_centres_.assign(static_cast<std::size_t>(topology.num_faces), -1);
  for (std::size_t g = 0; g < mesh_.groups.size(); ++g) {
    const auto has_centre = have_centres(mesh_.groups[g].shape, axes_, 2);
    const auto& faces = topology.groups[g].faces;
    for (std::size_t i = 0; i < faces.size(); ++i) {
      auto& centre = face_centres_[static_cast<std::size_t>(faces[i])];
      if (has_centre[i % has_centre.size()] && centre < 0) centre = static_cast<std::int32_t>(next++);
    }
  }
  return next;
}

std::int32_t RefinedVertices::number(int group, std::int32_t cell, const EntityCentre& centre) const {
  const auto& cells = mesh_.groups[group];
  const auto entity = static_cast<std::size_t>(cell) * element::num_entities(cells.shape, centre.dim) + centre.entity;
  if (centre.dim == 0) return of_vertex(cells.vertices[entity]);
  if (centre.dim == mesh_.tdim) return cell_centres_[group][cell];
  if (centre.dim == 1) return edge_centres_[mesh_.topology().groups[group].edges[entity]];
  return face_centres_[mesh_.topology().groups[group].faces[entity]];
}

std::array<std::int32_t, max_refined_vertices> RefinedVertices::of_cell(int group, std::int32_t cell) const {
  std::array<std::int32_t, max_refined_vertices> numbers{};
  const auto& centres = subdivision(mesh_.groups[group].shape, {axes_}).vertices;
  for (std::size_t i = 0; i < centres.size(); ++i) numbers[i] = number(group, cell, centres[i]);
  return numbers;
}

namespace {

/// Steps of uniform refinement.
std::vector<Axes> uniform_steps(const Mesh& mesh, int times) {
  if (times < 0 || times > max_refinements)
    throw base::InputError(
        fmt::format("mesh '{}' refined {} times; accepted: 0 to {}", mesh.source, times, max_refinements));
  return std::vector<Axes>(static_cast<std::size_t>(times));
}

void require_refinable(const Mesh& mesh, std::span<const Axes> steps) {
  if (steps.empty()) return;
  if (mesh.distribution != nullptr)
    throw base::InputError("mesh '" + mesh.source +
                           "' is a part of a larger one: refine the whole before it is distributed");
  for (const auto axes : steps)
    for (const auto& group : mesh.groups)
      if (!can_be_halved(group.shape, axes))
        throw base::InputError(fmt::format(
            "mesh '{}': a {} is not refined along some of its axes alone; accepted: intervals, quadrilaterals and "
            "hexahedra along any, prisms along both axes of their triangles or the third",
            mesh.source, element::name(group.shape)));
  require_refinement_fits(mesh, steps);
}

} // namespace

Mesh Mesh::refined(int times) const {
  require_refinable(*this, uniform_steps(*this, times));
  if (times == 0) return *this;
  const std::shared_ptr<const Mesh> self(std::shared_ptr<void>(), this);
  Mesh result = refined_once(self, {}).mesh;
  for (int t = 1; t < times; ++t) {
    const auto middle = std::make_shared<const Mesh>(std::move(result));
    result = refined_once(middle, {}).mesh;
    skip_generation(*middle, result);
  }
  return result;
}

Generations refined_generations(std::shared_ptr<const Mesh> mesh, int times) {
  const auto steps = uniform_steps(*mesh, times);
  return refined_generations(std::move(mesh), steps);
}

Generations refined_generations(std::shared_ptr<const Mesh> mesh, std::span<const Axes> steps) {
  require_refinable(*mesh, steps);
  Generations result{.meshes = {std::move(mesh)}, .refinements = {}};
  for (const auto axes : steps) {
    // The copy alone builds the topology, which refinement needs and spaces of degree 1 do without.
    const auto coarse = result.finest();
    auto [fine, refinement] = refined_once(std::make_shared<const Mesh>(*coarse), axes);
    refinement.coarse = coarse;
    if (!result.refinements.empty()) skip_generation(*coarse, fine);
    result.refinements.push_back(std::move(refinement));
    result.meshes.push_back(std::make_shared<const Mesh>(std::move(fine)));
  }
  return result;
}

} // namespace rafter::mesh

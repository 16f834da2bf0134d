// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <rafter/comm/communicator.hpp>
#include <rafter/element/element.hpp>
#include <rafter/mesh/cell_tags.hpp>
#include <rafter/mesh/parents.hpp>
#include <rafter/mesh/physical_groups.hpp>

/// Meshes as flat arrays: cells per shape, vertices (topology) apart from geometry nodes, tags on cells and facets.
namespace rafter::mesh {

/// Cells of one shape and one geometry degree.
struct CellGroup {
  element::Shape shape = element::Shape::hexahedron;
  int degree = 1; ///< degree of the geometry: Lagrange element (GLL-warped) of this shape and degree
  std::vector<std::int32_t> vertices; ///< topological vertex numbers, shape (cell, vertex)
  /// Rows of Mesh::points, shape (cell, node), in the order of the Lagrange element. Empty: those of straight cells are
  /// their vertices, so that there is one table of both.
  std::vector<std::int32_t> own_nodes;
  CellTags tags;   ///< tags of PhysicalGroups: 0 = untagged
  Parents parents; ///< cells of the same mesh before refinement; empty: there is none
  std::int32_t num_cells() const { return static_cast<std::int32_t>(tags.size()); }
  /// Rows of Mesh::points, shape (cell, node).
  std::span<const std::int32_t> nodes() const { return own_nodes.empty() ? vertices : own_nodes; }
};

/// A facet of a cell: (group, cell, local facet).
struct FacetRef {
  std::int32_t group = 0, cell = 0, facet = 0;
  auto operator<=>(const FacetRef&) const = default;
};

/// A facet with a tag that lies inside the domain, as both of its cells see it.
struct InnerFacet {
  FacetRef first;              ///< the side of the lower cell, or of the one that this process has
  FacetRef second{-1, -1, -1}; ///< the other side; the default where another process has that cell
  std::int32_t tag = 0;
  bool has_second() const { return second.group >= 0; }
};

/// The numbers of facets of each kind with a tag.
struct FacetCounts {
  std::int64_t exterior = 0; ///< facets with one cell
  std::int64_t inner = 0;    ///< facets between two cells
  std::int64_t periodic = 0; ///< identified with another facet; both of a pair count
  bool operator==(const FacetCounts&) const = default;
};

/// The facets that bound a mesh, those inside that have tags, and the vertices that are one. Local numbers, 32 bit.
struct Surface {
  std::vector<FacetRef> exterior_facets;   ///< facets with one cell, on all processes, that are not periodic; sorted
  std::vector<std::int32_t> exterior_tags; ///< tag of each exterior facet, 0 = untagged
  std::vector<InnerFacet> inner_facets;    ///< facets with two cells, on all processes, that have a tag; by first side
  /// The facets of all processes with each tag; those without a tag (0) only where they have one cell.
  std::map<std::int32_t, FacetCounts> facet_counts;
  /// Lowest number among the vertices with which each is identified; empty: each stands for itself.
  std::vector<std::int32_t> vertex_representatives;

  std::set<std::int32_t> boundary_tags() const; ///< tags of the exterior facets of all processes, 0 included
  std::set<std::int32_t> periodic_tags() const; ///< tags of the facets that periodic facets identify, on all processes
  std::int32_t vertex_representative(std::int32_t vertex) const {
    return vertex_representatives.empty() ? vertex : vertex_representatives[static_cast<std::size_t>(vertex)];
  }
};

/// The surface of a mesh, and the numbering of edges and faces. Entities are distinguished by the vertices of the mesh;
/// those that periodic facets identify have one representative, which stands for the unknowns of all of them.
struct Topology : Surface {
  int tdim = 0;
  std::int32_t num_vertices = 0, num_edges = 0, num_faces = 0; ///< no edges in 1D, no faces in 1D and 2D
  struct Group {
    std::vector<std::int32_t> edges;             ///< shape (cell, local edge); empty in 1D (the cell is its own edge)
    std::vector<std::int32_t> faces;             ///< shape (cell, local face); empty in 1D, 2D
    std::vector<std::uint8_t> edge_orientations; ///< element::orientation codes, shape (cell, local edge)
    std::vector<std::uint8_t> face_orientations; ///< shape (cell, local face)
  };
  std::vector<Group> groups; ///< groups in the order of Mesh::groups
  /// Lowest number among the entities with which each is identified, shape (dim)(entity); empty: each stands for
  /// itself. Vertices, edges and faces.
  std::array<std::vector<std::int32_t>, 3> representatives;

  std::int32_t representative(int dim, std::int32_t entity) const {
    const auto& of_dim = representatives[static_cast<std::size_t>(dim)];
    return of_dim.empty() ? entity : of_dim[static_cast<std::size_t>(entity)];
  }
  /// Entities of a dimension below 3 that stand for themselves.
  std::int32_t num_representatives(int dim) const;
};

/// Tagged facets as the file gives them, by vertex numbers (padded with -1), matched to cells by `surface()`.
struct TaggedFacet {
  std::array<std::int32_t, 4> vertices{-1, -1, -1, -1};
  std::int32_t tag = 0; ///< tag of PhysicalGroups
};

/// A facet of the boundary and the facet that a translation makes of it: what lies on one is what lies on the other.
struct PeriodicFacet {
  std::array<std::int32_t, 4> from{-1, -1, -1, -1}; ///< vertices in the order of its cell's facet, padded with -1
  std::array<std::int32_t, 4> to{-1, -1, -1, -1};   ///< the vertex to which each is moved
  std::array<double, 3> translation{};              ///< x of `to` less x of `from`
};

/// Two parts of the boundary, the second of which is the first moved by a translation.
struct PeriodicPair {
  std::vector<std::string> from, to; ///< tags of their facets, as numbers ("1") or names ("xmin")
  /// Largest distance at which points are taken as one, in diagonals of the box around the mesh.
  double tolerance = default_tolerance;
  static constexpr double default_tolerance = 1e-8;
};

struct Distribution;

class Mesh {
public:
  int tdim = 3;                           ///< dimension of the cells
  int gdim = 3;                           ///< dimension of the space; equal to tdim
  std::int32_t num_vertices = 0;          ///< topological vertices
  std::vector<double> points;             ///< geometry nodes, shape (node, gdim)
  std::vector<CellGroup> groups;          ///< one per (shape, degree) at most
  std::vector<TaggedFacet> tagged_facets; ///< each facet once: one in several groups has their class as its tag
  PhysicalGroups physical_groups;         ///< meaning of the tags of cells and facets
  /// Global number of each vertex. These numbers, never the local ones, decide how cells see the edges and faces that
  /// they share, which unknowns are one, which cells must not run at the same time, and random fields. Vertices that
  /// periodic facets identify have one number. Empty: each vertex has its local number.
  std::vector<std::int64_t> global_vertices;
  std::vector<PeriodicFacet> periodic_facets;       ///< facets that `periodic` finds
  std::string source;                               ///< file name, for messages
  std::shared_ptr<const Distribution> distribution; ///< set for a part of a mesh (local_part); null: the mesh is whole

  std::int64_t num_cells() const; ///< number of cells of this process
  /// The processes that have the cells of the mesh.
  std::shared_ptr<const comm::Communicator> communicator() const;
  std::int64_t global_vertex(std::int32_t vertex) const {
    return global_vertices.empty() ? vertex : global_vertices[static_cast<std::size_t>(vertex)];
  }
  /// The boundary, built on first use and shared by copies. Throws InputError for facets with more than two cells,
  /// duplicate cells, tagged facets that no cell has, and cells with two vertices of one global number.
  const Surface& surface() const;
  /// The boundary and the numbering of all entities, which takes several times as long: spaces of degree 1 on straight
  /// cells do without. Built and shared as the surface; throws the same.
  const Topology& topology() const;
  bool has_topology() const { return topology_ != nullptr; } ///< says whether topology() was built
  /// Vertices that stand for themselves: one of those that are identified.
  std::int32_t num_distinct_vertices() const;

  /// Uniformly refined `times` times: children keep tags (cells and facets), curved geometry, parents and periodic
  /// facets. The new vertices have their local numbers as global ones, but for those that are identified. Throws
  /// InputError for a part of a mesh: refine the whole before it is distributed.
  Mesh refined(int times = 1) const;

  /// The mesh with the facets of each pair identified, beside those that are identified already:
  ///
  ///     auto torus = make_box({}).periodic({{.from = {"xmin"}, .to = {"xmax"}}, {.from = {"ymin"}, .to = {"ymax"}}});
  ///
  /// The translation is that of the boxes around the two parts; corners and edges on several parts are identified with
  /// all their images. Identified facets are no boundary any more. Functions on the mesh are periodic; x is not, it
  /// jumps across the identified facets. Throws InputError for unknown tags, for parts that are no translates of each
  /// other, naming the first facet without a match (its corners, and the nodes of curved facets), and where only one
  /// cell lies from side to side.
  Mesh periodic(const std::vector<PeriodicPair>& pairs) const;
  /// Tags of the cells of all processes, 0 included where cells are untagged.
  std::set<std::int32_t> cell_tags() const;
  /// Tags of the cells or facets, by their dimension `dim`, that belong to the physical group that a text names by its
  /// number ("3") or its name ("clamped"): the number of the group and all classes with it, ascending, as far as cells
  /// or facets have them. "0" names the cells, and the facets of the boundary, that belong to no group. Throws
  /// InputError with the nearest name when the mesh has nothing in the group. Whether these serve a use, tags_for()
  /// says (tag_uses.hpp).
  std::vector<std::int32_t> tags_of(const std::string& tag, int dim) const;
  /// The same for numbers of groups, with those of classes among them as they are; numbers that nothing has stay.
  std::vector<std::int32_t> tags_of_groups(std::span<const std::int32_t> numbers, int dim) const;

private:
  mutable std::shared_ptr<const Surface> surface_;
  mutable std::shared_ptr<const Topology> topology_;
};

/// Geometry element of a group.
std::shared_ptr<const element::Element> geometry_element(const CellGroup& group);

/// The measures that `rafter mesh` prints and the faults that readers refuse, computed from det J at the quadrature
/// points and the vertices.
struct ValidityReport {
  double volume = 0;                    ///< sum of |cells|
  double worst_det_j = 0;               ///< smallest det J / (cell volume / reference volume): 1 for affine cells
  FacetRef worst_cell;                  ///< cell with that value (facet unused)
  std::vector<FacetRef> inverted_cells; ///< det J <= 0 somewhere (facet unused)
  std::vector<std::string> problems;    ///< non-conformities and inverted cells, one line each (at most 10)
};
ValidityReport check_validity(const Mesh& mesh);

/// Throws InputError with the report's lines when the mesh is not usable (no cells, inverted or degenerate or
/// non-conforming cells).
void require_valid(const Mesh& mesh);

/// Reads a mesh; the format is recognised from the first line (registry in readers.cpp). Throws InputError.
Mesh read_mesh(const std::string& path);

/// A box split into cells. Boundary facets are tagged 1..2*dim and named xmin, xmax, ymin, ymax, zmin, zmax; cells 1.
struct BoxOptions {
  std::vector<int> cells{8, 8, 8}; ///< cells per direction; its size is the dimension (1, 2, 3)
  std::vector<double> size;        ///< edge lengths, one for each direction; empty: all are 1
  std::string shape;               ///< a shape name, "mixed" (2D: quadrilaterals and triangles; 3D: prisms, hexahedra,
                                   ///< pyramids and tetrahedra) or "" (intervals, quadrilaterals, hexahedra)
  int degree = 1;                  ///< degree of the geometry
};
Mesh make_box(const BoxOptions& options);

/// Format of a mesh that is written.
struct MeshFormat {
  std::string name; ///< "msh" or "msh41" (Gmsh 4.1), "msh22" (Gmsh 2.2), "mesh" (MFEM v1.0); "": the path's ending
  bool is_binary = false; ///< Gmsh only
};
/// Complete or absent, as base::OutputFile. Gmsh holds geometry of degree up to 4, MFEM v1.0 of degree 1; which facets
/// are periodic is not written. Throws
/// InputError for other formats and for meshes that the format cannot hold, EnvironmentError when writing fails.
void write_mesh(const Mesh& mesh, const std::string& path, const MeshFormat& format = {});

} // namespace rafter::mesh

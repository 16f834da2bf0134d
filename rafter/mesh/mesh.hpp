// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/element/element.hpp>

/// Meshes as flat arrays: cells per shape, vertices (topology) apart from geometry nodes, tags on cells and facets.
namespace rafter::mesh {

/// Cells of one shape and one geometry degree.
struct CellGroup {
  element::Shape shape = element::Shape::hexahedron;
  int degree = 1;                     ///< of the geometry: Lagrange element (GLL-warped) of this shape and degree
  std::vector<std::int32_t> vertices; ///< topological vertex numbers, shape (cell, vertex)
  std::vector<std::int32_t> nodes; ///< rows of Mesh::points, shape (cell, node), in the order of the Lagrange element
  std::vector<std::int32_t> tags;  ///< shape (cell); 0 = untagged
  std::vector<std::int32_t>
      parents; ///< shape (cell): cell of the same mesh before refinement (see parent_group); empty: none
  std::vector<std::int8_t> parent_groups; ///< shape (cell): its group there
  std::int32_t num_cells() const { return static_cast<std::int32_t>(tags.size()); }
};

/// A facet of a cell: (group, cell, local facet).
struct FacetRef {
  std::int32_t group = 0, cell = 0, facet = 0;
  auto operator<=>(const FacetRef&) const = default;
};

/// Cells on both sides of every facet, and the numbering of edges and faces. Local numbers, 32 bit.
struct Topology {
  int tdim = 0;
  std::int32_t num_vertices = 0, num_edges = 0, num_faces = 0; ///< no edges in 1D, no faces in 1D and 2D
  struct Group {
    std::vector<std::int32_t> edges;             ///< shape (cell, local edge); empty in 1D (the cell is its own edge)
    std::vector<std::int32_t> faces;             ///< shape (cell, local face); empty in 1D, 2D
    std::vector<std::uint8_t> edge_orientations; ///< element::orientation codes, shape (cell, local edge)
    std::vector<std::uint8_t> face_orientations; ///< shape (cell, local face)
  };
  std::vector<Group> groups;               ///< as Mesh::groups
  std::vector<FacetRef> exterior_facets;   ///< facets with one cell, sorted
  std::vector<std::int32_t> exterior_tags; ///< tag of each exterior facet, 0 = untagged
};

/// Tagged facets as the file gives them, by vertex numbers (padded with -1), matched to cells by `topology()`.
struct TaggedFacet {
  std::array<std::int32_t, 4> vertices{-1, -1, -1, -1};
  std::int32_t tag = 0;
};

class Mesh {
public:
  int tdim = 3;                  ///< dimension of the cells
  int gdim = 3;                  ///< dimension of the space; equal to tdim
  std::int32_t num_vertices = 0; ///< topological vertices
  std::vector<double> points;    ///< geometry nodes, shape (node, gdim)
  std::vector<CellGroup> groups; ///< at most one per (shape, degree)
  std::vector<TaggedFacet> tagged_facets;
  std::map<std::string, std::pair<int, std::int32_t>> tag_names; ///< physical group -> (dimension, tag)
  std::string source;                                            ///< file name, for messages

  std::int64_t num_cells() const;
  /// Facet and entity numbering, built on first use and shared by copies. Throws InputError for facets with more than
  /// two cells, duplicate cells and tagged facets that no cell has.
  const Topology& topology() const;

  /// Uniformly refined `times` times: children keep tags (cells and facets), curved geometry and parents.
  Mesh refined(int times = 1) const;

  /// Numbers that the tag text stands for ("3", "clamped") on entities of dimension `dim`; throws InputError with the
  /// nearest name when the mesh has no such tag.
  std::vector<std::int32_t> tags_of(const std::string& tag, int dim) const;

private:
  mutable std::shared_ptr<const Topology> topology_;
};

/// Geometry element of a group.
std::shared_ptr<const element::Element> geometry_element(const CellGroup& group);

/// What `rafter mesh` prints and what readers refuse: computed from det J at the quadrature points and the vertices.
struct ValidityReport {
  double volume = 0;                    ///< sum of |cells|
  double worst_det_j = 0;               ///< smallest det J / (cell volume / reference volume): 1 for affine cells
  FacetRef worst_cell;                  ///< where (facet unused)
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
  std::vector<int> cells{8, 8, 8};   ///< per direction; its size is the dimension (1, 2, 3)
  std::vector<double> size{1, 1, 1}; ///< edge lengths; the default is the unit box of any dimension
  std::string shape = "hexahedron";  ///< a shape name, "mixed" (2D: quadrilaterals and triangles; 3D: prisms,
                                     ///< hexahedra, pyramids and tetrahedra) or "" (the tensor shape)
  int degree = 1;                    ///< of the geometry
};
Mesh make_box(const BoxOptions& options);

/// Format of a mesh that is written.
struct MeshFormat {
  std::string name; ///< "msh" or "msh41" (Gmsh 4.1), "msh22" (Gmsh 2.2), "mesh" (MFEM v1.0); "": the path's ending
  bool is_binary = false; ///< Gmsh only
};
/// Complete or absent, as base::OutputFile. Gmsh holds geometry of degree up to 4, MFEM v1.0 of degree 1. Throws
/// InputError for other formats and for meshes that the format cannot hold, EnvironmentError when writing fails.
void write_mesh(const Mesh& mesh, const std::string& path, const MeshFormat& format = {});

} // namespace rafter::mesh

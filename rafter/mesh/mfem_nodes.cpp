// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include <rafter/mesh/lattice.hpp>
#include <rafter/mesh/mfem.hpp>

namespace rafter::mesh {

using element::Shape;

namespace {

/// Edges and faces of MFEM's reference cells, as words with a digit per corner (mfem: fem/geom.hpp, mesh/mesh.cpp).
struct LocalEntities {
  std::string_view edges, faces;
};

LocalEntities local_entities(Shape shape) {
  switch (shape) {
  case Shape::triangle:
    return {"01 12 20", ""};
  case Shape::quadrilateral:
    return {"01 12 23 30", ""};
  case Shape::tetrahedron:
    return {"01 02 03 12 13 23", "123 032 013 021"};
  case Shape::hexahedron:
    return {"01 12 32 03 45 56 76 47 04 15 26 37", "3210 0154 1265 2376 3047 4567"};
  case Shape::prism:
    return {"01 12 20 34 45 53 03 14 25", "021 345 0143 1254 2035"};
  case Shape::pyramid:
    return {"01 12 32 03 04 14 24 34", "3210 014 124 234 304"};
  default:
    return {"", ""};
  }
}

/// Global vertices of the local edges or faces of a cell, as MFEM lists them.
std::vector<std::vector<std::int32_t>> entities(std::string_view words, std::span<const std::int32_t> vertices) {
  std::vector<std::vector<std::int32_t>> result;
  char previous = ' ';
  for (const char c : words) {
    if (c != ' ' && previous == ' ') result.emplace_back();
    if (c != ' ') result.back().push_back(vertices[static_cast<std::size_t>(c - '0')]);
    previous = c;
  }
  return result;
}

std::vector<std::int32_t> sorted(std::vector<std::int32_t> vertices) {
  std::sort(vertices.begin(), vertices.end());
  return vertices;
}

/// An edge or face, its frame (the order of its vertices) and its first dof.
struct Entity {
  std::vector<std::int32_t> frame;
  std::int64_t first_dof = 0;
};

std::int64_t num_inner(std::size_t num_corners, int degree) {
  const std::int64_t n = degree - 1;
  return num_corners == 2 ? n : num_corners == 3 ? n * (n - 1) / 2 : n * n;
}

class EntityTable {
public:
  EntityTable(std::int64_t first_dof, int degree) : next_(first_dof), degree_(degree) {}
  void add(const std::vector<std::int32_t>& frame) {
    if (!table_.try_emplace(sorted(frame), Entity{frame, next_}).second) return;
    next_ += num_inner(frame.size(), degree_);
  }
  const Entity& find(const std::vector<std::int32_t>& vertices) const { return table_.at(sorted(vertices)); }
  std::int64_t next_dof() const { return next_; }

private:
  std::map<std::vector<std::int32_t>, Entity> table_;
  std::int64_t next_;
  int degree_;
};

/// Dofs of one cell, filled entity by entity. Entities find their place by their vertices, so orientations need no
/// tables.
class CellDofs {
public:
  CellDofs(Shape shape, int degree, std::span<const std::int32_t> vertices)
      : degree_(degree), vertices_(vertices), lattice_(gmsh_lattice(shape, degree)),
        index_(lattice_index(degree, lattice_)), dofs_(lattice_.size(), -1) {
    std::copy(vertices.begin(), vertices.end(), dofs_.begin()); // corners come first
  }

  void place(const Entity& entity) {
    const auto n = entity.frame.size();
    const auto origin = corner(entity.frame[0]), x = corner(entity.frame[1]), y = corner(entity.frame.back());
    auto dof = entity.first_dof;
    for (int j = n == 2 ? 0 : 1; j < (n == 2 ? 1 : degree_); ++j)
      for (int i = 1; i < (n == 3 ? degree_ - j : degree_); ++i) {
        LatticePoint p{};
        for (std::size_t d = 0; d < 3; ++d)
          p[d] = origin[d] + (i * (x[d] - origin[d]) + j * (y[d] - origin[d])) / degree_;
        dofs_[static_cast<std::size_t>(index_[lattice_key(degree_, p)])] = static_cast<std::int32_t>(dof++);
      }
  }

  /// Numbers the remaining dofs (the inner points, or all of them) lexicographically.
  void place_rest(std::int64_t& next) {
    for (const int i : index_) // the keys of the index are in lexicographic order
      if (i >= 0 && dofs_[static_cast<std::size_t>(i)] == -1)
        dofs_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(next++);
  }

  /// Numbers the remaining dofs in the order of the corners of the inner lattice.
  void place_rest_by_corners(std::int64_t& next) {
    for (auto& dof : dofs_) // the inner points come last, in the order of the corners
      if (dof == -1) dof = static_cast<std::int32_t>(next++);
  }

  void clear() { std::fill(dofs_.begin(), dofs_.end(), -1); }
  std::vector<std::int32_t> take() { return std::move(dofs_); }

private:
  LatticePoint corner(std::int32_t vertex) const {
    return lattice_[static_cast<std::size_t>(std::find(vertices_.begin(), vertices_.end(), vertex) -
                                             vertices_.begin())];
  }

  int degree_;
  std::span<const std::int32_t> vertices_;
  std::vector<LatticePoint> lattice_;
  std::vector<int> index_;
  std::vector<std::int32_t> dofs_;
};

} // namespace

MfemDofs mfem_h1_dofs(const MfemCells& cells, int dim, std::int32_t num_vertices, int degree, bool is_legacy) {
  const bool has_edges = degree > 1 && dim >= 2, has_faces = degree > 1 && dim == 3;
  EntityTable edges(num_vertices, degree);
  for (std::size_t c = 0; c < cells.size() && has_edges; ++c)
    for (const auto& edge : entities(local_entities(cells.shapes[c]).edges, cells.of(c))) edges.add(sorted(edge));
  EntityTable faces(edges.next_dof(), degree);
  for (std::size_t c = 0; c < cells.size() && has_faces; ++c)
    for (const auto& face : entities(local_entities(cells.shapes[c]).faces, cells.of(c))) faces.add(face);

  MfemDofs result{faces.next_dof(), {}};
  for (std::size_t c = 0; c < cells.size(); ++c) {
    CellDofs dofs(cells.shapes[c], degree, cells.of(c));
    const auto local = local_entities(cells.shapes[c]);
    if (has_edges)
      for (const auto& edge : entities(local.edges, cells.of(c))) dofs.place(edges.find(edge));
    if (has_faces)
      for (const auto& face : entities(local.faces, cells.of(c))) dofs.place(faces.find(face));
    if (is_legacy && cells.shapes[c] == Shape::hexahedron)
      dofs.place_rest_by_corners(result.count);
    else
      dofs.place_rest(result.count);
    result.cells.push_back(dofs.take());
  }
  return result;
}

MfemDofs mfem_l2_dofs(const MfemCells& cells, int degree) {
  MfemDofs result;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    CellDofs dofs(cells.shapes[c], degree, cells.of(c));
    dofs.clear();
    dofs.place_rest(result.count);
    result.cells.push_back(dofs.take());
  }
  return result;
}

} // namespace rafter::mesh

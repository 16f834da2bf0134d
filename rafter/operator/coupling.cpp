// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/coupling.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include <rafter/element/lagrange.hpp>

namespace rafter::op {
namespace {

/// Interior entities of a mesh by shape: shared by all their cells, or cells.
using Entities = std::array<double, element::all_cell_shapes.size() + 1>;

double& of(Entities& entities, element::Shape shape) { return entities[static_cast<std::size_t>(shape)]; }

/// With the sign by which pairs of unknowns in their closure count: a pair that k cells share is in the closure of
/// k cells, of k or k - 1 interior faces between them, and so on; the alternating sum is 1 for every pair.
Entities signed_entities(const mesh::Mesh& mesh) {
  using element::Shape;
  const auto& topology = mesh.topology();
  Entities result{};
  for (const auto& group : mesh.groups) {
    of(result, group.shape) += group.num_cells();
    for (int facet = 0; facet < element::num_facets(group.shape); ++facet)
      of(result, element::facet_shape(group.shape, facet)) -= group.num_cells() / 2.0;
  }
  double boundary_sides = 0; // edges of boundary faces, each counted by both of them
  for (const auto& exterior : topology.exterior_facets) {
    const auto shape =
        element::facet_shape(mesh.groups[static_cast<std::size_t>(exterior.group)].shape, exterior.facet);
    of(result, shape) += 0.5;
    if (mesh.tdim == 3) boundary_sides += element::num_facets(shape);
  }
  const auto facets = static_cast<double>(topology.exterior_facets.size());
  const double vertices = mesh.num_vertices;
  if (mesh.tdim == 3) { // the surface has the Euler characteristic of a sphere
    const double boundary_edges = boundary_sides / 2, boundary_vertices = 2 + boundary_edges - facets;
    of(result, Shape::interval) += topology.num_edges - boundary_edges;
    of(result, Shape::point) -= vertices - boundary_vertices;
  } else if (mesh.tdim == 2) // a closed line has as many vertices as edges
    of(result, Shape::point) += vertices - facets;
  return result;
}

/// sum over components that couple of sum over shapes of count * nodes of the one field * nodes of the other.
double count_pairs(const System& system, const Coupling& coupling, const Entities& entities) {
  double result = 0;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    for (std::size_t g = 0; g < system.spaces.size(); ++g) {
      double components = 0;
      for (int i = 0; i < system.spaces[f]->num_components(); ++i)
        for (int j = 0; j < system.spaces[g]->num_components(); ++j)
          components += coupling(coupling.first_component(f) + i, coupling.first_component(g) + j) ? 1 : 0;
      for (std::size_t s = 0; s < entities.size(); ++s) {
        const auto shape = static_cast<element::Shape>(s);
        result += components * entities[s] * element::num_lagrange_nodes(shape, system.spaces[f]->degree) *
                  element::num_lagrange_nodes(shape, system.spaces[g]->degree);
      }
    }
  return result;
}

} // namespace

Coupling::Coupling(const form::LoweredForm& form, const System& system) {
  for (const auto& space : system.spaces) {
    first_.push_back(size_);
    size_ += space->num_components();
  }
  pairs_.assign(static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_), 0);
  for (const auto& integral : form.integrals)
    for (const auto& term : integral.test_terms) {
      const int row = first_[system.index_of(*form.test_spaces[static_cast<std::size_t>(term.field)])] + term.component;
      for (const auto id : integral.graph->reachable(std::span(&term.coefficient, 1))) {
        const auto& node = (*integral.graph)[id];
        if (node.op != form::ScalarOp::atom || node.atom.kind != form::AtomKind::trial) continue;
        const auto& space = *form.trial_spaces[static_cast<std::size_t>(node.atom.a)];
        pairs_[index(row, first_[system.index_of(space)] + node.atom.b)] = 1;
      }
    }
  block_size_ = find_block_size(system);
}

bool Coupling::has_column(int column) const {
  for (int row = 0; row < size_; ++row)
    if ((*this)(row, column)) return true;
  return false;
}

int Coupling::find_block_size(const System& system) const {
  int result = 0;
  for (const auto& space : system.spaces) {
    result = std::gcd(result, space->num_components());
    for (std::size_t b = 0; b < space->batches().blocks.size();
         ++b) // interiors: components are the lanes' length apart
      if (!space->block(static_cast<int>(b)).layout.interior_dofs.empty() && space->num_components() > 1) return 1;
  }
  for (int row = 0; row < size_; ++row)
    for (int column = 0; column < size_; ++column)
      if ((*this)(row, column) != (*this)(row / result * result, column / result * result)) return 1;
  return result;
}

double count_cell_entries(const System& system, const Coupling& coupling) {
  Entities cells{};
  for (const auto& group : system.mesh->groups) of(cells, group.shape) += group.num_cells();
  return count_pairs(system, coupling, cells);
}

double count_entries(const System& system, const Coupling& coupling) {
  const bool is_broken = std::ranges::any_of(system.spaces, [](const auto& space) { return space->is_broken(); });
  return is_broken ? count_cell_entries(system, coupling)
                   : count_pairs(system, coupling, signed_entities(*system.mesh));
}

} // namespace rafter::op

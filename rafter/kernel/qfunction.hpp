// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <rafter/element/cell.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/mesh/cell_batches.hpp>

/// From forms to what is computed at one quadrature point, in reference-cell terms.
namespace rafter::kernel {

using form::Atom;
using form::AtomKind;
using form::NodeId;

/// Where a result of the QFunction goes.
enum class OutputKind : std::uint8_t {
  test,         ///< times a test slot: added to the test function's degrees of freedom
  test_pair,    ///< times the product of two slots of one basis function (diagonals)
  integral,     ///< summed over points and cells (functionals)
  stored_point, ///< written per point: slot `component`
  stored_cell   ///< written per cell: slot `component`
};

struct Output {
  OutputKind kind = OutputKind::test;
  int field = 0, component = 0;
  int derivative = -1;  ///< direction (differentiation_frame) of the slot, -1: the value
  int derivative2 = -1; ///< second slot of a test_pair
  NodeId node = -1;
};

/// sum over points w_q * outputs(q) * slots(q) is the cell's contribution. Weights are not part of the QFunction:
/// they sit in the test-side tables. Atoms: parameter, cell_coefficient, reference_field, reference_trial, and
/// geometry: jacobian and coordinate (isoparametric), map_coefficient and reference_coordinate (other maps),
/// reference_normal (facets), stored_*.
struct QFunction {
  form::ScalarGraph graph;
  std::vector<Output> outputs;
  element::Shape shape = element::Shape::hexahedron;
  mesh::MapKind map = mesh::MapKind::affine;
  bool is_facet = false;
  /// Sums of products of the geometry that may be written with fewer operations: as found by factored_sum -> instead.
  std::unordered_map<NodeId, NodeId> equal_nodes;
  int tdim() const { return element::dimension(shape); }
  std::vector<NodeId> roots() const;
};

/// Canonical text: the nodes that outputs reach, numbered in order, one per line; equal texts compute the same.
std::string to_string(const QFunction& function);

/// One integral of a form on a kind of cells; indicator >= 0: it counts only where this cell coefficient is not 0.
struct IntegralPart {
  const form::LoweredIntegral* integral = nullptr;
  int indicator = -1;
};

/// Directions of the derivatives of reference fields, trial and test slots and of tabulated maps, one per row, shape
/// (tdim, tdim): element::reflection_frame in cells, the axes on facets.
std::vector<double> differentiation_frame(element::Shape shape, bool is_facet);

/// Pulls integrals back to the reference cell: physical derivatives become K^T times reference derivatives, the measure
/// det J (cells) or |adj(J)^T N| (facets). Modes of maps that are not isoparametric are bit masks of the
/// reference coordinates in their monomial: x_b = sum_m map_coefficient(m, b) prod_{i in m} X_i.
QFunction pull_back(std::span<const IntegralPart> parts, element::Shape shape, mesh::MapKind map, bool is_facet);

/// Modes of a map kind, in storage order: {0, 1, 2, 4} cartesian and affine, all bit masks multilinear (3D).
std::vector<int> map_modes(mesh::MapKind map, int tdim);

/// The coefficients of a node that is linear in the trial functions, by their atoms; nodes are added to the graph.
/// Throws InternalError for other nodes.
std::map<Atom, NodeId> trial_coefficients(form::ScalarGraph& graph, NodeId node);

/// The same QFunction written with one coefficient per (test slot, trial slot) pair, all of them independent of
/// the trial function: "merged" factors; equal ones, as of symmetric forms, are one node. `has_factors_outside`: what
/// all coefficients of a test slot have as a factor is multiplied once, after their sum. Throws InternalError when it
/// is not linear in the trial function.
QFunction merged(const QFunction& function, bool has_factors_outside = false);

/// Coefficients of equal test and trial basis functions: what the diagonal of a bilinear form needs. `trial_of_test`:
/// number of the trial function on the space of each test function, -1 for none; empty: the same numbers.
QFunction diagonal(const QFunction& function, std::span<const int> trial_of_test = {});

/// The coefficient of one pair of slots of a bilinear form.
struct PairCoefficient {
  int output = -1; ///< of the function: the test slot
  Atom trial;
  NodeId node = -1; ///< of its graph
};
/// Those of all pairs, where each is constant on the cell; nodes are added to the graph. Nothing where one is not, or
/// the function is no bilinear form's action.
std::optional<std::vector<PairCoefficient>> constant_coefficients(QFunction& function);

/// What a node's value varies with; bits of one set.
enum Dependency : unsigned {
  on_cell = 1,
  on_axis_0 = 2,                 ///< reference coordinate of axis 0; axis a: on_axis_0 << a
  on_point = 16,                 ///< any other data per quadrature point
  on_data = 32,                  ///< data fields, whose values may change between applications
  on_trial = 64,                 ///< the trial function
  on_field = on_data | on_trial, ///< either
  on_parameter = 128             ///< constants and parameters: the same everywhere, but they may change likewise
};
/// The value is the same at all points of a cell.
inline bool is_per_cell(unsigned dependencies) {
  return (dependencies & ~static_cast<unsigned>(on_cell | on_parameter)) == 0;
}
std::vector<unsigned> dependencies(const QFunction& function);

/// The loops over the points of a cell: over a tensor grid one inside the other, axis 0 innermost; else one.
struct PointLoops {
  int tdim = 0;
  int num_points = 0;
  int points_per_axis = 0; ///< 0: no grid
  /// How often per cell a node with these dependencies is computed: at the outermost loop that allows it.
  double evaluations(unsigned dependencies) const;
};
/// Of `num_points` points per cell: a grid in tensor cells, not on facets.
PointLoops point_loops(const QFunction& function, int num_points);
/// Operations per cell, each node as often as it is evaluated.
double count_flops(const QFunction& function, const PointLoops& loops);

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <rafter/element/cell.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/mesh/cell_batches.hpp>

/// Turns forms into QFunctions: what is computed at one quadrature point, in terms of the reference cell.
namespace rafter::kernel {

using form::Atom;
using form::AtomKind;
using form::NodeId;

/// The destination of a result of the QFunction.
enum class OutputKind : std::uint8_t {
  test,         ///< multiplies a test slot: added to the test function's degrees of freedom
  test_pair,    ///< multiplies the product of two slots of one basis function (diagonals), or of a test and a trial
                ///< function (cell matrices)
  integral,     ///< summed over points and cells: value `component` of a functional
  stored_point, ///< written per point, as number `component` of the stored data
  stored_cell,  ///< written per cell, as number `component` of the stored data
  inverse_map   ///< dX_b / dx_a of the map, with the physical axis a = `component` and b = `derivative`
};

/// One result of a QFunction.
struct Output {
  OutputKind kind = OutputKind::test;
  int field = 0, component = 0;
  int derivative = -1;  ///< direction of the test slot's derivative, a row of differentiation_frame; -1: the value
  int derivative2 = -1; ///< likewise for the second slot of a test_pair
  NodeId node = -1;
};

/// The computation at a quadrature point. A cell contributes sum over points q of w_q * outputs(q) * test slots(q).
/// Weights are not part of the QFunction: they are multiplied into the test-side tables. Its atoms are parameter,
/// cell_coefficient, reference_field, reference_trial, stored_*, and the geometry: jacobian and coordinate
/// (isoparametric maps), map_coefficient and reference_coordinate (other maps), reference_normal (facets).
struct QFunction {
  form::ScalarGraph graph;
  std::vector<Output> outputs;
  element::Shape shape = element::Shape::hexahedron;
  mesh::MapKind map = mesh::MapKind::affine;
  bool is_facet = false;
  /// Sums of products of the geometry that can be written with fewer operations: from the sum as factored_sum finds it
  /// to the node that replaces it.
  std::unordered_map<NodeId, NodeId> equal_nodes;
  int tdim() const { return element::dimension(shape); }
  std::vector<NodeId> roots() const;
};

/// Canonical text: the nodes that the outputs reach, numbered in order, one per line. Functions with equal texts
/// compute the same.
std::string to_string(const QFunction& function);

/// One integral of a form on a set of cells. If `indicator` is not negative, the integral counts only in cells where
/// the cell coefficient of that number is not 0.
struct IntegralPart {
  const form::LoweredIntegral* integral = nullptr;
  int indicator = -1;
};
inline auto members(const IntegralPart& value) {
  const auto& [integral, indicator] = value;
  return std::tie(integral, indicator);
}

/// Directions along which reference derivatives of fields, test and trial slots and tabulated maps are taken, one per
/// row, shape (tdim, tdim): element::reflection_frame in cells, the unit vectors on facets.
std::vector<double> differentiation_frame(element::Shape shape, bool is_facet);

/// Pulls integrals back to the reference cell: physical derivatives become K^T times reference derivatives, the measure
/// det J (cells) or |adj(J)^T N| (facets). Modes of maps that are not isoparametric are bit masks of the
/// reference coordinates in their monomial: x_b = sum_m map_coefficient(m, b) prod_{i in m} X_i.
QFunction pull_back(std::span<const IntegralPart> parts, element::Shape shape, mesh::MapKind map, bool is_facet);

/// The same for bilinear forms on cells whose functions are differentiated along physical axes: these count as the
/// directions of derivatives of test and trial slots. Outputs of kind inverse_map say how they follow from reference
/// derivatives.
QFunction keep_derivatives(std::span<const IntegralPart> parts, element::Shape shape, mesh::MapKind map);

/// Modes of a map kind in storage order, as bit masks of reference coordinates: {0, 1, 2, 4} for cartesian and affine
/// maps in 3D, all masks for multilinear ones.
std::vector<int> map_modes(mesh::MapKind map, int tdim);

/// The coefficients of an expression that is linear in the trial functions, by the atom that each multiplies; nodes are
/// added to the graph. Throws InternalError for other expressions.
std::map<Atom, NodeId> trial_coefficients(form::ScalarGraph& graph, NodeId node);

/// The same QFunction written with one coefficient per pair of test and trial slot, independent of the trial function
/// ("merged" factors). Equal coefficients, such as those of symmetric forms, become one node. With
/// `has_factors_outside`, a factor that all coefficients of a test slot share is multiplied once, after their sum.
/// Throws InternalError when the function is not linear in the trial function.
QFunction merged(const QFunction& function, bool has_factors_outside = false);

/// The function that computes the diagonal of a bilinear form: its coefficients for equal test and trial basis
/// functions. `trial_of_test` holds, for each test function, the number of the trial function on the same space, -1 for
/// none; empty: the numbers agree.
QFunction diagonal(const QFunction& function, std::span<const int> trial_of_test = {});

/// The coefficient of one pair of slots of a bilinear form.
struct PairCoefficient {
  int output = -1; ///< number of the test slot among the outputs of the function
  Atom trial;
  NodeId node = -1; ///< the coefficient in the function's graph
};
/// The coefficients of all pairs of slots of a bilinear form if each is constant on the cell; nodes are added to the
/// graph. Nothing if some coefficient varies, or the function is not linear in the trial functions.
std::optional<std::vector<PairCoefficient>> constant_coefficients(QFunction& function);

/// Says whether some output is of a kind.
bool has_output(const QFunction& function, OutputKind kind);
bool has_tests_alone(const QFunction& function); ///< all outputs multiply test functions

/// The value of a node varies with these, as bits of a set.
enum Dependency : unsigned {
  on_cell = 1,
  on_axis_0 = 2,                 ///< reference coordinate along axis 0; on_axis_0 << a is that along axis a
  on_point = 16,                 ///< any other data that each quadrature point has for itself
  on_data = 32,                  ///< data fields, whose values may change between applications
  on_trial = 64,                 ///< the trial function
  on_field = on_data | on_trial, ///< either of both kinds of fields
  on_parameter = 128 ///< constants and parameters: the same in all cells, but they may change between applications
};
/// Says whether a value is the same at all points of a cell.
inline bool is_per_cell(unsigned dependencies) {
  return (dependencies & ~static_cast<unsigned>(on_cell | on_parameter)) == 0;
}
std::vector<unsigned> dependencies(const QFunction& function);

/// The loops over the points of a cell: one per axis of a tensor grid, axis 0 innermost; else a single loop.
struct PointLoops {
  int num_points = 0;
  std::vector<int> extents; ///< number of points along each axis of a grid; empty where the points form none
  /// Number of times per cell that a node with these dependencies is computed, in the outermost loop that knows its
  /// operands.
  double evaluations(unsigned dependencies) const;
};
/// The loops over the points of a rule: a grid in tensor cells, a single loop elsewhere and on facets.
PointLoops point_loops(const QFunction& function, const element::Quadrature& rule);
/// Operations per cell, each node counted as often as it is evaluated.
double count_flops(const QFunction& function, const PointLoops& loops);

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// Scalar expressions, into which forms are split component by component. The same graph type serves forms (with
/// physical atoms) and the QFunctions of kernels (with atoms of the reference cell and of geometry).
namespace rafter::form {

using NodeId = std::int32_t;

/// All scalar operations, with the semantics of IEEE double precision. Comparisons and logic give 1 or 0; select(c, a,
/// b) is a where c != 0, else b, and the branch not taken has no influence, even if it is not finite.
enum class ScalarOp : std::uint8_t {
  constant,
  atom,
  add,
  sub,
  mul,
  div,
  neg,
  pow,
  sqrt,
  exp,
  log,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  sinh,
  cosh,
  tanh,
  abs,
  sign,
  min,
  max,
  lt,
  le,
  eq,
  ne,
  logical_and,
  logical_or,
  logical_not,
  select
};

/// The time that an operation takes on a processor.
enum class Effort : std::uint8_t {
  simple,   ///< takes at most as long as an addition
  quotient, ///< division or square root, which take some tens of additions
  function  ///< call of an elementary function
};

struct ScalarOpInfo {
  const char* name;
  int arity;
  int flops; ///< operations counted in reports: 1 for + - * /, powers, roots and elementary functions; 0 for changes of
             ///< sign, abs, min, max, comparisons, logic and selection
  Effort effort = Effort::simple;
};
const ScalarOpInfo& info(ScalarOp op);

/// Kinds of leaves of scalar expressions, with the meaning of their indices a, b, c. Indices that a kind does not use
/// are 0; a derivative axis of -1 means the value.
enum class AtomKind : std::uint8_t {
  parameter,        ///< a: number of a constant or parameter, the same in all cells
  cell_coefficient, ///< a: number of a value per cell
  coordinate,       ///< a: axis of the physical point x
  normal,           ///< a: component of the outward unit normal (facet integrals)
  field,            ///< a: field, b: component, c: axis of the physical derivative or -1
  test,             ///< a: test function, b: component, c: axis of the physical derivative or -1
  trial,            ///< a: trial function, b: component, c: axis of the physical derivative or -1
  // The kinds below occur only in QFunctions.
  reference_field,      ///< a: field, b: component, c: direction of the reference derivative or -1
  reference_test,       ///< a: test function, b and c as for reference_field
  reference_trial,      ///< a: trial function, b and c as for reference_field
  jacobian,             ///< a, b: J_ab = dx_a / dX_b (of an isoparametric map)
  map_coefficient,      ///< coefficient of mode a in component b of x, per cell, for maps that are not isoparametric
  reference_coordinate, ///< a: axis of the reference point X
  reference_normal,     ///< a: component of the facet's unit normal in the reference cell
  stored_point,         ///< a: slot of the data that set-up stored per point
  stored_cell           ///< a: slot of the data that set-up stored per cell
};

/// A leaf of a scalar expression.
struct Atom {
  AtomKind kind = AtomKind::parameter;
  int a = 0, b = 0, c = 0;
  auto operator<=>(const Atom&) const = default;
};
std::string to_string(const Atom& atom);

struct ScalarNode {
  ScalarOp op = ScalarOp::constant;
  std::array<NodeId, 3> operands{-1, -1, -1};
  double value = 0; ///< value of a constant
  Atom atom;        ///< the leaf, for ScalarOp::atom
};

/// Table of unique nodes, to which nodes are only added. Operands precede their users, so ascending numbers are an
/// order of evaluation. Making a node applies identities that are exact (x+0, x*1, x*0, --x, operations on constants)
/// and sorts the operands of + and *.
class ScalarGraph {
public:
  NodeId constant(double value);
  NodeId atom(const Atom& atom);
  NodeId make(ScalarOp op, NodeId a, NodeId b = -1, NodeId c = -1);

  NodeId add(NodeId a, NodeId b) { return make(ScalarOp::add, a, b); }
  NodeId sub(NodeId a, NodeId b) { return make(ScalarOp::sub, a, b); }
  NodeId mul(NodeId a, NodeId b) { return make(ScalarOp::mul, a, b); }
  NodeId div(NodeId a, NodeId b) { return make(ScalarOp::div, a, b); }
  NodeId neg(NodeId a) { return make(ScalarOp::neg, a); }

  const ScalarNode& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  bool is_constant(NodeId id, double value) const;

  /// Copies a node of another graph, with all that it depends on, into this one. `leaf` may give a replacement for an
  /// atom, or -1 to copy it. `memo` keeps the map from source to result between calls.
  NodeId import(const ScalarGraph& source, NodeId root, std::unordered_map<NodeId, NodeId>& memo,
                const std::function<NodeId(const Atom&)>& leaf);

  /// Finds the coefficient of each atom that `is_argument` selects, for an expression that is linear and homogeneous in
  /// them. Returns false, and the offending node, when the expression is not.
  bool linear_coefficients(NodeId root, const std::function<bool(const Atom&)>& is_argument,
                           std::map<Atom, NodeId>& coefficients, NodeId* offending = nullptr);

  /// The nodes that the roots depend on, ascending, which is an order of evaluation.
  std::vector<NodeId> reachable(std::span<const NodeId> roots) const;

  /// Values of the roots, for given values of the atoms; this is the definition of the operations.
  std::vector<double> evaluate(std::span<const NodeId> roots,
                               const std::function<double(const Atom&)>& atom_value) const;

  std::string to_string(NodeId id) const;

private:
  NodeId intern(ScalarNode node);
  NodeId multiply_constants(NodeId a, NodeId b);
  void enlarge_index();
  std::vector<ScalarNode> nodes_;
  std::vector<NodeId> index_; ///< open-addressing hash table of all nodes, -1 where a place is free
};

/// Applies one operation to numbers, as the interpreters do.
double apply(ScalarOp op, double a, double b, double c);

} // namespace rafter::form

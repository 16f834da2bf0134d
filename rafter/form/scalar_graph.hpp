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

/// Scalar expressions: what a form becomes once tensors are gone. The same graph type serves the form (physical atoms)
/// and the kernel's QFunction (reference-cell and geometry atoms).
namespace rafter::form {

using NodeId = std::int32_t;

/// The one table of scalar operations; semantics are those of IEEE double precision. Comparisons and logic give 1 or 0;
/// select(c, a, b) is a where c != 0, else b, and never propagates the branch not taken.
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

/// What a processor does for an operation.
enum class Effort : std::uint8_t {
  simple,   ///< one instruction at the rate of sums, or less
  quotient, ///< division or square root: some tens of them
  function  ///< a call of an elementary function
};

struct ScalarOpInfo {
  const char* name;
  int arity;
  int flops; ///< what reports count: 1 for + - * and /, 0 for sign changes and selection, 1 for elementary functions
  Effort effort = Effort::simple;
};
const ScalarOpInfo& info(ScalarOp op);

/// Leaves. Indices a, b, c as given; unused ones are 0 (derivative: -1 = value).
enum class AtomKind : std::uint8_t {
  parameter,        ///< a: index of a run-time constant (one per call)
  cell_coefficient, ///< a: index of a number per cell
  coordinate,       ///< a: axis of the physical point x
  normal,           ///< a: component of the outward unit normal (facet integrals)
  field,            ///< a: field, b: component, c: physical derivative axis or -1
  test,             ///< the same of the test function of field a
  trial,            ///< the same of the trial function of field a
  // only in QFunctions:
  reference_field,      ///< a: field, b: component, c: reference derivative axis or -1
  reference_test,       ///< as reference_field
  reference_trial,      ///< as reference_field
  jacobian,             ///< a, b: J_ab = dx_a / dX_b (of an isoparametric map)
  map_coefficient,      ///< a, b: coefficient of component b of mode a of a map that is not isoparametric, per cell
  reference_coordinate, ///< a: axis of the reference point X
  reference_normal,     ///< a: component of the facet's unit normal in the reference cell
  stored_point,         ///< a: slot of the data stored per point
  stored_cell           ///< a: slot of the data stored per cell
};

struct Atom {
  AtomKind kind = AtomKind::parameter;
  int a = 0, b = 0, c = 0;
  auto operator<=>(const Atom&) const = default;
};
std::string to_string(const Atom& atom);

struct ScalarNode {
  ScalarOp op = ScalarOp::constant;
  std::array<NodeId, 3> operands{-1, -1, -1};
  double value = 0; ///< of a constant
  Atom atom;        ///< of an atom
};

/// Append-only table of unique nodes; operands precede users, so ascending id is an evaluation order. Building a node
/// applies the identities that are exact (x+0, x*1, x*0, --x, constants folded) and orders operands of + and *.
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

  /// Copies a node of another graph (and what it needs) into this one; `leaf` may replace an atom (return -1 to copy
  /// it). `memo` keeps the map from source to result between calls.
  NodeId import(const ScalarGraph& source, NodeId root, std::unordered_map<NodeId, NodeId>& memo,
                const std::function<NodeId(const Atom&)>& leaf);

  /// For an expression linear and homogeneous in the atoms that `is_argument` selects: atom -> coefficient node.
  /// Returns false (and the offending node) when the expression is not.
  bool linear_coefficients(NodeId root, const std::function<bool(const Atom&)>& is_argument,
                           std::map<Atom, NodeId>& coefficients, NodeId* offending = nullptr);

  /// Nodes that the roots reach, ascending (an evaluation order).
  std::vector<NodeId> reachable(std::span<const NodeId> roots) const;

  /// Value of the roots by the definition of the operations.
  std::vector<double> evaluate(std::span<const NodeId> roots,
                               const std::function<double(const Atom&)>& atom_value) const;

  std::string to_string(NodeId id) const;

private:
  NodeId intern(ScalarNode node);
  NodeId multiply_constants(NodeId a, NodeId b);
  void enlarge_index();
  std::vector<ScalarNode> nodes_;
  std::vector<NodeId> index_; ///< hash table of all nodes: probed from the hash on, -1 where free
};

/// One operation on numbers: the definition that the interpreters use.
double apply(ScalarOp op, double a, double b, double c);

} // namespace rafter::form

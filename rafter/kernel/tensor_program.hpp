// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <rafter/element/element.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/kernel/qfunction.hpp>

/// The tensor program: what is computed for one cell, hardware-free. A short list of steps on named multi-index arrays.
namespace rafter::kernel {

/// Row-major array; the first index is the component.
struct TensorArray {
  std::string name;
  std::vector<int> extents;
  int folding = -1; ///< dofs: entry i of a component stands at places[i] of this folding; -1: in their own order
  int size() const;
};

/// Points (or nodes) ordered by sector, and the orbits of points that the reflections of a cell exchange. The sector of
/// a place is the set of reflections, as bits, that change the sign of what the butterflies leave there.
struct Folding {
  std::vector<int> places;               ///< where each point stands
  std::vector<unsigned> sectors;         ///< of each place, ascending
  std::vector<std::array<int, 4>> quads; ///< places of (a, b, c, d), which become
                                         ///< (a+b+c+d, a-b+c-d, a+b-c-d, a-b-c+d)
  std::vector<std::array<int, 2>> pairs; ///< (a, b), which become (a+b, a-b)
  bool operator==(const Folding&) const = default;
};

enum class Symmetry : std::uint8_t {
  none,
  even, ///< M(r, k) =  M(R-1-r, K-1-k)
  odd   ///< M(r, k) = -M(R-1-r, K-1-k)
};

/// Reference matrix, shape (rows, cols), row-major. `is_data`: passed to kernels as an argument instead of standing in
/// their text (dense tables of any size).
struct ReferenceMatrix {
  std::string name;
  int rows = 0, cols = 0;
  std::vector<double> values;
  Symmetry symmetry = Symmetry::none;
  bool is_data = false;
  /// All entries that are not 0 lie where rows and columns of a block meet; every row and every column is part of one
  /// block, which may have none of the other. Empty: one block of everything.
  struct MatrixBlock {
    std::vector<int> rows, cols;
  };
  std::vector<MatrixBlock> blocks{};
  double operator()(int r, int k) const {
    return values[static_cast<std::size_t>(r) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(k)];
  }
};

enum class StepKind : std::uint8_t {
  gather,     ///< target = cell dofs of input `field`, shape (component, dof...)
  load_nodes, ///< target = geometry nodes of the cell, shape (axis, node...)
  contract,   ///< target(.., r, ..) (+)= sum_k matrix(r, k) source(.., k, ..) along `axis`
  butterfly,  ///< sums and differences of the orbits of folding `field`, in place, for every group of its points
  evaluate,   ///< the QFunction: input slots -> output slots, at every point
  weigh,      ///< target(c, point) *= quadrature weight of the point
  scatter     ///< cell dofs of output `field` += source
};

struct Step {
  StepKind kind = StepKind::gather;
  int field = 0;
  int source = -1, target = -1, matrix = -1, axis = 0;
  bool accumulate = false;
};

/// A space that a program gathers from or scatters to.
struct FieldUse {
  AtomKind kind = AtomKind::reference_field; ///< reference_field, reference_trial (inputs), reference_test (outputs)
  int index = 0;                             ///< of the field in the form
  int components = 1;
  std::shared_ptr<const element::Element> element;
  /// Outputs of programs for cell matrices: that of the trial functions of a pair of fields, whose `components` are
  /// pairs, too; else null.
  std::shared_ptr<const element::Element> trial_element{};
  int num_dofs() const; ///< basis functions, or pairs of them
};

/// Position of the field with this number in the form. InternalError when there is none.
std::size_t position_of(const std::vector<FieldUse>& uses, int index);

/// Entry of an array that the QFunction reads or writes at point q: index (component, q) of a tensor array, or
/// (component, offset + q) of a dense one.
struct Slot {
  int array = -1, component = 0, offset = 0;
};
struct InputSlot {
  Atom atom;
  Slot slot;
};

/// How a field is evaluated in a tensor program with collocated derivatives: chains of steps that belong together, for
/// mappings that fuse them. Indices of arrays and matrices, -1: absent.
struct CollocatedEvaluation {
  int dofs = -1;                                ///< array of dofs or geometry nodes
  int values = -1;                              ///< array of values in the points (= dofs without interpolation)
  std::array<int, 3> interpolation{-1, -1, -1}; ///< matrix per reference axis
  std::array<int, 3> derivatives{-1, -1, -1};   ///< array per reference axis
  int differentiation = -1;                     ///< matrix, the same for all axes
};
/// The transpose: result = B^T W (values + sum_a W^-1 D_a^T W derivatives_a).
struct CollocatedIntegration {
  int values = -1; ///< array, -1: no value is tested
  std::array<int, 3> derivatives{-1, -1, -1};
  std::array<int, 3> interpolation{-1, -1, -1}; ///< weighted transposed matrices; all -1: the sum is weighed
  int differentiation = -1;
};

struct TensorProgram {
  bool is_tensor = false;    ///< points form a tensor grid (last axis of arrays = reference axis 0)
  bool is_separable = false; ///< the grid is that of the nodes, and the QFunction combines products of 1D matrices
  int tdim = 0;
  int num_points = 0;             ///< all points; dense programs may pad (weight 0)
  std::vector<int> point_extents; ///< {q2, q1, q0} or {num_points}
  std::vector<double> points;     ///< reference points, shape (point, tdim); tensor programs: 1D points
  std::vector<double> weights;    ///< shape (point)
  std::vector<FieldUse> inputs, outputs;
  std::shared_ptr<const element::Element> geometry; ///< isoparametric maps that are evaluated here
  QFunction function;
  std::vector<InputSlot> input_slots;
  std::vector<Slot> output_slots; ///< of function.outputs (test and test_pair outputs; others: array -1)
  std::vector<TensorArray> arrays;
  std::vector<ReferenceMatrix> matrices;
  std::vector<Folding> foldings;
  std::vector<Step> steps;
  /// One per input field in order, then one for the geometry nodes if they are evaluated; one per output field. Empty
  /// when some field is not evaluated by collocation.
  std::vector<CollocatedEvaluation> evaluations;
  std::vector<CollocatedIntegration> integrations;

  std::string to_string() const;
  /// Throws InternalError: indices in range, extents match, arrays written before they are read, all slots served.
  void verify() const;
};

enum class Contraction : std::uint8_t {
  dense, ///< stacked tables of values and derivatives
  modal, ///< dense, integrals by exact products of orthonormal polynomials: affine simplices, constant coefficients
  per_derivative, ///< sum-factorised, one chain of 1D contractions per slot
  collocated,     ///< interpolate once, differentiate in the points with the square 1D matrix
  separable       ///< integrals along each axis as 1D matrices: tensor cells, coefficients constant on each of them
};
std::string_view name(Contraction contraction);
inline bool has_dense_products(Contraction contraction) {
  return contraction == Contraction::dense || contraction == Contraction::modal;
}

struct ProgramOptions {
  Contraction contraction = Contraction::collocated; ///< non-tensor shapes and facets always use dense
};

/// Dense tables of programs that differ in their QFunctions and contractions alone, kept from one to the next.
class DenseTables;
std::shared_ptr<DenseTables> make_dense_tables();

/// What a program needs besides the QFunction.
struct ProgramInput {
  QFunction function;
  element::Quadrature quadrature; ///< on the cell, or on the facet (facet programs)
  int local_facet = -1;
  std::vector<FieldUse> inputs, outputs;
  std::shared_ptr<const element::Element> geometry; ///< of the cell map
  ProgramOptions options;
  std::shared_ptr<DenseTables> tables; ///< of programs with the same rule and elements; null: none are kept
};
TensorProgram build_program(const ProgramInput& input);

/// Exact operation count of one cell: additions, multiplications and divisions each 1 (so FMA = 2), loop-invariant
/// point-function nodes at the level where they are computed.
double count_flops(const TensorProgram& program);
/// Those of its contractions alone.
double count_contraction_flops(const TensorProgram& program);

/// The meaning of a program, one cell at a time.
struct CellData {
  std::vector<double> parameters, cell_coefficients;
  std::vector<double> map;                       ///< (mode, axis) in the order of map_modes
  std::vector<double> nodes;                     ///< geometry nodes, shape (node, axis)
  std::vector<double> stored_point, stored_cell; ///< shapes (point, slot), (slot)
  std::vector<double> reference_normal;
  std::vector<std::vector<double>> inputs; ///< per input field: shape (component, dof)
};
struct CellResult {
  std::vector<std::vector<double>> outputs; ///< per output field: shape (component, dof)
  double integral = 0;
  std::vector<double> stored_point, stored_cell;
};
CellResult interpret(const TensorProgram& program, const CellData& data);

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <rafter/element/element.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/kernel/contraction.hpp>
#include <rafter/kernel/qfunction.hpp>

namespace rafter::space {
struct ElementLayout;
}

/// Tensor programs describe what is computed for one cell, without regard to hardware: a short list of steps on named
/// arrays.
namespace rafter::kernel {

/// What the indices of an axis count.
enum class AxisKind : std::uint8_t {
  component,
  dof,  ///< degrees of freedom of a field, or nodes of the geometry
  pair, ///< pairs of a test and a trial function, test function first
  slot, ///< the values and derivatives that a dense table holds one after the other
  point,
  facet ///< facets of one shape that a cell has; the index is not looped over, but a number of the cell
};

/// An index set: arrays have axes, and matrices take one to another.
struct Axis {
  std::string name;
  AxisKind kind = AxisKind::dof;
  int extent = 0;
  int direction = -1; ///< reference axis along which dofs or points of a grid are counted; -1: all of the cell are
  /// Axes whose indices the extent depends on, and it for each of their values, the last fastest: r < R(p, q). `extent`
  /// is then the largest, and arrays leave the rest of it unused. Empty: the extent is always the same.
  std::vector<int> outer{}, extents{};
  bool operator==(const Axis&) const = default;
};

/// Row-major array; the first axis counts components. Axes are given by index.
struct TensorArray {
  std::string name;
  std::vector<int> axes;
  int table = -1; ///< number of the reference matrix whose numbers it holds; -1: steps make it
};

/// What the members of a family are. All but matrices have as many rows as columns, and are applied in place.
enum class FamilyKind : std::uint8_t {
  matrices,    ///< reference matrices
  butterflies, ///< sums and differences of the values that the reflections of a folding exchange
  weights,     ///< the diagonal of the quadrature weights
  masks        ///< diagonals of the factors of the entities on which dofs lie (EntityMask)
};

/// Matrices between axes of arrays: one takes numbers along `cols` to numbers along `rows`. Several axes, which stand
/// side by side in arrays, count as one, the last fastest. Which member it is, the indices along other axes of the
/// array say: of collapsed bases, the functions along an axis depend on those along the axes before.
struct MatrixFamily {
  std::vector<int> rows, cols;
  /// Numbers of matrices, foldings or masks of the program, for each value of `index`, the last axis fastest. There
  /// is one set of weights, number 0.
  std::vector<int> members;
  std::vector<int> index{}; ///< axes outside; empty: there is one member
  FamilyKind kind = FamilyKind::matrices;
  bool operator==(const MatrixFamily&) const = default;
  /// Position of `cols` among the axes of an array; -1 where they do not stand there side by side.
  int position_in(const TensorArray& array) const;
  /// The axes of what the family makes of an array.
  std::vector<int> axes_of_result(const TensorArray& source) const;
};

/// Even-odd decomposition by the reflections of a cell: points (or nodes) are ordered by sector, and butterflies
/// replace the values at points that reflections exchange by their sums and differences. The sector of a place is the
/// set of reflections, as bits, that change the sign of what the butterfly leaves there.
struct Folding {
  std::vector<int> places;       ///< place of each point
  std::vector<unsigned> sectors; ///< sector of each place, ascending
  /// Places of four exchanged points (a, b, c, d), which become (a+b+c+d, a-b+c-d, a+b-c-d, a-b-c+d).
  std::vector<std::array<int, 4>> quads;
  std::vector<std::array<int, 2>> pairs; ///< places of two exchanged points (a, b), which become (a+b, a-b)
  bool operator==(const Folding&) const = default;
};

enum class Symmetry : std::uint8_t {
  none,
  even, ///< M(r, k) =  M(R-1-r, K-1-k)
  odd   ///< M(r, k) = -M(R-1-r, K-1-k)
};

/// Reference matrix, shape (rows, cols), row-major. With `is_data`, kernels take it as an argument; otherwise its
/// numbers stand in their text. Dense tables of any size are arguments.
struct ReferenceMatrix {
  std::string name;
  int rows = 0, cols = 0;
  std::vector<double> values;
  Symmetry symmetry = Symmetry::none;
  bool is_data = false;
  /// Rows and columns of a block; all entries that are not 0 lie in blocks. Every row and every column belongs to
  /// exactly one block, and a block may have only rows or only columns. No blocks: the whole matrix is one.
  struct MatrixBlock {
    std::vector<int> rows, cols;
  };
  std::vector<MatrixBlock> blocks{};
  double operator()(int r, int k) const {
    return values[static_cast<std::size_t>(r) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(k)];
  }
};

enum class StepKind : std::uint8_t {
  read,     ///< target = numbers of the cell from outside, by an access
  contract, ///< target(.., r, ..) (+)= sum_k matrix(r, k) source(.., k, ..) by a family. Families that are no matrices
            ///< work in place: source and target are one
  multiply, ///< target (+)= sums of source times another array, by a product
  evaluate_cell, ///< the outputs of the QFunction that go to arrays without axes of points, which depend on the cell
                 ///< alone
  evaluate,      ///< the QFunction at every point, from input slots to output slots
  write          ///< numbers of the cell outside += source, by an access
};

/// Products of two arrays of the cell, the source of a step and a factor: of numbers with the same indices, summed over
/// all indices that the target has not; an index that the target alone has changes nothing. Components of the target
/// without a term become 0, unless the step adds.
struct Product {
  /// A product of a component of the source and one of the factor, which is added to a component of the target.
  struct Term {
    int target = 0, source = 0, factor = 0;
    bool operator==(const Term&) const = default;
  };
  int factor = -1; ///< array
  std::vector<Term> terms;
  /// The axes whose indices choose an entry of the source and of the factor, behind that of components: those of the
  /// array, or others of the same extents. One array of the functions of an element can so stand for those that are
  /// tested with and for those of the trial space.
  std::vector<int> source_axes, factor_axes;
  bool operator==(const Product&) const = default;
};

/// One step; members that its kind does not use keep their defaults. Accesses, arrays, families and products are given
/// by index.
struct Step {
  StepKind kind = StepKind::read;
  int access = -1;
  int source = -1, target = -1, family = -1;
  bool accumulate = false;
  int product = -1;
};

/// Extents of a contraction: source (outer, cols, inner), target (outer, rows, inner).
struct ContractionShape {
  int outer = 1, rows = 0, cols = 0, inner = 1;
};

/// Field that a program reads or writes.
struct FieldUse {
  AtomKind kind = AtomKind::reference_field; ///< reference_field or reference_trial (inputs), reference_test (outputs)
  int index = 0;                             ///< number of the field in the form
  int components = 1;
  std::shared_ptr<const element::Element> element;
  /// Element of the trial functions in outputs of programs for cell matrices; `components` then counts pairs of
  /// components. Null in all other outputs and inputs.
  std::shared_ptr<const element::Element> trial_element{};
  int vector = 0;       ///< number of the vector that holds its unknowns, among those of the inputs or of the outputs
  int pattern = 0;      ///< number of its gather pattern (BatchLayout); -1: cell matrices, which are not added up
  int num_dofs() const; ///< number of basis functions, or of pairs of them in cell matrices
};
inline auto members(const FieldUse& value) {
  const auto& [kind, index, components, element, trial_element, vector, pattern] = value;
  return std::tie(kind, index, components, element, trial_element, vector, pattern);
}

/// How a kernel finds its cells and their unknowns in memory.
struct BatchLayout {
  int cells_per_batch = 8; ///< cells of a batch, side by side in the data
  /// Distinct gather patterns of the fields. They belong to spaces, or to lists of the form whose kernels these are,
  /// and are read while a program is lowered.
  std::vector<const space::ElementLayout*> patterns{};
  /// Cells are those of lists (space::ListDofs), as those behind facets are: kernels read interior starts and strides
  /// per cell, and always add.
  bool has_lists = false;
  const space::ElementLayout& pattern(int number) const { return *patterns[static_cast<std::size_t>(number)]; }
  const space::ElementLayout& pattern_of(const FieldUse& use) const { return pattern(use.pattern); }
};
inline auto members(const BatchLayout& value) {
  const auto& [cells_per_batch, patterns, has_lists] = value;
  return std::tie(cells_per_batch, patterns, has_lists);
}

/// What a program reads or writes outside of its arrays.
enum class AccessKind : std::uint8_t {
  input,  ///< dofs of an input field
  output, ///< dofs of an output field, or its cell matrices
  nodes,  ///< nodes of the geometry
  stored  ///< numbers that set-up stores for the cell: it writes them, and the kernel that it is for reads them
};

/// The way between an array, shape (component, dof...), and memory outside.
struct Access {
  AccessKind kind = AccessKind::input;
  int field = 0; ///< position of the field among the inputs or outputs
  /// Place of each dof among the numbers of a component: of symmetric elements they stand by sectors of reflections,
  /// and the children of a cell fill one array. -1: another field has this dof, and the access leaves it alone. Either
  /// all dofs of an entity have places, or none has. Empty: the dofs fill the whole array in their order.
  /// For stored numbers it is the place of each entry of the array, of all components, among the numbers of the cell.
  /// Entries that are equal may have one place; -1: it is not written.
  std::vector<int> places{};
  int place_of(int dof) const { return places.empty() ? dof : places[static_cast<std::size_t>(dof)]; }
  bool operator==(const Access&) const = default;
};

/// Factors, 0 or 1, of the entities of a cell for the dofs of one field: which cell speaks for an entity that several
/// cells share, and which dofs are constrained. Dofs in the interior of the cell have no factor.
struct EntityMask {
  int access = 0;     ///< the access by which the dofs are read or written
  int components = 1; ///< 1: factors hold for all components of the field; else there is one for each
  /// Every entity has the factor 1 in one cell at most, so that a kernel may move what its cells own alone. Then so
  /// have all fields of that side, which are in one vector and, with places of their own, in one array without gaps.
  bool is_of_owners = false;
};

/// Position in `uses` of the field that has number `index` in the form. Throws InternalError when there is none.
std::size_t position_of(const std::vector<FieldUse>& uses, int index);

/// Entry of an array that the QFunction reads or writes at point q: index (component, q), or (component, slot, q) of
/// one that holds several slots.
struct Slot {
  int array = -1, component = 0, slot = 0;
};
struct InputSlot {
  Atom atom;
  Slot slot;
};

/// The computation for one cell: steps on arrays, with the QFunction and the tables that they use.
struct TensorProgram {
  /// The contraction that it was built by. Separable programs evaluate their QFunction at the nodes, where it combines
  /// products with 1D matrices.
  Contraction contraction = Contraction::collocated;
  int tdim = 0;
  std::vector<Axis> axes;
  /// Axes of the points, the last fastest: of a grid one along each reference axis, from the last to the first; else
  /// one.
  std::vector<int> point_axes;
  std::vector<std::vector<double>>
      grid; ///< coordinates of the points along each reference axis; empty: they are no grid
  /// Axis of the facets that a cell may be integrated over, of which it has one (CellData::facet); -1: these are cells.
  int facet_axis = -1;
  std::vector<double> points;  ///< points that are no grid, shape (facet, point, tdim)
  std::vector<double> weights; ///< quadrature weights, shape (facet, point)
  std::vector<FieldUse> inputs, outputs;
  BatchLayout batches;
  std::vector<Access> accesses;
  std::vector<EntityMask> masks;
  /// Element of an isoparametric map that the program evaluates; else null.
  std::shared_ptr<const element::Element> geometry;
  QFunction function;
  std::vector<InputSlot> input_slots;
  /// The destination of each of function.outputs (test and test_pair outputs; others have array -1).
  std::vector<Slot> output_slots;
  std::vector<TensorArray> arrays;
  std::vector<ReferenceMatrix> matrices;
  std::vector<MatrixFamily> families;
  std::vector<Folding> foldings;
  std::vector<Product> products;
  std::vector<Step> steps;
  int num_stored = 0; ///< numbers of a cell that accesses of kind stored read or write

  /// The field that an access reads or writes.
  const FieldUse& field_of(const Access& access) const {
    return (access.kind == AccessKind::output ? outputs : inputs)[static_cast<std::size_t>(access.field)];
  }
  const TensorArray& array(int i) const { return arrays[static_cast<std::size_t>(i)]; }
  const Axis& axis(int i) const { return axes[static_cast<std::size_t>(i)]; }
  const MatrixFamily& family(int i) const { return families[static_cast<std::size_t>(i)]; }
  const Step& step(int i) const { return steps[static_cast<std::size_t>(i)]; }
  const Product& product_of(const Step& step) const { return products[static_cast<std::size_t>(step.product)]; }
  /// Axes that a product sums over: those that source or factor have and the target has not.
  std::vector<int> summed_axes(const Step& step) const;
  /// The axes of points that an array has none of hold no index of it: the same number serves all points.
  bool has_points(int array) const;
  const Access& access(int i) const { return accesses[static_cast<std::size_t>(i)]; }
  const Access& access_of(const EntityMask& mask) const { return access(mask.access); }
  /// Says whether a step reads or writes by an access of this kind.
  bool moves(const Step& step, AccessKind kind) const { return step.access >= 0 && access(step.access).kind == kind; }
  /// Says whether the dofs of an access fill an array, in whatever order.
  bool fills(const Access& access, int array) const;
  /// Says whether a step is a contraction by a family of this kind.
  bool contracts(const Step& step, FamilyKind kind = FamilyKind::matrices) const {
    return step.kind == StepKind::contract && family(step.family).kind == kind;
  }
  /// The folding of a butterfly, the first of its family.
  const Folding& folding_of(const Step& step) const {
    return foldings[static_cast<std::size_t>(family(step.family).members.front())];
  }
  int extent(int axis) const { return axes[static_cast<std::size_t>(axis)].extent; }
  int num_components(int array) const; ///< extent of the first axis
  int num_entries(int array) const;    ///< numbers of one component
  int size(int array) const { return num_components(array) * num_entries(array); }
  int num_points() const; ///< number of all points, of one facet
  int num_facets() const { return facet_axis < 0 ? 1 : extent(facet_axis); }
  bool is_grid() const { return !grid.empty(); } ///< the points, or nodes of separable programs, form a grid
  /// Number of points along a reference axis of a grid.
  int points_along(int direction) const { return extent(point_axes[static_cast<std::size_t>(tdim - 1 - direction)]); }
  /// Says whether dofs, points or children are counted along axes of the cell, so that matrices are those of one axis.
  bool has_directions() const;
  /// Product of the extents of some axes.
  int product_of_extents(std::span<const int> of_axes) const;
  /// The name of the first member of a family.
  std::string name_of(const MatrixFamily& family) const;
  /// The matrix of a contraction, or the first of its family.
  const ReferenceMatrix& matrix_of(const Step& step) const {
    return matrices[static_cast<std::size_t>(families[static_cast<std::size_t>(step.family)].members.front())];
  }
  ContractionShape shape_of(const Step& step) const;
  /// Says whether the extent of an axis depends on other indices, or a matrix does, except by the facet of the cell.
  bool has_dependent_axes() const;
  using AxisIndices = std::vector<int>; ///< an index for each axis of the program
  /// Indices that are 0 but along the axis of facets.
  AxisIndices indices_of_facet(int facet) const;
  /// Calls f(indices) for all entries of a component that an array uses.
  void each_entry(const TensorArray& array, const std::function<void(const AxisIndices&)>& f) const;
  /// Extent of an axis at these indices along the others.
  int extent_at(int axis, const AxisIndices& at) const;
  const ReferenceMatrix& member_at(const MatrixFamily& family, const AxisIndices& at) const;
  /// Reference axis along which a contraction with a 1D matrix goes.
  int direction_of(const Step& step) const;
  std::string to_string() const;
  /// Throws InternalError unless indices are in range, extents match, arrays are written before they are read and every
  /// slot has an array.
  void verify() const;
};

/// Cache of dense tables, for programs that differ in their QFunctions and contractions alone.
class DenseTables;
std::shared_ptr<DenseTables> make_dense_tables();

/// The fields that a kernel evaluates and tests on a cell, and the rule by which it integrates, whatever its
/// QFunctions.
struct CellFields {
  element::Quadrature quadrature; ///< rule on the cell, or on the reference facet (facet programs)
  std::vector<int> local_facets;  ///< facets that a cell may be integrated over, all of one shape; empty: cells are
  std::vector<FieldUse> inputs, outputs;
  std::shared_ptr<const element::Element> geometry; ///< element of the cell map
  BatchLayout batches;
};
inline auto members(const CellFields& value) {
  const auto& [quadrature, local_facets, inputs, outputs, geometry, batches] = value;
  return std::tie(quadrature, local_facets, inputs, outputs, geometry, batches);
}
/// Says whether cells of a shape can be integrated on grids of points: it is a tensor shape, and the basis functions of
/// all fields are products of functions along its axes.
bool has_tensor_factors(element::Shape shape, const CellFields& fields);

/// All that a tensor program is made of.
struct ProgramInput {
  CellFields fields;
  QFunction function;
  Contraction contraction = Contraction::collocated; ///< without tensor factors, and on facets: dense
  std::shared_ptr<DenseTables> tables; ///< cache for programs with the same rule and elements; null: none is used
  bool shares_derivatives = true;      ///< Contraction::pointwise: test and trial functions of one element share theirs
};
TensorProgram build_program(const ProgramInput& input);

/// Exact number of operations for one cell. Additions, multiplications and divisions count 1 each (so FMA counts 2);
/// nodes of the QFunction are counted in the outermost loop that can compute them.
double count_flops(const TensorProgram& program);
/// Operations of the contractions alone.
double count_contraction_flops(const TensorProgram& program);

/// Data of one cell, as the interpreter takes them.
struct CellData {
  std::vector<double> parameters, cell_coefficients;
  std::vector<double> map;                       ///< map coefficients, shape (mode, axis), in the order of map_modes
  std::vector<double> nodes;                     ///< geometry nodes, shape (node, axis)
  std::vector<double> stored_point, stored_cell; ///< shapes (point, slot) and (slot)
  int facet = 0;                                 ///< position of the facet along TensorProgram::facet_axis
  std::vector<double> reference_normal;          ///< normal of that facet
  std::vector<std::vector<double>> inputs;       ///< unknowns for each input field, shape (component, dof)
  std::vector<std::vector<double>> masks; ///< factors of each mask, shape (component of the mask, dof of its field)
};
/// The results of a program for one cell.
struct CellResult {
  std::vector<std::vector<double>> outputs; ///< results for each output field, shape (component, dof)
  std::vector<double> integrals;            ///< shape (value)
  std::vector<double> stored_point, stored_cell;
};
/// Runs a program on one cell; this is the definition of what it means.
CellResult interpret(const TensorProgram& program, const CellData& data);

} // namespace rafter::kernel

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <rafter/schedule/context.hpp>
#include <rafter/schedule/point_stage.hpp>

/// Parts that nests are made of: access to vectors, contractions of lines, the loops of a batch. A batch holds
/// BatchLayout::cells_per_batch cells, in a loop, in items, or key::vector_width of them (a sub-batch) in SIMD lanes.
/// A pass handles one or several sub-batches, whose numbers stand side by side in work arrays.
namespace rafter::schedule {

/// The places of the dofs of a cell in a work array: component c of dof i is entry begin + c * component_stride +
/// dof_entries[i]. Arrays begin at 0, but for parts that items have of shared memory, where nodes and cell matrices may
/// stand.
struct Placement {
  std::vector<int> dof_entries;
  int component_stride = 0;
  NodePtr begin = integer(0);
};

/// The places of the dofs of an access in one component of an array, by itself.
Placement places_of_dofs(const kernel::TensorProgram& program, const kernel::Access& access, int array);

/// Loads the dofs of an input field into work buffer `target`.
void gather(Context& context, const kernel::Access& access, const std::string& target, const Placement& placement,
            Statements& to);
/// Adds work buffer `source` to the vector of an output field. In cell integrals that start a vector (mode_0 = 0), the
/// first batch that touches an entry stores instead of adding.
void scatter(Context& context, const kernel::Access& access, const std::string& source, const Placement& placement,
             Statements& to);
/// Multiplies the dofs of work buffer `target` that cells share by the factors of a mask of the program (role::mask).
void mask(Context& context, int number, const std::string& target, const Placement& placement, Statements& to);
/// Loads the geometry nodes of the batch into work buffer `target`.
void load_nodes(Context& context, const std::string& target, const Placement& placement, Statements& to);

/// Names, and returns, the number of the first entry of the matrices of an output field, among the entries of the
/// record of the batch, or where cells stand one after the other among those of the cell (writes_cell_by_cell).
NodePtr begin_of_matrices(Context& context, int field, Statements& to);
/// Place in memory of the entry with this number.
NodePtr place_of_matrix_entry(const Context& context, NodePtr number);

/// Announces the entries of its vector that the next batch is the first to touch, as a stream.
void announce(Context& context, const kernel::Access& access);

/// Adds prefetches of what gather and scatter of the next batch will access, spread over the loops of `body` that
/// compute most: all at once they would fill the request queue of the cache and stall.
void spread_prefetches(Context& context, Statements& body);

/// The statements of a batch around those of one pass over sub-batches: the loop over passes, and the row of data per
/// cell.
Statements whole_batch(Context& context, Statements of_pass);
/// The complete program around the statements of one pass over sub-batches: prefetches where the plan asks for them,
/// the loop over passes, and the row of data per cell.
LoopProgram finished(Context& context, Statements of_pass);

/// Product of a matrix with a line: one expression per row.
std::vector<NodePtr> products(const Context& context, const kernel::ReferenceMatrix& matrix,
                              const std::vector<NodePtr>& line);

/// A line of numbers as its even and odd halves: with k' the entry opposite to k, line[k] = factor (even[k] + odd[k])
/// and line[k'] = factor (even[k] - odd[k]). In lines of odd length the middle entry has no opposite (otherwise
/// `middle` is null). Between symmetric matrices applied one after the other, the halves need not be put together.
struct Halves {
  std::vector<NodePtr> even, odd;
  NodePtr middle;
  double factor = 0.5;
};
/// Says whether the plan applies the matrix by halves: matrices with even or odd symmetry and at least key::even_odd
/// columns (even-odd decomposition; Kopriva, Implementing Spectral Methods, 2009, 3.5.3).
bool goes_by_halves(const Context& context, const kernel::ReferenceMatrix& matrix);
Halves halves_of(Context& context, const std::vector<NodePtr>& line, Statements& to);
/// Product of a matrix with a line in halves; `factor` is that of the result.
Halves apply(Context& context, const kernel::ReferenceMatrix& matrix, const Halves& line, double factor,
             Statements& to);
/// The line as one expression per entry; the factor must be 1.
std::vector<NodePtr> line_of(const Halves& halves);

/// Emits a butterfly step: sums and differences of the dofs or points that reflections exchange, in place in work
/// buffer `array`, whose entries of the cell begin at `begin`.
void butterfly(Context& context, const kernel::Step& step, const std::string& array, const NodePtr& begin,
               Statements& to);
/// Calls f(places) for all places that reflections exchange with each other, two or four.
void each_orbit(const kernel::Folding& folding, const std::function<void(std::span<const int>)>& f);
/// Sums and differences of the values of an orbit.
std::vector<NodePtr> butterfly_of(Context& context, const std::vector<NodePtr>& values, Statements& to);

/// Product of a matrix with a line of numbers that are the same in all lanes: row r stands in lane r % lanes of vector
/// r / lanes. Lanes without a row are 0.
std::vector<NodePtr> apply_into_vectors(Context& context, const kernel::ReferenceMatrix& matrix,
                                        const std::vector<NodePtr>& line);

/// Says whether every entry of the dense table of a family is a constant of the text.
bool stands_in_text(const kernel::TensorProgram& program, const kernel::MatrixFamily& family, const Plan& plan);
/// Product with such a table, zeros left out. `entry`: the numbers that it is applied to, by column; `result` is called
/// with each row and its sum.
void product_in_text(const Context& context, const kernel::ReferenceMatrix& matrix,
                     const std::function<NodePtr(int col)>& entry,
                     const std::function<void(int row, NodePtr sum)>& result);
/// Rows of tables in memory that are summed at the same time, for every sub-batch that a pass takes.
int rows_at_a_time(const Plan& plan);
/// How many numbers of a matrix stand in packed_tables.
std::int64_t packed_size(const kernel::ReferenceMatrix& matrix, const Plan& plan);
/// A product with a table in memory, in blocks of rows whose sums stand in registers.
struct BlockedProduct {
  const kernel::ReferenceMatrix& matrix;
  std::string table;   ///< one of packed_tables
  NodePtr first_entry; ///< where the matrix begins there
  int rows = 1;        ///< most rows of a block
  std::string source;
  NodePtr first_source; ///< entry of column 0
  std::string target;
  NodePtr first_target; ///< entry of row 0
};
/// Takes all sub-batches of a pass together, so that each entry of the table is loaded once for all.
void product_in_blocks(Context& context, const BlockedProduct& product, Statements& to);

} // namespace rafter::schedule

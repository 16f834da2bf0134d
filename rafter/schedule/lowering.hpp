// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <rafter/schedule/context.hpp>
#include <rafter/schedule/point_stage.hpp>

/// Parts that the mappings for cells share: access to vectors, contractions of lines, the QFunction. A batch holds
/// LoweringInput::cells_per_batch cells; a mapping binds them to a loop over cells, or groups of Plan::vector_width of
/// them to SIMD lanes, in passes of one or several sub-batches, whose numbers then stand side by side in work arrays.
namespace rafter::schedule {

/// Where cell dofs stand in a work array: entry component * component_stride + dof_entries[dof].
struct Placement {
  std::vector<int> dof_entries;
  int component_stride = 0;
  static Placement dense(int num_dofs);
  /// Layers of `size` dofs, their begins `distance` apart.
  static Placement layers(int count, int size, int distance, int component_stride);
};

/// Loads the dofs of input field `field` into work buffer `target`.
void gather(Context& context, int field, const std::string& target, const Placement& placement, Statements& to);
/// Adds work buffer `source` to the output vector; the first batch that touches an entry stores it (cells, mode 0).
void scatter(Context& context, int field, const std::string& source, const Placement& placement, Statements& to);
/// Geometry nodes of the batch into `target`.
void load_nodes(Context& context, const std::string& target, const Placement& placement, Statements& to);

/// Fetches what gather and scatter of the next batch come to, spread over the loops of `body` that compute most: asked
/// for all at once it would fill the queue of the cache and be waited for.
void spread_prefetches(Context& context, Statements& body);

/// The program of what a pass over sub-batches does: requests ahead where the plan has them, the loop over passes, the
/// row of the data per cell.
LoopProgram finished(Context& context, Statements of_pass);

/// The numbers at base, base + stride, .. of a work array, in registers.
std::vector<NodePtr> load_line(Context& context, const std::string& array, const NodePtr& base, int count, int stride,
                               Statements& to);
/// Stores or adds them there.
void store_line(Context& context, const std::string& array, const NodePtr& base, int stride,
                const std::vector<NodePtr>& values, Statements& to, bool adds = false);
/// Entries of a work array from one layer of so many to the next: arrays whose planes lie 4 KiB apart fight for the
/// same cache sets.
int layer_distance(const Context& context, int entries);

/// matrix times a line: one expression per row. Matrices with symmetry are applied by halves (even-odd decomposition;
/// see Kopriva, Implementing Spectral Methods, 2009, 3.5.3) from Plan::even_odd columns on.
std::vector<NodePtr> apply_to_line(Context& context, const kernel::ReferenceMatrix& matrix,
                                   const std::vector<NodePtr>& line, Statements& to);

/// A line of numbers by halves: with k' the place opposite to k, line[k] = factor (even[k] + odd[k]) and
/// line[k'] = factor (even[k] - odd[k]); the place in the middle, if there is one, has no opposite (else null).
/// Matrices with symmetry applied one after the other need not put the halves together in between.
struct Halves {
  std::vector<NodePtr> even, odd;
  NodePtr middle;
  double factor = 0.5;
};
/// Whether the plan applies the matrix by halves.
bool goes_by_halves(const Context& context, const kernel::ReferenceMatrix& matrix);
Halves halves_of(Context& context, const std::vector<NodePtr>& line, Statements& to);
/// matrix times a line; `factor`: of the result.
Halves apply(Context& context, const kernel::ReferenceMatrix& matrix, const Halves& line, double factor,
             Statements& to);
/// The line, one expression per place; the factor must be 1.
std::vector<NodePtr> line_of(const Halves& halves);

/// A butterfly step: sums and differences of orbits, in place.
void butterfly(Context& context, const kernel::Step& step, Statements& to);

/// matrix times a line of numbers that all lanes take: row r is lane r % lanes of vector r / lanes. Lanes without a row
/// are 0.
std::vector<NodePtr> apply_into_vectors(Context& context, const kernel::ReferenceMatrix& matrix,
                                        const std::vector<NodePtr>& line);

/// A whole contraction step as loops over lines (1D matrices) or a register-blocked product (dense tables).
void contract(Context& context, const kernel::Step& step, Statements& to);
/// Whether it takes all sub-batches of a pass at a time, so that what is loaded of a table serves all of them.
bool takes_all_subbatches(const Context& context, const kernel::Step& step);

/// One step after the other, without fusion; steps that take single sub-batches, one after the other.
void lower_steps(Context& context, Statements& to);

} // namespace rafter::schedule

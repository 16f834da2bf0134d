// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/smoothed_aggregation.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/solve/aggregation.hpp>
#include <rafter/solve/chebyshev.hpp>
#include <rafter/solve/csr_products.hpp>
#include <rafter/solve/matrix_operator.hpp>

namespace rafter::solvers {
namespace {

constexpr std::int64_t least_aggregates = 64, least_nodes = 1024;

/// The nodes of each aggregate, as compressed rows.
struct Members {
  std::vector<std::int32_t> offsets, nodes; ///< shape (aggregate + 1), shape (offsets.back())

  explicit Members(const Aggregates& aggregates) : offsets(static_cast<std::size_t>(aggregates.count) + 1, 0) {
    for (const auto aggregate : aggregates.of_node)
      if (aggregate >= 0) ++offsets[static_cast<std::size_t>(aggregate) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    nodes.resize(static_cast<std::size_t>(offsets.back()));
    auto next = offsets;
    for (std::size_t node = 0; node < aggregates.of_node.size(); ++node)
      if (const auto aggregate = aggregates.of_node[node]; aggregate >= 0)
        nodes[static_cast<std::size_t>(next[static_cast<std::size_t>(aggregate)]++)] = static_cast<std::int32_t>(node);
  }
};

/// Orthonormal combinations of the modes on the unknowns of one aggregate.
struct LocalBasis {
  std::vector<std::int32_t> unknowns;
  std::vector<std::size_t> kept;            ///< modes that are independent of those before, shape (column)
  std::vector<std::vector<double>> columns; ///< shape (column, unknown)
};

/// Uses the Gram-Schmidt process, twice, since that is as accurate as Householder's reflections.
LocalBasis make_basis(const NearNullSpace& near_null_space, std::vector<std::int32_t> unknowns) {
  constexpr double least_share = 1e-8; // of a mode that is not a combination of those before
  LocalBasis result{.unknowns = std::move(unknowns), .kept = {}, .columns = {}};
  for (std::size_t m = 0; m < near_null_space.modes.size(); ++m) {
    std::vector<double> column;
    for (const auto unknown : result.unknowns)
      column.push_back(near_null_space.modes[m][static_cast<std::size_t>(unknown)]);
    const double before = std::sqrt(element::dot(column, column));
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& other : result.columns) {
        const double share = element::dot(column, other);
        for (std::size_t i = 0; i < column.size(); ++i) column[i] -= share * other[i];
      }
    const double norm = std::sqrt(element::dot(column, column));
    if (!(norm > least_share * before)) continue;
    for (auto& value : column) value /= norm;
    result.kept.push_back(m);
    result.columns.push_back(std::move(column));
  }
  return result;
}

std::vector<LocalBasis> make_bases(const NearNullSpace& near_null_space, const Aggregates& aggregates,
                                   const Nodes& nodes) {
  const Members members(aggregates);
  std::vector<LocalBasis> bases(static_cast<std::size_t>(aggregates.count));
  base::Parts(aggregates.count, least_aggregates).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto a = static_cast<std::size_t>(begin); a < static_cast<std::size_t>(end); ++a) {
      std::vector<std::int32_t> unknowns;
      for (auto k = members.offsets[a]; k < members.offsets[a + 1]; ++k) {
        const auto of_node = nodes.of(members.nodes[static_cast<std::size_t>(k)]);
        unknowns.insert(unknowns.end(), of_node.begin(), of_node.end());
      }
      bases[a] = make_basis(near_null_space, std::move(unknowns));
    }
  });
  return bases;
}

/// Columns of the prolongation that belong to an aggregate.
std::vector<std::int32_t> first_columns(const std::vector<LocalBasis>& bases) {
  std::vector<std::int32_t> result{0};
  for (const auto& basis : bases) result.push_back(result.back() + static_cast<std::int32_t>(basis.kept.size()));
  return result;
}

/// The same modes on the coarser level, where aggregates are the nodes.
NearNullSpace coarser(const NearNullSpace& fine, const std::vector<LocalBasis>& bases) {
  NearNullSpace result{.num_nodes = static_cast<std::int32_t>(bases.size()),
                       .node = {},
                       .component = {},
                       .modes = std::vector<std::vector<double>>(fine.modes.size()),
                       .mode_component = fine.mode_component};
  for (std::size_t a = 0; a < bases.size(); ++a)
    for (std::size_t column = 0; column < bases[a].kept.size(); ++column) {
      result.node.push_back(static_cast<std::int32_t>(a));
      result.component.push_back(fine.mode_component[bases[a].kept[column]]);
      for (std::size_t m = 0; m < fine.modes.size(); ++m) {
        double sum = 0;
        for (std::size_t i = 0; i < bases[a].unknowns.size(); ++i)
          sum += bases[a].columns[column][i] * fine.modes[m][static_cast<std::size_t>(bases[a].unknowns[i])];
        result.modes[m].push_back(sum);
      }
    }
  return result;
}

/// Makes rows of (I - f D^-1 F) T with the tentative prolongation T, where F is A with the entries between nodes that
/// are not strongly connected added to those of the row's own node, so that F and A map constants to the same, and D is
/// the diagonal of F.
class SmoothingRows {
public:
  SmoothingRows(const op::SparseMatrix& A, const Nodes& nodes, const StrongConnections& connections, double factor,
                const op::SparseMatrix& tentative, const ColumnGroups& groups)
      : A_(A), nodes_(nodes), connections_(connections), factor_(factor), tentative_(tentative),
        is_near_(static_cast<std::size_t>(nodes.count()), 0), sum_(groups) {}

  void append(std::size_t row, op::SparseMatrix& to) {
    sum_.restart(1);
    const auto node = nodes_.node[row];
    if (node >= 0 && connections_.is_coupled[static_cast<std::size_t>(node)] != 0) {
      mark(node, 1);
      find_row(row, node);
      mark(node, 0);
      std::ranges::sort(entries_, {}, &Entry::column);
      const auto own = std::ranges::find(entries_, static_cast<std::int32_t>(row), &Entry::column);
      constexpr double rounding = 1e-8; // share that may be left of a diagonal which the added entries have cancelled
      const double of_matrix = A_(static_cast<std::int64_t>(row), static_cast<std::int64_t>(row));
      const double diagonal = own != entries_.end() && own->value > rounding * of_matrix ? own->value : of_matrix;
      for (const auto& entry : entries_) {
        const double one = entry.column == static_cast<std::int32_t>(row) ? 1 : 0;
        const double factor = one - factor_ * entry.value / diagonal;
        sum_.add_multiples({&factor, 1}, tentative_, static_cast<std::size_t>(entry.column));
      }
    }
    sum_.append_sorted(to);
  }

private:
  struct Entry {
    std::int32_t column;
    double value;
  };

  void mark(std::int32_t node, std::uint8_t value) {
    is_near_[static_cast<std::size_t>(node)] = value;
    for (auto k = connections_.offsets[static_cast<std::size_t>(node)];
         k < connections_.offsets[static_cast<std::size_t>(node) + 1]; ++k)
      is_near_[static_cast<std::size_t>(connections_.neighbours[static_cast<std::size_t>(k)])] = value;
  }
  void find_row(std::size_t row, std::int32_t node) {
    entries_.clear();
    const auto in_row = row_entries(A_, row);
    for (auto k = in_row.begin; k < in_row.end; ++k)
      if (is_kept(A_.columns[k])) entries_.push_back({A_.columns[k], A_.values[k]});
    for (auto k = in_row.begin; k < in_row.end; ++k)
      if (!is_kept(A_.columns[k])) add_to_node(node, A_.columns[k], A_.values[k]);
  }
  bool is_kept(std::int32_t column) const {
    const auto other = nodes_.node[static_cast<std::size_t>(column)];
    return other < 0 || is_near_[static_cast<std::size_t>(other)] != 0 ||
           nodes_.component[static_cast<std::size_t>(column)] < 0;
  }
  void add_to_node(std::int32_t node, std::int32_t column, double value) {
    const auto component = nodes_.component[static_cast<std::size_t>(column)];
    for (const auto unknown : nodes_.of(node)) {
      if (nodes_.component[static_cast<std::size_t>(unknown)] != component) continue;
      const auto found = std::ranges::find(entries_, unknown, &Entry::column);
      if (found == entries_.end())
        entries_.push_back({unknown, value});
      else
        found->value += value;
      return;
    }
    entries_.push_back({column, value}); // the node has no such component: the entry stays where it is
  }

  const op::SparseMatrix& A_;
  const Nodes& nodes_;
  const StrongConnections& connections_;
  double factor_;
  const op::SparseMatrix& tentative_;
  std::vector<std::uint8_t> is_near_; ///< 1 for a node and those it is strongly connected to, shape (node)
  std::vector<Entry> entries_;
  BlockSum sum_;
};

/// Takes unknowns whose rows are diagonal out of their nodes, so that no prolongation writes to them: constrained
/// components of nodes whose other components are free, too. A smoother leaves residuals of zero there as they are.
void leave_out_diagonal_rows(const op::SparseMatrix& A, NearNullSpace& near_null_space) {
  base::Parts(A.num_rows(), least_nodes).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      const auto entries = row_entries(A, row);
      bool is_diagonal = true;
      for (auto k = entries.begin; k < entries.end && is_diagonal; ++k)
        is_diagonal = A.values[k] == 0 || A.columns[k] == static_cast<std::int32_t>(row);
      if (is_diagonal) near_null_space.node[row] = -1;
    }
  });
}

op::SparseMatrix smoothed(const op::SparseMatrix& tentative, const op::SparseMatrix& A, const Nodes& nodes,
                          const StrongConnections& connections, double factor) {
  const auto rows = row_parts(A.num_rows());
  const ColumnGroups groups(tentative);
  std::vector<op::SparseMatrix> parts(static_cast<std::size_t>(rows.count()));
  rows.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = parts[static_cast<std::size_t>(number)];
    part.row_offsets.push_back(0);
    SmoothingRows make(A, nodes, connections, factor, tentative, groups);
    for (auto row = begin; row < end; ++row) make.append(static_cast<std::size_t>(row), part);
  });
  return stacked(std::move(parts), tentative.num_columns);
}

} // namespace

AggregatedLevel tentative_prolongation(const NearNullSpace& near_null_space, const Aggregates& aggregates,
                                       const Nodes& nodes) {
  const auto bases = make_bases(near_null_space, aggregates, nodes);
  const auto firsts = first_columns(bases);
  const std::size_t num_rows = near_null_space.node.size();
  op::SparseMatrix P{.num_columns = firsts.back(),
                     .row_offsets = std::vector<std::int64_t>(num_rows + 1, 0),
                     .columns = {},
                     .values = {}};
  for (const auto& basis : bases)
    for (const auto unknown : basis.unknowns)
      P.row_offsets[static_cast<std::size_t>(unknown) + 1] = static_cast<std::int64_t>(basis.kept.size());
  std::partial_sum(P.row_offsets.begin(), P.row_offsets.end(), P.row_offsets.begin());
  P.columns.resize(static_cast<std::size_t>(P.row_offsets.back()));
  P.values.resize(P.columns.size());
  for (std::size_t a = 0; a < bases.size(); ++a)
    for (std::size_t i = 0; i < bases[a].unknowns.size(); ++i) {
      auto place = static_cast<std::size_t>(P.row_offsets[static_cast<std::size_t>(bases[a].unknowns[i])]);
      for (std::size_t column = 0; column < bases[a].kept.size(); ++column, ++place) {
        P.columns[place] = firsts[a] + static_cast<std::int32_t>(column);
        P.values[place] = bases[a].columns[column][i];
      }
    }
  return {std::move(P), coarser(near_null_space, bases)};
}

namespace {

/// Throws EnvironmentError where this machine lacks the memory for P^T and A P beside what the process holds now.
void require_memory(const op::SparseMatrix& A, const op::SparseMatrix& P) {
  constexpr double entry_bytes = sizeof(double) + sizeof(std::int32_t);
  const auto held = base::process_memory();
  const double needed = entry_bytes * (static_cast<double>(P.num_entries()) + estimate_entries(A, P)),
               all = needed + (held ? static_cast<double>(held->resident_bytes) : 0),
               memory = mesh::available_memory_bytes();
  if (all <= memory) return;
  throw base::EnvironmentError(
      fmt::format("algebraic multigrid takes {:.3g} GB more for the level below {} unknowns, {:.3g} GB in all; this "
                  "machine has {:.3g} GB: use preconditioner \"multigrid\" or \"jacobi\", which have no matrices",
                  1e-9 * needed, A.num_rows(), 1e-9 * all, 1e-9 * memory));
}

/// Returns the null space of a coarse level: the coefficients T^T n of the null vectors n of the finer one in the
/// orthonormal columns of T. Smoothing keeps constants; where it has changed a rotation, the coarse matrix is regular
/// in that direction, and the vector is none. Null: the level is regular.
std::shared_ptr<const NullSpace> coarser(const NullSpace* fine, const op::SparseMatrix& tentative,
                                         const op::LinearOperator& coarse) {
  constexpr double rounding = 1e-8;
  if (fine == nullptr) return nullptr;
  const VectorOps ops(coarse);
  const auto transpose = transposed(tentative);
  const Vector scaling = inverse_diagonal(coarse);
  std::vector<Vector> vectors;
  for (const auto& n : fine->basis()) {
    Vector c(coarse.device(), static_cast<std::size_t>(coarse.size()));
    Vector image(coarse.device(), c.size()), scaled(coarse.device(), c.size());
    transpose.multiply(n.host_read(), c.host_overwrite());
    coarse.apply(c, image);
    ops.multiply(scaling, image, scaled);
    if (ops.norm(scaled) <= rounding * ops.norm(c)) vectors.push_back(std::move(c));
  }
  return vectors.empty() ? nullptr : std::make_shared<const NullSpace>(coarse.device(), std::move(vectors));
}

} // namespace

double largest_scaled_eigenvalue(const op::LinearOperator& A, const NullSpace* null_space) {
  const NullSpace none;
  const int steps = ChebyshevParameters().estimate_iterations;
  return estimate_eigenvalues(A, inverse_diagonal(A), steps, null_space != nullptr ? *null_space : none, 1, true)
      .largest;
}

std::vector<MultigridLevel> aggregated_levels(const op::LinearOperator& finest, op::SparseMatrix A,
                                              NearNullSpace near_null_space, const AggregationParameters& parameters,
                                              std::shared_ptr<const NullSpace> null_space) {
  constexpr double least_gain = 0.9; // a level must have fewer unknowns than this share of those above
  const base::ThreadLimit limit(finest.device()->num_threads());
  std::vector<MultigridLevel> levels;
  std::shared_ptr<const MatrixOperator> above;
  while (static_cast<int>(levels.size()) < parameters.most_levels) {
    const op::LinearOperator& of_level = above ? static_cast<const op::LinearOperator&>(*above) : finest;
    const auto& matrix = above ? above->matrix() : A;
    if (matrix.num_rows() <= parameters.enough_unknowns) break;
    leave_out_diagonal_rows(matrix, near_null_space);
    const auto nodes = make_nodes(near_null_space.num_nodes, near_null_space.node, near_null_space.component);
    const auto connections = find_strong_connections(matrix, nodes, parameters.threshold);
    auto next = tentative_prolongation(near_null_space, make_aggregates(connections), nodes);
    if (next.P.num_columns == 0 ||
        static_cast<double>(next.P.num_columns) > least_gain * static_cast<double>(matrix.num_rows()))
      break;
    double largest = parameters.largest_eigenvalue;
    if (above || largest == 0) largest = largest_scaled_eigenvalue(of_level, null_space.get());
    if (above) levels.back().largest_eigenvalue = largest;
    auto P = smoothed(next.P, matrix, nodes, connections, parameters.damping / largest);
    require_memory(matrix, P);
    auto P_transposed = transposed(P);
    auto coarse = std::make_shared<const MatrixOperator>(finest.device(), galerkin_product(matrix, P, P_transposed));
    null_space = coarser(null_space.get(), next.P, *coarse);
    levels.push_back(
        {.A = coarse,
         .to_finer = std::make_shared<const MatrixTransfer>(finest.device(), std::move(P), std::move(P_transposed)),
         .null_space = null_space,
         .name = fmt::format("aggregates {}", levels.size() + 1)});
    near_null_space = std::move(next.near_null_space);
    above = std::move(coarse);
    A = {}; // the matrix of the finest level is needed no more
  }
  std::ranges::reverse(levels);
  return levels;
}

} // namespace rafter::solvers

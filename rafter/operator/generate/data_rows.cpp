// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/data_rows.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <unordered_map>

#include <fmt/format.h>
#include <rafter/base/content.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/space/discretisation.hpp>

namespace rafter::op {

namespace {

/// The geometry of the cells of a batch: nodes relative to the first node of each cell, shape (cell, node, axis), and
/// the numbers per cell.
struct Outline {
  std::vector<double> offsets;
  std::vector<double> bounds; ///< tolerance of the offsets, shape (cell)
  std::vector<double> coefficients;
  std::int32_t facet = 0; ///< BatchedCells::facets; 0 for cells
};

/// Measures the outlines of batches and compares them. Several threads may ask.
class Outlines {
public:
  Outlines(const mesh::Mesh& mesh, const BatchedCells& cells, const CellCoefficients& coefficients)
      : mesh_(mesh), group_(mesh.groups[static_cast<std::size_t>(cells.group)]), cells_(cells),
        num_nodes_(static_cast<std::size_t>(mesh::geometry_element(group_)->num_dofs())),
        nodes_(distinguishing_nodes()), dim_(static_cast<std::size_t>(mesh.gdim)),
        cells_per_batch_(static_cast<std::size_t>(cells.cells_per_batch)), coefficients_(coefficients.values(cells)),
        num_coefficients_(static_cast<std::size_t>(coefficients.count())),
        weights_(key_weights(cells_per_batch_ * nodes_.size() * dim_)) {}

  void measure(std::int32_t batch, Outline& outline) const {
    outline.offsets.resize(cells_per_batch_ * nodes_.size() * dim_);
    outline.bounds.resize(cells_per_batch_);
    if (dim_ == 3)
      measure_cells<3>(batch, outline);
    else if (dim_ == 2)
      measure_cells<2>(batch, outline);
    else
      measure_cells<1>(batch, outline);
    const auto* begin = coefficients_.data() + static_cast<std::size_t>(batch) * num_coefficients_ * cells_per_batch_;
    outline.coefficients.assign(begin, begin + num_coefficients_ * cells_per_batch_);
    outline.facet = facet_of(batch);
  }

  bool are_equal(const Outline& a, const Outline& b) const {
    if (a.coefficients != b.coefficients || a.facet != b.facet) return false;
    const std::size_t per_cell = nodes_.size() * dim_;
    for (std::size_t cell = 0; cell < cells_per_batch_; ++cell) {
      const double bound = std::min(a.bounds[cell], b.bounds[cell]);
      const double* own = a.offsets.data() + cell * per_cell;
      const double* others = b.offsets.data() + cell * per_cell;
      std::size_t num_near = 0; // the loop counts instead of ending early, so that the compiler can vectorise it
      for (std::size_t i = 0; i < per_cell; ++i) num_near += std::abs(own[i] - others[i]) <= bound ? 1 : 0;
      if (num_near != per_cell) return false;
    }
    return true;
  }

  /// Key that is equal for most equal outlines; where rounding makes it differ, the batches get a row each. The quantum
  /// is far above rounding, and no ratio of usual lengths lies half way between two multiples.
  std::size_t key(const Outline& outline) const {
    constexpr double quanta_per_size = 731058.5786;
    double size = 0;
    for (const double offset : outline.offsets) size = std::max(size, std::abs(offset));
    const double scale = size > 0 ? quanta_per_size / size : 0;
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < outline.offsets.size(); ++i) { // terms do not wait for each other
      const double quanta = outline.offsets[i] * scale;
      result +=
          weights_[i] * static_cast<std::uint64_t>(static_cast<std::int64_t>(quanta < 0 ? quanta - 0.5 : quanta + 0.5));
    }
    for (const double value : outline.coefficients)
      result = (result ^ std::hash<double>()(value)) * 0x9e3779b97f4a7c15ULL;
    result += static_cast<std::uint64_t>(outline.facet) * 0x9e3779b97f4a7c15ULL;
    return result ^ result >> 32;
  }

  std::int32_t facet_of(std::int32_t batch) const {
    return cells_.is_facet() ? cells_.facets[static_cast<std::size_t>(batch)] : 0;
  }
  std::span<const std::int32_t> cells_of(std::int32_t batch) const {
    return cells_.cells.subspan(static_cast<std::size_t>(batch) * cells_per_batch_, cells_per_batch_);
  }

private:
  /// The compiler knows the dimension, so that loops over axes are unrolled.
  template <std::size_t dim> void measure_cells(std::int32_t batch, Outline& outline) const {
    double* offset = outline.offsets.data();
    double* bound = outline.bounds.data();
    const auto* all_nodes = group_.nodes().data();
    const auto* points = mesh_.points.data();
    for (const auto cell : cells_of(batch)) {
      const auto* nodes = all_nodes + static_cast<std::size_t>(cell) * num_nodes_;
      const double* first = points + static_cast<std::size_t>(nodes[nodes_[0]]) * dim;
      std::array<double, dim> sizes{}, largest{};
      for (const auto n : nodes_) {
        const double* x = points + static_cast<std::size_t>(nodes[n]) * dim;
        for (std::size_t a = 0; a < dim; ++a) {
          offset[a] = x[a] - first[a];
          sizes[a] = std::max(sizes[a], std::abs(offset[a]));
          largest[a] = std::max(largest[a], std::abs(x[a]));
        }
        offset += dim;
      }
      *bound++ = tolerance * *std::ranges::max_element(sizes) +
                 4 * std::numeric_limits<double>::epsilon() * *std::ranges::max_element(largest);
    }
  }

  /// Relative to the size of a cell, as in mesh::BatchOptions::affine_tolerance.
  static constexpr double tolerance = 1e-12;

  /// Returns the local nodes that determine the map of a cell, the first one at vertex 0. Affine maps are determined by
  /// the vertices along the axes.
  std::vector<std::size_t> distinguishing_nodes() const {
    std::vector<std::size_t> nodes(num_nodes_);
    std::iota(nodes.begin(), nodes.end(), std::size_t{0});
    if (cells_.map != mesh::MapKind::cartesian && cells_.map != mesh::MapKind::affine) return nodes;
    const auto element = mesh::geometry_element(group_);
    nodes = {static_cast<std::size_t>(element->entity_dofs(0, 0)[0])};
    for (int axis = 0; axis < mesh_.tdim; ++axis)
      nodes.push_back(static_cast<std::size_t>(element->entity_dofs(0, element::axis_vertex(group_.shape, axis))[0]));
    return nodes;
  }

  /// Odd numbers by which the offsets of a batch count in a key.
  static std::vector<std::uint64_t> key_weights(std::size_t count) {
    std::vector<std::uint64_t> result;
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < count; ++i) result.push_back(random() | 1);
    return result;
  }

  const mesh::Mesh& mesh_;
  const mesh::CellGroup& group_;
  const BatchedCells& cells_;
  std::size_t num_nodes_;
  std::vector<std::size_t> nodes_; ///< local numbers of the nodes that are compared
  std::size_t dim_, cells_per_batch_;
  base::AlignedVector<double> coefficients_; ///< shape (batch, coefficient, cell)
  std::size_t num_coefficients_;
  std::vector<std::uint64_t> weights_; ///< weight of each offset of a batch in a key
};

/// The different outlines among some batches, each known by the first batch that has it.
class Rows {
public:
  explicit Rows(const Outlines& outlines) : outlines_(&outlines) {}

  /// Returns the row of a batch, which is a new one where no row fits.
  std::int32_t row(std::int32_t batch) {
    outlines_->measure(batch, outline_);
    return row(batch, outline_);
  }
  std::int32_t row(std::int32_t batch, const Outline& outline) {
    if (last_ < rows_.size() && outlines_->are_equal(outline, rows_[last_].outline))
      return static_cast<std::int32_t>(last_);
    const auto own_key = outlines_->key(outline);
    const auto [first, end] = rows_of_key_.equal_range(own_key);
    for (auto candidate = first; candidate != end; ++candidate)
      if (outlines_->are_equal(outline, rows_[candidate->second].outline))
        return static_cast<std::int32_t>(last_ = candidate->second);
    last_ = rows_.size();
    rows_of_key_.emplace(own_key, last_);
    rows_.push_back({batch, outline});
    return static_cast<std::int32_t>(last_);
  }
  /// Takes the rows of others over. Returns the row that each of them is here.
  std::vector<std::int32_t> take(const Rows& others) {
    std::vector<std::int32_t> result;
    for (const auto& other : others.rows_) result.push_back(row(other.batch, other.outline));
    return result;
  }

  std::size_t count() const { return rows_.size(); }
  std::int32_t batch(std::size_t row) const { return rows_[row].batch; }

private:
  struct Row {
    std::int32_t batch;
    Outline outline;
  };
  const Outlines* outlines_;
  Outline outline_; ///< outline of the batch that was measured last
  std::vector<Row> rows_;
  std::unordered_multimap<std::size_t, std::size_t> rows_of_key_;
  std::size_t last_ = 0; ///< row that was found last, which most often fits the next batch, too
};

/// Returns rows without cells where they hardly repeat, or are too many to pay. Parts of the batches, the same for any
/// number of threads, find their rows by themselves, and the first part to have a row gives it its number.
DataRows find_rows(const mesh::Mesh& mesh, const BatchedCells& cells, const CellCoefficients& coefficients) {
  constexpr std::int32_t trial_batches = 1024;
  // More cells in rows do not fit into caches, and cost as much as they save.
  const auto most_rows = static_cast<std::size_t>(32768 / cells.cells_per_batch);
  const Outlines outlines(mesh, cells, coefficients);
  DataRows result;
  result.cells_per_batch = cells.cells_per_batch;
  result.of_batch.resize(static_cast<std::size_t>(cells.num_batches));
  const auto find = [&](Rows& rows, std::int64_t begin, std::int64_t end) {
    for (std::int64_t batch = begin; batch < end && rows.count() <= most_rows; ++batch)
      result.of_batch[static_cast<std::size_t>(batch)] = rows.row(static_cast<std::int32_t>(batch));
  };
  Rows rows(outlines);
  const std::int32_t first = std::min(cells.num_batches, trial_batches);
  find(rows, 0, first);
  if (rows.count() > most_rows) return {}; // and not all batches have been looked at
  if (cells.num_batches > trial_batches && 2 * rows.count() > trial_batches) return {};
  constexpr std::int32_t part_length = 2048, most_at_a_time = 16 * part_length; // outlines of parts take memory
  for (std::int32_t begin = first; begin < cells.num_batches; begin += most_at_a_time) {
    const base::Parts parts(std::min(cells.num_batches - begin, most_at_a_time), part_length);
    std::vector<Rows> of_parts(static_cast<std::size_t>(parts.count()), Rows(outlines));
    parts.run([&](std::int64_t from, std::int64_t to, std::int64_t part) {
      find(of_parts[static_cast<std::size_t>(part)], begin + from, begin + to);
    });
    std::vector<std::vector<std::int32_t>> numbers; // shape (part, row of the part)
    for (const auto& of_part : of_parts) numbers.push_back(rows.take(of_part));
    if (rows.count() > most_rows) return {};
    parts.run([&](std::int64_t from, std::int64_t to, std::int64_t part) {
      for (std::int64_t batch = begin + from; batch < begin + to; ++batch) {
        auto& row = result.of_batch[static_cast<std::size_t>(batch)];
        row = numbers[static_cast<std::size_t>(part)][static_cast<std::size_t>(row)];
      }
    });
  }
  for (std::size_t row = 0; row < rows.count(); ++row) {
    const auto of_row = outlines.cells_of(rows.batch(row));
    result.cells.insert(result.cells.end(), of_row.begin(), of_row.end());
    if (cells.is_facet()) result.facets.push_back(outlines.facet_of(rows.batch(row)));
  }
  return result;
}

} // namespace

BatchedCells DataRows::representatives(const BatchedCells& all) const {
  if (cells.empty()) return all;
  BatchedCells result = all;
  result.cells = cells;
  result.facets = facets;
  result.active = {}; // what repeats a cell in one batch may be a cell of its own in another one
  result.num_batches = count();
  result.num_items = static_cast<std::int32_t>(cells.size());
  return result;
}

DataRows one_row_each(const BatchedCells& cells) {
  DataRows result;
  result.cells_per_batch = cells.cells_per_batch;
  result.of_batch.resize(static_cast<std::size_t>(cells.num_batches));
  std::iota(result.of_batch.begin(), result.of_batch.end(), 0);
  return result;
}

DataRows make_data_rows(const mesh::Mesh& mesh, const BatchedCells& cells, const CellCoefficients& coefficients,
                        bool reads_position) {
  if (!reads_position && cells.num_batches > 0) {
    auto shared = find_rows(mesh, cells, coefficients);
    if (!shared.cells.empty()) return shared;
  }
  return one_row_each(cells);
}

std::shared_ptr<const DataRows> shared_data_rows(const space::Discretisation& discretisation, const BatchedCells& cells,
                                                 const CellCoefficients& none) {
  const auto key = fmt::format(
      "group {} {} batches {} of {} items {} cells {} facets {}", cells.group, mesh::name(cells.map), cells.num_batches,
      cells.cells_per_batch, cells.num_items, base::content_hash(base::content_text(cells.cells)),
      base::content_hash(base::content_text(cells.local_facets) + base::content_text(cells.facets)));
  return discretisation.shared().get<DataRows>(
      key, [&] { return make_data_rows(discretisation.mesh(), cells, none, false); });
}

} // namespace rafter::op

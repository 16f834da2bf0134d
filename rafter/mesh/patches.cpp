// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/patches.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <rafter/base/parallel.hpp>
#include <rafter/mesh/cell_batches.hpp>

namespace rafter::mesh {

namespace {

/// Neighbours of the cells of a group along parallel axes: the upper one sees the vertices of the common facet in the
/// same order as the lower one. So its vertex 0 is the one where the lower cell's axis ends, and cells are found by
/// their vertices 0.
class Neighbours {
public:
  Neighbours(const Mesh& mesh, int group)
      : vertices_(mesh.groups[group].vertices), dim_(element::dimension(mesh.groups[group].shape)),
        num_vertices_(std::size_t{1} << dim_), first_(static_cast<std::size_t>(mesh.num_vertices), -1),
        next_(mesh.groups[group].tags.size()), across_(next_.size() * 2 * static_cast<std::size_t>(dim_), -1) {
    for (std::size_t cell = next_.size(); cell-- > 0;) {
      auto& first = first_[static_cast<std::size_t>(vertices_[cell * num_vertices_])];
      next_[cell] = std::exchange(first, static_cast<std::int32_t>(cell));
    }
    const auto num_cells = static_cast<std::int64_t>(next_.size());
    base::Parts(num_cells).run([this](std::int64_t begin, std::int64_t end, std::int64_t) {
      for (auto cell = static_cast<std::int32_t>(begin); cell < end; ++cell)
        for (int axis = 0; axis < dim_; ++axis) across_[place(cell, axis, 1)] = find_above(cell, axis);
    });
    for (std::int32_t cell = 0; cell < num_cells; ++cell)
      for (int axis = 0; axis < dim_; ++axis)
        if (const auto above = beside(cell, axis, 1); above >= 0) across_[place(above, axis, 0)] = cell;
  }
  int dim() const { return dim_; }

  /// Returns the cell across the facet at this end (0, 1) of an axis; -1 if there is none with parallel axes.
  std::int32_t beside(std::int32_t cell, int axis, int side) const { return across_[place(cell, axis, side)]; }

private:
  std::int32_t find_above(std::int32_t cell, int axis) const {
    const auto end = vertices_of(cell)[std::size_t{1} << axis];
    auto other = first_[static_cast<std::size_t>(end)];
    while (other >= 0 && !continues(cell, other, axis)) other = next_[static_cast<std::size_t>(other)];
    return other;
  }
  bool continues(std::int32_t below, std::int32_t above, int axis) const {
    const std::size_t bit = std::size_t{1} << axis;
    const auto here = vertices_of(below), there = vertices_of(above);
    for (std::size_t v = 0; v < num_vertices_; ++v)
      if ((v & bit) != 0 && here[v] != there[v ^ bit]) return false;
    return true;
  }
  std::span<const std::int32_t> vertices_of(std::int32_t cell) const {
    return vertices_.subspan(static_cast<std::size_t>(cell) * num_vertices_, num_vertices_);
  }
  std::size_t place(std::int32_t cell, int axis, int side) const {
    return 2 * (static_cast<std::size_t>(cell) * static_cast<std::size_t>(dim_) + static_cast<std::size_t>(axis)) +
           static_cast<std::size_t>(side);
  }
  std::span<const std::int32_t> vertices_; ///< vertices of the cells, shape (cell, vertex)
  int dim_;
  std::size_t num_vertices_;         ///< number of vertices of a cell
  std::vector<std::int32_t> first_;  ///< first cell with this vertex 0, shape (vertex); -1: none
  std::vector<std::int32_t> next_;   ///< next cell with the same vertex 0, shape (cell); -1: none
  std::vector<std::int32_t> across_; ///< neighbours, shape (cell, axis, side); -1: none
};

/// Converts numbers below width^dim to places along the axes and back.
class Lattice {
public:
  Lattice(int dim, int width) : dim_(dim), width_(width) {}
  std::size_t size() const { return number({width_ - 1, width_ - 1, width_ - 1}) + 1; }
  std::array<int, 3> place(std::size_t number) const {
    std::array<int, 3> result{};
    for (int a = 0; a < dim_; ++a, number /= static_cast<std::size_t>(width_))
      result[a] = static_cast<int>(number % static_cast<std::size_t>(width_));
    return result;
  }
  std::size_t number(const std::array<int, 3>& place) const {
    std::size_t result = 0;
    for (int a = dim_; a-- > 0;)
      result = result * static_cast<std::size_t>(width_) + static_cast<std::size_t>(place[a]);
    return result;
  }

private:
  int dim_, width_;
};

/// Arrangement of the cells of a patch and of their vertices.
class PatchShape {
public:
  PatchShape(int dim, int width) : num_points_(Lattice(dim, width + 1).size()) {
    const Lattice cells(dim, width), points(dim, width + 1), corners(dim, 2);
    for (std::size_t child = 0; child < cells.size(); ++child) {
      const auto place = cells.place(child);
      for (std::size_t v = 0; v < corners.size(); ++v) {
        auto point = place;
        for (int a = 0; a < dim; ++a) point[a] += corners.place(v)[a];
        points_.push_back(points.number(point));
      }
      if (child == 0) continue;
      auto before = place;
      int axis = 0;
      while (before[axis] == 0) ++axis;
      --before[axis];
      steps_.push_back({cells.number(before), axis});
    }
  }

  /// All children of the patch that begins with cell `first`; empty when some do not exist.
  std::vector<std::int32_t> children(const Neighbours& neighbours, std::int32_t first) const {
    std::vector<std::int32_t> result{first};
    for (const auto& [before, axis] : steps_) {
      result.push_back(neighbours.beside(result[before], axis, 1));
      if (result.back() < 0) return {};
    }
    return result;
  }
  /// Says whether the vertices of the children form a lattice, with one vertex at each point and no two of them
  /// identified.
  bool is_lattice(const Mesh& mesh, const CellGroup& group, std::span<const std::int32_t> children) {
    vertices_.assign(num_points_, -1);
    const std::size_t num_corners = points_.size() / children.size();
    for (std::size_t child = 0; child < children.size(); ++child)
      for (std::size_t v = 0; v < num_corners; ++v) {
        const std::int32_t vertex = group.vertices[static_cast<std::size_t>(children[child]) * num_corners + v];
        auto& known = vertices_[points_[child * num_corners + v]];
        if (known >= 0 && known != vertex) return false;
        known = vertex;
      }
    for (auto& vertex : vertices_) vertex = mesh.surface().vertex_representative(vertex);
    std::ranges::sort(vertices_);
    return std::ranges::adjacent_find(vertices_) == vertices_.end();
  }

private:
  struct Step {
    std::size_t before; ///< child on the lower side of the step
    int axis;
  };
  std::size_t num_points_;
  std::vector<std::size_t> points_; ///< lattice point of each vertex, shape (child, corner)
  std::vector<Step> steps_;         ///< steps to all children but the first
  std::vector<std::int32_t> vertices_;
};

/// Places of cells along the axes, modulo the width of a patch, counted from the lower end of the structured part to
/// which a cell belongs. Patches begin at cells where all places are 0.
class Places {
public:
  Places(const Neighbours& neighbours, std::size_t num_cells, int width)
      : neighbours_(neighbours), width_(width), place_(num_cells, {-1, 0, 0}) {}

  void spread_from(std::int32_t seed) {
    if (is_known(seed)) return;
    for (int axis = 0; axis < neighbours_.dim(); ++axis) seed = lower_end(seed, axis);
    place_[seed] = {0, 0, 0};
    std::vector<std::int32_t> waiting{seed};
    while (!waiting.empty()) {
      const auto cell = waiting.back();
      waiting.pop_back();
      // Neighbours along the first axis, which tend to be neighbours in memory, are visited first.
      for (int axis = neighbours_.dim(); axis-- > 0;)
        for (int side = 0; side < 2; ++side) {
          const auto other = neighbours_.beside(cell, axis, side);
          if (other < 0 || is_known(other)) continue;
          place_[other] = place_[cell];
          auto& along = place_[other][axis];
          along = static_cast<std::int8_t>((along + (side == 0 ? width_ - 1 : 1)) % width_);
          waiting.push_back(other);
        }
    }
  }
  bool is_first(std::int32_t cell) const { return place_[cell] == std::array<std::int8_t, 3>{0, 0, 0}; }

private:
  bool is_known(std::int32_t cell) const { return place_[cell][0] >= 0; }
  /// The cell at the lower end of the row of cells through `cell`; `cell` itself where the row is a ring.
  std::int32_t lower_end(std::int32_t cell, int axis) const {
    std::int32_t end = cell;
    for (std::int32_t next; (next = neighbours_.beside(end, axis, 0)) >= 0; end = next)
      if (next == cell) return cell;
    return end;
  }
  const Neighbours& neighbours_;
  int width_;
  std::vector<std::array<std::int8_t, 3>> place_; ///< shape (cell, axis); -1 at the first axis: not known
};

} // namespace

std::vector<std::int32_t> find_patches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int width) {
  const auto& all = mesh.groups[group];
  if (!element::is_tensor(all.shape) || element::dimension(all.shape) < 2 || width < 2) return {};
  const Neighbours neighbours(mesh, group);
  Places places(neighbours, all.tags.size(), width);
  for (const auto cell : cells) places.spread_from(cell);
  PatchShape shape(element::dimension(all.shape), width);
  std::vector<bool> is_free(all.tags.size());
  for (const auto cell : cells) is_free[cell] = true;
  std::vector<std::int32_t> result;
  for (const auto first : cells) {
    if (!places.is_first(first)) continue;
    const auto patch = shape.children(neighbours, first);
    const bool is_ours = std::ranges::all_of(patch, [&](std::int32_t cell) { return is_free[cell]; });
    if (patch.empty() || !is_ours || !shape.is_lattice(mesh, all, patch)) continue;
    for (const auto cell : patch) is_free[cell] = false;
    result.insert(result.end(), patch.begin(), patch.end());
  }
  return result;
}

namespace {

/// Receives cells and patches in visiting order, and forms batches.
class Batches {
public:
  Batches(std::span<const std::int32_t> patches, std::size_t patch_size, int cells_per_batch)
      : patches_(patches), size_(patch_size), cells_per_batch_(static_cast<std::size_t>(cells_per_batch)) {}

  void take_cell(std::int32_t cell) {
    rest_.push_back(cell);
    if (rest_.size() == cells_per_batch_) append(rest_, false);
  }
  void take_patch(std::int32_t patch) {
    waiting_.push_back(patch);
    if (waiting_.size() * size_ != cells_per_batch_) return;
    auto children = waiting_children();
    append(children, true);
  }
  std::pair<std::vector<std::int32_t>, std::vector<std::uint8_t>> finish() {
    for (const auto cell : waiting_children()) take_cell(cell);
    if (!rest_.empty()) append(rest_, false);
    if (std::ranges::count(are_patches_, 1) == 0) are_patches_.clear();
    return {std::move(cells_), std::move(are_patches_)};
  }

private:
  void append(std::vector<std::int32_t>& batch, bool is_patches) {
    cells_.insert(cells_.end(), batch.begin(), batch.end());
    are_patches_.push_back(is_patches ? 1 : 0);
    batch.clear();
  }
  std::vector<std::int32_t> waiting_children() {
    std::vector<std::int32_t> result;
    for (std::size_t child = 0; child < size_; ++child)
      for (const auto patch : waiting_) result.push_back(patches_[static_cast<std::size_t>(patch) * size_ + child]);
    waiting_.clear();
    return result;
  }
  std::span<const std::int32_t> patches_; ///< cells of all patches, shape (patch, child)
  std::size_t size_, cells_per_batch_;
  std::vector<std::int32_t> waiting_, rest_; ///< patches, and cells without a patch, that wait for a full batch
  std::vector<std::int32_t> cells_;
  std::vector<std::uint8_t> are_patches_;
};

} // namespace

std::pair<std::vector<std::int32_t>, std::vector<std::uint8_t>>
in_patched_batches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int cells_per_batch, int width) {
  const auto size = static_cast<std::size_t>(cells_per_patch(width, mesh.tdim));
  const auto patches = find_patches(mesh, group, cells, width);
  std::vector<std::int32_t> patch_of(mesh.groups[group].tags.size(), -1);
  for (std::size_t i = 0; i < patches.size(); ++i) patch_of[patches[i]] = static_cast<std::int32_t>(i / size);
  std::vector<bool> is_taken(patches.size() / size);
  Batches batches(patches, size, cells_per_batch);
  for (const auto cell : cells)
    if (const auto patch = patch_of[cell]; patch < 0)
      batches.take_cell(cell);
    else if (!is_taken[patch]) {
      is_taken[patch] = true;
      batches.take_patch(patch);
    }
  return batches.finish();
}

} // namespace rafter::mesh
